// A slow second simulator of replays, written from the documented rules alone, to compare the
// engine with.
//
// It keeps plain vectors, looks at everything at every event and remembers no failure. It knows
// whole GPUs, CPU, memory and pod slots; nodes, but not which devices of them; the score plugin
// Consolidate, with ties by the order of nodes (EngineScenario::identity_ranks); every queue but
// qssf and sjf-estimate; kube-scheduler's queue without PostFilter; and no hooks of plugins.
#ifndef DRASIM_TESTS_SIM_CORE_NAIVE_REPLAY_H_
#define DRASIM_TESTS_SIM_CORE_NAIVE_REPLAY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/event_source.h"
#include "model/job_table.h"
#include "model/pod_shape.h"
#include "tests/sim/core/engine_rig.h"

namespace drasim {

// A tenant's limit from a time on. The steps of one tenant are in order of time.
struct QuotaStep {
  std::string tenant;
  int64_t since_ns = 0;
  ResourceAmounts limit;
};

// From Bound to the end.
struct NaiveRun {
  int64_t start_ns = 0;
  int64_t end_ns = kForever;  // kForever: it still ran when nothing was left to happen
  std::vector<size_t> nodes;  // by pod
};

struct NaiveOutcome {
  JobState state = JobState::kWaiting;
  std::vector<NaiveRun> runs;
  // As in JobRow.
  int64_t waited_ns = 0;
  int64_t held_ns = 0;
  int64_t work_lost_ns = 0;
  int64_t overhead_ns = 0;
  int64_t failed_work_ns = 0;
  int64_t preemptions = 0;
  int64_t evictions = 0;
};

// The idle resources of a node.
struct NaiveNode {
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  int64_t gpus = 0;
  int64_t pods = 0;
  bool open = true;  // takes pods
};

// A node for each of the pods, one after the other: of the open nodes with room the one with the
// fewest idle GPUs, the first of equal ones. Nothing if one of them finds none.
std::vector<size_t> NaivePlace(std::vector<NaiveNode> nodes, const std::vector<PodShape>& pods);

// Every pod of the job, in the order of its groups.
std::vector<PodShape> NaivePods(const EngineScenario& scenario, const JobArrival& job);

// Whether a tenant that holds `held` may hold `more` beside it.
bool NaiveQuotaAllows(const std::vector<QuotaStep>& quotas, const std::string& tenant,
                      int64_t now_ns, const ResourceAmounts& held, const ResourceAmounts& more);

// Returns the outcome of each of scenario.jobs. `quotas` stand for scenario.quotas. Gives up, with
// an empty answer, after a hundred thousand events.
std::vector<NaiveOutcome> NaiveReplay(const EngineScenario& scenario,
                                      const std::vector<QuotaStep>& quotas);

}  // namespace drasim

#endif  // DRASIM_TESTS_SIM_CORE_NAIVE_REPLAY_H_
