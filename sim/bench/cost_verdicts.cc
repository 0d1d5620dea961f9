#include "sim/bench/cost_verdicts.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "absl/strings/str_cat.h"
#include "model/number_text.h"

namespace drasim::bench {
namespace {

const BenchCosts* FindCosts(const std::vector<BenchCosts>& costs, const CellId& id) {
  const auto it =
      std::lower_bound(costs.begin(), costs.end(), id,
                       [](const BenchCosts& cost, const CellId& c) { return cost.id < c; });
  return it != costs.end() && it->id == id ? &*it : nullptr;
}

// Whether both sides ran the cell on the same inputs, within the scope.
bool ComparesCosts(const BenchResults& base, const BenchResults& head, const CellId& id,
                   const Scope& scope) {
  const BenchRow* const before = base.table.Find(id);
  const BenchRow* const after = head.table.Find(id);
  return before != nullptr && after != nullptr && before->inputs == after->inputs &&
         (!scope.last.has_value() || after->tier <= *scope.last) && scope.filter.Matches(id);
}

// A missing cell stays missing: it was not compared.
void MarkWorse(const std::string& why, CellComparison* cell) {
  if (cell->verdict == CellVerdict::kMissing) return;
  cell->verdict = CellVerdict::kWorse;
  absl::StrAppend(&cell->why, cell->why.empty() ? "" : "; ", why);
}

// A folder's problem with a cell that has a row is that of its count.
std::vector<CellProblem> UncountedCells(const BenchResults& base, const BenchResults& head,
                                        const Scope& scope) {
  std::vector<CellProblem> uncounted;
  for (const BenchResults* const side : {&base, &head}) {
    for (const CellProblem& problem : side->missing) {
      if (!ComparesCosts(base, head, problem.id, scope)) continue;
      uncounted.push_back(
          {problem.id, absl::StrCat(side == &base ? "BASE: " : "HEAD: ", problem.what)});
    }
  }
  return uncounted;
}

void JudgeEntries(InstructionVerdicts* verdicts) {
  double logs = 0;
  for (const EntryInstructions& entry : verdicts->entries) logs += std::log(entry.ratio());
  verdicts->mean_ratio = std::exp(logs / static_cast<double>(verdicts->entries.size()));
  const bool mean_is_worse = verdicts->mean_ratio > kMostMeanRatio;
  for (EntryInstructions& entry : verdicts->entries) {
    const double most = mean_is_worse ? kMostMeanRatio : kMostEntryRatio;
    if (entry.ratio() > most) entry.verdict = CellVerdict::kWorse;
    if (entry.ratio() * kMostEntryRatio < 1) entry.verdict = CellVerdict::kBetter;
  }
}

}  // namespace

std::string RatioText(double ratio) {
  const double percent = 100 * (ratio - 1);
  return absl::StrCat(percent < 0 ? "" : "+", FixedText(percent, 2), " %");
}

std::optional<InstructionVerdicts> JudgeInstructions(const BenchResults& base,
                                                     const BenchResults& head, const Scope& scope) {
  if (!base.count_setup.has_value() && !head.count_setup.has_value()) return std::nullopt;
  InstructionVerdicts verdicts;
  if (!base.count_setup.has_value() || !head.count_setup.has_value()) {
    verdicts.not_compared =
        absl::StrCat("only ", base.count_setup.has_value() ? "BASE" : "HEAD", " has counted them");
    return verdicts;
  }
  if (*base.count_setup != *head.count_setup) {
    verdicts.not_compared = absl::StrCat("BASE and HEAD counted in different ways: ",
                                         base.count_setup->DifferenceTo(*head.count_setup));
    return verdicts;
  }
  verdicts.uncounted = UncountedCells(base, head, scope);
  std::map<std::string, EntryInstructions> entries;
  for (const BenchCosts& cost : head.costs) {
    const BenchCosts* const before = FindCosts(base.costs, cost.id);
    if (!cost.instructions.has_value() || before == nullptr || !before->instructions.has_value() ||
        *before->instructions == 0 || !ComparesCosts(base, head, cost.id, scope)) {
      continue;
    }
    EntryInstructions& entry = entries[cost.id.entry];
    entry.entry = cost.id.entry;
    entry.base += *before->instructions;
    entry.head += *cost.instructions;
  }
  for (auto& [name, entry] : entries) verdicts.entries.push_back(std::move(entry));
  if (verdicts.entries.empty()) {
    verdicts.not_compared = "no cell was counted on both sides";
  } else {
    JudgeEntries(&verdicts);
  }
  return verdicts;
}

void ApplyInstructions(const InstructionVerdicts& verdicts, BenchComparison* comparison) {
  for (const EntryInstructions& entry : verdicts.entries) {
    if (entry.verdict != CellVerdict::kWorse) continue;
    const std::string why = absl::StrCat("instructions ", entry.base, " -> ", entry.head, " (",
                                         RatioText(entry.ratio()), ")");
    for (CellComparison& cell : comparison->cells) {
      if (cell.id.entry == entry.entry) MarkWorse(why, &cell);
    }
  }
  for (const CellProblem& problem : verdicts.uncounted) {
    for (CellComparison& cell : comparison->cells) {
      if (cell.id != problem.id || cell.verdict == CellVerdict::kWorse) continue;
      cell.verdict = CellVerdict::kMissing;
      absl::StrAppend(&cell.why, cell.why.empty() ? "" : "; ", problem.what);
    }
  }
}

void ApplyTimes(absl::Span<const CellTimes> times, BenchComparison* comparison) {
  for (const CellTimes& time : times) {
    const auto cell = std::find_if(comparison->cells.begin(), comparison->cells.end(),
                                   [&](const CellComparison& c) { return c.id == time.id; });
    if (cell == comparison->cells.end()) continue;
    const TimeVerdict cpu = JudgeCpuTime(time.blocks);
    if (cpu.verdict == CellVerdict::kWorse)
      MarkWorse(absl::StrCat("CPU time ", RatioText(cpu.median_ratio)), &*cell);
    if (JudgePeakMemory(time.base_kib, time.head_kib) == CellVerdict::kWorse)
      MarkWorse("peak memory beyond +10 %", &*cell);
  }
}

TimeVerdict JudgeCpuTime(absl::Span<const TimeBlock> blocks) {
  TimeVerdict verdict;
  verdict.verdict = CellVerdict::kUnclear;
  for (const TimeBlock& block : blocks) {
    const double base = *std::min_element(block.base_seconds.begin(), block.base_seconds.end());
    const double head = *std::min_element(block.head_seconds.begin(), block.head_seconds.end());
    if (!(base > 0 && head > 0)) return TimeVerdict{{}, 1, CellVerdict::kUnclear};
    verdict.ratios.push_back(head / base);
  }
  if (verdict.ratios.empty()) return verdict;
  std::sort(verdict.ratios.begin(), verdict.ratios.end());
  const size_t n = verdict.ratios.size();
  verdict.median_ratio = std::sqrt(verdict.ratios[(n - 1) / 2] * verdict.ratios[n / 2]);
  if (n < kBlocks) return verdict;
  if (verdict.ratios[1] > kMostTimeRatio) {
    verdict.verdict = CellVerdict::kWorse;
  } else if (verdict.ratios[n - 2] * kMostTimeRatio < 1) {
    verdict.verdict = CellVerdict::kBetter;
  } else {
    verdict.verdict = CellVerdict::kSame;
  }
  return verdict;
}

CellVerdict JudgePeakMemory(absl::Span<const int64_t> base_kib,
                            absl::Span<const int64_t> head_kib) {
  if (base_kib.empty() || head_kib.empty()) return CellVerdict::kUnclear;
  const auto base = static_cast<double>(*std::min_element(base_kib.begin(), base_kib.end()));
  const auto head = static_cast<double>(*std::min_element(head_kib.begin(), head_kib.end()));
  if (!(base > 0 && head > 0)) return CellVerdict::kUnclear;
  if (head > base * kMostMemoryRatio) return CellVerdict::kWorse;
  return head * kMostMemoryRatio < base ? CellVerdict::kBetter : CellVerdict::kSame;
}

}  // namespace drasim::bench
