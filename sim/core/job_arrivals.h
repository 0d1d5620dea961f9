// Arrivals: pulls jobs from the source and brings each into the run when its time has come.
#ifndef DRASIM_SIM_CORE_JOB_ARRIVALS_H_
#define DRASIM_SIM_CORE_JOB_ARRIVALS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "model/event_source.h"
#include "model/ids.h"
#include "model/job_table.h"
#include "sim/core/job_lifecycle.h"
#include "sim/core/run_context.h"
#include "sim/core/scheduling_loop.h"

namespace drasim {

class JobArrivals {
 public:
  // All must outlive it.
  JobArrivals(RunContext* run, SchedulingLoop* scheduling, JobLifecycle* jobs)
      : run_(run), scheduling_(scheduling), jobs_(jobs) {}

  // Reads the next job and pushes the event of its arrival. Errors are those of the source, and
  // InvalidArgument for a job that arrives before the one ahead of it.
  absl::Status Pull();
  // Handles the arrival event: adds the job, lets it wait (or, without a clock, tries it at once),
  // and pulls the next one.
  absl::Status OnArrival();

  // Another job will arrive.
  bool due() const { return due_; }
  // Jobs that were dropped because no cluster of these nodes could ever hold them, and the first.
  uint64_t never_fitting() const { return never_fitting_; }
  JobId first_never_fitting() const { return first_never_fitting_; }

 private:
  friend class EngineCheckpoint;

  void Arrive();
  // Adds the job and its pods, and records them.
  JobId AddNext();
  // The job is on the node already. Without room there it is dropped.
  void Settle(JobId job, NodeId node, DeviceSet devices);
  // Whether a pod of the job is kept pending whatever happens.
  bool IsHeld(const JobRow& row) const;

  RunContext* run_;
  SchedulingLoop* scheduling_;
  JobLifecycle* jobs_;
  JobArrival next_;  // the job whose arrival is in the event queue
  bool due_ = false;
  uint64_t never_fitting_ = 0;
  JobId first_never_fitting_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_JOB_ARRIVALS_H_
