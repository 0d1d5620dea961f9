// The decision for one pod: a node, and devices of it.
//
// Runs PreFilter to Score of kube-scheduler's cycle over a per-shape cache. For every pod shape it
// keeps each node's verdict and score, the number of nodes per verdict, and an arg-max structure;
// before a decision it looks again only at the nodes that changed since the shape's last one. The
// cost of a decision is therefore proportional to the number of changed nodes, not to the size of
// the cluster. With the cache off, or a filter of Reach::kCluster, it looks at every node, through
// the same code, and decides the same.
#ifndef DRASIM_SIM_CORE_SCHEDULING_CYCLE_H_
#define DRASIM_SIM_CORE_SCHEDULING_CYCLE_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "model/cluster_state.h"
#include "model/device_set.h"
#include "model/record.h"
#include "policies/framework/profile.h"
#include "sim/core/score_tree.h"
#include "sim/core/work_counters.h"

namespace drasim {

// The verdict of nodes that are not part of the cluster at present; no summary counts them.
inline constexpr ReasonIndex kNotThere = 255;

struct Decision {
  NodeId node;          // invalid: no node fits
  DeviceSet devices;    // on that node
  DeviceGrants grants;  // of a shape with MIG instances
};

class SchedulingCycle {
 public:
  // `ranks[i]` is the place of node i in the tie-break order, a permutation. The profile and the
  // cluster must outlive the cycle.
  SchedulingCycle(const Profile* profile, const ClusterState* cluster, std::vector<uint32_t> ranks,
                  bool use_cache);

  // Sets PreFilter's result for this attempt, in force until the next call. `skipped`: bit i stands
  // for the profile's filters()[i]; only filters of Reach::kCluster heed it, because the verdicts
  // of the others are kept from one attempt to the next. `named`, ascending and valid as long: the
  // nodes that the pod may use; null: all. Decide must be given them as a restriction.
  void BeginAttempt(uint64_t skipped, const std::vector<NodeId>* named);
  bool IsNamed(NodeId node) const {
    return named_ == nullptr || std::binary_search(named_->begin(), named_->end(), node);
  }
  // The filters of Reach::kCluster that are asked in this attempt.
  absl::Span<FilterPlugin* const> cluster_filters() const { return cluster_filters_; }
  bool IsSkipped(size_t filter) const { return (skipped_filters_ >> filter & 1) != 0; }

  // Does not change the cluster. Among nodes that pass all restrictions. O(changed nodes) with one
  // cacheable score plugin, else O(nodes); restrictions add O(listed nodes x log nodes).
  Decision Decide(const PodContext& pod, absl::Span<const NodeRestriction> restrictions = {});
  // All nodes that the last Decide could have chosen, ascending. O(nodes).
  void ListFeasible(ShapeId shape, absl::Span<const NodeRestriction> restrictions,
                    std::vector<NodeId>* nodes) const;
  // The same without a copy, good until the next call of any function. The list of a shape is kept
  // from its first use on: if nothing restricts the pod, O(1) plus what Decide needs for each node
  // that began or ceased to fit, a move of part of the list.
  absl::Span<const NodeId> Feasible(ShapeId shape, absl::Span<const NodeRestriction> restrictions);

  // Brings the verdicts of the pod's shape up to date without a decision. O(changed nodes).
  void Look(const PodContext& pod);

  // Why the last Decide for this shape found nothing; counts over all nodes.
  VerdictSummaryTable::Row Rejections(ShapeId shape) const;
  // Why the last Decide or Look for this shape rejected the node; kFits if it did not.
  ReasonIndex verdict(ShapeId shape, NodeId node) const {
    return shapes_[shape.value()].verdict[node.value()];
  }
  // Nodes that fit the shape, as of its last Decide.
  uint32_t feasible_nodes(ShapeId shape) const { return shapes_[shape.value()].per_reason[kFits]; }

  // For explanations: nodes that fitted the shape at its last Decide or Look, restrictions aside.
  // Best first where one number per node decides (then in tie-break order), else in tie-break
  // order, without scores. At most `most` of the `*fitting` nodes that fit. None for a shape
  // without a Decide or Look. O(nodes log nodes).
  struct Candidate {
    NodeId node;
    std::optional<int32_t> score;
    bool operator==(const Candidate&) const = default;
  };
  std::vector<Candidate> Candidates(ShapeId shape, size_t most, size_t* fitting) const;

  // For explanations: the last Decide for one pod, with what the nodes were like before the chosen
  // one was charged.
  struct Trace {
    PodId pod;
    std::vector<ReasonIndex> verdicts;  // by node
    std::vector<NodeId> nodes;          // that it could choose from, ascending
    // By score plugin, beside `nodes`: its share of the total, which is the sum over the plugins.
    // Empty where the only node needed none.
    std::vector<std::vector<int64_t>> scores;
    NodeId chosen;
  };
  // Follows the decisions for `trace->pod`, at a cost of O(nodes) for each; null: none. The trace
  // must outlive its use. Changes no decision.
  void set_trace(Trace* trace) { trace_ = trace; }

  const WorkCounters& work() const { return work_; }
  void CountRemembered() { ++work_.attempts_remembered; }
  void Save(StateWriter& out) const;
  absl::Status Load(StateReader& in);

 private:
  struct ShapeCache {
    bool filled = false;
    uint64_t cursor = 0;                    // change_count() up to which it is fresh
    std::vector<ReasonIndex> verdict;       // per node
    std::vector<uint32_t> per_reason;       // nodes per verdict
    ScoreTree tree;                         // by rank; total scores when `scores_in_tree_`
    std::vector<std::vector<int64_t>> raw;  // per score plugin and node, otherwise
    std::vector<bool> skipped;              // beside `raw`: PreScore said so
    bool listed = false;
    std::vector<NodeId> fits;  // if listed: the nodes that fit, ascending
  };

  void Refresh(const PodContext& pod, ShapeCache& cache);
  static void UpdateList(NodeId node, bool fits, ShapeCache& cache);
  void CollectStale(const ShapeCache& cache);
  void ScoreStale(const PodContext& pod, ShapeCache& cache, bool all);
  bool ScoreBy(size_t p, const PodContext& pod, absl::Span<const NodeId> nodes,
               absl::Span<int64_t> scores);
  NodeId Pick(const PodContext& pod, ShapeCache& cache,
              absl::Span<const NodeRestriction> restrictions);
  NodeId PickInTree(ShapeCache& cache, absl::Span<const NodeRestriction> restrictions);
  NodeId PickByFullScore(const PodContext& pod, ShapeCache& cache);
  bool ScoresFitInTree() const;
  bool Traces(const PodContext& pod) const { return trace_ != nullptr && trace_->pod == pod.pod; }
  void BeginTrace(const ShapeCache& cache);
  void TraceTreeScores(const PodContext& pod, absl::Span<const NodeRestriction> restrictions);

  const Profile* profile_;
  const ClusterState* cluster_;
  std::vector<uint32_t> ranks_;
  std::vector<NodeId> node_at_rank_;
  bool use_cache_;
  bool scores_in_tree_ = false;
  uint64_t cluster_reach_ = 0;    // bits of filters(): those of Reach::kCluster
  uint64_t skipped_filters_ = 0;  // some of them
  std::vector<FilterPlugin*> cluster_filters_;
  const std::vector<NodeId>* named_ = nullptr;
  std::vector<bool> has_pre_score_;     // beside scores()
  std::vector<bool> score_is_of_node_;  // beside scores(): Reach::kNode
  Trace* trace_ = nullptr;

  std::vector<ShapeCache> shapes_;
  WorkCounters work_;

  // Scratch, kept to avoid allocation in the steady state.
  std::vector<NodeId> stale_;
  std::vector<ReasonIndex> verdicts_;
  std::vector<ReasonIndex> plugin_verdicts_;
  std::vector<NodeId> fitting_;
  std::vector<int64_t> scores_;
  std::vector<int64_t> totals_;
  std::vector<uint64_t> seen_;  // per node: the collection that last saw it
  uint64_t collection_ = 0;
  std::vector<std::pair<uint32_t, int32_t>> hidden_;  // places of the tree and their scores
  std::vector<NodeId> all_nodes_;
  std::vector<NodeId> feasible_;
  DeviceProposals proposals_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_SCHEDULING_CYCLE_H_
