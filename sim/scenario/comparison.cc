#include "sim/scenario/comparison.h"

#include <algorithm>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "model/key_error.h"
#include "model/proto/scenario.pb.h"
#include "model/status_macros.h"
#include "model/text/did_you_mean.h"
#include "model/text/yaml_proto.h"
#include "sim/scenario/dra_spec.h"
#include "sim/scenario/front_end_spec.h"
#include "sim/scenario/scheduler_spec.h"

namespace drasim {
namespace {

constexpr int kMaxAxes = 4;
constexpr size_t kMaxContenders = 1000;
// sim/compare maps them to figures.
constexpr absl::string_view kMetricNames[] = {"gpu_allocation_percent_at_100",
                                              "gpu_allocation_percent_at_130",
                                              "gpu_allocation_percent_end",
                                              "fragmentation_percent_of_total_end",
                                              "pods_unschedulable",
                                              "jobs_finished",
                                              "mean_jct_seconds",
                                              "p95_jct_seconds",
                                              "mean_queueing_seconds",
                                              "mean_slowdown",
                                              "makespan_seconds",
                                              "gpu_utilisation_percent",
                                              "preemptions",
                                              "goodput",
                                              "acceptance",
                                              "acceptance_by_slices",
                                              "handed_out_percent",
                                              "wanted_percent",
                                              "stranded_memory_slices_percent",
                                              "stranded_compute_slices_percent",
                                              "stranded_by_geometry_percent",
                                              "stranded_by_layout_percent",
                                              "stranded_by_other_percent",
                                              "internal_waste_percent",
                                              "internal_waste_memory_percent",
                                              "shortfall_percent",
                                              "admission_failures",
                                              "repartitions",
                                              "repartition_gpu_seconds",
                                              "slot_fragmentation_percent",
                                              "pods_started",
                                              "mean_start_seconds",
                                              "p95_start_seconds",
                                              "mean_start_queue_seconds",
                                              "p95_start_queue_seconds",
                                              "mean_negotiation_seconds",
                                              "p95_negotiation_seconds",
                                              "mean_prepare_seconds",
                                              "p95_prepare_seconds",
                                              "cycles_per_pod",
                                              "api_writes_per_pod",
                                              "api_reads_per_pod",
                                              "pods_pinned_mean",
                                              "pods_pinned_most",
                                              "pods_pinned_at_end"};

template <typename List>
std::vector<std::string> Texts(const List& list) {
  return std::vector<std::string>(list.begin(), list.end());
}

absl::Status ApplyValue(const proto::Axis& axis, const proto::AxisValue& value, AxisWorld* world) {
  const std::string origin = absl::StrCat("comparison.axes.", axis.name(), ".", value.name());
  for (const std::string& setting : value.set()) {
    const absl::string_view key = KeyOfSetting(setting);
    if (key.size() == setting.size()) {
      return KeyError(origin, absl::StrCat("found '", setting, "', expected KEY=VALUE"));
    }
    // Neither would have an effect: each contender runs with each seed.
    if (key == "seed" || key.substr(0, key.find('.')) == "comparison") {
      return KeyError(origin, absl::StrCat("found '", setting,
                                           "', expected a key other than seed and comparison"));
    }
    const absl::string_view text = absl::string_view(setting).substr(key.size() + 1);
    RETURN_IF_ERROR(WithKey(origin, SetField(key, text, origin, &*world->scenario)));
    world->settings.emplace_back(key, origin);
  }
  world->values.push_back(value.name());
  return absl::OkStatus();
}

// Names are cells of tables, so they must fit a line.
absl::Status CheckAxisName(absl::string_view key, const std::string& name) {
  if (!name.empty() && std::none_of(name.begin(), name.end(), [](char c) {
        return absl::ascii_iscntrl(static_cast<unsigned char>(c));
      })) {
    return absl::OkStatus();
  }
  return KeyError(key, absl::StrCat("found '", absl::Utf8SafeCEscape(name), "', expected a name"));
}

absl::Status CheckAxisValues(const proto::Axis& axis) {
  const std::string key = absl::StrCat("comparison.axes.", axis.name());
  if (axis.values_size() == 0) {
    return KeyError(absl::StrCat(key, ".values"), "found none, expected some");
  }
  std::set<std::string> names;
  for (int v = 0; v < axis.values_size(); ++v) {
    const std::string& name = axis.values(v).name();
    RETURN_IF_ERROR(CheckAxisName(absl::StrCat(key, ".values.", v, ".name"), name));
    if (!names.insert(name).second) {
      return KeyError(key, absl::StrCat("'", name, "' is there twice"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckAxes(const proto::Comparison& comparison) {
  if (comparison.axes_size() > kMaxAxes) {
    return KeyError("comparison.axes", absl::StrCat("found ", comparison.axes_size(),
                                                    " axes, expected at most ", kMaxAxes));
  }
  std::set<std::string> names;
  for (int a = 0; a < comparison.axes_size(); ++a) {
    const std::string& name = comparison.axes(a).name();
    const std::string key = absl::StrCat("comparison.axes.", a, ".name");
    RETURN_IF_ERROR(CheckAxisName(key, name));
    if (name == "queue" || name == "policy" || name == "seeds") {
      return KeyError(key,
                      absl::StrCat("found '", name,
                                   "', expected another name: there is such a column already"));
    }
    if (!names.insert(name).second) {
      return KeyError("comparison.axes", absl::StrCat("'", name, "' is there twice"));
    }
    RETURN_IF_ERROR(CheckAxisValues(comparison.axes(a)));
  }
  return absl::OkStatus();
}

absl::Status CheckMetrics(const proto::Comparison& comparison) {
  const std::vector<std::string> known(MetricNames().begin(), MetricNames().end());
  std::set<std::string> names;
  for (const std::string& name : comparison.metrics()) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return KeyError("comparison.metrics",
                      absl::StrCat("unknown metric '", name, "'", Suggest(name, known)));
    }
    if (!names.insert(name).second) {
      return KeyError("comparison.metrics", absl::StrCat("'", name, "' is there twice"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Span<const absl::string_view> MetricNames() { return kMetricNames; }

absl::string_view KeyOfSetting(absl::string_view setting) {
  return setting.substr(0, setting.find('='));
}

size_t CountWorlds(const proto::Comparison& comparison) {
  size_t count = 1;
  for (const proto::Axis& axis : comparison.axes()) {
    if (count > kMaxContenders) break;
    count *= static_cast<size_t>(axis.values_size());
  }
  return count;
}

absl::StatusOr<AxisWorld> MakeAxisWorld(const proto::Scenario& bare,
                                        const proto::Comparison& comparison, size_t number) {
  std::vector<int> values(static_cast<size_t>(comparison.axes_size()));
  for (int a = comparison.axes_size(); a-- > 0;) {
    const auto size = static_cast<size_t>(comparison.axes(a).values_size());
    values[static_cast<size_t>(a)] = static_cast<int>(number % size);
    number /= size;
  }
  AxisWorld world;
  world.scenario = ScenarioMessage(bare);
  for (int a = 0; a < comparison.axes_size(); ++a) {
    const proto::Axis& axis = comparison.axes(a);
    const proto::AxisValue& value = axis.values(values[static_cast<size_t>(a)]);
    RETURN_IF_ERROR(ApplyValue(axis, value, &world));
  }
  return world;
}

bool SetsPolicy(const proto::Comparison& comparison) {
  for (const proto::Axis& axis : comparison.axes()) {
    for (const proto::AxisValue& value : axis.values()) {
      for (const std::string& setting : value.set()) {
        if (KeyOfSetting(setting) == "scheduler.policy") return true;
      }
    }
  }
  return false;
}

absl::StatusOr<std::vector<uint64_t>> SeedsOfComparison(const std::string& text) {
  absl::StatusOr<std::vector<uint64_t>> seeds = ParseSeeds(text);
  if (seeds.ok()) return seeds;
  // Errors of ParseSeeds begin with "seeds: ", the rest of the key.
  return WithKey("comparison.seeds",
                 absl::InvalidArgumentError(absl::StrCat("comparison.", seeds.status().message())));
}

absl::Status CheckContenderCount(size_t worlds, const Choices& choices) {
  const size_t each =
      std::max<size_t>(1, choices.queues.size()) * std::max<size_t>(1, choices.policies.size());
  if (worlds <= kMaxContenders / each) return absl::OkStatus();
  return KeyError(
      "comparison",
      absl::StrCat("found more than ", kMaxContenders,
                   " contenders (values of each axis x queues x policies), expected at most ",
                   kMaxContenders));
}

absl::StatusOr<Choices> ListedChoices(const proto::Scenario& scenario) {
  const proto::Comparison& comparison = scenario.comparison();
  Choices choices;
  if (comparison.queues_size() > 0) {
    choices.queues_origin = "comparison.queues";
    ASSIGN_OR_RETURN(choices.queues,
                     ChooseQueues(Texts(comparison.queues()), choices.queues_origin));
  }
  if (comparison.policies_size() > 0) {
    ASSIGN_OR_RETURN(choices.policies,
                     ChoosePolicies(Texts(comparison.policies()), "comparison.policies",
                                    KindOfPolicies(scenario)));
  }
  return choices;
}

absl::StatusOr<std::vector<uint64_t>> ParseSeeds(absl::string_view text) {
  constexpr uint64_t kMaxSeeds = 100'000;
  std::vector<uint64_t> seeds;
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    const std::vector<absl::string_view> ends = absl::StrSplit(part, "..");
    uint64_t first = 0;
    uint64_t last = 0;
    if (ends.size() > 2 || !absl::SimpleAtoi(ends.front(), &first) ||
        !absl::SimpleAtoi(ends.back(), &last)) {
      return absl::InvalidArgumentError(
          absl::StrCat("seeds: found '", text,
                       "', expected numbers and ranges such as 42 or 42..51 or 1,2,7..9"));
    }
    if (last < first) {
      return absl::InvalidArgumentError(absl::StrCat(
          "seeds: found '", part, "', expected the smaller number first: ", last, "..", first));
    }
    if (last - first >= kMaxSeeds - seeds.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("seeds: found '", text, "', expected at most ", kMaxSeeds, " seeds"));
    }
    for (uint64_t i = 0; i <= last - first; ++i) seeds.push_back(first + i);
  }
  return seeds;
}

absl::StatusOr<std::vector<std::string>> ChoosePolicies(const std::vector<std::string>& names,
                                                        absl::string_view origin,
                                                        PolicyEntry::Kind kind) {
  std::vector<std::string> policies;
  if (names.size() == 1 && names[0] == "all") {
    for (const PolicyEntry& entry : BuiltinRegistry().policies()) {
      if (entry.kind == kind) policies.push_back(entry.name);
    }
    return policies;
  }
  for (const std::string& name : names) {
    const absl::Status known = name == kKubeSchedulerPolicy
                                   ? absl::OkStatus()
                                   : BuiltinRegistry().FindPolicy(name).status();
    if (!known.ok()) return KeyError(origin, known.message());
    if (std::find(policies.begin(), policies.end(), name) != policies.end()) {
      return KeyError(origin, absl::StrCat("'", name, "' is there twice"));
    }
    policies.push_back(name);
  }
  return policies;
}

absl::StatusOr<std::vector<std::string>> ParsePolicies(const std::string& text,
                                                       PolicyEntry::Kind kind) {
  return ChoosePolicies(absl::StrSplit(text.empty() ? "all" : text, ','), "--policies", kind);
}

PolicyEntry::Kind KindOfPolicies(const proto::Scenario& scenario) {
  const std::string& front_end = scenario.front_end().kind();
  if (front_end == "device-plugin" || UsesDra(scenario)) {
    return PolicyEntry::Kind::kKubernetes;
  }
  return UsesMig(scenario) ? PolicyEntry::Kind::kMig : PolicyEntry::Kind::kGpuSharing;
}

std::vector<std::string> QueueNames() {
  std::vector<std::string> names;
  for (const QueueEntry& entry : BuiltinRegistry().queues()) names.push_back(entry.name);
  names.emplace_back("kubernetes");
  return names;
}

absl::StatusOr<std::vector<std::string>> ChooseQueues(const std::vector<std::string>& names,
                                                      absl::string_view origin) {
  std::vector<std::string> known = QueueNames();
  if (names.size() == 1 && names[0] == "all") return known;
  known.emplace_back(kLossQueue);  // no queue among the others: it waits for nothing
  std::vector<std::string> queues;
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return KeyError(origin, absl::StrCat("unknown queue '", name, "'", Suggest(name, known)));
    }
    if (std::find(queues.begin(), queues.end(), name) != queues.end()) {
      return KeyError(origin, absl::StrCat("'", name, "' is there twice"));
    }
    queues.push_back(name);
  }
  return queues;
}

absl::StatusOr<std::vector<std::string>> ParseQueues(const std::string& text) {
  return ChooseQueues(absl::StrSplit(text, ','), "--queues");
}

absl::Status CheckComparison(const proto::Scenario& scenario) {
  const proto::Comparison& comparison = scenario.comparison();
  RETURN_IF_ERROR(CheckAxes(comparison));
  ASSIGN_OR_RETURN(const Choices choices, ListedChoices(scenario));
  RETURN_IF_ERROR(CheckMetrics(comparison));
  if (!comparison.seeds().empty()) {
    RETURN_IF_ERROR(SeedsOfComparison(comparison.seeds()).status());
  }
  const size_t worlds = CountWorlds(comparison);
  RETURN_IF_ERROR(CheckContenderCount(worlds, choices));
  if (comparison.axes_size() == 0) return absl::OkStatus();
  proto::Scenario bare = scenario;
  bare.clear_comparison();
  for (size_t w = 0; w < worlds; ++w) {
    RETURN_IF_ERROR(MakeAxisWorld(bare, comparison, w).status());
  }
  return absl::OkStatus();
}

}  // namespace drasim
