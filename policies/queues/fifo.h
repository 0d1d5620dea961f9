// First in, first out: jobs in the order of submission. A baseline.
//
// A job that was interrupted returns to its place in that order.
#ifndef DRASIM_POLICIES_QUEUES_FIFO_H_
#define DRASIM_POLICIES_QUEUES_FIFO_H_

#include "absl/strings/string_view.h"
#include "policies/framework/queue_policy.h"

namespace drasim {

class FifoQueue : public QueuePolicy {
 public:
  absl::string_view name() const override { return "fifo"; }
  JobKey Key(const JobTable& jobs, JobId job) override;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_QUEUES_FIFO_H_
