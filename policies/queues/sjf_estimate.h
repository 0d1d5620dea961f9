// Shortest job first, by estimated run time (estimates.h).
#ifndef DRASIM_POLICIES_QUEUES_SJF_ESTIMATE_H_
#define DRASIM_POLICIES_QUEUES_SJF_ESTIMATE_H_

#include "absl/strings/string_view.h"
#include "policies/framework/queue_policy.h"
#include "policies/queues/estimates.h"

namespace drasim {

// Jobs with neither an estimate nor a run time come last.
class SjfEstimateQueue : public QueuePolicy {
 public:
  explicit SjfEstimateQueue(const EstimateModel& estimates) : estimates_(estimates) {}
  absl::string_view name() const override { return "sjf-estimate"; }
  JobKey Key(const JobTable& jobs, JobId job) override;

 private:
  EstimateModel estimates_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_QUEUES_SJF_ESTIMATE_H_
