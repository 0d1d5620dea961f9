// InterPodAffinity (PreFilter, Filter, PreScore, Score): a pod is placed beside or away from other
// pods, by its own terms and by theirs (podAffinity, podAntiAffinity).
//
// Source: kubernetes/kubernetes pkg/scheduler/framework/plugins/interpodaffinity, release 1.34.
// Pods that match a term, and pods that carry one, are columns of the cluster (model/pod_counts.h),
// so that an attempt costs O(1) per node and term that concerns the pod.
#ifndef DRASIM_POLICIES_PLUGINS_INTER_POD_AFFINITY_H_
#define DRASIM_POLICIES_PLUGINS_INTER_POD_AFFINITY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "model/cluster_objects.h"
#include "model/pod_counts.h"
#include "model/pod_topology.h"
#include "policies/framework/plugin.h"
#include "policies/framework/plugin_args.h"

namespace drasim {

// Release 1.34 resolves the namespace selector of a pod's own term to names, but keeps the
// selector, and asks it about an empty set of labels: one that only excludes (NotIn, DoesNotExist)
// selects all namespaces (kubernetes issue 141526). Before, only the resolved names counted.
enum class NamespaceRule : uint8_t { kEmptyLabelsToo, kResolvedOnly };

class InterPodAffinity : public PreFilterPlugin, public FilterPlugin, public ScorePlugin {
 public:
  explicit InterPodAffinity(InterPodAffinityArgs args,
                            NamespaceRule rule = NamespaceRule::kEmptyLabelsToo)
      : args_(args), rule_(rule) {}

  absl::string_view name() const override { return "InterPodAffinity"; }
  absl::string_view WithoutPreFilter() const override {
    return "error reading \"PreFilterInterPodAffinity\" from cycleState: not found";
  }
  absl::string_view WithoutPreScore() const override {
    return "failed to read \"PreScoreInterPodAffinity\" from cycleState: not found";
  }
  std::vector<Reason> reasons() const override;

  uint32_t requeue_events() const override {
    return kPodAdded | kPodRemoved | kPodLabels | kNodeAdded | kNodeLabels | kNodeTaints |
           kNodeSchedulable;
  }
  bool MayHelp(const ClusterChange& change, const PodContext& pod,
               const ClusterState& cluster) const override;

  StepResult PreFilter(const PodContext& pod, const ClusterState& cluster) override;
  Reach filter_reach() const override { return Reach::kCluster; }
  // Trials need nothing: the columns follow them, terminating pods included.
  void Filter(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
              absl::Span<ReasonIndex> verdicts) const override;
  bool ListLimits(std::vector<DomainLimit>* limits) const override;
  bool IsResolvable(const PodContext& pod, const ClusterState& cluster, NodeId node,
                    ReasonIndex local) const override;

  Reach score_reach() const override { return Reach::kCluster; }
  Normalize normalize(const ClusterState&) const override { return Normalize::kGeneral; }
  StepResult PreScore(const PodContext& pod, const ClusterState& cluster,
                      absl::Span<const NodeId> feasible) override;
  bool PreScoreReadsNodes(const PodContext&, const ClusterState&) const override { return false; }
  void Score(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
             absl::Span<int64_t> scores) override;
  void NormalizeScore(absl::Span<const NodeId> nodes, absl::Span<int64_t> scores) const override;

  // For explanations, in the state of the last Filter. REQUIRES: PreFilter did not skip.
  // Whether the node's domain lacks a pod that matches all required terms; the node has the label
  // of that term. (The first pod of a group may come in spite of it.)
  bool LacksPodsFor(size_t term, NodeId node) const;
  // A resident pod that keeps nodes of its domain from the pod, and the required anti-affinity term
  // that says so: the pod's own (`theirs` false), or the resident's.
  struct Conflict {
    const AffinityTerm* term = nullptr;  // valid as long as shapes are only added
    PodId resident;
    bool theirs = false;
  };
  // All of them, by node, in the nodes' orders of pods. O(residents x terms).
  std::vector<Conflict> Conflicts(const PodContext& pod, const ClusterState& cluster) const;

 private:
  // The weight that each pod of a column adds to the score of its domain.
  struct Weighted {
    const DomainCounts* counts = nullptr;
    int64_t weight = 0;
  };
  // The terms that concern a shape, its own and those that other shapes carry.
  struct Plan {
    std::string error;           // why one of its own terms cannot be used
    bool of_namespaces = false;  // depends on the labels of namespaces
    uint64_t namespaces_version = 0;
    size_t carried = 0;                              // terms that were looked at
    bool first_of_group = false;                     // it matches all of its own affinity terms
    std::vector<const DomainCounts*> affinity;       // per term: pods that match all of them
    std::vector<const DomainCounts*> anti_affinity;  // per term: pods that match it
    std::vector<const DomainCounts*> against;        // pods with anti-affinity to this shape
    std::vector<Weighted> preferred;                 // by its own terms
    std::vector<Weighted> attracted;                 // by terms of others
  };

  const Plan& PlanOf(const PodContext& pod, const ClusterState& cluster) const;
  void Build(const PodShape& shape, const ClusterState& cluster, Plan* plan) const;
  void Consider(const CarriedTerm& carried, const PodShape& shape, const ClusterState& cluster,
                Plan* plan) const;
  // Whether a term that another pod carries means this one.
  bool Means(const AffinityTerm& term, const PodIdentity& pod) const;
  PodCountRule RuleOf(const std::vector<AffinityTerm>& terms) const;

  const InterPodAffinityArgs args_;
  const NamespaceRule rule_;

  // Caches; they belong to one cluster.
  mutable const ClusterState* cluster_ = nullptr;
  mutable std::vector<std::unique_ptr<Plan>> plans_;  // by shape
  mutable uint64_t objects_version_ = 0;
  mutable std::vector<NamespaceObject> namespaces_;  // at that version
  mutable uint64_t namespaces_version_ = 0;

  // State of the current attempt.
  const Plan* plan_ = nullptr;
  std::vector<Weighted> active_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_INTER_POD_AFFINITY_H_
