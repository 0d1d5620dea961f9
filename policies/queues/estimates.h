// How long jobs are believed to run: what a scheduler goes by that cannot see the future.
#ifndef DRASIM_POLICIES_QUEUES_ESTIMATES_H_
#define DRASIM_POLICIES_QUEUES_ESTIMATES_H_

#include <cstdint>

#include "model/distributions.h"
#include "model/ids.h"
#include "model/job_table.h"
#include "model/time.h"

namespace drasim {

// The estimate of a job about whose end nothing is known. All other estimates are shorter. About 73
// years, so that it can be added to any time of a run.
inline constexpr SimDuration kUnboundedEstimate(int64_t{1} << 61);

// The true length of the job's present attempt, were it never interrupted: one that fails before
// the last, or the run time. REQUIRES: JobTable::HasLength.
SimDuration AttemptRunTime(const JobTable& jobs, JobId job);

// An estimate is for a whole attempt, without interruptions and the overhead of restarts. It is the
// owner's (a requested time limit, say), or else the true run time; in the exact model always the
// true run time. A job that has neither gets kUnboundedEstimate.
//
// With noise it is multiplied by exp(noise * N(0, 1)), so half of the estimates are too short. Each
// job has one factor, drawn from a stream of its own: it does not depend on who asks, when, how
// often, or after which other jobs. The model therefore has no state to save.
//
// Estimates are never below 0 and bind nobody: a run may take longer than its estimate and is not
// killed then. Backfilling takes such a job to end at once, for as long as it goes on, and computes
// its reservations anew in each pass; a reserved start may therefore come later than promised.
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
