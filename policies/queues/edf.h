// Earliest deadline first. Jobs without a deadline come last; equal jobs keep the order of
// submission.
#ifndef DRASIM_POLICIES_QUEUES_EDF_H_
#define DRASIM_POLICIES_QUEUES_EDF_H_

#include "absl/strings/string_view.h"
#include "policies/framework/queue_policy.h"

namespace drasim {

// Deadlines that have passed count like all others.
class EdfQueue : public QueuePolicy {
 public:
  absl::string_view name() const override { return "edf"; }
  JobKey Key(const JobTable& jobs, JobId job) override;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_QUEUES_EDF_H_
