// VolumeRestrictions (PreFilter, Filter): disks that two pods of a node cannot share, and claims
// that one pod of the cluster may use at a time (ReadWriteOncePod).
//
// Source: kubernetes/kubernetes pkg/scheduler/framework/plugins/volumerestrictions, release 1.34.
#ifndef DRASIM_POLICIES_PLUGINS_VOLUME_RESTRICTIONS_H_
#define DRASIM_POLICIES_PLUGINS_VOLUME_RESTRICTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "policies/framework/plugin.h"

namespace drasim {

class VolumeRestrictions : public PreFilterPlugin, public FilterPlugin {
 public:
  absl::string_view name() const override { return "VolumeRestrictions"; }
  absl::string_view WithoutPreFilter() const override {
    return "cannot read \"PreFilterVolumeRestrictions\" from cycleState";
  }
  std::vector<Reason> reasons() const override;
  Reach filter_reach() const override { return Reach::kCluster; }
  uint32_t requeue_events() const override { return kPodRemoved | kNodeAdded | kVolumeChanged; }
  // When a pod leaves: true if it shared a disk or a claim with the pod.
  bool MayHelp(const ClusterChange& change, const PodContext& pod,
               const ClusterState& cluster) const override;
  // kUnresolvable when a claim of the pod does not exist. O(resident pods) for a pod with a
  // ReadWriteOncePod claim.
  StepResult PreFilter(const PodContext& pod, const ClusterState& cluster) override;
  void Filter(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
              absl::Span<ReasonIndex> verdicts) const override;
  bool IsResolvable(const PodContext& pod, const ClusterState& cluster, NodeId node,
                    ReasonIndex local) const override;
  void BeginTrial() override { trials_.push_back(users_); }
  void EndTrial() override;
  void OnPodAdded(const PodContext& pod, const ClusterState& cluster, PodId other,
                  NodeId node) override;
  void OnPodRemoved(const PodContext& pod, const ClusterState& cluster, PodId other,
                    NodeId node) override;

 private:
  int64_t UsesOf(const ClusterState& cluster, PodId other) const;

  // State of the current attempt.
  std::vector<std::string> exclusive_;  // the pod's ReadWriteOncePod claims, sorted, unique
  int64_t users_ = 0;                   // uses of them by other pods
  std::vector<int64_t> trials_;         // users_ at the beginning of each open trial
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_VOLUME_RESTRICTIONS_H_
