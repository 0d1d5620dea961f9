// Drivers of structured DRA that publish in runs: what is there at the beginning, what pods wait
// for, and events that drivers cannot follow.
#include "sim/run/slice_drivers.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/ids.h"
#include "model/job_table.h"
#include "model/kube/objects.h"
#include "model/proto/resource.pb.h"
#include "model/proto/slice_driver.pb.h"
#include "policies/drivers/node_hardware.h"
#include "policies/drivers/slice_publishers.h"
#include "sim/dra/classic/control_plane.h"
#include "sim/run/simulation.h"
#include "tests/sim/run/run_texts.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace slice_drivers_test {

using proto::kube::ResourceSlice;
using run_texts::BuildText;
using run_texts::ErrorOf;
using run_texts::Finished;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr char kTemplate[] =
    "apiVersion: resource.k8s.io/v1\n"
    "kind: ResourceClaimTemplate\n"
    "metadata: {name: gpu, namespace: default}\n"
    "spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}}"
    "\n";

class PublishingPartsTest : public ::testing::Test {
 protected:
  PublishingPartsTest() { dir_.Write("template.yaml", kTemplate); }

  // A node with two GPUs, and a pod at time 0 that wants one.
  std::string Scenario(absl::string_view driver, absl::string_view events,
                       absl::string_view more = "", absl::string_view model = "A100-SXM4-40GB") {
    return absl::StrCat(
        "mode: replay\norder: trace\n"
        "cluster:\n  nodes: 1\n  node: {cpu: \"16\", memory: 64Gi, gpus: 2, gpu_model: ",
        model, "}\n  events: [", events,
        "]\nscheduler: {policy: least-allocated}\n"
        "front_end:\n  kind: dra-structured\n  structured: {zero_latency: true, slices: [",
        dir_.PathOf("template.yaml"), "], drivers: [", driver, "]", more,
        "}\nworkload:\n  jobs:\n  - {name: a, cpu: \"1\", memory: 1Gi, run_time: 10m, claims: "
        "[{name: gpu, template: gpu}]}\n");
  }

  // "100-700": when the pod ran, in seconds.
  static std::string RunOf(const Simulation& sim) {
    const JobRow& row = sim.jobs().row(JobId(size_t{0}));
    return absl::StrCat(row.started_once ? row.first_start.ns() / kSecondNs : -1, "-",
                        row.ended.ns() / kSecondNs);
  }
  static std::vector<Ref<ResourceSliceObject>> SlicesOf(const Simulation& sim) {
    return sim.control_plane()->network().server().objects().of<ResourceSliceObject>().Sorted();
  }

  TempDir dir_;
};

// The slices of a run are those that shared_pools_test.cc compares with NVIDIA's.
TEST_F(PublishingPartsTest, SlicesOfARunAreTheDriversOwn) {
  proto::SliceDriver options;
  options.set_kind("gpu.nvidia.com");
  options.set_mig("dynamic");
  for (const char* model : {"A100-SXM4-40GB", "H100-80GB-SXM", "H200-141GB", "A30"}) {
    const auto built = BuildText(Scenario("{kind: gpu.nvidia.com, mig: dynamic}", "", "", model));
    ASSERT_EQ(built.status(), absl::OkStatus()) << model;
    const NodeHardware hardware = HardwareOf((*built)->cluster().node_spec(NodeId(size_t{0})));
    const auto published = (*MakeSlicePublisher(options, {}))->Publish(hardware, 1);
    ASSERT_EQ(published.status(), absl::OkStatus());
    const std::vector<Ref<ResourceSliceObject>> slices = SlicesOf(**built);
    ASSERT_THAT(slices, SizeIs(3));
    ASSERT_THAT(*published, SizeIs(3));
    for (size_t i = 0; i < slices.size(); ++i) {
      EXPECT_EQ(slices[i]->object, SharedMessage<ResourceSlice>((*published)[i])) << model;
    }
  }
}

TEST_F(PublishingPartsTest, PodsWaitForDriversToStart) {
  const auto sim = Finished(BuildText(
      Scenario("{kind: gpu.nvidia.com, publish: start-up}", "", ", driver_start: constant(50)")));
  ASSERT_NE(sim, nullptr);
  EXPECT_EQ(RunOf(*sim), "50-650");
}

TEST_F(PublishingPartsTest, NodeThatJoinsPublishes) {
  const auto sim = Finished(
      BuildText(Scenario("{kind: gpu.nvidia.com}", "{at: 100s, nodes: node-000000, action: add}",
                         ", driver_start: constant(5)")));
  ASSERT_NE(sim, nullptr);
  EXPECT_EQ(RunOf(*sim), "105-705");
}

TEST_F(PublishingPartsTest, PodsWaitForTaintsToEnd) {
  const auto sim = Finished(BuildText(
      Scenario("{kind: gpu.nvidia.com}",
               "{at: 0s, nodes: node-000000, action: device-taint, duration: 100s, taint: {key: a, "
               "effect: NoSchedule}}")));
  ASSERT_NE(sim, nullptr);
  EXPECT_EQ(RunOf(*sim), "100-700");
}

// GPU 0 is lost, and taken when its plugin has looked again.
TEST_F(PublishingPartsTest, LostGpusAreLookedAtWhenThePluginRestarts) {
  const absl::string_view lost =
      "{at: 0s, nodes: '*', action: device-unhealthy, devices: [0, 1], duration: 20s}, "
      "{at: 100s, nodes: '*', action: plugin-restart, duration: 10s}";
  for (const auto& [recovery, run] :
       {std::pair("", "110-710"), std::pair(", recovery: at-once", "20-620")}) {
    const auto sim =
        Finished(BuildText(Scenario(absl::StrCat("{kind: gpu.nvidia.com", recovery, "}"), lost)));
    ASSERT_NE(sim, nullptr);
    EXPECT_EQ(RunOf(*sim), run);
  }
}

struct WrongEvent {
  const char* driver;
  const char* event;
  const char* message;
};

TEST_F(PublishingPartsTest, RefusesEventsThatNoDriverCanFollow) {
  const WrongEvent cases[] = {
      {"{kind: gpu.nvidia.com}", "action: device-unhealthy, devices: [2]",
       "cluster.events[0].devices: found 2, expected below 2, the devices of gpu.nvidia.com on "
       "node 'node-000000'"},
      {"{kind: gpu.nvidia.com}", "action: mig-config, config: all-balanced",
       "cluster.events[0]: expected nodes with a driver with mig: static"},
      {"{kind: gpu.nvidia.com, mig: static, layout: all-balanced}",
       "action: mig-config, config: all-1g.10gb.x", "cluster.events[0].config: "},
      {"{kind: gpu.nvidia.com}", "action: plugin-restart, driver: gpu.nvidia.con",
       "cluster.events[0].driver: found 'gpu.nvidia.con', expected the name of a driver of "
       "front_end.structured.drivers, for an event of devices (did you mean 'gpu.nvidia.com'?)"},
      {"{kind: gpu.nvidia.com}", "action: device-taint",
       "cluster.events[0].taint: expected a taint"},
      {"{kind: gpu.nvidia.com}", "action: device-taint, taint: {key: a, effect: No}",
       "cluster.events[0].taint.effect: found 'No', expected None, NoSchedule or NoExecute"},
      {"{kind: gpu.nvidia.com}", "action: device-taint, taint: {key: 'a b', effect: None}",
       "cluster.events[0].taint.key: "},
      {"{kind: gpu.nvidia.com}", "action: fail, taint: {key: a, effect: None}",
       "cluster.events[0].taint: expected none with this action"},
      {"{kind: gpu.example.com, devices: 128}",
       "action: device-taint, taint: {key: a, effect: None}",
       "would publish a slice of 128 devices, and the API server takes at most 64"},
  };
  for (const WrongEvent& wrong : cases) {
    const std::string event = absl::StrCat("{at: 1s, nodes: '*', ", wrong.event, "}");
    EXPECT_THAT(ErrorOf(Scenario(wrong.driver, event)), HasSubstr(wrong.message)) << wrong.event;
  }
}

}  // namespace slice_drivers_test
}  // namespace drasim
