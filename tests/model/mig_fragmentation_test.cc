#include "model/mig_fragmentation.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "model/mig_product.h"
#include "model/mig_table.h"
#include "tests/testing/mig_products.h"

namespace drasim {
namespace mig_fragmentation_test {

constexpr MfiReading kReadings[] = {MfiReading::kAny, MfiReading::kPart};

// Units as text, 'x' for an occupied one: "x......."
uint16_t Occupied(const std::string& units) {
  uint16_t mask = 0;
  for (size_t u = 0; u < units.size(); ++u) {
    if (units[u] == 'x') mask = static_cast<uint16_t>(mask | (1U << u));
  }
  return mask;
}

// ---- The oracle: the formula as it is stated, unit by unit. `weights` by profile. ----

int64_t NaiveF(const MigTable& table, uint16_t occupied, MfiReading reading,
               const std::vector<int64_t>& weights) {
  std::vector<bool> taken;
  int32_t free = 0;
  for (int32_t u = 0; u < table.product().units; ++u) {
    taken.push_back((occupied >> u & 1) != 0);
    if (!taken.back()) ++free;
  }
  int64_t sum = 0;
  for (size_t p = 0; p < table.profiles().size(); ++p) {
    const MigProfile& profile = table.profiles()[p];
    if (absl::StrContains(profile.name, "+") || absl::StrContains(profile.name, "-")) continue;
    if (profile.size > free) continue;
    for (const int32_t start : profile.starts) {
      int32_t touched = 0;
      for (int32_t u = start; u < start + profile.size; ++u) {
        touched += taken[static_cast<size_t>(u)] ? 1 : 0;
      }
      const bool blocked =
          reading == MfiReading::kAny ? touched > 0 : touched > 0 && touched < profile.size;
      if (blocked) sum += weights[p] * profile.size;
    }
  }
  return sum;
}

TEST(MigFragmentationTest, ValuesThatWereWorkedOutByHand) {
  const MigTable table = TestTable(TestA100(), OnlyProfiles(A100Plain()));
  const auto f = [&table](const std::string& units, MfiReading reading) {
    return MfiOf(table, Occupied(units), reading);
  };
  EXPECT_EQ(f("........", MfiReading::kAny), 0);
  EXPECT_EQ(f("x.......", MfiReading::kAny), 13);
  EXPECT_EQ(f("......x.", MfiReading::kAny), 7);
  EXPECT_EQ(f("....x...", MfiReading::kAny), 9);
  EXPECT_EQ(f("xxxx....", MfiReading::kAny), 20);
  EXPECT_EQ(f("....xxxx", MfiReading::kAny), 13);
  EXPECT_EQ(f("....xx..", MfiReading::kAny), 10);
  EXPECT_EQ(f("xxxxxxx.", MfiReading::kAny), 7);
  EXPECT_EQ(f("xxxxxxxx", MfiReading::kAny), 0);
  EXPECT_EQ(f("........", MfiReading::kPart), 0);
  EXPECT_EQ(f("x.......", MfiReading::kPart), 12);
  EXPECT_EQ(f("......x.", MfiReading::kPart), 6);
  EXPECT_EQ(f("....x...", MfiReading::kPart), 8);
  EXPECT_EQ(f("....xx..", MfiReading::kPart), 4);
  EXPECT_EQ(f("xxxx....", MfiReading::kPart), 0);
  EXPECT_EQ(f("xxxxxxxx", MfiReading::kPart), 0);
}

TEST(MigFragmentationTest, ScoresOfStates) {
  const MigTable table = TestTable(TestA100(), OnlyProfiles(A100Plain()));
  const MfiScore any(table, MfiReading::kAny);
  const MfiScore part(table, MfiReading::kPart);
  EXPECT_EQ(any.value(0), 0);
  EXPECT_EQ(any.value(TestState(table, {{"1g.10gb", 0}})), 13 * kMfiScale);
  EXPECT_EQ(any.value(TestState(table, {{"3g.40gb", 0}})), 20 * kMfiScale);
  EXPECT_EQ(any.value(TestState(table, {{"4g.40gb", 0}})), 20 * kMfiScale);
  EXPECT_EQ(any.value(TestState(table, {{"7g.80gb", 0}})), 0);
  EXPECT_EQ(part.value(TestState(table, {{"2g.20gb", 4}})), 4 * kMfiScale);
  EXPECT_EQ(part.value(TestState(table, {{"3g.40gb", 0}})), 0);
}

TEST(MigFragmentationTest, EveryOccupationAgreesWithTheFormula) {
  for (const MigProduct& product : {TestA100(), TestA30(), TestRtxPro6000()}) {
    SCOPED_TRACE(product.group);
    const MigTable table = TestTable(product);
    const std::vector<int64_t> once(table.profiles().size(), 1);
    for (uint32_t mask = 0; mask < uint32_t{1} << product.units; ++mask) {
      for (const MfiReading reading : kReadings) {
        const auto occupied = static_cast<uint16_t>(mask);
        ASSERT_EQ(MfiOf(table, occupied, reading), NaiveF(table, occupied, reading, once)) << mask;
      }
    }
  }
}

TEST(MigFragmentationTest, EveryStateAgreesWithTheFormula) {
  for (const MigProduct& product : {TestA100(), TestA30(), TestRtxPro6000()}) {
    SCOPED_TRACE(product.group);
    const MigTable table = TestTable(product);
    std::vector<int64_t> weights;
    for (size_t p = 0; p < table.profiles().size(); ++p) {
      weights.push_back(static_cast<int64_t>(100 + 37 * p));
    }
    const std::vector<int64_t> equal(table.profiles().size(), kMfiScale);
    for (const MfiReading reading : kReadings) {
      const MfiScore plain(table, reading);
      const MfiScore weighted(table, reading, weights);
      for (size_t s = 0; s < table.states(); ++s) {
        const auto state = static_cast<MigState>(s);
        const uint16_t occupied = table.units_used(state);
        ASSERT_EQ(plain.value(state), NaiveF(table, occupied, reading, equal)) << s;
        ASSERT_EQ(weighted.value(state), NaiveF(table, occupied, reading, weights)) << s;
      }
    }
  }
}

// The measure ignores which instances occupy the units, and rules about neighbours.
TEST(MigFragmentationTest, DependsOnOccupiedUnitsAlone) {
  MigRules rules;
  rules.forbidden = {{"4g.40gb", "3g.40gb"}, {"1g.10gb", "2g.20gb"}};
  const MigTable all = TestTable(TestA100());
  const MigTable fewer = TestTable(TestA100(), rules);
  const MigTable plain = TestTable(TestA100(), OnlyProfiles(A100Plain()));
  ASSERT_LT(fewer.states(), all.states());
  for (const MfiReading reading : kReadings) {
    std::map<uint16_t, int64_t> by_units;
    const MigTable* const tables[] = {&all, &fewer, &plain};
    for (const MigTable* table : tables) {
      const MfiScore score(*table, reading);
      for (size_t s = 0; s < table->states(); ++s) {
        const auto state = static_cast<MigState>(s);
        const auto known = by_units.emplace(table->units_used(state), score.value(state)).first;
        ASSERT_EQ(score.value(state), known->second);
      }
    }
    EXPECT_LT(by_units.size(), plain.states());
  }
}

TEST(MigFragmentationTest, WeightsMultiplyTheTermOfTheirProfile) {
  const MigTable table = TestTable(TestA100(), OnlyProfiles(A100Plain()));
  const MigState state = TestState(table, {{"1g.10gb", 0}});
  // 1g.10gb, 1g.20gb, 2g.20gb, 3g.40gb, 4g.40gb, 7g.80gb; 7g is larger than what is free.
  const int64_t terms[] = {1, 2, 2, 4, 4, 0};
  for (size_t p = 0; p < table.profiles().size(); ++p) {
    std::vector<int64_t> weights(table.profiles().size(), 0);
    weights[p] = 250;
    EXPECT_EQ(MfiScore(table, MfiReading::kAny, weights).value(state), 250 * terms[p]);
  }
}

TEST(MigFragmentationTest, ProfilesWithASuffixHaveNoTerm) {
  const MigTable table = TestTable(TestA100());
  std::vector<int64_t> weights(table.profiles().size(), 0);
  weights[static_cast<size_t>(table.FindProfile("1g.10gb+me"))] = kMfiScale;
  const MfiScore score(table, MfiReading::kAny, weights);
  for (size_t s = 0; s < table.states(); ++s) {
    ASSERT_EQ(score.value(static_cast<MigState>(s)), 0);
  }
}

}  // namespace mig_fragmentation_test
}  // namespace drasim
