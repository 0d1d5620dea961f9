#include "policies/plugins/scheduling_gates.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/testing/plugin_rig.h"

namespace drasim {
namespace {

StepResult EnqueueWithGates(const std::vector<std::string>& gates) {
  PodShape shape = TestShape(1, 0);
  shape.constraints.gates = gates;
  ClusterBuilder builder;
  return SchedulingGates().PreEnqueue(builder.Context(builder.AddShape(shape)));
}

TEST(SchedulingGatesTest, NamesTheGatesThatHoldThePod) {
  EXPECT_EQ(EnqueueWithGates({}).code, StepCode::kSuccess);
  const StepResult one = EnqueueWithGates({"g"});
  EXPECT_EQ(one.code, StepCode::kUnresolvable);
  EXPECT_EQ(one.message, "waiting for scheduling gates: [g]");
  EXPECT_EQ(EnqueueWithGates({"b", "a"}).message, "waiting for scheduling gates: [b a]");
}

TEST(SchedulingGatesTest, OnlyItsOwnGatesWakeThePod) {
  ClusterBuilder builder;
  const PodShape pod = TestShape(1, 0);
  const SchedulingGates plugin;
  EXPECT_TRUE(
      Wakes(plugin, builder, pod, {.event = kPodGates, .pod = &pod, .is_waiting_pod = true}));
  EXPECT_FALSE(Wakes(plugin, builder, pod, {.event = kPodGates, .pod = &pod}));
  EXPECT_FALSE(
      Wakes(plugin, builder, pod, {.event = kPodLabels, .pod = &pod, .is_waiting_pod = true}));
}

}  // namespace
}  // namespace drasim
