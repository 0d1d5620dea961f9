// PerfClaimPlugin: DynamicResources of a PerfCluster's profile, over PerfClaims.
#ifndef DRASIM_SIM_PERF_PERF_CLAIM_PLUGIN_H_
#define DRASIM_SIM_PERF_PERF_CLAIM_PLUGIN_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "policies/allocator/node_outcomes.h"
#include "policies/framework/plugin.h"
#include "policies/plugins/dynamic_resources.h"
#include "sim/perf/perf_claims.h"

namespace drasim::perf {

// Pods without claims are those of the base class.
class PerfClaimPlugin : public DynamicResourcesWithoutClaims,
                        public PreEnqueuePlugin,
                        public ScorePlugin,
                        public ReservePlugin,
                        public PreBindPlugin {
 public:
  // The claims must outlive it.
  explicit PerfClaimPlugin(PerfClaims* claims) : claims_(*claims) {}

  std::vector<Reason> reasons() const override;
  StepResult PreEnqueue(const PodContext& pod) override;
  StepResult PreFilter(const PodContext& pod, const ClusterState& cluster) override;
  Reach filter_reach() const override { return Reach::kCluster; }
  void Filter(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
              absl::Span<ReasonIndex> verdicts) const override;
  // Upstream's Filter answers UnschedulableAndUnresolvable.
  bool IsResolvable(const PodContext&, const ClusterState&, NodeId, ReasonIndex) const override {
    return false;
  }
  std::vector<std::string> ReasonTexts(const PodContext& pod, const ClusterState& cluster,
                                       NodeId node, ReasonIndex local) const override;
  PostFilterResult PostFilter(const PodContext& pod, PostFilterHandle& handle) override;
  Reach score_reach() const override { return Reach::kCluster; }
  Normalize normalize(const ClusterState&) const override { return Normalize::kGeneral; }
  bool ScoresAlike(const PodContext&, const ClusterState&) override { return !claims_.lists_; }
  void Score(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
             absl::Span<int64_t> scores) override;
  void NormalizeScore(absl::Span<const NodeId> nodes, absl::Span<int64_t> scores) const override;
  StepResult Reserve(const PodContext& pod, const ClusterState& cluster, NodeId node) override;
  void Unreserve(const PodContext& pod, const ClusterState& cluster, NodeId node) override;
  StepResult PreBind(const PodContext& pod, const ClusterState& cluster, NodeId node) override;

 private:
  // The attempt under way, from PreFilter to Reserve.
  struct Attempt {
    PodId pod;
    StructuredCycle cycle;
    const NodeOutcomes* all = nullptr;    // the verdicts of all nodes; null: Filter asks one by one
    std::map<NodeId, std::string> words;  // of the nodes that Filter rejected otherwise
    bool failed = false;                  // an error has ended the attempt
  };

  ReasonIndex Judge(NodeId node) const;
  bool IsOf(const PodContext& pod) const { return attempt_ != nullptr && attempt_->pod == pod.pod; }

  PerfClaims& claims_;
  std::unique_ptr<Attempt> attempt_;
};

}  // namespace drasim::perf

#endif  // DRASIM_SIM_PERF_PERF_CLAIM_PLUGIN_H_
