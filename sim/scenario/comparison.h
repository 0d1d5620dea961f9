// `comparison`: the worlds, queues, policies, metrics and seeds that a scenario compares.
//
// A *world* is the scenario with one value of each axis: the settings of that value, applied as
// --set would. Everything here works on scenarios that are not resolved, since defaults depend on
// what a world sets.
#ifndef DRASIM_SIM_SCENARIO_COMPARISON_H_
#define DRASIM_SIM_SCENARIO_COMPARISON_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/proto/scenario.pb.h"
#include "policies/framework/registry.h"

namespace drasim {

// Checks the scenario's `comparison` by itself: at most 4 axes, each with values, names that are
// given and unique, settings that the scenario's keys take, known policies, queues and metrics,
// seeds that can be read, at most 1,000 contenders. A scenario without one passes. MakeContenders
// finds whether each world can run. InvalidArgument, beginning with the scenario key.
//
// Makes each world once: O(size of the scenario) per setting.
absl::Status CheckComparison(const proto::Scenario& scenario);

// The names of all columns that a comparison may show, in the order of AllMetrics()
// (sim/compare/cell_metrics.h), which says what they are.
absl::Span<const absl::string_view> MetricNames();

// --- Worlds ---

struct AxisWorld {
  std::vector<std::string> values;                            // names, one of each axis
  proto::Scenario scenario;                                   // without its comparison
  std::vector<std::pair<std::string, std::string>> settings;  // key and origin, in order
};

// The number of worlds; where there are more than may be compared, some number above the limit.
size_t CountWorlds(const proto::Comparison& comparison);

// The world of that number; the last axis turns fastest. `bare`: the scenario without its
// comparison.
absl::StatusOr<AxisWorld> MakeAxisWorld(const proto::Scenario& bare,
                                        const proto::Comparison& comparison, size_t number);

// Whether an axis sets scheduler.policy.
bool SetsPolicy(const proto::Comparison& comparison);

// "seed" of "seed=42".
absl::string_view KeyOfSetting(absl::string_view setting);

// --- Queues, policies and seeds ---

// Queues and policies to combine with worlds; empty lists: each world's own.
struct Choices {
  std::vector<std::string> queues;
  absl::string_view queues_origin = "--queues";
  std::vector<std::string> policies;
};

// The lists of the comparison itself.
absl::StatusOr<Choices> ListedChoices(const proto::Scenario& scenario);

// InvalidArgument for more than 1,000 contenders.
absl::Status CheckContenderCount(size_t worlds, const Choices& choices);

// "all" or empty: every built-in policy; else a comma-separated list. InvalidArgument for unknown
// names and for duplicates.
absl::StatusOr<std::vector<std::string>> ParsePolicies(
    const std::string& text, PolicyEntry::Kind kind = PolicyEntry::Kind::kGpuSharing);
// The same for a list, which may be {"all"} but not empty. Errors begin with `origin`, the place of
// the list in the input.
absl::StatusOr<std::vector<std::string>> ChoosePolicies(
    const std::vector<std::string>& names, absl::string_view origin,
    PolicyEntry::Kind kind = PolicyEntry::Kind::kGpuSharing);
// The kind of policies that suits the scenario: kube-scheduler's for the device plugin and for
// drivers, MIG's if the scheduler hands out instances, otherwise those for GPU sharing.
PolicyEntry::Kind KindOfPolicies(const proto::Scenario& scenario);

// The values of scheduler.queue: every built-in queue policy, then kubernetes.
std::vector<std::string> QueueNames();
// "all": all of these; else a comma-separated list. Errors are those of ParsePolicies.
absl::StatusOr<std::vector<std::string>> ParseQueues(const std::string& text);
// The counterpart of ChoosePolicies.
absl::StatusOr<std::vector<std::string>> ChooseQueues(const std::vector<std::string>& names,
                                                      absl::string_view origin);

// "42", "42..51", "1,2,7..9" to numbers, in order. InvalidArgument for anything else or more than
// 100000 numbers.
absl::StatusOr<std::vector<uint64_t>> ParseSeeds(absl::string_view text);
// The same for comparison.seeds, whose key begins its errors. `text` is not empty.
absl::StatusOr<std::vector<uint64_t>> SeedsOfComparison(const std::string& text);

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_COMPARISON_H_
