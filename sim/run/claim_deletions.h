// Check of deletions of ResourceClaims by a user against the claims of a run.
#ifndef DRASIM_SIM_RUN_CLAIM_DELETIONS_H_
#define DRASIM_SIM_RUN_CLAIM_DELETIONS_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "model/event_source.h"
#include "model/shape_table.h"
#include "sim/dra/classic/control_plane.h"
#include "sim/scenario/deletion_entry.h"

namespace drasim {

// InvalidArgument unless each deleted claim exists at the start or may, by its name, be made for a
// pod. `jobs` and `shapes` are lowered, so they have their claims. O(jobs) per claim that does not
// exist at the start.
absl::Status CheckClaimNames(absl::Span<const UserDeletion> deletions,
                             absl::Span<const JobArrival> jobs, const ShapeTable& shapes,
                             ControlPlane* plane);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_CLAIM_DELETIONS_H_
