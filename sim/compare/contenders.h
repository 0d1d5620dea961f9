// The contenders of a comparison, and the seeds of their runs.
//
// The scenario's `comparison` may have axes. One value of each axis makes a *world*: the scenario
// with the keys that these values set. Contenders are all worlds, times queues, times policies.
// Axes are applied last, after the file, the flags and --set, so that a world is what they say.
//
// Instead of axes, --worlds names predefined worlds (worlds.h). They are compared under like
// conditions: with one queue and one policy.
#ifndef DRASIM_SIM_COMPARE_CONTENDERS_H_
#define DRASIM_SIM_COMPARE_CONTENDERS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/scenario/given_scenario.h"
#include "sim/scenario/run_spec.h"

namespace drasim {

// The lists on the command line, each as typed.
struct ContenderFlags {
  std::optional<std::string> policies;
  std::optional<std::string> queues;
  std::optional<std::string> seeds;
  std::optional<std::string> worlds;
  std::optional<std::string> queue;  // --queue, which has no meaning in a fill
};

// InvalidArgument if --policies, --queues or --seeds has an empty value, which would otherwise read
// as if the flag were absent.
absl::Status CheckListFlags(const ContenderFlags& flags);
// InvalidArgument for --queue if no run is a replay.
absl::Status CheckQueueFlag(const ContenderFlags& flags, bool any_replay);

struct Contender {
  std::vector<std::string> values;  // names, one for each axis; or that of the world
  RunSpec spec;                     // without the comparison; its seed is to be set

  bool is_replay() const { return spec.is_replay(); }
  // The run with that seed.
  RunSpec WithSeed(uint64_t seed) const;
};

struct Contenders {
  std::vector<std::string> axes;  // names; "world" with --worlds
  bool worlds = false;            // of --worlds
  // At least one. The first axis varies slowest, then the other axes in order, then queues, then
  // policies.
  std::vector<Contender> all;
  std::vector<uint64_t> seeds;  // at least one
};

// Makes the contenders:
// * queues: --queues, else those of the comparison, else each world's own;
// * policies: --policies, else those of the comparison; else each world's own when there is a list
//   of queues or when an axis sets scheduler.policy, else all;
// * seeds: --seeds, else those of the comparison, else the scenario's seed.
// Each contender has the defaults that it would have in a run of its own. If the workload of a fill
// does not determine its load (no tuning, no share of the cluster to be asked for, no jobs written
// out), it is tuned to `fill_ratio`, if given.
// With --worlds a contender is a world, and its policy is the one of --policies, else the
// scenario's, else least-allocated; the comparison may have neither axes nor queues, and its
// policies are ignored. A fill is tuned before it becomes a stream. InvalidArgument for a wrong
// comparison, for more than 1,000 contenders, for a scenario that does not resolve (the message
// names the world) and for queues in a fill.
absl::StatusOr<Contenders> MakeContenders(const ContenderFlags& flags, const GivenScenario& given,
                                          std::optional<double> fill_ratio);

// Prints one line to standard error if there are several seeds and no contender depends on them.
void NoteIdleSeeds(const Contenders& contenders);

}  // namespace drasim

#endif  // DRASIM_SIM_COMPARE_CONTENDERS_H_
