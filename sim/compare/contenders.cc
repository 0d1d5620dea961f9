#include "sim/compare/contenders.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "model/status_macros.h"
#include "model/text/yaml_proto.h"
#include "sim/compare/cell.h"
#include "sim/compare/cell_metrics.h"
#include "sim/compare/worlds.h"

namespace drasim {
namespace {

constexpr int kMaxAxes = 4;
constexpr size_t kMaxContenders = 1000;
constexpr char kWorldAxis[] = "world";
constexpr char kPolicyOfWorlds[] = "least-allocated";

// The scenario with one value of each axis.
struct World {
  std::vector<std::string> values;
  proto::Scenario scenario;  // not resolved, without its comparison
  std::vector<std::pair<std::string, std::string>> settings;  // the key, and who set it; in order
};

// Queues and policies; empty lists: each world's own.
struct Choices {
  std::vector<std::string> queues;
  absl::string_view queues_origin = "--queues";
  std::vector<std::string> policies;
};

template <typename List>
std::vector<std::string> Texts(const List& list) {
  return std::vector<std::string>(list.begin(), list.end());
}

absl::string_view KeyOf(absl::string_view setting) { return setting.substr(0, setting.find('=')); }

absl::Status ApplyValue(const proto::Axis& axis, const proto::AxisValue& value, World* world) {
  const std::string origin = absl::StrCat("comparison.axes.", axis.name(), ".", value.name());
  for (const std::string& setting : value.set()) {
    const absl::string_view key = KeyOf(setting);
    if (key.size() == setting.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat(origin, ": found '", setting, "', expected KEY=VALUE"));
    }
    // Neither would have an effect: each contender runs with each seed.
    if (key == "seed" || key.substr(0, key.find('.')) == "comparison") {
      return absl::InvalidArgumentError(absl::StrCat(
          origin, ": found '", setting, "', expected a key other than seed and comparison"));
    }
    const absl::string_view text = absl::string_view(setting).substr(key.size() + 1);
    RETURN_IF_ERROR(SetField(key, text, origin, &world->scenario));
    world->settings.emplace_back(key, origin);
  }
  world->values.push_back(value.name());
  return absl::OkStatus();
}

// So many or, when there are more than may be, some number above that.
size_t CountWorlds(const proto::Comparison& comparison) {
  size_t count = 1;
  for (const proto::Axis& axis : comparison.axes()) {
    if (count > kMaxContenders) break;
    count *= static_cast<size_t>(axis.values_size());
  }
  return count;
}

// The world of that number; the last axis turns fastest. `bare`: without its comparison.
absl::StatusOr<World> MakeWorld(const proto::Scenario& bare, const proto::Comparison& comparison,
                                size_t number) {
  std::vector<int> values(static_cast<size_t>(comparison.axes_size()));
  for (int a = comparison.axes_size(); a-- > 0;) {
    const auto size = static_cast<size_t>(comparison.axes(a).values_size());
    values[static_cast<size_t>(a)] = static_cast<int>(number % size);
    number /= size;
  }
  World world;
  world.scenario = bare;
  for (int a = 0; a < comparison.axes_size(); ++a) {
    const proto::Axis& axis = comparison.axes(a);
    const proto::AxisValue& value = axis.values(values[static_cast<size_t>(a)]);
    RETURN_IF_ERROR(ApplyValue(axis, value, &world));
  }
  return world;
}

// Names are cells of tables, so a line each.
absl::Status CheckName(absl::string_view key, const std::string& name) {
  if (!name.empty() && std::none_of(name.begin(), name.end(), [](char c) {
        return absl::ascii_iscntrl(static_cast<unsigned char>(c));
      })) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(key, ": found '", absl::Utf8SafeCEscape(name), "', expected a name"));
}

absl::Status CheckValues(const proto::Axis& axis) {
  const std::string key = absl::StrCat("comparison.axes.", axis.name());
  if (axis.values_size() == 0) {
    return absl::InvalidArgumentError(absl::StrCat(key, ".values: found none, expected some"));
  }
  std::set<std::string> names;
  for (int v = 0; v < axis.values_size(); ++v) {
    const std::string& name = axis.values(v).name();
    if (absl::Status s = CheckName(absl::StrCat(key, ".values.", v, ".name"), name); !s.ok())
      return s;
    if (!names.insert(name).second) {
      return absl::InvalidArgumentError(absl::StrCat(key, ": '", name, "' is there twice"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckAxes(const proto::Comparison& comparison) {
  if (comparison.axes_size() > kMaxAxes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "comparison.axes: found ", comparison.axes_size(), " axes, expected at most ", kMaxAxes));
  }
  std::set<std::string> names;
  for (int a = 0; a < comparison.axes_size(); ++a) {
    const std::string& name = comparison.axes(a).name();
    const std::string key = absl::StrCat("comparison.axes.", a, ".name");
    RETURN_IF_ERROR(CheckName(key, name));
    if (name == "queue" || name == "policy" || name == "seeds") {
      return absl::InvalidArgumentError(absl::StrCat(
          key, ": found '", name, "', expected another name: there is such a column already"));
    }
    if (!names.insert(name).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("comparison.axes: '", name, "' is there twice"));
    }
    RETURN_IF_ERROR(CheckValues(comparison.axes(a)));
  }
  return absl::OkStatus();
}

absl::Status CheckMetrics(const proto::Comparison& comparison) {
  std::set<std::string> names;
  for (const std::string& name : comparison.metrics()) {
    if (absl::StatusOr<CellMetric> metric = FindMetric(name); !metric.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("comparison.metrics: ", metric.status().message()));
    }
    if (!names.insert(name).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("comparison.metrics: '", name, "' is there twice"));
    }
  }
  return absl::OkStatus();
}

// `text` is not empty.
absl::StatusOr<std::vector<uint64_t>> SeedsOfComparison(const std::string& text) {
  absl::StatusOr<std::vector<uint64_t>> seeds = ParseSeeds(text);
  if (seeds.ok()) return seeds;
  // "seeds: ...", where the key is to stand.
  return absl::InvalidArgumentError(absl::StrCat("comparison.", seeds.status().message()));
}

absl::Status CheckCount(size_t worlds, const Choices& choices) {
  const size_t each =
      std::max<size_t>(1, choices.queues.size()) * std::max<size_t>(1, choices.policies.size());
  if (worlds <= kMaxContenders / each) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "comparison: found more than ", kMaxContenders,
      " contenders (values of each axis x queues x policies), expected at most ", kMaxContenders));
}

bool SetsPolicy(const proto::Comparison& comparison) {
  for (const proto::Axis& axis : comparison.axes()) {
    for (const proto::AxisValue& value : axis.values()) {
      for (const std::string& setting : value.set()) {
        if (KeyOf(setting) == "scheduler.policy") return true;
      }
    }
  }
  return false;
}

// The lists of the comparison itself.
absl::StatusOr<Choices> ListedChoices(const proto::Scenario& scenario) {
  const proto::Comparison& comparison = scenario.comparison();
  Choices choices;
  if (comparison.queues_size() > 0) {
    choices.queues_origin = "comparison.queues";
    absl::StatusOr<std::vector<std::string>> queues =
        ChooseQueues(Texts(comparison.queues()), choices.queues_origin);
    if (!queues.ok()) return queues.status();
    choices.queues = *std::move(queues);
  }
  if (comparison.policies_size() > 0) {
    absl::StatusOr<std::vector<std::string>> policies = ChoosePolicies(
        Texts(comparison.policies()), "comparison.policies", KindOfPolicies(scenario));
    if (!policies.ok()) return policies.status();
    choices.policies = *std::move(policies);
  }
  return choices;
}

// The same with what flags put in its place, and the policies that go without saying.
absl::StatusOr<Choices> MakeChoices(const ContenderFlags& flags, const proto::Scenario& scenario) {
  const proto::Comparison& comparison = scenario.comparison();
  absl::StatusOr<Choices> choices = ListedChoices(scenario);
  if (!choices.ok()) return choices;
  if (const std::string text = flags.queues.value_or(""); !text.empty()) {
    absl::StatusOr<std::vector<std::string>> queues = ParseQueues(text);
    if (!queues.ok()) return queues.status();
    choices->queues = *std::move(queues);
    choices->queues_origin = "--queues";
  }
  const std::string text = flags.policies.value_or("");
  const bool settled =
      !choices->policies.empty() || !choices->queues.empty() || SetsPolicy(comparison);
  if (text.empty() && settled) return choices;
  absl::StatusOr<std::vector<std::string>> policies = ParsePolicies(text, KindOfPolicies(scenario));
  if (!policies.ok()) return policies.status();
  choices->policies = *std::move(policies);
  return choices;
}

// The error of a contender, with what is needed to know which one it is.
absl::Status InWorld(const World& world, const std::vector<std::string>& axes,
                     const absl::Status& status) {
  if (world.values.empty()) return status;
  const absl::string_view message = status.message();
  const absl::string_view key = message.substr(0, message.find(':'));
  for (size_t i = world.settings.size(); i-- > 0;) {
    if (world.settings[i].first == key) {
      return absl::Status(status.code(), absl::StrCat(world.settings[i].second, ": ", message));
    }
  }
  std::vector<std::string> parts;
  for (size_t a = 0; a < world.values.size(); ++a) {
    parts.push_back(absl::StrCat(axes[a], " '", world.values[a], "'"));
  }
  return absl::Status(status.code(),
                      absl::StrCat(message, " (with ", absl::StrJoin(parts, ", "), ")"));
}

bool SaysItsLoad(const proto::Workload& workload) {
  return workload.tuning().has_ratio() || workload.generated().has_offered_percent() ||
         workload.jobs_size() > 0 || workload.manifests_size() > 0;
}

void TuneFill(std::optional<double> ratio, proto::Scenario* scenario) {
  if (!ratio.has_value() || scenario->mode() == "replay" || SaysItsLoad(scenario->workload())) {
    return;
  }
  scenario->mutable_workload()->mutable_tuning()->set_ratio(*ratio);
}

// Puts the world into `trial` and resolves it there, with a queue and a policy of the lists or,
// where these are empty, its own.
absl::Status Resolve(const World& world, const Choices& choices, size_t queue, size_t policy,
                     GivenScenario* trial) {
  trial->scenario = world.scenario;
  proto::Scheduler* scheduler = trial->scenario.mutable_scheduler();
  if (!choices.queues.empty()) scheduler->set_queue(choices.queues[queue]);
  if (!choices.policies.empty()) scheduler->set_policy(choices.policies[policy]);
  return ResolveGiven(trial);
}

// All contenders of one world.
absl::Status AddContenders(const World& world, const Choices& choices, GivenScenario* trial,
                           std::vector<Contender>* all) {
  // Values that no longer come from the file have no place in it.
  for (const auto& [key, origin] : world.settings) trial->overridden.push_back(key);
  if (!choices.queues.empty()) trial->overridden.emplace_back("scheduler.queue");
  if (!choices.policies.empty()) trial->overridden.emplace_back("scheduler.policy");
  if (!choices.queues.empty() && world.scenario.mode() != "replay") {
    // An error in the mode itself is reported first.
    trial->scenario = world.scenario;
    RETURN_IF_ERROR(ResolveGiven(trial));
    return absl::InvalidArgumentError(
        absl::StrCat(choices.queues_origin,
                     ": expected mode: replay; a fill tries each job once, so that none queues"));
  }
  // Each on its own, since defaults depend on the queue.
  for (size_t q = 0; q < std::max<size_t>(1, choices.queues.size()); ++q) {
    for (size_t p = 0; p < std::max<size_t>(1, choices.policies.size()); ++p) {
      RETURN_IF_ERROR(Resolve(world, choices, q, p, trial));
      all->push_back({world.values, trial->scenario});
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<uint64_t>> MakeSeeds(const ContenderFlags& flags,
                                                const proto::Comparison& comparison, uint64_t own) {
  if (!flags.seeds.has_value() && !comparison.seeds().empty())
    return SeedsOfComparison(comparison.seeds());
  return ParseSeeds(flags.seeds.value_or(absl::StrCat(own)));
}

// --- Worlds by name ---

absl::StatusOr<std::string> PolicyOfWorlds(const ContenderFlags& flags, const proto::Scenario& s) {
  const std::string text = flags.policies.value_or("");
  if (text.empty()) {
    return s.scheduler().policy().empty() ? std::string(kPolicyOfWorlds) : s.scheduler().policy();
  }
  absl::StatusOr<std::vector<std::string>> policies =
      ParsePolicies(text, PolicyEntry::Kind::kKubernetes);
  if (!policies.ok()) return policies.status();
  if (policies->size() == 1) return policies->front();
  return absl::InvalidArgumentError(
      absl::StrCat("--policies: found ", policies->size(),
                   ", expected one beside --worlds, which are compared under like conditions"));
}

absl::Status CheckWorldFlags(const ContenderFlags& flags, const proto::Comparison& comparison) {
  if (comparison.axes_size() > 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--worlds: found ", comparison.axes_size(),
                     " axes in the comparison, too, expected one of them"));
  }
  if (!flags.queues.has_value() && comparison.queues_size() == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(flags.queues.has_value() ? "--queues" : "comparison.queues",
                   ": expected none beside --worlds, which all have kube-scheduler's queue"));
}

absl::Status ChangeWorld(const ScenarioChange& change, const std::string& origin, World* world) {
  for (const std::string& setting : change.set) {
    world->settings.emplace_back(KeyOf(setting), origin);
  }
  return ApplyChange(change, origin, &world->scenario);
}

// `bare`: the scenario without its comparison, tuned.
absl::StatusOr<World> MakeNamedWorld(const std::string& name, const proto::Scenario& bare,
                                     const std::string& policy) {
  World world;
  world.values = {name};
  world.scenario = bare;
  const std::string origin = absl::StrCat("--worlds: '", name, "'");
  absl::Status s = ChangeWorld(LikeConditions(bare, policy), origin, &world);
  if (!s.ok()) return s;
  absl::StatusOr<ScenarioChange> change = WorldOf(name, bare);
  if (!change.ok()) return change.status();
  s = ChangeWorld(*change, origin, &world);
  if (!s.ok()) return s;
  return world;
}

absl::StatusOr<Contenders> MakeWorldContenders(const ContenderFlags& flags,
                                               const GivenScenario& given,
                                               std::optional<double> fill_ratio) {
  const proto::Comparison& comparison = given.scenario.comparison();
  RETURN_IF_ERROR(CheckWorldFlags(flags, comparison));
  absl::StatusOr<std::vector<std::string>> names = ParseWorlds(flags.worlds.value_or(""));
  if (!names.ok()) return names.status();
  absl::StatusOr<std::string> policy = PolicyOfWorlds(flags, given.scenario);
  if (!policy.ok()) return policy.status();
  Contenders contenders;
  contenders.axes = {kWorldAxis};
  contenders.worlds = true;
  proto::Scenario bare = given.scenario;
  bare.clear_comparison();
  TuneFill(fill_ratio, &bare);
  for (const std::string& name : *names) {
    absl::StatusOr<World> world = MakeNamedWorld(name, bare, *policy);
    if (!world.ok()) return world.status();
    GivenScenario trial = given;
    const absl::Status added = AddContenders(*world, Choices(), &trial, &contenders.all);
    if (!added.ok()) return InWorld(*world, contenders.axes, added);
  }
  return contenders;
}

}  // namespace

absl::Status CheckListFlags(const ContenderFlags& flags) {
  struct List {
    const char* name;
    const std::optional<std::string>& value;
    const char* expected;
  };
  for (const List& list :
       {List{"policies", flags.policies, "names with commas between, or all"},
        List{"queues", flags.queues, "names with commas between, or all"},
        List{"seeds", flags.seeds, "numbers and ranges such as 42 or 42..51 or 1,2,7..9"}}) {
    if (!list.value.has_value() || !list.value->empty()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--", list.name, ": found '', expected ", list.expected));
  }
  return absl::OkStatus();
}

absl::Status CheckQueueFlag(const ContenderFlags& flags, bool any_replay) {
  if (any_replay || !flags.queue.has_value()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--queue: found '", *flags.queue,
                   "', expected mode: replay beside it; a fill tries each job once, so that none "
                   "queues"));
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

absl::Status CheckComparison(const proto::Scenario& scenario) {
  const proto::Comparison& comparison = scenario.comparison();
  RETURN_IF_ERROR(CheckAxes(comparison));
  absl::StatusOr<Choices> choices = ListedChoices(scenario);
  if (!choices.ok()) return choices.status();
  RETURN_IF_ERROR(CheckMetrics(comparison));
  if (!comparison.seeds().empty()) {
    if (auto seeds = SeedsOfComparison(comparison.seeds()); !seeds.ok()) return seeds.status();
  }
  const size_t worlds = CountWorlds(comparison);
  RETURN_IF_ERROR(CheckCount(worlds, *choices));
  if (comparison.axes_size() == 0) return absl::OkStatus();
  proto::Scenario bare = scenario;
  bare.clear_comparison();
  for (size_t w = 0; w < worlds; ++w) {
    if (absl::StatusOr<World> world = MakeWorld(bare, comparison, w); !world.ok())
      return world.status();
  }
  return absl::OkStatus();
}

absl::StatusOr<Contenders> MakeContenders(const ContenderFlags& flags, const GivenScenario& given,
                                          std::optional<double> fill_ratio) {
  const proto::Comparison& comparison = given.scenario.comparison();
  RETURN_IF_ERROR(CheckListFlags(flags));
  if (absl::Status s = CheckComparison(given.scenario); !s.ok()) return InFile(given, s);
  if (flags.worlds.has_value()) {
    absl::StatusOr<Contenders> named = MakeWorldContenders(flags, given, fill_ratio);
    if (!named.ok()) return named;
    absl::StatusOr<std::vector<uint64_t>> seeds =
        MakeSeeds(flags, comparison, named->all[0].scenario.seed());
    if (!seeds.ok()) return seeds.status();
    named->seeds = *std::move(seeds);
    return named;  // worlds by name are replays
  }
  absl::StatusOr<Choices> choices = MakeChoices(flags, given.scenario);
  if (!choices.ok()) return choices.status();
  const size_t worlds = CountWorlds(comparison);
  RETURN_IF_ERROR(CheckCount(worlds, *choices));
  Contenders contenders;
  for (const proto::Axis& axis : comparison.axes()) contenders.axes.push_back(axis.name());
  proto::Scenario bare = given.scenario;
  bare.clear_comparison();
  for (size_t w = 0; w < worlds; ++w) {
    absl::StatusOr<World> world = MakeWorld(bare, comparison, w);
    if (!world.ok()) return world.status();
    TuneFill(fill_ratio, &world->scenario);
    GivenScenario trial = given;
    const absl::Status added = AddContenders(*world, *choices, &trial, &contenders.all);
    if (!added.ok()) return InWorld(*world, contenders.axes, added);
  }
  const bool any_replay = std::any_of(contenders.all.begin(), contenders.all.end(),
                                      [](const Contender& c) { return c.is_replay(); });
  RETURN_IF_ERROR(CheckQueueFlag(flags, any_replay));
  absl::StatusOr<std::vector<uint64_t>> seeds =
      MakeSeeds(flags, comparison, contenders.all[0].scenario.seed());
  if (!seeds.ok()) return seeds.status();
  contenders.seeds = *std::move(seeds);
  return contenders;
}

void NoteIdleSeeds(const Contenders& contenders) {
  if (contenders.seeds.size() < 2 ||
      std::any_of(contenders.all.begin(), contenders.all.end(),
                  [](const Contender& c) { return DependsOnSeed(c.scenario); })) {
    return;
  }
  std::fprintf(stderr, "drasim: note: nothing here is random, so all %zu seeds give the same\n",
               contenders.seeds.size());
}

}  // namespace drasim
