// `workload.deletions`: pods, owners of pods and claims deleted by a user during the run.
//
//   job NAME    The job, or the owner of the pods NAME-0, NAME-1, ... (a Job, a Deployment,
//               replicas of workload.jobs). Its pods and the claims made for them are deleted, too.
//   pod NAME    A pod. Its owner creates another one, which queues as new; a gang is requeued as a
//               whole. A Pod of a manifest has no owner and is not replaced.
//   claim NAME  A ResourceClaim. Finalizers keep it until its consumers have ended and its driver
//               has freed its devices.
//
// A running pod ends after `preemption.grace_period`, others at once. A deletion of a pod that has
// ended or does not exist at the time has no effect.
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
#include "model/time.h"
#include "sim/core/engine.h"
#include "sim/scenario/deletion_entry.h"
#include "sim/scenario/inline_jobs.h"

namespace drasim {

namespace proto {
class Scenario;
}

// Deletions of jobs and pods, for the engine. Deletions of claims belong to the control plane.
struct UserDeletions {
  absl::flat_hash_map<std::string, std::vector<JobDeletion>> by_job;  // by name of the job
  SimTime last;                                                       // deletion, claims included
};

// The list. `jobs`: those of workload.jobs. InvalidArgument, beginning with the scenario key, for
// an invalid entry and, if there are jobs, for a name that matches none of them.
absl::StatusOr<std::vector<UserDeletion>> ReadDeletions(const proto::Scenario& scenario,
                                                        absl::Span<const InlineJob> jobs);

// The jobs of a run, for matching names of deletions.
struct DeletableJobs {
  absl::Span<const JobArrival> jobs;
  // Jobs listed in the scenario or in its manifests: one of the two is empty.
  absl::Span<const InlineJob> listed;
  bool from_manifests = false;  // a listed job without replicas is a Pod without an owner
  bool stream = false;          // the stream, not the job, sets the time of arrival
};

// InvalidArgument, such as "workload.deletions[1].pod: found ...", for a name without a pod or job
// and for a time before the job arrives. O(jobs) if there are deletions, otherwise O(1).
absl::StatusOr<UserDeletions> MakeDeletions(absl::Span<const UserDeletion> deletions,
                                            const DeletableJobs& jobs);

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_USER_DELETIONS_H_
