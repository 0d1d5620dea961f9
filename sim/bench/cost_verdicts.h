// Verdicts on what the same results cost: instructions, CPU time, memory. docs/benchmarks.md has
// the rules for users.
#ifndef DRASIM_SIM_BENCH_COST_VERDICTS_H_
#define DRASIM_SIM_BENCH_COST_VERDICTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "sim/bench/bench_compare.h"
#include "sim/bench/bench_run.h"
#include "sim/compare/verdict.h"

namespace drasim::bench {

// "+0.62 %"
std::string RatioText(double ratio);

// --- Instructions ---

// An entry may take 0.5 % more, and all entries 0.2 % more in the geometric mean: equal runs differ
// by less than 0.01 %.
inline constexpr double kMostEntryRatio = 1.005;
inline constexpr double kMostMeanRatio = 1.002;

// The cells of an entry that both sides have counted, added up.
struct EntryInstructions {
  std::string entry;
  uint64_t base = 0;
  uint64_t head = 0;
  CellVerdict verdict =
      CellVerdict::kSame;  // kWorse; kBetter below 1 / kMostEntryRatio; else kSame

  double ratio() const { return static_cast<double>(head) / static_cast<double>(base); }
};

struct InstructionVerdicts {
  std::string not_compared;  // why; empty: they were
  std::vector<EntryInstructions> entries;
  double mean_ratio = 1;  // geometric, over the entries
  // Cells that both sides ran, and that one of them was to count and could not.
  std::vector<CellProblem> uncounted;
};
// Nothing if neither side has counted. Cells in neither side's counts are left out, as are those
// that ran other inputs. If the mean is too high, every entry with a higher ratio than
// kMostMeanRatio is worse.
std::optional<InstructionVerdicts> JudgeInstructions(const BenchResults& base,
                                                     const BenchResults& head, const Scope& scope);

// The cells of entries that are worse are worse, and say so; others that were not counted are
// missing.
void ApplyInstructions(const InstructionVerdicts& verdicts, BenchComparison* comparison);

// --- CPU time of two binaries side by side ---

inline constexpr size_t kBlockRuns = 3;  // of each binary
inline constexpr size_t kBlocks = 15;
// The order of a block's runs, ABBAAB or BAABBA in turn: a drift of the machine's speed within a
// block falls on both. True: the head.
inline constexpr std::array<std::array<bool, 2 * kBlockRuns>, 2> kBlockOrders = {{
    {false, true, true, false, false, true},
    {true, false, false, true, true, false},
}};
inline constexpr double kMostTimeRatio = 1.05;
inline constexpr double kMostMemoryRatio = 1.10;

struct TimeBlock {
  std::array<double, kBlockRuns> base_seconds = {};
  std::array<double, kBlockRuns> head_seconds = {};
};

struct TimeVerdict {
  // By block, ascending: the head's least time by the base's.
  std::vector<double> ratios;
  double median_ratio = 1;
  CellVerdict verdict = CellVerdict::kSame;
};
// Load only ever adds time, so the least of three runs is the cleanest. kWorse if the second
// smallest ratio exceeds kMostTimeRatio, kBetter if the second largest is below 1 / kMostTimeRatio.
// kUnclear for fewer than kBlocks blocks and for times of 0.
TimeVerdict JudgeCpuTime(absl::Span<const TimeBlock> blocks);

// A cell's runs side by side.
struct CellTimes {
  CellId id;
  std::vector<TimeBlock> blocks;
  std::vector<int64_t> base_kib;  // of the first block's runs
  std::vector<int64_t> head_kib;
  double base_wall_seconds = 0;  // the least; for information
  double head_wall_seconds = 0;
};
// Cells whose time or memory is worse are worse, and say so.
void ApplyTimes(absl::Span<const CellTimes> times, BenchComparison* comparison);

// Peak memory, the least of a few runs each: kWorse beyond kMostMemoryRatio, kBetter below its
// inverse, kUnclear without figures.
CellVerdict JudgePeakMemory(absl::Span<const int64_t> base_kib, absl::Span<const int64_t> head_kib);

}  // namespace drasim::bench

#endif  // DRASIM_SIM_BENCH_COST_VERDICTS_H_
