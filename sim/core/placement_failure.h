// PlacementFailure: why an attempt to place a job found no place.
#ifndef DRASIM_SIM_CORE_PLACEMENT_FAILURE_H_
#define DRASIM_SIM_CORE_PLACEMENT_FAILURE_H_

#include "model/ids.h"
#include "model/record.h"

namespace drasim {

struct PlacementFailure {
  PodId pod;           // the one that found no place
  PodId first_pod;     // of its job
  SummaryId why;       // the number of rejecting nodes by reason
  bool known = false;  // nothing has changed since the same attempt failed
  // The cycle's verdicts for the pod's shape are those of the attempt.
  bool nodes_looked_at = false;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_PLACEMENT_FAILURE_H_
