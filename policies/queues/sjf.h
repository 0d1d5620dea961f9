// Shortest job first, by the true run time: the ideal that estimates approximate.
#ifndef DRASIM_POLICIES_QUEUES_SJF_H_
#define DRASIM_POLICIES_QUEUES_SJF_H_

#include "absl/strings/string_view.h"
#include "policies/framework/queue_policy.h"

namespace drasim {

// The length is that of the whole attempt, even if part of it is done. Jobs without a run time come
// last.
class SjfQueue : public QueuePolicy {
 public:
  absl::string_view name() const override { return "sjf"; }
  JobKey Key(const JobTable& jobs, JobId job) override;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_QUEUES_SJF_H_
