#include "sim/control/mig_planner.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "model/mig_layout.h"
#include "model/mig_table.h"
#include "model/random.h"
#include "tests/testing/mig_products.h"

namespace drasim {
namespace mig_planner_test {

// Four units; maximal: one 4g, two 2g, a 2g and two 1g, four 1g.
MigTable SmallTable() {
  return TestTable(TestA30(), OnlyProfiles({"1g.6gb", "2g.12gb", "4g.24gb"}));
}

MigDemand Demand(int64_t whole_gpus, std::vector<int64_t> instances) {
  MigDemand demand;
  demand.whole_gpus = whole_gpus;
  demand.instances = std::move(instances);
  return demand;
}

NodeLayout Whole() { return NodeLayout(); }

NodeLayout Cut(MigMultiset counts) {
  NodeLayout layout;
  layout.mig_enabled = true;
  layout.counts = std::move(counts);
  return layout;
}

// ---- PlanLayouts ----

TEST(PlanLayoutsTest, NothingAskedForLeavesNodesWhole) {
  const MigTable table = SmallTable();
  EXPECT_EQ(PlanLayouts(table, {4, 0, 8}, Demand(0, {0, 0, 0})),
            std::vector<NodeLayout>(3, Whole()));
  EXPECT_TRUE(PlanLayouts(table, {}, Demand(5, {1, 0, 0})).empty());
}

TEST(PlanLayoutsTest, AllWhole) {
  const MigTable table = SmallTable();
  const std::vector<NodeLayout> whole(3, Whole());
  EXPECT_EQ(PlanLayouts(table, {8, 4, 1}, Demand(13, {0, 0, 0})), whole);
  EXPECT_EQ(PlanLayouts(table, {8, 4, 1}, Demand(5000, {0, 0, 0})), whole);
}

TEST(PlanLayoutsTest, AllSmallAndNodesBeyondTheDemand) {
  const MigTable table = SmallTable();
  // 16 on the node with 4 GPUs, 8 on the one with 2; nothing is left for the last.
  EXPECT_EQ(PlanLayouts(table, {2, 4, 1}, Demand(0, {24, 0, 0})),
            (std::vector<NodeLayout>{Cut({4, 0, 0}), Cut({4, 0, 0}), Whole()}));
  EXPECT_EQ(PlanLayouts(table, {2, 4, 1}, Demand(0, {25, 0, 0})),
            // The last one gets the first multiset with a 1g in it.
            (std::vector<NodeLayout>{Cut({4, 0, 0}), Cut({4, 0, 0}), Cut({2, 1, 0})}));
}

TEST(PlanLayoutsTest, LargestNodesStayWholeUntilThatDemandIsMet) {
  const MigTable table = SmallTable();
  // 10 whole GPUs need both nodes of 8; the rest goes to the node of 4, then to that of 2.
  EXPECT_EQ(PlanLayouts(table, {2, 8, 4, 0, 8}, Demand(10, {0, 9, 0})),
            (std::vector<NodeLayout>{Cut({0, 2, 0}), Whole(), Cut({0, 2, 0}), Whole(), Whole()}));
  // Eight are met by the first alone, and the second is the largest of the others.
  EXPECT_EQ(PlanLayouts(table, {2, 8, 4, 0, 8}, Demand(8, {0, 9, 0})),
            (std::vector<NodeLayout>{Whole(), Whole(), Whole(), Whole(), Cut({0, 2, 0})}));
}

// A mix as of a GPU-sharing trace: mostly small parts, some halves, some whole GPUs. Worked out by
// hand from the twelve maximal multisets.
TEST(PlanLayoutsTest, MixOnSevenSlices) {
  const MigTable table = TestTable(TestA100(), OnlyProfiles(A100Base()));
  const std::vector<NodeLayout> expected = {
      Whole(),
      Cut({0, 0, 2, 0, 0}),  // 8 units: two 3g
      Cut({0, 2, 1, 0, 0}),  // 8 units: the third 3g, two 2g
      Cut({5, 1, 0, 0, 0}),  // 7 units: the third 2g, five 1g
      Cut({1, 1, 0, 1, 0}),  // the sixth 1g, in the first multiset that has one
  };
  EXPECT_EQ(PlanLayouts(table, {8, 1, 1, 1, 1}, Demand(8, {6, 3, 3, 0, 0})), expected);
}

TEST(PlanLayoutsTest, ScalesWhatIsTooMuch) {
  const MigTable table = SmallTable();
  const std::vector<int32_t> gpus(8, 1);
  // 320 units for 32: a tenth of everything, 4 whole GPUs and 16 instances of 1g.
  const MigDemand demand = Demand(40, {160, 0, 0});
  std::vector<NodeLayout> expected(8, Cut({4, 0, 0}));
  std::fill_n(expected.begin(), 4, Whole());
  EXPECT_EQ(PlanLayouts(table, gpus, demand), expected);
  EXPECT_EQ(PlanLayouts(table, gpus, Demand(4, {16, 0, 0})), expected);
  // A third of everything; the third of a GPU that is left over takes a fifth node.
  expected[4] = Whole();
  EXPECT_EQ(PlanLayouts(table, gpus, Demand(13, {44, 0, 0})), expected);
}

TEST(PlanLayoutsTest, OnlyProportionsCountBeyondWhatIsThere) {
  const MigTable table = TestTable(TestA100());
  Random random(7, "planner");
  for (int round = 0; round < 30; ++round) {
    std::vector<int32_t> gpus;
    int64_t sum = 0;
    for (int n = 0; n < 12; ++n) {
      gpus.push_back(static_cast<int32_t>(random.Below(9)));
      sum += gpus.back();
    }
    MigDemand demand = Demand(sum + 1 + static_cast<int64_t>(random.Below(20)), {});
    for (size_t p = 0; p < table.profiles().size(); ++p) {
      demand.instances.push_back(static_cast<int64_t>(random.Below(40)));
    }
    const std::vector<NodeLayout> once = PlanLayouts(table, gpus, demand);
    constexpr int64_t kLarge = 1'000'000'000'000'007;
    demand.whole_gpus *= kLarge;
    for (int64_t& instances : demand.instances) instances *= kLarge;
    EXPECT_EQ(PlanLayouts(table, gpus, demand), once) << round;
  }
}

// As the header puts it, in doubles and with amounts that are small enough for them.
std::vector<NodeLayout> NaivePlan(const MigTable& table, const std::vector<int32_t>& gpus,
                                  const MigDemand& demand) {
  const double units = table.product().units;
  double asked = units * static_cast<double>(demand.whole_gpus);
  double there = 0;
  for (size_t p = 0; p < demand.instances.size(); ++p) {
    asked += static_cast<double>(demand.instances[p]) * table.profiles()[p].size;
  }
  for (const int32_t n : gpus) there += units * n;
  const double scale = asked > there ? there / asked : 1;
  double whole = scale * static_cast<double>(demand.whole_gpus);
  std::vector<double> left;
  for (const int64_t n : demand.instances) left.push_back(scale * static_cast<double>(n));
  constexpr double kTiny = 1e-6;
  const std::vector<MigMultiset> choices = MaximalMultisets(table);
  std::vector<NodeLayout> layouts(gpus.size());
  for (int32_t size = 8; size > 0; --size) {
    for (size_t n = 0; n < gpus.size(); ++n) {
      if (gpus[n] != size) continue;
      if (whole > kTiny) {
        whole -= size;
        continue;
      }
      double most = kTiny;
      MigMultiset best;
      for (const MigMultiset& counts : choices) {
        double served = 0;
        for (size_t p = 0; p < counts.size(); ++p) {
          served += std::min<double>(counts[p] * size, left[p]) * table.profiles()[p].size;
        }
        if (served <= most + kTiny) continue;
        most = served;
        best = counts;
      }
      if (best.empty()) continue;
      layouts[n] = Cut(best);
      for (size_t p = 0; p < best.size(); ++p) {
        left[p] = std::max<double>(0, left[p] - best[p] * size);
      }
    }
  }
  return layouts;
}

TEST(PlanLayoutsTest, AsTheNaivePlan) {
  Random random(11, "planner");
  for (const MigProduct& product : {TestA30(), TestA100()}) {
    const MigTable table = TestTable(product);
    for (int round = 0; round < 60; ++round) {
      std::vector<int32_t> gpus;
      for (int n = 0; n < 10; ++n) gpus.push_back(static_cast<int32_t>(random.Below(9)));
      MigDemand demand = Demand(static_cast<int64_t>(random.Below(30)), {});
      for (size_t p = 0; p < table.profiles().size(); ++p) {
        demand.instances.push_back(static_cast<int64_t>(random.Below(30)));
      }
      EXPECT_EQ(PlanLayouts(table, gpus, demand), NaivePlan(table, gpus, demand))
          << product.group << " " << round;
    }
  }
}

// ---- BestLayoutFor ----

int64_t UnitsServed(const MigTable& table, const NodeLayout& layout, int32_t gpus,
                    const MigDemand& pending) {
  if (!layout.mig_enabled) {
    return std::min<int64_t>(gpus, pending.whole_gpus) * table.product().units;
  }
  int64_t served = 0;
  for (size_t p = 0; p < layout.counts.size(); ++p) {
    // One instance after the other.
    for (int64_t i = 0; i < int64_t{gpus} * layout.counts[p] && i < pending.instances[p]; ++i) {
      served += table.profiles()[p].size;
    }
  }
  return served;
}

// The most that any layout serves, of whatever legal state.
int64_t MostUnits(const MigTable& table, int32_t gpus, const MigDemand& pending) {
  int64_t most = UnitsServed(table, Whole(), gpus, pending);
  for (size_t s = 0; s < table.states(); ++s) {
    const NodeLayout layout = Cut(MultisetOf(table, static_cast<MigState>(s)));
    most = std::max(most, UnitsServed(table, layout, gpus, pending));
  }
  return most;
}

TEST(BestLayoutForTest, NoLayoutOfAnA30ServesMore) {
  const MigTable table = TestTable(TestA30());
  Random random(3, "planner");
  for (int round = 0; round < 3000; ++round) {
    MigDemand pending = Demand(static_cast<int64_t>(random.Below(5)), {});
    const auto gpus = static_cast<int32_t>(1 + random.Below(4));
    for (size_t p = 0; p < table.profiles().size(); ++p) {
      pending.instances.push_back(static_cast<int64_t>(random.Below(12)));
    }
    const BestLayout best = BestLayoutFor(table, gpus, pending);
    ASSERT_EQ(best.units_served, MostUnits(table, gpus, pending));
    ASSERT_EQ(UnitsServed(table, best.layout, gpus, pending), best.units_served);
    if (!best.layout.mig_enabled) {
      EXPECT_TRUE(best.layout.counts.empty());
      continue;
    }
    // MIG pays, and no earlier multiset serves as much.
    ASSERT_LT(UnitsServed(table, Whole(), gpus, pending), best.units_served);
    for (const MigMultiset& counts : MaximalMultisets(table)) {
      if (counts == best.layout.counts) break;
      ASSERT_LT(UnitsServed(table, Cut(counts), gpus, pending), best.units_served);
    }
  }
}

TEST(BestLayoutForTest, WholeGpusCountAsUnits) {
  const MigTable table = SmallTable();
  // Three whole GPUs are twelve units, eleven 1g are eleven.
  const BestLayout whole = BestLayoutFor(table, 3, Demand(3, {11, 0, 0}));
  EXPECT_EQ(whole.layout, Whole());
  EXPECT_EQ(whole.units_served, 12);
  const BestLayout cut = BestLayoutFor(table, 3, Demand(2, {9, 0, 0}));
  EXPECT_EQ(cut.layout, Cut({4, 0, 0}));
  EXPECT_EQ(cut.units_served, 9);
}

TEST(BestLayoutForTest, NothingPendingIsNothingServed) {
  const MigTable table = SmallTable();
  const BestLayout best = BestLayoutFor(table, 8, Demand(0, {0, 0, 0}));
  EXPECT_EQ(best.layout, Whole());
  EXPECT_EQ(best.units_served, 0);
}

}  // namespace mig_planner_test
}  // namespace drasim
