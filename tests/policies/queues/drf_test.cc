#include "policies/queues/drf.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "model/job_table.h"
#include "model/pod_shape.h"
#include "tests/policies/queues/queue_rig.h"

namespace drasim {
namespace drf_test {

JobArrival Of(const std::string& tenant, int64_t submitted) {
  JobArrival arrival = ServiceAt(submitted);
  arrival.tenant = tenant;
  return arrival;
}

PodShape Shape(int64_t cpu_milli, int64_t memory_gib, int32_t gpus) {
  PodShape shape = TestShape(cpu_milli, gpus);
  shape.request.memory_bytes = memory_gib * kTestGib;
  return shape;
}

TEST(DrfQueueTest, TheDominantShareIsTheLargestOfThree) {
  QueueRig rig;
  // 10 cores, 2 TiB and 4 GPUs in all.
  rig.builder().AddNode(TestNode("a", 7000, 4));
  rig.builder().AddNode(TestNode("b", 3000, 0));
  DrfQueue queue;
  EXPECT_TRUE(queue.per_tenant());
  const JobId cpu = rig.Submit(Of("cpu", 1), Shape(3000, 1, 1));
  const JobId memory = rig.Submit(Of("memory", 2), Shape(1000, 768, 1));
  const JobId gpu = rig.Submit(Of("gpu", 3), Shape(1000, 1, 2));
  const auto share = [&rig, &queue](const std::string& tenant) {
    return queue.TenantKey(rig.jobs(), rig.cluster(), rig.jobs().FindTenant(tenant));
  };
  for (const char* const tenant : {"", "cpu", "memory", "gpu"}) EXPECT_EQ(share(tenant), 0);
  for (const JobId job : {cpu, memory, gpu}) rig.Run(job, 5);
  EXPECT_EQ(share("cpu"), 300'000'000);
  EXPECT_EQ(share("memory"), 375'000'000);
  EXPECT_EQ(share("gpu"), 500'000'000);
  EXPECT_EQ(share(""), 0);
  // A second job of the tenant adds up, from the moment its pods are charged.
  const JobId more = rig.Submit(Of("cpu", 4), Shape(3001, 1, 0));
  EXPECT_EQ(share("cpu"), 300'000'000);
  rig.jobs().Start(more);
  EXPECT_EQ(share("cpu"), 600'100'000);
  rig.jobs().End(cpu, JobState::kSucceeded, SimTime(9));
  EXPECT_EQ(share("cpu"), 300'100'000);
}

TEST(DrfQueueTest, SharesAreRoundedDown) {
  QueueRig rig;
  rig.builder().AddNode(TestNode("a", 3000, 0));
  const JobId job = rig.Submit(Of("a", 1), Shape(2000, 0, 0));
  rig.Run(job, 1);
  DrfQueue queue;
  EXPECT_EQ(queue.TenantKey(rig.jobs(), rig.cluster(), rig.jobs().row(job).tenant), 666'666'666);
}

TEST(DrfQueueTest, AResourceThatTheClusterLacksDoesNotCount) {
  QueueRig rig;
  const JobId job = rig.Submit(Of("a", 1), Shape(2000, 8, 1));
  rig.Run(job, 1);
  const TenantId tenant = rig.jobs().row(job).tenant;
  DrfQueue queue;
  EXPECT_EQ(queue.TenantKey(rig.jobs(), rig.cluster(), tenant), 0);
  rig.builder().AddNode(TestNode("a", 8000, 0));
  EXPECT_EQ(queue.TenantKey(rig.jobs(), rig.cluster(), tenant), 250'000'000);
}

TEST(DrfQueueTest, LargeAmountsDoNotOverflow) {
  QueueRig rig;
  NodeSpec node = TestNode("a", 1000, 0);
  node.memory_bytes = int64_t{1} << 61;
  rig.builder().AddNode(node);
  PodShape shape;
  shape.request.memory_bytes = int64_t{1} << 60;
  const JobId job = rig.Submit(Of("a", 1), shape);
  rig.Run(job, 1);
  // A cluster that has shrunk since.
  PodShape many_cores;
  many_cores.request.cpu_milli = int64_t{1} << 60;
  const JobId absurd = rig.Submit(Of("b", 1), many_cores);
  rig.Run(absurd, 1);
  DrfQueue queue;
  EXPECT_EQ(queue.TenantKey(rig.jobs(), rig.cluster(), rig.jobs().row(job).tenant), 500'000'000);
  EXPECT_EQ(queue.TenantKey(rig.jobs(), rig.cluster(), rig.jobs().row(absurd).tenant), INT64_MAX);
}

TEST(DrfQueueTest, WithinATenantFirstInFirstOut) {
  QueueRig rig;
  rig.Submit(Of("a", 1), Shape(9000, 0, 0));
  rig.Submit(Of("a", 2), Shape(1000, 0, 0));
  DrfQueue queue;
  EXPECT_EQ(queue.Key(rig.jobs(), JobId(size_t{1})), (JobKey{2, 0}));
  EXPECT_EQ(Line(queue, rig.jobs()), (std::vector<uint32_t>{0, 1}));
}

}  // namespace drf_test
}  // namespace drasim
