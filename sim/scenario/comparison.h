// `comparison`: the worlds, queues, policies, metrics and seeds that a scenario compares.
//
// A *world* is the scenario with one value of each axis: the settings of that value, applied as
// --set would. Everything here works on unresolved scenarios, because defaults depend on the
// settings of a world.
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
#include "policies/framework/registry.h"
#include "sim/scenario/scenario_message.h"

namespace drasim {

namespace proto {
class Comparison;
class Scenario;
}  // namespace proto

// Checks `comparison` alone: at most 4 axes with at least one value each, non-empty and unique
// names, settings that the scenario accepts, known policies, queues and metrics, well-formed seeds,
// at most 1,000 contenders. A scenario without `comparison` passes. MakeContenders checks whether
// each world can run. InvalidArgument, beginning with the scenario key.
//
// Cost: makes each world once, in O(size of the scenario) per setting.
absl::Status CheckComparison(const proto::Scenario& scenario);

// The names of all columns of a comparison, in the order of AllMetrics()
// (sim/compare/cell_metrics.h), which explains them.
absl::Span<const absl::string_view> MetricNames();

// --- Worlds ---

struct AxisWorld {
  std::vector<std::string> values;                            // one name per axis
  ScenarioMessage scenario;                                   // without its comparison
  std::vector<std::pair<std::string, std::string>> settings;  // key and origin, in order
};

// The number of worlds. Counting stops above the limit on contenders.
size_t CountWorlds(const proto::Comparison& comparison);

// World number `number`; the last axis varies fastest. `bare`: the scenario without its
// comparison.
absl::StatusOr<AxisWorld> MakeAxisWorld(const proto::Scenario& bare,
                                        const proto::Comparison& comparison, size_t number);

// Whether an axis sets scheduler.policy.
bool SetsPolicy(const proto::Comparison& comparison);

// The key of a setting: "seed" for "seed=42".
absl::string_view KeyOfSetting(absl::string_view setting);

// --- Queues, policies and seeds ---

// Queues and policies to combine with each world. An empty list stands for the world's own.
struct Choices {
  std::vector<std::string> queues;
  absl::string_view queues_origin = "--queues";
  std::vector<std::string> policies;
};

// The lists in `comparison`.
absl::StatusOr<Choices> ListedChoices(const proto::Scenario& scenario);

// InvalidArgument for more than 1,000 contenders.
absl::Status CheckContenderCount(size_t worlds, const Choices& choices);

// "all" or empty: every built-in policy of the kind; otherwise a comma-separated list.
// InvalidArgument for unknown and repeated names.
absl::StatusOr<std::vector<std::string>> ParsePolicies(
    const std::string& text, PolicyEntry::Kind kind = PolicyEntry::Kind::kGpuSharing);
// The same from a list, which may be {"all"} but not empty. Errors begin with `origin`, the place
// of the list.
absl::StatusOr<std::vector<std::string>> ChoosePolicies(
    const std::vector<std::string>& names, absl::string_view origin,
    PolicyEntry::Kind kind = PolicyEntry::Kind::kGpuSharing);
// The kind of policies that suits the scenario: kube-scheduler's with the device plugin or with
// drivers, MIG policies where the scheduler hands out instances, otherwise policies for GPU
// sharing.
PolicyEntry::Kind KindOfPolicies(const proto::Scenario& scenario);

// The values of scheduler.queue: every built-in queue policy, then kubernetes.
std::vector<std::string> QueueNames();
// "all": all of these; otherwise a comma-separated list. Errors as for ParsePolicies.
absl::StatusOr<std::vector<std::string>> ParseQueues(const std::string& text);
// As ChoosePolicies.
absl::StatusOr<std::vector<std::string>> ChooseQueues(const std::vector<std::string>& names,
                                                      absl::string_view origin);

// Parses "42", "42..51" or "1,2,7..9" into numbers, in order. InvalidArgument for anything else and
// for more than 100,000 numbers.
absl::StatusOr<std::vector<uint64_t>> ParseSeeds(absl::string_view text);
// The same for comparison.seeds: errors begin with the key. REQUIRES: `text` is not empty.
absl::StatusOr<std::vector<uint64_t>> SeedsOfComparison(const std::string& text);

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_COMPARISON_H_
