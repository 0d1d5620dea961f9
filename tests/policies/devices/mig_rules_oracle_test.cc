// The rules against naive programs: over all states of three products, and over random nodes.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "model/device_set.h"
#include "model/mig_layout.h"
#include "model/random.h"
#include "policies/devices/mig_rules.h"
#include "tests/testing/mig_products.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace mig_rules_oracle_test {

constexpr DeviceSet kAll = DeviceSet::All();
constexpr MigRule kEveryRule[] = {MigRule::kDriver,     MigRule::kFirstFit,   MigRule::kDraDriver,
                                  MigRule::kHami,       MigRule::kInstaSlice, MigRule::kNos,
                                  MigRule::kMigParted,  MigRule::kBestFit,    MigRule::kWorstFit,
                                  MigRule::kRoundRobin, MigRule::kParvaGpu,   MigRule::kMfiAny,
                                  MigRule::kMfiPart};

bool HasBit(uint64_t set, size_t bit) { return (set >> bit & 1) != 0; }

std::string NameOf(MigRule rule) {
  for (const MigRuleInfo& info : MigRuleInfos()) {
    if (info.rule == rule) return info.name;
  }
  return "?";
}

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

// What must hold of any answer.
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

}  // namespace mig_rules_oracle_test
}  // namespace drasim
