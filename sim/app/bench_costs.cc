#include "sim/app/bench_costs.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "model/number_text.h"
#include "model/status_macros.h"
#include "model/text/text_table.h"
#include "sim/app/bench_flags.h"
#include "sim/app/commands.h"
#include "sim/app/exit_codes.h"
#include "sim/app/format_flag.h"
#include "sim/bench/instructions.h"
#include "sim/bench/suite.h"
#include "sim/compare/cell.h"
#include "sim/compare/parallel.h"
#include "sim/record/folder_lock.h"
#include "sim/run/input_files.h"
#include "sim/run/run_outputs.h"

namespace drasim {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kMaxBlocks = 10'000;

absl::StatusOr<size_t> BlocksOf(const ParsedFlags& flags) {
  const std::optional<std::string> text = flags.Get("blocks");
  if (!text.has_value()) return bench::kBlocks;
  uint32_t blocks = 0;
  if (!absl::SimpleAtoi(*text, &blocks) || blocks > kMaxBlocks ||
      (blocks > 0 && blocks < bench::kBlocks)) {
    return absl::InvalidArgumentError(absl::StrCat("--blocks: found '", *text,
                                                   "', expected 0 or a number from ",
                                                   bench::kBlocks, " to ", kMaxBlocks));
  }
  return blocks;
}

absl::StatusOr<std::string> BinaryOf(const std::string& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error);
  if (!fs::is_regular_file(whole, error) || access(whole.c_str(), X_OK) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": found no program, expected one, because of --suite"));
  }
  return whole.string();
}

std::string InstructionText(const bench::InstructionVerdicts& verdicts) {
  if (!verdicts.not_compared.empty())
    return absl::StrCat("instructions are not compared: ", verdicts.not_compared, "\n");
  TextTable table({"instructions", "base", "head", "change", "verdict"});
  for (const bench::EntryInstructions& entry : verdicts.entries) {
    table.AddRow({entry.entry, absl::StrCat(entry.base), absl::StrCat(entry.head),
                  bench::RatioText(entry.ratio()), std::string(CellVerdictName(entry.verdict))});
  }
  return absl::StrCat(table.Render(false),
                      "geometric mean: ", bench::RatioText(verdicts.mean_ratio), "\n\n");
}

double LeastSeconds(const std::vector<bench::TimeBlock>& blocks, bool head) {
  double least = -1;
  for (const bench::TimeBlock& block : blocks) {
    for (const double s : head ? block.head_seconds : block.base_seconds)
      least = least < 0 ? s : std::min(least, s);
  }
  return least;
}

std::string TimesText(absl::Span<const bench::CellTimes> times) {
  if (times.empty()) return "";
  TextTable table({"CPU seconds", "base", "head", "median", "2nd least", "2nd most", "verdict",
                   "peak KiB base", "head", "verdict", "wall s base", "head"});
  for (const bench::CellTimes& cell : times) {
    const bench::TimeVerdict cpu = bench::JudgeCpuTime(cell.blocks);
    const size_t n = cpu.ratios.size();
    const auto least = [](const std::vector<int64_t>& kib) {
      return absl::StrCat(*std::min_element(kib.begin(), kib.end()));
    };
    table.AddRow(
        {cell.id.Name(), FixedText(LeastSeconds(cell.blocks, false), 3),
         FixedText(LeastSeconds(cell.blocks, true), 3), bench::RatioText(cpu.median_ratio),
         n < 2 ? std::string("-") : bench::RatioText(cpu.ratios[1]),
         n < 2 ? std::string("-") : bench::RatioText(cpu.ratios[n - 2]),
         std::string(CellVerdictName(cpu.verdict)), least(cell.base_kib), least(cell.head_kib),
         std::string(CellVerdictName(bench::JudgePeakMemory(cell.base_kib, cell.head_kib))),
         FixedText(cell.base_wall_seconds, 3), FixedText(cell.head_wall_seconds, 3)});
  }
  return absl::StrCat(table.Render(false), "\n");
}

}  // namespace

absl::StatusOr<bench::BenchRunOptions> RunOptionsOf(const ParsedFlags& flags,
                                                    const bench::Scope& scope) {
  bench::BenchRunOptions options;
  options.last = scope.last;
  options.filter = scope.filter;
  options.quiet = flags.Has("quiet");
  ASSIGN_OR_RETURN(options.jobs, ParseJobs(flags.GetOr("jobs", "")));
  ASSIGN_OR_RETURN(options.timeout_seconds, BenchTimeoutOf(flags, options.timeout_seconds));
  ASSIGN_OR_RETURN(options.program, FileSha256("/proc/self/exe"));
  std::error_code error;
  options.program_file = fs::read_symlink("/proc/self/exe", error).string();
  if (!flags.Has("instructions")) return options;
  absl::StatusOr<bench::CostSetup> setup = bench::FindCostSetup();
  if (absl::IsNotFound(setup.status())) {
    PrintProblem("--instructions", setup.status().message(), FormatOf(flags));
    return QuietFailure(kExitMissing);
  }
  RETURN_IF_ERROR(setup.status());
  options.count_instructions = *std::move(setup);
  return options;
}

absl::StatusOr<bench::SideBySide> RunBinaries(const ParsedFlags& flags, const bench::Scope& scope) {
  const std::string dir = flags.GetOr("out", "");
  if (dir.empty()) return absl::InvalidArgumentError("bench compare with --suite needs --out DIR");
  ASSIGN_OR_RETURN(const bench::Suite suite, bench::ReadSuite(flags.GetOr("suite", "")));
  bench::SideBySideOptions options;
  ASSIGN_OR_RETURN(options.base_binary, BinaryOf(flags.positional()[0]));
  ASSIGN_OR_RETURN(options.head_binary, BinaryOf(flags.positional()[1]));
  ASSIGN_OR_RETURN(options.run, RunOptionsOf(flags, scope));
  ASSIGN_OR_RETURN(options.blocks, BlocksOf(flags));
  ASSIGN_OR_RETURN(const std::unique_ptr<FolderLock> lock,
                   PrepareOutputDir(dir, flags.Has("force")));
  return bench::RunSideBySide(suite, options, dir);
}

std::string JudgeCosts(const bench::BenchResults& base, const bench::BenchResults& head,
                       absl::Span<const bench::CellTimes> times, const bench::Scope& scope,
                       bench::BenchComparison* comparison, bool* not_compared) {
  std::string text;
  const std::optional<bench::InstructionVerdicts> verdicts =
      bench::JudgeInstructions(base, head, scope);
  *not_compared = !verdicts.has_value() || !verdicts->not_compared.empty();
  if (verdicts.has_value()) {
    bench::ApplyInstructions(*verdicts, comparison);
    text = InstructionText(*verdicts);
  }
  bench::ApplyTimes(times, comparison);
  return absl::StrCat(text, TimesText(times));
}

}  // namespace drasim
