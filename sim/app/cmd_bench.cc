// drasim bench run SUITE, bench compare and bench accept.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/number_text.h"
#include "model/status_macros.h"
#include "model/text/text_table.h"
#include "sim/app/bench_flags.h"
#include "sim/app/commands.h"
#include "sim/app/exit_codes.h"
#include "sim/app/format_flag.h"
#include "sim/bench/bench_compare.h"
#include "sim/bench/bench_run.h"
#include "sim/bench/suite.h"
#include "sim/compare/cell.h"
#include "sim/record/atomic_file.h"
#include "sim/record/data_table.h"
#include "sim/record/folder_lock.h"
#include "sim/run/input_files.h"
#include "sim/run/run_outputs.h"

namespace drasim {
namespace {

// The positional arguments; InvalidArgument unless there are `names.size()` of them.
absl::Status CheckArguments(const ParsedFlags& flags, const std::vector<std::string>& names) {
  if (flags.positional().size() == names.size()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("expected ", absl::StrJoin(names, " and "),
                                                 ", found ", flags.positional().size(),
                                                 " arguments"));
}

void PrintProblems(const char* what, const std::vector<bench::CellProblem>& problems) {
  for (const bench::CellProblem& problem : problems) {
    std::fprintf(stderr, "drasim: %s: %s: %s\n", what, problem.id.Name().c_str(),
                 problem.what.c_str());
  }
}

// --- compare ---

std::string MeanText(double mean) {
  return std::isfinite(mean) ? DoubleText(RoundSignificant(mean, 6)) : "-";
}

// "-0.42" or, with an interval, "-0.42 [-0.61, -0.23]".
std::string ChangeText(const bench::FigureChange& change, bool random) {
  const double mean = random ? change.difference.mean : change.head_mean - change.base_mean;
  if (!std::isfinite(mean) || (random && change.difference.n == 0)) return "-";
  std::string text = absl::StrCat(mean > 0 ? "+" : "", MeanText(mean));
  if (random && change.difference.has_interval()) {
    absl::StrAppend(&text, " [", MeanText(change.difference.interval_95.low), ", ",
                    MeanText(change.difference.interval_95.high), "]");
  }
  return text;
}

std::vector<std::string> GroupLine(absl::string_view name, absl::string_view cells,
                                   absl::string_view verdict, const bench::FigureChange& change,
                                   bool random) {
  return {std::string(name),          std::string(cells),
          std::string(verdict),       std::string(change.metric),
          MeanText(change.base_mean), MeanText(change.head_mean),
          ChangeText(change, random), random ? FixedText(change.adjusted_p, 4) : "exact"};
}

// Cells with something to say; of those of a group with equal verdicts only the first.
void AppendCells(const bench::BenchComparison& comparison, std::string* text) {
  for (size_t i = 0; i < comparison.cells.size();) {
    const bench::CellComparison& first = comparison.cells[i];
    size_t alike = 0;
    for (; i < comparison.cells.size(); ++i, ++alike) {
      const bench::CellComparison& cell = comparison.cells[i];
      if (cell.id.GroupName() != first.id.GroupName() || cell.verdict != first.verdict ||
          cell.why.empty() != first.why.empty()) {
        break;
      }
    }
    if (first.why.empty()) continue;
    absl::StrAppend(text, CellVerdictName(first.verdict), " ", first.id.Name(), ": ", first.why,
                    alike > 1 ? absl::StrCat(" (and ", alike - 1, " like it)") : "", "\n");
  }
}

// Groups that differ, each with its primary metric and the others that differ, then single cells
// with something to say, then the counts.
std::string ComparisonText(const bench::BenchComparison& comparison) {
  std::string text;
  TextTable table({"changed", "cells", "verdict", "metric", "base", "head", "change", "p"});
  bool any = false;
  for (const bench::BenchGroup& group : comparison.groups) {
    if (group.changed == 0) continue;
    any = true;
    table.AddRow(GroupLine(group.id.GroupName(), absl::StrCat(group.changed, "/", group.cells),
                           CellVerdictName(group.verdict), group.primary_change, group.random));
    for (const bench::FigureChange& change : group.secondary)
      table.AddRow(GroupLine("", "", "", change, group.random));
  }
  if (any) absl::StrAppend(&text, table.Render(false), "\n");
  AppendCells(comparison, &text);
  const size_t seeds = SeedsToGate(std::max<size_t>(1, comparison.tests));
  for (const bench::BenchGroup& group : comparison.groups) {
    if (group.verdict != CellVerdict::kUnclear || !group.random || group.cells >= seeds) continue;
    absl::StrAppend(&text, "note: ", group.id.GroupName(),
                    " has too few seeds for a verdict: ", group.cells, "; ", seeds,
                    " can show a change here\n");
  }
  std::vector<std::string> counts;
  for (const CellVerdict verdict :
       {CellVerdict::kSame, CellVerdict::kBetter, CellVerdict::kOther, CellVerdict::kUnclear,
        CellVerdict::kWorse, CellVerdict::kMissing}) {
    const size_t count = comparison.Count(verdict);
    if (count > 0) counts.push_back(absl::StrCat(count, " ", CellVerdictName(verdict)));
  }
  absl::StrAppend(&text, comparison.cells.size(), " cells", counts.empty() ? "" : ": ",
                  absl::StrJoin(counts, ", "), "\n");
  return text;
}

DataTable ComparisonTable(const bench::BenchComparison& comparison) {
  DataTable table(
      {"entry", "queue", "policy", "seed", "verdict", "base_figure", "head_figure", "why"});
  const auto number = [&table](const std::string& figure) {
    if (figure.empty()) {
      table.Empty();
    } else {
      table.Number(figure);
    }
  };
  for (const bench::CellComparison& cell : comparison.cells) {
    table.AddRow().Text(cell.id.entry).Text(cell.id.queue).Text(cell.id.policy);
    table.Number(absl::StrCat(cell.id.seed)).Text(CellVerdictName(cell.verdict));
    number(cell.base_figure);
    number(cell.head_figure);
    table.Text(cell.why);
  }
  return table;
}

absl::Status ResultOf(const bench::BenchComparison& comparison) {
  if (comparison.Count(CellVerdict::kWorse) > 0) return QuietFailure();
  if (comparison.Compared() == 0 || comparison.Count(CellVerdict::kMissing) > 0)
    return QuietFailure(kExitMissing);
  if (comparison.Count(CellVerdict::kSame) < comparison.cells.size())
    return QuietFailure(kExitChanged);
  return absl::OkStatus();
}

}  // namespace

absl::Status BenchRunCommand(const ParsedFlags& flags) {
  if (flags.Has("scheduler-perf")) return BenchPerfCommand(flags);
  RETURN_IF_ERROR(CheckArguments(flags, {"a suite's file"}));
  const std::string dir = flags.GetOr("out", "");
  if (dir.empty()) return absl::InvalidArgumentError("bench run needs --out DIR");
  ASSIGN_OR_RETURN(const bench::Suite suite, bench::ReadSuite(flags.positional()[0]));
  ASSIGN_OR_RETURN(const bench::Scope scope, BenchScopeOf(flags));
  bench::BenchRunOptions options;
  options.last = scope.last;
  options.filter = scope.filter;
  options.quiet = flags.Has("quiet");
  ASSIGN_OR_RETURN(options.jobs, ParseJobs(flags.GetOr("jobs", "")));
  ASSIGN_OR_RETURN(options.timeout_seconds, BenchTimeoutOf(flags, options.timeout_seconds));
  ASSIGN_OR_RETURN(options.program, FileSha256("/proc/self/exe"));
  ASSIGN_OR_RETURN(const std::unique_ptr<FolderLock> lock,
                   PrepareOutputDir(dir, flags.Has("force")));
  ASSIGN_OR_RETURN(const bench::BenchRunSummary summary, bench::RunBench(suite, options, dir));
  PrintProblems("failed", summary.failed);
  PrintProblems("missing", summary.missing);
  const OutputFormat format = FormatOf(flags);
  if (format == OutputFormat::kText) {
    std::printf("%zu cells of %s (%zu run now, %zu from before, %zu failed, %zu missing) in %s\n",
                summary.cells, suite.name.c_str(), summary.run_now, summary.from_before,
                summary.failed.size(), summary.missing.size(), dir.c_str());
  } else {
    DataTable done({"suite", "version", "cells", "run_now", "from_before", "failed", "missing"});
    done.AddRow().Text(suite.name).Int(suite.version).Int(static_cast<int64_t>(summary.cells));
    done.Int(static_cast<int64_t>(summary.run_now)).Int(static_cast<int64_t>(summary.from_before));
    done.Int(static_cast<int64_t>(summary.failed.size()));
    done.Int(static_cast<int64_t>(summary.missing.size()));
    std::fputs(DocumentOf("bench-run", done, format).c_str(), stdout);
  }
  if (!summary.failed.empty()) return QuietFailure();
  const bool nothing = summary.cells == 0;
  return nothing || !summary.missing.empty() ? QuietFailure(kExitMissing) : absl::OkStatus();
}

absl::Status BenchCompareCommand(const ParsedFlags& flags) {
  RETURN_IF_ERROR(CheckArguments(flags, {"BASE", "HEAD"}));
  ASSIGN_OR_RETURN(const bench::Scope scope, BenchScopeOf(flags));
  ASSIGN_OR_RETURN(const bench::BenchResults base, bench::ReadBenchResults(flags.positional()[0]));
  ASSIGN_OR_RETURN(const bench::BenchResults head, bench::ReadBenchResults(flags.positional()[1]));
  ASSIGN_OR_RETURN(const bench::BenchComparison comparison, bench::CompareBench(base, head, scope));
  const OutputFormat format = FormatOf(flags);
  const std::string text =
      format == OutputFormat::kText
          ? ComparisonText(comparison)
          : RowsIn("bench-compare", "cells", ComparisonTable(comparison), format);
  std::fputs(text.c_str(), stdout);
  return ResultOf(comparison);
}

absl::Status BenchAcceptCommand(const ParsedFlags& flags) {
  RETURN_IF_ERROR(CheckArguments(flags, {"BASELINE.csv", "a folder of results"}));
  const std::string reason = flags.GetOr("reason", "");
  if (reason.empty() || reason.find_first_of("\r\n") != std::string::npos)
    return absl::InvalidArgumentError("bench accept needs --reason TEXT, one line");
  const std::string& path = flags.positional()[0];
  ASSIGN_OR_RETURN(const bench::BenchResults head, bench::ReadBenchResults(flags.positional()[1]));
  bench::BenchTable base;
  std::error_code error;
  if (std::filesystem::exists(path, error)) {
    ASSIGN_OR_RETURN(base, bench::ReadBenchTable(path));
  }
  ASSIGN_OR_RETURN(const bench::Acceptance accepted, bench::AcceptResults(base, head, reason));
  const size_t changes = accepted.rewritten + accepted.added + accepted.removed;
  if (changes > 0) {
    RETURN_IF_ERROR(WriteFileAtomically(path, bench::BenchCsv(accepted.table)));
  }
  PrintProblems("not accepted", accepted.missing);
  const OutputFormat format = FormatOf(flags);
  if (format == OutputFormat::kText) {
    std::printf("%s: %zu cells rewritten, %zu added, %zu removed; %zu did not run\n", path.c_str(),
                accepted.rewritten, accepted.added, accepted.removed, accepted.missing.size());
  } else {
    DataTable done({"baseline", "rewritten", "added", "removed", "missing"});
    done.AddRow().Text(path).Int(static_cast<int64_t>(accepted.rewritten));
    done.Int(static_cast<int64_t>(accepted.added)).Int(static_cast<int64_t>(accepted.removed));
    done.Int(static_cast<int64_t>(accepted.missing.size()));
    std::fputs(DocumentOf("bench-accept", done, format).c_str(), stdout);
  }
  return accepted.missing.empty() ? absl::OkStatus() : QuietFailure(kExitMissing);
}

}  // namespace drasim
