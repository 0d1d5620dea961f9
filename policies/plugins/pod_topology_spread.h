// PodTopologySpread (PreFilter, Filter, PreScore, Score): pods of a group spread evenly over zones,
// hosts or other domains of nodes (topologySpreadConstraints, and defaults for pods of a service or
// controller).
//
// Source: kubernetes/kubernetes pkg/scheduler/framework/plugins/podtopologyspread and
// pkg/scheduler/framework/plugins/helper/spread.go, release 1.34. The counts by domain are columns
// of the cluster (model/pod_counts.h), so that an attempt costs O(1) per node and constraint.
#ifndef DRASIM_POLICIES_PLUGINS_POD_TOPOLOGY_SPREAD_H_
#define DRASIM_POLICIES_PLUGINS_POD_TOPOLOGY_SPREAD_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/cluster_objects.h"
#include "model/label_selector.h"
#include "model/pod_counts.h"
#include "model/pod_topology.h"
#include "policies/framework/plugin.h"
#include "policies/framework/plugin_args.h"

namespace drasim {

class PodTopologySpread : public PreFilterPlugin, public FilterPlugin, public ScorePlugin {
 public:
  explicit PodTopologySpread(PodTopologySpreadArgs args);

  absl::string_view name() const override { return "PodTopologySpread"; }
  absl::string_view WithoutPreFilter() const override {
    return "error reading \"PreFilterPodTopologySpread\" from cycleState: not found";
  }
  absl::string_view WithoutPreScore() const override {
    return "error reading \"PreScorePodTopologySpread\" from cycleState: not found";
  }
  std::vector<Reason> reasons() const override;

  bool HearsOfNamespace() const override { return true; }
  uint32_t requeue_events() const override {
    return kPodAdded | kPodRemoved | kPodLabels | kPodTolerations | kNodeAdded | kNodeRemoved |
           kNodeLabels | kNodeTaints | kNodeSchedulable;
  }
  bool MayHelp(const ClusterChange& change, const PodContext& pod,
               const ClusterState& cluster) const override;

  StepResult PreFilter(const PodContext& pod, const ClusterState& cluster) override;
  Reach filter_reach() const override { return Reach::kCluster; }
  void Filter(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
              absl::Span<ReasonIndex> verdicts) const override;
  bool ListLimits(std::vector<DomainLimit>* limits) const override;
  bool IsResolvable(const PodContext& pod, const ClusterState& cluster, NodeId node,
                    ReasonIndex local) const override;
  void BeginTrial() override { trials_.push_back(corrections_.size()); }
  void EndTrial() override;
  void OnPodAdded(const PodContext& pod, const ClusterState& cluster, PodId other,
                  NodeId node) override {
    Correct(pod, cluster, other, node, +1);
  }
  void OnPodRemoved(const PodContext& pod, const ClusterState& cluster, PodId other,
                    NodeId node) override {
    Correct(pod, cluster, other, node, -1);
  }

  Reach score_reach() const override { return Reach::kCluster; }
  Normalize normalize(const ClusterState&) const override { return Normalize::kGeneral; }
  StepResult PreScore(const PodContext& pod, const ClusterState& cluster,
                      absl::Span<const NodeId> feasible) override;
  bool PreScoreReadsNodes(const PodContext& pod, const ClusterState& cluster) const override {
    return !PlanOf(pod, cluster).soft.empty();
  }
  const TopologyDomains* ScoredDomains(const PodContext& pod,
                                       const ClusterState& cluster) const override;
  void Score(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
             absl::Span<int64_t> scores) override;
  void NormalizeScore(absl::Span<const NodeId> nodes, absl::Span<int64_t> scores) const override;

  // Why the constraints of the attempt's pod reject a node: one for each that does, in their order.
  struct Shortfall {
    const SpreadConstraint* rule = nullptr;
    bool lacks_key = false;  // the node has no such label; the amounts do not count then
    int64_t pods = 0;        // in the node's domain
    int64_t fewest = 0;      // in any domain
    int64_t skew = 0;        // with the pod
  };
  // In the state of the last Filter, for explanations. REQUIRES: PreFilter did not skip.
  std::vector<Shortfall> ShortfallsOn(NodeId node) const;

 private:
  // A constraint of a shape, with its counts in the cluster.
  struct Constraint {
    SpreadConstraint rule;
    bool counts_own = false;  // the pod is one of those that it counts
    bool of_hosts = false;    // its key is the host name's
    PodCountId pods = 0;
    const DomainCounts* counts = nullptr;
  };
  // The constraints of a shape. Built when it is first needed.
  struct Plan {
    bool of_defaults = false;  // depends on services and controllers
    uint64_t groups_version = 0;
    bool all_keys = false;  // nodes that lack a key of `soft` are out of the score
    std::vector<Constraint> hard;
    std::vector<Constraint> soft;
    std::string hard_error;  // why a selector cannot be used
    std::string soft_error;
  };
  // Pods that upstream counts in a trial although it did not count them before: terminating pods,
  // and pods under an empty selector.
  struct Correction {
    size_t constraint;
    uint32_t domain;
    int32_t pods;
  };

  const Plan& PlanOf(const PodContext& pod, const ClusterState& cluster) const;
  void Build(const PodShape& shape, const ClusterState& cluster, Plan* plan) const;
  void ResolveCounts(const PodShape& shape, const ClusterState& cluster, bool all_keys,
                     std::vector<Constraint>* constraints) const;
  void Correct(const PodContext& pod, const ClusterState& cluster, PodId other, NodeId node,
               int sign);
  int32_t LeastOf(const Constraint& constraint, size_t index) const;
  int64_t MostOf(const Constraint& constraint, size_t index) const;
  int32_t SumOf(const Constraint& constraint, size_t index, uint32_t domain) const;
  size_t CountValues(const Constraint& constraint, absl::Span<const NodeId> feasible);
  static bool IsIgnored(const Plan& plan, NodeId node);

  const PodTopologySpreadArgs args_;
  std::vector<SpreadConstraint> defaults_;

  // Caches; they belong to one cluster.
  mutable const ClusterState* cluster_ = nullptr;
  mutable std::vector<std::unique_ptr<Plan>> plans_;  // by shape
  mutable uint64_t objects_version_ = 0;
  mutable std::vector<GroupObject> groups_;  // at that version
  mutable uint64_t groups_version_ = 0;

  // State of the current attempt.
  const Plan* plan_ = nullptr;
  std::vector<Correction> corrections_;
  std::vector<size_t> trials_;    // how many corrections there were
  bool any_ignored_ = false;      // some feasible node lacks a key
  std::vector<double> weights_;   // beside plan_->soft
  std::vector<double> sums_;      // by node of a call of Score
  std::vector<uint32_t> marked_;  // by domain: the last count of values that met it
  uint32_t mark_ = 0;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_POD_TOPOLOGY_SPREAD_H_
