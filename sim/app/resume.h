// What the folder of a killed run still tells, for a run that goes on where it was.
#ifndef DRASIM_SIM_APP_RESUME_H_
#define DRASIM_SIM_APP_RESUME_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/proto/scenario.pb.h"
#include "sim/record/ledger_writer.h"

namespace drasim {

struct Resumption {
  proto::Scenario scenario;  // as the run resolved it, with output.dir
  LedgerPosition position;   // without checkpoints: the run begins anew
  std::string state;         // of the last checkpoint
};

// Reads the ledger in `dir` up to its last whole checkpoint; changes nothing. A run is finished
// when its last file, summary.json, is there: a complete ledger without it is gone on with, too.
// NotFound without a ledger; FailedPrecondition for a finished run and for one of another drasim;
// InvalidArgument where the run cannot be repeated; DataLoss for damage. O(records).
absl::StatusOr<Resumption> FindResumption(const std::string& dir);

// InvalidArgument, naming the first key that differs, when two resolved scenarios are not the same
// run. Where the output goes does not matter, nor does the hash of an input that `given` does not
// pin.
absl::Status CheckSameScenario(const proto::Scenario& given, const proto::Scenario& begun);

}  // namespace drasim

#endif  // DRASIM_SIM_APP_RESUME_H_
