#include "policies/queues/fifo.h"

#include <memory>

#include "policies/framework/registry.h"

namespace drasim {

JobKey FifoQueue::Key(const JobTable& jobs, JobId job) { return {jobs.row(job).submitted.ns(), 0}; }

void RegisterFifoQueue(Registry& registry) {
  registry.AddQueue({"fifo", "first in, first out (baseline)",
                     [](const QueueContext&) { return std::make_unique<FifoQueue>(); }});
}

}  // namespace drasim
