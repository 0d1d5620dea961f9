// Run-time estimates of jobs, as a scheduler would know them.
#ifndef DRASIM_POLICIES_QUEUES_ESTIMATES_H_
#define DRASIM_POLICIES_QUEUES_ESTIMATES_H_

#include <cstdint>

#include "model/distributions.h"
#include "model/ids.h"
#include "model/job_table.h"
#include "model/time.h"

namespace drasim {

// The estimate of a job with neither an estimate nor a run time; all others are shorter. About 73
// years, so that sums with any time of a run do not overflow.
inline constexpr SimDuration kUnboundedEstimate(int64_t{1} << 61);

// The true length of the job's present attempt without interruptions: that of an attempt that will
// fail, or the run time. REQUIRES: JobTable::HasLength.
SimDuration AttemptRunTime(const JobTable& jobs, JobId job);

// An estimate covers a whole attempt, without interruptions and the overhead of restarts. It is the
// owner's (such as a requested time limit), or else the true run time; the exact model always uses
// the true run time. A job with neither gets kUnboundedEstimate.
//
// Noise multiplies the estimate by exp(noise * N(0, 1)), so half of the estimates are too short.
// Each job's factor comes from a stream of its own, so it does not depend on the order or number of
// calls, and the model has no state to save.
//
// Estimates are never negative, and not limits: a run that exceeds its estimate goes on.
// Backfilling expects such a job to end at any moment, and recomputes its reservations in each
// pass, so a start may come later than it was reserved for.
class EstimateModel {
 public:
  // `noise` is the sigma above, 0 for none. REQUIRES: noise >= 0 and finite.
  EstimateModel(uint64_t seed, double noise, bool exact);

  // O(1).
  SimDuration Estimate(const JobTable& jobs, JobId job) const;

 private:
  uint64_t seed_;
  bool noisy_;
  bool exact_;
  Distribution factor_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_QUEUES_ESTIMATES_H_
