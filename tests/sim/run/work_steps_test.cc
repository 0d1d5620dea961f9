// Counts of work agree with each other, and with what must have been done.
#include "sim/run/work_steps.h"

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "model/proto/scenario.pb.h"
#include "model/text/json_writer.h"
#include "tests/testing/run_spec_of.h"

namespace drasim {
namespace work_steps_test {

std::unique_ptr<Simulation> RunOf(const std::string& scenario) {
  absl::StatusOr<std::unique_ptr<Simulation>> sim =
      Simulation::Build(RunSpecOf(ScenarioOf(scenario)));
  EXPECT_EQ(sim.status(), absl::OkStatus());
  EXPECT_EQ((*sim)->Start(), absl::OkStatus());
  EXPECT_EQ((*sim)->Run(), absl::OkStatus());
  return *std::move(sim);
}

uint64_t SumOf(const PluginCalls& calls) {
  uint64_t sum = 0;
  for (const auto& [plugin, count] : calls) sum += count;
  return sum;
}

constexpr char kFill[] =
    "cluster: {nodes: 20}\nworkload: {generated: {pods: 200}}\nscheduler: {policy: fgd}\n";

TEST(WorkStepsTest, EveryFilterSeesEveryNode) {
  const std::unique_ptr<Simulation> sim = RunOf(kFill);
  const WorkSteps steps = WorkStepsOf(*sim);
  EXPECT_EQ(steps.filter_calls.size(), sim->profile().filters().size());
  for (const auto& [plugin, count] : steps.filter_calls)
    EXPECT_EQ(count, steps.search.nodes_filtered) << plugin;
  EXPECT_GT(steps.search.nodes_filtered, 0u);
  EXPECT_EQ(SumOf(steps.score_calls), steps.search.nodes_scored);
  EXPECT_EQ(steps.events, 200u);  // arrivals
  EXPECT_EQ(steps.queue_operations, 0u);
  EXPECT_EQ(steps.api_calls, 0u);
  uint64_t with_gpus = 0;
  for (size_t i = 0; i < sim->cluster().pod_count(); ++i) {
    const PodId pod(i);
    if (sim->cluster().pod_phase(pod) != PodPhase::kPending &&
        sim->cluster().pod_shape(pod).request.gpu_count > 0) {
      if (sim->cluster().pod_node(pod).valid()) ++with_gpus;
    }
  }
  EXPECT_EQ(steps.allocator_calls, with_gpus);
}

// The pods never end, so most of them wait for good.
TEST(WorkStepsTest, ABatchQueueIsEnteredAndLeftOnce) {
  const std::unique_ptr<Simulation> sim = RunOf(
      "mode: replay\ncluster: {nodes: 4}\nworkload: {generated: {pods: 60}}\n"
      "scheduler: {queue: fifo}\n");
  const WorkSteps steps = WorkStepsOf(*sim);
  const uint64_t waiting = sim->engine().pods_waiting();
  EXPECT_GT(waiting, 0u);
  EXPECT_LT(waiting, 60u);
  EXPECT_EQ(steps.queue_operations, 60u + (60u - waiting));
  EXPECT_GE(steps.events, 60u);  // arrivals
}

TEST(WorkStepsTest, KubeSchedulerCountsByPlugin) {
  const std::unique_ptr<Simulation> sim = RunOf(
      "mode: replay\ncluster: {nodes: 4}\nworkload: {generated: {pods: 30}}\n"
      "scheduler: {queue: kubernetes, policy: kube-scheduler}\n");
  const WorkSteps steps = WorkStepsOf(*sim);
  EXPECT_GT(steps.filter_calls.at("NodeResourcesFit"), 0u);
  EXPECT_GT(steps.score_calls.at("NodeResourcesBalancedAllocation"), 0u);
  // Each pod is added and popped at least once.
  EXPECT_GE(steps.queue_operations, 2 * 30u);
}

TEST(WorkStepsTest, WritesEveryCount) {
  WorkSteps steps;
  steps.search = {1, 2, 3, 4, 5};
  steps.events = 6;
  steps.queue_operations = 7;
  steps.allocator_calls = 8;
  steps.api_calls = 9;
  steps.filter_calls = {{"A", 10}, {"B", 11}};
  steps.score_calls = {{"C", 12}};
  JsonWriter j;
  j.BeginObject();
  WriteSteps(steps, j);
  j.EndObject();
  std::string text;
  for (const char c : j.text()) {
    if (c != ' ' && c != '\n') text += c;
  }
  EXPECT_EQ(text,
            "{\"steps\":{\"decisions\":1,\"nodes_filtered\":2,\"nodes_scored\":3,\"cache_hits\":4,"
            "\"attempts_remembered\":5,\"events\":6,\"queue_operations\":7,\"allocator_calls\":8,"
            "\"api_calls\":9,\"filter_calls\":{\"A\":10,\"B\":11},\"score_calls\":{\"C\":12}}}");
}

}  // namespace work_steps_test
}  // namespace drasim
