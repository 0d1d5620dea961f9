// VolumeZone (PreFilter, Filter): the zone and region labels of a pod's bound volumes, which the
// node must share.
//
// Source: kubernetes/kubernetes pkg/scheduler/framework/plugins/volumezone, release 1.34.
#ifndef DRASIM_POLICIES_PLUGINS_VOLUME_ZONE_H_
#define DRASIM_POLICIES_PLUGINS_VOLUME_ZONE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "policies/framework/plugin.h"

namespace drasim {

class VolumeZone : public PreFilterPlugin, public FilterPlugin {
 public:
  absl::string_view name() const override { return "VolumeZone"; }
  std::vector<Reason> reasons() const override;
  Reach filter_reach() const override { return Reach::kCluster; }
  uint32_t requeue_events() const override { return kNodeAdded | kNodeLabels | kVolumeChanged; }
  StepResult PreFilter(const PodContext& pod, const ClusterState& cluster) override;
  void Filter(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
              absl::Span<ReasonIndex> verdicts) const override;
  bool IsResolvable(const PodContext&, const ClusterState&, NodeId, ReasonIndex) const override {
    return false;
  }

 private:
  // A topology label of a volume.
  struct Topology {
    std::string key;
    std::string other_key;  // the key's successor; the key itself if it has none
    std::vector<std::string> values;
  };

  std::vector<Topology> topologies_;  // of the present attempt
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_VOLUME_ZONE_H_
