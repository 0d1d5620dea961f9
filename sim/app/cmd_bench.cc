// drasim bench run SUITE, bench compare and bench accept.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
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
#include "sim/app/bench_costs.h"
#include "sim/app/bench_flags.h"
#include "sim/app/commands.h"
#include "sim/app/exit_codes.h"
#include "sim/app/format_flag.h"
#include "sim/app/report_flag.h"
#include "sim/app/shard_flags.h"
#include "sim/bench/bench_compare.h"
#include "sim/bench/bench_history.h"
#include "sim/bench/bench_outputs.h"
#include "sim/bench/bench_run.h"
#include "sim/bench/side_by_side.h"
#include "sim/bench/suite.h"
#include "sim/compare/cell.h"
#include "sim/outputs/result_formats.h"
#include "sim/record/atomic_file.h"
#include "sim/record/data_table.h"
#include "sim/record/folder_lock.h"
#include "sim/run/run_outputs.h"
#include "traces/byte_source.h"

namespace drasim {
namespace {

// The positional arguments; InvalidArgument unless there are `names.size()` of them.
absl::Status CheckArguments(const ParsedFlags& flags, const std::vector<std::string>& names) {
  if (flags.positional().size() == names.size()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("expected ", absl::StrJoin(names, " and "),
                                                 ", found ", flags.positional().size(),
                                                 " arguments"));
}

constexpr ResultPart kRunParts[] = {ResultPart::kText, ResultPart::kChecks, ResultPart::kFigures,
                                    ResultPart::kTimes};
constexpr ResultPart kCompareParts[] = {ResultPart::kText, ResultPart::kChecks,
                                        ResultPart::kFigures};

// Where --history adds a line, and for which commit; an empty path: nowhere.
struct HistoryFlags {
  std::string path;
  std::string commit;
};

absl::StatusOr<HistoryFlags> HistoryOf(const ParsedFlags& flags) {
  HistoryFlags history{flags.GetOr("history", ""), flags.GetOr("commit", "")};
  for (const char* variable : {"GITHUB_SHA", "CI_COMMIT_SHA"}) {
    const char* value = std::getenv(variable);
    if (history.commit.empty() && value != nullptr) history.commit = value;
  }
  if (history.path.empty() || !history.commit.empty()) return history;
  return absl::InvalidArgumentError(
      "--history needs --commit REV where neither GITHUB_SHA nor CI_COMMIT_SHA is set");
}

absl::Status AddToHistory(const HistoryFlags& history, const bench::BenchResults& results) {
  if (history.path.empty()) return absl::OkStatus();
  return bench::AppendHistory(history.path, bench::HistoryRunOf(results, history.commit));
}

// The results in `dir` for other tools.
absl::Status ReportRun(const std::vector<ReportRequest>& reports, const std::string& suite_path,
                       const std::string& dir, const bench::BenchRunSummary& summary) {
  if (reports.empty()) return absl::OkStatus();
  constexpr size_t kMaxCostsBytes = 64u << 20;
  ASSIGN_OR_RETURN(const bench::BenchResults results, bench::ReadBenchResults(dir));
  ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenByteSource(dir + "/costs.csv"));
  ASSIGN_OR_RETURN(const std::string costs, ReadAll(*source, kMaxCostsBytes));
  return WriteReports(reports, bench::BenchRunResults(results, summary, costs, suite_path));
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
  const bool of_perf = flags.Has("scheduler-perf");
  for (const char* const name : {"overlay", "label-filter", "set", "page"}) {
    if (!of_perf && flags.Has(name))
      return absl::InvalidArgumentError(absl::StrCat("--", name, " needs --scheduler-perf DIR"));
  }
  for (const char* const name :
       {"shard", "shards", "emit", "instructions", "report", "history", "commit"}) {
    if (of_perf && flags.Has(name))
      return absl::InvalidArgumentError(
          absl::StrCat("--", name, " needs a suite's file, found --scheduler-perf"));
  }
  if (of_perf) return BenchPerfCommand(flags);
  RETURN_IF_ERROR(CheckArguments(flags, {"a suite's file"}));
  const std::string dir = flags.GetOr("out", "");
  if (dir.empty()) return absl::InvalidArgumentError("bench run needs --out DIR");
  if (flags.Has("emit")) {
    const std::string name = std::filesystem::path(flags.positional()[0]).stem().string();
    return EmitJobs("bench run", name, "cells.csv", flags);
  }
  ASSIGN_OR_RETURN(const std::vector<ReportRequest> reports,
                   ReportsOf(flags, "bench run", kRunParts));
  ASSIGN_OR_RETURN(const HistoryFlags history, HistoryOf(flags));
  ASSIGN_OR_RETURN(const bench::Suite suite, bench::ReadSuite(flags.positional()[0]));
  ASSIGN_OR_RETURN(const bench::Scope scope, BenchScopeOf(flags));
  ASSIGN_OR_RETURN(bench::BenchRunOptions options, RunOptionsOf(flags, scope));
  ASSIGN_OR_RETURN(options.shard, ShardFrom(flags));
  ASSIGN_OR_RETURN(const std::unique_ptr<FolderLock> lock,
                   PrepareOutputDir(dir, flags.Has("force")));
  ASSIGN_OR_RETURN(const bench::BenchRunSummary summary, bench::RunBench(suite, options, dir));
  PrintCellProblems("failed", summary.failed, flags);
  PrintCellProblems("missing", summary.missing, flags);
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
  RETURN_IF_ERROR(ReportRun(reports, flags.positional()[0], dir, summary));
  if (!history.path.empty()) {
    ASSIGN_OR_RETURN(const bench::BenchResults results, bench::ReadBenchResults(dir));
    RETURN_IF_ERROR(AddToHistory(history, results));
  }
  if (!summary.failed.empty()) return QuietFailure();
  // With more shards than cells, some shards have none.
  const bool nothing = summary.cells == 0 && !options.shard.has_value();
  return nothing || !summary.missing.empty() ? QuietFailure(kExitMissing) : absl::OkStatus();
}

absl::Status BenchCompareCommand(const ParsedFlags& flags) {
  RETURN_IF_ERROR(CheckArguments(flags, {"BASE", "HEAD"}));
  ASSIGN_OR_RETURN(const std::vector<ReportRequest> reports,
                   ReportsOf(flags, "bench compare", kCompareParts));
  ASSIGN_OR_RETURN(const HistoryFlags history, HistoryOf(flags));
  ASSIGN_OR_RETURN(const bench::Scope scope, BenchScopeOf(flags));
  bench::SideBySide both;
  for (const char* const name : {"out", "blocks", "jobs", "timeout"}) {
    if (flags.Has(name) && !flags.Has("suite"))
      return absl::InvalidArgumentError(absl::StrCat("--", name, " needs --suite"));
  }
  if (flags.Has("suite")) {
    ASSIGN_OR_RETURN(both, RunBinaries(flags, scope));
  } else {
    ASSIGN_OR_RETURN(both.base, bench::ReadBenchResults(flags.positional()[0]));
    ASSIGN_OR_RETURN(both.head, bench::ReadBenchResults(flags.positional()[1]));
  }
  PrintCellProblems("not measured", both.problems, flags);
  ASSIGN_OR_RETURN(bench::BenchComparison comparison,
                   bench::CompareBench(both.base, both.head, scope));
  bool not_counted = false;
  const std::string costs =
      JudgeCosts(both.base, both.head, both.times, scope, &comparison, &not_counted);
  const OutputFormat format = FormatOf(flags);
  const std::string text =
      format == OutputFormat::kText
          ? absl::StrCat(costs, ComparisonText(comparison))
          : RowsIn("bench-compare", "cells", ComparisonTable(comparison), format);
  std::fputs(text.c_str(), stdout);
  if (!reports.empty()) {
    RETURN_IF_ERROR(WriteReports(
        reports, bench::BenchCompareResults(comparison, both.base, flags.positional()[0])));
  }
  RETURN_IF_ERROR(AddToHistory(history, both.head));
  const absl::Status result = ResultOf(comparison);
  const bool incomplete = !both.problems.empty() || (flags.Has("instructions") && not_counted);
  const bool is_worse = comparison.Count(CellVerdict::kWorse) > 0;
  return incomplete && !is_worse ? QuietFailure(kExitMissing) : result;
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
  PrintCellProblems("not accepted", accepted.missing, flags);
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
