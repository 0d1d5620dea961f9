// Backfilling's forecast: free amounts over time, if running jobs end as expected.
//
// Reservations are of amounts (CPU, memory, GPUs), not of nodes, except that the first job's shadow
// time is the first at which it could be placed.
#ifndef DRASIM_SIM_CORE_BACKFILL_H_
#define DRASIM_SIM_CORE_BACKFILL_H_

#include <tuple>
#include <vector>

#include "absl/container/btree_map.h"
#include "model/job_table.h"
#include "model/time.h"

namespace drasim {

// A running job and its expected end. Among jobs with the same expected end the smaller counts as
// gone first, so that the least is promised to others.
struct RunningJob {
  SimTime expected_end;  // not before now
  ResourceAmounts request;
  JobId job;
  bool operator<(const RunningJob& o) const {
    return std::tie(expected_end, request.gpu_milli, request.cpu_milli, request.memory_bytes, job) <
           std::tie(o.expected_end, o.request.gpu_milli, o.request.cpu_milli,
                    o.request.memory_bytes, o.job);
  }
};

// True when `need` is within `free`, resource by resource; a need of 0 is always met.
inline bool FitsWithin(const ResourceAmounts& need, const ResourceAmounts& free) {
  return (need.cpu_milli == 0 || need.cpu_milli <= free.cpu_milli) &&
         (need.memory_bytes == 0 || need.memory_bytes <= free.memory_bytes) &&
         (need.gpu_milli == 0 || need.gpu_milli <= free.gpu_milli);
}

// Free amounts as a step function of time. O(steps) per operation unless said otherwise.
class AvailabilityProfile {
 public:
  // From `now` on `free` is free.
  AvailabilityProfile(SimTime now, const ResourceAmounts& free) : steps_{{now, free}} {}

  // Each job's amounts become free at its end for good. REQUIRES: `ends` are in order, and this
  // comes first. O(ends).
  void Release(const std::vector<RunningJob>& ends);
  // Time for which `need` is free from `from` on; 0: not at all. O(log steps + steps in between).
  SimDuration FreeFor(const ResourceAmounts& need, SimTime from) const;
  // The first time at or after `from` from which on `need` is free for `length`.
  SimTime EarliestFit(const ResourceAmounts& need, SimDuration length, SimTime from) const;
  // The first time after `time` at which anything changes; `time` itself if nothing does.
  SimTime NextChange(SimTime time) const;
  // Takes `amounts` away for [start, start + length).
  void Reserve(SimTime start, SimDuration length, const ResourceAmounts& amounts);

 private:
  struct Step {
    SimTime since;
    ResourceAmounts free;
  };
  size_t StepAt(SimTime at) const;
  // The index of the step that begins at `at`, which is made if there is none.
  size_t Cut(SimTime at);

  std::vector<Step> steps_;  // by time
};

// Lower bounds of start times for requests of one size, from the starts found for others of that
// size. Sound as long as free amounts in the profile only shrink.
class EarliestStarts {
 public:
  // A lower bound of EarliestFit for a request of that length; `otherwise` if nothing is known.
  // O(log lengths).
  SimTime Bound(SimDuration length, SimTime otherwise) const;
  // EarliestFit has found `start` for that length. Amortised O(log lengths).
  void Learn(SimDuration length, SimTime start);

 private:
  absl::btree_map<SimDuration, SimTime> starts_;  // both ascend
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_BACKFILL_H_
