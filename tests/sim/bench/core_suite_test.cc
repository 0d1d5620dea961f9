// The suite core and its baseline: everything that can be registered occurs in it, and everything
// in it is pinned.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/proto/scenario.pb.h"
#include "policies/devices/mig_rule_list.h"
#include "sim/bench/bench_cells.h"
#include "sim/bench/bench_table.h"
#include "sim/bench/suite.h"
#include "sim/run/simulation.h"
#include "sim/scenario/comparison.h"
#include "sim/scenario/front_end_spec.h"
#include "sim/scenario/scheduler_spec.h"
#include "sim/sdra/case_worlds.h"
#include "tests/testing/assert_ok.h"

namespace drasim::bench {
namespace core_suite_test {

std::string InTree(absl::string_view path) { return absl::StrCat(DRASIM_SOURCE_DIR, "/", path); }

const Suite& Core() {
  static const auto* const suite = [] {
    absl::StatusOr<Suite> read = ReadSuite(InTree("bench/suite/core.yaml"));
    EXPECT_EQ(read.status(), absl::OkStatus());
    return new Suite(read.ok() ? *std::move(read) : Suite());
  }();
  return *suite;
}

const std::vector<BenchCell>& CoreCells() {
  static const auto* const cells = [] {
    absl::StatusOr<std::vector<BenchCell>> made = MakeBenchCells(Core(), std::nullopt, Filter());
    EXPECT_EQ(made.status(), absl::OkStatus());
    return new std::vector<BenchCell>(made.ok() ? *std::move(made) : std::vector<BenchCell>());
  }();
  return *cells;
}

// The names of `all` that are not in `seen`.
std::vector<std::string> Unseen(const std::vector<std::string>& all,
                                const std::set<std::string>& seen) {
  std::vector<std::string> unseen;
  std::copy_if(all.begin(), all.end(), std::back_inserter(unseen),
               [&seen](const std::string& name) { return seen.count(name) == 0; });
  return unseen;
}

TEST(CoreSuiteTest, HasEveryPolicyAndQueue) {
  std::set<std::string> policies;
  std::set<std::string> queues;
  for (const BenchCell& cell : CoreCells()) {
    EXPECT_EQ(cell.missing, "") << cell.id.Name();
    // Nightly runs are too rare to guard anything on their own.
    if (cell.tier == Tier::kNightly || cell.cases.has_value()) continue;
    policies.insert(cell.id.policy);
    queues.insert(cell.id.queue);
  }
  std::vector<std::string> all = {std::string(kKubeSchedulerPolicy)};
  for (const PolicyEntry& entry : BuiltinRegistry().policies()) all.push_back(entry.name);
  EXPECT_EQ(Unseen(all, policies), std::vector<std::string>());
  all = QueueNames();
  all.emplace_back(kLossQueue);
  EXPECT_EQ(Unseen(all, queues), std::vector<std::string>());
}

// Covers the front ends, too; the placement rules of MIG are policies ("mig-...").
TEST(CoreSuiteTest, HasEveryFrontEndAndMigRule) {
  std::set<std::string> front_ends;
  std::set<std::string> policies;
  for (const BenchCell& cell : CoreCells()) {
    if (cell.tier != Tier::kSmoke || cell.cases.has_value()) continue;
    front_ends.emplace(FrontEndName(cell.spec.front_end.kind));
    policies.insert(cell.id.policy);
  }
  EXPECT_EQ(Unseen(FrontEndNames(), front_ends), std::vector<std::string>());
  std::vector<std::string> rules;
  for (const MigRuleInfo& rule : MigRuleInfos()) rules.emplace_back(rule.name);
  EXPECT_GT(rules.size(), 5u);
  EXPECT_EQ(Unseen(rules, policies), std::vector<std::string>());
}

TEST(CoreSuiteTest, HasEveryPathologyAndBothModesOfClaims) {
  std::vector<std::string> pathologies;
  for (const auto& file : std::filesystem::directory_iterator(InTree("scenarios/pathologies"))) {
    const std::string name = file.path().filename().string();
    if (absl::ascii_isdigit(static_cast<unsigned char>(name[0]))) pathologies.push_back(name);
  }
  EXPECT_GT(pathologies.size(), 15u);
  std::set<std::string> seen;
  for (const SuiteEntry& entry : Core().entries) {
    if (entry.tier == Tier::kSmoke)
      seen.insert(std::filesystem::path(entry.scenario).filename().string());
  }
  EXPECT_EQ(Unseen(pathologies, seen), std::vector<std::string>());
  std::set<std::string> modes;
  for (const BenchCell& cell : CoreCells()) {
    if (cell.spec.front_end.kind != FrontEndKind::kDraClassic) continue;
    modes.insert(cell.spec.written->front_end().dra().allocation_mode());
  }
  EXPECT_EQ(Unseen({"WaitForFirstConsumer", "Immediate"}, modes), std::vector<std::string>());
}

// As in `drasim compare --worlds`, with whole GPUs, instances, replicas and claims.
TEST(CoreSuiteTest, HasWorlds) {
  std::set<std::string> worlds;
  for (const SuiteEntry& entry : Core().entries) worlds.insert(entry.world);
  EXPECT_EQ(
      Unseen({"direct", "device-plugin", "device-plugin:static-mig", "device-plugin:time-slicing=4",
              "dra-classic:first-fit", "dra-classic:fragmentation", "dra-classic:immediate"},
             worlds),
      std::vector<std::string>());
}

// Costs of pieces: at least one cell each of what they are made of, and none that takes long.
TEST(CoreSuiteTest, HasCostsOfEveryDispatcherAndFrontEnd) {
  std::set<std::string> queues;
  std::set<std::string> front_ends;
  for (const BenchCell& cell : CoreCells()) {
    if (!cell.cost) continue;
    EXPECT_NE(cell.tier, Tier::kNightly) << cell.id.Name();
    if (cell.cases.has_value()) continue;
    queues.insert(cell.id.queue);
    front_ends.emplace(FrontEndName(cell.spec.front_end.kind));
  }
  EXPECT_EQ(Unseen({"", "fifo", "kubernetes", "loss"}, queues), std::vector<std::string>());
  EXPECT_EQ(Unseen(FrontEndNames(), front_ends), std::vector<std::string>());
}

void AddNames(const Profile& profile, std::set<std::string>* names) {
  const auto add = [names](const auto& plugins) {
    for (const auto* plugin : plugins) names->emplace(plugin->name());
  };
  add(profile.pre_enqueues());
  add(profile.queue_sorts());
  add(profile.pre_filters());
  add(profile.post_filters());
  add(profile.reserves());
  add(profile.permits());
  add(profile.pre_binds());
  add(profile.binds());
  add(profile.post_binds());
  for (const Profile::FilterEntry& entry : profile.filters()) names->emplace(entry.plugin->name());
  for (const Profile::ScoreEntry& entry : profile.scores()) names->emplace(entry.plugin->name());
}

// Each world of cases, and the smallest ones in the tier smoke.
TEST(CoreSuiteTest, HasEveryWorldOfCasesAndCostsOfMost) {
  std::set<std::string> worlds;
  std::set<std::string> costs;
  size_t smoke = 0;
  for (const SuiteEntry& entry : Core().entries) {
    if (!entry.cases.has_value()) continue;
    worlds.insert(entry.cases->world);
    if (entry.cost) costs.insert(entry.cases->world);
    smoke += entry.tier == Tier::kSmoke ? 1 : 0;
  }
  EXPECT_EQ(Unseen(CaseWorldNames(), worlds), std::vector<std::string>());
  EXPECT_EQ(Unseen(CaseWorldNames(), costs), std::vector<std::string>());
  EXPECT_GE(smoke, 2u);
}

TEST(CoreSuiteTest, HasEveryPluginAndChooser) {
  std::set<std::string> plugins;
  std::set<std::string> choosers;
  std::set<std::string> groups;
  for (const BenchCell& cell : CoreCells()) {
    // Large inputs add nothing here.
    if (cell.tier != Tier::kSmoke || cell.cases.has_value()) continue;
    if (!groups.insert(cell.id.GroupName()).second) continue;
    absl::StatusOr<std::unique_ptr<Simulation>> sim = Simulation::Build(cell.spec);
    ASSERT_EQ(sim.status(), absl::OkStatus()) << cell.id.Name();
    AddNames((*sim)->profile(), &plugins);
    choosers.emplace((*sim)->profile().allocator().name());
  }
  EXPECT_EQ(Unseen(BuiltinRegistry().plugin_names(), plugins), std::vector<std::string>());
  EXPECT_EQ(Unseen(BuiltinRegistry().allocator_names(), choosers), std::vector<std::string>());
}

// Its lines are written by `drasim bench accept` alone.
TEST(CoreSuiteTest, EveryCellIsPinned) {
  const std::string path = InTree("bench/baseline/core.csv");
  ASSERT_OK_AND_ASSIGN(const BenchTable baseline, ReadBenchTable(path));
  EXPECT_EQ(baseline.suite, "core");
  EXPECT_EQ(baseline.version, Core().version);
  std::vector<std::string> cells;
  for (const BenchCell& cell : CoreCells()) {
    cells.push_back(cell.id.Name());
    const BenchRow* const row = baseline.Find(cell.id);
    ASSERT_NE(row, nullptr) << cell.id.Name();
    EXPECT_EQ(row->inputs, cell.inputs) << cell.id.Name();
    EXPECT_EQ(row->tier, cell.tier) << cell.id.Name();
    EXPECT_EQ(row->random, cell.random) << cell.id.Name();
    EXPECT_EQ(row->primary.metric, cell.primary.metric) << cell.id.Name();
    EXPECT_NE(row->metrics[MetricIndex(cell.primary.metric)], "") << cell.id.Name();
    EXPECT_NE(row->reason, "") << cell.id.Name();
  }
  std::vector<std::string> pinned;
  for (const BenchRow& row : baseline.rows) pinned.push_back(row.id.Name());
  EXPECT_EQ(pinned, cells);
}

}  // namespace core_suite_test
}  // namespace drasim::bench
