// ImageLocality (Score): prefers nodes that have the pod's images already, the more the larger
// these are and the more nodes have them.
//
// Source: kubernetes/kubernetes pkg/scheduler/framework/plugins/imagelocality and
// pkg/scheduler/backend/cache, release 1.34. An image counts with the size that the first node with
// it reports. kube-scheduler refreshes the number of nodes that have an image only when a node
// changes; here it is always the present one.
#ifndef DRASIM_POLICIES_PLUGINS_IMAGE_LOCALITY_H_
#define DRASIM_POLICIES_PLUGINS_IMAGE_LOCALITY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/pod_constraints.h"
#include "policies/framework/plugin.h"

namespace drasim {

class ImageLocality : public ScorePlugin {
 public:
  absl::string_view name() const override { return "ImageLocality"; }
  // By how many nodes have an image.
  Reach score_reach() const override { return Reach::kCluster; }
  // O(nodes), after a change of ClusterState::nodes_version() O(all nodes and their images). All
  // calls must be about the same cluster.
  void Score(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
             absl::Span<int64_t> scores) override;
  // When no node has one of the pod's images.
  bool ScoresAlike(const PodContext& pod, const ClusterState& cluster) override;

 private:
  struct Image {
    int64_t bytes = 0;
    std::vector<NodeId> nodes;  // ascending
  };

  // Lists the images of all nodes again if some node has changed.
  void Refresh(const ClusterState& cluster);
  std::vector<uint8_t> ScoresOf(const PodConstraints& rules, const ClusterState& cluster) const;

  uint64_t version_ = 0;
  bool fresh_ = false;
  absl::flat_hash_map<std::string, Image> images_;
  absl::flat_hash_map<ShapeId, std::vector<uint8_t>> scores_;  // by node
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_IMAGE_LOCALITY_H_
