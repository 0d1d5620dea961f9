// Deletions of ResourceClaims by a user, checked against the claims of a run.
#ifndef DRASIM_SIM_RUN_CLAIM_DELETIONS_H_
#define DRASIM_SIM_RUN_CLAIM_DELETIONS_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "model/event_source.h"
#include "model/pod_shape.h"
#include "sim/dra/control_plane.h"
#include "sim/scenario/user_deletions.h"

namespace drasim {

// Whether each deleted claim exists from the beginning, or may be made for a pod: by its name.
// `jobs` and `shapes` as they run, with their claims. O(jobs) per claim that does not exist.
absl::Status CheckClaimNames(absl::Span<const UserDeletion> deletions,
                             absl::Span<const JobArrival> jobs, const ShapeTable& shapes,
                             ControlPlane* plane);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_CLAIM_DELETIONS_H_
