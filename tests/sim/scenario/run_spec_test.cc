// The values that a scenario becomes: enums, options and lists, and their step with the written
// scenario.
#include "sim/scenario/run_spec.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/proto/scenario.pb.h"
#include "sim/scenario/resolve.h"
#include "tests/testing/key_errors.h"
#include "tests/testing/run_spec_of.h"

namespace drasim {
namespace run_spec_test {

RunSpec SpecOfText(absl::string_view yaml) { return RunSpecOf(ScenarioOf(yaml)); }

TEST(RunSpecTest, AFillQueuesNothing) {
  const RunSpec spec = SpecOfText("scheduler: {queue: fifo}\n");
  EXPECT_FALSE(spec.is_replay());
  EXPECT_EQ(spec.order, JobOrder::kSeeded);
  EXPECT_EQ(spec.scheduler.queue, QueueKind::kNone);
  EXPECT_EQ(spec.workload.kind, WorkloadKind::kGeneratedPods);
  EXPECT_FALSE(spec.workload.shaped);
  EXPECT_EQ(spec.front_end.kind, FrontEndKind::kDirect);
  EXPECT_FALSE(spec.front_end.given);
  EXPECT_FALSE(spec.dra.has_value());
}

TEST(RunSpecTest, KindsOfQueues) {
  const auto queue = [](absl::string_view scheduler) {
    return SpecOfText(absl::StrCat("mode: replay\nscheduler: {", scheduler, "}\n")).scheduler;
  };
  EXPECT_EQ(queue("cache: true").queue, QueueKind::kKubernetes);
  EXPECT_EQ(queue("cache: true").preemption, PreemptionMode::kPriority);
  EXPECT_EQ(queue("queue: loss").queue, QueueKind::kLoss);
  const SchedulerSpec srtf = queue("queue: srtf, backfill: easy");
  EXPECT_EQ(srtf.queue, QueueKind::kBatch);
  EXPECT_EQ(srtf.queue_name, "srtf");
  EXPECT_EQ(srtf.preemption, PreemptionMode::kPolicy);
  EXPECT_TRUE(srtf.batch.preempt);
  EXPECT_EQ(srtf.batch.backfill, Backfill::kEasy);
  EXPECT_EQ(BackfillName(srtf.batch.backfill), "easy");
  EXPECT_EQ(queue("queue: fifo, estimates: {source: exact}").estimates, EstimateSource::kExact);
  EXPECT_EQ(queue("queue: fifo, estimates: {source: trace-at-least-run-time}").estimates,
            EstimateSource::kAtLeastTheRunTime);
  EXPECT_FALSE(queue("policy: fgd").draws);
  EXPECT_TRUE(queue("policy: random").draws);
}

TEST(RunSpecTest, FrontEndsAndTheirDevices) {
  const RunSpec plugin = SpecOfText(
      "mode: replay\nfront_end: {kind: device-plugin, lowering: {rule: whole-gpu}}\n"
      "cluster: {devices: [{kind: gpu, indices: [1, 0], numa_node: 1}], "
      "mig: {configs: [{nodes: 'a*', config: all-1g.5gb}]}}\n");
  EXPECT_TRUE(plugin.front_end.device_plugin());
  EXPECT_TRUE(plugin.front_end.has_node_agent);
  EXPECT_TRUE(plugin.front_end.uses_mig);
  EXPECT_EQ(plugin.front_end.lowering.rule, LoweringRule::kWholeGpu);
  ASSERT_EQ(plugin.front_end.devices.size(), 1u);
  EXPECT_TRUE(plugin.front_end.devices[0].gpu);
  EXPECT_EQ(plugin.front_end.devices[0].indices, (std::vector<int32_t>{1, 0}));
  EXPECT_EQ(plugin.front_end.devices[0].device.numa_node, 1);
  ASSERT_EQ(plugin.front_end.mig.configs.size(), 1u);
  EXPECT_EQ(plugin.front_end.mig.configs[0].config, "all-1g.5gb");
  for (const std::string& name : FrontEndNames())
    EXPECT_EQ(FrontEndName(*FindFrontEnd(name)), name);
  EXPECT_FALSE(FindFrontEnd("dra").has_value());
}

TEST(RunSpecTest, DriversOfClassicDra) {
  const RunSpec spec = SpecOfText(
      "mode: replay\nfront_end: {kind: dra-classic, dra: {prepare: 2s, drivers: [{kind: intel, "
      "nodes: 'g*'}, {kind: counting, name: n, class: c, network_units: 3, initialise: 1s}]}}\n");
  ASSERT_TRUE(spec.dra.has_value());
  ASSERT_EQ(spec.dra->drivers.size(), 2u);
  const DriverSpec& intel = spec.dra->drivers[0];
  EXPECT_EQ(intel.kind, DriverKind::kIntel);
  EXPECT_TRUE(HandsOutParts(intel.kind));
  EXPECT_EQ(intel.nodes, "g*");
  EXPECT_EQ(intel.initialise, SimDuration::Seconds(2));
  EXPECT_EQ(intel.create_instance, SimDuration::Millis(250));
  const DriverSpec& counting = spec.dra->drivers[1];
  EXPECT_EQ(counting.kind, DriverKind::kCounting);
  EXPECT_EQ(counting.network_units, 3);
  EXPECT_EQ(counting.initialise, SimDuration::Seconds(1));
  EXPECT_EQ(FindDriverKind("nvidia"), DriverKind::kNvidia);
  EXPECT_EQ(FindDriverKind("example"), DriverKind::kExample);
  EXPECT_EQ(FindDriverKind("constraints"), DriverKind::kConstraints);
  EXPECT_FALSE(FindDriverKind("amd").has_value());
}

TEST(RunSpecTest, EventsFailuresAndQuotas) {
  const RunSpec spec = SpecOfText(
      "mode: replay\n"
      "cluster: {events: [{at: 1m, nodes: a, action: drain, duration: 0s}, {nodes: b, action: "
      "add}], failures: {mtbf: 1h, mttr: constant(5), until: 2h}}\n"
      "quotas: [{tenant: t, gpus: '3'}, {path: q.csv}]\n");
  ASSERT_EQ(spec.cluster.events.size(), 2u);
  EXPECT_EQ(spec.cluster.events[0].at, SimDuration::Seconds(60));
  EXPECT_EQ(spec.cluster.events[0].action, NodeTransition::Action::kDrain);
  EXPECT_EQ(spec.cluster.events[0].duration, SimDuration());  // ends at once, but ends
  EXPECT_EQ(spec.cluster.events[0].undo, NodeTransition::Action::kUncordon);
  EXPECT_FALSE(spec.cluster.events[1].duration.has_value());
  ASSERT_TRUE(spec.cluster.failures.has_value());
  EXPECT_EQ(spec.cluster.failures->up.Mean(), 3600);
  EXPECT_EQ(spec.cluster.failures->down.Mean(), 5);
  EXPECT_EQ(spec.cluster.failures->until, SimDuration::Seconds(7200));
  ASSERT_EQ(spec.quotas.size(), 2u);
  EXPECT_EQ(spec.quotas[0].limit.gpu_milli, 3000);
  EXPECT_EQ(spec.quotas[0].limit.cpu_milli, Quotas::kUnlimited);
  EXPECT_EQ(spec.quotas[1].path, "q.csv");
}

// No input has to be read to see that a quota is wrong.
TEST(RunSpecTest, QuotasAreChecked) {
  EXPECT_EQ(WithoutCheckedKey(
                ResolveScenario(ScenarioOf("mode: replay\nquotas: [{tenant: t, gpus: '-1'}]\n"))
                    .status()),
            absl::InvalidArgumentError(
                "quotas[0].gpus: quantity \"-1\" is negative; expected zero or more"));
}

TEST(RunSpecTest, SettersKeepTheWrittenScenarioInStep) {
  RunSpec spec = SpecOfText("seed: 1\n");
  spec.SetSeed(9);
  EXPECT_EQ(spec.seed, 9u);
  EXPECT_EQ(spec.written->seed(), 9u);
  spec.SetOutputDir("out");
  EXPECT_EQ(spec.output.dir, "out");
  EXPECT_EQ(spec.written->output().dir(), "out");
  EXPECT_EQ(spec.SetMaxLedger("2Ki"), absl::OkStatus());
  EXPECT_EQ(spec.output.max_ledger_bytes, 2048u);
  EXPECT_EQ(spec.written->output().max_ledger(), "2Ki");
  EXPECT_FALSE(spec.SetMaxLedger("0").ok());
  EXPECT_EQ(spec.SetMaxLedger(""), absl::OkStatus());
  EXPECT_EQ(spec.output.max_ledger_bytes, uint64_t{100} << 30);
  spec.SetNodesSha256("a");
  spec.SetTraceSha256("b");
  EXPECT_EQ(spec.cluster.nodes.sha256, spec.written->cluster().sha256());
  EXPECT_EQ(spec.workload.trace.sha256, spec.written->workload().trace().sha256());
}

}  // namespace run_spec_test
}  // namespace drasim
