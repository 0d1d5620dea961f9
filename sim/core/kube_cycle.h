// kube-scheduler's scheduling cycle, decision for decision (kubernetes/kubernetes
// pkg/scheduler/schedule_one.go, 1.34, with parallelism 1).
//
// One call of Schedule is one attempt: PreFilter, the nominated node first, Filter from a rotating
// start until enough nodes were found, PreScore, Score, and the choice among the best; after a
// failure PostFilter. Where upstream is random, options say how a node is chosen.
//
// Verdicts and raw scores of plugins of Reach::kNode are remembered per shape and node, and
// computed again when the node's epoch has changed; those of Reach::kCluster are asked in every
// attempt. With the cache off, every plugin is asked in every attempt, with equal decisions.
//
// SchedulingCycle is the other search: over all nodes, with the best score of all. Both run the
// plugins of a Profile.
#ifndef DRASIM_SIM_CORE_KUBE_CYCLE_H_
#define DRASIM_SIM_CORE_KUBE_CYCLE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "model/cluster_state.h"
#include "model/job_table.h"
#include "model/random.h"
#include "model/state_io.h"
#include "policies/framework/profile.h"
#include "sim/core/attempt_filters.h"
#include "sim/core/attempt_result.h"
#include "sim/core/domain_blocks.h"
#include "sim/core/extender.h"
#include "sim/core/job_control.h"
#include "sim/core/kube_post_filter.h"
#include "sim/core/nominator.h"
#include "sim/core/verdict_cache.h"
#include "sim/core/work_counters.h"

namespace drasim {

struct KubeCycleOptions {
  enum class Ties : uint8_t {
    kFirst,   // the first of the best in order of addition to the cluster
    kRandom,  // any of the best, from a stream of the run (upstream's reservoir)
    // The root of the binary heap that upstream builds from the feasible nodes in their order: from
    // 1.35 on, without extenders.
    kHeapRoot,
  };
  Ties ties = Ties::kFirst;
  bool use_cache = true;
  // Preemption tries every node where it may help, rather than until there are enough candidates.
  bool tries_all = false;
  size_t cache_bytes = size_t{64} << 20;  // for each profile
};

// The number of feasible nodes to look for among `nodes`: all below 100; else a percentage, but at
// least 100. 0: 50 less one for every 125 nodes, but at least 5 (numFeasibleNodesToFind).
size_t NodesToFind(int32_t percentage, size_t nodes);

// The course of one attempt, for explanations and comparisons. Node lists are in order of addition.
struct AttemptDetail {
  using NodeStatus = drasim::NodeStatus;  // plugin null: by PreFilter node subsets, or not visited
  struct PluginScores {
    const Plugin* plugin = nullptr;
    int64_t weight = 1;
    std::vector<int64_t> raw;       // beside `feasible`
    std::vector<int64_t> weighted;  // normalised x weight
  };

  bool reached_filter = false;  // false: there are no nodes; start and next_start do not count
  size_t start = 0;             // index into ClusterState::node_order()
  size_t next_start = 0;
  bool via_nominated_node = false;
  std::vector<NodeId> feasible;
  std::vector<NodeStatus> infeasible;  // with an explicit status
  std::vector<NodeStatus> absent;      // neither: excluded by PreFilter, or not visited
  bool visited_all = true;             // false: `absent` has nodes that were merely not visited
  std::vector<const Plugin*> skipped_filters;  // whose PreFilter said kSkip, in order
  std::string pre_filter_message;              // of a PreFilter that rejected the pod
  std::vector<PluginScores> scores;            // with two or more feasible nodes
  std::vector<const Plugin*> skipped_scores;
  std::vector<int64_t> totals;  // beside `feasible`
  std::vector<NodeId> best;     // with the highest total

  // PostFilter.
  using Candidate = PreemptionReport::Candidate;
  bool ran_post_filter = false;
  bool preemption_ran = false;  // DefaultPreemption is enabled
  bool preemption_eligible = false;
  std::string not_eligible;  // why
  std::vector<NodeId> potential;
  std::vector<Candidate> candidates;  // of the potential nodes that were tried
  std::vector<NodeStatus> rejected;   // potential nodes where preemption does not help
  std::vector<NodeId> best_candidates;
};

// PreFilter's result for a pod, for explanations that ask about all nodes.
struct FilterSurvey {
  // Why the pod is not tried on any node, in upstream's words; empty: it is tried.
  std::string message;
  const Plugin* rejector = nullptr;  // that gave the message; null: no single plugin
  bool failed = false;               // with an error
  // Whether only `subset` (ascending) is tried, and the words for the other nodes.
  bool has_subset = false;
  std::vector<NodeId> subset;
  std::string subset_message;
  std::vector<const Plugin*> naming;  // that named the subset

  // REQUIRES: no message.
  bool Tries(NodeId node) const {
    return !has_subset || std::binary_search(subset.begin(), subset.end(), node);
  }
};

class KubeCycle {
 public:
  // All must outlive it.
  KubeCycle(ClusterState* cluster, const Nominator* nominator, KubeCycleOptions options,
            uint64_t seed);
  ~KubeCycle();

  // Pods belong to jobs, which are evicted as a whole. Both must outlive the cycle.
  void set_jobs(const JobTable* jobs, const JobControl* control) {
    jobs_ = jobs;
    control_ = control;
  }

  // In upstream's order: those that are not ignorable first. They must outlive the cycle.
  void set_extenders(std::vector<Extender*> extenders);
  const std::vector<Extender*>& extenders() const { return extenders_; }

  // One attempt for a pending pod. The cluster is as before afterwards: trials are taken back. With
  // `detail` null, no texts of single nodes are made. `wants_message` false: the message stays
  // empty, unless a plugin fails (a simulation that counts summaries alone). Neither changes the
  // decision. The profile must outlive the cycle. O(nodes visited / 64) where remembered answers
  // and limits of topology domains decide, plus the nodes that changed; else O(nodes visited), each
  // at the cost of a look-up unless a plugin of Reach::kCluster has to be asked.
  AttemptResult Schedule(Profile* profile, const PodContext& pod, bool wants_message,
                         AttemptDetail* detail);

  // Asks all plugins about all nodes, decides nothing, and leaves the cluster and later attempts as
  // they are: PreFilter, and then every Filter plugin that does not skip about every available node
  // of the subset, rather than up to the first that rejects it. `tell` gets each rejection, with
  // its words, in the state of the cluster in which it holds (nominated pods of the node included);
  // the nodes come in order of addition. REQUIRES: a profile without restrictions.
  // O(nodes x filters).
  FilterSurvey Survey(Profile* profile, const PodContext& pod,
                      absl::FunctionRef<void(const NodeStatus&)> tell);

  // Why the pod cannot go to the node, as an attempt that asks about no other would find: by
  // PreFilter (the status then has no node), or by the first Filter plugin that rejects it, pods
  // nominated to the node included. kSuccess: it can. Leaves the cluster and later attempts as they
  // are. REQUIRES: a profile without restrictions. O(filters).
  NodeStatus WhyNot(Profile* profile, const PodContext& pod, NodeId node);

  // False: failed attempts end without PostFilter, as those of a gang's pods and of trials do.
  void set_runs_post_filter(bool runs) { runs_post_filter_ = runs; }

  // The index into node_order() at which the next search begins.
  size_t start() const { return start_; }

  // The work so far, details and dry runs of a preemption apart; not saved. O(profiles).
  WorkCounters work() const;

  // The state that one attempt leaves to later ones, to be restored after a trial.
  struct Progress {
    size_t start;
    Random ties;
    Random offsets;
  };
  Progress progress() const { return {start_, ties_, offsets_}; }
  void set_progress(const Progress& progress);

  // Caches are left out, as they are filled again.
  void Save(StateWriter& out) const;
  absl::Status Load(StateReader& in);

 private:
  struct ProfileState;
  struct Attempt;

  ProfileState& StateOf(Profile* profile);
  bool RunPreFilters(Attempt* a);
  FilterSurvey BeginSurvey(Profile* profile, const PodContext& pod);
  bool TryNominatedNode(Attempt* a);
  void ListNodes(Attempt* a);
  bool GoesByBlocks(const Attempt& a) const;
  uint64_t SearchBlocks(Attempt* a);
  uint64_t JudgeBlock(const Attempt& a, size_t block, uint64_t fits, uint64_t filters) const;
  bool ListDomains(Attempt* a, size_t pre_score);
  void ScoreDomains(Attempt* a, uint64_t normalised) const;
  bool PickByBlocks(Attempt* a) const;
  static void ListParts(Attempt* a);
  void Search(Attempt* a);
  bool SearchUnprepared(Attempt* a);
  absl::Status RunExtenderFilters(Attempt* a);
  static void SetStatus(Attempt* a, ExtenderVerdict::Failure&& failure);
  bool NominatedPassesExtenders(Attempt* a);
  bool PassesExtenders(Attempt* a);
  void AddExtenderScores(Attempt* a);
  static size_t VisitKnown(Attempt* a, size_t place, size_t count);
  void JudgeChunk(Attempt* a);
  static void VisitChunk(Attempt* a);
  static void CountNominatedNode(Attempt* a);
  static void TellFeasible(Attempt* a);
  bool PickNode(Attempt* a);
  bool RunPreScores(Attempt* a);
  uint64_t ExpectScores(Attempt* a) const;
  void SumScores(Attempt* a);
  void ExplainScores(Attempt* a);
  NodeId PickBest(Attempt* a);
  static size_t HeapRoot(absl::Span<const int64_t> totals);
  void Fail(Attempt* a);
  static void ExplainRestrictions(Attempt* a);
  static uint64_t RejectorsOf(const Attempt& a);
  void CountRejections(Attempt* a) const;
  static NodeStatus StatusOf(const Attempt& a, const RejectedNode& rejected);
  static std::string SubsetText(const Attempt& a);
  std::string FitErrorOf(const Attempt& a) const;
  void RunPostFilters(Attempt* a);
  void DescribeSearch(Attempt* a);

  ClusterState* cluster_;
  const Nominator* nominator_;
  KubeCycleOptions options_;
  const JobTable* jobs_ = nullptr;
  const JobControl* control_ = nullptr;
  std::vector<Extender*> extenders_;
  bool extenders_narrow_ = false;  // some filter or score: one feasible node is not enough

  DomainBlocks domain_blocks_;

  bool runs_post_filter_ = true;
  size_t start_ = 0;
  Random ties_;
  Random offsets_;
  std::vector<std::unique_ptr<ProfileState>> states_;
  WorkCounters work_;  // without that of the caches
  std::unique_ptr<Attempt> attempt_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_KUBE_CYCLE_H_
