// Resumption of a killed run from the files in its folder.
#ifndef DRASIM_SIM_RUN_RESUME_H_
#define DRASIM_SIM_RUN_RESUME_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/record/ledger_writer.h"
#include "sim/scenario/run_spec.h"

namespace drasim {

namespace proto {
class Scenario;
}

// Holds the scenario of a run while it reads its inputs: the ledger begins after the nodes are
// known.
inline constexpr char kBegunScenarioFile[] = "scenario.partial.yaml";

// Writes that file, so that a run can be resumed even if it is killed before its ledger exists. The
// destructor removes the file.
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
  RunSpec spec;             // of the killed run, with output.dir
  LedgerPosition position;  // without checkpoints, the run starts over
  std::string state;        // of the last checkpoint
  // Answers of scheduler extenders up to that checkpoint (ledger_extender_calls.h).
  std::string extender_calls;
};

// Whether `dir` holds the ledger or the scenario of a run. Without either, nothing can be resumed.
bool HasBegunRun(const std::string& dir);

// Reads the ledger in `dir` up to its last whole checkpoint; changes no file. A run is finished if
// its last file, summary.json, exists and ledger.partial does not; a complete ledger without
// summary.json is resumed, too. NotFound unless HasBegunRun; FailedPrecondition for a finished run
// and for a run of another version of drasim; InvalidArgument if the run cannot be repeated;
// DataLoss for damaged files. O(records).
absl::StatusOr<Resumption> FindResumption(const std::string& dir);

// InvalidArgument, with the first key that differs, unless two resolved scenarios describe the same
// run. The output folder is ignored; so is the hash of an input that `given` does not pin.
absl::Status CheckSameScenario(const proto::Scenario& given, const proto::Scenario& begun);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_RESUME_H_
