// Explanations of claims that kube-scheduler allocates, from dumps: golden texts for each reason.
#include "sim/explain/cluster_devices.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sim/explain/cluster_rig.h"
#include "tests/testing/data_text.h"
#include "tests/testing/shared_data.h"

namespace drasim {
namespace {

using explain_rig::ExplainText;
using explain_rig::NodeYaml;
using explain_rig::PodYaml;
using explain_rig::SectionOf;
using explain_rig::SystemPodYaml;
using ::testing::IsEmpty;

std::string ObjectYaml(absl::string_view kind, absl::string_view meta, absl::string_view body,
                       absl::string_view version = "v1") {
  return absl::StrCat("---\n{apiVersion: resource.k8s.io/", version, ", kind: ", kind,
                      ", metadata: {", meta, "}, ", body, "}\n");
}

std::string ClassYaml(absl::string_view name = "gpu.example.com") {
  return ObjectYaml(
      "DeviceClass", absl::StrCat("name: ", name),
      absl::StrCat("spec: {selectors: [{cel: {expression: 'device.driver == \"", name, "\"'}}]}"));
}

// `more`: further fields of the device.
std::string DeviceYaml(absl::string_view name, absl::string_view model = "A100",
                       absl::string_view memory = "40Gi", int numa = 0,
                       absl::string_view more = "") {
  return absl::StrCat("{name: ", name, ", attributes: {model: {string: ", model,
                      "}, numa: {int: ", numa, "}}, capacity: {memory: {value: ", memory, "}}",
                      more.empty() ? "" : ", ", more, "}, ");
}

std::string SliceYaml(absl::string_view node, absl::string_view devices, int generation = 1,
                      int count = 1, absl::string_view name = "") {
  return ObjectYaml("ResourceSlice", absl::StrCat("name: s-", name.empty() ? node : name),
                    absl::StrCat("spec: {driver: gpu.example.com, nodeName: ", node,
                                 ", pool: {name: ", node, ", generation: ", generation,
                                 ", resourceSliceCount: ", count, "}, devices: [", devices, "]}"));
}

// Two A100 in n-1, two H100 in n-2, their class, and the pod p, which wants claim a.
std::string Nodes() {
  return absl::StrCat(NodeYaml("n-1", "cpu: 32, memory: 256Gi, pods: 110"),
                      NodeYaml("n-2", "cpu: 32, memory: 256Gi, pods: 110"), SystemPodYaml());
}
std::string WaitingPod() {
  return PodYaml("ml/p",
                 "containers: [{name: c}], resourceClaims: [{name: a, resourceClaimName: "
                 "a}]");
}
std::string TwoModels() {
  return absl::StrCat(
      SliceYaml("n-1", absl::StrCat(DeviceYaml("gpu-0"), DeviceYaml("gpu-1", "A100", "40Gi", 1))),
      SliceYaml("n-2", absl::StrCat(DeviceYaml("gpu-0", "H100", "80Gi"),
                                    DeviceYaml("gpu-1", "H100", "80Gi", 1))));
}
std::string Cluster() { return absl::StrCat(Nodes(), ClassYaml(), TwoModels(), WaitingPod()); }

std::string ClaimYaml(absl::string_view devices) {
  return ObjectYaml("ResourceClaim", "name: a, namespace: ml",
                    absl::StrCat("spec: {devices: {", devices, "}}"));
}
// A claim for one device that meets a selector.
std::string Wants(absl::string_view selector, absl::string_view device_class = "gpu.example.com") {
  return ClaimYaml(absl::StrCat("requests: [{name: gpu, exactly: {deviceClassName: ", device_class,
                                ", allocationMode: ExactCount, count: 1, selectors: [{cel: "
                                "{expression: '",
                                selector, "'}}]}}]"));
}
std::string WantsNumber(int count, absl::string_view more = "") {
  return ClaimYaml(
      absl::StrCat("requests: [{name: gpu, exactly: {deviceClassName: "
                   "gpu.example.com, allocationMode: ExactCount, count: ",
                   count, "}}]", more.empty() ? "" : ", ", more));
}
// Claim `name` of pod `name`, which runs on the node and holds these devices.
std::string HolderYaml(absl::string_view name, absl::string_view node,
                       const std::vector<std::string>& devices) {
  std::string results;
  for (const std::string& device : devices) {
    absl::StrAppend(&results, "{request: gpu, driver: gpu.example.com, pool: ", node,
                    ", device: ", device, "}, ");
  }
  return absl::StrCat(
      ObjectYaml("ResourceClaim", absl::StrCat("name: ", name, ", namespace: ml"),
                 absl::StrCat("spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: "
                              "gpu.example.com}}]}}, status: {allocation: {devices: {results: [",
                              results, "]}}, reservedFor: [{resource: pods, name: ", name,
                              ", uid: u-", name, "}]}")),
      PodYaml(absl::StrCat("ml/", name),
              absl::StrCat("nodeName: ", node,
                           ", containers: [{name: c}], resourceClaims: [{name: "
                           "a, resourceClaimName: ",
                           name, "}]"),
              "phase: Running"));
}
// A GPU that is published as a whole and as two halves.
std::string Partitions() {
  const auto part = [](absl::string_view name, absl::string_view model, absl::string_view memory) {
    return DeviceYaml(name, model, memory, 0,
                      absl::StrCat("consumesCounters: [{counterSet: gpu-0-counters, counters: "
                                   "{memory: {value: ",
                                   memory, "}}}]"));
  };
  return absl::StrCat(
      ObjectYaml("ResourceSlice", "name: s-counters",
                 "spec: {driver: gpu.example.com, nodeName: n-1, pool: {name: n-1, generation: 1, "
                 "resourceSliceCount: 2}, sharedCounters: [{name: gpu-0-counters, counters: "
                 "{memory: {value: 40Gi}}}]}"),
      SliceYaml("n-1",
                absl::StrCat(part("gpu-0", "whole", "40Gi"), part("gpu-0-half-0", "half", "20Gi"),
                             part("gpu-0-half-1", "half", "20Gi")),
                1, 2));
}

std::string TextOf(const std::string& dump) {
  const explain_rig::Explained explained = ExplainText(dump, "ml/p");
  EXPECT_THAT(explained.warnings, IsEmpty());
  return explained.text;
}

TEST(ClusterDevicesTest, WrongDomain) {
  EXPECT_EQ(TextOf(Cluster() + Wants("device.attributes[\"gpu.nvidia.com\"].model == \"H100\"")),
            TestText("WrongDomain"));
}

TEST(ClusterDevicesTest, ClassOfAnotherDriver) {
  EXPECT_EQ(
      TextOf(absl::StrCat(Cluster(), ClassYaml("gpu.nvidia.com"), Wants("true", "gpu.nvidia.com"))),
      TestText("ClassOfAnotherDriver"));
}

TEST(ClusterDevicesTest, MissingAttribute) {
  EXPECT_EQ(TextOf(Cluster() +
                   Wants("device.driver == \"gpu.example.com\" && "
                         "device.attributes[\"gpu.example.com\"].architecture == \"Hopper\"")),
            TestText("MissingAttribute"));
}

TEST(ClusterDevicesTest, GuardedAttributeIsMerelyMissing) {
  EXPECT_EQ(
      SectionOf(TextOf(Cluster() + Wants("has(device.attributes[\"gpu.example.com\"].modle)")),
                "Devices for its claims"),
      TestLines("GuardedAttributeIsMerelyMissing"));
}

TEST(ClusterDevicesTest, WrongType) {
  EXPECT_EQ(TextOf(Cluster() + Wants("device.attributes[\"gpu.example.com\"].model == \"A100\" && "
                                     "device.attributes[\"gpu.example.com\"].numa == \"0\"")),
            TestText("WrongType"));
}

TEST(ClusterDevicesTest, DoesNotCompile) {
  EXPECT_EQ(TextOf(Cluster() + Wants("device.capacity[\"gpu.example.com\"].memory >= 40")),
            TestText("DoesNotCompile"));
}

TEST(ClusterDevicesTest, TooLittleMemory) {
  EXPECT_EQ(
      TextOf(Cluster() +
             Wants("device.attributes[\"gpu.example.com\"].model == \"A100\" && "
                   "device.capacity[\"gpu.example.com\"].memory.compareTo(quantity(\"80Gi\")) "
                   ">= 0")),
      TestText("TooLittleMemory"));
}

TEST(ClusterDevicesTest, Taken) {
  EXPECT_EQ(TextOf(absl::StrCat(Cluster(), HolderYaml("train", "n-2", {"gpu-0", "gpu-1"}),
                                Wants("device.attributes[\"gpu.example.com\"].model == \"H100\""))),
            TestText("Taken"));
}

TEST(ClusterDevicesTest, Tainted) {
  const std::string taint =
      "taints: [{key: gpu.example.com/unhealthy, value: xid-79, effect: "
      "NoExecute}]";
  EXPECT_EQ(
      TextOf(absl::StrCat(
          Nodes(), ClassYaml(), WaitingPod(),
          SliceYaml("n-1", absl::StrCat(DeviceYaml("gpu-0", "A100", "40Gi", 0, taint),
                                        DeviceYaml("gpu-1"))),
          ObjectYaml("DeviceTaintRule", "name: maintenance",
                     "spec: {deviceSelector: {driver: gpu.example.com, pool: n-1, device: gpu-1}, "
                     "taint: {key: maintenance, effect: NoSchedule}}",
                     "v1beta2"),
          WantsNumber(1))),
      TestText("Tainted"));
}

TEST(ClusterDevicesTest, Counters) {
  EXPECT_EQ(
      TextOf(absl::StrCat(Nodes(), ClassYaml(), WaitingPod(), Partitions(),
                          HolderYaml("train", "n-1", {"gpu-0-half-0"}),
                          Wants("device.attributes[\"gpu.example.com\"].model == \"whole\""))),
      TestText("Counters"));
}

TEST(ClusterDevicesTest, CountersOfSeveralRequests) {
  const auto request = [](absl::string_view name) {
    return absl::StrCat("{name: ", name,
                        ", exactly: {deviceClassName: gpu.example.com, allocationMode: ExactCount, "
                        "count: 1, selectors: [{cel: {expression: "
                        "'device.attributes[\"gpu.example.com\"].model == \"",
                        name, "\"'}}]}}, ");
  };
  EXPECT_EQ(TextOf(absl::StrCat(
                Nodes(), ClassYaml(), WaitingPod(), Partitions(),
                ClaimYaml(absl::StrCat("requests: [", request("whole"), request("half"), "]")))),
            TestText("CountersOfSeveralRequests"));
}

TEST(ClusterDevicesTest, Constraint) {
  EXPECT_EQ(TextOf(Cluster() + WantsNumber(2,
                                           "constraints: [{requests: [gpu], matchAttribute: "
                                           "gpu.example.com/numa}]")),
            TestText("Constraint"));
}

TEST(ClusterDevicesTest, IncompletePool) {
  EXPECT_EQ(
      TextOf(absl::StrCat(Nodes(), ClassYaml(), WaitingPod(),
                          SliceYaml("n-1", DeviceYaml("gpu-0"), 3, 2, "n-1-new"),
                          SliceYaml("n-1", DeviceYaml("gpu-1"), 2, 1, "n-1-old"), WantsNumber(1))),
      TestText("IncompletePool"));
}

TEST(ClusterDevicesTest, InvalidPool) {
  EXPECT_EQ(SectionOf(TextOf(absl::StrCat(
                          Nodes(), ClassYaml(), WaitingPod(),
                          SliceYaml("n-1", absl::StrCat(DeviceYaml("gpu-0"), DeviceYaml("gpu-0"))),
                          WantsNumber(1))),
                      "Devices for its claims"),
            TestLines("InvalidPool"));
}

TEST(ClusterDevicesTest, ClassMissing) {
  EXPECT_EQ(TextOf(Cluster() + Wants("true", "gpu.exmaple.com")), TestText("ClassMissing"));
}

TEST(ClusterDevicesTest, PrioritizedList) {
  EXPECT_EQ(
      TextOf(absl::StrCat(
          Cluster(), HolderYaml("train", "n-2", {"gpu-0", "gpu-1"}),
          ClaimYaml("requests: [{name: gpu, firstAvailable: [{name: large, deviceClassName: "
                    "gpu.example.com, allocationMode: ExactCount, count: 1, selectors: [{cel: "
                    "{expression: 'device.attributes[\"gpu.example.com\"].model == "
                    "\"H100\"'}}]}, {name: three-small, deviceClassName: gpu.example.com, "
                    "allocationMode: ExactCount, count: 3}]}]"))),
      TestText("PrioritizedList"));
}

TEST(ClusterDevicesTest, AllDevicesOfANode) {
  EXPECT_EQ(TextOf(absl::StrCat(Cluster(), HolderYaml("train", "n-2", {"gpu-0"}),
                                HolderYaml("serve", "n-1", {"gpu-1"}),
                                ClaimYaml("requests: [{name: gpu, exactly: {deviceClassName: "
                                          "gpu.example.com, allocationMode: All}}]"))),
            TestText("AllDevicesOfANode"));
}

TEST(ClusterDevicesTest, RequestsForTheSameDevices) {
  EXPECT_EQ(
      SectionOf(TextOf(Cluster() +
                       ClaimYaml("requests: [{name: one, exactly: {deviceClassName: "
                                 "gpu.example.com, allocationMode: ExactCount, count: 2}}, {name: "
                                 "two, exactly: {deviceClassName: gpu.example.com, allocationMode: "
                                 "ExactCount, count: 1}}]")),
                "Nodes that do not take it"),
      TestLines("RequestsForTheSameDevices"));
}

TEST(ClusterDevicesTest, TakesFreeDevices) {
  EXPECT_EQ(TextOf(absl::StrCat(Cluster(), HolderYaml("train", "n-2", {"gpu-0", "gpu-1"}),
                                WantsNumber(2))),
            TestText("TakesFreeDevices"));
}

TEST(ClusterDevicesTest, JsonHasEverything) {
  const std::string dump =
      absl::StrCat(Cluster(), HolderYaml("train", "n-2", {"gpu-0", "gpu-1"}),
                   Wants("device.attributes[\"gpu.example.com\"].model == \"H100\""));
  EXPECT_EQ(ExplainText(dump, "ml/p", /*json=*/true).text, TestText("JsonHasEverything"));
}

// A node of a cloud with four GB200, beside selectors with mistakes that people make.
TEST(ClusterDevicesTest, SlicesOfARealNode) {
  DRASIM_NEEDS_SHARED_DATA("slices/MANIFEST.csv");
  std::ifstream in(
      SharedPath("slices/dranet-oci-oke-examples-bm-gpu-gb200-v3-4-resourceslice-gpu.yaml"));
  const std::string slices((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const std::string cluster =
      absl::StrCat(NodeYaml("10.140.65.248", "cpu: 32, pods: 110"), SystemPodYaml(), WaitingPod(),
                   ClassYaml("gpu.nvidia.com"), ClassYaml("dra.net"), "---\n", slices);
  std::string texts;
  const auto add = [&](absl::string_view selector, absl::string_view device_class) {
    const std::string text = TextOf(absl::StrCat(cluster, "\n", Wants(selector, device_class)));
    absl::StrAppend(&texts, selector, "\n", SectionOf(text, "Devices for its claims"), "\n\n");
  };
  add("device.attributes[\"gpu.nvidia.com\"].productName == \"NVIDIA H100\"", "gpu.nvidia.com");
  add("device.attributes[\"gpu.nvidia.com\"].cudaComputeCapability == \"10.0.0\"",
      "gpu.nvidia.com");
  add("device.attributes[\"gpu.nvidia.com\"].numaNode == 0", "gpu.nvidia.com");
  add("device.capacity[\"gpu.nvidia.com\"].memory.isGreaterThan(quantity(\"192Gi\"))",
      "gpu.nvidia.com");
  add("device.attributes[\"gpu.nvidia.com\"].pcieRoot == \"pci0008:00\"", "gpu.nvidia.com");
  add("true", "dra.net");
  EXPECT_EQ(texts, TestText("SlicesOfARealNode"));
}

}  // namespace
}  // namespace drasim
