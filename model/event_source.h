// The port through which workloads enter: traces implement it, the engine pulls from it.
#ifndef DRASIM_MODEL_EVENT_SOURCE_H_
#define DRASIM_MODEL_EVENT_SOURCE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/ids.h"
#include "model/state_io.h"
#include "model/time.h"

namespace drasim {

// Like pods of one job.
struct PodGroup {
  ShapeId shape;  // row of the run's ShapeTable
  int32_t pods = 1;

  bool operator==(const PodGroup&) const = default;
};

// One job that arrives: a single pod, or a gang whose pods start together or not at all.
//
// The pod of a job of one pod has the job's name; those of a gang are called "<name>-0",
// "<name>-1",
// ... in the order of the groups.
struct JobArrival {
  std::string name;                 // unique within the run
  ShapeId shape;                    // of the first `pods` pods
  int32_t pods = 1;                 // at least 1
  std::vector<PodGroup> more_pods;  // of the same gang, with other shapes; usually empty
  std::string tenant;               // user, namespace or virtual cluster; may be empty
  int32_t priority = 0;
  SimTime time;               // of submission
  bool has_run_time = false;  // false: a service, which runs until it is deleted
  SimDuration run_time;       // of work, were the job never interrupted
  bool has_estimate = false;
  SimDuration estimate;  // what its owner says it will take
  bool has_deadline = false;
  SimTime deadline;  // by which it should have ended
  bool has_deletion = false;
  SimTime deletion;         // its owner deletes it then, whether or not it has started
  bool preemptible = true;  // may be preempted for others
  bool recreated = true;    // its owner creates its pods anew when they are lost with a node
  bool fails = false;       // ends as failed instead of succeeded
  // Earlier attempts: each ran that long, failed, and went back to the queue.
  std::vector<SimDuration> failed_attempts;

  bool operator==(const JobArrival&) const = default;
};

// Contract: times never decrease; memory is bounded however long the source is (unless the source
// says it is materialised); after an error or the end every further call repeats it.
class EventSource {
 public:
  virtual ~EventSource() = default;
  // Fills `out` and returns true, or returns false at the end. Every field of `out` is set,
  // whatever it held before. Bad input is InvalidArgument with "file:line:column: what was found,
  // what was expected".
  virtual absl::StatusOr<bool> Next(JobArrival* out) = 0;
  // Position, for checkpoints. Load is called on a freshly built source over the same input.
  virtual void Save(StateWriter& out) const = 0;
  virtual absl::Status Load(StateReader& in) = 0;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_EVENT_SOURCE_H_
