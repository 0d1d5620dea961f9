// Explanations against the filters themselves, asked node by node; against the cluster, from which
// pods are taken; and of every failed attempt of whole runs.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/device_set.h"
#include "model/job_table.h"
#include "model/proto/scenario.pb.h"
#include "model/random.h"
#include "model/text/yaml_proto.h"
#include "sim/explain/attempt.h"
#include "sim/explain/node_room.h"
#include "sim/run/simulation.h"
#include "sim/scenario/resolve.h"
#include "tests/sim/explain/attempt_count.h"
#include "tests/sim/explain/attempt_rig.h"
#include "tests/testing/cluster_builder.h"
#include "tests/testing/data_text.h"
#include "tests/testing/run_spec_of.h"

namespace drasim {
namespace explain_oracle_test {

using ::testing::IsEmpty;

// ---- Against the filters and the cluster ----

// Random nodes, and residents with random ends.
void FillRig(Random& random, ExplainRig& rig, std::vector<ShapeId>* shapes) {
  for (size_t i = 0; i < 12; ++i) rig.AddNode(RandomNode(absl::StrCat("node-", i), random));
  for (size_t i = 0; i < 8; ++i) shapes->push_back(rig.AddShape(RandomShape(random)));
  for (size_t i = 0; i < 60; ++i) {
    const ShapeId shape = OneOf(*shapes, random);
    const NodeId node(static_cast<size_t>(random.Below(12)));
    const DeviceSet devices = RandomDevices(rig.cluster().shapes().row(shape),
                                            rig.cluster().device_milli_idle(node), random);
    if (!rig.cluster().CanPlace(shape, node, devices)) continue;
    rig.Run(absl::StrCat("resident-", i), shape, node, devices,
            static_cast<int64_t>(random.Below(5)) * 100);
  }
}

// The amount of the resource named by the reason that the pod lacks on the node.
int64_t MissingThere(ExplainRig& rig, PodId pod, NodeId node, const std::string& reason) {
  const PodShape& shape = rig.cluster().pod_shape(pod);
  const NodeRow& row = rig.cluster().node(node);
  if (reason == "Insufficient cpu") return shape.request.cpu_milli - row.cpu_milli_idle;
  if (reason == "Insufficient memory") return shape.request.memory_bytes - row.memory_bytes_idle;
  if (reason == "Too many pods") return 1 - row.pods_idle;
  if (reason != "Insufficient GPU") return 0;
  if (shape.request.gpu_count == 1 && shape.request.gpu_milli < kDeviceMilli) {
    return shape.request.gpu_milli - row.gpu_milli_idle_max;
  }
  int64_t fitting = 0;
  for (const int16_t idle : rig.cluster().device_milli_idle(node)) {
    fitting += idle >= shape.request.gpu_milli ? 1 : 0;
  }
  return shape.request.gpu_count - fitting;
}

TEST(ExplainOracleTest, CountsAndShortfallsAreThoseOfTheFilters) {
  Random random(1, "explain_test");
  size_t amounts = 0;
  for (int round = 0; round < 60; ++round) {
    ExplainRig rig;
    std::vector<ShapeId> shapes;
    FillRig(random, rig, &shapes);
    for (const ShapeId shape : shapes) {
      const PodId pod = rig.Wait("p", shape);
      std::map<std::string, std::pair<int64_t, int64_t>> missing;
      std::map<std::string, uint32_t> nodes;
      uint32_t rejected = 0;
      for (size_t n = 0; n < rig.cluster().node_count(); ++n) {
        const ReasonIndex verdict = rig.Verdict(pod, NodeId(n));
        if (verdict == kFits) continue;
        ++rejected;
        const std::string& reason = rig.profile().reasons()[verdict - size_t{1}];
        const int64_t m = MissingThere(rig, pod, NodeId(n), reason);
        const auto [it, is_new] = missing.try_emplace(reason, m, m);
        it->second = {std::min(it->second.first, m), std::max(it->second.second, m)};
        ++nodes[reason];
      }
      if (rejected < rig.cluster().node_count()) continue;
      const AttemptExplanation why = rig.Explain(pod);
      EXPECT_TRUE(why.agrees && why.complete()) << absl::StrJoin(RejectionLines(why), "\n");
      for (const Rejection& r : why.rejections) {
        if (r.kind != Rejection::Kind::kAmount) {
          EXPECT_EQ(missing[r.reason], std::make_pair(int64_t{0}, int64_t{0})) << RejectionLine(r);
          continue;
        }
        ++amounts;
        EXPECT_EQ(r.nodes, nodes[r.reason]) << RejectionLine(r);
        EXPECT_EQ(std::make_pair(r.least_missing, r.most_missing), missing[r.reason])
            << RejectionLine(r);
      }
    }
  }
  EXPECT_GT(amounts, 100u);
}

TEST(ExplainOracleTest, ForecastsComeTrueAndNotEarlier) {
  Random random(2, "explain_test");
  size_t forecasts = 0;
  for (int round = 0; round < 60; ++round) {
    ExplainRig rig;
    std::vector<ShapeId> shapes;
    FillRig(random, rig, &shapes);
    for (const ShapeId shape : shapes) {
      const PodId pod = rig.Wait("p", shape);
      for (size_t n = 0; n < rig.cluster().node_count(); ++n) {
        const NodeId node(n);
        const ReasonIndex verdict = rig.Verdict(pod, node);
        if (verdict == kFits) continue;
        const std::string reason = rig.profile().reasons()[verdict - size_t{1}];
        if (MissingThere(rig, pod, node, reason) <= 0) continue;
        const auto forecast = ForecastRoom(rig.cluster(), rig.jobs(), node, shape, SimTime());
        // Takes everybody away who has an end, in its order, and asks the filters after each end.
        std::vector<std::pair<SimTime, PodId>> leaving;
        for (const PodId resident : rig.cluster().pods_on(node)) {
          const JobRow& job = rig.jobs().row(rig.jobs().job_of(resident));
          if (job.has_run_time) leaving.emplace_back(SimTime(job.run_time.ns()), resident);
        }
        std::sort(leaving.begin(), leaving.end());
        std::optional<SimTime> found;
        rig.cluster().BeginWhatIf();
        for (size_t i = 0; i < leaving.size() && !found.has_value(); ++i) {
          rig.cluster().Evict(leaving[i].second);
          const bool last = i + 1 == leaving.size() || leaving[i + 1].first != leaving[i].first;
          // Amounts alone: a GPU model that does not suit is a reason behind them.
          const ReasonIndex now = rig.Verdict(pod, node);
          const bool fits =
              now == kFits ||
              MissingThere(rig, pod, node, rig.profile().reasons()[now - size_t{1}]) <= 0;
          if (last && fits) found = leaving[i].first;
        }
        rig.cluster().Rollback();
        const PodShape& wanted = rig.cluster().pod_shape(pod);
        const NodeRow& row = rig.cluster().node(node);
        const bool other_model =
            wanted.request.gpu_count > 0 &&
            (row.gpu_count == 0 || (wanted.request.model_mask >> row.model & 1) == 0);
        if (other_model) continue;
        ASSERT_EQ(forecast.has_value(), found.has_value()) << reason;
        if (!found.has_value()) continue;
        ++forecasts;
        EXPECT_EQ(forecast->at, *found);
      }
    }
  }
  EXPECT_GT(forecasts, 50u);
}

// ---- Every failed attempt of whole runs ----

struct RunCase {
  const char* name;
  uint64_t at_least;  // failed attempts, so that the test tests something
};

constexpr RunCase kRuns[] = {
    {"Fill", 50},        {"KubernetesQueue", 100}, {"RandomGangs", 100},
    {"BatchGangs", 50},  {"Preemption", 50},       {"Mig", 4},
    {"DevicePlugin", 3}, {"ClassicDra", 5},
};

class ExplainRunTest : public ::testing::TestWithParam<size_t> {};

TEST_P(ExplainRunTest, EveryFailedAttemptIsExplained) {
  proto::Scenario scenario;
  ASSERT_EQ(MergeYaml(TestText(kRuns[GetParam()].name), "test.yaml", &scenario), absl::OkStatus());
  auto sim = Simulation::Build(RunSpecOf(scenario));
  ASSERT_TRUE(sim.ok()) << sim.status();
  const auto stats = CountExplainedAttempts(**sim);
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_GE(stats->attempts, kRuns[GetParam()].at_least);
  EXPECT_EQ(stats->complete, stats->attempts);
  EXPECT_EQ(stats->agreeing, stats->attempts);
  EXPECT_THAT(stats->incomplete, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(All, ExplainRunTest, ::testing::Range(size_t{0}, std::size(kRuns)),
                         [](const ::testing::TestParamInfo<size_t>& run) {
                           return std::string(kRuns[run.param].name);
                         });

}  // namespace explain_oracle_test
}  // namespace drasim
