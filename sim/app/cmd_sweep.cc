// drasim sweep: traces x queues x policies x seeds, resumable.

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "model/hash.h"
#include "model/number_text.h"
#include "model/proto/scenario.pb.h"
#include "model/status_macros.h"
#include "model/text/yaml_writer.h"
#include "sim/app/commands.h"
#include "sim/app/format_flag.h"
#include "sim/app/report_flag.h"
#include "sim/app/scenario_flags.h"
#include "sim/app/shard_flags.h"
#include "sim/bench/shard.h"
#include "sim/bench/shard_folder.h"
#include "sim/compare/cell.h"
#include "sim/compare/cell_metrics.h"
#include "sim/compare/contenders.h"
#include "sim/compare/parallel.h"
#include "sim/outputs/result_formats.h"
#include "sim/outputs/result_set.h"
#include "sim/record/atomic_file.h"
#include "sim/record/data_table.h"
#include "sim/record/folder_lock.h"
#include "sim/record/pod_log.h"
#include "sim/run/input_files.h"
#include "sim/run/progress.h"
#include "sim/run/run_outputs.h"
#include "sim/scenario/resolve.h"

namespace drasim {
namespace {

constexpr int64_t kLoads[] = {25, 50, 75, 80, 90, 100, 110, 120, 130};

struct Cell {
  RunSpec spec;
  std::string trace;  // as the CSV names it
  std::string key;    // identifies the cell's whole input
  std::string row;    // its line once finished
  std::vector<std::string> warnings;
};

bool IsReplay(const Cell& cell) { return cell.spec.is_replay(); }

// The fingerprint is the last of all columns: its fixed length tells a whole line from a torn one.
std::string Header(bool replay) {
  std::string text =
      "key,trace,policy,seed,pods_arrived,pods_unschedulable,gpu_arrived_milli,gpu_allocated_milli,"
      "cpu_allocated_milli,fragmentation_milli,fragmentation_ratio_percent";
  for (int64_t load : kLoads) absl::StrAppend(&text, ",gpu_allocation_percent_at_", load);
  for (int64_t load : kLoads) absl::StrAppend(&text, ",fragmentation_percent_of_total_at_", load);
  for (int64_t load : kLoads) absl::StrAppend(&text, ",fragmentation_percent_of_idle_at_", load);
  text += ",order_hash,rank_hash,placement_hash";
  if (replay) {
    text += ",queue";
    for (const CellMetric& metric : ReplayMetrics()) absl::StrAppend(&text, ",", metric.name);
  }
  return text + ",fingerprint";
}

void AppendReplay(const Cell& cell, const CellResult& r, std::string* text) {
  absl::StrAppend(text, ",", cell.spec.scheduler.queue_name);
  for (const CellMetric& metric : ReplayMetrics()) {
    *text += ",";
    const double value = metric.value(r);
    if (std::isnan(value)) continue;
    // Counts stay plain integers, however large.
    if (metric.decimals == 0 && value == std::floor(value)) {
      *text += FixedText(value, 0);
    } else {
      AppendDouble(text, value);
    }
  }
}

std::string RowOf(const Cell& cell, const CellResult& r) {
  std::string text =
      absl::StrCat(cell.key, ",", cell.trace, ",", cell.spec.scheduler.profile.policy, ",",
                   cell.spec.seed, ",", r.pods_arrived, ",", r.pods_unschedulable, ",",
                   r.gpu_arrived_milli, ",", r.gpu_allocated_milli);
  absl::StrAppend(&text, ",", r.cpu_allocated_milli, ",", FixedText(r.fragmentation_milli, 2), ",",
                  FixedText(r.fragmentation_ratio_percent, 2));
  const auto append = [&](double LoadRow::*field) {
    for (int64_t load : kLoads) {
      text += ",";
      const LoadRow* row = r.AtLoad(load);
      if (row != nullptr) AppendDouble(&text, row->*field);
    }
  };
  append(&LoadRow::gpu_allocation_percent);
  append(&LoadRow::fragmentation_percent_of_total);
  append(&LoadRow::fragmentation_percent_of_idle);
  if (cell.spec.order == JobOrder::kArtifact) {
    absl::StrAppend(&text, ",", HexHash(r.hashes.order), ",", HexHash(r.hashes.rank), ",",
                    HexHash(r.hashes.placement));
  } else {
    text += ",,,";
  }
  if (IsReplay(cell)) AppendReplay(cell, r, &text);
  return absl::StrCat(text, ",", HexHash(r.fingerprint));
}

std::string TraceName(const std::string& path) {
  if (path.empty()) return "generated";
  std::string name = std::filesystem::path(path).filename().string();
  for (absl::string_view ending : {".gz", ".csv"}) {
    if (name.size() > ending.size() &&
        name.compare(name.size() - ending.size(), ending.size(), ending.data()) == 0) {
      name.resize(name.size() - ending.size());
    }
  }
  std::string field;
  AppendCsvField(name, &field);
  return field;
}

// Hashes of every file the scenario names: the lists (pinned in the scenario) with their further
// tables, mapping files, the generator's table, tables of quotas, and configurations of MIG and of
// kube-scheduler.
absl::StatusOr<std::string> HashInputs(proto::Scenario* s) {
  std::string all;
  proto::Trace* trace = s->mutable_workload()->mutable_trace();
  std::vector<std::string> paths = {trace->path(), s->cluster().path()};
  std::map<std::string, std::string> tables;
  for (const auto& table : trace->tables()) tables[table.first] = table.second;
  for (const auto& [name, path] : tables) paths.push_back(path);
  for (const proto::Quota& quota : s->quotas()) paths.push_back(quota.path());
  paths.push_back(s->cluster().mig().config_file());
  paths.push_back(s->scheduler().kube_config());
  for (const proto::OtherScheduler& other : s->scheduler().others()) {
    paths.push_back(other.kube_config());
  }
  // A format or a table to generate from that is no file is a built-in one.
  for (const std::string& maybe :
       {trace->format(), s->cluster().format(), s->workload().generated().table()}) {
    std::error_code error;
    if (std::filesystem::is_regular_file(maybe, error)) paths.push_back(maybe);
  }
  for (const std::string& path : paths) {
    if (path.empty()) continue;
    absl::StatusOr<std::string> hash = FileSha256(path);
    if (!hash.ok()) return hash;
    absl::StrAppend(&all, *hash, "\n");
    if (path == trace->path()) trace->set_sha256(*hash);
    if (path == s->cluster().path()) s->mutable_cluster()->set_sha256(*hash);
  }
  return all;
}

// The cells of the sweep in the order of the merged file. The key covers the resolved scenario and
// the bytes of its input files, so that a changed trace is not mistaken for a finished one.
absl::StatusOr<std::vector<Cell>> MakeCells(const ParsedFlags& flags) {
  ASSIGN_OR_RETURN(GivenScenario given, ScenarioFromFlags(flags));
  proto::Scenario* base = &*given.scenario;
  if (base->comparison().axes_size() > 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("comparison.axes: found ", base->comparison().axes_size(),
                     " axes, expected none in a sweep; `drasim compare` has a row for each world"));
  }
  const std::vector<std::string> traces = absl::StrSplit(base->workload().trace().path(), ',');
  base->mutable_workload()->mutable_trace()->set_path(traces[0]);
  ASSIGN_OR_RETURN(Contenders contenders,
                   MakeContenders(ContenderFlagsOf(flags), given, std::nullopt));
  NoteIdleSeeds(contenders);
  std::vector<Cell> cells;
  for (const std::string& trace : traces) {
    proto::Scenario pinned = *contenders.all[0].spec.written;
    pinned.mutable_workload()->mutable_trace()->set_path(trace);
    ASSIGN_OR_RETURN(std::string inputs, HashInputs(&pinned));
    for (const Contender& contender : contenders.all) {
      proto::Scenario s = *contender.spec.written;
      *s.mutable_workload()->mutable_trace() = pinned.workload().trace();
      *s.mutable_cluster() = pinned.cluster();
      s.clear_output();
      // Cells leave no files, so the key has no output, either.
      ASSIGN_OR_RETURN(RunSpec spec, ResolveScenario(s));
      for (uint64_t seed : contenders.seeds) {
        s.set_seed(seed);
        spec.SetSeed(seed);
        cells.push_back({spec, TraceName(trace), HexHash(Fnv1a(inputs, Fnv1a(ToYaml(s)))), "", {}});
      }
    }
  }
  return cells;
}

// Leaves only the cells of that shard, after a note of all of them in the folder.
absl::Status TakeShard(const std::optional<bench::Shard>& shard, const std::string& dir,
                       std::vector<Cell>* cells) {
  if (!shard.has_value()) {
    bench::RemoveShard(dir);
    return absl::OkStatus();
  }
  std::vector<bench::PlannedCell> plan;
  std::vector<Cell> own;
  for (size_t i = 0; i < cells->size(); ++i) {
    const Cell& cell = (*cells)[i];
    const std::string queue = IsReplay(cell) ? cell.spec.scheduler.queue_name : "-";
    plan.push_back({absl::StrCat(cell.trace, "/", queue, "/", cell.spec.scheduler.profile.policy,
                                 "/", cell.spec.seed),
                    cell.key});
    if (shard->Has(i)) own.push_back(cell);
  }
  *cells = std::move(own);
  ASSIGN_OR_RETURN(const std::string program, FileSha256("/proc/self/exe"));
  return bench::WriteShard(dir, {bench::kSweepCommand, *shard, program}, plan);
}

// Lines of an earlier, interrupted sweep, by key. A torn last line has too few fields and is left
// out.
std::map<std::string, std::string> ReadFinished(const std::string& path,
                                                const std::string& header) {
  std::map<std::string, std::string> rows;
  std::ifstream file(path);
  std::string line;
  const auto fields = std::count(header.begin(), header.end(), ',');
  while (std::getline(file, line)) {
    const size_t last = line.rfind(',');
    if (std::count(line.begin(), line.end(), ',') != fields || line.size() != last + 17) continue;
    rows[line.substr(0, line.find(','))] = line;
  }
  return rows;
}

// The merged file as a table and figures. What is no number in it tells cells apart.
ResultSet ResultsOf(const std::string& header, const std::vector<Cell>& cells) {
  ResultSet results;
  results.command = "sweep";
  results.summary = absl::StrCat(cells.size(), " cells");
  const std::vector<std::string> columns = absl::StrSplit(header, ',');
  ResultTable table{"", columns, {}};
  for (const Cell& cell : cells) {
    std::vector<std::string> fields = absl::StrSplit(cell.row, ',');
    const bool replay = cell.spec.is_replay();
    ResultFigure figure{
        absl::StrCat(cell.trace, replay ? "/" : "", replay ? cell.spec.scheduler.queue_name : "",
                     "/", cell.spec.scheduler.profile.policy),
        {{"trace", cell.trace}, {"policy", cell.spec.scheduler.profile.policy}},
        cell.spec.seed,
        "",
        0,
        {},
        {}};
    if (replay) figure.labels.emplace_back("queue", cell.spec.scheduler.queue_name);
    // A name with a comma shifts the columns of its row, which then has no figures.
    for (size_t c = 0; fields.size() == columns.size() && c < fields.size(); ++c) {
      const bool identifies = columns[c] == "key" || columns[c] == "trace" ||
                              columns[c] == "seed" || columns[c] == "fingerprint";
      figure.metric = columns[c];
      if (!identifies && absl::SimpleAtod(fields[c], &figure.value)) {
        results.figures.push_back(figure);
      }
    }
    table.rows.push_back(std::move(fields));
  }
  results.tables.push_back(std::move(table));
  return results;
}

}  // namespace

absl::Status SweepCommand(const ParsedFlags& flags) {
  const std::string dir = flags.GetOr("out", "");
  if (dir.empty()) return absl::InvalidArgumentError("sweep needs --out DIR");
  if (flags.Has("emit")) return EmitJobs("sweep", "sweep", "sweep.csv", flags);
  ASSIGN_OR_RETURN(const std::vector<ReportRequest> reports,
                   ReportsOf(flags, "sweep", {ResultPart::kText, ResultPart::kFigures}));
  ASSIGN_OR_RETURN(std::vector<Cell> cells, MakeCells(flags));
  ASSIGN_OR_RETURN(const size_t jobs, ParseJobs(flags.GetOr("jobs", "")));
  ASSIGN_OR_RETURN(const std::optional<bench::Shard> shard, ShardFrom(flags));
  ASSIGN_OR_RETURN(const std::unique_ptr<FolderLock> lock,
                   PrepareOutputDir(dir, flags.Has("force")));
  const std::string partial = dir + "/sweep.partial.csv";
  const std::string header = Header(IsReplay(cells[0]));
  RETURN_IF_ERROR(TakeShard(shard, dir, &cells));
  const std::map<std::string, std::string> finished = ReadFinished(partial, header);
  std::vector<size_t> todo;
  for (size_t i = 0; i < cells.size(); ++i) {
    const auto it = finished.find(cells[i].key);
    if (it != finished.end()) {
      cells[i].row = it->second;
    } else {
      todo.push_back(i);
    }
  }
  std::FILE* log = std::fopen(partial.c_str(), "ab");
  if (log == nullptr) return FileStatus(partial, "cannot create the file", errno);
  // Ends a line that a killed sweep may have torn.
  if (std::filesystem::file_size(partial) > 0) std::fputs("\n", log);
  RunsProgress progress("sweep", todo.size(), flags.Has("quiet"));
  const absl::Status ran = ForEachInParallel(
      todo.size(), jobs,
      [&](size_t i) -> absl::Status {
        Cell& cell = cells[todo[i]];
        absl::StatusOr<CellResult> result =
            RunCell(cell.spec, /*with_starts=*/false,
                    [&progress, i](double share) { progress.Update(i, share); });
        if (!result.ok()) return result.status();
        cell.row = RowOf(cell, *result);
        cell.warnings = result->warnings;
        return absl::OkStatus();
      },
      [&](size_t i) {
        std::fprintf(log, "%s\n", cells[todo[i]].row.c_str());
        std::fflush(log);
        progress.Update(i, 1);
      });
  progress.Clear();
  const bool torn = std::ferror(log) != 0;
  const bool kept = std::fclose(log) == 0 && !torn;
  if (!ran.ok()) return ran;
  if (!kept) return absl::UnavailableError(absl::StrCat(partial, ": cannot write"));
  // Cells of one trace repeat its warnings.
  std::set<std::string> warnings;
  for (const Cell& cell : cells) {
    for (const std::string& w : cell.warnings) {
      if (warnings.insert(w).second) std::fprintf(stderr, "drasim: warning: %s\n", w.c_str());
    }
  }
  std::string merged = header + "\n";
  for (const Cell& cell : cells) merged += cell.row + "\n";
  RETURN_IF_ERROR(WriteFileAtomically(dir + "/sweep.csv", merged));
  const OutputFormat format = FormatOf(flags);
  if (format == OutputFormat::kCsv) {
    std::fputs(merged.c_str(), stdout);
  } else if (format == OutputFormat::kJson) {
    DataTable done({"cells", "run_now", "from_before", "file"});
    done.AddRow().Int(static_cast<int64_t>(cells.size())).Int(static_cast<int64_t>(todo.size()));
    done.Int(static_cast<int64_t>(cells.size() - todo.size())).Text(dir + "/sweep.csv");
    std::fputs(DocumentOf("sweep", done, format).c_str(), stdout);
  } else {
    std::printf("%zu cells (%zu run now, %zu from before) in %s/sweep.csv\n", cells.size(),
                todo.size(), cells.size() - todo.size(), dir.c_str());
  }
  return WriteReports(reports, ResultsOf(header, cells));
}

}  // namespace drasim
