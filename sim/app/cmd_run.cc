// drasim run.

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "sim/app/commands.h"
#include "sim/app/progress.h"
#include "sim/app/run_outputs.h"
#include "sim/app/simulation.h"

namespace drasim {
namespace {

std::atomic<bool> stop_requested{false};

void OnSignal(int) { stop_requested.store(true); }

}  // namespace

absl::Status RunCommand(const ParsedFlags& flags) {
  const auto start = std::chrono::steady_clock::now();
  absl::StatusOr<GivenScenario> given = ScenarioFromFlags(flags);
  if (!given.ok()) return given.status();
  proto::Scenario* scenario = &given->scenario;
  if (flags.Has("out")) scenario->mutable_output()->set_dir(*flags.Get("out"));
  const std::string format = flags.GetOr("format", "table");
  if (format != "table" && format != "json" && format != "csv") {
    return absl::InvalidArgumentError(
        absl::StrCat("--format: found '", format, "', expected table, json or csv"));
  }
  if (absl::Status s = ResolveGiven(&*given); !s.ok()) return s;
  const std::string dir = scenario->output().dir();
  if (!dir.empty()) {
    if (absl::Status s = PrepareOutputDir(dir, flags.Has("force")); !s.ok()) return s;
  }
  absl::StatusOr<std::unique_ptr<Simulation>> sim = Simulation::Build(*scenario);
  if (!sim.ok()) return sim.status();
  for (const std::string& warning : (*sim)->warnings())
    std::fprintf(stderr, "drasim: warning: %s\n", warning.c_str());
  std::unique_ptr<RunOutputs> outputs;
  if (!dir.empty()) {
    absl::StatusOr<std::unique_ptr<RunOutputs>> attached = RunOutputs::Attach(sim->get(), dir);
    if (!attached.ok()) return attached.status();
    outputs = *std::move(attached);
  }
  Progress progress("run", (*sim)->pods_expected(), flags.Has("quiet"));
  (*sim)->set_on_progress([&progress](uint64_t pods) { progress.Update(pods); });
  (*sim)->set_stop(&stop_requested);
  std::signal(SIGINT, OnSignal);
  std::signal(SIGTERM, OnSignal);
  if (absl::Status s = (*sim)->Start(); !s.ok()) return s;
  const absl::Status ran = (*sim)->Run();
  progress.Clear();
  if (!ran.ok()) {
    if (outputs != nullptr) (void)outputs->Abandon();
    return ran;
  }
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  if (outputs != nullptr) {
    if (absl::Status s = outputs->Complete(wall.count()); !s.ok()) return s;
  }
  const std::string text = format == "json"  ? SummaryJson(**sim)
                           : format == "csv" ? SummaryCsv(**sim)
                                             : SummaryTable(**sim);
  std::fputs(text.c_str(), stdout);
  return absl::OkStatus();
}

}  // namespace drasim
