// drasim run.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "sim/app/cell.h"
#include "sim/app/commands.h"
#include "sim/app/progress.h"
#include "sim/app/resume.h"
#include "sim/app/run_outputs.h"
#include "sim/app/simulation.h"

namespace drasim {
namespace {

std::atomic<bool> stop_requested{false};

void OnSignal(int) { stop_requested.store(true); }

// What the command line asks for.
struct RunRequest {
  proto::Scenario scenario;               // resolved
  GivenScenario given;                    // where its values come from, for messages
  absl::optional<Resumption> resumption;  // with --resume
};

// With --resume the scenario is the one in the ledger. What else the command line says about it may
// not contradict.
absl::StatusOr<RunRequest> ReadResumption(GivenScenario given) {
  const std::string dir = given.scenario.output().dir();
  if (dir.empty()) {
    return absl::InvalidArgumentError(
        "--resume needs --out DIR, the folder of the run to go on with");
  }
  if (given.scenario.output().has_ledger() && !given.scenario.output().ledger()) {
    return absl::InvalidArgumentError(
        "--resume: a run with --ledger=off leaves no checkpoints to go on from");
  }
  const bool told = !given.file.empty() ||
                    std::any_of(given.overridden.begin(), given.overridden.end(),
                                [](const std::string& key) { return key != "output.dir"; });
  if (told) {
    if (absl::Status s = ResolveGiven(&given); !s.ok()) return s;
  }
  absl::StatusOr<Resumption> found = FindResumption(dir);
  if (!found.ok()) return found.status();
  if (told) {
    if (absl::Status s = CheckSameScenario(given.scenario, found->scenario); !s.ok()) return s;
  }
  RunRequest request;
  request.scenario = found->scenario;
  request.resumption = *std::move(found);
  return request;
}

absl::StatusOr<RunRequest> ReadRequest(const ParsedFlags& flags) {
  absl::StatusOr<GivenScenario> given = ScenarioFromFlags(flags);
  if (!given.ok()) return given.status();
  if (flags.Has("out")) given->scenario.mutable_output()->set_dir(*flags.Get("out"));
  const std::string format = flags.GetOr("format", "table");
  if (format != "table" && format != "json" && format != "csv") {
    return absl::InvalidArgumentError(
        absl::StrCat("--format: found '", format, "', expected table, json or csv"));
  }
  if (flags.Has("resume")) return ReadResumption(*std::move(given));
  if (absl::Status s = ResolveGiven(&*given); !s.ok()) return s;
  const bool replay = given->scenario.mode() == "replay";
  if (absl::Status s = CheckQueueFlag(flags, replay); !s.ok()) return s;
  RunRequest request;
  request.scenario = given->scenario;
  request.given = *std::move(given);
  const std::string& dir = request.scenario.output().dir();
  if (dir.empty()) return request;
  if (absl::Status s = PrepareOutputDir(dir, flags.Has("force")); !s.ok()) return s;
  return request;
}

// Null when the run leaves no files.
absl::StatusOr<std::unique_ptr<RunOutputs>> AttachOutputs(const RunRequest& request,
                                                          Simulation* sim) {
  const std::string& dir = request.scenario.output().dir();
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

}  // namespace

absl::Status RunCommand(const ParsedFlags& flags) {
  const auto start = std::chrono::steady_clock::now();
  absl::StatusOr<RunRequest> request = ReadRequest(flags);
  if (!request.ok()) return request.status();
  absl::StatusOr<std::unique_ptr<Simulation>> sim = Simulation::Build(request->scenario);
  if (!sim.ok()) return InFile(request->given, sim.status());
  const size_t told = PrintWarnings(**sim, 0);
  absl::StatusOr<std::unique_ptr<RunOutputs>> attached = AttachOutputs(*request, sim->get());
  if (!attached.ok()) return attached.status();
  RunOutputs* const outputs = attached->get();
  Progress progress("run", (*sim)->pods_expected(), flags.Has("quiet"));
  (*sim)->set_on_progress([&progress](uint64_t pods) { progress.Update(pods); });
  (*sim)->set_stop(&stop_requested);
  std::signal(SIGINT, OnSignal);
  std::signal(SIGTERM, OnSignal);
  if (absl::Status s = Start(&*request, sim->get()); !s.ok()) return s;
  const absl::Status ran = (*sim)->Run();
  progress.Clear();
  PrintWarnings(**sim, told);  // what only the run could tell
  if (!ran.ok()) {
    if (outputs != nullptr) (void)outputs->Abandon();
    if (!absl::IsCancelled(ran) || outputs == nullptr || !outputs->resumable()) return ran;
    return absl::CancelledError(absl::StrCat(ran.message(), "; `drasim run --resume --out ",
                                             request->scenario.output().dir(),
                                             "` goes on with it"));
  }
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  if (outputs != nullptr) {
    if (absl::Status s = outputs->Complete(wall.count()); !s.ok()) return s;
  }
  const std::string format = flags.GetOr("format", "table");
  const std::string text = format == "json"  ? SummaryJson(**sim)
                           : format == "csv" ? SummaryCsv(**sim)
                                             : SummaryTable(**sim);
  std::fputs(text.c_str(), stdout);
  return absl::OkStatus();
}

}  // namespace drasim
