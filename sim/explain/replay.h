// drasim explain for a run: reads its ledger, simulates the run again and tells the story of one
// pod.
//
//   ExplainRequest request;
//   request.path = "out";  // the run's folder
//   request.pod = "default/train-0";
//   ASSIGN_OR_RETURN(const Story story, ExplainRun(request));
//   std::fputs(StoryText(story).c_str(), stdout);
#ifndef DRASIM_SIM_EXPLAIN_REPLAY_H_
#define DRASIM_SIM_EXPLAIN_REPLAY_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "model/time.h"
#include "sim/explain/story.h"

namespace drasim {

struct ExplainRequest {
  std::string path;  // of the ledger, or of the folder it is in
  // "NAMESPACE/NAME" of a pod, "NAME" of one in the namespace default, or the name of a gang.
  std::string pod;
  std::optional<SimTime> at;  // absent: the end of the run
  bool brief = false;         // only how it stands, without its attempts
  bool quiet = false;         // no progress bar
};

// The run is simulated again from the same inputs, which must be where they were. It starts at the
// last checkpoint before the first event of the story.
//
// Errors: NotFound without a ledger; InvalidArgument and DataLoss for a file that is no ledger or
// is damaged; NotFound for a pod that is not in the run, with a similar name; FailedPrecondition
// for the ledger of another version, a run that read standard input, and one that takes another
// course; InvalidArgument for a time after the end. Costs the run from the checkpoint on, and
// O(records) for reading the ledger.
absl::StatusOr<Story> ExplainRun(const ExplainRequest& request);

}  // namespace drasim

#endif  // DRASIM_SIM_EXPLAIN_REPLAY_H_
