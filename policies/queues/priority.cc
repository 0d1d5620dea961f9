#include "policies/queues/priority.h"

#include <cstdint>
#include <memory>

#include "policies/framework/registry.h"

namespace drasim {

JobKey PriorityOrder::Key(const JobTable& jobs, JobId job) {
  const JobRow& row = jobs.row(job);
  return {-int64_t{row.priority}, row.submitted.ns()};
}

void RegisterPriorityOrder(Registry& registry) {
  registry.AddQueue({"priority", "higher priority first, then first in, first out",
                     [](const QueueContext&) { return std::make_unique<PriorityOrder>(); }});
}

}  // namespace drasim
