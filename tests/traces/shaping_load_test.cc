// Mean loads, and clusters of a size to match.

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/event_source.h"
#include "model/node_spec.h"
#include "model/pod_shape.h"
#include "model/time.h"
#include "traces/shaping.h"

namespace drasim {
namespace shaping_load_test {

constexpr int64_t kSecond = 1'000'000'000;

class ShapingLoadTest : public testing::Test {
 protected:
  ShapingLoadTest()
      : shapes_(&models_),
        two_gpus_(Intern(2, 1000, 4000)),
        half_gpu_(Intern(1, 500, 1000)),
        no_gpu_(Intern(0, 0, 8000)) {}

  ShapeId Intern(int32_t gpus, int32_t gpu_milli, int64_t cpu_milli) {
    PodShape shape;
    shape.gpu_count = gpus;
    shape.gpu_milli = gpu_milli;
    shape.cpu_milli = cpu_milli;
    return shapes_.Intern(shape);
  }

  GpuModelTable models_;
  ShapeTable shapes_;
  ShapeId two_gpus_;
  ShapeId half_gpu_;
  ShapeId no_gpu_;
};

JobArrival Job(ShapeId shape, int64_t arrival_s) {
  JobArrival job;
  job.shape = shape;
  job.time = SimTime(arrival_s * kSecond);
  return job;
}

JobArrival Timed(ShapeId shape, int64_t arrival_s, int64_t run_time_s) {
  JobArrival job = Job(shape, arrival_s);
  job.has_run_time = true;
  job.run_time = SimDuration::Seconds(run_time_s);
  return job;
}

JobArrival DeletedAt(JobArrival job, int64_t deletion_s) {
  job.has_deletion = true;
  job.deletion = SimTime(deletion_s * kSecond);
  return job;
}

NodeSpec Node(absl::string_view name, int32_t gpus, int64_t cpu_milli) {
  NodeSpec node;
  node.name = std::string(name);
  node.gpu_count = gpus;
  node.cpu_milli = cpu_milli;
  return node;
}

LoadEstimate GpuLoad(double mean_gpu_milli) {
  LoadEstimate load;
  load.mean_gpu_milli = mean_gpu_milli;
  load.mean_cpu_milli = 1e9;
  load.gpu_jobs = 1;
  return load;
}

int64_t Count(const std::vector<NodeSpec>& nodes, const LoadEstimate& load, double percent) {
  const absl::StatusOr<int64_t> count = NodesForLoad(nodes, load, percent);
  EXPECT_TRUE(count.ok()) << count.status();
  return count.ok() ? *count : -1;
}

std::string Error(const std::vector<NodeSpec>& nodes, const LoadEstimate& load, double percent) {
  const absl::StatusOr<int64_t> count = NodesForLoad(nodes, load, percent);
  EXPECT_EQ(count.status().code(), absl::StatusCode::kInvalidArgument) << count.status();
  EXPECT_EQ(ScaleCluster(nodes, load, percent).status(), count.status());
  return std::string(count.status().message());
}

std::string ScaledNames(const std::vector<NodeSpec>& nodes, const LoadEstimate& load,
                        double percent) {
  const absl::StatusOr<std::vector<NodeSpec>> scaled = ScaleCluster(nodes, load, percent);
  EXPECT_TRUE(scaled.ok()) << scaled.status();
  if (!scaled.ok()) return "";
  return absl::StrJoin(*scaled, " ",
                       [](std::string* out, const NodeSpec& node) { out->append(node.name); });
}

TEST_F(ShapingLoadTest, MeanLoadCountsEveryPodForAsLongAsItHolds) {
  // 3 x 2 + 2 x half a GPU, 14 cores, 10 s.
  JobArrival gang = Timed(two_gpus_, 10, 10);
  gang.pods = 3;
  gang.more_pods = {PodGroup{half_gpu_, 2}};
  // 8 cores for 5 s, after attempts of 3 s and 2 s that failed.
  JobArrival retried = Timed(no_gpu_, 0, 5);
  retried.failed_attempts = {SimDuration::Seconds(3), SimDuration::Seconds(2)};
  const std::vector<JobArrival> jobs = {
      gang,
      retried,
      DeletedAt(Job(two_gpus_, 20), 24),       // 2 GPUs and 4 cores, 4 s
      Job(two_gpus_, 20),                      // a service without an end
      DeletedAt(Timed(half_gpu_, 5, 100), 7),  // half a GPU and 1 core, 2 s
      DeletedAt(Timed(half_gpu_, 5, 100), 5),  // deleted at once,
      DeletedAt(Timed(half_gpu_, 5, 100), 4),  // or even before
  };
  const LoadEstimate load = MeanLoad(jobs, shapes_);
  EXPECT_EQ(load.span_ns, 20 * kSecond);
  EXPECT_EQ(load.mean_gpu_milli, (70000 + 8000 + 1000) / 20.0);
  EXPECT_EQ(load.mean_cpu_milli, (140000 + 80000 + 16000 + 2000) / 20.0);
  EXPECT_EQ(load.gpu_jobs, 6);
  EXPECT_EQ(load.endless_jobs, 1);
}

TEST_F(ShapingLoadTest, MeanLoadWithoutASpanIsZero) {
  EXPECT_EQ(MeanLoad({}, shapes_).span_ns, 0);
  const LoadEstimate load = MeanLoad({Timed(two_gpus_, 3, 5), Timed(two_gpus_, 3, 5)}, shapes_);
  EXPECT_EQ(load.span_ns, 0);
  EXPECT_EQ(load.mean_gpu_milli, 0);
  EXPECT_EQ(load.mean_cpu_milli, 0);
  EXPECT_EQ(load.gpu_jobs, 2);
}

TEST_F(ShapingLoadTest, MeanLoadIsExactBeyond64Bits) {
  // 2 GPUs for 126 years, 4000 times within a nanosecond.
  std::vector<JobArrival> jobs(4000, Timed(two_gpus_, 0, 4'000'000'000));
  jobs.back().time = SimTime(1);
  EXPECT_EQ(MeanLoad(jobs, shapes_).mean_gpu_milli, 2000.0 * 4e18 * 4000.0);
  // Sums stay at 2^128.
  jobs[0].shape = Intern(0, 0, 1'000'000'000'000);
  jobs[0].pods = std::numeric_limits<int32_t>::max();
  EXPECT_EQ(MeanLoad(jobs, shapes_).mean_cpu_milli, 0x1p128);
}

TEST_F(ShapingLoadTest, TheNearestNumberOfNodes) {
  const std::vector<NodeSpec> one = {Node("n", 8, 1000)};
  EXPECT_EQ(Count(one, GpuLoad(8000), 100), 1);
  EXPECT_EQ(Count(one, GpuLoad(1), 100), 1);  // never none
  EXPECT_EQ(Count(one, GpuLoad(8000), 10), 10);
  EXPECT_EQ(Count(one, GpuLoad(3950), 10), 5);  // 39.5 GPUs
  EXPECT_EQ(Count(one, GpuLoad(3950), 12), 4);  // 32.9 GPUs
  EXPECT_EQ(Count(one, GpuLoad(3600), 10), 5);  // 36 GPUs: half-way
  EXPECT_EQ(Count(one, GpuLoad(80000), 200), 5);

  const std::vector<NodeSpec> mixed = {Node("cpu", 0, 64000), Node("g8", 8, 1000),
                                       Node("g4", 4, 1000)};
  EXPECT_EQ(Count(mixed, GpuLoad(100), 100), 2);  // the first with GPUs
  EXPECT_EQ(Count(mixed, GpuLoad(8000), 100), 2);
  EXPECT_EQ(Count(mixed, GpuLoad(10500), 100), 3);
  EXPECT_EQ(Count(mixed, GpuLoad(12000), 100), 3);
  EXPECT_EQ(Count(mixed, GpuLoad(17000), 100), 5);
  EXPECT_EQ(Count(mixed, GpuLoad(120000), 100), 30);
  LoadEstimate cpus;
  cpus.mean_cpu_milli = 130000;
  EXPECT_EQ(Count(mixed, cpus, 100), 4);
}

TEST_F(ShapingLoadTest, AbsentNodesHoldNothing) {
  std::vector<NodeSpec> nodes = {Node("a", 8, 0), Node("b", 8, 0)};
  nodes[0].absent = true;
  EXPECT_EQ(Count(nodes, GpuLoad(16000), 100), 4);
  nodes[1].absent = true;
  EXPECT_EQ(Error(nodes, GpuLoad(16000), 100),
            "workload.target_load_percent: found no node with a GPU, expected at least one, since "
            "the workload asks for them");
}

TEST_F(ShapingLoadTest, RepeatedNodesGetNewNames) {
  const std::vector<NodeSpec> plain = {Node("a", 8, 0), Node("b", 8, 0), Node("c", 8, 0)};
  EXPECT_EQ(ScaledNames(plain, GpuLoad(16000), 100), "a b");
  EXPECT_EQ(ScaledNames(plain, GpuLoad(24000), 100), "a b c");
  EXPECT_EQ(ScaledNames(plain, GpuLoad(56000), 100), "a b c a-2 b-2 c-2 a-3");
  // Some are taken.
  const std::vector<NodeSpec> taken = {Node("a", 8, 0), Node("a-2", 8, 0), Node("a-4", 8, 0)};
  EXPECT_EQ(ScaledNames(taken, GpuLoad(64000), 100), "a a-2 a-4 a-3 a-2-2 a-4-2 a-5 a-2-3");

  std::vector<NodeSpec> nodes = {Node("a", 8, 64000)};
  nodes[0].gpu_model = "T4";
  nodes[0].labels.emplace_back("zone", "z");
  const absl::StatusOr<std::vector<NodeSpec>> scaled = ScaleCluster(nodes, GpuLoad(16000), 100);
  ASSERT_TRUE(scaled.ok()) << scaled.status();
  ASSERT_EQ(scaled->size(), 2u);
  const NodeSpec& copy = (*scaled)[1];
  EXPECT_EQ(copy.name, "a-2");
  EXPECT_EQ(copy.gpu_count, 8);
  EXPECT_EQ(copy.cpu_milli, 64000);
  EXPECT_EQ(copy.gpu_model, "T4");
  EXPECT_EQ(copy.labels, nodes[0].labels);
}

TEST_F(ShapingLoadTest, TheScaledClusterHasTheLoad) {
  std::vector<JobArrival> jobs;
  for (int64_t i = 0; i <= 1000; ++i) jobs.push_back(Timed(two_gpus_, i * 10, 1000));
  // 1001 x 2 GPUs x 1000 s over 10000 s: 200.2 GPUs.
  const LoadEstimate load = MeanLoad(jobs, shapes_);
  EXPECT_EQ(load.mean_gpu_milli, 200200);
  EXPECT_EQ(Count({Node("n", 8, 0)}, load, 80), 31);  // of 31.28
}

TEST_F(ShapingLoadTest, RefusesWhatCannotBeReached) {
  const std::vector<NodeSpec> nodes = {Node("n", 8, 1000)};
  for (const double percent : {0.0, -1.0, 1000001.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_TRUE(absl::StartsWith(Error(nodes, GpuLoad(1000), percent),
                                 "workload.target_load_percent: found "));
  }
  EXPECT_EQ(Error(nodes, LoadEstimate(), 80),
            "workload.target_load_percent: found a workload without a mean load, expected jobs "
            "that arrive at different times, have run times and ask for something");
  LoadEstimate cpus;
  cpus.mean_cpu_milli = 5;
  EXPECT_EQ(Error({Node("n", 8, 0)}, cpus, 80),
            "workload.target_load_percent: found no node with a CPU, expected at least one, since "
            "the workload asks for them");
  EXPECT_EQ(Error({}, GpuLoad(1000), 80),
            "workload.target_load_percent: found no node with a GPU, expected at least one, since "
            "the workload asks for them");
  EXPECT_EQ(Error(nodes, GpuLoad(4000), 1e-6),
            "workload.target_load_percent: found a load that needs 4e+11 milli-GPUs, expected at "
            "most 16777216 nodes");
  EXPECT_TRUE(absl::StrContains(Error(nodes, GpuLoad(1e30), 1), "16777216 nodes"));
  EXPECT_EQ(Count(nodes, GpuLoad(8000.0 * 16777216), 100), 16777216);
}

}  // namespace shaping_load_test
}  // namespace drasim
