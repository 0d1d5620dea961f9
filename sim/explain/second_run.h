// A run simulated again from its ledger, to learn what the ledger does not keep.
//
//   ASSIGN_OR_RETURN(const RunSpec spec, ScenarioOfLedger(*ledger));
//   ASSIGN_OR_RETURN(SecondRun run,
//                    StartSecondRun(spec, *ledger, limit, [&](Simulation* sim) {
//                      sim->AddSink(&sink);
//                    }, &warnings));
//   sink.Begin(run.records);
//   RETURN_IF_ERROR(run.sim->Run());
#ifndef DRASIM_SIM_EXPLAIN_SECOND_RUN_H_
#define DRASIM_SIM_EXPLAIN_SECOND_RUN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "sim/record/device_log.h"
#include "sim/record/ledger_reader.h"
#include "sim/record/pod_log.h"
#include "sim/run/simulation.h"
#include "sim/scenario/run_spec.h"

namespace drasim {

// The scenario of the run. FailedPrecondition for the ledger of another version of drasim and for a
// run that read standard input.
absl::StatusOr<RunSpec> ScenarioOfLedger(const LedgerReader& ledger);

struct SecondRun {
  std::unique_ptr<Simulation> sim;  // started
  uint64_t records = 0;             // before its first one
  // These two belong to the checkpoints of a run that left files.
  std::unique_ptr<PodLog> pod_log;
  std::unique_ptr<DeviceLog> device_log;
};

// Builds and starts the run: from the last checkpoint with at most `limit` records, or, if there is
// none or it does not suit this program, from the beginning. In the latter case `warnings` gets a
// line. `attach` is called with each simulation that is built, one or two, before its start, and
// adds its sinks. The position of `ledger` stays. Errors are those of Simulation::Build and Start;
// FailedPrecondition for a run under several schedulers.
absl::StatusOr<SecondRun> StartSecondRun(const RunSpec& spec, LedgerReader* ledger, uint64_t limit,
                                         absl::FunctionRef<void(Simulation*)> attach,
                                         std::vector<std::string>* warnings);

}  // namespace drasim

#endif  // DRASIM_SIM_EXPLAIN_SECOND_RUN_H_
