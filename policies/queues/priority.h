// Priority: jobs of higher priority first, equal jobs in the order of submission.
#ifndef DRASIM_POLICIES_QUEUES_PRIORITY_H_
#define DRASIM_POLICIES_QUEUES_PRIORITY_H_

#include "absl/strings/string_view.h"
#include "policies/framework/queue_policy.h"

namespace drasim {

// The order alone: preemption by priority is a mode of the engine that works with any order.
class PriorityOrder : public QueuePolicy {
 public:
  absl::string_view name() const override { return "priority"; }
  JobKey Key(const JobTable& jobs, JobId job) override;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_QUEUES_PRIORITY_H_
