// kube-scheduler's scheduling cycle, decision for decision (kubernetes/kubernetes
// pkg/scheduler/schedule_one.go, 1.34, with parallelism 1).
//
// One call of Schedule is one attempt: PreFilter, the nominated node first, Filter from a rotating
// start until enough nodes were found, PreScore, Score, and the choice among the best; after a
// failure PostFilter. Where upstream is random, options say how a node is chosen.
//
// Verdicts and raw scores of plugins of Reach::kNode are remembered per shape and node, and looked
// at again when the node's epoch has changed; those of Reach::kCluster are asked in every attempt.
// With the cache off, everything is asked anew, with equal decisions.
//
// SchedulingCycle is the other search: over all nodes, with the best score of all. Both run the
// plugins of a Profile.
#ifndef DRASIM_SIM_CORE_KUBE_CYCLE_H_
#define DRASIM_SIM_CORE_KUBE_CYCLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "model/cluster_state.h"
#include "model/job_table.h"
#include "model/random.h"
#include "policies/framework/profile.h"
#include "sim/core/nominator.h"

namespace drasim {

struct KubeCycleOptions {
  enum class Ties : uint8_t {
    kFirst,   // the first of the best in order of addition to the cluster
    kRandom,  // any of the best, from a stream of the run (upstream's reservoir)
  };
  Ties ties = Ties::kFirst;
  bool use_cache = true;
};

// What one attempt did, for explanations and comparisons. Node lists are in order of addition.
struct AttemptDetail {
  struct NodeStatus {
    const Plugin* plugin = nullptr;  // null: by a PreFilter node subset of no single plugin
    StepCode code = StepCode::kReject;
    std::vector<std::string> reasons;  // in the plugin's order
    NodeId node;
  };
  struct PluginScores {
    const Plugin* plugin = nullptr;
    int64_t weight = 1;
    std::vector<int64_t> raw;       // beside `feasible`
    std::vector<int64_t> weighted;  // normalised x weight
  };

  bool reached_filter = false;  // start and next_start count
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
  struct Candidate {
    NodeId node;
    std::vector<PodId> victims;  // the most important first
    int64_t budget_violations = 0;
  };
  bool ran_post_filter = false;
  bool preemption_ran = false;  // DefaultPreemption is enabled
  bool preemption_eligible = false;
  std::string not_eligible;  // why
  std::vector<NodeId> potential;
  std::vector<Candidate> candidates;  // of all potential nodes
  std::vector<NodeStatus> rejected;   // potential nodes where preemption does not help
  std::vector<NodeId> best_candidates;
};

struct AttemptResult {
  enum class Outcome : uint8_t { kFound, kUnschedulable, kError };
  Outcome outcome = Outcome::kUnschedulable;
  NodeId node;                   // kFound
  std::string message;           // upstream's FitError with PostFilter's words, or the error
  uint64_t rejectors = 0;        // bit i: Profile::plugin(i) rejected the pod, or says pending
  PostFilterResult post_filter;  // its victims are not evicted yet
};

class KubeCycle {
 public:
  // All must outlive it. `budget`: nothing.
  KubeCycle(ClusterState* cluster, const Nominator* nominator, KubeCycleOptions options,
            uint64_t seed);
  ~KubeCycle();

  // One attempt for a pending pod. The cluster is as before afterwards: trials are taken back. With
  // `detail` null, neither texts of single nodes nor candidates of other nodes are made.
  // `wants_message` false: the message stays empty (a simulation that counts summaries alone).
  AttemptResult Schedule(Profile* profile, const PodContext& pod, bool wants_message,
                         AttemptDetail* detail);

  // The index into node_order() at which the next search begins.
  size_t start() const { return start_; }

 private:
  ClusterState* cluster_;
  const Nominator* nominator_;
  KubeCycleOptions options_;
  size_t start_ = 0;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_KUBE_CYCLE_H_
