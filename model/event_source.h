// The port through which workloads enter: traces implement it, the engine pulls from it.
#ifndef DRASIM_MODEL_EVENT_SOURCE_H_
#define DRASIM_MODEL_EVENT_SOURCE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/ids.h"
#include "model/state_io.h"
#include "model/time.h"

namespace drasim {

// One pod that arrives.
struct PodArrival {
  std::string name;  // unique within the run
  ShapeId shape;     // row of the run's ShapeTable
  int32_t priority = 0;
  SimTime time;  // of arrival
  bool has_run_time = false;
  SimDuration run_time;  // from start to end; meaningful when has_run_time

  bool operator==(const PodArrival&) const = default;
};

// Contract: times never decrease; memory is bounded however long the source is (unless the source
// says it is materialised); after an error or the end every further call repeats it.
class EventSource {
 public:
  virtual ~EventSource() = default;
  // Fills `out` and returns true, or returns false at the end. Bad input is InvalidArgument with
  // "file:line:column: what was found, what was expected".
  virtual absl::StatusOr<bool> Next(PodArrival* out) = 0;
  // Position, for checkpoints. Load is called on a freshly built source over the same input.
  virtual void Save(StateWriter& out) const = 0;
  virtual absl::Status Load(StateReader& in) = 0;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_EVENT_SOURCE_H_
