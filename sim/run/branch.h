// A run that leaves the course of an earlier one: the same scenario with more node events, from the
// last checkpoint before them on. Its folder gets the earlier run's records up to there.
//
//   ASSIGN_OR_RETURN(const BranchPoint point, FindBranchPoint(from, first_event, scenario));
//   ...  // build a Simulation of the scenario with the events
//   ASSIGN_OR_RETURN(auto outputs, StartBranch(from, point, dir, sim.get()));
//   RETURN_IF_ERROR(sim->Run());
#ifndef DRASIM_SIM_RUN_BRANCH_H_
#define DRASIM_SIM_RUN_BRANCH_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/time.h"
#include "sim/record/ledger_reader.h"
#include "sim/run/run_outputs.h"
#include "sim/run/simulation.h"

namespace drasim {

namespace proto {
class Scenario;
}

struct BranchPoint {
  LedgerReader::Checkpoint checkpoint;
  SimTime time;  // of the last record before it
};

// The last checkpoint of the ledger (or of the folder with it) ahead of the instant. `scenario`:
// the resolved one without the added events. NotFound if there is no such checkpoint;
// FailedPrecondition for the ledger of another version of drasim, InvalidArgument for that of
// another scenario; others are the reader's. Costs the records between two keyframes for each
// checkpoint behind the instant.
absl::StatusOr<BranchPoint> FindBranchPoint(const std::string& ledger, SimTime before,
                                            const proto::Scenario& scenario);

// Attaches outputs in `dir`, and starts the simulation at the point. `sim` is built, and has its
// other sinks; it is of no use after an error, nor are the files that were left in `dir`, which
// RunOutputs::Attach replaces. Errors: those of reading and writing; FailedPrecondition if the
// nodes are not those of the ledger. O(records before the point).
absl::StatusOr<std::unique_ptr<RunOutputs>> StartBranch(const std::string& ledger,
                                                        const BranchPoint& point,
                                                        const std::string& dir, Simulation* sim);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_BRANCH_H_
