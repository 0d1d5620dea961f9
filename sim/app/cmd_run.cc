// drasim run.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/status_macros.h"
#include "sim/app/commands.h"
#include "sim/app/extender_flags.h"
#include "sim/app/format_flag.h"
#include "sim/app/scenario_flags.h"
#include "sim/compare/cell.h"
#include "sim/record/atomic_file.h"
#include "sim/record/data_table.h"
#include "sim/record/folder_lock.h"
#include "sim/record/pod_log.h"
#include "sim/run/end_objects.h"
#include "sim/run/progress.h"
#include "sim/run/resume.h"
#include "sim/run/run_outputs.h"
#include "sim/run/simulation.h"

namespace drasim {
namespace {

std::atomic<bool> stop_requested{false};

void OnSignal(int) { stop_requested.store(true); }

// The run that the command line asks for.
struct RunRequest {
  std::unique_ptr<FolderLock> lock;      // of output.dir, if any; released last
  std::unique_ptr<BegunScenario> begun;  // until there is a ledger
  RunSpec spec;
  GivenScenario given;                   // the origin of its values, for messages
  std::optional<Resumption> resumption;  // with --resume
};

// Keys that --resume accepts without the scenario.
bool IsAboutTheMachine(const std::string& key) {
  return key == "output.dir" || key == "output.max_ledger";
}

absl::StatusOr<RunRequest> NewRun(GivenScenario given, RunSpec spec, bool force) {
  RunRequest request;
  request.spec = std::move(spec);
  request.given = std::move(given);
  const std::string& dir = request.spec.output.dir;
  if (dir.empty()) return request;
  ASSIGN_OR_RETURN(request.lock, PrepareOutputDir(dir, force));
  return request;
}

// With --resume the scenario is the one that the run left in its folder. The command line must not
// contradict it.
absl::StatusOr<RunRequest> ReadResumption(GivenScenario given, bool force) {
  const GivenOutput output = OutputOf(given);
  const std::string& dir = output.dir;
  if (dir.empty()) {
    return absl::InvalidArgumentError(
        "--resume needs --out DIR, the folder of the run to go on with");
  }
  if (output.without_ledger) {
    return absl::InvalidArgumentError(
        "--resume: a run with --ledger=off leaves no checkpoints to go on from");
  }
  const bool told = !given.file.empty() ||
                    std::any_of(given.overridden.begin(), given.overridden.end(),
                                [](const std::string& key) { return !IsAboutTheMachine(key); });
  std::optional<RunSpec> wanted;
  if (told) {
    ASSIGN_OR_RETURN(wanted, ResolveGiven(given));
  }
  if (told && !HasBegunRun(dir)) {
    absl::StatusOr<RunRequest> request = NewRun(std::move(given), *std::move(wanted), force);
    if (request.ok()) {
      std::fprintf(stderr, "drasim: %s has no ledger yet; the run begins anew\n", dir.c_str());
    }
    return request;
  }
  RunRequest request;
  std::error_code error;
  if (std::filesystem::is_directory(dir, error)) {
    // Before it is read, since another process may be writing there.
    ASSIGN_OR_RETURN(request.lock, FolderLock::Take(dir));
  }
  ASSIGN_OR_RETURN(Resumption found, FindResumption(dir));
  if (told) RETURN_IF_ERROR(CheckSameScenario(*wanted->written, *found.spec.written));
  request.spec = found.spec;
  RETURN_IF_ERROR(request.spec.SetMaxLedger(output.max_ledger));
  request.resumption = std::move(found);
  return request;
}

absl::StatusOr<RunRequest> ReadRequest(const ParsedFlags& flags) {
  ASSIGN_OR_RETURN(GivenScenario given, ScenarioFromFlags(flags));
  if (flags.Has("out")) SetOutputDir(*flags.Get("out"), &given);
  if (flags.Has("resume")) return ReadResumption(std::move(given), flags.Has("force"));
  ASSIGN_OR_RETURN(RunSpec spec, ResolveGiven(given));
  RETURN_IF_ERROR(CheckQueueFlag(ContenderFlagsOf(flags), spec.is_replay()));
  return NewRun(std::move(given), std::move(spec), flags.Has("force"));
}

// Outputs of the run's end as objects, beside its results.
struct ObjectOutputs {
  std::string dir;                          // of --objects-out; empty: none
  std::unique_ptr<FolderLock> lock;         // of dir
  std::unique_ptr<AtomicFile> openmetrics;  // of --openmetrics-out; null: none
  PodLog own_log;                           // of a run without an output folder

  bool any() const { return !dir.empty() || openmetrics != nullptr; }
};

// Fails before the run if an output cannot be written, so that no run is wasted.
absl::Status PrepareObjectOutputs(const ParsedFlags& flags, ObjectOutputs* out) {
  if (flags.Has("objects-out")) {
    out->dir = *flags.Get("objects-out");
    if (out->dir.empty()) {
      return absl::InvalidArgumentError("--objects-out: found an empty text, expected a folder");
    }
    ASSIGN_OR_RETURN(out->lock, PrepareObjectsDir(out->dir, flags.Has("force")));
  }
  if (flags.Has("openmetrics-out")) {
    const std::string path = *flags.Get("openmetrics-out");
    std::error_code error;
    if (path.empty() || std::filesystem::is_directory(path, error)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--openmetrics-out: found '", path, "', expected the name of a file"));
    }
    out->openmetrics = std::make_unique<AtomicFile>();
    RETURN_IF_ERROR(out->openmetrics->Open(path));
  }
  return absl::OkStatus();
}

absl::Status WriteObjects(Simulation* sim, const RunOutputs* outputs, ObjectOutputs* out) {
  if (!out->any()) return absl::OkStatus();
  EndObjects end(sim, outputs != nullptr ? &outputs->pod_log() : &out->own_log);
  if (!out->dir.empty()) RETURN_IF_ERROR(end.WriteTo(out->dir));
  if (out->openmetrics == nullptr) return absl::OkStatus();
  RETURN_IF_ERROR(out->openmetrics->Write(end.MetricsText()));
  return out->openmetrics->Commit();
}

// For as long as there is no ledger to resume from.
absl::Status LeaveScenario(RunRequest* request) {
  const OutputSpec& output = request->spec.output;
  const bool goes_on =
      request->resumption.has_value() && !request->resumption->position.checkpoints.empty();
  if (goes_on || output.dir.empty() || !output.ledger) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(request->begun, BegunScenario::Leave(request->spec, output.dir));
  return absl::OkStatus();
}

// Null when the run leaves no files.
absl::StatusOr<std::unique_ptr<RunOutputs>> AttachOutputs(const RunRequest& request,
                                                          Simulation* sim) {
  const std::string& dir = request.spec.output.dir;
  if (dir.empty()) return std::unique_ptr<RunOutputs>();
  if (!request.resumption.has_value()) return RunOutputs::Attach(sim, dir);
  const LedgerPosition& position = request.resumption->position;
  if (position.checkpoints.empty()) {
    std::fprintf(stderr, "drasim: %s has no checkpoint yet; the run begins anew\n", dir.c_str());
    return RunOutputs::Attach(sim, dir);
  }
  std::fprintf(stderr, "drasim: %s goes on behind record %s\n", dir.c_str(),
               absl::StrCat(position.checkpoints.back().records).c_str());
  return RunOutputs::Resume(sim, dir, position);
}

// Chooses the channel to the scheduler's extenders, if there are any.
absl::Status AttachExtenders(const ParsedFlags& flags, const RunRequest& request, Simulation* sim) {
  if (sim->extenders() == nullptr) {
    if (!HasExtenderFlags(flags)) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "--extender-record, --extender-replay, --extender-check: the scenario has no extenders");
  }
  const std::string earlier =
      request.resumption.has_value() ? request.resumption->extender_calls : "";
  ASSIGN_OR_RETURN(std::unique_ptr<ExtenderChannel> channel, ExtenderChannelOf(flags, earlier));
  sim->extenders()->set_channel(std::move(channel));
  return absl::OkStatus();
}

// From the checkpoint, if there is one to go on from. Its state is not kept.
absl::Status Start(RunRequest* request, Simulation* sim) {
  if (!request->resumption.has_value() || request->resumption->position.checkpoints.empty()) {
    return sim->Start();
  }
  const std::string state = std::move(request->resumption->state);
  return sim->Start(&state);
}

// Prints the warnings from number `first` on; returns how many there are.
size_t PrintWarnings(const Simulation& sim, size_t first) {
  for (size_t i = first; i < sim.warnings().size(); ++i)
    std::fprintf(stderr, "drasim: warning: %s\n", sim.warnings()[i].c_str());
  return sim.warnings().size();
}

// Adds the command that completes a run which ended early.
absl::Status WithWayOn(const absl::Status& status, const RunOutputs* outputs,
                       const std::string& dir) {
  const bool has_way =
      absl::IsCancelled(status) || absl::IsUnavailable(status) || absl::IsResourceExhausted(status);
  if (!has_way || outputs == nullptr || !outputs->resumable()) return status;
  return absl::Status(
      status.code(),
      absl::StrCat(status.message(), "; `drasim run --resume --out ", dir,
                   absl::IsResourceExhausted(status) ? " --set output.max_ledger=SIZE" : "",
                   "` goes on with it"));
}

// Ends the run between two events: Ctrl-C, `kill`, and a terminal that is closed, unless the user
// has asked to survive that (nohup).
void StopOnSignals() {
  std::signal(SIGINT, OnSignal);
  std::signal(SIGTERM, OnSignal);
  if (std::signal(SIGHUP, OnSignal) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
}

// The state of a run whose last job has arrived.
std::string RestOfRun(const Simulation& sim) {
  std::string seconds;
  AppendSeconds(sim.engine().now(), &seconds);
  return absl::StrCat("all jobs have arrived; ", sim.engine().pods_waiting(), " pods wait at ",
                      seconds, " s of the run");
}

}  // namespace

absl::Status RunCommand(const ParsedFlags& flags) {
  const auto start = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(RunRequest request, ReadRequest(flags));
  ObjectOutputs objects;
  RETURN_IF_ERROR(PrepareObjectOutputs(flags, &objects));
  if (objects.any()) request.spec.KeepObjects();
  RETURN_IF_ERROR(LeaveScenario(&request));
  absl::StatusOr<std::unique_ptr<Simulation>> sim = Simulation::Build(request.spec);
  if (!sim.ok()) return InFile(request.given, sim.status());
  const size_t told = PrintWarnings(**sim, 0);
  RETURN_IF_ERROR(AttachExtenders(flags, request, sim->get()));
  ASSIGN_OR_RETURN(std::unique_ptr<RunOutputs> attached, AttachOutputs(request, sim->get()));
  request.begun.reset();
  RunOutputs* const outputs = attached.get();
  if (objects.any() && outputs == nullptr) (*sim)->AddSink(&objects.own_log);
  Progress progress("run", (*sim)->pods_expected(), flags.Has("quiet"));
  (*sim)->set_on_progress([&progress, run = sim->get()](uint64_t pods) {
    progress.Update(pods, [run] { return RestOfRun(*run); });
  });
  (*sim)->set_stop(&stop_requested);
  StopOnSignals();
  RETURN_IF_ERROR(Start(&request, sim->get()));
  const absl::Status ran = (*sim)->Run();
  progress.Clear();
  PrintWarnings(**sim, told);  // warnings found only by running
  const std::string& dir = request.spec.output.dir;
  if (!ran.ok()) {
    if (outputs != nullptr) (void)outputs->Abandon();
    return WithWayOn(ran, outputs, dir);
  }
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  if (outputs != nullptr) {
    if (absl::Status s = outputs->Complete(wall.count()); !s.ok()) {
      return WithWayOn(s, outputs, dir);
    }
  }
  const OutputFormat format = FormatOf(flags);
  const std::string text = format == OutputFormat::kJson  ? SummaryJson(**sim)
                           : format == OutputFormat::kCsv ? SummaryCsv(**sim)
                                                          : SummaryTable(**sim);
  std::fputs(text.c_str(), stdout);
  return WriteObjects(sim->get(), outputs, &objects);
}

}  // namespace drasim
