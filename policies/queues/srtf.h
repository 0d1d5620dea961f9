// Shortest remaining time first, with preemption: a job displaces running ones that have more left
// to do. The true remaining time is known to it.
#ifndef DRASIM_POLICIES_QUEUES_SRTF_H_
#define DRASIM_POLICIES_QUEUES_SRTF_H_

#include "absl/strings/string_view.h"
#include "policies/framework/queue_policy.h"

namespace drasim {

// What is left includes the overhead of the restart that is still to be paid. Jobs without a run
// time never end by themselves: they come last, and every job that does end may displace them.
// Jobs that are not preemptible are never displaced.
class SrtfQueue : public QueuePolicy {
 public:
  absl::string_view name() const override { return "srtf"; }
  JobKey Key(const JobTable& jobs, JobId job) override;
  bool preempts() const override { return true; }
  // Only for strictly less work.
  bool MayPreempt(const JobTable& jobs, JobId waiting, JobId running, SimTime now) const override;
  // The one with most left goes first.
  JobKey VictimKey(const JobTable& jobs, JobId running, SimTime now) const override;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_QUEUES_SRTF_H_
