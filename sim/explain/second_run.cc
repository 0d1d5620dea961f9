#include "sim/explain/second_run.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/proto/scenario.pb.h"
#include "model/status_macros.h"
#include "model/text/yaml_proto.h"
#include "sim/record/version.h"
#include "sim/scenario/resolve.h"

namespace drasim {
namespace {

absl::StatusOr<SecondRun> Build(const RunSpec& spec, LedgerReader* ledger,
                                absl::FunctionRef<void(Simulation*)> attach) {
  SecondRun second;
  absl::StatusOr<std::unique_ptr<Simulation>> sim = Simulation::Build(spec);
  if (!sim.ok()) {
    return absl::Status(sim.status().code(),
                        absl::StrCat(sim.status().message(),
                                     " (explain simulates the run again, from its inputs)"));
  }
  second.sim = *std::move(sim);
  if (RunExtenders* const extenders = second.sim->extenders(); extenders != nullptr) {
    RETURN_IF_ERROR(extenders->ReplayFrom(*ledger));
  }
  if (second.sim->has_other_schedulers()) {
    return absl::FailedPreconditionError(
        "explain: found a run under several schedulers, expected one: its queue is told");
  }
  second.pod_log = std::make_unique<PodLog>(second.sim->front_end() != nullptr ||
                                            second.sim->cluster().any_mig());
  second.sim->AddSink(second.pod_log.get());
  if (second.sim->front_end() != nullptr) {
    second.device_log = std::make_unique<DeviceLog>();
    second.sim->AddSink(second.device_log.get());
  }
  attach(second.sim.get());
  return second;
}

}  // namespace

absl::StatusOr<RunSpec> ScenarioOfLedger(const LedgerReader& ledger) {
  const std::string& version = ledger.header().drasim_version();
  if (version != kDrasimVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat(ledger.path(), ": a run of drasim ", version, ", which drasim ",
                     kDrasimVersion, " may not repeat; run it anew and explain that"));
  }
  proto::Scenario scenario;
  RETURN_IF_ERROR(MergeYaml(ledger.header().scenario_yaml(), ledger.path(), &scenario));
  ASSIGN_OR_RETURN(RunSpec spec, ResolveScenario(scenario));
  for (const auto& [key, file] : {std::pair("cluster.path", spec.cluster.nodes.path),
                                  std::pair("workload.trace.path", spec.workload.trace.path)}) {
    if (file != "-") continue;
    return absl::FailedPreconditionError(
        absl::StrCat(ledger.path(), ": ", key,
                     " was standard input, so that the run cannot be simulated again"));
  }
  return spec;
}

absl::StatusOr<SecondRun> StartSecondRun(const RunSpec& spec, LedgerReader* ledger, uint64_t limit,
                                         absl::FunctionRef<void(Simulation*)> attach,
                                         std::vector<std::string>* warnings) {
  ASSIGN_OR_RETURN(const std::vector<LedgerReader::Checkpoint> checkpoints,
                   ledger->ListCheckpoints());
  std::optional<LedgerReader::Checkpoint> from;
  for (const LedgerReader::Checkpoint& checkpoint : checkpoints) {
    if (checkpoint.records <= limit) from = checkpoint;
  }
  if (from.has_value()) {
    const absl::StatusOr<std::string> state = ledger->ReadCheckpoint(*from);
    absl::Status loaded = state.status();
    if (loaded.ok()) {
      ASSIGN_OR_RETURN(SecondRun second, Build(spec, ledger, attach));
      loaded = second.sim->Start(&*state);
      if (loaded.ok()) {
        second.records = from->records;
        return second;
      }
    }
    warnings->push_back(absl::StrCat("a checkpoint of ", ledger->path(), " cannot be used (",
                                     loaded.message(),
                                     "); the run is simulated from its beginning"));
  }
  ASSIGN_OR_RETURN(SecondRun second, Build(spec, ledger, attach));
  RETURN_IF_ERROR(second.sim->Start());
  return second;
}

}  // namespace drasim
