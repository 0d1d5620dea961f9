// Judges another scheduler: its decisions are carried out on a scenario's cluster and workload by
// drasim's own engine, so that its figures are those of a run.
#ifndef DRASIM_SIM_BENCH_JUDGE_H_
#define DRASIM_SIM_BENCH_JUDGE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/compare/cell.h"
#include "sim/core/decision_list.h"
#include "sim/run/simulation.h"
#include "sim/scenario/run_spec.h"

namespace drasim::bench {

// FailedPrecondition, with the key to change, for a scenario in which more than placements decides:
// classic DRA negotiates, and repartitioning reacts to failed attempts, of which a list has none.
absl::Status CheckJudgeable(const RunSpec& spec);

// The scenario as a run that follows the decisions: without latency of attempts, since the list has
// the times at which they ended, and without checkpoints. Manifests are read as for kube-scheduler,
// whatever the policy, and kube-scheduler's default profile then says what is possible.
RunSpec FollowDecisions(RunSpec spec, std::shared_ptr<const DecisionList> decisions);

struct Judgement {
  CellResult figures;
  size_t placements = 0;  // decisions to place a pod, but for those that came with their nodes
  size_t followed = 0;    // of them
  // "FILE:LINE: pod 'x': why", in the order of the list.
  std::vector<std::string> problems;
};
// REQUIRES: the simulation of FollowDecisions' specification has ended.
Judgement JudgementOf(const Simulation& sim);

}  // namespace drasim::bench

#endif  // DRASIM_SIM_BENCH_JUDGE_H_
