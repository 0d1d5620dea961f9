#include "sim/compare/contenders.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "model/key_error.h"
#include "model/proto/scenario.pb.h"
#include "model/status_macros.h"
#include "sim/compare/cell.h"
#include "sim/compare/worlds.h"
#include "sim/scenario/comparison.h"
#include "sim/scenario/resolve.h"

namespace drasim {
namespace {

constexpr char kWorldAxis[] = "world";

// The lists of the comparison, those of flags in their place, and the policies that go without
// saying.
absl::StatusOr<Choices> MakeChoices(const ContenderFlags& flags, const proto::Scenario& scenario) {
  const proto::Comparison& comparison = scenario.comparison();
  ASSIGN_OR_RETURN(Choices choices, ListedChoices(scenario));
  if (const std::string text = flags.queues.value_or(""); !text.empty()) {
    ASSIGN_OR_RETURN(choices.queues, ParseQueues(text));
    choices.queues_origin = "--queues";
  }
  const std::string text = flags.policies.value_or("");
  const bool settled =
      !choices.policies.empty() || !choices.queues.empty() || SetsPolicy(comparison);
  if (text.empty() && settled) return choices;
  ASSIGN_OR_RETURN(choices.policies, ParsePolicies(text, KindOfPolicies(scenario)));
  return choices;
}

// The error of a contender, with the values that identify it.
absl::Status InWorld(const AxisWorld& world, const std::vector<std::string>& axes,
                     const absl::Status& status) {
  if (world.values.empty()) return status;
  const absl::string_view message = status.message();
  const std::string key = KeyOfError(status);
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
  if (!ratio.has_value() || IsReplay(*scenario) || SaysItsLoad(scenario->workload())) {
    return;
  }
  scenario->mutable_workload()->mutable_tuning()->set_ratio(*ratio);
}

// Puts the world into `trial` and resolves it, with a queue and a policy of the lists or, where
// these are empty, its own.
absl::StatusOr<RunSpec> Resolve(const AxisWorld& world, const Choices& choices, size_t queue,
                                size_t policy, GivenScenario* trial) {
  trial->scenario = world.scenario;
  proto::Scheduler* scheduler = trial->scenario->mutable_scheduler();
  if (!choices.queues.empty()) scheduler->set_queue(choices.queues[queue]);
  if (!choices.policies.empty()) scheduler->set_policy(choices.policies[policy]);
  return ResolveGiven(*trial);
}

// All contenders of one world.
absl::Status AddContenders(const AxisWorld& world, const Choices& choices, GivenScenario* trial,
                           std::vector<Contender>* all) {
  // Values that no longer come from the file have no place in it.
  for (const auto& [key, origin] : world.settings) trial->overridden.push_back(key);
  if (!choices.queues.empty()) trial->overridden.emplace_back("scheduler.queue");
  if (!choices.policies.empty()) trial->overridden.emplace_back("scheduler.policy");
  if (!choices.queues.empty() && !IsReplay(*world.scenario)) {
    // An error in the mode itself is reported first.
    trial->scenario = world.scenario;
    RETURN_IF_ERROR(ResolveGiven(*trial).status());
    return KeyError(choices.queues_origin,
                    "expected mode: replay; a fill tries each job once, so that none queues");
  }
  // Each on its own, since defaults depend on the queue.
  for (size_t q = 0; q < std::max<size_t>(1, choices.queues.size()); ++q) {
    for (size_t p = 0; p < std::max<size_t>(1, choices.policies.size()); ++p) {
      ASSIGN_OR_RETURN(RunSpec spec, Resolve(world, choices, q, p, trial));
      all->push_back({world.values, std::move(spec)});
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
  ASSIGN_OR_RETURN(const std::vector<std::string> policies,
                   ParsePolicies(text, PolicyEntry::Kind::kKubernetes));
  if (policies.size() == 1) return policies.front();
  return absl::InvalidArgumentError(
      absl::StrCat("--policies: found ", policies.size(),
                   ", expected one beside --worlds, which are compared under like conditions"));
}

absl::Status CheckWorldFlags(const ContenderFlags& flags, const proto::Comparison& comparison) {
  if (comparison.axes_size() > 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--worlds: found ", comparison.axes_size(),
                     " axes in the comparison, too, expected one of them"));
  }
  if (!flags.queues.has_value() && comparison.queues_size() == 0) return absl::OkStatus();
  return KeyError(flags.queues.has_value() ? "--queues" : "comparison.queues",
                  "expected none beside --worlds, which all have kube-scheduler's queue");
}

absl::Status ChangeWorld(const ScenarioChange& change, const std::string& origin,
                         AxisWorld* world) {
  for (const std::string& setting : change.set) {
    world->settings.emplace_back(KeyOfSetting(setting), origin);
  }
  return ApplyChange(change, origin, &*world->scenario);
}

// `bare`: the scenario without its comparison, tuned.
absl::StatusOr<AxisWorld> MakeNamedWorld(const std::string& name, const proto::Scenario& bare,
                                         const std::string& policy) {
  AxisWorld world;
  world.values = {name};
  world.scenario = ScenarioMessage(bare);
  const std::string origin = absl::StrCat("--worlds: '", name, "'");
  RETURN_IF_ERROR(ChangeWorld(LikeConditions(bare, policy), origin, &world));
  ASSIGN_OR_RETURN(ScenarioChange change, WorldOf(name, bare));
  RETURN_IF_ERROR(ChangeWorld(change, origin, &world));
  return world;
}

absl::StatusOr<Contenders> MakeWorldContenders(const ContenderFlags& flags,
                                               const GivenScenario& given,
                                               std::optional<double> fill_ratio) {
  const proto::Comparison& comparison = given.scenario->comparison();
  RETURN_IF_ERROR(CheckWorldFlags(flags, comparison));
  ASSIGN_OR_RETURN(std::vector<std::string> names, ParseWorlds(flags.worlds.value_or("")));
  ASSIGN_OR_RETURN(std::string policy, PolicyOfWorlds(flags, *given.scenario));
  Contenders contenders;
  contenders.axes = {kWorldAxis};
  contenders.worlds = true;
  proto::Scenario bare = *given.scenario;
  bare.clear_comparison();
  TuneFill(fill_ratio, &bare);
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(AxisWorld world, MakeNamedWorld(name, bare, policy));
    GivenScenario trial = given;
    const absl::Status added = AddContenders(world, Choices(), &trial, &contenders.all);
    if (!added.ok()) return InWorld(world, contenders.axes, added);
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

absl::StatusOr<Contenders> MakeContenders(const ContenderFlags& flags, const GivenScenario& given,
                                          std::optional<double> fill_ratio) {
  const proto::Comparison& comparison = given.scenario->comparison();
  RETURN_IF_ERROR(CheckListFlags(flags));
  if (absl::Status s = CheckComparison(*given.scenario); !s.ok()) return InFile(given, s);
  if (flags.worlds.has_value()) {
    absl::StatusOr<Contenders> named = MakeWorldContenders(flags, given, fill_ratio);
    if (!named.ok()) return named;
    ASSIGN_OR_RETURN(named->seeds, MakeSeeds(flags, comparison, named->all[0].spec.seed));
    return named;  // worlds by name are replays
  }
  ASSIGN_OR_RETURN(Choices choices, MakeChoices(flags, *given.scenario));
  const size_t worlds = CountWorlds(comparison);
  RETURN_IF_ERROR(CheckContenderCount(worlds, choices));
  Contenders contenders;
  for (const proto::Axis& axis : comparison.axes()) contenders.axes.push_back(axis.name());
  proto::Scenario bare = *given.scenario;
  bare.clear_comparison();
  for (size_t w = 0; w < worlds; ++w) {
    ASSIGN_OR_RETURN(AxisWorld world, MakeAxisWorld(bare, comparison, w));
    TuneFill(fill_ratio, &*world.scenario);
    GivenScenario trial = given;
    const absl::Status added = AddContenders(world, choices, &trial, &contenders.all);
    if (!added.ok()) return InWorld(world, contenders.axes, added);
  }
  const bool any_replay = std::any_of(contenders.all.begin(), contenders.all.end(),
                                      [](const Contender& c) { return c.is_replay(); });
  RETURN_IF_ERROR(CheckQueueFlag(flags, any_replay));
  ASSIGN_OR_RETURN(contenders.seeds, MakeSeeds(flags, comparison, contenders.all[0].spec.seed));
  return contenders;
}

RunSpec Contender::WithSeed(uint64_t seed) const {
  RunSpec seeded = spec;
  seeded.SetSeed(seed);
  return seeded;
}

void NoteIdleSeeds(const Contenders& contenders) {
  if (contenders.seeds.size() < 2 ||
      std::any_of(contenders.all.begin(), contenders.all.end(),
                  [](const Contender& c) { return DependsOnSeed(c.spec); })) {
    return;
  }
  std::fprintf(stderr, "drasim: note: nothing here is random, so all %zu seeds give the same\n",
               contenders.seeds.size());
}

}  // namespace drasim
