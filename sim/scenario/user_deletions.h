// `workload.deletions`: pods, their owners and claims that a user deletes at times of the run.
//
//   job NAME    The job, or the owner of the pods NAME-0, NAME-1, ... (a Job, a Deployment,
//               replicas of workload.jobs). Its pods go with it, and so do the claims made for
//               them.
//   pod NAME    A pod. Its owner makes another, which queues as a new pod does; with it, the whole
//               gang goes back. A Pod of a manifest has no owner, and is gone.
//   claim NAME  A ResourceClaim. Its finalizer keeps it until its driver has freed its devices, and
//               its consumers until they have ended.
//
// A running pod goes after `preemption.grace_period`, others at once. A pod that has ended by then,
// or is not there at the time, is not deleted.
#ifndef DRASIM_SIM_SCENARIO_USER_DELETIONS_H_
#define DRASIM_SIM_SCENARIO_USER_DELETIONS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/event_source.h"
#include "model/proto/scenario.pb.h"
#include "model/time.h"
#include "sim/core/engine.h"
#include "sim/scenario/deletion_entry.h"

namespace drasim {

// The part that the engine carries out.
struct UserDeletions {
  absl::flat_hash_map<std::string, std::vector<JobDeletion>> by_job;  // by the name of the job
  SimTime last;                                                       // of all, claims included
};

// The list. InvalidArgument, beginning with the scenario key, for an entry that makes no sense by
// itself, and for a name that no job of workload.jobs has if there are any.
absl::StatusOr<std::vector<UserDeletion>> ReadDeletions(const proto::Scenario& scenario);

// The jobs of a run as deletions see them.
struct DeletableJobs {
  absl::Span<const JobArrival> jobs;
  // Those that the scenario or its manifests write out, with their replicas.
  absl::Span<const proto::InlineJob* const> written;
  bool from_manifests = false;  // a written job without replicas is a Pod without an owner
  bool stream = false;          // jobs arrive at times of the stream, not at their own
};

// InvalidArgument "workload.deletions[1].pod: what is wrong" for a name that no pod or job has, and
// a time before the job arrives. O(jobs) if there are deletions.
absl::StatusOr<UserDeletions> MakeDeletions(absl::Span<const UserDeletion> deletions,
                                            const DeletableJobs& jobs);

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_USER_DELETIONS_H_
