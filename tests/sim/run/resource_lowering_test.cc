// Requests as extended resources: names, classes and what is refused; and runs in which the
// scheduler makes claims for them.
#include "sim/run/resource_lowering.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/ids.h"
#include "model/proto/resource.pb.h"
#include "sim/dra/api/object_cache.h"
#include "sim/dra/classic/control_plane.h"
#include "sim/run/simulation.h"
#include "tests/sim/run/run_texts.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace resource_lowering_test {

using run_texts::BuildText;
using run_texts::ErrorOf;
using run_texts::Finished;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

StructuredDraSpec SpecOf(const std::string& kind, const std::string& mig,
                         const std::string& shares = "", const std::string& name = "") {
  StructuredDraSpec spec;
  proto::SliceDriver& driver = spec.drivers.emplace_back();
  driver.set_kind(kind);
  driver.set_name(name);
  driver.set_mig(mig);
  driver.set_consumable_shares(shares);
  return spec;
}

PodShape Gpus(int32_t count, int32_t milli = 1000, int64_t memory_mib = 0) {
  PodShape shape;
  shape.request.gpu_count = count;
  shape.request.gpu_milli = milli;
  shape.demand.memory_mib = memory_mib;
  return shape;
}

std::string Refusal(const StructuredDraSpec& spec, const PodShape& shape,
                    const std::set<std::string>& served = {"nvidia.com/gpu"}) {
  return std::string(ResourceLowering(spec).ToResources(shape, served).status().message());
}

TEST(ResourceLoweringTest, DevicesBecomeNumbers) {
  const ResourceLowering lowering(SpecOf("gpu.nvidia.com", "dynamic"));
  PodShape both = Gpus(2);
  both.request.mig = {{"1g.5gb", 3}, {"1g.5gb+me", 1}};
  both.request.extended = {{"example.com/nic", 1}, {"nvidia.com/gpu", 1}};
  const auto made = lowering.ToResources(
      both, {"nvidia.com/gpu", "nvidia.com/mig-1g.5gb", "nvidia.com/mig-1g.5gb.me"});
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_THAT(made->request.extended,
              ElementsAre(Pair("example.com/nic", 1), Pair("nvidia.com/gpu", 3),
                          Pair("nvidia.com/mig-1g.5gb", 3), Pair("nvidia.com/mig-1g.5gb.me", 1)));
  EXPECT_EQ(made->request.gpu_count, 0);
  EXPECT_THAT(made->request.mig, IsEmpty());
  EXPECT_EQ(made->demand.gpus, 2);
  EXPECT_EQ(made->request.nominal_milli, 2000);
  EXPECT_THAT(made->claims, IsEmpty());
  EXPECT_EQ(*lowering.ToResources(PodShape(), {}), PodShape());
}

// The number of a pod of several containers is the first one's that does not end before the rest.
TEST(ResourceLoweringTest, ContainersKeepTheirOwnResources) {
  PodShape shape = Gpus(2);
  shape.device_plugin.containers.resize(2);
  shape.device_plugin.containers[0].init = true;
  shape.device_plugin.containers[1].extended = {{"example.com/nic", 1}};
  const auto made =
      ResourceLowering(SpecOf("gpu.nvidia.com", "")).ToResources(shape, {"nvidia.com/gpu"});
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_THAT(made->device_plugin.containers[0].extended, IsEmpty());
  EXPECT_THAT(made->device_plugin.containers[1].extended,
              ElementsAre(Pair("example.com/nic", 1), Pair("nvidia.com/gpu", 2)));
}

// A driver whose class has no other name serves the implicit one.
TEST(ResourceLoweringTest, OtherDriversServeTheirClass) {
  const auto made = ResourceLowering(SpecOf("gpu.example.com", "")).ToResources(Gpus(1), {});
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_THAT(made->request.extended,
              ElementsAre(Pair("deviceclass.resource.kubernetes.io/gpu.example.com", 1)));
  EXPECT_EQ(made->request.nominal_milli, 1000);
}

TEST(ResourceLoweringTest, EachProfileHasAClass) {
  const std::vector<std::string> profiles = {"1g.5gb", "1g.5gb+me"};
  const auto classes =
      ResourceLowering(SpecOf("gpu.nvidia.com", "dynamic", "", "x.io")).ClassesOf(profiles);
  ASSERT_EQ(classes.size(), 2U);
  EXPECT_EQ(classes[0].metadata().name(), "mig-1g.5gb.nvidia.com");
  EXPECT_EQ(classes[0].spec().extended_resource_name(), "nvidia.com/mig-1g.5gb");
  ASSERT_EQ(classes[0].spec().selectors_size(), 2);
  EXPECT_EQ(classes[0].spec().selectors(0).cel().expression(),
            "device.driver == 'x.io' && device.attributes['x.io'].type == 'mig'");
  EXPECT_EQ(classes[0].spec().selectors(1).cel().expression(),
            "device.attributes['x.io'].profile == '1g.5gb'");
  EXPECT_EQ(classes[1].metadata().name(), "mig-1g.5gb.me.nvidia.com");
  EXPECT_THAT(ResourceLowering(SpecOf("gpu.nvidia.com", "none")).ClassesOf(profiles), IsEmpty());
  EXPECT_THAT(ResourceLowering(SpecOf("gpu.example.com", "")).ClassesOf(profiles), IsEmpty());
}

TEST(ResourceLoweringTest, WhatNoNumberSaysIsRefused) {
  const StructuredDraSpec plain = SpecOf("gpu.nvidia.com", "none");
  EXPECT_THAT(Refusal(plain, Gpus(1, 500)),
              HasSubstr("a pod wants 500 thousandths of a GPU, which is no number of devices; "
                        "choose whole-gpu or mig-smallest in front_end.lowering.rule, or "
                        "front_end.lowering.as: claims"));
  EXPECT_THAT(Refusal(plain, Gpus(2, 1000, 40960)),
              HasSubstr("a pod wants GPUs with 20480 MiB, which an extended resource cannot ask "
                        "for"));
  EXPECT_THAT(Refusal(SpecOf("gpu.nvidia.com", "", "4"), Gpus(1)),
              HasSubstr("a pod wants whole GPUs, of which an extended resource takes one share "
                        "each (front_end.structured.drivers.0.consumable_shares: 4)"));
  PodShape instance;
  instance.request.mig = {{"1g.5gb", 1}};
  EXPECT_THAT(Refusal(plain, instance),
              HasSubstr("a pod wants MIG instances (1g.5gb), expected a DeviceClass with the "
                        "extendedResourceName nvidia.com/mig-1g.5gb"));
  EXPECT_THAT(Refusal(SpecOf("slices", ""), Gpus(1), {}),
              HasSubstr("expected a DeviceClass with the extendedResourceName nvidia.com/gpu"));
  // A share that becomes a whole GPU has its memory.
  PodShape whole = Gpus(1, 1000, 8192);
  whole.demand.gpus = 1;
  whole.demand.milli = 300;
  EXPECT_EQ(Refusal(plain, whole), "");
}

// --- Runs
// ---------------------------------------------------------------------------------------------

constexpr absl::string_view kCluster =
    "mode: replay\norder: trace\ncluster: {nodes: 1, node: {cpu: \"16\", memory: 64Gi, gpus: 2, "
    "gpu_model: A100-SXM4-40GB}}\nscheduler: {policy: least-allocated}\n";

std::string FrontEnd(absl::string_view structured, absl::string_view lowering) {
  return absl::StrCat("front_end: {kind: dra-structured, structured: {zero_latency: true",
                      structured, "}, lowering: {as: extended-resources", lowering, "}}\n");
}

// "CLASS COUNT of DEVICES" of each request of each claim, by the name of the claim's pod.
std::vector<std::string> ClaimsOf(const Simulation& sim) {
  std::vector<std::string> lines;
  for (const Ref<ResourceClaim>& claim :
       sim.control_plane()->network().server().objects().of<ResourceClaim>().Sorted()) {
    EXPECT_TRUE(claim->for_extended_resources);
    std::string line(claim->meta.name.text().substr(0, claim->meta.name.text().find('-')));
    for (const proto::kube::DeviceRequest& request : claim->spec.devices->requests()) {
      absl::StrAppend(&line, " ", request.exactly().device_class_name(), " x ",
                      request.exactly().count());
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

TEST(ResourceLoweringTest, TheSchedulerMakesClaimsForLoweredRequests) {
  const auto sim = Finished(BuildText(absl::StrCat(
      kCluster,
      FrontEnd(", drivers: [{kind: gpu.nvidia.com, mig: dynamic}]", ", rule: mig-smallest"),
      "workload:\n  jobs:\n    - {name: a, cpu: \"1\", memory: 1Gi, gpus: 1}\n"
      "    - {name: b, cpu: \"1\", memory: 1Gi, gpus: 1, gpu_milli: 200}\n"
      "    - {name: c, cpu: \"1\", memory: 1Gi, mig: [{profile: 3g.20gb, count: 1}]}\n")));
  ASSERT_NE(sim, nullptr);
  EXPECT_THAT(ClaimsOf(*sim), ElementsAre("a gpu.nvidia.com x 1", "b mig-2g.10gb.nvidia.com x 1",
                                          "c mig-3g.20gb.nvidia.com x 1"));
  // 1000 + 2/8 and 4/8 of a GPU's memory.
  EXPECT_EQ(sim->cluster().totals().gpu_milli_allocated, 1750);
  EXPECT_THAT(sim->unreported_resources(), IsEmpty());
}

// A class of the user's own comes before those that would be made.
TEST(ResourceLoweringTest, AUsersClassServesTheProfile) {
  const TempDir dir;
  dir.Write("class.yaml",
            "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: tiny}\nspec: "
            "{extendedResourceName: nvidia.com/mig-1g.5gb, selectors: [{cel: {expression: "
            "\"device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == "
            "'mig' && device.attributes['gpu.nvidia.com'].profile == '1g.5gb'\"}}]}\n");
  const auto sim = Finished(BuildText(absl::StrCat(
      kCluster,
      FrontEnd(absl::StrCat(", slices: [", dir.PathOf("class.yaml"),
                            "], drivers: [{kind: gpu.nvidia.com, mig: dynamic}]"),
               ""),
      "workload: {jobs: [{name: a, cpu: \"1\", memory: 1Gi, mig: [{profile: 1g.5gb, count: 2}]}]}"
      "\n")));
  ASSERT_NE(sim, nullptr);
  EXPECT_THAT(ClaimsOf(*sim), ElementsAre("a tiny x 2"));
}

// Manifests: instances stay with their container, and what annotations ask for is the first one's.
TEST(ResourceLoweringTest, ContainersOfManifests) {
  const TempDir dir;
  dir.Write("pods.yaml",
            "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n"
            "    - {name: x, image: x, resources: {requests: {cpu: \"1\"}}}\n"
            "    - {name: z, image: z, resources: {limits: {nvidia.com/mig-1g.5gb: 1}}}\n"
            "---\napiVersion: v1\nkind: Pod\nmetadata: {name: b}\nspec:\n  containers:\n"
            "    - {name: x, image: x, resources: {limits: {nvidia.com/gpu.shared: 1}}}\n"
            "    - {name: z, image: z, resources: {requests: {cpu: \"1\"}}}\n");
  const auto sim =
      Finished(BuildText(absl::StrCat(kCluster,
                                      FrontEnd(", drivers: [{kind: gpu.nvidia.com, mig: dynamic}]",
                                               ", rule: whole-gpu, shared_replicas: 4"),
                                      "workload: {manifests: [", dir.PathOf("pods.yaml"), "]}\n")));
  ASSERT_NE(sim, nullptr);
  EXPECT_THAT(ClaimsOf(*sim), ElementsAre("a mig-1g.5gb.nvidia.com x 1", "b gpu.nvidia.com x 1"));
  const auto mapping = [&](size_t pod) {
    const auto object = sim->control_plane()->pods().ObjectOf(PodId(pod));
    return object->extended_status->request_mappings(0).container_name();
  };
  EXPECT_EQ(mapping(0), "z");
  EXPECT_EQ(mapping(1), "x");
}

// Gangs get all of their devices or none.
TEST(ResourceLoweringTest, GangsArePlacedAsAWhole) {
  const auto sim = Finished(BuildText(absl::StrCat(
      kCluster, FrontEnd("", ""),
      "workload:\n  jobs:\n    - {name: a, cpu: \"1\", memory: 1Gi, gpus: 1, run_time: 100s}\n"
      "    - {name: b, cpu: \"1\", memory: 1Gi, gpus: 1, pods: 2, run_time: 100s, arrival: 10s}\n"
      "    - {name: c, cpu: \"1\", memory: 1Gi, gpus: 1, run_time: 10s, arrival: 20s}\n")));
  ASSERT_NE(sim, nullptr);
  std::vector<int64_t> starts;
  for (size_t j = 0; j < sim->jobs().size(); ++j) {
    starts.push_back(sim->jobs().row(JobId(j)).first_start.ns() / kSecondNs);
  }
  EXPECT_THAT(starts, ElementsAre(0, 100, 20));
  EXPECT_THAT(ClaimsOf(*sim), IsEmpty());
}

TEST(ResourceLoweringTest, ScenariosThatContradictThemselves) {
  const std::string job = "workload: {jobs: [{name: a, cpu: \"1\", gpus: 1}]}\n";
  EXPECT_THAT(ErrorOf(absl::StrCat(kCluster, job, FrontEnd(", release: \"1.35\"", ""))),
              HasSubstr("front_end.lowering.as: found 'extended-resources', expected claims: the "
                        "gate DRAExtendedResource is off"));
  EXPECT_THAT(
      ErrorOf(absl::StrCat(
          kCluster, job, "front_end: {kind: device-plugin, lowering: {as: extended-resources}}\n")),
      HasSubstr("front_end.lowering.as: expected none without front_end.kind: dra-structured"));
  EXPECT_THAT(ErrorOf(absl::StrCat(kCluster, job,
                                   "front_end: {kind: dra-structured, lowering: {as: gpus}}\n")),
              HasSubstr("front_end.lowering.as: found 'gpus', expected one of claims, "
                        "extended-resources"));
}

}  // namespace resource_lowering_test
}  // namespace drasim
