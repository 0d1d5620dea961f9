// JobControl: what dispatchers and post-filters may do to jobs.
#ifndef DRASIM_SIM_CORE_JOB_CONTROL_H_
#define DRASIM_SIM_CORE_JOB_CONTROL_H_

#include <vector>

#include "absl/types/span.h"
#include "model/ids.h"
#include "model/record.h"
#include "model/time.h"
#include "sim/core/placement_failure.h"

namespace drasim {

// The engine's side of the port: the clock, and what a dispatcher may do to jobs.
class JobControl {
 public:
  virtual ~JobControl() = default;
  virtual SimTime now() const = 0;
  // The job's pods have been placed: they go through Reserve to PostBind, and then run.
  virtual void StartPlaced(JobId job) = 0;
  // The attempt in progress waited that long for extenders. To be called before its outcome is
  // reported: its pods begin to bind, and the next attempt begins, after the wait.
  virtual void AttemptWaited(SimDuration) {}
  // One attempt found no place.
  virtual void RecordFailure(JobId job, const PlacementFailure& failure) = 0;
  // The attempt is over, and its PostFilter has had its turn. `nominated`: the node on which it
  // makes room; invalid: none.
  virtual void EndFailedAttempt(const PlacementFailure&, NodeId /*nominated*/) {}
  // The waiting job's pods were bound to `nodes`, one for each pod, but another scheduler's pods
  // have taken the room there: the nodes turn them away. Its owner recreates them later, or gives
  // them up.
  virtual void TurnAway(JobId job, absl::Span<const NodeId> nodes, AdmissionFailure failure) = 0;
  // Gives the waiting job up.
  virtual void Drop(JobId job) = 0;
  // The running job ends its run, now or after the grace period, and waits again. A start in
  // progress is cancelled at once. `preemptor`: the job for which it leaves; invalid: none, or
  // several.
  virtual void Evict(JobId job, EvictionCause cause, JobId preemptor) = 0;
  // True between Evict and the end of the grace period.
  virtual bool IsBeingEvicted(JobId job) const = 0;
  virtual bool has_grace_period() const = 0;
  // Jobs that run, in an arbitrary order that is the same in every run.
  virtual absl::Span<const JobId> running() const = 0;
  // Jobs with a start in progress, in such an order too. O(starts in progress).
  virtual std::vector<JobId> starting() const = 0;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_JOB_CONTROL_H_
