// NodeAffinity (PreFilter, Filter, Score): nodes by spec.nodeSelector and
// spec.affinity.nodeAffinity, and by the affinity that the profile adds to every pod.
//
// Source: kubernetes/kubernetes pkg/scheduler/framework/plugins/nodeaffinity, release 1.34. A
// required term that Kubernetes cannot parse selects no node; a preferred one fails PreScore.
#ifndef DRASIM_POLICIES_PLUGINS_NODE_AFFINITY_H_
#define DRASIM_POLICIES_PLUGINS_NODE_AFFINITY_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "policies/framework/plugin.h"
#include "policies/framework/plugin_args.h"

namespace drasim {

class NodeAffinity : public PreFilterPlugin, public FilterPlugin, public ScorePlugin {
 public:
  explicit NodeAffinity(NodeAffinityArgs added = {});
  absl::string_view name() const override { return "NodeAffinity"; }
  // The second one only where the profile adds requirements.
  std::vector<Reason> reasons() const override;
  // Independent of other pods.
  bool IsResolvable(const PodContext&, const ClusterState&, NodeId, ReasonIndex) const override {
    return false;
  }
  uint32_t requeue_events() const override { return kNodeAdded | kNodeSchedulable | kNodeLabels; }
  bool MayHelp(const ClusterChange& change, const PodContext& pod,
               const ClusterState& cluster) const override;

  // Names nodes if every required term asks for metadata.name. O(values of such requirements).
  StepResult PreFilter(const PodContext& pod, const ClusterState& cluster) override;
  void Filter(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
              absl::Span<ReasonIndex> verdicts) const override;

  Normalize normalize(const ClusterState&) const override { return Normalize::kGeneral; }
  StepResult PreScore(const PodContext& pod, const ClusterState& cluster,
                      absl::Span<const NodeId> feasible) override;
  bool PreScoreReadsNodes(const PodContext&, const ClusterState&) const override { return false; }
  // The sum of the weights of the preferences that the node meets.
  void Score(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
             absl::Span<int64_t> scores) override;
  void NormalizeScore(absl::Span<const NodeId> nodes, absl::Span<int64_t> scores) const override;

 private:
  bool MeetsAdded(const NodeSpec& node) const {
    return !added_.has_required || MeetsNodeTerms(node, added_.required);
  }

  NodeAffinityArgs added_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_NODE_AFFINITY_H_
