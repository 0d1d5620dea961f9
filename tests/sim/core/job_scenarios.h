// Small scenarios of jobs on nodes of CPU cores, for tests of the engine and of its naive twin.
#ifndef DRASIM_TESTS_SIM_CORE_JOB_SCENARIOS_H_
#define DRASIM_TESTS_SIM_CORE_JOB_SCENARIOS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/event_source.h"
#include "sim/core/engine.h"
#include "tests/sim/core/engine_rig.h"
#include "tests/testing/cluster_builder.h"

namespace drasim {

// Nodes n0, n1, ... with these numbers of cores; a pod goes to the first with room. Shape i asks
// for i cores, shape 0 for half of one.
inline EngineScenario Cores(const std::vector<int64_t>& cores, absl::string_view queue) {
  EngineScenario s;
  for (const int64_t c : cores) {
    s.nodes.push_back(TestNode(absl::StrCat("n", s.nodes.size()), c * 1000, 0));
  }
  for (int64_t c = 0; c <= 12; ++c) s.shapes.push_back(TestShape(c > 0 ? c * 1000 : 500, 0));
  s.policy = "consolidate";
  s.identity_ranks = true;
  s.queue = std::string(queue);
  s.options.mode = RunMode::kReplay;
  s.options.check_invariants = true;
  return s;
}

// `shape` is an index into EngineScenario::shapes. With kForever it has no end of its own.
inline JobArrival MakeJob(absl::string_view name, size_t shape, int64_t at_ns, int64_t run_ns) {
  JobArrival job;
  job.name = std::string(name);
  job.shape = ShapeId(shape);
  job.time = SimTime(at_ns);
  job.has_run_time = run_ns != kForever;
  if (job.has_run_time) job.run_time = SimDuration(run_ns);
  return job;
}

inline JobArrival MakeGang(absl::string_view name, int32_t pods, size_t shape, int64_t at_ns,
                           int64_t run_ns) {
  JobArrival job = MakeJob(name, shape, at_ns, run_ns);
  job.pods = pods;
  return job;
}

inline NodeTransition MakeChange(int64_t at_ns, size_t node, NodeTransition::Action action) {
  NodeTransition change;
  change.at = SimTime(at_ns);
  change.node = NodeId(node);
  change.action = action;
  return change;
}

// The head waits for r to end at 10 and will then leave two cores over. `short` is over before,
// `long` is not and needs more than two; `thin` needs no more.
inline EngineScenario EasyExample() {
  EngineScenario s = Cores({10}, "fifo");
  s.batch.backfill = Backfill::kEasy;
  s.jobs = {MakeJob("r", 6, 0, 10), MakeJob("head", 8, 1, 5), MakeJob("long", 3, 2, 20),
            MakeJob("short", 2, 3, 6), MakeJob("thin", 2, 4, 20)};
  return s;
}

// c fits beside a, but not beside b, whose turn comes at 20. EASY protects a alone.
inline EngineScenario ConservativeExample(Backfill backfill) {
  EngineScenario s = Cores({10}, "fifo");
  s.batch.backfill = backfill;
  s.jobs = {MakeJob("r", 6, 0, 10), MakeJob("a", 8, 1, 10), MakeJob("b", 10, 2, 5),
            MakeJob("c", 2, 3, 18), MakeJob("d", 2, 4, 15)};
  return s;
}

// The example of Ghodsi et al. (NSDI 2011): 9 CPUs and 18 GB; each task of A takes 1 CPU and 4 GB,
// each of B takes 3 CPUs and 1 GB. Both have more tasks than fit.
inline EngineScenario DrfExample() {
  EngineScenario s = Cores({9}, "drf");
  s.nodes[0].memory_bytes = 18;
  s.shapes = {TestShape(1000, 0), TestShape(3000, 0)};
  s.shapes[0].request.memory_bytes = 4;
  s.shapes[1].request.memory_bytes = 1;
  for (const size_t user : {size_t{0}, size_t{1}}) {
    for (int i = 0; i < 5; ++i) {
      s.jobs.push_back(MakeJob(absl::StrCat(user == 0 ? "a" : "b", i), user, 0, kForever));
      s.jobs.back().tenant = user == 0 ? "A" : "B";
    }
  }
  return s;
}

}  // namespace drasim

#endif  // DRASIM_TESTS_SIM_CORE_JOB_SCENARIOS_H_
