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

// A group of like pods of one job.
struct PodGroup {
  ShapeId shape;  // row of the run's ShapeTable
  int32_t pods = 1;

  bool operator==(const PodGroup&) const = default;
};

// One job that arrives: a single pod, or a gang whose pods start together or not at all.
//
// The pod of a job of one pod has the job's name. The pods of a gang are called "<name>-0",
// "<name>-1" and so on, in the order of the groups.
struct JobArrival {
  std::string name;                 // unique within the run
  ShapeId shape;                    // shape of the first `pods` pods
  int32_t pods = 1;                 // at least 1
  std::vector<PodGroup> more_pods;  // groups of the same gang with other shapes; usually empty
  std::string tenant;               // user, namespace or virtual cluster; may be empty
  int32_t priority = 0;
  SimTime time;               // submission
  bool has_run_time = false;  // false: a service, which runs until it is deleted
  SimDuration run_time;       // its work, without interruptions
  bool has_estimate = false;
  SimDuration estimate;  // run time as its owner expects it
  bool has_deadline = false;
  SimTime deadline;  // it should have ended by then
  bool has_deletion = false;
  SimTime deletion;         // its owner deletes it then, whether or not it has started
  bool preemptible = true;  // may be preempted for others
  bool recreated = true;    // its owner recreates its pods when they are lost with a node
  bool fails = false;       // ends as failed instead of succeeded
  // Run times of earlier attempts, each of which failed and went back to the queue.
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
  // Save and restore the position. Load is called on a freshly built source over the same input.
  virtual void Save(StateWriter& out) const = 0;
  virtual absl::Status Load(StateReader& in) = 0;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_EVENT_SOURCE_H_
