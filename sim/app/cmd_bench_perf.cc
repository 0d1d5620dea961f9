// drasim bench run --scheduler-perf.

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "model/status_macros.h"
#include "sim/app/bench_flags.h"
#include "sim/app/commands.h"
#include "sim/app/exit_codes.h"
#include "sim/app/format_flag.h"
#include "sim/compare/cell.h"
#include "sim/compare/parallel.h"
#include "sim/perf/perf_report.h"
#include "sim/perf/perf_suite.h"
#include "sim/record/atomic_file.h"
#include "sim/record/data_table.h"
#include "sim/record/folder_lock.h"
#include "sim/run/input_files.h"
#include "sim/run/run_outputs.h"

namespace drasim {

absl::Status BenchPerfCommand(const ParsedFlags& flags) {
  if (!flags.positional().empty()) {
    return absl::InvalidArgumentError("expected a suite's file or --scheduler-perf, not both");
  }
  const std::string dir = flags.GetOr("out", "");
  if (dir.empty()) return absl::InvalidArgumentError("bench run needs --out DIR");
  perf::PerfSelection selection;
  selection.root = flags.GetOr("scheduler-perf", "");
  selection.overlay = flags.GetOr("overlay", "");
  selection.labels = flags.GetOr("label-filter", "");
  selection.settings = flags.All("set");
  ASSIGN_OR_RETURN(const bench::Scope scope, BenchScopeOf(flags));
  selection.last = scope.last;
  selection.filter = scope.filter;
  ASSIGN_OR_RETURN(const perf::PerfSuite suite, perf::ReadPerfSuite(selection));
  perf::PerfRunOptions options;
  options.quiet = flags.Has("quiet");
  ASSIGN_OR_RETURN(options.program, FileSha256("/proc/self/exe"));
  ASSIGN_OR_RETURN(options.jobs, ParseJobs(flags.GetOr("jobs", "")));
  ASSIGN_OR_RETURN(options.timeout_seconds, BenchTimeoutOf(flags, options.timeout_seconds));
  ASSIGN_OR_RETURN(const std::unique_ptr<FolderLock> lock,
                   PrepareOutputDir(dir, flags.Has("force")));
  ASSIGN_OR_RETURN(const std::vector<perf::PerfReport> reports,
                   perf::RunPerfSuite(suite, options, dir));
  if (const std::string page = flags.GetOr("page", ""); !page.empty()) {
    RETURN_IF_ERROR(WriteFileAtomically(page, perf::PerfPage(reports)));
  }
  const OutputFormat format = FormatOf(flags);
  size_t failed = 0;
  for (const perf::PerfReport& report : reports) {
    if (report.verdict != perf::PerfVerdict::kFailed) continue;
    ++failed;
    PrintProblem("failed", absl::StrCat(report.id.Name(), ": ", report.why), format);
  }
  const std::string text = format == OutputFormat::kText ? perf::PerfText(reports)
                                                         : RowsIn("bench-perf", "workloads",
                                                                  perf::PerfTable(reports), format);
  std::fputs(text.c_str(), stdout);
  if (failed > 0) return QuietFailure();
  return reports.empty() ? QuietFailure(kExitMissing) : absl::OkStatus();
}

}  // namespace drasim
