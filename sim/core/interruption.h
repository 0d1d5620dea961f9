// The costs of an interruption: work that is lost, and the delay of the restart.
#ifndef DRASIM_SIM_CORE_INTERRUPTION_H_
#define DRASIM_SIM_CORE_INTERRUPTION_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "model/time.h"

namespace drasim {

struct InterruptionCosts {
  struct Restart {
    int64_t max_gpu_milli = std::numeric_limits<int64_t>::max();
    SimDuration delay;
  };

  bool keeps_work = true;           // false: everything done in the interrupted run is lost
  SimDuration checkpoint_interval;  // work is kept up to a multiple of this; 0: all of it
  std::vector<Restart> restart;     // the first that is large enough counts; none: no delay
  bool restarts_add_up = false;     // the rest of an interrupted restart is added to the next
  SimDuration grace_period;  // between eviction and the end of the pods, which work until then

  // The part of `done` (the work of this run) that is kept, when `before` had been kept already. A
  // checkpoint is due whenever the job's work in total reaches a multiple of the interval.
  SimDuration Kept(SimDuration before, SimDuration done) const {
    if (!keeps_work) return SimDuration();
    if (checkpoint_interval <= SimDuration()) return done;
    const int64_t total = before.ns() + done.ns();
    const int64_t saved = total - total % checkpoint_interval.ns();
    return SimDuration(saved > before.ns() ? saved - before.ns() : 0);
  }
  SimDuration RestartDelay(int64_t gpu_milli) const {
    for (const Restart& r : restart) {
      if (gpu_milli <= r.max_gpu_milli) return r.delay;
    }
    return SimDuration();
  }
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_INTERRUPTION_H_
