#include "policies/queues/sjf.h"

#include <memory>

#include "policies/framework/registry.h"
#include "policies/queues/estimates.h"

namespace drasim {

JobKey SjfQueue::Key(const JobTable& jobs, JobId job) {
  if (!jobs.row(job).has_run_time) return {1, 0};
  return {0, AttemptRunTime(jobs, job).ns()};
}

void RegisterSjfQueue(Registry& registry) {
  registry.AddQueue({"sjf", "shortest job first, by the true run time",
                     [](const QueueContext&) { return std::make_unique<SjfQueue>(); }});
}

}  // namespace drasim
