// TaintToleration (Filter, Score): every NoSchedule and NoExecute taint of the node must be
// tolerated (core/v1 Toleration rules, operators Equal and Exists), and nodes with fewer
// untolerated PreferNoSchedule taints are preferred.
//
// Source: kubernetes/kubernetes pkg/scheduler/framework/plugins/tainttoleration, release 1.34.
#ifndef DRASIM_POLICIES_PLUGINS_TAINT_TOLERATION_H_
#define DRASIM_POLICIES_PLUGINS_TAINT_TOLERATION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "policies/framework/plugin.h"

namespace drasim {

class TaintToleration : public FilterPlugin, public ScorePlugin {
 public:
  absl::string_view name() const override { return "TaintToleration"; }
  absl::string_view WithoutPreScore() const override {
    return "failed to read \"PreScoreTaintToleration\" from cycleState: not found";
  }
  std::vector<Reason> reasons() const override;
  // Names the first untolerated taint.
  std::vector<std::string> ReasonTexts(const PodContext& pod, const ClusterState& cluster,
                                       NodeId node, ReasonIndex local) const override;
  // Independent of other pods.
  bool IsResolvable(const PodContext&, const ClusterState&, NodeId, ReasonIndex) const override {
    return false;
  }
  uint32_t requeue_events() const override {
    return kNodeAdded | kNodeSchedulable | kNodeTaints | kPodTolerations;
  }
  bool MayHelp(const ClusterChange& change, const PodContext& pod,
               const ClusterState& cluster) const override;
  void Filter(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
              absl::Span<ReasonIndex> verdicts) const override;

  Normalize normalize(const ClusterState&) const override { return Normalize::kGeneral; }
  bool PreScoreReadsNodes(const PodContext&, const ClusterState&) const override { return false; }
  // The number of untolerated PreferNoSchedule taints. O(nodes with taints x taints x tolerations).
  void Score(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
             absl::Span<int64_t> scores) override;
  void NormalizeScore(absl::Span<const NodeId> nodes, absl::Span<int64_t> scores) const override;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_TAINT_TOLERATION_H_
