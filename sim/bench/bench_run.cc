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

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "model/hash.h"
#include "model/number_text.h"
#include "model/proto/scenario.pb.h"
#include "model/proto/suite.pb.h"
#include "model/status_macros.h"
#include "model/text/yaml_proto.h"
#include "model/text/yaml_writer.h"
#include "sim/bench/case_cells.h"
#include "sim/bench/child_runs.h"
#include "sim/bench/shard_folder.h"
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
constexpr absl::string_view kCountsFile = "instructions.partial.csv";
constexpr absl::string_view kCostsHeader =
    "entry,queue,policy,seed,cpu_seconds,peak_rss_kib,instructions";
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
  const std::string run = cell.cases.has_value() ? cell.scenario : ToYaml(*cell.spec.written);
  return HexHash(Fnv1a(run, Fnv1a(identity)));
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
  std::string text = absl::StrCat(kCostsHeader, "\n");
  for (const BenchCosts& cost : costs) {
    absl::StrAppend(&text, cost.id.entry, ",", cost.id.queue, ",", cost.id.policy, ",",
                    cost.id.seed, ",", FixedText(cost.cpu_seconds, 6), ",", cost.peak_rss_kib, ",");
    if (cost.instructions.has_value()) absl::StrAppend(&text, *cost.instructions);
    text += "\n";
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
  if (folder.instructions.has_value()) {
    const CostSetup& setup = *folder.instructions;
    proto::CostSetup* const written = selection.mutable_instructions();
    written->set_method(setup.method);
    written->set_tool(setup.tool);
    written->set_compiler(setup.compiler);
    written->set_flags(setup.flags);
    for (const std::string& library : setup.libraries) written->add_libraries(library);
  }
  return ToYaml(selection);
}

// Leaves only the cells of the shard in `cells`, after a note of all of them in the folder.
absl::Status TakeShard(const BenchRunOptions& options, const std::string& dir,
                       std::vector<BenchCell>* cells) {
  if (!options.shard.has_value()) {
    RemoveShard(dir);
    return absl::OkStatus();
  }
  std::vector<PlannedCell> plan;
  std::vector<BenchCell> own;
  for (size_t i = 0; i < cells->size(); ++i) {
    const BenchCell& cell = (*cells)[i];
    plan.push_back(
        {cell.id.Name(), absl::StrCat(cell.inputs, " ", TierName(cell.tier), " ",
                                      cell.primary.metric, " ", cell.primary.margin.Text())});
    if (options.shard->Has(i)) own.push_back(cell);
  }
  *cells = std::move(own);
  return WriteShard(dir, {kBenchRunCommand, *options.shard, options.program}, plan);
}

CostSetup SetupOf(const proto::CostSetup& written) {
  return {written.method(),
          written.tool(),
          written.compiler(),
          written.flags(),
          {written.libraries().begin(), written.libraries().end()}};
}

// costs.csv, whose rows are sorted by cell.
absl::StatusOr<std::vector<BenchCosts>> ReadCosts(const std::string& path) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenByteSource(path));
  CsvSplitter rows(source.get(), CsvOptions());
  std::vector<BenchCosts> costs;
  rows.Next();  // the header
  CsvSplitter::Result next = rows.Next();
  for (; next == CsvSplitter::Result::kRow; next = rows.Next()) {
    BenchCosts cost;
    uint64_t instructions = 0;
    // Folders of earlier versions have no instructions.
    const absl::string_view count = rows.size() == 7 ? rows.field(6) : "";
    if (rows.size() < 6 || rows.size() > 7 || !absl::SimpleAtoi(rows.field(3), &cost.id.seed) ||
        !absl::SimpleAtod(rows.field(4), &cost.cpu_seconds) ||
        !absl::SimpleAtoi(rows.field(5), &cost.peak_rss_kib) ||
        (!count.empty() && !absl::SimpleAtoi(count, &instructions))) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ":", rows.line(), ":1: expected ", kCostsHeader));
    }
    cost.id.entry = std::string(rows.field(0));
    cost.id.queue = std::string(rows.field(1));
    cost.id.policy = std::string(rows.field(2));
    if (!count.empty()) cost.instructions = instructions;
    if (!costs.empty() && !(costs.back().id < cost.id)) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ":", rows.line(), ":1: cell ", cost.id.Name(), ": found it behind ",
                       costs.back().id.Name(), ", expected sorted cells, each once"));
    }
    costs.push_back(std::move(cost));
  }
  if (next == CsvSplitter::Result::kEnd) return costs;
  return absl::InvalidArgumentError(absl::StrCat(path, ": cannot be read as CSV"));
}

// Counts by key, as an earlier run has left them: "KEY,COUNT,end" a line. A torn line lacks its
// end.
std::map<std::string, uint64_t> ReadCounts(const std::string& path) {
  std::map<std::string, uint64_t> counts;
  std::ifstream file(path, std::ios::binary);
  std::string line;
  while (std::getline(file, line)) {
    const std::vector<std::string> parts = absl::StrSplit(line, ',');
    uint64_t count = 0;
    if (parts.size() == 3 && parts[2] == "end" && absl::SimpleAtoi(parts[1], &count))
      counts[parts[0]] = count;
  }
  return counts;
}

// Counts the instructions of those finished cells that are marked `cost`, by position.
absl::Status CountCells(const std::vector<BenchCell>& cells, const BenchTable& table,
                        const BenchRunOptions& options, const std::string& dir,
                        const std::map<size_t, FinishedCell>& finished,
                        std::map<size_t, uint64_t>* counts, std::vector<CellProblem>* failed) {
  const std::string path = PathIn(dir, kCountsFile);
  const CostSetup& setup = *options.count_instructions;
  const std::string way =
      HexHash(Fnv1a(absl::StrCat(setup.method, "\n", setup.tool, "\n", setup.compiler, "\n",
                                 setup.flags, "\n", absl::StrJoin(setup.libraries, "\n"))));
  const auto key_of = [&](size_t i) {
    return absl::StrCat(KeyOf(cells[i], SuiteText(table), options.program), way);
  };
  const std::map<std::string, uint64_t> earlier = ReadCounts(path);
  std::vector<size_t> pending;
  std::vector<const BenchCell*> counted;
  for (const auto& [i, cell] : finished) {
    if (!cells[i].cost) continue;
    if (const auto it = earlier.find(key_of(i)); it != earlier.end()) {
      (*counts)[i] = it->second;
      continue;
    }
    pending.push_back(i);
    counted.push_back(&cells[i]);
  }
  std::ofstream log(path, std::ios::binary | std::ios::app);
  log << "\n";  // ends a line that a killed run may have torn
  RunsProgress progress("bench: instructions", pending.size(), options.quiet);
  const absl::Status ran = CountInstructions(
      setup, options.program_file, counted, {options.jobs, options.timeout_seconds},
      [&](size_t k, const InstructionCount& count) {
        progress.Update(k, 1);
        const size_t i = pending[k];
        if (!count.instructions.ok()) {
          failed->push_back({cells[i].id, absl::StrCat("counting instructions: ",
                                                       count.instructions.status().message())});
        } else if (!absl::EndsWith(finished.at(i).line, count.fingerprint)) {
          failed->push_back(
              {cells[i].id, absl::StrCat("counting instructions: found fingerprint ",
                                         count.fingerprint, ", expected that of the cell")});
        } else {
          (*counts)[i] = *count.instructions;
          log << key_of(i) << "," << *count.instructions << ",end\n" << std::flush;
        }
      });
  progress.Clear();
  RETURN_IF_ERROR(ran);
  return log.good() ? absl::OkStatus()
                    : absl::UnavailableError(absl::StrCat(path, ": cannot write"));
}

// Runs the cells that are still to do, and appends each to the partial file.
class CellRunner {
 public:
  CellRunner(const std::vector<BenchCell>& cells, const BenchTable& table,
             const BenchRunOptions& options, const std::string& dir)
      : cells_(cells), table_(table), options_(options), partial_(PathIn(dir, kPartialFile)) {}

  // `pending`: positions in the cells. Fills in the positions' outcomes.
  absl::Status Run(const std::vector<size_t>& pending, std::map<size_t, FinishedCell>* finished,
                   std::vector<CellProblem>* failed) {
    std::FILE* const log = std::fopen(partial_.c_str(), "ab");
    if (log == nullptr) return FileStatus(partial_, "cannot create the file", errno);
    // Ends a line that a killed run may have torn.
    if (fs::file_size(partial_) > 0) std::fputs("\n", log);
    std::fflush(log);
    RunsProgress progress("bench", pending.size(), options_.quiet);
    const absl::Status ran = RunInChildren(
        pending.size(), {options_.jobs, options_.timeout_seconds},
        [&](size_t i) -> absl::StatusOr<std::string> {
          const BenchCell& cell = cells_[pending[i]];
          if (cell.cases.has_value()) {
            ASSIGN_OR_RETURN(const CaseAnswers answers, RunCases(*cell.cases));
            return BenchLine(table_, RowOf(cell, answers));
          }
          ASSIGN_OR_RETURN(const CellResult result, RunCell(cell.spec, /*with_starts=*/true));
          return BenchLine(table_, RowOf(cell, result));
        },
        [&](size_t i, const ChildResult& result) {
          progress.Update(i, 1);
          const BenchCell& cell = cells_[pending[i]];
          if (!result.answer.ok()) {
            failed->push_back({cell.id, std::string(result.answer.status().message())});
            return;
          }
          const FinishedCell done{result.cpu_seconds, result.peak_rss_kib, *result.answer};
          std::fprintf(log, "%s\n",
                       PartialLine(KeyOf(cell, SuiteText(table_), options_.program), done).c_str());
          std::fflush(log);
          (*finished)[pending[i]] = done;
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
  ASSIGN_OR_RETURN(std::vector<BenchCell> cells,
                   MakeBenchCells(suite, options.last, options.filter));
  RETURN_IF_ERROR(TakeShard(options, dir, &cells));
  const BenchTable empty = EmptyTable(suite);
  BenchRunSummary summary;
  summary.cells = cells.size();
  const std::map<std::string, FinishedCell> earlier = ReadFinishedCells(PathIn(dir, kPartialFile));
  std::map<size_t, FinishedCell> finished;
  std::vector<size_t> pending;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (!cells[i].missing.empty()) {
      summary.missing.push_back({cells[i].id, cells[i].missing});
      continue;
    }
    const auto it = earlier.find(KeyOf(cells[i], SuiteText(empty), options.program));
    if (it != earlier.end()) {
      finished[i] = it->second;
    } else {
      pending.push_back(i);
    }
  }
  summary.from_before = finished.size();
  summary.run_now = pending.size();
  CellRunner runner(cells, empty, options, dir);
  RETURN_IF_ERROR(runner.Run(pending, &finished, &summary.failed));
  std::map<size_t, uint64_t> counts;
  if (options.count_instructions.has_value()) {
    RETURN_IF_ERROR(CountCells(cells, empty, options, dir, finished, &counts, &summary.failed));
  }
  std::sort(summary.failed.begin(), summary.failed.end(),
            [](const CellProblem& a, const CellProblem& b) { return a.id < b.id; });

  BenchFolder folder;
  folder.suite = suite.name;
  folder.version = suite.version;
  folder.last = options.last;
  folder.filter = options.filter.text();
  folder.instructions = options.count_instructions;
  for (const auto& [i, cell] : finished) {
    folder.lines.push_back(cell.line);
    folder.costs.push_back({cells[i].id, cell.cpu_seconds, cell.peak_rss_kib, std::nullopt});
    if (const auto count = counts.find(i); count != counts.end()) {
      folder.costs.back().instructions = count->second;
    }
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
  if (selection.has_instructions()) results.count_setup = SetupOf(selection.instructions());
  ASSIGN_OR_RETURN(results.costs, ReadCosts(PathIn(path, kCostsFile)));
  if (results.table.rows.empty()) {
    results.table.suite = selection.suite();
    results.table.version = selection.version();
  }
  return results;
}

}  // namespace drasim::bench
