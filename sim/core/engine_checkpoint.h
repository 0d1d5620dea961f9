// Saving and loading a whole run between two events.
//
// The format mixes the fields of several roles, in an order that old checkpoints fix. It is
// therefore written in one place, by a friend of the roles.
#ifndef DRASIM_SIM_CORE_ENGINE_CHECKPOINT_H_
#define DRASIM_SIM_CORE_ENGINE_CHECKPOINT_H_

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "model/event_source.h"
#include "model/ids.h"
#include "model/state_io.h"
#include "sim/core/binding_cycle.h"
#include "sim/core/job_arrivals.h"
#include "sim/core/job_lifecycle.h"
#include "sim/core/node_lifecycle.h"
#include "sim/core/run_context.h"
#include "sim/core/scheduling_loop.h"

namespace drasim {

class EngineCheckpoint {
 public:
  // All must outlive it.
  EngineCheckpoint(RunContext* run, SchedulingLoop* scheduling, JobLifecycle* jobs,
                   NodeLifecycle* nodes, JobArrivals* arrivals)
      : run_(run), scheduling_(scheduling), jobs_(jobs), nodes_(nodes), arrivals_(arrivals) {}

  // Writes the state of all roles and of all parts of the run: clock, events, queue, position in
  // the source, cluster, plugins, sinks.
  void Save(bool started, bool finished, StateWriter& out) const;
  // Expects a freshly built engine over the same parts. After an error its state is unspecified.
  absl::Status Load(StateReader& in, bool* started, bool* finished);

  // Makes a checkpoint that builds on the one before, or on the state that was loaded: of tables it
  // has the jobs that live and those that have ended since. O(these, and the parts' other state).
  absl::Status Pass(bool started, bool finished);

 private:
  // The jobs that had not ended at the last checkpoint, and those since.
  RowPicks PicksOfOpenJobs();
  void ForgetEndedJobs();

  static void SaveArrival(const JobArrival& arrival, StateWriter& out);
  static JobArrival LoadArrival(StateReader& in);
  void SaveBindings(StateWriter& out) const;
  void LoadBindings(StateReader& in);
  void LoadJobs(StateReader& in);
  absl::Status LoadParts(StateReader& in);

  RunContext* run_;
  SchedulingLoop* scheduling_;
  JobLifecycle* jobs_;
  NodeLifecycle* nodes_;
  JobArrivals* arrivals_;
  std::vector<JobId> open_jobs_;  // of those at the last checkpoint, ascending
  size_t jobs_saved_ = 0;         // at the last checkpoint
  size_t state_bytes_ = 0;        // likewise
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_ENGINE_CHECKPOINT_H_
