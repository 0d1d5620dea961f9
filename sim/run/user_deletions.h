// `workload.deletions`: pods, their owners and claims that a user deletes at times of the run.
//
//   job NAME    The job, or whatever owns the pods NAME-0, NAME-1, ... (a Job, a Deployment,
//   replicas
//               of workload.jobs). Its pods go with it, and so do the claims made for them.
//   pod NAME    A pod. Its owner makes another, which queues as a new pod does; with it, the whole
//               gang goes back. A Pod of a manifest has no owner, and is gone.
//   claim NAME  A ResourceClaim. Its finalizer keeps it until its driver has freed its devices, and
//               its consumers until they have ended.
//
// A running pod goes after `preemption.grace_period`, others at once. A pod that has ended by then,
// or is not there at the time, is not deleted.
#ifndef DRASIM_SIM_RUN_USER_DELETIONS_H_
#define DRASIM_SIM_RUN_USER_DELETIONS_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/event_source.h"
#include "model/pod_shape.h"
#include "model/proto/scenario.pb.h"
#include "model/time.h"
#include "sim/core/engine.h"
#include "sim/dra/control_plane.h"
#include "sim/run/manifests.h"

namespace drasim {

// The part that the engine carries out.
struct UserDeletions {
  absl::flat_hash_map<std::string, std::vector<JobDeletion>> by_job;  // by the name of the job
  SimTime last;                                                       // of all, claims included
};

// Whether every deletion makes sense by itself, and names a job of workload.jobs if there are any.
absl::Status CheckDeletions(const proto::Scenario& scenario);

// `jobs`: those of the run. `manifests`: that they come from; null: from elsewhere. InvalidArgument
// "workload.deletions[1].pod: what is wrong" for a name that no pod or job has, and a time before
// the job arrives. O(jobs) if there are deletions.
absl::StatusOr<UserDeletions> MakeDeletions(const proto::Scenario& scenario,
                                            absl::Span<const JobArrival> jobs,
                                            const Manifests* manifests);

// Whether each claim that is deleted is there from the beginning, or may be made for a pod: by its
// name. `jobs` and `shapes` as they run, with their claims. O(jobs) per claim that is not there.
absl::Status CheckClaimNames(const proto::Scenario& scenario, absl::Span<const JobArrival> jobs,
                             const ShapeTable& shapes, ControlPlane* plane);

// Those of claims, as the control plane has them. REQUIRES: CheckDeletions is content.
std::vector<PlaneFault> ClaimDeletions(const proto::Scenario& scenario);

// Splits "NAMESPACE/NAME"; a name alone is in "default".
void SplitObjectName(const std::string& text, std::string* ns, std::string* name);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_USER_DELETIONS_H_
