// Verdicts on instructions, CPU time and memory: limits, setups that do not compare, and how seldom
// equal programs are called worse.
#include "sim/bench/cost_verdicts.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "model/random.h"
#include "sim/compare/cell_metrics.h"
#include "tests/testing/soak.h"

namespace drasim::bench {
namespace cost_verdicts_test {

BenchResults Counted(const std::vector<std::pair<std::string, uint64_t>>& counts) {
  BenchResults results;
  results.count_setup = CostSetup{kCachegrind, "valgrind-3.19.0", "GNU 12", "-O2", {"libc 1"}};
  for (const auto& [entry, count] : counts) {
    BenchRow row;
    row.id = {entry, "", "fgd", 1};
    row.inputs = "00000000000000aa";
    results.table.rows.push_back(row);
    results.costs.push_back({row.id, 1, 1000, count});
  }
  return results;
}

InstructionVerdicts Judged(const BenchResults& base, const BenchResults& head) {
  const std::optional<InstructionVerdicts> verdicts = JudgeInstructions(base, head, Scope());
  EXPECT_TRUE(verdicts.has_value());
  return verdicts.value_or(InstructionVerdicts());
}

TEST(CostVerdictsTest, AnEntryMayTakeHalfAPercentMore) {
  const BenchResults base = Counted({{"a", 1'000'000}, {"b", 1'000'000}, {"c", 1'000'000}});
  const InstructionVerdicts verdicts =
      Judged(base, Counted({{"a", 1'005'000}, {"b", 1'005'001}, {"c", 990'000}}));
  ASSERT_EQ(verdicts.entries.size(), 3u);
  EXPECT_EQ(verdicts.entries[0].verdict, CellVerdict::kSame);
  EXPECT_EQ(verdicts.entries[1].verdict, CellVerdict::kWorse);
  EXPECT_EQ(verdicts.entries[2].verdict, CellVerdict::kBetter);
  EXPECT_NEAR(verdicts.mean_ratio, std::cbrt(1.005 * 1.005001 * 0.99), 1e-12);
}

TEST(CostVerdictsTest, TheGeometricMeanMayGrowByAFifthOfAPercent) {
  const BenchResults base = Counted({{"a", 1'000'000}, {"b", 2'000'000}});
  InstructionVerdicts verdicts = Judged(base, Counted({{"a", 1'002'000}, {"b", 2'003'000}}));
  EXPECT_EQ(verdicts.entries[0].verdict, CellVerdict::kSame);
  EXPECT_EQ(verdicts.entries[1].verdict, CellVerdict::kSame);
  // The mean is beyond it now, and only the second entry by itself.
  verdicts = Judged(base, Counted({{"a", 1'002'000}, {"b", 2'004'400}}));
  EXPECT_GT(verdicts.mean_ratio, kMostMeanRatio);
  EXPECT_EQ(verdicts.entries[0].verdict, CellVerdict::kSame);
  EXPECT_EQ(verdicts.entries[1].verdict, CellVerdict::kWorse);
}

TEST(CostVerdictsTest, CellsOfAnEntryAddUp) {
  BenchResults base = Counted({{"a", 1'000'000}});
  BenchResults head = Counted({{"a", 1'000'000}});
  const auto add = [](const CellId& id, std::optional<uint64_t> count, BenchResults* results) {
    BenchRow row = results->table.rows[0];
    row.id = id;
    results->table.rows.push_back(row);
    results->costs.push_back({id, 1, 1000, count});
  };
  add({"a", "", "fgd", 2}, 3'000'000, &base);
  add({"a", "", "fgd", 2}, 3'030'000, &head);
  // One side alone says nothing.
  add({"a", "", "fgd", 3}, 5'000'000, &base);
  add({"a", "", "fgd", 3}, std::nullopt, &head);
  const InstructionVerdicts verdicts = Judged(base, head);
  ASSERT_EQ(verdicts.entries.size(), 1u);
  EXPECT_EQ(verdicts.entries[0].base, 4'000'000u);
  EXPECT_EQ(verdicts.entries[0].head, 4'030'000u);
  EXPECT_EQ(verdicts.entries[0].verdict, CellVerdict::kWorse);
  head.table.rows[1].inputs = "00000000000000bb";
  EXPECT_EQ(Judged(base, head).entries[0].base, 1'000'000u);
}

TEST(CostVerdictsTest, WaysOfCountingAreNotMixed) {
  const BenchResults base = Counted({{"a", 1'000'000}});
  BenchResults head = Counted({{"a", 2'000'000}});
  head.count_setup->method = kPerf;
  head.count_setup->tool = "perf version 6.1";
  head.count_setup->libraries = {"libc 2"};
  const InstructionVerdicts verdicts = Judged(base, head);
  EXPECT_TRUE(verdicts.entries.empty());
  EXPECT_EQ(verdicts.not_compared,
            "BASE and HEAD counted in different ways: method cachegrind and perf; tool "
            "valgrind-3.19.0 and perf version 6.1; libraries [libc 1] and [libc 2]");
  for (std::string CostSetup::*field : {&CostSetup::compiler, &CostSetup::flags}) {
    head = Counted({{"a", 2'000'000}});
    (*head.count_setup).*field = "other";
    EXPECT_NE(Judged(base, head).not_compared, "");
  }
  head.count_setup.reset();
  EXPECT_EQ(Judged(base, head).not_compared, "only BASE has counted them");
  EXPECT_EQ(Judged(head, base).not_compared, "only HEAD has counted them");
  EXPECT_FALSE(JudgeInstructions(head, head, Scope()).has_value());
  EXPECT_EQ(Judged(base, Counted({{"b", 1}})).not_compared, "no cell was counted on both sides");
}

TEST(CostVerdictsTest, WorseEntriesMarkTheirCells) {
  InstructionVerdicts verdicts;
  verdicts.entries = {{"a", 1000, 1010, CellVerdict::kWorse}, {"b", 1000, 1000}};
  BenchComparison comparison;
  for (const char* const entry : {"a", "b"}) {
    CellComparison cell;
    cell.id = {entry, "", "fgd", 1};
    comparison.cells.push_back(cell);
  }
  comparison.cells.push_back(comparison.cells[0]);
  comparison.cells.back().verdict = CellVerdict::kMissing;
  ApplyInstructions(verdicts, &comparison);
  EXPECT_EQ(comparison.cells[0].verdict, CellVerdict::kWorse);
  EXPECT_EQ(comparison.cells[0].why, "instructions 1000 -> 1010 (+1.00 %)");
  EXPECT_EQ(comparison.cells[1].verdict, CellVerdict::kSame);
  EXPECT_EQ(comparison.cells[2].verdict, CellVerdict::kMissing);
}

TEST(CostVerdictsTest, CellsThatCouldNotBeCountedAreMissing) {
  const BenchResults base = Counted({{"a", 1'000'000}, {"b", 1'000'000}, {"c", 1'000'000}});
  BenchResults head = Counted({{"a", 1'000'000}, {"b", 1'000'000}, {"c", 1'000'000}});
  // Neither ran on the same inputs nor has a row: what that means is not said here.
  head.table.rows[2].inputs = "00000000000000bb";
  head.costs[1].instructions.reset();
  head.missing = {{{"b", "", "fgd", 1}, "counting instructions: killed"},
                  {{"c", "", "fgd", 1}, "counting instructions: killed"},
                  {{"d", "", "fgd", 1}, "crashed"}};
  InstructionVerdicts verdicts = Judged(base, head);
  ASSERT_EQ(verdicts.uncounted.size(), 1u);
  BenchComparison comparison;
  for (const char* const entry : {"a", "b"}) {
    CellComparison cell;
    cell.id = {entry, "", "fgd", 1};
    comparison.cells.push_back(cell);
  }
  BenchComparison worse = comparison;
  worse.cells[1].verdict = CellVerdict::kWorse;
  ApplyInstructions(verdicts, &comparison);
  EXPECT_EQ(comparison.cells[0].verdict, CellVerdict::kSame);
  EXPECT_EQ(comparison.cells[1].verdict, CellVerdict::kMissing);
  EXPECT_EQ(comparison.cells[1].why, "HEAD: counting instructions: killed");
  ApplyInstructions(verdicts, &worse);
  EXPECT_EQ(worse.cells[1].verdict, CellVerdict::kWorse);
  verdicts = Judged(head, base);
  ASSERT_EQ(verdicts.uncounted.size(), 1u);
  EXPECT_EQ(verdicts.uncounted[0].what, "BASE: counting instructions: killed");
}

// Blocks of a head that takes `factor` times as long, where load adds up to 30 %.
std::vector<TimeBlock> Blocks(double factor, size_t n, Random* random) {
  std::vector<TimeBlock> blocks(n);
  for (TimeBlock& block : blocks) {
    for (double& s : block.base_seconds) s = 0.2 * (1 + 0.3 * random->Unit());
    for (double& s : block.head_seconds) s = 0.2 * factor * (1 + 0.3 * random->Unit());
  }
  return blocks;
}

TEST(CpuTimeTest, TheSecondSmallestRatioDecides) {
  std::vector<TimeBlock> blocks(kBlocks);
  for (TimeBlock& block : blocks) {
    block.base_seconds = {1.0, 1.3, 1.2};
    block.head_seconds = {1.06, 1.4, 1.4};
  }
  EXPECT_EQ(JudgeCpuTime(blocks).verdict, CellVerdict::kWorse);
  EXPECT_NEAR(JudgeCpuTime(blocks).median_ratio, 1.06, 1e-12);
  blocks[3].head_seconds[1] = 1.0;
  EXPECT_EQ(JudgeCpuTime(blocks).verdict, CellVerdict::kWorse);
  blocks[4].head_seconds[0] = 1.05;
  EXPECT_EQ(JudgeCpuTime(blocks).verdict, CellVerdict::kSame);
  for (TimeBlock& block : blocks) std::swap(block.base_seconds, block.head_seconds);
  EXPECT_EQ(JudgeCpuTime(blocks).verdict, CellVerdict::kSame);
  blocks[4].base_seconds[0] = 1.06;
  EXPECT_EQ(JudgeCpuTime(blocks).verdict, CellVerdict::kBetter);
}

TEST(CpuTimeTest, TooFewBlocksAndNoTimesAreUnclear) {
  Random random(1, "test");
  EXPECT_EQ(JudgeCpuTime(Blocks(2, kBlocks - 1, &random)).verdict, CellVerdict::kUnclear);
  EXPECT_EQ(JudgeCpuTime({}).verdict, CellVerdict::kUnclear);
  std::vector<TimeBlock> blocks = Blocks(2, kBlocks, &random);
  blocks[7].base_seconds[1] = 0;
  EXPECT_EQ(JudgeCpuTime(blocks).verdict, CellVerdict::kUnclear);
}

TEST(CpuTimeTest, OrdersAreBalanced) {
  for (size_t o = 0; o < kBlockOrders.size(); ++o) {
    size_t heads = 0;
    for (size_t i = 0; i < kBlockOrders[o].size(); ++i) {
      if (kBlockOrders[o][i]) ++heads;
      EXPECT_NE(kBlockOrders[0][i], kBlockOrders[1][i]);
    }
    EXPECT_EQ(heads, kBlockRuns);
  }
}

TEST(CpuTimeTest, EqualProgramsUnderLoadRaiseNoAlarm) {
  Random random(2, "test");
  for (uint64_t c = 0; c < SoakSeeds(1000); ++c) {
    EXPECT_NE(JudgeCpuTime(Blocks(1, kBlocks, &random)).verdict, CellVerdict::kWorse);
  }
}

TEST(CpuTimeTest, AThirdMoreTimeUnderLoadIsFound) {
  Random random(3, "test");
  const uint64_t comparisons = SoakSeeds(1000);
  uint64_t found = 0;
  for (uint64_t c = 0; c < comparisons; ++c) {
    if (JudgeCpuTime(Blocks(1.3, kBlocks, &random)).verdict == CellVerdict::kWorse) ++found;
  }
  EXPECT_GE(found * 100, comparisons * 99);
}

TEST(CostVerdictsTest, MemoryMayGrowByATenth) {
  EXPECT_EQ(JudgePeakMemory({1000, 1200}, {1100, 5000}), CellVerdict::kSame);
  EXPECT_EQ(JudgePeakMemory({1000, 1200}, {1101, 5000}), CellVerdict::kWorse);
  EXPECT_EQ(JudgePeakMemory({1101}, {1000}), CellVerdict::kBetter);
  EXPECT_EQ(JudgePeakMemory({}, {1000}), CellVerdict::kUnclear);
  EXPECT_EQ(JudgePeakMemory({0}, {1000}), CellVerdict::kUnclear);
}

TEST(CostVerdictsTest, WorseTimesMarkTheirCell) {
  Random random(4, "test");
  BenchComparison comparison;
  comparison.cells.resize(2);
  comparison.cells[0].id = {"a", "", "fgd", 1};
  comparison.cells[1].id = {"b", "", "fgd", 1};
  CellTimes slow = {comparison.cells[0].id, Blocks(2, kBlocks, &random), {1000}, {1000}, 1, 2};
  CellTimes big = {comparison.cells[1].id, Blocks(1, kBlocks, &random), {1000}, {1200}, 1, 1};
  ApplyTimes({slow, big}, &comparison);
  EXPECT_EQ(comparison.cells[0].verdict, CellVerdict::kWorse);
  EXPECT_EQ(comparison.cells[0].why.substr(0, 10), "CPU time +");
  EXPECT_EQ(comparison.cells[1].verdict, CellVerdict::kWorse);
  EXPECT_EQ(comparison.cells[1].why, "peak memory beyond +10 %");
}

}  // namespace cost_verdicts_test
}  // namespace drasim::bench
