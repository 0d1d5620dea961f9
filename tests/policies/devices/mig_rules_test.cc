#include "policies/devices/mig_rules.h"

#include <algorithm>
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
#include "policies/devices/mig_rule_orders.h"
#include "tests/testing/mig_products.h"

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

// By its name, or by what is left of the name without the memory: "3g", "1g+me". Of several, the
// first in the catalogue.
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

}  // namespace mig_rules_test
}  // namespace drasim
