// A replay with more work than room: the workload of benchmarks over whole runs.
#ifndef DRASIM_BENCH_MICRO_OVERLOADED_RUN_H_
#define DRASIM_BENCH_MICRO_OVERLOADED_RUN_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/strings/str_cat.h"
#include "model/proto/scenario.pb.h"
#include "model/random.h"

namespace drasim {

// Adapts a job to the case.
using Vary = std::function<void(int64_t index, Random& random, proto::InlineJob* job)>;

// A job every second on 64 nodes of 8 GPUs, 40 % more than the cluster has room for.
inline proto::Scenario OverloadedRun(int64_t jobs, const std::string& queue, const Vary& vary) {
  proto::Scenario scenario;
  scenario.set_mode("replay");
  scenario.mutable_cluster()->set_nodes(64);
  proto::NodeTemplate* node = scenario.mutable_cluster()->mutable_node();
  node->set_cpu("96");
  node->set_memory("768Gi");
  node->set_gpus(8);
  node->set_gpu_model("A100");
  scenario.mutable_scheduler()->set_queue(queue);
  scenario.mutable_scheduler()->set_policy("consolidate");
  Random random(1, "growth");
  for (int64_t i = 0; i < jobs; ++i) {
    proto::InlineJob* job = scenario.mutable_workload()->add_jobs();
    job->set_name(absl::StrCat("job-", i));
    job->set_cpu("1");
    job->set_memory("1Gi");
    job->set_gpus(1 << random.Below(4));
    job->set_arrival(absl::StrCat(i, "s"));
    job->set_run_time(absl::StrCat(20 + random.Below(340), "s"));
    vary(i, random, job);
  }
  return scenario;
}

}  // namespace drasim

#endif  // DRASIM_BENCH_MICRO_OVERLOADED_RUN_H_
