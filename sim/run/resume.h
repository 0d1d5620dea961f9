// The state that a killed run leaves in its folder, for a run that continues it.
#ifndef DRASIM_SIM_RUN_RESUME_H_
#define DRASIM_SIM_RUN_RESUME_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/proto/scenario.pb.h"
#include "sim/record/ledger_writer.h"
#include "sim/scenario/run_spec.h"

namespace drasim {

// The scenario of a run that reads its inputs: before it knows the nodes, it has no ledger.
inline constexpr char kBegunScenarioFile[] = "scenario.partial.yaml";

// Leaves that file in a folder, so that a run can be resumed that is killed before its ledger
// exists. The destructor removes it.
class BegunScenario {
 public:
  static absl::StatusOr<std::unique_ptr<BegunScenario>> Leave(const RunSpec& spec,
                                                              const std::string& dir);
  ~BegunScenario();
  BegunScenario(const BegunScenario&) = delete;
  BegunScenario& operator=(const BegunScenario&) = delete;

 private:
  explicit BegunScenario(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

struct Resumption {
  RunSpec spec;             // as the run resolved it, with output.dir
  LedgerPosition position;  // without checkpoints: the run starts over
  std::string state;        // of the last checkpoint
};

// Whether `dir` has anything to go on with: a run that has left neither ledger nor scenario there
// can only start over.
bool HasBegunRun(const std::string& dir);

// Reads the ledger in `dir` up to its last whole checkpoint; changes nothing. A run is finished
// when its last file, summary.json, is there and no ledger.partial: a complete ledger without
// summary.json is gone on with, too. NotFound unless HasBegunRun; FailedPrecondition for a finished
// run and for one of another drasim; InvalidArgument where the run cannot be repeated; DataLoss for
// damage. O(records).
absl::StatusOr<Resumption> FindResumption(const std::string& dir);

// InvalidArgument, naming the first key that differs, when two resolved scenarios are not the same
// run. Where the output goes does not matter, nor does the hash of an input that `given` does not
// pin.
absl::Status CheckSameScenario(const proto::Scenario& given, const proto::Scenario& begun);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_RESUME_H_
