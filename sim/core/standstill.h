// StandstillRule: ends a run when none of the waiting jobs can ever start.
//
// Timers that repeat attempts, and controllers with periodic rechecks, keep time going. The future
// equals the present when no job runs, starts or is still to arrive, nothing but failed attempts
// has happened for 900 s (three times the longest wait of a pod before an attempt without cause),
// and every job in line has had its turns.
#ifndef DRASIM_SIM_CORE_STANDSTILL_H_
#define DRASIM_SIM_CORE_STANDSTILL_H_

#include "model/time.h"
#include "sim/core/job_arrivals.h"
#include "sim/core/job_lifecycle.h"
#include "sim/core/node_lifecycle.h"
#include "sim/core/run_context.h"
#include "sim/core/scheduling_loop.h"

namespace drasim {

class StandstillRule {
 public:
  // All must outlive the rule.
  StandstillRule(RunContext* run, SchedulingLoop* scheduling, const JobLifecycle* jobs,
                 const NodeLifecycle* nodes, const JobArrivals* arrivals)
      : run_(run), scheduling_(scheduling), jobs_(jobs), nodes_(nodes), arrivals_(arrivals) {}

  // A quota changes at that time: no standstill before.
  void ExpectQuotaChange(SimTime at) {
    if (at > last_quota_change_) last_quota_change_ = at;
  }
  // Whether the rule holds at `next`, the time of the next event, which has been popped already.
  // O(1) while something has happened recently, else O(jobs).
  bool Holds(SimTime next) {
    if (!run_->is_replay() || next - run_->progress().last_progress() <= kStandstill) return false;
    return NothingWillHappen(next);
  }

 private:
  static constexpr SimDuration kStandstill = SimDuration::Seconds(900);

  bool NothingWillHappen(SimTime next);
  bool TriedInVain(uint32_t rounds) {
    return run_->progress().TriedInVain(rounds, scheduling_->dispatcher().in_line());
  }

  RunContext* run_;
  SchedulingLoop* scheduling_;
  const JobLifecycle* jobs_;
  const NodeLifecycle* nodes_;
  const JobArrivals* arrivals_;
  // Not saved: runs in which these matter leave no checkpoints.
  SimTime last_busy_;  // when the agent was last found busy without any progress
  SimTime last_quota_change_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_STANDSTILL_H_
