// Invariants of DRA's control plane, classic or structured, for use after every event and at the
// end.
#ifndef DRASIM_SIM_DRA_CLASSIC_PLANE_CHECKS_H_
#define DRASIM_SIM_DRA_CLASSIC_PLANE_CHECKS_H_

#include "absl/status/status.h"
#include "sim/dra/classic/control_plane.h"

namespace drasim {

// Checks that no device belongs to two claims that may not share it, consumers are within limits
// and alive, claims belong to living pods, and finalizers are where they should be. `at_rest` also
// checks for leaks. O(objects).
absl::Status CheckControlPlane(const ControlPlane& plane, bool at_rest);

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_CLASSIC_PLANE_CHECKS_H_
