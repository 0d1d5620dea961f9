// drasim explain on a run that has been made: reads its ledger, simulates it again and tells the
// story of one pod.
#ifndef DRASIM_SIM_EXPLAIN_REPLAY_H_
#define DRASIM_SIM_EXPLAIN_REPLAY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "model/time.h"
#include "sim/explain/attempt.h"
#include "sim/explain/story.h"

namespace drasim {

struct ExplainRequest {
  std::string path;  // of the ledger, or of the folder it is in
  // "NAMESPACE/NAME" of a pod, "NAME" of one in the namespace default, or the name of a gang.
  std::string pod;
  absl::optional<SimTime> at;  // nothing: the end of the run
  bool brief = false;          // only where it stands, without its attempts
  bool quiet = false;          // no progress bar
};

struct Story {
  // Of the run.
  std::string ledger;
  bool partial = false;  // it was killed; this is as far as it is recorded
  std::string policy, mode, queue, front_end;
  // Of the pod.
  std::string pod;
  std::string job;
  uint32_t pods = 1;  // of the job
  std::string tenant;
  int32_t priority = 0;
  std::string wants;  // each pod, in words; of several kinds, the pod that was asked about
  SimTime arrival;
  bool arrived = true;  // by the time that was asked about; else there is nothing below
  bool brief = false;
  std::vector<StoryEvent> events;
  Standing standing;
  std::vector<std::string> warnings;  // a line each
};

// What a pod asks for, in words: "2 CPUs, 8Gi of memory, 1 GPU of V100M32".
std::string RequestText(const PodShape& shape);

// The run is read from its ledger and simulated again from the same inputs, from the last
// checkpoint ahead of what is asked for. The inputs must be where they were.
//
// Errors: NotFound without a ledger; InvalidArgument and DataLoss for what is none, or is damaged;
// NotFound for a pod that is not in the run, with a similar name; FailedPrecondition for the ledger
// of another version, a run whose input was standard input, and one that does not repeat itself;
// InvalidArgument for a time behind the end. Cost: that of the run from there on, and
// O(records) for a look at the ledger.
absl::StatusOr<Story> ExplainRun(const ExplainRequest& request);

// For people, and for programs ("drasim.explain/v1"). All end with a line break.
std::string StoryText(const Story& story);
std::string StoryJson(const Story& story);
// A line for each event: seconds, until_seconds, event, attempt, last_attempt, node (of the first
// of the job's pods), summary (of a failed attempt), text.
std::string StoryCsv(const Story& story);

}  // namespace drasim

#endif  // DRASIM_SIM_EXPLAIN_REPLAY_H_
