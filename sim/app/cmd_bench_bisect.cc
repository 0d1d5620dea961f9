// drasim bench bisect: the first commit that changes what a benchmark does.

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "model/status_macros.h"
#include "sim/app/commands.h"
#include "sim/app/exit_codes.h"
#include "sim/app/format_flag.h"
#include "sim/bench/bench_cells.h"
#include "sim/bench/bisect.h"
#include "sim/bench/scratch_folder.h"
#include "sim/bench/suite.h"
#include "sim/record/data_table.h"

namespace drasim {
namespace {

constexpr char kUsualSuite[] = "bench/suite/core.yaml";
constexpr char kUsualBuild[] =
    "cmake --preset release -DDRASIM_BUILD_TESTS=OFF -DDRASIM_BUILD_BENCH=OFF "
    "-DDRASIM_BUILD_GUI=OFF && cmake --build build/release --target drasim";
constexpr char kUsualProgram[] = "build/release/bin/drasim";

// The cells of an entry, or the one cell of that name.
absl::StatusOr<std::vector<bench::BenchCell>> CellsOf(const std::string& suite_path,
                                                      const std::string& entry) {
  ASSIGN_OR_RETURN(const bench::Suite suite, bench::ReadSuite(suite_path));
  ASSIGN_OR_RETURN(std::vector<bench::BenchCell> cells,
                   bench::MakeBenchCells(suite, std::nullopt, bench::Filter()));
  cells.erase(std::remove_if(cells.begin(), cells.end(),
                             [&](const bench::BenchCell& cell) {
                               const std::string name = cell.id.Name();
                               return name != entry &&
                                      !absl::StartsWith(name, absl::StrCat(entry, "/"));
                             }),
              cells.end());
  if (cells.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("found '", entry, "', expected an entry of ",
                                                   suite_path,
                                                   ", ENTRY/QUEUE/POLICY or "
                                                   "ENTRY/QUEUE/POLICY/SEED"));
  }
  for (const bench::BenchCell& cell : cells) {
    if (!cell.missing.empty()) {
      return absl::NotFoundError(absl::StrCat(cell.id.Name(), ": ", cell.missing));
    }
  }
  return cells;
}

std::string BisectCsv(const bench::BisectResult& result) {
  DataTable table({"commit", "subject", "cell", "figure", "before", "after"});
  for (const bench::BisectChange& change : result.changes) {
    for (const bench::FigureStep& step : change.figures) {
      table.AddRow().Text(change.commits[0]).Text(change.subject).Text(step.cell);
      table.Text(step.figure).Text(step.before).Text(step.after);
    }
  }
  return table.Csv();
}

}  // namespace

absl::Status BenchBisectCommand(const ParsedFlags& flags) {
  if (flags.positional().size() != 1) {
    return absl::InvalidArgumentError("bench bisect needs one ENTRY of the suite");
  }
  bench::BisectOptions options;
  options.good = flags.GetOr("good", "");
  options.bad = flags.GetOr("bad", "HEAD");
  if (options.good.empty()) return absl::InvalidArgumentError("bench bisect needs --good REV");
  options.build = flags.GetOr("build", kUsualBuild);
  options.program = flags.GetOr("program", kUsualProgram);
  options.all = flags.Has("all");
  if (const std::string figures = flags.GetOr("figures", ""); !figures.empty()) {
    options.figures = absl::StrSplit(figures, ',');
  }
  if (!flags.Has("quiet")) {
    options.on_progress = [](absl::string_view line) {
      std::fprintf(stderr, "drasim: bench bisect: %s\n", std::string(line).c_str());
    };
  }
  ASSIGN_OR_RETURN(const std::vector<bench::BenchCell> cells,
                   CellsOf(flags.GetOr("suite", kUsualSuite), flags.positional()[0]));
  ASSIGN_OR_RETURN(const std::unique_ptr<bench::ScratchFolder> scratch,
                   bench::ScratchFolder::Make());
  options.work_dir = scratch->path();
  const absl::StatusOr<bench::BisectResult> result = bench::Bisect(cells, options);
  if (!result.ok()) return result.status();
  const OutputFormat format = FormatOf(flags);
  const std::string text = format == OutputFormat::kJson  ? bench::BisectJson(*result)
                           : format == OutputFormat::kCsv ? BisectCsv(*result)
                                                          : bench::BisectText(*result);
  std::fputs(text.c_str(), stdout);
  return result->changes.empty() ? absl::OkStatus() : QuietFailure();
}

}  // namespace drasim
