#include "sim/bench/side_by_side.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/number_text.h"
#include "model/status_macros.h"
#include "sim/bench/bench_cells.h"
#include "sim/bench/child_runs.h"
#include "sim/bench/instructions.h"
#include "sim/record/atomic_file.h"
#include "sim/run/progress.h"

namespace drasim::bench {
namespace {

namespace fs = std::filesystem;

// `bench run` kills its cells; only a program that hangs elsewhere reaches this.
constexpr double kSuiteTimeoutSeconds = 1e6;

absl::StatusOr<BenchResults> ResultsOf(const std::string& binary, const Suite& suite,
                                       const BenchRunOptions& options, const std::string& dir) {
  std::error_code error;
  fs::create_directories(dir, error);
  // Removes the cells of an earlier comparison; bench.partial.csv stays, so that only new cells
  // run.
  fs::remove(fs::path(dir) / "cells.csv", error);
  std::vector<std::string> arguments = {
      binary,    "bench",   "run",       suite.file,
      "--out",   dir,       "--jobs",    absl::StrCat(options.jobs),
      "--quiet", "--force", "--timeout", DoubleText(options.timeout_seconds)};
  if (options.last.has_value()) {
    arguments.emplace_back("--tier");
    arguments.emplace_back(TierName(*options.last));
  }
  if (!options.filter.text().empty()) {
    arguments.emplace_back("--filter");
    arguments.push_back(options.filter.text());
  }
  std::string said;
  RETURN_IF_ERROR(RunPrograms(
      1, {1, kSuiteTimeoutSeconds},
      [&](size_t) {
        return Program{arguments, ""};
      },
      [&](size_t, const ChildResult& result) {
        // A cell that failed or is missing ends it with an exit code, too.
        if (!result.answer.ok()) said = std::string(result.answer.status().message());
      }));
  absl::StatusOr<BenchResults> results = ReadBenchResults(dir);
  if (results.ok()) return results;
  return absl::InvalidArgumentError(
      absl::StrCat(binary, ": found no results of `bench run`: ",
                   said.empty() ? std::string(results.status().message()) : said));
}

// Adds what `binary` takes for the cells to its results.
absl::Status CountFor(const std::string& binary, const std::vector<const BenchCell*>& cells,
                      const BenchRunOptions& options, BenchResults* results,
                      std::vector<CellProblem>* problems) {
  results->count_setup = options.count_instructions;
  std::map<CellId, uint64_t> counts;
  RETURN_IF_ERROR(CountInstructions(
      *options.count_instructions, binary, cells, {options.jobs, options.timeout_seconds},
      [&](size_t i, const InstructionCount& count) {
        if (count.instructions.ok()) {
          counts[cells[i]->id] = *count.instructions;
        } else {
          problems->push_back(
              {cells[i]->id, absl::StrCat(binary, ": ", count.instructions.status().message())});
        }
      }));
  for (BenchCosts& cost : results->costs) {
    const auto it = counts.find(cost.id);
    cost.instructions = it == counts.end() ? std::nullopt : std::optional<uint64_t>(it->second);
  }
  return absl::OkStatus();
}

// Runs of one cell with both binaries in turn.
class TimeMeter {
 public:
  TimeMeter(const SideBySideOptions& options, std::string scenario_file)
      : options_(options), file_(std::move(scenario_file)) {}

  // Aborted, naming the binary, as soon as one run fails.
  absl::StatusOr<CellTimes> Measure(const BenchCell& cell) {
    RETURN_IF_ERROR(WriteFileAtomically(file_, cell.scenario));
    CellTimes times;
    times.id = cell.id;
    for (size_t b = 0; b < options_.blocks; ++b) {
      TimeBlock block;
      size_t bases = 0;
      size_t heads = 0;
      for (const bool head : kBlockOrders[b % kBlockOrders.size()]) {
        ASSIGN_OR_RETURN(const ChildResult run, Run(cell, head));
        (head ? block.head_seconds[heads++] : block.base_seconds[bases++]) = run.cpu_seconds;
        double& wall = head ? times.head_wall_seconds : times.base_wall_seconds;
        wall = wall == 0 ? run.wall_seconds : std::min(wall, run.wall_seconds);
        if (b == 0) (head ? times.head_kib : times.base_kib).push_back(run.peak_rss_kib);
      }
      times.blocks.push_back(block);
    }
    return times;
  }

 private:
  absl::StatusOr<ChildResult> Run(const BenchCell& cell, bool head) {
    const std::string& binary = head ? options_.head_binary : options_.base_binary;
    ChildResult run{absl::UnknownError(""), 0, 0, 0};
    RETURN_IF_ERROR(RunPrograms(
        1, {1, options_.run.timeout_seconds},
        [&](size_t) { return ProgramOfCell({}, binary, cell, file_); },
        [&run](size_t, const ChildResult& result) { run = result; }));
    if (run.answer.ok()) return run;
    return absl::AbortedError(absl::StrCat(binary, ": ", run.answer.status().message()));
  }

  const SideBySideOptions& options_;
  std::string file_;
};

std::string BlocksCsv(const std::vector<CellTimes>& times) {
  std::string text = "entry,queue,policy,seed,block";
  for (const absl::string_view side : {"base", "head"}) {
    for (size_t i = 0; i < kBlockRuns; ++i) absl::StrAppend(&text, ",", side, "_seconds_", i + 1);
  }
  text += "\n";
  for (const CellTimes& cell : times) {
    for (size_t b = 0; b < cell.blocks.size(); ++b) {
      absl::StrAppend(&text, cell.id.entry, ",", cell.id.queue, ",", cell.id.policy, ",",
                      cell.id.seed, ",", b + 1);
      for (const double s : cell.blocks[b].base_seconds)
        absl::StrAppend(&text, ",", FixedText(s, 6));
      for (const double s : cell.blocks[b].head_seconds)
        absl::StrAppend(&text, ",", FixedText(s, 6));
      text += "\n";
    }
  }
  return text;
}

}  // namespace

absl::StatusOr<SideBySide> RunSideBySide(const Suite& suite, const SideBySideOptions& options,
                                         const std::string& dir) {
  ASSIGN_OR_RETURN(const std::vector<BenchCell> cells,
                   MakeBenchCells(suite, options.run.last, options.run.filter));
  SideBySide both;
  const std::string base_dir = absl::StrCat(dir, "/base");
  const std::string head_dir = absl::StrCat(dir, "/head");
  ASSIGN_OR_RETURN(both.base, ResultsOf(options.base_binary, suite, options.run, base_dir));
  ASSIGN_OR_RETURN(both.head, ResultsOf(options.head_binary, suite, options.run, head_dir));
  std::vector<const BenchCell*> measured;
  for (const BenchCell& cell : cells) {
    const bool ran =
        both.base.table.Find(cell.id) != nullptr && both.head.table.Find(cell.id) != nullptr;
    if (cell.cost && ran) measured.push_back(&cell);
  }
  if (options.run.count_instructions.has_value()) {
    RETURN_IF_ERROR(
        CountFor(options.base_binary, measured, options.run, &both.base, &both.problems));
    RETURN_IF_ERROR(
        CountFor(options.head_binary, measured, options.run, &both.head, &both.problems));
  }
  if (options.blocks == 0) return both;
  const std::string scenario_file = absl::StrCat(dir, "/scenario.yaml");
  TimeMeter meter(options, scenario_file);
  RunsProgress progress("bench: time", measured.size(), options.run.quiet);
  for (size_t i = 0; i < measured.size(); ++i) {
    absl::StatusOr<CellTimes> times = meter.Measure(*measured[i]);
    progress.Update(i, 1);
    if (times.ok()) {
      both.times.push_back(*std::move(times));
    } else if (absl::IsAborted(times.status())) {
      both.problems.push_back({measured[i]->id, std::string(times.status().message())});
    } else {
      return times.status();
    }
  }
  progress.Clear();
  std::error_code ignored;
  fs::remove(scenario_file, ignored);
  RETURN_IF_ERROR(WriteFileAtomically(absl::StrCat(dir, "/blocks.csv"), BlocksCsv(both.times)));
  return both;
}

}  // namespace drasim::bench
