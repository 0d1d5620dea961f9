// Invariants of classic DRA's control plane, after every event and when all is over.
#ifndef DRASIM_SIM_DRA_PLANE_CHECKS_H_
#define DRASIM_SIM_DRA_PLANE_CHECKS_H_

#include "absl/status/status.h"
#include "sim/dra/control_plane.h"

namespace drasim {

// No device is given to two claims that may not share it, consumers are within limits and alive,
// claims belong to living pods only, finalizers are where they should be. `at_rest`: also, nothing
// has leaked. O(objects).
absl::Status CheckControlPlane(const ControlPlane& plane, bool at_rest);

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_PLANE_CHECKS_H_
