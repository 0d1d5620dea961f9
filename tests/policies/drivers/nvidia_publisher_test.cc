#include "policies/drivers/nvidia_publisher.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "model/kube/slice_reader.h"
#include "tests/testing/assert_ok.h"

namespace drasim {
namespace {

using proto::kube::Device;
using proto::kube::ResourceSlice;

proto::SliceDriver NvidiaOptions(const std::string& mig, const std::string& layout = "") {
  proto::SliceDriver options;
  options.set_mig(mig);
  options.set_layout(layout);
  return options;
}

absl::StatusOr<std::vector<ResourceSlice>> PublishNvidia(const proto::SliceDriver& options,
                                                         const NodeHardware& node) {
  auto publisher = NvidiaPublisher::Make(options);
  if (!publisher.ok()) return publisher.status();
  return (*publisher)->Publish(node, 1);
}

// "name name | name": the devices of each slice; "[set set]" for counter sets.
std::string DeviceNames(const absl::StatusOr<std::vector<ResourceSlice>>& slices) {
  if (!slices.ok()) return std::string(slices.status().message());
  std::vector<std::string> texts;
  for (const ResourceSlice& slice : *slices) {
    std::vector<std::string> names;
    for (const auto& set : slice.spec().shared_counters()) {
      names.push_back(absl::StrCat("[", set.name(), "]"));
    }
    for (const Device& device : slice.spec().devices()) names.push_back(device.name());
    texts.push_back(absl::StrJoin(names, " "));
  }
  return absl::StrJoin(texts, " | ");
}

std::string CapacityOf(const Device& device, const std::string& name) {
  const auto found = device.capacity().find(name);
  return found == device.capacity().end() ? "none" : found->second.value();
}

// The capacity's default, minimum, maximum and step.
std::string RangeOf(const Device& device, const std::string& name) {
  const auto& policy = device.capacity().at(name).request_policy();
  const auto& range = policy.valid_range();
  return absl::StrCat(policy.default_value(), " ", range.min(), " ", range.max(), " ",
                      range.step());
}

TEST(NvidiaPublisherTest, WholeGpusStandInOneSlice) {
  NodeHardware node = MadeHardware("node-1", "A100-SXM4-40GB", 2);
  node.gpus.push_back({"V100M32", -1, "", ""});
  node.gpus.push_back({"GX9", -1, "", ""});
  ASSERT_OK_AND_ASSIGN(const std::vector<ResourceSlice> slices,
                       PublishNvidia(NvidiaOptions(""), node));
  EXPECT_EQ(DeviceNames(slices), "gpu-0 gpu-1 gpu-2 gpu-3");
  const Device& gpu = slices[0].spec().devices(1);
  EXPECT_EQ(gpu.attributes().at("productName").string_value(), "NVIDIA A100-SXM4-40GB");
  EXPECT_EQ(gpu.attributes().at("architecture").string_value(), "Ampere");
  EXPECT_EQ(gpu.attributes().at("cudaComputeCapability").version_value(), "8.0.0");
  EXPECT_EQ(gpu.attributes().at("driverVersion").version_value(), "580.95.5");
  EXPECT_EQ(gpu.attributes().at("cudaDriverVersion").version_value(), "13.0.0");
  EXPECT_EQ(gpu.attributes().at("resource.kubernetes.io/pcieRoot").string_value(), "pci0000:10");
  EXPECT_EQ(gpu.attributes().at("resource.kubernetes.io/pciBusID").string_value(), "0000:11:00.0");
  EXPECT_EQ(gpu.attributes().at("resource.kubernetes.io/numaNode").int_value(), 1);
  EXPECT_EQ(gpu.attributes().count("addressingMode"), 0u);
  EXPECT_EQ(gpu.capacity().size(), 1u);
  EXPECT_EQ(CapacityOf(gpu, "memory"), "40Gi");
  const Device& volta = slices[0].spec().devices(2);
  EXPECT_EQ(volta.attributes().at("brand").string_value(), "Tesla");
  EXPECT_EQ(volta.attributes().count("resource.kubernetes.io/numaNode"), 0u);
  EXPECT_EQ(CapacityOf(volta, "memory"), "32Gi");
  const Device& unknown = slices[0].spec().devices(3);
  EXPECT_EQ(unknown.attributes().at("productName").string_value(), "NVIDIA GX9");
  EXPECT_EQ(unknown.attributes().count("architecture"), 0u);
  EXPECT_TRUE(unknown.capacity().empty());
}

TEST(NvidiaPublisherTest, StaticInstancesTakeThePlaceOfTheirGpu) {
  NodeHardware node = MadeHardware("node-1", "A100-SXM4-40GB", 1);
  node.gpus.push_back({"T4", -1, "", ""});
  ASSERT_OK_AND_ASSIGN(
      const std::vector<ResourceSlice> slices,
      PublishNvidia(NvidiaOptions("static", "3g.20gb@4,1g.5gb+me@0,1g.5gb@1"), node));
  EXPECT_EQ(DeviceNames(slices),
            "gpu-0-mig-1g5gb-19-1 gpu-0-mig-1g5gb-me-20-0 gpu-0-mig-3g20gb-9-4 gpu-1");
  const Device& mig = slices[0].spec().devices(2);
  EXPECT_EQ(mig.attributes().at("type").string_value(), "mig");
  EXPECT_EQ(mig.attributes().at("profile").string_value(), "3g.20gb");
  EXPECT_TRUE(absl::StartsWith(mig.attributes().at("uuid").string_value(), "MIG-"));
  EXPECT_TRUE(absl::StartsWith(mig.attributes().at("parentUUID").string_value(), "GPU-"));
  EXPECT_EQ(mig.capacity().size(), 11u);
  EXPECT_EQ(CapacityOf(mig, "memory"), "19968Mi");
  EXPECT_EQ(CapacityOf(mig, "multiprocessors"), "42");
  EXPECT_EQ(CapacityOf(mig, "memorySlice4"), "1");
  EXPECT_EQ(CapacityOf(mig, "memorySlice7"), "1");
  EXPECT_EQ(CapacityOf(mig, "memorySlice3"), "none");
  EXPECT_EQ(mig.consumes_counters_size(), 0);
}

TEST(NvidiaPublisherTest, StaticLayoutsMayBeConfigurationsOfMigParted) {
  const NodeHardware node = MadeHardware("node-1", "A100-SXM4-40GB", 2);
  EXPECT_EQ(DeviceNames(PublishNvidia(NvidiaOptions("static", "all-3g.20gb"), node)),
            "gpu-0-mig-3g20gb-9-0 gpu-0-mig-3g20gb-9-4 gpu-1-mig-3g20gb-9-0 gpu-1-mig-3g20gb-9-4");
  EXPECT_EQ(DeviceNames(PublishNvidia(NvidiaOptions("static", "all-disabled"), node)),
            "gpu-0 gpu-1");
  EXPECT_EQ(DeviceNames(PublishNvidia(NvidiaOptions("static", "3g.20gb:3"), node)),
            "layout: found '3g.20gb:3', which does not fit on a A100-SXM4-40GB");
  EXPECT_TRUE(absl::StartsWith(DeviceNames(PublishNvidia(NvidiaOptions("static", "9g.5gb"), node)),
                               "layout: "));
}

TEST(NvidiaPublisherTest, DynamicInstancesHaveASlicePerGpuBehindTheCounters) {
  NodeHardware node = MadeHardware("node-1", "A30", 1);
  node.gpus.push_back({"T4", -1, "", ""});
  const std::string a30 =
      "gpu-0-mig-1g6gb-14-0 gpu-0-mig-1g6gb-14-1 gpu-0-mig-1g6gb-14-2 gpu-0-mig-1g6gb-14-3 "
      "gpu-0-mig-1g6gb-me-21-0 gpu-0-mig-1g6gb-me-21-1 gpu-0-mig-1g6gb-me-21-2 "
      "gpu-0-mig-1g6gb-me-21-3 gpu-0-mig-2g12gb-5-0 gpu-0-mig-2g12gb-5-2 gpu-0-mig-2g12gb-me-6-0 "
      "gpu-0-mig-2g12gb-me-6-2 gpu-0-mig-4g24gb-0-0";
  proto::SliceDriver options = NvidiaOptions("dynamic");
  ASSERT_OK_AND_ASSIGN(const std::vector<ResourceSlice> slices, PublishNvidia(options, node));
  EXPECT_EQ(DeviceNames(slices), absl::StrCat("[gpu-0-counter-set] | gpu-0 ", a30, " | gpu-1"));
  EXPECT_TRUE(PoolProblems(slices).empty());
  // Ampere's MIG mode is not the driver's to change.
  options.set_mig_mode("on");
  EXPECT_EQ(DeviceNames(PublishNvidia(options, node)),
            absl::StrCat("[gpu-0-counter-set] | ", a30, " | gpu-1"));
  options.set_mig_mode("off");
  EXPECT_EQ(DeviceNames(PublishNvidia(options, node)), "gpu-0 | gpu-1");
  options.clear_mig_mode();
  options.set_release("1.34");
  EXPECT_EQ(DeviceNames(PublishNvidia(options, node)),
            absl::StrCat("[gpu-0-counter-set] gpu-0 ", a30, " | gpu-1"));
}

TEST(NvidiaPublisherTest, HopperIsWholeAndPartitionedWhateverTheMode) {
  proto::SliceDriver options = NvidiaOptions("dynamic");
  const NodeHardware node = MadeHardware("node-1", "H100-80GB-HBM3", 1);
  const std::string any = DeviceNames(PublishNvidia(options, node));
  EXPECT_TRUE(absl::StartsWith(any, "[gpu-0-counter-set] | gpu-0 gpu-0-mig-1g10gb-19-0"));
  for (const char* mode : {"on", "off"}) {
    options.set_mig_mode(mode);
    EXPECT_EQ(DeviceNames(PublishNvidia(options, node)), any);
  }
}

TEST(NvidiaPublisherTest, OrderBySizePutsSmallInstancesFirst) {
  proto::SliceDriver options = NvidiaOptions("dynamic");
  options.set_order("size");
  ASSERT_OK_AND_ASSIGN(const std::vector<ResourceSlice> slices,
                       PublishNvidia(options, MadeHardware("node-1", "A100-SXM4-40GB", 1)));
  const auto& devices = slices[1].spec().devices();
  EXPECT_EQ(devices[0].name(), "gpu-0-mig-1g5gb-19-0");
  EXPECT_EQ(devices[13].name(), "gpu-0-mig-1g5gb-me-20-6");
  EXPECT_EQ(devices[14].name(), "gpu-0-mig-1g10gb-15-0");
  EXPECT_EQ(devices[18].name(), "gpu-0-mig-2g10gb-14-0");
  EXPECT_EQ(devices[25].name(), "gpu-0-mig-7g40gb-0-0");
}

TEST(NvidiaPublisherTest, SharesAreCapacitiesWithRequestPolicies) {
  const NodeHardware node = MadeHardware("node-1", "H100-80GB-HBM3", 1);
  proto::SliceDriver options = NvidiaOptions("");
  options.set_consumable_shares("unlimited");
  ASSERT_OK_AND_ASSIGN(const std::vector<ResourceSlice> unlimited, PublishNvidia(options, node));
  const Device& gpu = unlimited[0].spec().devices(0);
  EXPECT_TRUE(gpu.allow_multiple_allocations());
  EXPECT_EQ(CapacityOf(gpu, "memory"), "81559Mi");
  EXPECT_EQ(RangeOf(gpu, "memory"), "0 0 81559Mi 1Mi");
  options.set_consumable_shares("memory");
  ASSERT_OK_AND_ASSIGN(const std::vector<ResourceSlice> memory, PublishNvidia(options, node));
  EXPECT_EQ(RangeOf(memory[0].spec().devices(0), "memory"), "81559Mi 1Mi 81559Mi 1Mi");
  options.set_consumable_shares("10");
  options.set_mig("dynamic");
  ASSERT_OK_AND_ASSIGN(const std::vector<ResourceSlice> shares, PublishNvidia(options, node));
  const Device& partition = shares[1].spec().devices(1);
  EXPECT_EQ(CapacityOf(partition, "shares"), "10");
  EXPECT_EQ(RangeOf(partition, "shares"), "1 1 10 1");
  EXPECT_EQ(RangeOf(partition, "memory"), "0 0 9984Mi 1Mi");
  EXPECT_FALSE(partition.capacity().at("multiprocessors").has_request_policy());
}

TEST(NvidiaPublisherTest, ProductsWithUnknownAmountsCannotBePartitioned) {
  EXPECT_EQ(
      DeviceNames(PublishNvidia(NvidiaOptions("dynamic"), MadeHardware("node-1", "H20-96GB", 1))),
      "node-1: gpu-0: H20-96GB: instances cannot be published, because nothing is known "
      "about multiprocessors, copy engines, decoders, JPEG engines, memory of 1g.12gb");
  // 16 counter sets do not go into one slice.
  EXPECT_EQ(DeviceNames(PublishNvidia(NvidiaOptions("dynamic"), MadeHardware("n", "A30", 16))),
            "n: gpu.nvidia.com would publish a slice of 16 counter sets, and the API server takes "
            "at most 8");
}

TEST(NvidiaPublisherTest, EqualNodesDifferInNamesAlone) {
  const proto::SliceDriver options = NvidiaOptions("dynamic");
  ASSERT_OK_AND_ASSIGN(const auto publisher, NvidiaPublisher::Make(options));
  const NodeHardware node = MadeHardware("node-1", "A30", 2);
  ASSERT_OK_AND_ASSIGN(const std::vector<ResourceSlice> once, publisher->Publish(node, 1));
  ASSERT_OK_AND_ASSIGN(const std::vector<ResourceSlice> twice, publisher->Publish(node, 1));
  ASSERT_EQ(once.size(), twice.size());
  for (size_t i = 0; i < once.size(); ++i) {
    EXPECT_EQ(once[i].DebugString(), twice[i].DebugString());
  }
  EXPECT_TRUE(publisher->Publish(MadeHardware("node-2", "A30", 0), 1)->empty());
}

}  // namespace
}  // namespace drasim
