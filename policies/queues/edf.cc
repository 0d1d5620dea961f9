#include "policies/queues/edf.h"

#include <cstdint>
#include <limits>
#include <memory>

#include "policies/framework/registry.h"

namespace drasim {

JobKey EdfQueue::Key(const JobTable& jobs, JobId job) {
  const JobRow& row = jobs.row(job);
  const int64_t deadline_ns =
      row.has_deadline ? row.deadline.ns() : std::numeric_limits<int64_t>::max();
  return {deadline_ns, row.submitted.ns()};
}

void RegisterEdfQueue(Registry& registry) {
  registry.AddQueue({"edf", "earliest deadline first",
                     [](const QueueContext&) { return std::make_unique<EdfQueue>(); }});
}

}  // namespace drasim
