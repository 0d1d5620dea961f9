#include "policies/queues/sjf_estimate.h"

#include <memory>

#include "policies/framework/registry.h"

namespace drasim {

JobKey SjfEstimateQueue::Key(const JobTable& jobs, JobId job) {
  return {estimates_.Estimate(jobs, job).ns(), 0};
}

void RegisterSjfEstimateQueue(Registry& registry) {
  registry.AddQueue(
      {"sjf-estimate", "shortest job first, by the owner's estimate", [](const QueueContext& c) {
         return std::make_unique<SjfEstimateQueue>(
             EstimateModel(c.seed, c.estimate_noise, c.exact_estimates));
       }});
}

}  // namespace drasim
