// NodeVolumeLimits (PreFilter, Filter): how many volumes of a CSI driver a node can attach.
//
// Source: kubernetes/kubernetes pkg/scheduler/framework/plugins/nodevolumelimits/csi.go, release
// 1.34.
#ifndef DRASIM_POLICIES_PLUGINS_NODE_VOLUME_LIMITS_H_
#define DRASIM_POLICIES_PLUGINS_NODE_VOLUME_LIMITS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "policies/framework/plugin.h"

namespace drasim {

class NodeVolumeLimits : public PreFilterPlugin, public FilterPlugin {
 public:
  absl::string_view name() const override { return "NodeVolumeLimits"; }
  std::vector<Reason> reasons() const override;
  Reach filter_reach() const override { return Reach::kCluster; }
  uint32_t requeue_events() const override { return kPodRemoved | kVolumeChanged; }
  bool MayHelp(const ClusterChange& change, const PodContext& pod,
               const ClusterState& cluster) const override;
  // kSkip for a pod without volumes that can be attached.
  StepResult PreFilter(const PodContext& pod, const ClusterState& cluster) override;
  // O(pods of the node) for nodes with a limit; times their volumes for those that may be near it.
  void Filter(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
              absl::Span<ReasonIndex> verdicts) const override;
  bool IsResolvable(const PodContext& pod, const ClusterState& cluster, NodeId node,
                    ReasonIndex local) const override;
  std::vector<std::string> ReasonTexts(const PodContext& pod, const ClusterState& cluster,
                                       NodeId node, ReasonIndex local) const override;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_NODE_VOLUME_LIMITS_H_
