// drasim trace stats | convert | generate | fetch.

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "model/proto/scenario.pb.h"
#include "model/status_macros.h"
#include "sim/app/commands.h"
#include "sim/app/format_flag.h"
#include "sim/record/data_table.h"
#include "sim/run/input_files.h"
#include "sim/run/progress.h"
#include "sim/run/run_outputs.h"
#include "sim/scenario/duration_text.h"
#include "sim/scenario/field_errors.h"
#include "sim/scenario/node_list_spec.h"
#include "sim/scenario/workload_spec.h"
#include "traces/csv_writer.h"
#include "traces/fetch.h"
#include "traces/stats.h"
#include "traces/workload.h"

namespace drasim {
namespace {

constexpr size_t kTopShapes = 10;

// An opened trace with the tables its shapes live in.
struct TraceFile {
  GpuModelTable models;
  ShapeTable shapes{&models};
  std::vector<NodeSpec> nodes;
  WorkloadInput input;
};

absl::StatusOr<std::unique_ptr<TraceFile>> OpenFromFlags(const ParsedFlags& flags) {
  if (flags.positional().size() != 1) return absl::InvalidArgumentError("expected one trace file");
  auto trace = std::make_unique<TraceFile>();
  TraceSpec given;
  given.path = flags.positional()[0];
  given.format = flags.GetOr("trace", "openb");
  given.lenient = flags.Has("lenient");
  if (const std::string text = flags.GetOr("sort-window", ""); !text.empty()) {
    const absl::StatusOr<SimDuration> window = ParseDuration(text);
    if (!window.ok()) return UnderKey("--sort-window", window.status());
    given.sort_window = *window;
  }
  for (const std::string& table : flags.All("table")) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(table, absl::MaxSplits('=', 1));
    if (parts.first.empty() || parts.second.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--table: found '", table, "', expected NAME=FILE"));
    }
    given.tables[parts.first] = parts.second;
  }
  if (flags.Has("nodes")) {
    NodeListSpec list;
    list.path = *flags.Get("nodes");
    list.format = given.format;
    ASSIGN_OR_RETURN(NodeInput nodes, ReadNodeInput(list));
    trace->nodes = std::move(nodes.nodes);
  }
  // Rows in file order, unless a window is given to sort them in. Names are not compared, so that
  // memory does not grow with the file.
  const ArrivalOrder order =
      given.sort_window.has_value() ? ArrivalOrder::kSort : ArrivalOrder::kKeep;
  ASSIGN_OR_RETURN(trace->input, OpenTrace(given, order, &trace->shapes, /*unique_names=*/false));
  return trace;
}

// Calls `use` for every pod of the job, as a job of its own.
absl::Status ForEachPodOf(const JobArrival& job,
                          absl::FunctionRef<absl::Status(const JobArrival&)> use) {
  if (job.pods == 1 && job.more_pods.empty()) return use(job);
  JobArrival pod = job;
  pod.pods = 1;
  pod.more_pods.clear();
  int64_t number = 0;
  const auto add = [&](ShapeId shape, int32_t pods) -> absl::Status {
    pod.shape = shape;
    for (int32_t i = 0; i < pods; ++i) {
      pod.name = absl::StrCat(job.name, "-", number++);
      RETURN_IF_ERROR(use(pod));
    }
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(add(job.shape, job.pods));
  for (const PodGroup& group : job.more_pods) RETURN_IF_ERROR(add(group.shape, group.pods));
  return absl::OkStatus();
}

// The same for every pod of the trace. An error when there is none.
absl::Status ForEachPod(const WorkloadInput& input,
                        absl::FunctionRef<absl::Status(const JobArrival&)> use) {
  JobArrival job;
  bool any = false;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, input.source->Next(&job));
    if (!more) break;
    any = true;
    RETURN_IF_ERROR(ForEachPodOf(job, use));
  }
  return any ? absl::OkStatus() : NoPodsError("", input.warnings());
}

void PrintWarnings(const WorkloadInput& input) {
  for (const std::string& line : input.warnings())
    std::fprintf(stderr, "drasim: warning: %s\n", line.c_str());
}

absl::StatusOr<int64_t> CountFlag(const ParsedFlags& flags, absl::string_view name,
                                  int64_t fallback) {
  const std::optional<std::string> text = flags.Get(name);
  if (!text.has_value()) return fallback;
  int64_t value = 0;
  if (!absl::SimpleAtoi(*text, &value) || value < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--", name, ": found '", *text, "', expected a whole number"));
  }
  return value;
}

// The figures of a whole trace, without the lists of the table.
std::string StatsCsv(const TraceSummary& s) {
  std::vector<std::string> columns = {
      "pods",       "share_pods",      "cpu_milli",        "memory_bytes",
      "gpus",       "gpu_milli",       "first_arrival_ns", "last_arrival_ns",
      "timed_pods", "run_time_min_ns", "run_time_max_ns",  "run_time_mean_ns"};
  for (const int permille : TraceSummary::kPermilles) {
    columns.push_back(absl::StrCat("run_time_p", permille / 10, "_s"));
  }
  columns.emplace_back("distinct_shapes");
  DataTable table(columns);
  table.AddRow().Int(s.pods).Int(s.share_pods).Int(s.cpu_milli).Int(s.memory_bytes);
  table.Int(s.gpus).Int(s.gpu_milli);
  table.Int(s.first_arrival_ns).Int(s.last_arrival_ns).Int(s.timed_pods);
  if (s.timed_pods > 0) {
    table.Int(s.min_run_time_ns).Int(s.max_run_time_ns).Int(s.mean_run_time_ns);
    for (const int64_t seconds : s.run_time_quantiles_s) table.Int(seconds);
  } else {
    for (size_t i = 0; i < 3 + s.run_time_quantiles_s.size(); ++i) table.Empty();
  }
  table.Int(s.distinct_shapes);
  return table.Csv();
}

// One line for people, or the same facts for programs.
void PrintDone(absl::string_view kind, const DataTable& facts, const std::string& line,
               OutputFormat format) {
  const std::string text = format == OutputFormat::kText ? line : DocumentOf(kind, facts, format);
  std::fputs(text.c_str(), stdout);
}

void PrintFetchableTraces(OutputFormat format) {
  if (format == OutputFormat::kText) {
    std::printf("Traces that can be fetched with `drasim trace fetch NAME`:\n");
    for (const TraceSet& set : ListTraces()) {
      std::printf("  %-24s %3zu file(s) %8.1f MB  %s\n", set.trace.c_str(), set.files.size(),
                  static_cast<double>(set.total_bytes) / 1e6, set.files[0].licence.c_str());
    }
    return;
  }
  DataTable table({"trace", "files", "bytes", "licence"});
  for (const TraceSet& set : ListTraces()) {
    table.AddRow().Text(set.trace).Int(static_cast<int64_t>(set.files.size()));
    table.Int(set.total_bytes).Text(set.files[0].licence);
  }
  std::fputs(RowsIn("trace-list", "traces", table, format).c_str(), stdout);
}

}  // namespace

absl::Status TraceStatsCommand(const ParsedFlags& flags) {
  ASSIGN_OR_RETURN(const std::unique_ptr<TraceFile> trace, OpenFromFlags(flags));
  TraceStats stats(&trace->shapes);
  RETURN_IF_ERROR(ForEachPod(trace->input, [&stats](const JobArrival& pod) {
    stats.Add(pod);
    return absl::OkStatus();
  }));
  PrintWarnings(trace->input);
  const TraceSummary summary = stats.Summary(kTopShapes);
  const OutputFormat format = FormatOf(flags);
  const std::string text = format == OutputFormat::kJson  ? summary.ToJson()
                           : format == OutputFormat::kCsv ? StatsCsv(summary)
                                                          : summary.ToTable();
  std::fputs(text.c_str(), stdout);
  if (format == OutputFormat::kText && !trace->nodes.empty()) {
    int64_t gpus = 0;
    for (const NodeSpec& node : trace->nodes) gpus += node.gpu_count;
    std::printf(
        "\nnodes %zu, GPUs %lld: the pods ask for %.2f %% of them\n", trace->nodes.size(),
        static_cast<long long>(gpus),
        gpus > 0 ? 0.1 * static_cast<double>(summary.gpu_milli) / static_cast<double>(gpus) : 0.0);
  }
  return absl::OkStatus();
}

absl::Status TraceConvertCommand(const ParsedFlags& flags) {
  if (!flags.Has("out")) return absl::InvalidArgumentError("trace convert needs --out FILE");
  ASSIGN_OR_RETURN(const std::unique_ptr<TraceFile> trace, OpenFromFlags(flags));
  ASSIGN_OR_RETURN(const std::unique_ptr<PodCsvWriter> writer,
                   PodCsvWriter::Open(*flags.Get("out"), &trace->shapes));
  int64_t pods = 0;
  RETURN_IF_ERROR(ForEachPod(trace->input, [&](const JobArrival& pod) {
    ++pods;
    return writer->Write(pod);
  }));
  RETURN_IF_ERROR(writer->Close());
  PrintWarnings(trace->input);
  const std::string path = flags.GetOr("out", "");
  const OutputFormat format = FormatOf(flags);
  // Standard output may be the trace itself.
  if (format == OutputFormat::kText || path == "-") {
    std::fprintf(stderr, "%lld pods written to %s\n", static_cast<long long>(pods), path.c_str());
    return absl::OkStatus();
  }
  DataTable done({"pods", "file"});
  done.AddRow().Int(pods).Text(path);
  PrintDone("trace-convert", done, "", format);
  return absl::OkStatus();
}

absl::Status TraceGenerateCommand(const ParsedFlags& flags) {
  const std::string dir = flags.GetOr("out", "");
  if (dir.empty()) return absl::InvalidArgumentError("trace generate needs --out DIR");
  if (!flags.positional().empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("unexpected argument '", flags.positional()[0], "'"));
  }
  ASSIGN_OR_RETURN(const int64_t pods, CountFlag(flags, "pods", 0));
  ASSIGN_OR_RETURN(const int64_t nodes, CountFlag(flags, "nodes", 0));
  ASSIGN_OR_RETURN(const int64_t seed, CountFlag(flags, "seed", 42));
  proto::Scenario scenario;
  scenario.mutable_cluster()->set_nodes(nodes);
  proto::Generated* g = scenario.mutable_workload()->mutable_generated();
  g->set_pods(pods);
  g->set_table(flags.GetOr("table", ""));
  g->set_sampling(flags.GetOr("sampling", ""));
  g->set_interarrival(flags.GetOr("interarrival", ""));
  g->set_run_time(flags.GetOr("run-time", ""));
  GpuModelTable models;
  ShapeTable shapes(&models);
  ASSIGN_OR_RETURN(
      const WorkloadInput input,
      OpenWorkloadInput(MakeWorkloadSpec(scenario), static_cast<uint64_t>(seed), {}, &shapes));
  RETURN_IF_ERROR(CheckGenerated(scenario).status());
  ASSIGN_OR_RETURN(const NodeListSpec list, MakeNodeListSpec(scenario));
  ASSIGN_OR_RETURN(const NodeInput node_input, ReadNodeInput(list));
  const std::vector<NodeSpec>& nodes_written = node_input.nodes;
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error)
    return absl::InvalidArgumentError(
        absl::StrCat(dir, ": cannot make the folder: ", error.message()));
  for (const char* name : {"pods.csv", "nodes.csv"}) {
    if (!flags.Has("force") && std::filesystem::exists(std::filesystem::path(dir) / name, error)) {
      return absl::FailedPreconditionError(
          absl::StrCat(dir, "/", name, " exists; choose another folder or give --force"));
    }
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<PodCsvWriter> writer,
                   PodCsvWriter::Open(dir + "/pods.csv", &shapes));
  JobArrival pod;
  int64_t written = 0;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, input.source->Next(&pod));
    if (!more) break;
    RETURN_IF_ERROR(writer->Write(pod));
    ++written;
  }
  RETURN_IF_ERROR(WriteNodesCsv(dir + "/nodes.csv", nodes_written));
  RETURN_IF_ERROR(writer->Close());
  DataTable done({"pods", "pods_file", "nodes", "nodes_file"});
  done.AddRow().Int(written).Text(dir + "/pods.csv");
  done.Int(static_cast<int64_t>(nodes_written.size())).Text(dir + "/nodes.csv");
  PrintDone("trace-generate", done,
            absl::StrCat(written, " pods in ", dir, "/pods.csv, ", nodes_written.size(),
                         " nodes in ", dir, "/nodes.csv\n"),
            FormatOf(flags));
  return absl::OkStatus();
}

absl::Status TraceFetchCommand(const ParsedFlags& flags) {
  if (flags.positional().size() > 1)
    return absl::InvalidArgumentError("trace fetch takes one trace's name");
  if (flags.positional().empty()) {
    PrintFetchableTraces(FormatOf(flags));
    return absl::OkStatus();
  }
  FetchOptions options;
  options.trace = flags.positional()[0];
  options.out_dir = flags.GetOr("out", options.trace);
  options.mirror = flags.GetOr("mirror", "");
  options.quiet = flags.Has("quiet");
  std::unique_ptr<Progress> bar;
  options.progress = [&](const FetchProgress& p) {
    if (bar == nullptr)
      bar = std::make_unique<Progress>("fetch", static_cast<uint64_t>(p.trace_total_bytes), false);
    if (p.step == FetchStep::kRetry) {
      bar->Clear();
      std::fprintf(stderr, "%s: %s; trying again\n", std::string(p.file).c_str(),
                   std::string(p.note).c_str());
    }
    bar->Update(static_cast<uint64_t>(p.trace_done_bytes));
  };
  const absl::Status fetched = FetchTrace(options);
  if (bar != nullptr) bar->Clear();
  RETURN_IF_ERROR(fetched);
  DataTable done({"trace", "dir"});
  done.AddRow().Text(options.trace).Text(options.out_dir);
  PrintDone("trace-fetch", done, absl::StrCat(options.trace, " is in ", options.out_dir, "\n"),
            FormatOf(flags));
  return absl::OkStatus();
}

}  // namespace drasim
