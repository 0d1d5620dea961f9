#include "policies/devices/mig_rules.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "model/check.h"
#include "model/device_set.h"
#include "model/mig_layout.h"
#include "model/random.h"
#include "policies/devices/mig_rule_orders.h"
#include "tests/testing/mig_products.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace mig_rules_test {

constexpr DeviceSet kAll = DeviceSet::All();
constexpr MigRule kEveryRule[] = {MigRule::kDriver,     MigRule::kFirstFit,   MigRule::kDraDriver,
                                  MigRule::kHami,       MigRule::kInstaSlice, MigRule::kNos,
                                  MigRule::kMigParted,  MigRule::kBestFit,    MigRule::kWorstFit,
                                  MigRule::kRoundRobin, MigRule::kParvaGpu,   MigRule::kMfiAny,
                                  MigRule::kMfiPart};

std::string NameOf(MigRule rule) {
  for (const MigRuleInfo& info : MigRuleInfos()) {
    if (info.rule == rule) return info.name;
  }
  return "?";
}

// Finds a profile by its name, or by its name without the memory: "3g", "1g+me". If several match,
// the first in the catalogue counts.
uint8_t ProfileOf(const MigTable& table, absl::string_view text) {
  int found = table.FindProfile(text);
  for (size_t p = 0; p < table.profiles().size() && found < 0; ++p) {
    const std::string& name = table.profiles()[p].name;
    const size_t suffix = name.find_first_of("+-");
    const std::string brief =
        absl::StrCat(name.substr(0, name.find('.')),
                     suffix == std::string::npos ? std::string() : name.substr(suffix));
    if (brief == text) found = static_cast<int>(p);
  }
  DRASIM_CHECK_GE(found, 0);
  return static_cast<uint8_t>(found);
}

std::vector<uint8_t> ProfilesOf(const MigTable& table, absl::string_view text) {
  std::vector<uint8_t> profiles;
  for (const absl::string_view word : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    profiles.push_back(ProfileOf(table, word));
  }
  return profiles;
}

// "3g@4 1g@0 | - | 7g@0": the states of three GPUs, the second one empty.
std::vector<MigState> StatesOf(const MigTable& table, absl::string_view text) {
  std::vector<MigState> states;
  for (const absl::string_view gpu : absl::StrSplit(text, '|')) {
    MigState state = 0;
    for (const absl::string_view instance : absl::StrSplit(gpu, ' ', absl::SkipEmpty())) {
      if (instance == "-") continue;
      const std::vector<absl::string_view> parts = absl::StrSplit(instance, '@');
      int32_t start = -1;
      DRASIM_CHECK(parts.size() == 2 && absl::SimpleAtoi(parts[1], &start));
      const int placement = table.FindPlacement(ProfileOf(table, parts[0]), start);
      DRASIM_CHECK_GE(placement, 0);
      state = table.Place(state, static_cast<size_t>(placement));
      DRASIM_CHECK_NE(state, kNoMigState);
    }
    states.push_back(state);
  }
  return states;
}

std::string PlaceText(const MigTable& table, size_t gpu, size_t placement) {
  return absl::StrCat(gpu, "@", int{table.placements()[placement].start});
}

// The decision for one instance as "gpu@start", "-" for none.
std::string Decide(const MigRuleTable& rule, absl::string_view gpus, absl::string_view wanted,
                   DeviceSet usable = kAll, int32_t after = -1) {
  const MigTable& table = rule.table();
  const size_t profile = ProfileOf(table, wanted);
  const MigRuleTable::NodeChoice choice =
      rule.OnNode(StatesOf(table, gpus), usable, profile, after);
  if (choice.gpu < 0) {
    EXPECT_EQ(choice.placement, kNoPlacement);
    EXPECT_EQ(choice.cost, MigRuleTable::kImpossible);
    return "-";
  }
  EXPECT_EQ(table.placements()[choice.placement].profile, profile);
  return PlaceText(table, static_cast<size_t>(choice.gpu), choice.placement);
}

// The decision for several instances, in the order of `wanted`.
std::string DecideAll(const MigRuleTable& rule, absl::string_view gpus, absl::string_view wanted,
                      DeviceSet usable = kAll, int32_t after = -1) {
  const MigTable& table = rule.table();
  DeviceGrants grants;
  if (!rule.OnNodeAll(StatesOf(table, gpus), usable, ProfilesOf(table, wanted), after, &grants)) {
    EXPECT_TRUE(grants.empty());
    return "-";
  }
  std::vector<std::string> places;
  for (const DeviceGrant& grant : grants) {
    places.push_back(PlaceText(table, grant.device, grant.placement));
  }
  return absl::StrJoin(places, " ");
}

struct GoldenCase {
  MigRule rule;
  const char* gpus;
  const char* wanted;
  const char* expected;
};

void ExpectGolden(absl::Span<const GoldenCase> cases) {
  const MigTable table = TestTable(TestA100());
  for (const GoldenCase& c : cases) {
    const MigRuleTable rule(&table, c.rule);
    EXPECT_EQ(Decide(rule, c.gpus, c.wanted), c.expected)
        << NameOf(c.rule) << ": " << c.wanted << " on " << c.gpus;
  }
}

// ---- Decisions of each rule, derived by hand from how its system is described. ----

TEST(MigRulesTest, RulesThatTakeTheFirstGpu) {
  ExpectGolden({
      {MigRule::kDriver, "-", "1g", "0@6"},
      {MigRule::kDriver, "1g@6", "1g", "0@4"},
      {MigRule::kDriver, "1g@4 1g@6", "1g", "0@5"},
      {MigRule::kDriver, "1g@4 1g@5 1g@6", "1g", "0@0"},
      {MigRule::kDriver, "-", "3g", "0@0"},
      {MigRule::kDriver, "7g@0 | -", "1g", "1@6"},
      {MigRule::kFirstFit, "- | -", "1g", "0@0"},
      {MigRule::kFirstFit, "1g@0 | -", "1g", "0@1"},
      {MigRule::kFirstFit, "1g@0 | -", "3g", "0@4"},
      {MigRule::kFirstFit, "1g@0 1g@4 | -", "3g", "1@0"},
      {MigRule::kFirstFit, "1g@1", "1g.20gb", "0@2"},
      {MigRule::kFirstFit, "3g@0", "4g", "-"},
      {MigRule::kFirstFit, "3g@4", "4g", "0@0"},
      {MigRule::kFirstFit, "1g+me@0", "1g+me", "-"},
      {MigRule::kFirstFit, "7g@0", "1g", "-"},
      {MigRule::kInstaSlice, "1g@0 | -", "1g", "0@1"},
      {MigRule::kInstaSlice, "2g@0 | -", "2g", "0@2"},
      {MigRule::kInstaSlice, "1g@3 | -", "4g", "1@0"},
      // A public complaint: three 1g, left over at 0, 1 and 5, keep out every 3g and the 4g.
      {MigRule::kDraDriver, "1g@0 1g@1 1g@5", "3g", "-"},
      {MigRule::kDraDriver, "1g@0 1g@1 1g@5", "4g", "-"},
      {MigRule::kDraDriver, "1g@0 1g@1 1g@5", "2g", "0@2"},
      {MigRule::kDraDriver, "-", "3g", "0@0"},
      {MigRule::kHami, "-", "1g", "0@6"},
      {MigRule::kHami, "1g@6", "1g", "0@5"},
      {MigRule::kHami, "-", "1g+me", "0@6"},
      {MigRule::kHami, "-", "1g.20gb", "0@6"},
      {MigRule::kHami, "-", "3g", "0@4"},
      {MigRule::kHami, "3g@4", "3g", "0@0"},
      {MigRule::kHami, "- | -", "2g", "0@0"},
      {MigRule::kHami, "2g@0 | -", "2g", "0@2"},
      {MigRule::kHami, "4g@0 | -", "4g", "1@0"},
  });
}

TEST(MigRulesTest, NosKeepsToItsGeometries) {
  ExpectGolden({
      {MigRule::kNos, "-", "1g", "0@6"},
      {MigRule::kNos, "-", "3g", "0@0"},
      {MigRule::kNos, "3g@0", "3g", "0@4"},
      // Legal, but 4+3 is not on the list.
      {MigRule::kNos, "4g@0", "3g", "-"},
      {MigRule::kNos, "4g@0 | -", "3g", "1@0"},
      {MigRule::kNos, "4g@0 2g@4", "1g", "0@6"},
      // 3+1x3 is on the list, 3+1x4 is not.
      {MigRule::kNos, "3g@4 1g@0 1g@1", "1g", "0@2"},
      {MigRule::kNos, "3g@4 1g@0 1g@1 1g@2", "1g", "-"},
      {MigRule::kNos, "3g@4 1g@0 1g@1 1g@2 | -", "1g", "1@6"},
      {MigRule::kNos, "1g@4 1g@5 1g@6", "3g", "0@0"},
      // 2+2+3 is on the list, but what is there has to stay, and there is no room.
      {MigRule::kNos, "3g@0 2g@4", "2g", "-"},
      {MigRule::kNos, "3g@4 2g@0", "2g", "0@2"},
      {MigRule::kNos, "2g@0 2g@2 2g@4", "1g", "0@6"},
      {MigRule::kNos, "-", "1g+me", "-"},
      {MigRule::kNos, "-", "1g.20gb", "-"},
      {MigRule::kNos, "1g.20gb@0", "1g", "-"},
      {MigRule::kMigParted, "-", "1g", "0@6"},
      {MigRule::kMigParted, "1g@6", "1g", "-"},
      {MigRule::kMigParted, "1g@6 | - | -", "2g", "1@0"},
  });
}

TEST(MigRulesTest, RulesThatCompareGpus) {
  ExpectGolden({
      {MigRule::kBestFit, "-", "1g", "0@6"},
      {MigRule::kBestFit, "-", "1g.20gb", "0@6"},
      {MigRule::kBestFit, "-", "2g", "0@4"},
      {MigRule::kBestFit, "-", "3g", "0@4"},
      {MigRule::kBestFit, "-", "7g", "0@0"},
      {MigRule::kBestFit, "1g@0 | 4g@0 | -", "2g", "1@4"},
      {MigRule::kBestFit, "1g@0 | 1g@6", "1g", "0@6"},
      {MigRule::kBestFit, "1g@6 | 1g@0", "1g", "0@5"},
      // The fewest free units among those where it fits.
      {MigRule::kBestFit, "4g@0 1g@4 | 1g@0", "3g", "1@4"},
      {MigRule::kBestFit, "3g@0 | 4g@0", "2g", "0@4"},
      {MigRule::kWorstFit, "1g@0 | 4g@0 | -", "2g", "2@4"},
      {MigRule::kWorstFit, "1g@0 | 1g@6", "2g", "0@4"},
      {MigRule::kWorstFit, "7g@0 | 4g@0", "1g", "1@6"},
      {MigRule::kWorstFit, "7g@0", "1g", "-"},
      {MigRule::kParvaGpu, "-", "1g", "0@0"},
      {MigRule::kParvaGpu, "1g@0", "1g", "0@6"},
      {MigRule::kParvaGpu, "1g@0", "1g+me", "0@6"},
      {MigRule::kParvaGpu, "1g@0 1g@6", "1g", "0@4"},
      {MigRule::kParvaGpu, "1g@0 1g@4 1g@6", "1g", "0@1"},
      {MigRule::kParvaGpu, "1g@0 1g@1 1g@2 1g@3 1g@4 1g@6", "1g", "0@5"},
      {MigRule::kParvaGpu, "-", "2g", "0@0"},
      {MigRule::kParvaGpu, "2g@0", "2g", "0@4"},
      {MigRule::kParvaGpu, "2g@0 2g@4", "2g", "0@2"},
      {MigRule::kParvaGpu, "-", "3g", "0@4"},
      {MigRule::kParvaGpu, "3g@4", "3g", "-"},
      {MigRule::kParvaGpu, "3g@4 | -", "3g", "1@4"},
      // Not in its table: as listed.
      {MigRule::kParvaGpu, "1g@0", "1g.20gb", "0@2"},
      // Compute slices count, not units: four are free behind a 3g, three behind a 4g.
      {MigRule::kParvaGpu, "3g@0 | 4g@0", "2g", "1@4"},
  });
}

TEST(MigRulesTest, MfiTakesTheSmallestGrowth) {
  ExpectGolden({
      {MigRule::kMfiAny, "-", "1g", "0@6"},
      {MigRule::kMfiAny, "-", "2g", "0@4"},
      {MigRule::kMfiAny, "-", "3g", "0@4"},
      {MigRule::kMfiAny, "1g@6", "1g", "0@4"},
      {MigRule::kMfiAny, "- | -", "1g", "0@6"},
      {MigRule::kMfiAny, "- | 1g@6", "1g", "1@4"},
      {MigRule::kMfiAny, "1g@6 | 1g@6", "1g", "0@4"},
      {MigRule::kMfiAny, "- | 1g@6", "3g", "1@0"},
      {MigRule::kMfiPart, "-", "1g", "0@6"},
      {MigRule::kMfiPart, "-", "2g", "0@4"},
      // Wholly occupied windows do not count, so both halves cost nothing.
      {MigRule::kMfiPart, "-", "3g", "0@0"},
      {MigRule::kMfiPart, "- | 1g@6", "3g", "1@0"},
  });
}

TEST(MigRulesTest, MfiCostsArePublishedDifferences) {
  const MigTable table = TestTable(TestA100());
  const MigRuleTable any(&table, MigRule::kMfiAny);
  const MigRuleTable part(&table, MigRule::kMfiPart);
  const auto cost = [&table](const MigRuleTable& rule, const char* state, const char* wanted) {
    return rule.OnGpu(StatesOf(table, state)[0], ProfileOf(table, wanted)).cost;
  };
  EXPECT_EQ(cost(any, "-", "1g"), 7000);
  EXPECT_EQ(cost(any, "-", "2g"), 10000);
  EXPECT_EQ(cost(any, "-", "3g"), 13000);
  EXPECT_EQ(cost(any, "-", "4g"), 20000);
  EXPECT_EQ(cost(any, "-", "7g"), 0);
  EXPECT_EQ(cost(any, "4g@0", "3g"), -20000);
  EXPECT_EQ(cost(part, "-", "1g"), 6000);
  EXPECT_EQ(cost(part, "-", "2g"), 4000);
  EXPECT_EQ(cost(part, "-", "3g"), 0);
  EXPECT_EQ(cost(part, "1g@6", "3g"), -4000);
  EXPECT_EQ(cost(part, "7g@0", "1g"), MigRuleTable::kImpossible);
}

TEST(MigRulesTest, WeightsDecide) {
  const MigTable table = TestTable(TestA100());
  const auto weights = [&table](const std::vector<std::pair<std::string, int64_t>>& shares) {
    std::vector<int64_t> result(table.profiles().size(), 0);
    for (const auto& [profile, share] : shares) result[ProfileOf(table, profile)] = share;
    return result;
  };
  const auto cost = [&table](const MigRuleTable& rule, const char* state) {
    return rule.OnGpu(StatesOf(table, state)[0], ProfileOf(table, "1g")).cost;
  };
  // Start 6 blocks one window of 3g (4 x 250), every other start one of 2g as well (2 x 500).
  const MigRuleTable mixed(&table, MigRule::kMfiAny, weights({{"2g", 500}, {"3g", 250}}));
  EXPECT_EQ(Decide(mixed, "-", "1g"), "0@6");
  EXPECT_EQ(cost(mixed, "-"), 1000);
  // The window of 3g is blocked already; 4 and 5 tie.
  EXPECT_EQ(Decide(mixed, "1g@6", "1g"), "0@4");
  EXPECT_EQ(cost(mixed, "1g@6"), 1000);
  // Each start blocks one window of two units.
  const MigRuleTable doubles(&table, MigRule::kMfiAny, weights({{"1g.20gb", 1000}}));
  EXPECT_EQ(Decide(doubles, "-", "1g"), "0@0");
  EXPECT_EQ(cost(doubles, "-"), 2000);
  // Reading part, a window is relieved when its second half is taken, too.
  const MigRuleTable part(&table, MigRule::kMfiPart, weights({{"1g.20gb", 1000}}));
  EXPECT_EQ(Decide(part, "1g@2", "1g"), "0@3");
  EXPECT_EQ(cost(part, "1g@2"), -2000);
  // No 7g has room beside a 1g, and so it blocks none: all starts tie.
  const MigRuleTable whole(&table, MigRule::kMfiAny, weights({{"7g", 1000}}));
  EXPECT_EQ(Decide(whole, "-", "1g"), "0@0");
  EXPECT_EQ(cost(whole, "-"), 0);
}

TEST(MigRulesTest, UsableGpusOnly) {
  const MigTable table = TestTable(TestA100());
  const MigRuleTable first(&table, MigRule::kFirstFit);
  EXPECT_EQ(Decide(first, "- | - | -", "1g", DeviceSet::FromBits(0b110)), "1@0");
  EXPECT_EQ(Decide(first, "- | - | -", "1g", DeviceSet::Of(3)), "-");
  EXPECT_EQ(Decide(first, "- | - | -", "1g", DeviceSet()), "-");
  const MigRuleTable best(&table, MigRule::kBestFit);
  EXPECT_EQ(Decide(best, "4g@0 | 1g@0 | -", "2g", DeviceSet::FromBits(0b110)), "1@4");
  EXPECT_EQ(DecideAll(first, "- | - | -", "7g 7g", DeviceSet::FromBits(0b101)), "0@0 2@0");
  EXPECT_EQ(DecideAll(first, "- | - | -", "7g 7g", DeviceSet::Of(2)), "-");
  // Also where looking ahead is needed, and of another number than that of its state.
  EXPECT_EQ(DecideAll(first, "- | -", "1g 4g", DeviceSet::Of(1)), "1@4 1@0");
}

TEST(MigRulesTest, RoundRobinGoesOnBehindTheLastOne) {
  const MigTable table = TestTable(TestA100());
  const MigRuleTable rule(&table, MigRule::kRoundRobin);
  const char* const kEmpty = "- | - | - | -";
  EXPECT_EQ(Decide(rule, kEmpty, "1g", kAll, -1), "0@0");
  EXPECT_EQ(Decide(rule, kEmpty, "1g", kAll, 0), "1@0");
  EXPECT_EQ(Decide(rule, kEmpty, "1g", kAll, 2), "3@0");
  EXPECT_EQ(Decide(rule, kEmpty, "1g", kAll, 3), "0@0");
  EXPECT_EQ(Decide(rule, kEmpty, "1g", DeviceSet::FromBits(0b1001), 0), "3@0");
  EXPECT_EQ(Decide(rule, "- | 7g@0 | 1g@0 | -", "1g", kAll, 0), "2@1");
  EXPECT_EQ(Decide(rule, "7g@0 | 1g@0 | 7g@0", "1g", kAll, 1), "1@1");
  EXPECT_EQ(DecideAll(rule, "- | - | -", "1g 1g 1g 1g", kAll, 0), "1@0 2@0 0@0 1@1");
  const MigRuleTable other(&table, MigRule::kFirstFit);
  EXPECT_EQ(Decide(other, kEmpty, "1g", kAll, 2), "0@0");
}

TEST(MigRulesTest, DraDriverSortsGpusAsText) {
  const MigTable table = TestTable(TestA100());
  const MigRuleTable rule(&table, MigRule::kDraDriver);
  const size_t whole = ProfileOf(table, "7g");
  for (size_t gpus = 1; gpus <= kMaxDevicesPerNode; ++gpus) {
    std::vector<std::string> names;
    for (size_t gpu = 0; gpu < gpus; ++gpu) names.push_back(absl::StrCat("gpu-", gpu, "-mig-7g"));
    std::sort(names.begin(), names.end());
    std::vector<MigState> states(gpus, 0);
    for (const std::string& name : names) {
      const MigRuleTable::NodeChoice choice = rule.OnNode(states, kAll, whole);
      ASSERT_EQ(absl::StrCat("gpu-", choice.gpu, "-mig-7g"), name) << gpus;
      states[static_cast<size_t>(choice.gpu)] = table.Place(0, choice.placement);
    }
    EXPECT_EQ(rule.OnNode(states, kAll, whole).gpu, -1);
  }
  // "gpu-10" is before "gpu-2".
  const std::vector<MigState> empty(12, 0);
  EXPECT_EQ(rule.OnNode(empty, DeviceSet::FromBits(0b1100'0000'0100), whole).gpu, 10);
}

TEST(MigRulesTest, DraDriverSortsStartsAsText) {
  MigProduct product;
  product.group = "long";
  product.compute_slices = 12;
  product.units = 12;
  product.profiles = {TestMigProfile("1g.1gb", 1, 1, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 12)};
  const MigTable table = TestTable(product);
  const std::vector<uint8_t> order = RuleOrder(table, MigRule::kDraDriver, 0);
  EXPECT_EQ(order, (std::vector<uint8_t>{0, 1, 10, 11, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(MigRulesTest, EveryRuleHasAName) {
  std::set<std::string> names;
  std::set<MigRule> plain;
  for (const MigRuleInfo& info : MigRuleInfos()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_TRUE(absl::StartsWith(info.name, "mig-"));
    EXPECT_NE(std::string(info.description), "");
    EXPECT_EQ(info.weighted, absl::EndsWith(info.name, "-weighted"));
    if (info.weighted) {
      EXPECT_TRUE(info.rule == MigRule::kMfiAny || info.rule == MigRule::kMfiPart);
    } else {
      EXPECT_TRUE(plain.insert(info.rule).second);
    }
  }
  EXPECT_EQ(plain, std::set<MigRule>(std::begin(kEveryRule), std::end(kEveryRule)));
  EXPECT_EQ(names.size(), plain.size() + 2);
  EXPECT_EQ(NameOf(MigRule::kFirstFit), "mig-first-fit");
}

TEST(MigRulesTest, InstaSliceScoresNodes) {
  const MigTable table = TestTable(TestA100());
  const MigRuleTable rule(&table, MigRule::kInstaSlice);
  EXPECT_EQ(rule.NodeScore(StatesOf(table, "-")), 100);
  EXPECT_EQ(rule.NodeScore(StatesOf(table, "4g@0 | -")), 75);
  EXPECT_EQ(rule.NodeScore(StatesOf(table, "1g@0")), 87);
  EXPECT_EQ(rule.NodeScore(StatesOf(table, "7g@0 | 7g@0")), 0);
  EXPECT_EQ(rule.NodeScore({}), 0);
  const MigRuleTable other(&table, MigRule::kFirstFit);
  EXPECT_EQ(other.NodeScore(StatesOf(table, "-")), 0);
}

TEST(MigRulesTest, SeveralInstances) {
  const MigTable table = TestTable(TestA100());
  struct Case {
    MigRule rule;
    const char* gpus;
    const char* wanted;
    const char* expected;
  };
  const Case kCases[] = {
      {MigRule::kFirstFit, "-", "", ""},
      {MigRule::kFirstFit, "-", "4g 1g 3g", "-"},
      {MigRule::kFirstFit, "- | -", "4g 1g 3g", "0@0 0@4 1@0"},
      // The 1g at 0 leaves no room for a 4g; so the 4g goes first.
      {MigRule::kFirstFit, "-", "1g 4g", "0@4 0@0"},
      {MigRule::kFirstFit, "-", "1g 2g 4g", "0@6 0@4 0@0"},
      {MigRule::kFirstFit, "7g@0 | 7g@0", "1g 1g", "-"},
      {MigRule::kHami, "-", "1g 3g", "0@6 0@0"},
      {MigRule::kHami, "-", "1g 1g 1g 3g 2g", "-"},
      {MigRule::kBestFit, "- | 1g@0", "1g 1g", "1@6 1@5"},
      {MigRule::kNos, "-", "4g 3g", "-"},
      {MigRule::kNos, "- | -", "4g 3g", "0@0 1@0"},
      // Largest first, whatever the pod names first.
      {MigRule::kParvaGpu, "-", "1g 3g", "0@0 0@4"},
      {MigRule::kParvaGpu, "-", "2g 2g 3g", "0@0 0@2 0@4"},
      {MigRule::kParvaGpu, "-", "3g 3g", "-"},
      // The first permutations fail; 2g, 3g, 1g, 1g succeeds.
      {MigRule::kMigParted, "-", "3g 2g 1g 1g", "0@4 0@0 0@2 0@3"},
      {MigRule::kMigParted, "1g@0 | - | -", "1g 1g", "1@4 1@6"},
      {MigRule::kMigParted, "1g@0 | - | -", "7g 7g", "1@0 2@0"},
      {MigRule::kMigParted, "1g@0 | - | -", "1g 7g 1g", "2@4 1@0 2@6"},
      {MigRule::kMigParted, "1g@0 | -", "7g 7g", "-"},
      {MigRule::kMigParted, "1g@0", "1g", "-"},
  };
  for (const Case& c : kCases) {
    const MigRuleTable rule(&table, c.rule);
    EXPECT_EQ(DecideAll(rule, c.gpus, c.wanted), c.expected)
        << NameOf(c.rule) << ": " << c.wanted << " on " << c.gpus;
  }
}

// Two profiles compete on every GPU (4+2+1 leaves a unit that is no start), and the units alone
// would suffice: what remembers no failures does not come back from this.
TEST(MigRulesTest, ManyInstancesThatJustDoNotFit) {
  const MigTable table = TestTable(TestA100());
  const MigRuleTable rule(&table, MigRule::kFirstFit);
  const std::vector<MigState> gpus(6, 0);
  std::vector<uint8_t> wanted;
  for (const char* profile : {"1g", "2g", "4g"}) {
    wanted.insert(wanted.end(), gpus.size(), ProfileOf(table, profile));
  }
  DeviceGrants grants;
  EXPECT_TRUE(rule.OnNodeAll(gpus, kAll, wanted, -1, &grants));
  EXPECT_EQ(grants.size(), wanted.size());
  wanted.push_back(ProfileOf(table, "1g"));
  grants.clear();
  EXPECT_FALSE(rule.OnNodeAll(gpus, kAll, wanted, -1, &grants));
  EXPECT_TRUE(grants.empty());
}

// ---- Against naive programs: over all states of three products, and over random nodes. ----

bool HasBit(uint64_t set, size_t bit) { return (set >> bit & 1) != 0; }

// nos' geometries, spelled out by compute slices.
bool InNosGeometry(const MigTable& table, uint64_t set) {
  std::string slices;
  for (size_t i = 0; i < table.placements().size(); ++i) {
    if (!HasBit(set, i)) continue;
    const MigProfile& profile = table.profiles()[table.placements()[i].profile];
    if (!profile.is_plain() || profile.name == "1g.20gb") return false;
    absl::StrAppend(&slices, profile.compute_slices);
  }
  if (table.product().compute_slices != 7) return true;
  for (const absl::string_view geometry : {"7", "421", "4111", "33", "321", "3111", "223", "2113",
                                           "2221", "22111", "211111", "1111111"}) {
    bool contains = true;
    for (const char c : {'1', '2', '3', '4', '7'}) {
      contains = contains && std::count(slices.begin(), slices.end(), c) <=
                                 std::count(geometry.begin(), geometry.end(), c);
    }
    if (contains) return true;
  }
  return false;
}

// Whether the rule may take that legal placement, one instance at a time.
bool MayTake(const MigTable& table, MigRule rule, MigState state, size_t placement) {
  const MigPlacement& taken = table.placements()[placement];
  switch (rule) {
    case MigRule::kNos:
      return InNosGeometry(table, table.set(state) | uint64_t{1} << placement);
    case MigRule::kMigParted:
      return table.set(state) == 0;
    case MigRule::kParvaGpu:
      return table.profiles()[taken.profile].compute_slices != 3 || taken.start == 4;
    default:
      return true;
  }
}

std::vector<MigTable> ThreeTables() {
  std::vector<MigTable> tables;
  tables.push_back(TestTable(TestA100()));
  tables.push_back(TestTable(TestA30()));
  tables.push_back(TestTable(TestRtxPro6000()));
  return tables;
}

TEST(MigRulesOracleTest, LegalAndWheneverAnythingIs) {
  for (const MigTable& table : ThreeTables()) {
    for (const MigRule rule : kEveryRule) {
      const MigRuleTable rules(&table, rule);
      const bool refuses =
          rule == MigRule::kNos || rule == MigRule::kMigParted || rule == MigRule::kParvaGpu;
      for (size_t s = 0; s < table.states(); ++s) {
        const auto state = static_cast<MigState>(s);
        for (size_t p = 0; p < table.profiles().size(); ++p) {
          const MigRuleTable::Choice& choice = rules.OnGpu(state, p);
          const uint64_t legal = table.legal(state) & table.placements_of(p);
          bool possible = legal != 0;
          if (refuses) {
            possible = false;
            for (uint64_t rest = legal; rest != 0; rest &= rest - 1) {
              const auto placement = static_cast<size_t>(std::countr_zero(rest));
              possible = possible || MayTake(table, rule, state, placement);
            }
          }
          ASSERT_EQ(choice.placement != kNoPlacement, possible) << NameOf(rule) << " " << s;
          ASSERT_EQ(choice.cost != MigRuleTable::kImpossible, possible);
          if (!possible) continue;
          ASSERT_TRUE(HasBit(legal, choice.placement)) << NameOf(rule) << " " << s;
          ASSERT_TRUE(MayTake(table, rule, state, choice.placement));
        }
      }
    }
  }
}

// ParvaGPU's two exclusions hold without being asked for.
TEST(MigRulesOracleTest, ParvaGpuExclusionsFollowFromTheGeometry) {
  const MigTable table = TestTable(TestA100());
  const MigRuleTable rule(&table, MigRule::kParvaGpu);
  const size_t one = static_cast<size_t>(table.FindProfile("1g.10gb"));
  const size_t three = static_cast<size_t>(table.FindProfile("3g.40gb"));
  const auto low = static_cast<size_t>(table.FindPlacement(three, 0));
  const auto high = static_cast<size_t>(table.FindPlacement(three, 4));
  int seen = 0;
  for (size_t s = 0; s < table.states(); ++s) {
    const auto state = static_cast<MigState>(s);
    if (!HasBit(table.set(state), high)) continue;
    ++seen;
    EXPECT_EQ(rule.OnGpu(state, three).placement, kNoPlacement);
    if (HasBit(table.set(state), low)) {
      EXPECT_EQ(rule.OnGpu(state, one).placement, kNoPlacement);
    }
  }
  EXPECT_GT(seen, 0);
}

// F of an occupation, computed once.
class Fragmentation {
 public:
  Fragmentation(const MigTable& table, MfiReading reading) : table_(table) {
    for (uint32_t units = 0; units < 256; ++units) {
      of_units_.push_back(MfiOf(table, static_cast<uint16_t>(units), reading));
    }
  }
  int64_t Of(MigState state) const { return of_units_[table_.units_used(state)]; }

 private:
  const MigTable& table_;
  std::vector<int64_t> of_units_;
};

// Both GPUs of a node, over all states of the first: smallest growth, lowest GPU, catalogue order.
TEST(MigRulesOracleTest, MfiAgainstBruteForce) {
  const MigTable table = TestTable(TestA100());
  for (const MigRule rule : {MigRule::kMfiAny, MigRule::kMfiPart}) {
    const MigRuleTable rules(&table, rule);
    const Fragmentation fragmentation(
        table, rule == MigRule::kMfiAny ? MfiReading::kAny : MfiReading::kPart);
    for (size_t s = 0; s < table.states(); ++s) {
      const std::vector<MigState> gpus = {static_cast<MigState>(s),
                                          static_cast<MigState>((s * 31 + 7) % table.states())};
      for (size_t p = 0; p < table.profiles().size(); ++p) {
        int64_t least = INT64_MAX;
        std::string expected = "-1@255";
        for (size_t gpu = 0; gpu < gpus.size(); ++gpu) {
          for (size_t i = 0; i < table.placements().size(); ++i) {
            if (table.placements()[i].profile != p || !HasBit(table.legal(gpus[gpu]), i)) continue;
            const MigState next = table.Place(gpus[gpu], i);
            const int64_t growth = fragmentation.Of(next) - fragmentation.Of(gpus[gpu]);
            if (growth >= least) continue;
            least = growth;
            expected = absl::StrCat(gpu, "@", i);
          }
        }
        const MigRuleTable::NodeChoice choice = rules.OnNode(gpus, kAll, p);
        ASSERT_EQ(absl::StrCat(choice.gpu, "@", int{choice.placement}), expected)
            << NameOf(rule) << " " << s << " " << p;
        if (choice.gpu >= 0) {
          ASSERT_EQ(choice.cost, least * kMfiScale);
        }
      }
    }
  }
}

// An empty GPU rather often, as random states are rather full.
MigState RandomState(const MigTable& table, Random& random) {
  const uint64_t empty = random.Below(4);
  const uint64_t state = random.Below(table.states());
  return empty == 0 ? MigState{0} : static_cast<MigState>(state);
}

// The first of the cheapest GPUs, in an order that is written out.
TEST(MigRulesOracleTest, OnNodeAgainstAWrittenOutOrder) {
  const MigTable table = TestTable(TestA100());
  Random random(1, "nodes");
  for (const MigRule rule : kEveryRule) {
    const MigRuleTable rules(&table, rule);
    for (uint64_t trial = 0; trial < SoakSeeds(400); ++trial) {
      std::vector<MigState> gpus(1 + random.Below(kMaxDevicesPerNode));
      for (MigState& state : gpus) state = RandomState(table, random);
      const DeviceSet usable = DeviceSet::FromBits(random.U64());
      const size_t profile = random.Below(table.profiles().size());
      const auto after = static_cast<int32_t>(random.Below(gpus.size() + 1)) - 1;
      std::vector<size_t> order;
      for (size_t i = 0; i < gpus.size(); ++i) {
        const size_t shift = rule == MigRule::kRoundRobin ? static_cast<size_t>(after + 1) : 0;
        order.push_back((i + shift) % gpus.size());
      }
      if (rule == MigRule::kDraDriver) {
        std::sort(order.begin(), order.end(),
                  [](size_t a, size_t b) { return std::to_string(a) < std::to_string(b); });
      }
      MigRuleTable::NodeChoice expected;
      for (const size_t gpu : order) {
        const MigRuleTable::Choice& choice = rules.OnGpu(gpus[gpu], profile);
        if (!usable.Contains(gpu) || choice.cost >= expected.cost) continue;
        expected = {choice.cost, static_cast<int32_t>(gpu), choice.placement};
      }
      const MigRuleTable::NodeChoice choice = rules.OnNode(gpus, usable, profile, after);
      ASSERT_EQ(choice.gpu, expected.gpu) << NameOf(rule) << " " << trial;
      ASSERT_EQ(choice.cost, expected.cost);
      ASSERT_EQ(choice.placement, expected.placement);
    }
  }
}

// A node, a pod's wish, and where it went: pairs of GPU and placement, by instance.
struct Trial {
  std::vector<MigState> gpus;
  DeviceSet usable;
  std::vector<uint8_t> wanted;
  std::vector<DeviceGrant> found;
};

Trial RandomTrial(const MigTable& table, Random& random) {
  Trial trial;
  trial.gpus.resize(1 + random.Below(3));
  for (MigState& state : trial.gpus) state = RandomState(table, random);
  trial.usable = DeviceSet::FromBits(1 + random.Below(7));
  trial.wanted.resize(1 + random.Below(3));
  for (uint8_t& profile : trial.wanted) {
    profile = static_cast<uint8_t>(random.Below(table.profiles().size()));
  }
  trial.found.resize(trial.wanted.size());
  return trial;
}

// Plain backtracking over GPUs and placements by number; the instances in the order of `turns`.
bool Backtrack(const MigTable& table, MigRule rule, absl::Span<const size_t> turns, Trial& trial) {
  if (turns.empty()) return true;
  const size_t i = turns[0];
  for (size_t gpu = 0; gpu < trial.gpus.size(); ++gpu) {
    const MigState state = trial.gpus[gpu];
    for (size_t p = 0; p < table.placements().size(); ++p) {
      if (!trial.usable.Contains(gpu) || table.placements()[p].profile != trial.wanted[i]) continue;
      if (!HasBit(table.legal(state), p) || !MayTake(table, rule, state, p)) continue;
      trial.gpus[gpu] = table.Place(state, p);
      trial.found[i].device = static_cast<uint8_t>(gpu);
      trial.found[i].placement = static_cast<uint8_t>(p);
      const bool rest = Backtrack(table, rule, turns.subspan(1), trial);
      trial.gpus[gpu] = state;
      if (rest) return true;
    }
  }
  return false;
}

// Every way to deal the instances to the GPUs that are empty and usable; each GPU needs a layout.
bool Deal(const MigTable& table, const Trial& trial, size_t next,
          std::vector<MigMultiset>& counts) {
  if (next == trial.wanted.size()) {
    for (size_t gpu = 0; gpu < counts.size(); ++gpu) {
      if (FindLayout(table, counts[gpu]) == kNoMigState) return false;
    }
    return true;
  }
  for (size_t gpu = 0; gpu < counts.size(); ++gpu) {
    if (!trial.usable.Contains(gpu) || trial.gpus[gpu] != 0) continue;
    int32_t& count = counts[gpu][trial.wanted[next]];
    ++count;
    const bool possible = Deal(table, trial, next + 1, counts);
    --count;
    if (possible) return true;
  }
  return false;
}

bool Feasible(const MigTable& table, MigRule rule, const Trial& trial) {
  if (rule == MigRule::kMigParted) {
    std::vector<MigMultiset> counts(trial.gpus.size(), MigMultiset(table.profiles().size(), 0));
    return Deal(table, trial, 0, counts);
  }
  std::vector<size_t> turns(trial.wanted.size());
  for (size_t i = 0; i < turns.size(); ++i) turns[i] = i;
  Trial copy = trial;
  return Backtrack(table, rule, turns, copy);
}

// Checks the invariants of every answer.
void ExpectSound(const MigTable& table, MigRule rule, const Trial& trial,
                 absl::Span<const DeviceGrant> grants) {
  ASSERT_EQ(grants.size(), trial.wanted.size());
  std::vector<uint64_t> sets;
  for (const MigState state : trial.gpus) sets.push_back(table.set(state));
  for (size_t i = 0; i < grants.size(); ++i) {
    const DeviceGrant& grant = grants[i];
    ASSERT_LT(grant.device, trial.gpus.size());
    EXPECT_TRUE(trial.usable.Contains(grant.device));
    ASSERT_LT(grant.placement, table.placements().size());
    const size_t profile = table.placements()[grant.placement].profile;
    EXPECT_EQ(profile, trial.wanted[i]);
    EXPECT_EQ(grant.milli, 1000 * table.profiles()[profile].size / table.product().units);
    EXPECT_FALSE(HasBit(sets[grant.device], grant.placement));
    sets[grant.device] |= uint64_t{1} << grant.placement;
    if (rule == MigRule::kMigParted) {
      EXPECT_EQ(trial.gpus[grant.device], 0);
    } else {
      EXPECT_TRUE(MayTake(table, rule, trial.gpus[grant.device], grant.placement));
    }
  }
  for (size_t gpu = 0; gpu < sets.size(); ++gpu) {
    EXPECT_NE(table.Find(sets[gpu]), kNoMigState);
    if (rule == MigRule::kNos && sets[gpu] != table.set(trial.gpus[gpu])) {
      EXPECT_TRUE(InNosGeometry(table, sets[gpu]));
    }
  }
}

TEST(MigRulesOracleTest, OnNodeAllFindsACombinationWhenThereIsOne) {
  Random random(2, "wishes");
  for (const MigTable& table : ThreeTables()) {
    for (const MigRule rule : kEveryRule) {
      const MigRuleTable rules(&table, rule);
      int placed = 0;
      const uint64_t trials = SoakSeeds(150);
      for (uint64_t t = 0; t < trials; ++t) {
        const Trial trial = RandomTrial(table, random);
        DeviceGrant before;
        before.device = kMaxDevicesPerNode - 1;
        DeviceGrants grants = {before};
        const bool fits = rules.OnNodeAll(trial.gpus, trial.usable, trial.wanted, -1, &grants);
        ASSERT_EQ(fits, Feasible(table, rule, trial)) << NameOf(rule) << " " << t;
        ASSERT_FALSE(grants.empty());
        EXPECT_EQ(grants[0], before);
        if (!fits) {
          EXPECT_EQ(grants.size(), 1u);
          continue;
        }
        ++placed;
        ExpectSound(table, rule, trial, absl::MakeConstSpan(grants).subspan(1));
        ASSERT_FALSE(HasFatalFailure() || HasNonfatalFailure()) << NameOf(rule) << " " << t;
      }
      EXPECT_GT(placed, 0) << NameOf(rule);
      EXPECT_LT(placed, static_cast<int64_t>(trials)) << NameOf(rule);
    }
  }
}

// First fit takes placements by number, as Backtrack does: so the very combination is known.
TEST(MigRulesOracleTest, OnNodeAllTakesTheFirstCombination) {
  const MigTable table = TestTable(TestA100());
  const MigRuleTable rules(&table, MigRule::kFirstFit);
  Random random(3, "combinations");
  int looked_ahead = 0;
  for (uint64_t t = 0; t < SoakSeeds(3000); ++t) {
    Trial trial = RandomTrial(table, random);
    DeviceGrants grants;
    if (!rules.OnNodeAll(trial.gpus, trial.usable, trial.wanted, -1, &grants)) continue;
    // One after the other, without looking back.
    Trial greedy = trial;
    bool all = true;
    for (size_t i = 0; i < greedy.wanted.size() && all; ++i) {
      const size_t turn[] = {i};
      all = Backtrack(table, MigRule::kFirstFit, turn, greedy);
      if (!all) break;
      MigState& state = greedy.gpus[greedy.found[i].device];
      state = table.Place(state, greedy.found[i].placement);
    }
    if (!all) {
      ++looked_ahead;
      std::vector<size_t> turns(trial.wanted.size());
      for (size_t i = 0; i < turns.size(); ++i) turns[i] = i;
      const auto possible = [&table, &trial](size_t i) {
        int count = 0;
        for (size_t gpu = 0; gpu < trial.gpus.size(); ++gpu) {
          if (!trial.usable.Contains(gpu)) continue;
          count +=
              std::popcount(table.legal(trial.gpus[gpu]) & table.placements_of(trial.wanted[i]));
        }
        return count;
      };
      std::stable_sort(turns.begin(), turns.end(), [&](size_t a, size_t b) {
        if (possible(a) != possible(b)) return possible(a) < possible(b);
        return trial.wanted[a] < trial.wanted[b];
      });
      ASSERT_TRUE(Backtrack(table, MigRule::kFirstFit, turns, trial));
    }
    const std::vector<DeviceGrant>& expected = all ? greedy.found : trial.found;
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(grants[i].device, expected[i].device) << t;
      ASSERT_EQ(grants[i].placement, expected[i].placement) << t;
    }
  }
  EXPECT_GT(looked_ahead, 10);
}

}  // namespace mig_rules_test
}  // namespace drasim
