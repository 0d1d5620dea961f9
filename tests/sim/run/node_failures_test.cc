// Failures of nodes at random: when they happen, and what a run makes of them.
#include "sim/run/node_failures.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/gpu_model_table.h"
#include "model/node_spec.h"
#include "model/proto/scenario.pb.h"
#include "model/shape_table.h"
#include "sim/compare/cell.h"
#include "sim/run/simulation.h"
#include "sim/scenario/resolve.h"
#include "tests/testing/data_text.h"
#include "tests/testing/key_errors.h"
#include "tests/testing/run_spec_of.h"

namespace drasim {
namespace node_failures_test {

proto::Scenario WithFailures(absl::string_view keys) {
  return ScenarioOf(absl::StrCat("mode: replay\nseed: 7\ncluster: {failures: {", keys, "}}\n"));
}

std::string ErrorOf(absl::string_view keys) {
  return std::string(ResolveScenario(WithFailures(keys)).status().message());
}

class NodeFailuresTest : public ::testing::Test {
 protected:
  NodeFailuresTest() : shapes_(&models_) {}

  // "SECONDS NODE" and + for a repair, - for a failure, of a cluster with these nodes.
  std::vector<std::string> Changes(const std::vector<std::string>& names,
                                   const proto::Scenario& scenario, int64_t until_s) {
    const RunSpec spec = RunSpecOf(scenario);
    ClusterState cluster(&models_, &shapes_);
    for (const std::string& name : names) {
      NodeSpec node;
      node.name = name;
      EXPECT_TRUE(cluster.AddNode(node).ok());
    }
    const absl::StatusOr<std::vector<NodeTransition>> changes = MakeNodeFailures(
        *spec.cluster.failures, spec.seed, cluster, SimTime() + SimDuration::Seconds(until_s));
    if (!changes.ok()) return {std::string(changes.status().message())};
    std::vector<std::string> lines;
    for (const NodeTransition& change : *changes) {
      lines.push_back(absl::StrCat(change.action == NodeTransition::Action::kFail ? "-" : "+",
                                   cluster.node_spec(change.node).name, " ", change.at.ns()));
    }
    return lines;
  }

  GpuModelTable models_;
  ShapeTable shapes_;
};

TEST_F(NodeFailuresTest, WorkAndRepairTakeTurnsUntilTheEnd) {
  const proto::Scenario scenario = WithFailures("mtbf: constant(100), mttr: constant(10)");
  EXPECT_EQ(Changes({"a", "b"}, scenario, 210),
            (std::vector<std::string>{"-a 100000000000", "-b 100000000000", "+a 110000000000",
                                      "+b 110000000000", "-a 210000000000", "-b 210000000000",
                                      "+a 220000000000", "+b 220000000000"}));
  EXPECT_EQ(Changes({"a"}, scenario, 99), std::vector<std::string>{});
  const proto::Scenario some = WithFailures("mtbf: constant(100), mttr: constant(10), nodes: 'b*'");
  EXPECT_EQ(Changes({"a", "b1"}, some, 100),
            (std::vector<std::string>{"-b1 100000000000", "+b1 110000000000"}));
  EXPECT_EQ(Changes({"a"}, some, 100),
            std::vector<std::string>{"cluster.failures.nodes: found 'b*', which matches no node"});
}

// A node that fails as soon as it works would fail for ever at one instant.
TEST_F(NodeFailuresTest, ANodeWorksForASecond) {
  const proto::Scenario scenario = WithFailures("mtbf: constant(0), mttr: constant(0)");
  EXPECT_EQ(Changes({"a"}, scenario, 2),
            (std::vector<std::string>{"-a 1000000000", "+a 1000000000", "-a 2000000000",
                                      "+a 2000000000"}));
}

TEST_F(NodeFailuresTest, EachNodeHasDrawsOfItsOwn) {
  const proto::Scenario scenario = WithFailures("mtbf: 1d, mttr: 1h");
  constexpr int64_t kYear = 365 * 86'400;
  const auto of = [](std::vector<std::string> lines, char node) {
    lines.erase(std::remove_if(lines.begin(), lines.end(),
                               [node](const std::string& line) { return line[1] != node; }),
                lines.end());
    return lines;
  };
  const std::vector<std::string> alone = Changes({"a"}, scenario, kYear);
  const std::vector<std::string> both = Changes({"b", "a"}, scenario, kYear);
  EXPECT_EQ(of(both, 'a'), alone);
  EXPECT_NE(of(both, 'b').size(), 0u);
  // 365 d / 25 h is 350 failures, with a deviation of some 19.
  EXPECT_GT(alone.size(), 2u * 270);
  EXPECT_LT(alone.size(), 2u * 430);
  proto::Scenario other = scenario;
  other.set_seed(8);
  EXPECT_NE(Changes({"a"}, other, kYear), alone);
}

TEST_F(NodeFailuresTest, TooManyAreRefusedBeforeTheyAreMade) {
  const proto::Scenario scenario = WithFailures("mtbf: 1s, mttr: constant(0)");
  EXPECT_EQ(Changes({"a"}, scenario, 86'400 * 100),
            std::vector<std::string>{
                "cluster.failures: found more than 5000000 failures up to 2400h, expected fewer: a "
                "longer mtbf, fewer nodes, or an earlier until"});
}

TEST_F(NodeFailuresTest, TheEndOfAWorkloadThatNeverWaits) {
  JobArrival job;
  job.time = SimTime(10);
  EXPECT_EQ(EndWithoutWaiting({job}), SimTime(10));  // a service
  JobArrival longer = job;
  longer.has_run_time = true;
  longer.run_time = SimDuration(100);
  longer.failed_attempts = {SimDuration(5)};
  EXPECT_EQ(EndWithoutWaiting({longer, job}), SimTime(115));
  EXPECT_EQ(EndWithoutWaiting({}), SimTime());
}

TEST_F(NodeFailuresTest, KeysThatAreWrong) {
  for (const auto& [input, expected] : TestRows<2>("KeysThatAreWrong")) {
    EXPECT_EQ(ErrorOf(input), expected) << input;
  }
  proto::Scenario fill = WithFailures("mtbf: 1h, mttr: 1m");
  fill.set_mode("fill");
  EXPECT_EQ(WithoutCheckedKey(ResolveScenario(fill).status()),
            absl::InvalidArgumentError("cluster.failures: expected none: a fill has no clock"));
}

std::unique_ptr<Simulation> Ran(absl::string_view until) {
  const proto::Scenario scenario =
      ScenarioOf(absl::StrCat(TestLines("Ran"), until, "}\n",
                              "workload: {jobs: [{name: a, cpu: '1', run_time: 300s}]}\n"
                              "scheduler: {queue: fifo}\n"));
  const RunSpec spec = RunSpecOf(scenario);
  EXPECT_TRUE(DependsOnSeed(spec));
  absl::StatusOr<std::unique_ptr<Simulation>> sim = Simulation::Build(spec);
  EXPECT_TRUE(sim.ok()) << sim.status();
  EXPECT_EQ((*sim)->Start(), absl::OkStatus());
  EXPECT_EQ((*sim)->Run(), absl::OkStatus());
  return *std::move(sim);
}

TEST_F(NodeFailuresTest, InterruptJobs) {
  const std::unique_ptr<Simulation> sim = Ran(", until: 150s");
  const JobRow& job = sim->jobs().row(JobId(size_t{0}));
  EXPECT_EQ(job.evictions, 1u);
  EXPECT_EQ(job.ended, SimTime() + SimDuration::Seconds(310));
  EXPECT_EQ(sim->warnings(), std::vector<std::string>{});
}

TEST_F(NodeFailuresTest, TheirEndIsToldWhenJobsEndLater) {
  const std::unique_ptr<Simulation> sim = Ran("");
  const JobRow& job = sim->jobs().row(JobId(size_t{0}));
  EXPECT_EQ(job.evictions, 2u);
  EXPECT_EQ(job.ended, SimTime() + SimDuration::Seconds(320));
  EXPECT_EQ(sim->warnings(),
            std::vector<std::string>{
                "cluster.failures: no node failed after 5m, though 1 job(s) ended later; "
                "cluster.failures.until says how long nodes fail"});
}

}  // namespace node_failures_test
}  // namespace drasim
