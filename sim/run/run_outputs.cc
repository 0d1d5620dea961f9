#include "sim/run/run_outputs.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/fragmentation.h"
#include "model/hash.h"
#include "model/number_text.h"
#include "model/status_macros.h"
#include "model/text/json_writer.h"
#include "model/text/text_table.h"
#include "sim/record/version.h"
#include "sim/run/device_outputs.h"
#include "sim/run/dra_outputs.h"
#include "sim/run/resolved_yaml.h"
#include "sim/run/resume.h"
#include "sim/run/work_steps.h"

namespace drasim {
namespace {

namespace fs = std::filesystem;

// In order of removal. The ledger goes before summary.json: a ledger alone would look like that of
// an unfinished run.
constexpr const char* kOwnFiles[] = {
    "ledger",         "ledger.partial", "summary.json", "run.json", "scenario.yaml",
    "timeseries.csv", "pods.csv",       "by_load.csv",  "jobs.csv", "device_events.csv"};
// Files of compare, sweep and bench, which a run does not remove, and temporary files.
constexpr const char* kRelatedFiles[] = {"compare.json",
                                         "compare.csv",
                                         "compare_seeds.csv",
                                         "compare.yaml",
                                         "sweep.csv",
                                         "sweep.partial.csv",
                                         "cells.csv",
                                         "costs.csv",
                                         "missing.csv",
                                         "bench.yaml",
                                         "bench.partial.csv",
                                         "shard.yaml",
                                         "instructions.partial.csv",
                                         "perf.csv",
                                         "perf.partial",
                                         "plan.csv",
                                         kBegunScenarioFile,
                                         FolderLock::kFileName};

bool IsOwn(const std::string& name) {
  for (const char* own : kOwnFiles) {
    if (name == own || name == absl::StrCat(own, ".tmp")) return true;
  }
  for (const char* related : kRelatedFiles) {
    if (name == related || name == absl::StrCat(related, ".tmp")) return true;
  }
  return false;
}

constexpr size_t kBufferBytes = 1 << 16;

// Shapes with dropped pods, most pods first, by the artifact's key (CPU, GPU count, GPU milli,
// spec) and memory.
std::vector<std::pair<uint32_t, int64_t>> DroppedShapes(const Simulation& sim) {
  std::vector<std::pair<uint32_t, int64_t>> shapes;
  const std::vector<int64_t>& counts = sim.metrics().dropped_by_shape();
  for (size_t s = 0; s < counts.size(); ++s) {
    if (counts[s] > 0) shapes.emplace_back(static_cast<uint32_t>(s), counts[s]);
  }
  std::stable_sort(shapes.begin(), shapes.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return shapes;
}

bool IsReplay(const Simulation& sim) { return sim.spec().is_replay(); }

void WriteScenario(const Simulation& sim, JsonWriter& j) {
  const RunSpec& s = sim.spec();
  j.Key("scenario").BeginObject();
  j.Key("name").String(s.name);
  j.Key("policy").String(s.scheduler.profile.policy);
  j.Key("mode").String(RunModeName(s.mode));
  j.Key("order").String(JobOrderName(s.order));
  j.Key("seed").Uint(s.seed);
  if (IsReplay(sim)) j.Key("queue").String(s.scheduler.queue_name);
  j.Key("tuning_ratio");
  if (s.workload.tuning_ratio.has_value()) {
    j.Double(*s.workload.tuning_ratio);
  } else {
    j.Null();
  }
  j.Key("nodes_sha256").String(s.cluster.nodes.sha256);
  j.Key("pods_sha256").String(s.workload.trace.sha256);
  j.EndObject();
}

void WriteAmounts(const Sample& m, JsonWriter& j) {
  const ClusterTotals& t = m.totals;
  j.Key("gpu").BeginObject();
  j.Key("count").Int(t.gpu_count);
  j.Key("capacity_milli").Int(t.gpu_milli_capacity);
  j.Key("arrived_milli").Int(m.gpu_arrived_milli);
  j.Key("allocated_milli").Int(t.gpu_milli_allocated);
  j.Key("in_use").Int(t.gpus_in_use);
  j.Key("on_used_nodes").Int(t.gpus_on_used_nodes);
  j.EndObject();
  j.Key("cpu").BeginObject();
  j.Key("capacity_milli").Int(t.cpu_milli_capacity);
  j.Key("allocated_milli").Int(t.cpu_milli_allocated);
  j.EndObject();
  j.Key("memory").BeginObject();
  j.Key("capacity_bytes").Int(t.memory_bytes_capacity);
  j.Key("allocated_bytes").Int(t.memory_bytes_allocated);
  j.EndObject();
  j.Key("fragmentation").BeginObject();
  j.Key("amount_milli").Double(RoundDecimals(m.fragmentation.amount_milli(), 2));
  j.Key("ratio_percent").Double(RoundDecimals(m.fragmentation.ratio_percent(), 2));
  j.Key("q124_percent").Double(RoundDecimals(m.fragmentation.q124_percent(), 2));
  j.Key("by_case_milli").BeginObject();
  for (size_t c = 0; c < kFragCases; ++c) {
    j.Key(FragCaseName(static_cast<FragCase>(c)))
        .Double(RoundDecimals(m.fragmentation.by_case[c], 2));
  }
  j.EndObject();
  j.EndObject();
}

void WriteSchedulers(const Simulation& sim, JsonWriter& j) {
  const SharedClusterDispatcher& schedulers = *sim.schedulers();
  j.Key("schedulers").BeginArray();
  for (size_t i = 0; i < schedulers.size(); ++i) {
    const KubernetesDispatcher::Counts& counts = schedulers.scheduler(i).counts();
    j.BeginObject();
    j.Key("name").String(schedulers.scheduler(i).scheduler_name());
    j.Key("attempts").Uint(counts.attempts);
    j.Key("placed").Uint(counts.placed);
    j.Key("conflicts").Uint(counts.conflicts);
    j.EndObject();
  }
  j.EndArray();
}

void AddSchedulerRows(const Simulation& sim, TextTable* table) {
  const SharedClusterDispatcher& schedulers = *sim.schedulers();
  for (size_t i = 0; i < schedulers.size(); ++i) {
    const KubernetesDispatcher::Counts& counts = schedulers.scheduler(i).counts();
    table->AddRow({absl::StrCat("conflicts of ", schedulers.scheduler(i).scheduler_name()),
                   absl::StrCat(counts.conflicts),
                   absl::StrCat(counts.attempts, " attempts, ", counts.placed, " placed")});
  }
}

std::string TimeseriesHeader() {
  std::string header =
      "time_seconds,pods_arrived,pods_scheduled,pods_dropped,pods_finished,gpu_arrived_milli,gpu_"
      "allocated_milli,"
      "cpu_allocated_milli,memory_allocated_bytes,gpus_in_use,nodes_in_use,gpus_on_used_nodes,"
      "fragmentation_milli,"
      "fragmentation_ratio_percent";
  for (size_t c = 0; c < kFragCases; ++c) {
    absl::StrAppend(&header, ",", FragCaseName(static_cast<FragCase>(c)), "_milli");
  }
  return header + "\n";
}

// Removes the files of an unfinished run from `dir`, because a new run does not resume it.
absl::Status RemoveUnfinished(const std::string& dir) {
  std::vector<std::string> names = {"ledger.partial"};
  for (const char* name : kOwnFiles) names.push_back(absl::StrCat(name, ".tmp"));
  for (const std::string& name : names) {
    const std::string path = absl::StrCat(dir, "/", name);
    std::error_code error;
    fs::remove(path, error);
    if (error) return absl::InvalidArgumentError(absl::StrCat(path, ": ", error.message()));
  }
  return absl::OkStatus();
}

double Percent(int64_t part, int64_t whole) {
  return whole > 0 ? 100 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

}  // namespace

absl::StatusOr<std::unique_ptr<FolderLock>> PrepareOutputDir(const std::string& dir, bool force) {
  return PrepareOutputDir(dir, force, IsOwn);
}

absl::StatusOr<std::unique_ptr<FolderLock>> PrepareOutputDir(
    const std::string& dir, bool force, absl::FunctionRef<bool(const std::string&)> is_own) {
  std::error_code error;
  fs::create_directories(dir, error);
  if (error || !fs::is_directory(dir, error)) {
    return absl::InvalidArgumentError(absl::StrCat(
        dir, ": cannot make the output folder: ", error ? error.message() : "it is a file"));
  }
  absl::StatusOr<std::unique_ptr<FolderLock>> lock = FolderLock::Take(dir);
  if (!lock.ok() || force) return lock;
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(dir, error)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    if (is_own(name)) continue;
    return absl::FailedPreconditionError(
        absl::StrCat(dir, ": holds '", name,
                     "', which drasim did not write; choose another folder or give --force"));
  }
  return lock;
}

std::string ResolvedYaml(const Simulation& sim) { return ResolvedYaml(*sim.spec().written); }

std::string SummaryJson(const Simulation& sim) {
  const Sample& m = sim.metrics().sample();
  JsonWriter j;
  j.BeginDocument("summary");
  WriteScenario(sim, j);
  j.Key("pods").BeginObject();
  j.Key("arrived").Int(m.pods_arrived);
  j.Key("scheduled").Int(m.pods_scheduled);
  j.Key("unschedulable").Int(m.pods_dropped + static_cast<int64_t>(sim.engine().pods_waiting()));
  j.Key("finished").Int(m.pods_finished);
  j.Key("attempts_failed").Int(m.attempts_failed);
  if (IsReplay(sim)) {
    j.Key("evicted").Int(m.pods_evicted);
    j.Key("failed").Int(m.pods_failed);
    j.Key("deleted").Int(m.pods_deleted);
  }
  j.EndObject();
  if (sim.schedulers() != nullptr) WriteSchedulers(sim, j);
  if (IsReplay(sim)) {
    j.Key("never_fitting_jobs").Uint(sim.engine().never_fitting());
    sim.MakeJobReport().WriteJson(j);
  }
  j.Key("nodes").BeginObject();
  j.Key("count").Uint(sim.cluster().node_count());
  j.Key("in_use").Int(m.totals.nodes_in_use);
  j.EndObject();
  WriteAmounts(m, j);
  if (sim.device_report() != nullptr) WriteDevices(sim, j);
  if (sim.control_plane() != nullptr) WriteDra(sim, j);
  j.Key("dropped_by_shape").BeginArray();
  for (const auto& [shape_id, pods] : DroppedShapes(sim)) {
    const ResourceRequest& request = sim.cluster().shapes().row(ShapeId(shape_id)).request;
    j.BeginObject();
    j.Key("cpu_milli").Int(request.cpu_milli);
    j.Key("memory_bytes").Int(request.memory_bytes);
    j.Key("gpu_count").Int(request.gpu_count);
    j.Key("gpu_milli").Int(request.gpu_milli);
    j.Key("gpu_spec").String(request.gpu_spec);
    j.Key("pods").Int(pods);
    j.EndObject();
  }
  j.EndArray();
  std::string now;
  AppendSeconds(sim.engine().now(), &now);
  j.Key("virtual_seconds").Number(now);
  j.Key("hashes").BeginObject();
  if (sim.spec().order == JobOrder::kArtifact) {
    const OrderHashes h = ComputeOrderHashes(sim.cluster(), sim.ranks());
    j.Key("order").String(HexHash(h.order));
    j.Key("rank").String(HexHash(h.rank));
    j.Key("placement").String(HexHash(h.placement));
  } else {
    j.Key("order").Null().Key("rank").Null().Key("placement").Null();
  }
  j.EndObject();
  j.Key("fingerprint").String(HexHash(sim.fingerprint()));
  j.EndObject();
  return j.text();
}

namespace {

std::string OneDecimal(double value) { return FixedText(value, 1); }

// For a replay, in which the cluster fills and empties: means over the run instead of totals and of
// the state at the end.
void AddReplayRows(const Simulation& sim, const JobFigures& figures, TextTable* table) {
  const WindowIntegrals means = sim.utilisation();
  const auto add = [&](absl::string_view name, Level held, Level capacity) {
    const std::optional<double> mean = means.Mean(held);
    if (!mean.has_value() || means.Integral(capacity) == 0) return;
    table->AddRow({std::string(name), OneDecimal(*mean / 1000),
                   absl::StrCat(FixedText(*means.Percent(held, capacity), 2), " % of ",
                                OneDecimal(*means.Mean(capacity) / 1000))});
  };
  int64_t ended = 0;
  for (size_t s = 0; s < kJobStates; ++s) {
    if (IsEnded(static_cast<JobState>(s))) ended += figures.by_state[s];
  }
  table->AddRow({"jobs finished", absl::StrCat(figures.all.count),
                 absl::StrCat(figures.submitted, " submitted")});
  table->AddRow({"jobs not ended", absl::StrCat(figures.submitted - ended),
                 absl::StrCat(figures.submitted, " submitted")});
  add("GPUs allocated, mean", Level::kGpuAllocatedMilli, Level::kGpuCapacityMilli);
  add("CPU cores allocated, mean", Level::kCpuAllocatedMilli, Level::kCpuCapacityMilli);
  for (const auto& [name, level] : {std::make_pair("jobs running, mean", Level::kJobsRunning),
                                    std::make_pair("jobs waiting, mean", Level::kJobsWaiting)}) {
    const std::optional<double> mean = means.Mean(level);
    if (mean.has_value()) table->AddRow({name, OneDecimal(*mean), ""});
  }
}

}  // namespace

std::string SummaryTable(const Simulation& sim) {
  const Sample& m = sim.metrics().sample();
  const ClusterTotals& t = m.totals;
  TextTable table({absl::StrCat(sim.spec().scheduler.profile.policy, ", ",
                                RunModeName(sim.spec().mode), ", seed ", sim.spec().seed),
                   "amount", "of"});
  const auto gpus = [](int64_t milli) { return OneDecimal(static_cast<double>(milli) / 1000); };
  if (IsReplay(sim)) {
    const JobReport report = sim.MakeJobReport();
    AddReplayRows(sim, report.figures(), &table);
    if (sim.schedulers() != nullptr) AddSchedulerRows(sim, &table);
    if (sim.device_report() != nullptr) AddDeviceRows(sim, &table);
    if (sim.control_plane() != nullptr) AddDraRows(sim, &table);
    return absl::StrCat(table.Render(false), report.JobsTable(), "fingerprint ",
                        HexHash(sim.fingerprint()), "\n");
  }
  table.AddRow(
      {"pods scheduled", absl::StrCat(m.pods_scheduled), absl::StrCat(m.pods_arrived, " arrived")});
  table.AddRow({"GPUs requested", gpus(m.gpu_arrived_milli),
                absl::StrCat(FixedText(Percent(m.gpu_arrived_milli, t.gpu_milli_capacity), 2),
                             " % of ", t.gpu_count)});
  table.AddRow({"GPUs allocated", gpus(t.gpu_milli_allocated),
                absl::StrCat(FixedText(Percent(t.gpu_milli_allocated, t.gpu_milli_capacity), 2),
                             " % of ", t.gpu_count)});
  table.AddRow({"GPUs fragmented", gpus(static_cast<int64_t>(m.fragmentation.amount_milli())),
                absl::StrCat(FixedText(m.fragmentation.ratio_percent(), 2), " % of idle")});
  table.AddRow({"CPU cores allocated", gpus(t.cpu_milli_allocated),
                absl::StrCat(FixedText(Percent(t.cpu_milli_allocated, t.cpu_milli_capacity), 2),
                             " % of ", gpus(t.cpu_milli_capacity))});
  table.AddRow(
      {"nodes in use", absl::StrCat(t.nodes_in_use), absl::StrCat(sim.cluster().node_count())});
  if (sim.device_report() != nullptr) AddDeviceRows(sim, &table);
  if (sim.control_plane() != nullptr) AddDraRows(sim, &table);
  return absl::StrCat(table.Render(false), "fingerprint ", HexHash(sim.fingerprint()), "\n");
}

std::string SummaryCsv(const Simulation& sim) {
  const Sample& m = sim.metrics().sample();
  return absl::StrCat(
      "policy,seed,pods_arrived,pods_scheduled,pods_unschedulable,gpu_capacity_milli,gpu_arrived_"
      "milli,"
      "gpu_allocated_milli,cpu_allocated_milli,fragmentation_milli,fragmentation_ratio_percent,"
      "fingerprint\n",
      sim.spec().scheduler.profile.policy, ",", sim.spec().seed, ",", m.pods_arrived, ",",
      m.pods_scheduled, ",", m.pods_dropped + static_cast<int64_t>(sim.engine().pods_waiting()),
      ",", m.totals.gpu_milli_capacity, ",", m.gpu_arrived_milli, ",", m.totals.gpu_milli_allocated,
      ",", m.totals.cpu_milli_allocated, ",", FixedText(m.fragmentation.amount_milli(), 2), ",",
      FixedText(m.fragmentation.ratio_percent(), 2), ",", HexHash(sim.fingerprint()), "\n");
}

std::string RunJson(const Simulation& sim, double wall_seconds) {
  JsonWriter j;
  j.BeginDocument("run");
  j.Key("drasim_version").String(kDrasimVersion);
  j.Key("compiler").String(__VERSION__);
  j.Key("wall_seconds").Double(wall_seconds);
  j.Key("records").Uint(sim.engine().records());
  WriteSteps(WorkStepsOf(sim), j);
  j.EndObject();
  return j.text();
}

RunOutputs::RunOutputs(Simulation* sim, std::string dir)
    : sim_(sim),
      dir_(std::move(dir)),
      pod_log_(sim->front_end() != nullptr || sim->cluster().any_mig(), &sim->summaries()) {
  if (sim->front_end() != nullptr) device_log_ = std::make_unique<DeviceLog>();
}

std::string RunOutputs::PathOf(absl::string_view name) const {
  return absl::StrCat(dir_, "/", name);
}

absl::StatusOr<std::unique_ptr<RunOutputs>> RunOutputs::Attach(Simulation* sim,
                                                               const std::string& dir) {
  std::unique_ptr<RunOutputs> outputs(new RunOutputs(sim, dir));
  RETURN_IF_ERROR(RemoveUnfinished(dir));
  if (sim->spec().output.ledger) {
    ASSIGN_OR_RETURN(
        outputs->ledger_,
        LedgerWriter::Create(outputs->PathOf("ledger"), ResolvedYaml(*sim), sim->cluster(),
                             sim->ranks(), sim->summaries(), LedgerPace(), sim->Layouts()));
  }
  RETURN_IF_ERROR(outputs->timeseries_.Open(outputs->PathOf("timeseries.csv")));
  outputs->buffer_ = TimeseriesHeader();
  outputs->Connect();
  return outputs;
}

absl::StatusOr<std::unique_ptr<RunOutputs>> RunOutputs::Resume(Simulation* sim,
                                                               const std::string& dir,
                                                               const LedgerPosition& position) {
  absl::StatusOr<std::unique_ptr<LedgerWriter>> ledger = LedgerWriter::Continue(
      position, ResolvedYaml(*sim), sim->cluster(), sim->ranks(), sim->summaries(), sim->Layouts());
  if (!ledger.ok()) {
    return absl::Status(ledger.status().code(),
                        absl::StrCat(dir, "/ledger.partial: ", ledger.status().message()));
  }
  std::unique_ptr<RunOutputs> outputs(new RunOutputs(sim, dir));
  outputs->ledger_ = *std::move(ledger);
  outputs->Connect();
  return outputs;
}

// Attaches the writers to the simulation.
void RunOutputs::Connect() {
  sim_->AddSink(&pod_log_);
  if (device_log_ != nullptr) sim_->AddSink(device_log_.get());
  sim_->metrics().AddObserver([this](const Sample& sample) { AppendSample(sample); });
  if (ledger_ == nullptr) return;
  ledger_->set_max_bytes(sim_->spec().output.max_ledger_bytes);
  ledger_->set_jobs(&sim_->jobs());
  if (sim_->extenders() != nullptr) {
    sim_->extenders()->set_on_call(
        [this](absl::string_view line) { ledger_->AddExtenderCall(line); });
  }
  if (sim_->control_plane() != nullptr) {
    ledger_->set_calls([this] { return CallsByClient(*sim_); });
  }
  sim_->AddSink(ledger_.get());
  timeseries_.KeepTemporary();
  sim_->set_on_checkpoint([this](const SavedState& state) { return AddCheckpoint(state); });
  sim_->set_attached_state([this](StateWriter& out) { Save(out); },
                           [this](StateReader& in) { return Load(in); });
}

absl::Status RunOutputs::FlushSamples() {
  const absl::Status status = timeseries_.Write(buffer_);
  buffer_.clear();
  return status;
}

absl::Status RunOutputs::AddCheckpoint(const SavedState& state) {
  // The checkpoint refers to these rows, so they are written first: a kill in between leaves
  // surplus rows, never too few.
  RETURN_IF_ERROR(FlushSamples());
  RETURN_IF_ERROR(timeseries_.Flush());
  return ledger_->AddCheckpoint(state);
}

void RunOutputs::Save(StateWriter& out) const {
  out.Section("run_outputs");
  out.U64(timeseries_.size() + buffer_.size());
}

absl::Status RunOutputs::Load(StateReader& in) {
  DRASIM_CHECK(!timeseries_.open());  // it was made by Resume
  in.Section("run_outputs");
  const uint64_t timeseries_bytes = in.U64();
  RETURN_IF_ERROR(in.status());
  RETURN_IF_ERROR(BringBack("timeseries.csv", "timeseries.csv.tmp"));
  RETURN_IF_ERROR(timeseries_.Reopen(PathOf("timeseries.csv"), timeseries_bytes));
  RETURN_IF_ERROR(BringBack("ledger", "ledger.partial"));
  return ledger_->Reopen(PathOf("ledger"));
}

// A run killed in Complete may have renamed some of its files already. While summary.json exists,
// files with final names belong to an earlier run.
absl::Status RunOutputs::BringBack(absl::string_view name, absl::string_view temporary) const {
  std::error_code error;
  if (fs::exists(PathOf(temporary), error) || !fs::exists(PathOf(name), error) ||
      fs::exists(PathOf("summary.json"), error)) {
    return absl::OkStatus();
  }
  fs::rename(PathOf(name), PathOf(temporary), error);
  if (!error) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat(PathOf(name), ": cannot rename to ", PathOf(temporary), ": ", error.message()));
}

void RunOutputs::AppendSample(const Sample& s) {
  const ClusterTotals& t = s.totals;
  AppendSeconds(s.time, &buffer_);
  const std::array counts = {s.pods_arrived,        s.pods_scheduled,         s.pods_dropped,
                             s.pods_finished,       s.gpu_arrived_milli,      t.gpu_milli_allocated,
                             t.cpu_milli_allocated, t.memory_bytes_allocated, t.gpus_in_use,
                             t.nodes_in_use,        t.gpus_on_used_nodes};
  constexpr size_t kMostFieldChars = kMostDoubleChars + 1;
  std::array<char, (counts.size() + 2 + kFragCases) * kMostFieldChars> text;
  char* to = text.data();
  for (const int64_t count : counts) {
    *to++ = ',';
    to = std::to_chars(to, to + kMostDoubleChars, count).ptr;
  }
  const auto append = [&to](double v) {
    *to++ = ',';
    to = WriteRounded(v, 2, to);
  };
  append(s.fragmentation.amount_milli());
  append(s.fragmentation.ratio_percent());
  for (double part : s.fragmentation.by_case) append(part);
  buffer_.append(text.data(), to);
  buffer_.push_back('\n');
  // The file keeps an error until Complete.
  if (buffer_.size() >= kBufferBytes) (void)FlushSamples();
}

absl::StatusOr<AtomicFile*> RunOutputs::Stage(absl::string_view name) {
  auto file = std::make_unique<AtomicFile>();
  RETURN_IF_ERROR(file->Open(PathOf(name)));
  AtomicFile* const staged = file.get();
  staged_.emplace_back(std::string(name), std::move(file));
  return staged;
}

absl::Status RunOutputs::StageText(absl::string_view name, absl::string_view text) {
  ASSIGN_OR_RETURN(AtomicFile* const file, Stage(name));
  RETURN_IF_ERROR(file->Write(text));
  return file->Finish();
}

absl::Status RunOutputs::StagePods() {
  ASSIGN_OR_RETURN(AtomicFile* const pods, Stage("pods.csv"));
  std::string text = pod_log_.CsvHeader();
  constexpr size_t kPiece = 1024;
  const size_t n = sim_->cluster().pod_count();
  for (size_t first = 0; first < n; first += kPiece) {
    pod_log_.AppendCsv(sim_->cluster(), first, std::min(n, first + kPiece), &text);
    RETURN_IF_ERROR(pods->Write(text));
    text.clear();
  }
  RETURN_IF_ERROR(pods->Write(text));
  return pods->Finish();
}

absl::Status RunOutputs::StageJobs() {
  ASSIGN_OR_RETURN(AtomicFile* const file, Stage("jobs.csv"));
  const JobReport report = sim_->MakeJobReport();
  std::string text = JobReport::CsvHeader();
  constexpr size_t kPiece = 1024;
  const size_t n = sim_->jobs().size();
  for (size_t first = 0; first < n; first += kPiece) {
    report.AppendCsv(sim_->cluster(), first, std::min(n, first + kPiece), &text);
    RETURN_IF_ERROR(file->Write(text));
    text.clear();
  }
  RETURN_IF_ERROR(file->Write(text));
  return file->Finish();
}

// Writes every file of the run under its temporary name.
absl::Status RunOutputs::StageAll(double wall_seconds) {
  RETURN_IF_ERROR(FlushSamples());
  RETURN_IF_ERROR(timeseries_.Finish());
  RETURN_IF_ERROR(StagePods());
  if (device_log_ != nullptr) {
    RETURN_IF_ERROR(StageText("device_events.csv", device_log_->csv()));
  }
  if (IsReplay(*sim_)) {
    RETURN_IF_ERROR(StageJobs());
  }
  RETURN_IF_ERROR(StageText("by_load.csv", sim_->load_table().ToCsv()));
  RETURN_IF_ERROR(StageText("scenario.yaml", ResolvedYaml(*sim_)));
  RETURN_IF_ERROR(StageText("run.json", RunJson(*sim_, wall_seconds)));
  if (ledger_ != nullptr) {
    RETURN_IF_ERROR(ledger_->Seal(sim_->fingerprint()));
  }
  return StageText("summary.json", SummaryJson(*sim_));
}

// Removes files that this run does not write, and summary.json: until the new one exists, the
// folder holds no finished run.
absl::Status RunOutputs::RemoveEarlierRun() const {
  for (const char* own : kOwnFiles) {
    const std::string name = own;
    const bool ledgers = name == "ledger" || name == "ledger.partial";
    const bool replaced = name == "timeseries.csv" || (ledgers && ledger_ != nullptr) ||
                          std::any_of(staged_.begin(), staged_.end(),
                                      [&](const auto& file) { return file.first == name; });
    if (replaced && name != "summary.json") continue;
    std::error_code error;
    fs::remove(PathOf(name), error);
    if (error) return FileStatus(PathOf(name), "cannot remove the file", error.value());
  }
  return absl::OkStatus();
}

absl::Status RunOutputs::Complete(double wall_seconds) {
  RETURN_IF_ERROR(StageAll(wall_seconds));
  RETURN_IF_ERROR(RemoveEarlierRun());
  RETURN_IF_ERROR(timeseries_.Commit());
  for (const auto& [name, file] : staged_) {
    // summary.json is last: once it exists, so does everything else. The ledger is next to last, so
    // a resumption finds ledger.partial as long as a file may be missing.
    if (name == "summary.json" && ledger_ != nullptr) {
      RETURN_IF_ERROR(ledger_->Commit());
    }
    RETURN_IF_ERROR(file->Commit());
  }
  return absl::OkStatus();
}

absl::Status RunOutputs::Abandon() {
  if (ledger_ == nullptr) return absl::OkStatus();
  return ledger_->Abandon();
}

}  // namespace drasim
