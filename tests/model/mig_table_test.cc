#include "model/mig_table.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/mig_product.h"
#include "model/random.h"
#include "tests/testing/mig_products.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace mig_table_test {

MigRules MediaEngines() {
  MigRules rules;
  rules.media_engines = true;
  return rules;
}

MigRules Without(std::vector<std::string> profiles, const std::string& one,
                 const std::string& other) {
  MigRules rules = OnlyProfiles(std::move(profiles));
  rules.forbidden = {{one, other}};
  return rules;
}

absl::Status Refusal(const MigProduct& product, const MigRules& rules = {}) {
  const absl::StatusOr<MigTable> table = MigTable::Make(product, rules);
  EXPECT_EQ(table.status().code(), absl::StatusCode::kInvalidArgument);
  return table.status();
}

// ---- The oracle: the rules as they are stated, over a list of instances. ----

using Instance = std::pair<const MigProfile*, int32_t>;  // at a start

bool NaiveLegal(const MigTable& table, const MigRules& rules,
                const std::vector<Instance>& instances) {
  std::vector<int> owners(static_cast<size_t>(table.product().units), 0);
  int extensions = 0;
  int32_t decoders = 0;
  int32_t encoders = 0;
  int32_t jpeg = 0;
  int32_t ofa = 0;
  for (const auto& [profile, start] : instances) {
    for (int32_t u = start; u < start + profile->size; ++u) {
      if (++owners[static_cast<size_t>(u)] > 1) return false;
    }
    int32_t equal = 0;
    for (const Instance& other : instances) equal += other.first == profile ? 1 : 0;
    if (equal > profile->max_instances) return false;
    extensions += absl::EndsWith(profile->name, "+me") ? 1 : 0;
    decoders += profile->decoders;
    encoders += profile->encoders;
    jpeg += profile->jpeg_engines;
    ofa += profile->ofa_engines;
  }
  if (extensions > 1) return false;
  for (const auto& [one, other] : rules.forbidden) {
    bool has_one = false;
    bool has_other = false;
    for (const auto& [profile, start] : instances) {
      has_one = has_one || profile->name == one;
      has_other = has_other || profile->name == other;
    }
    if (has_one && has_other) return false;
  }
  if (!rules.media_engines) return true;
  const MigProfile& largest = table.product().profiles.back();
  return decoders <= largest.decoders && encoders <= largest.encoders &&
         jpeg <= largest.jpeg_engines && ofa <= largest.ofa_engines;
}

Instance InstanceOf(const MigTable& table, size_t placement) {
  const MigPlacement& at = table.placements()[placement];
  return {&table.profiles()[at.profile], at.start};
}

// All sets that extend `instances` by placements from `from` on.
void NaiveSets(const MigTable& table, const MigRules& rules, size_t from, uint64_t set,
               std::vector<Instance>& instances, std::set<uint64_t>& out) {
  out.insert(set);
  for (size_t p = from; p < table.placements().size(); ++p) {
    instances.push_back(InstanceOf(table, p));
    if (NaiveLegal(table, rules, instances)) {
      NaiveSets(table, rules, p + 1, set | uint64_t{1} << p, instances, out);
    }
    instances.pop_back();
  }
}

struct Case {
  std::string name;
  MigProduct product;
  MigRules rules;
  size_t states;
};

// The counts are published, or were found by an independent program.
std::vector<Case> Cases() {
  return {
      {"A100, five", TestA100(), OnlyProfiles(A100Base()), 298},
      {"A100 before R510", TestA100(), Without(A100Base(), "4g.40gb", "3g.40gb"), 297},
      {"A100, plain", TestA100(), OnlyProfiles(A100Plain()), 723},
      {"A100", TestA100(), MigRules(), 2319},
      {"A100, engines", TestA100(), MediaEngines(), 2319},
      {"A30, three", TestA30(), OnlyProfiles({"1g.6gb", "2g.12gb", "4g.24gb"}), 26},
      {"A30", TestA30(), MigRules(), 76},
      {"RTX, three", TestRtxPro6000(), OnlyProfiles({"1g.24gb", "2g.48gb", "4g.96gb"}), 26},
      {"RTX", TestRtxPro6000(), MigRules(), 1249},
      {"RTX, engines", TestRtxPro6000(), MediaEngines(), 717},
  };
}

TEST(MigTableTest, HasEveryLegalSetAndNoOther) {
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.name);
    const MigTable table = TestTable(c.product, c.rules);
    EXPECT_EQ(table.states(), c.states);
    std::set<uint64_t> expected;
    std::vector<Instance> instances;
    NaiveSets(table, c.rules, 0, 0, instances, expected);
    std::set<uint64_t> found;
    for (size_t s = 0; s < table.states(); ++s) {
      found.insert(table.set(static_cast<MigState>(s)));
    }
    EXPECT_EQ(found, expected);
  }
}

TEST(MigTableTest, NumbersStatesByInstancesAndThenBySet) {
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.name);
    const MigTable table = TestTable(c.product, c.rules);
    EXPECT_EQ(table.set(0), 0U);
    for (size_t s = 0; s < table.states(); ++s) {
      const uint64_t set = table.set(static_cast<MigState>(s));
      ASSERT_EQ(table.Find(set), s);
      if (s == 0) continue;
      const uint64_t before = table.set(static_cast<MigState>(s - 1));
      ASSERT_LT(std::make_pair(std::popcount(before), before),
                std::make_pair(std::popcount(set), set));
    }
  }
}

TEST(MigTableTest, FindsNoIllegalSet) {
  const MigTable table = TestTable(TestA30());
  EXPECT_EQ(table.Find(~uint64_t{0}), kNoMigState);
  // 1g at 0 beside 1g+me at 0.
  const auto one = static_cast<uint64_t>(table.FindPlacement(0, 0));
  const auto me = static_cast<uint64_t>(table.FindPlacement(1, 0));
  EXPECT_EQ(table.Find(uint64_t{1} << one | uint64_t{1} << me), kNoMigState);
}

TEST(MigTableTest, ListsPlacementsByProfileAndStart) {
  const MigTable table = TestTable(TestA100());
  size_t next = 0;
  for (size_t p = 0; p < table.profiles().size(); ++p) {
    uint64_t own = 0;
    for (const int32_t start : table.profiles()[p].starts) {
      ASSERT_LT(next, table.placements().size());
      const MigPlacement& placement = table.placements()[next];
      EXPECT_EQ(placement.profile, p);
      EXPECT_EQ(placement.start, start);
      int32_t covered = 0;
      for (int32_t u = 0; u < table.product().units; ++u) {
        const bool inside = u >= start && u < start + table.profiles()[p].size;
        EXPECT_EQ((placement.units >> u & 1) != 0, inside);
        covered += inside ? 1 : 0;
      }
      EXPECT_EQ(covered, table.profiles()[p].size);
      EXPECT_EQ(table.FindPlacement(p, start), static_cast<int>(next));
      own |= uint64_t{1} << next++;
    }
    EXPECT_EQ(table.placements_of(p), own);
  }
  EXPECT_EQ(next, table.placements().size());
  EXPECT_EQ(table.FindPlacement(0, 7), -1);
  EXPECT_EQ(table.FindPlacement(3, 1), -1);
}

// Compares a state's columns in the table with the instances that are there.
void ExpectColumns(const MigTable& table, const MigRules& rules, MigState state) {
  std::vector<Instance> instances;
  uint64_t set = 0;
  uint32_t units = 0;
  int32_t compute = 0;
  for (size_t p = 0; p < table.placements().size(); ++p) {
    if ((table.set(state) >> p & 1) == 0) continue;
    instances.push_back(InstanceOf(table, p));
    set |= uint64_t{1} << p;
    compute += instances.back().first->compute_slices;
    for (int32_t u = 0; u < instances.back().first->size; ++u) {
      units |= uint32_t{1} << (instances.back().second + u);
    }
  }
  ASSERT_EQ(table.units_used(state), units);
  ASSERT_EQ(table.free_units(state), table.product().units - std::popcount(units));
  ASSERT_EQ(table.free_compute(state), table.product().compute_slices - compute);
  uint32_t fitting = 0;
  for (size_t p = 0; p < table.placements().size(); ++p) {
    if ((set >> p & 1) != 0) {
      ASSERT_EQ(table.legal(state) >> p & 1, 0U);
      ASSERT_EQ(table.set(table.Remove(state, p)), set & ~(uint64_t{1} << p));
      continue;
    }
    instances.push_back(InstanceOf(table, p));
    const bool legal = NaiveLegal(table, rules, instances);
    instances.pop_back();
    ASSERT_EQ((table.legal(state) >> p & 1) != 0, legal);
    if (!legal) {
      ASSERT_EQ(table.Place(state, p), kNoMigState);
      continue;
    }
    ASSERT_EQ(table.set(table.Place(state, p)), set | uint64_t{1} << p);
    fitting |= uint32_t{1} << table.placements()[p].profile;
  }
  ASSERT_EQ(table.fitting(state), fitting);
}

TEST(MigTableTest, RandomWalksAgreeWithSetsOfInstances) {
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.name);
    const MigTable table = TestTable(c.product, c.rules);
    for (uint64_t seed = 0; seed < SoakSeeds(2); ++seed) {
      Random random(seed, c.name);
      std::set<size_t> there;
      MigState state = 0;
      for (int step = 0; step < 100; ++step) {
        const auto p = static_cast<size_t>(random.Below(table.placements().size()));
        if (there.count(p) > 0) {
          there.erase(p);
          state = table.Remove(state, p);
        } else if ((table.legal(state) >> p & 1) != 0) {
          there.insert(p);
          state = table.Place(state, p);
        } else {
          continue;
        }
        ASSERT_LT(state, table.states());
        uint64_t set = 0;
        for (const size_t placement : there) set |= uint64_t{1} << placement;
        ASSERT_EQ(table.set(state), set);
        ASSERT_NO_FATAL_FAILURE(ExpectColumns(table, c.rules, state));
      }
    }
  }
}

// The most that any state beyond this one covers.
TEST(MigTableTest, UsableAndMoreAreTheBestOverAllLargerStates) {
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.name);
    const MigTable table = TestTable(c.product, c.rules);
    std::vector<uint64_t> sets;
    for (size_t s = 0; s < table.states(); ++s) sets.push_back(table.set(static_cast<MigState>(s)));
    for (size_t s = 0; s < sets.size(); ++s) {
      const auto state = static_cast<MigState>(s);
      int units = 0;
      int compute = 0;
      std::vector<int> more(table.profiles().size(), 0);
      for (size_t t = s; t < sets.size(); ++t) {
        if ((sets[t] & sets[s]) != sets[s]) continue;
        const auto larger = static_cast<MigState>(t);
        units = std::max(units, table.free_units(state) - table.free_units(larger));
        compute = std::max(compute, table.free_compute(state) - table.free_compute(larger));
        const uint64_t added = sets[t] & ~sets[s];
        for (size_t p = 0; p < more.size(); ++p) {
          if ((added & ~table.placements_of(p)) == 0) {
            more[p] = std::max(more[p], std::popcount(added));
          }
        }
      }
      ASSERT_EQ(table.usable_units(state), units);
      ASSERT_EQ(table.usable_compute(state), compute);
      for (size_t p = 0; p < more.size(); ++p) ASSERT_EQ(table.more(state, p), more[p]);
    }
  }
}

TEST(MigTableTest, GeometryLosesWhatTheGuideSays) {
  const MigTable table = TestTable(TestA100());
  EXPECT_EQ(table.free_units(0), 8);
  EXPECT_EQ(table.free_compute(0), 7);
  EXPECT_EQ(table.more(0, 0), 7);
  // Two 3g strand a compute slice.
  const MigState halves = TestState(table, {{"3g.40gb", 0}, {"3g.40gb", 4}});
  EXPECT_EQ(table.free_units(halves), 0);
  EXPECT_EQ(table.free_compute(halves), 1);
  EXPECT_EQ(table.usable_compute(halves), 0);
  // Seven 1g leave a unit at which nothing may start.
  MigState ones = 0;
  for (int32_t start = 0; start < 7; ++start) {
    ones = table.Place(ones, static_cast<size_t>(table.FindPlacement(0, start)));
  }
  EXPECT_EQ(table.free_units(ones), 1);
  EXPECT_EQ(table.usable_units(ones), 0);
  EXPECT_EQ(table.legal(ones), 0U);
}

TEST(MigTableTest, OneMediaExtensionPerGpuOfWhateverSize) {
  const MigTable table = TestTable(TestA30());
  const MigState state = TestState(table, {{"1g.6gb+me", 0}});
  EXPECT_EQ(table.more(state, 1), 0);
  EXPECT_EQ(table.more(state, 3), 0);
  EXPECT_EQ(table.more(state, 2), 1);
  EXPECT_EQ(table.more(0, 3), 1);
}

TEST(MigTableTest, ForbiddenPairs) {
  const auto states = [](const std::string& one, const std::string& other) {
    return TestTable(TestA100(), Without(A100Base(), one, other)).states();
  };
  EXPECT_EQ(states("3g.40gb", "4g.40gb"), 297U);
  // No two of one profile; only the state of two halves has them.
  EXPECT_EQ(states("3g.40gb", "3g.40gb"), 297U);
  EXPECT_EQ(states("3g.39gb", "4G.40GB"), 297U);
  // The other one is left out anyway.
  EXPECT_EQ(states("3g.40gb", "1g.20gb"), 298U);
}

TEST(MigTableTest, AnEngineThatIsNotKnownOfAllProfilesLimitsNothing) {
  MigProduct product = TestRtxPro6000();
  MigProfile& largest = product.profiles.back();
  largest.decoders = kUnknownAmount;
  largest.encoders = kUnknownAmount;
  largest.jpeg_engines = kUnknownAmount;
  EXPECT_LT(TestTable(product, MediaEngines()).states(), 1249U);  // the OFA still does
  largest.ofa_engines = kUnknownAmount;
  EXPECT_EQ(TestTable(product, MediaEngines()).states(), 1249U);
}

TEST(MigTableTest, FindsProfilesByAnyNameInAnyCase) {
  const MigTable table = TestTable(TestA100());
  EXPECT_EQ(table.FindProfile("1g.10gb"), 0);
  EXPECT_EQ(table.FindProfile("1G.10GB+ME"), 1);
  EXPECT_EQ(table.FindProfile("3g.39gb"), 4);
  EXPECT_EQ(table.FindProfile("7g.79GB"), 6);
  EXPECT_EQ(table.FindProfile("3g.38gb"), -1);
  EXPECT_EQ(table.FindProfile(""), -1);
}

TEST(MigTableTest, ANameOfItsOwnGoesBeforeOtherDriversNames) {
  MigProduct product = TestA30();
  product.profiles[0].names = {"2g.12gb"};
  EXPECT_EQ(TestTable(product).FindProfile("2g.12gb"), 2);
}

TEST(MigTableTest, KeepsTheCataloguesOrderOfProfiles) {
  const MigTable table = TestTable(TestA100(), OnlyProfiles({"7g.79gb", "1G.20gb", "1g.10gb"}));
  ASSERT_EQ(table.profiles().size(), 3U);
  EXPECT_EQ(table.profiles()[0].name, "1g.10gb");
  EXPECT_EQ(table.profiles()[1].name, "1g.20gb");
  EXPECT_EQ(table.profiles()[2].name, "7g.80gb");
  EXPECT_EQ(table.product().profiles.size(), 7U);
}

TEST(MigTableTest, RefusesUnknownAndRepeatedProfiles) {
  const char kUnknown[] =
      "unknown profile '1g.11gb' of A100-80GB; it has 1g.10gb, 1g.10gb+me, 1g.20gb, 2g.20gb, "
      "3g.40gb, 4g.40gb, 7g.80gb (did you mean '1g.10gb'?)";
  EXPECT_EQ(Refusal(TestA100(), OnlyProfiles({"1g.11gb"})).message(), kUnknown);
  EXPECT_EQ(Refusal(TestA100(), Without({}, "1g.11gb", "3g.40gb")).message(), kUnknown);
  EXPECT_EQ(Refusal(TestA100(), Without({}, "3g.40gb", "1g.11gb")).message(), kUnknown);
  EXPECT_EQ(Refusal(TestA100(), OnlyProfiles({"3g.40gb", "3g.39gb"})).message(),
            "profiles of A100-80GB: found '3g.39gb' twice, expected it once");
}

// A GPU of sixteen units and as many compute slices, with profiles of one unit.
MigProduct Wide(size_t profiles, int32_t max_instances) {
  MigProduct product;
  product.group = "wide";
  product.compute_slices = 16;
  product.units = 16;
  std::vector<int32_t> starts;
  for (int32_t u = 0; u < 16; ++u) starts.push_back(u);
  for (size_t p = 0; p < profiles; ++p) {
    product.profiles.push_back(
        TestMigProfile(absl::StrCat("1g.", p, "gb"), 1, 1, starts, max_instances));
  }
  return product;
}

TEST(MigTableTest, RefusesWhatItCannotNumber) {
  // All subsets of 16 but the whole: the last number that is left is kNoMigState's.
  EXPECT_EQ(TestTable(Wide(1, 15)).states(), 65535U);
  EXPECT_EQ(Refusal(Wide(1, 16)).message(),
            "states of wide: found more than 65535, which is the most that a table holds; choose "
            "fewer profiles");
  MigRules one_at_all;  // which keeps the states few
  for (int a = 0; a < 4; ++a) {
    for (int b = a; b < 4; ++b) {
      one_at_all.forbidden.emplace_back(absl::StrCat("1g.", a, "gb"), absl::StrCat("1g.", b, "gb"));
    }
  }
  EXPECT_EQ(TestTable(Wide(4, 16), one_at_all).states(), 65U);
  EXPECT_EQ(Refusal(Wide(5, 1)).message(),
            "placements of wide: found more than 64, which is the most that a table holds; choose "
            "fewer profiles");
  MigProduct many;
  many.group = "many";
  many.compute_slices = 1;
  many.units = 1;
  for (int p = 0; p < 33; ++p) {
    many.profiles.push_back(TestMigProfile(absl::StrCat("1g.", p, "gb"), 1, 1, {0}, 1));
  }
  EXPECT_EQ(Refusal(many).message(), "profiles of many: found '33', expected at most 32");
  many.profiles.pop_back();
  EXPECT_EQ(TestTable(many).states(), 33U);
}

TEST(MigTableTest, RefusesGeometryThatDoesNotFit) {
  MigProduct product = TestA30();
  product.units = 17;
  EXPECT_EQ(Refusal(product).message(), "units of A30: found '17', expected 1 to 16");
  product = TestA30();
  product.compute_slices = 0;
  EXPECT_EQ(Refusal(product).message(), "compute slices of A30: found '0', expected 1 to 16");
  product = TestA30();
  product.profiles[2].size = 5;
  EXPECT_EQ(Refusal(product).message(), "size of 2g.12gb of A30: found '5', expected 1 to 4");
  product = TestA30();
  product.profiles[2].starts = {0, 3};
  EXPECT_EQ(Refusal(product).message(), "a start of 2g.12gb of A30: found '3', expected 0 to 2");
  product = TestA30();
  product.profiles[2].compute_slices = 5;
  EXPECT_EQ(Refusal(product).message(),
            "compute slices of 2g.12gb of A30: found '5', expected 0 to 4");
  product = TestA30();
  product.profiles[0].compute_slices = 2;
  EXPECT_EQ(Refusal(product).message(),
            "placements of A30: found instances of '6' compute slices side by side, expected at "
            "most 4, which is what the GPU has");
}

}  // namespace mig_table_test
}  // namespace drasim
