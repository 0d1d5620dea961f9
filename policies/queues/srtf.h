// Shortest remaining time first, with preemption: a job displaces running jobs with more work left.
// The policy knows true remaining times.
#ifndef DRASIM_POLICIES_QUEUES_SRTF_H_
#define DRASIM_POLICIES_QUEUES_SRTF_H_

#include "absl/strings/string_view.h"
#include "policies/framework/queue_policy.h"

namespace drasim {

// The remaining time includes the overhead of a pending restart. Jobs without a run time never end:
// they come last, and every job that ends may displace them. Jobs that are not preemptible are
// never displaced.
class SrtfQueue : public QueuePolicy {
 public:
  absl::string_view name() const override { return "srtf"; }
  JobKey Key(const JobTable& jobs, JobId job) override;
  bool preempts() const override { return true; }
  // Only if `waiting` has strictly less work left.
  bool MayPreempt(const JobTable& jobs, JobId waiting, JobId running, SimTime now) const override;
  // The job with the most work left is displaced first.
  JobKey VictimKey(const JobTable& jobs, JobId running, SimTime now) const override;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_QUEUES_SRTF_H_
