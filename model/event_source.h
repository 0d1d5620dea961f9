// EventSource, the port of workloads: traces implement it, and the engine pulls jobs from it.
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

// Pods of one job with equal requests.
struct PodGroup {
  ShapeId shape;  // row of the run's ShapeTable
  int32_t pods = 1;

  bool operator==(const PodGroup&) const = default;
};

// A job submission: a single pod, or a gang whose pods start together or not at all.
//
// The pod of a single-pod job has the job's name. The pods of a gang are named "<name>-0",
// "<name>-1" and so on, in the order of the groups.
struct JobArrival {
  std::string name;                 // unique within the run
  ShapeId shape;                    // shape of the first `pods` pods
  int32_t pods = 1;                 // at least 1
  std::vector<PodGroup> more_pods;  // groups of the same gang with other shapes; usually empty
  std::string tenant;               // user, namespace or virtual cluster; may be empty
  int32_t priority = 0;
  SimTime time;               // submission
  bool has_run_time = false;  // false: a service, which runs until its deletion
  SimDuration run_time;       // its work, without interruptions
  bool has_estimate = false;
  SimDuration estimate;  // the owner's estimate of the run time
  bool has_deadline = false;
  SimTime deadline;  // latest acceptable end
  bool has_deletion = false;
  SimTime deletion;         // its owner deletes it at this time, whether or not it has started
  bool preemptible = true;  // other jobs may preempt it
  bool recreated = true;    // its owner recreates pods that are lost with a node
  bool fails = false;       // ends as failed instead of succeeded
  // Run times of earlier attempts, each of which fails and sends the job back to the queue.
  std::vector<SimDuration> failed_attempts;

  bool operator==(const JobArrival&) const = default;
};

// Contract: times never decrease. Memory is bounded whatever the length of the source, unless the
// source states that it is materialised. After an error or the end, every further call repeats it.
class EventSource {
 public:
  virtual ~EventSource() = default;
  // Fills every field of `out`, whatever it held before, and returns true; returns false at the
  // end. Bad input is InvalidArgument with "file:line:column: what was found, what was expected".
  virtual absl::StatusOr<bool> Next(JobArrival* out) = 0;
  // Save and restore the position. Load expects a newly built source over the same input.
  virtual void Save(StateWriter& out) const = 0;
  virtual absl::Status Load(StateReader& in) = 0;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_EVENT_SOURCE_H_
