#include "sim/bench/bench_run.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "model/hash.h"
#include "model/number_text.h"
#include "model/proto/scenario.pb.h"
#include "model/proto/suite.pb.h"
#include "model/status_macros.h"
#include "model/text/yaml_proto.h"
#include "model/text/yaml_writer.h"
#include "sim/bench/child_runs.h"
#include "sim/compare/cell.h"
#include "sim/record/atomic_file.h"
#include "sim/record/pod_log.h"
#include "sim/run/progress.h"
#include "traces/byte_source.h"
#include "traces/csv_splitter.h"

namespace drasim::bench {
namespace {

namespace fs = std::filesystem;

constexpr absl::string_view kCellsFile = "cells.csv";
constexpr absl::string_view kCostsFile = "costs.csv";
constexpr absl::string_view kMissingFile = "missing.csv";
constexpr absl::string_view kSelectionFile = "bench.yaml";
constexpr absl::string_view kPartialFile = "bench.partial.csv";
constexpr absl::string_view kMissingHeader = "entry,queue,policy,seed,what";
constexpr size_t kMaxSelectionBytes = 1u << 20;

std::string PathIn(const std::string& dir, absl::string_view name) {
  return absl::StrCat(dir, "/", name);
}

// A finished cell as bench.partial.csv has it: the key of its input and its costs, then its row.
struct FinishedCell {
  double cpu_seconds = 0;
  int64_t peak_rss_kib = 0;
  std::string line;  // BenchLine
};

std::string SuiteText(const BenchTable& table) {
  return absl::StrCat(table.suite, " ", table.version);
}

// `suite`: SuiteText. The key covers all that is in the cell's line.
std::string KeyOf(const BenchCell& cell, const std::string& suite, const std::string& program) {
  const std::string identity =
      absl::StrCat(suite, " ", cell.id.Name(), " ", TierName(cell.tier), " ", cell.primary.metric,
                   " ", cell.primary.margin.Text(), " ", cell.inputs, " ", program);
  // The whole scenario with its defaults, too: another default is another run.
  return HexHash(Fnv1a(ToYaml(*cell.spec.written), Fnv1a(identity)));
}

std::string PartialLine(const std::string& key, const FinishedCell& cell) {
  return absl::StrCat(key, ",", FixedText(cell.cpu_seconds, 6), ",", cell.peak_rss_kib, ",",
                      cell.line);
}

// The cells that an earlier run has finished, by key. Torn lines are left out: BenchTable tells
// them by their fields and their last column.
std::map<std::string, FinishedCell> ReadFinishedCells(const std::string& path) {
  std::map<std::string, FinishedCell> finished;
  std::ifstream file(path, std::ios::binary);
  std::string line;
  while (std::getline(file, line)) {
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(',', 3));
    FinishedCell cell;
    if (parts.size() != 4 || !absl::SimpleAtod(parts[1], &cell.cpu_seconds) ||
        !absl::SimpleAtoi(parts[2], &cell.peak_rss_kib)) {
      continue;
    }
    cell.line = parts[3];
    if (!ParseBenchTable(path, absl::StrCat(BenchHeader(), "\n", cell.line, "\n")).ok()) continue;
    finished[parts[0]] = std::move(cell);
  }
  return finished;
}

std::string CostsCsv(const std::vector<BenchCosts>& costs) {
  std::string text = "entry,queue,policy,seed,cpu_seconds,peak_rss_kib\n";
  for (const BenchCosts& cost : costs) {
    absl::StrAppend(&text, cost.id.entry, ",", cost.id.queue, ",", cost.id.policy, ",",
                    cost.id.seed, ",", FixedText(cost.cpu_seconds, 6), ",", cost.peak_rss_kib,
                    "\n");
  }
  return text;
}

std::string MissingCsv(const std::vector<CellProblem>& missing) {
  std::string text = absl::StrCat(kMissingHeader, "\n");
  for (const CellProblem& problem : missing) {
    const CellId& id = problem.id;
    absl::StrAppend(&text, id.entry, ",", id.queue, ",", id.policy, ",", id.seed, ",");
    AppendCsvField(problem.what, &text);
    text += "\n";
  }
  return text;
}

absl::StatusOr<std::vector<CellProblem>> ReadMissing(const std::string& path) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenByteSource(path));
  CsvSplitter rows(source.get(), CsvOptions());
  std::vector<CellProblem> missing;
  CsvSplitter::Result next = rows.Next();  // the header
  for (next = rows.Next(); next == CsvSplitter::Result::kRow; next = rows.Next()) {
    CellProblem problem;
    if (rows.size() != 5 || !absl::SimpleAtoi(rows.field(3), &problem.id.seed)) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ":", rows.line(), ":1: expected ", kMissingHeader));
    }
    problem.id.entry = std::string(rows.field(0));
    problem.id.queue = std::string(rows.field(1));
    problem.id.policy = std::string(rows.field(2));
    problem.what = std::string(rows.field(4));
    missing.push_back(std::move(problem));
  }
  if (next == CsvSplitter::Result::kEnd) return missing;
  return absl::InvalidArgumentError(absl::StrCat(path, ": cannot be read as CSV"));
}

std::string SelectionYaml(const BenchFolder& folder) {
  proto::BenchSelection selection;
  selection.set_suite(folder.suite);
  selection.set_version(folder.version);
  if (folder.last.has_value()) selection.set_tier(static_cast<proto::Tier>(*folder.last));
  selection.set_filter(folder.filter);
  return ToYaml(selection);
}

// Runs the cells that are still to do, and appends each to the partial file.
class CellRunner {
 public:
  CellRunner(const std::vector<BenchCell>& cells, const BenchTable& table,
             const BenchRunOptions& options, const std::string& dir)
      : cells_(cells), table_(table), options_(options), partial_(PathIn(dir, kPartialFile)) {}

  // `todo`: positions in the cells. Fills in the positions' outcomes.
  absl::Status Run(const std::vector<size_t>& todo, std::map<size_t, FinishedCell>* finished,
                   std::vector<CellProblem>* failed) {
    std::FILE* const log = std::fopen(partial_.c_str(), "ab");
    if (log == nullptr) return FileStatus(partial_, "cannot create the file", errno);
    // Ends a line that a killed run may have torn.
    if (fs::file_size(partial_) > 0) std::fputs("\n", log);
    std::fflush(log);
    RunsProgress progress("bench", todo.size(), options_.quiet);
    const absl::Status ran = RunInChildren(
        todo.size(), {options_.jobs, options_.timeout_seconds},
        [&](size_t i) -> absl::StatusOr<std::string> {
          const BenchCell& cell = cells_[todo[i]];
          ASSIGN_OR_RETURN(const CellResult result, RunCell(cell.spec, /*with_starts=*/true));
          return BenchLine(table_, RowOf(cell, result));
        },
        [&](size_t i, const ChildResult& result) {
          progress.Update(i, 1);
          const BenchCell& cell = cells_[todo[i]];
          if (!result.answer.ok()) {
            failed->push_back({cell.id, std::string(result.answer.status().message())});
            return;
          }
          const FinishedCell done{result.cpu_seconds, result.peak_rss_kib, *result.answer};
          std::fprintf(log, "%s\n",
                       PartialLine(KeyOf(cell, SuiteText(table_), options_.program), done).c_str());
          std::fflush(log);
          (*finished)[todo[i]] = done;
        });
    progress.Clear();
    const bool torn = std::ferror(log) != 0;
    const bool kept = std::fclose(log) == 0 && !torn;
    RETURN_IF_ERROR(ran);
    return kept ? absl::OkStatus()
                : absl::UnavailableError(absl::StrCat(partial_, ": cannot write"));
  }

 private:
  const std::vector<BenchCell>& cells_;
  const BenchTable& table_;
  const BenchRunOptions& options_;
  std::string partial_;
};

}  // namespace

absl::StatusOr<BenchRunSummary> RunBench(const Suite& suite, const BenchRunOptions& options,
                                         const std::string& dir) {
  ASSIGN_OR_RETURN(const std::vector<BenchCell> cells,
                   MakeBenchCells(suite, options.last, options.filter));
  const BenchTable empty = EmptyTable(suite);
  BenchRunSummary summary;
  summary.cells = cells.size();
  const std::map<std::string, FinishedCell> earlier = ReadFinishedCells(PathIn(dir, kPartialFile));
  std::map<size_t, FinishedCell> finished;
  std::vector<size_t> todo;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (!cells[i].missing.empty()) {
      summary.missing.push_back({cells[i].id, cells[i].missing});
      continue;
    }
    const auto it = earlier.find(KeyOf(cells[i], SuiteText(empty), options.program));
    if (it != earlier.end()) {
      finished[i] = it->second;
    } else {
      todo.push_back(i);
    }
  }
  summary.from_before = finished.size();
  summary.run_now = todo.size();
  CellRunner runner(cells, empty, options, dir);
  RETURN_IF_ERROR(runner.Run(todo, &finished, &summary.failed));
  std::sort(summary.failed.begin(), summary.failed.end(),
            [](const CellProblem& a, const CellProblem& b) { return a.id < b.id; });

  BenchFolder folder;
  folder.suite = suite.name;
  folder.version = suite.version;
  folder.last = options.last;
  folder.filter = options.filter.text();
  for (const auto& [i, cell] : finished) {
    folder.lines.push_back(cell.line);
    folder.costs.push_back({cells[i].id, cell.cpu_seconds, cell.peak_rss_kib});
  }
  folder.missing = summary.missing;
  folder.missing.insert(folder.missing.end(), summary.failed.begin(), summary.failed.end());
  RETURN_IF_ERROR(WriteBenchFolder(std::move(folder), dir));
  return summary;
}

absl::Status WriteBenchFolder(BenchFolder folder, const std::string& dir) {
  std::sort(folder.missing.begin(), folder.missing.end(),
            [](const CellProblem& a, const CellProblem& b) { return a.id < b.id; });
  std::string table = BenchHeader() + "\n";
  for (const std::string& line : folder.lines) absl::StrAppend(&table, line, "\n");
  const std::string missing = MissingCsv(folder.missing);
  const std::string selection = SelectionYaml(folder);
  const std::string costs = CostsCsv(folder.costs);
  return WriteFilesAtomically({{PathIn(dir, kSelectionFile), selection},
                               {PathIn(dir, kMissingFile), missing},
                               {PathIn(dir, kCostsFile), costs},
                               {PathIn(dir, kCellsFile), table}});
}

absl::StatusOr<BenchResults> ReadBenchResults(const std::string& path) {
  BenchResults results;
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    ASSIGN_OR_RETURN(results.table, ReadBenchTable(path));
    return results;
  }
  ASSIGN_OR_RETURN(results.table, ReadBenchTable(PathIn(path, kCellsFile)));
  ASSIGN_OR_RETURN(results.missing, ReadMissing(PathIn(path, kMissingFile)));
  const std::string file = PathIn(path, kSelectionFile);
  ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenByteSource(file));
  ASSIGN_OR_RETURN(const std::string text, ReadAll(*source, kMaxSelectionBytes));
  proto::BenchSelection selection;
  RETURN_IF_ERROR(MergeYaml(text, file, &selection));
  if (selection.has_tier()) results.last = static_cast<Tier>(selection.tier());
  ASSIGN_OR_RETURN(results.filter, Filter::Make(selection.filter()));
  if (results.table.rows.empty()) {
    results.table.suite = selection.suite();
    results.table.version = selection.version();
  }
  return results;
}

}  // namespace drasim::bench
