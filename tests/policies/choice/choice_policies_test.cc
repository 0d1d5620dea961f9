// The allocator's policies beyond upstream, each on a node where its choice can be told.

#include "policies/choice/choice_policies.h"

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "model/proto/kube.pb.h"
#include "model/proto/resource.pb.h"
#include "model/proto/slice_driver.pb.h"
#include "policies/allocator/cel_verdicts.h"
#include "policies/allocator/choice_policy.h"
#include "policies/allocator/device_catalog.h"
#include "policies/allocator/node_pools.h"
#include "policies/allocator/structured_allocator.h"
#include "policies/drivers/node_hardware.h"
#include "policies/drivers/slice_publishers.h"
#include "tests/testing/assert_ok.h"

namespace drasim {
namespace {

using proto::kube::Device;
using proto::kube::DeviceClass;
using proto::kube::Node;
using proto::kube::ResourceClaimV1;
using proto::kube::ResourceSlice;

constexpr char kNvidia[] = "gpu.nvidia.com";

// One node, whose claims are allocated one after the other.
class OneNode {
 public:
  explicit OneNode(std::string driver = kNvidia) : driver_(std::move(driver)) {
    SetFeature("PartitionableDevices");
    SetFeature("ConsumableCapacity");
    SetFeature("ListTypeAttributes");
    options_.variant = AllocatorVariant::kExperimental;
    node_.mutable_metadata()->set_name("node");
    class_.mutable_metadata()->set_name("class");
  }

  // GPUs of NVIDIA's driver with DynamicMIG.
  void PublishMig(size_t gpus) {
    proto::SliceDriver driver;
    driver.set_kind(kNvidia);
    driver.set_mig("dynamic");
    ASSERT_OK_AND_ASSIGN(const auto publisher, MakeSlicePublisher(driver, {}));
    const NodeHardware hardware = MadeHardware("node", "A100-SXM4-40GB", gpus);
    ASSERT_OK_AND_ASSIGN(const auto slices, publisher->Publish(hardware, 1));
    slices_.assign(slices.begin(), slices.end());
  }
  Device* AddDevice(const std::string& name) {
    if (slices_.empty()) AddSlice();
    Device* device = slices_.back().mutable_spec()->add_devices();
    device->set_name(name);
    return device;
  }
  ResourceSlice* AddSlice() {
    ResourceSlice& slice = slices_.emplace_back();
    slice.mutable_metadata()->set_name(absl::StrCat("slice-", slices_.size()));
    slice.mutable_spec()->set_driver(driver_);
    slice.mutable_spec()->set_node_name("node");
    slice.mutable_spec()->mutable_pool()->set_name("node");
    for (ResourceSlice& one : slices_) {
      one.mutable_spec()->mutable_pool()->set_resource_slice_count(
          static_cast<int64_t>(slices_.size()));
    }
    return &slice;
  }
  void Hold(const std::string& device) {
    use_.dedicated.push_back({driver_, slices_[0].spec().pool().name(), device});
  }
  void Consume(const std::string& device, const std::string& memory) {
    const DeviceId id = {driver_, "node", device};
    use_.shared.push_back(id);
    use_.consumed[id]["memory"] = *Quantity::Parse(memory);
  }

  // The devices of one claim for `count` devices, in order; "none", or the error.
  std::string Give(const std::string& policy, int64_t count, const std::string& selector = "",
                   const ChoicePolicyOptions& options = {}, const std::string& memory = "") {
    ResourceClaimV1 claim;
    claim.mutable_metadata()->set_name("claim");
    auto* request = claim.mutable_spec()->mutable_devices()->add_requests();
    request->set_name("r");
    request->mutable_exactly()->set_device_class_name("class");
    request->mutable_exactly()->set_allocation_mode("ExactCount");
    request->mutable_exactly()->set_count(count);
    if (!selector.empty()) {
      request->mutable_exactly()->add_selectors()->mutable_cel()->set_expression(selector);
    }
    if (!memory.empty()) {
      (*request->mutable_exactly()->mutable_capacity()->mutable_requests())["memory"] = memory;
    }
    const auto made = MakeChoicePolicy(policy, options);
    EXPECT_TRUE(made.ok()) << made.status();
    options_.policy = *made;
    std::vector<const ResourceSlice*> slices;
    for (const ResourceSlice& slice : slices_) slices.push_back(&slice);
    const auto catalog = DeviceCatalog::Make(slices);
    EXPECT_TRUE(catalog.ok()) << catalog.status();
    const auto allocator = StructuredAllocator::Make(
        std::make_shared<NodePools>(options_, *catalog),
        MakeCelVerdicts(&(*catalog)->columns(), options_.features), {&class_}, use_);
    EXPECT_TRUE(allocator.ok()) << allocator.status();
    const AllocationAnswer answer = (*allocator)->Allocate(node_, {&claim});
    if (!answer.error.empty()) return answer.error;
    if (answer.results.empty()) return "none";
    last = answer.choice.value_or(Choice());
    std::vector<std::string> names;
    for (const auto& result : answer.results[0].devices().results()) {
      names.push_back(result.device());
    }
    return absl::StrJoin(names, " ");
  }
  // The same for a MIG profile of A100-40, after which the devices are held.
  std::string Take(const std::string& policy, const std::string& profile,
                   const ChoicePolicyOptions& options = {}) {
    const std::string given = Give(
        policy, 1,
        absl::StrCat("device.attributes['", kNvidia, "'].?profile.orValue('') == '", profile, "'"),
        options);
    Hold(given);
    return given;
  }

  Choice last;

 private:
  void SetFeature(const char* name) {
    EXPECT_TRUE(SetDraFeature(name, true, &options_.features).ok());
  }

  std::string driver_;
  Node node_;
  DeviceClass class_;
  std::deque<ResourceSlice> slices_;
  DeviceUse use_;
  AllocatorOptions options_;
};

void SetMemory(const std::string& memory, Device* device) {
  (*device->mutable_capacity())["memory"].set_value(memory);
}

constexpr char kAtLeast24Gi[] = "device.capacity['driver'].memory.compareTo(quantity('24Gi')) >= 0";

TEST(ChoicePoliciesTest, NamesAreChecked) {
  EXPECT_EQ(*MakeChoicePolicy("", {}), nullptr);
  EXPECT_EQ(*MakeChoicePolicy("first-fit", {}), nullptr);
  for (const ChoicePolicyInfo& info : ChoicePolicyInfos()) {
    ASSERT_OK_AND_ASSIGN(const auto policy, MakeChoicePolicy(info.name, {}));
    EXPECT_EQ(policy == nullptr, std::string(info.name) == "first-fit") << info.name;
  }
  EXPECT_EQ(std::string(MakeChoicePolicy("bestfit", {}).status().message()),
            "found 'bestfit', expected one of first-fit, best-fit, mig-fragmentation, pack, "
            "spread, topology (did you mean 'best-fit'?)");
}

TEST(BestFitTest, TakesTheSmallestDeviceThatSuffices) {
  OneNode node("driver");
  SetMemory("80Gi", node.AddDevice("gpu-0"));
  SetMemory("16Gi", node.AddDevice("gpu-1"));
  SetMemory("40Gi", node.AddDevice("gpu-2"));
  SetMemory("40Gi", node.AddDevice("gpu-3"));
  EXPECT_EQ(node.Give("first-fit", 1, kAtLeast24Gi), "gpu-0");
  EXPECT_EQ(node.Give("best-fit", 1, kAtLeast24Gi), "gpu-2");
  EXPECT_EQ(node.last.rank, int64_t{40} * 1024 * 1000 + 999);
  EXPECT_EQ(node.last.solutions, 2);  // gpu-3 costs as much as gpu-2, so it is none
  EXPECT_EQ(node.Give("best-fit", 2, kAtLeast24Gi), "gpu-2 gpu-3");
  EXPECT_EQ(node.Give("best-fit", 3, kAtLeast24Gi), "gpu-0 gpu-2 gpu-3");
  EXPECT_EQ(node.Give("best-fit", 4, kAtLeast24Gi), "none");
}

TEST(BestFitTest, SharesTheDeviceWithTheLeastRoom) {
  OneNode node("driver");
  for (const char* name : {"gpu-0", "gpu-1", "gpu-2"}) {
    Device* device = node.AddDevice(name);
    SetMemory("80Gi", device);
    (*device->mutable_capacity())["memory"].mutable_request_policy()->set_default_value("1Gi");
    device->set_allow_multiple_allocations(true);
  }
  node.Consume("gpu-1", "50Gi");
  node.Consume("gpu-2", "70Gi");
  EXPECT_EQ(node.Give("first-fit", 1, "", {}, "20Gi"), "gpu-0");
  EXPECT_EQ(node.Give("best-fit", 1, "", {}, "20Gi"), "gpu-1");
  EXPECT_EQ(node.Give("best-fit", 1, "", {}, "10Gi"), "gpu-2");
}

// kubernetes/enhancements#4970: a driver lists its devices in any order, and so small instances end
// up on as many GPUs.
TEST(PackTest, SevenInstancesOfOneGpu) {
  OneNode node("driver");
  ResourceSlice* counters = node.AddSlice();
  node.AddSlice();
  for (int gpu = 0; gpu < 7; ++gpu) {
    auto* set = counters->mutable_spec()->add_shared_counters();
    set->set_name(absl::StrCat("gpu-", gpu));
    for (int unit = 0; unit < 7; ++unit) {
      (*set->mutable_counters())[absl::StrCat("unit-", unit)].set_value("1");
    }
  }
  for (int unit = 0; unit < 7; ++unit) {
    for (int gpu = 0; gpu < 7; ++gpu) {
      Device* device = node.AddDevice(absl::StrCat("gpu-", gpu, "-", unit));
      auto* use = device->add_consumes_counters();
      use->set_counter_set(absl::StrCat("gpu-", gpu));
      (*use->mutable_counters())[absl::StrCat("unit-", unit)].set_value("1");
    }
  }
  const std::string scattered = "gpu-0-0 gpu-1-0 gpu-2-0 gpu-3-0 gpu-4-0 gpu-5-0 gpu-6-0";
  const std::string packed = "gpu-0-0 gpu-0-1 gpu-0-2 gpu-0-3 gpu-0-4 gpu-0-5 gpu-0-6";
  EXPECT_EQ(node.Give("first-fit", 7), scattered);
  EXPECT_EQ(node.Give("spread", 7), scattered);
  EXPECT_EQ(node.Give("pack", 7), packed);
  EXPECT_FALSE(node.last.exhausted);
  // One after the other, too.
  for (const char* policy : {"pack", "best-fit", "mig-fragmentation"}) {
    OneNode other = node;
    for (int i = 0; i < 7; ++i) {
      const std::string given = other.Give(policy, 1);
      EXPECT_EQ(given, absl::StrCat("gpu-0-", i)) << policy;
      other.Hold(given);
    }
  }
}

TEST(PackTest, FillsTheFullestGpu) {
  OneNode node;
  node.PublishMig(3);
  node.Hold("gpu-1-mig-2g10gb-14-0");
  node.Hold("gpu-2-mig-3g20gb-9-0");
  EXPECT_EQ(node.Take("first-fit", "1g.5gb"), "gpu-0-mig-1g5gb-19-0");
  EXPECT_EQ(node.Take("pack", "1g.5gb"), "gpu-2-mig-1g5gb-19-4");
  EXPECT_EQ(node.Take("pack", "1g.5gb"), "gpu-2-mig-1g5gb-19-5");
  EXPECT_EQ(node.Take("spread", "1g.5gb"), "gpu-0-mig-1g5gb-19-1");
}

TEST(MigFragmentationTest, KeepsLargePlacements) {
  OneNode node;
  node.PublishMig(2);
  // gpu-1 has lost its first half already, so an instance there costs less.
  node.Hold("gpu-1-mig-1g5gb-19-0");
  EXPECT_EQ(OneNode(node).Take("first-fit", "1g.5gb"), "gpu-0-mig-1g5gb-19-0");
  const std::string given = node.Take("mig-fragmentation", "1g.5gb");
  EXPECT_EQ(given, "gpu-1-mig-1g5gb-19-1");
  // A 3g goes to the half that is free.
  EXPECT_EQ(node.Take("mig-fragmentation", "3g.20gb"), "gpu-1-mig-3g20gb-9-4");
}

TEST(MigFragmentationTest, WeighsByTheMix) {
  OneNode node;
  node.PublishMig(1);
  node.Hold("gpu-0-mig-1g5gb-19-0");
  node.Hold("gpu-0-mig-1g5gb-19-4");
  // Where only 2g are to come, start 1 and start 5 are worth nothing.
  EXPECT_EQ(OneNode(node).Take("mig-fragmentation", "1g.5gb", {{{"2g.10gb", 3}}}),
            "gpu-0-mig-1g5gb-19-1");
  // 1g.10gb may begin at 6, 2g may not.
  node.Hold("gpu-0-mig-1g5gb-19-1");
  node.Hold("gpu-0-mig-1g5gb-19-5");
  EXPECT_EQ(OneNode(node).Take("mig-fragmentation", "1g.5gb", {{{"2G.10GB", 3}}}),
            "gpu-0-mig-1g5gb-19-6");
  EXPECT_EQ(OneNode(node).Take("mig-fragmentation", "1g.5gb", {{{"2g.10gb", 1}, {"1g.10gb", 9}}}),
            "gpu-0-mig-1g5gb-19-6");
  // A mix of other GPUs is none.
  EXPECT_EQ(OneNode(node).Take("mig-fragmentation", "1g.5gb", {{{"1g.99gb", 3}}}),
            OneNode(node).Take("mig-fragmentation", "1g.5gb"));
}

void SetPlace(int64_t numa, const std::string& root, Device* device) {
  auto& attributes = *device->mutable_attributes();
  attributes["resource.kubernetes.io/numaNode"].set_int_value(numa);
  attributes["resource.kubernetes.io/pcieRoot"].set_string_value(root);
}

TEST(TopologyTest, StaysOnOneNumaNode) {
  OneNode node("driver");
  for (int i = 0; i < 8; ++i) {
    SetPlace(i / 4, absl::StrCat("root-", i / 2), node.AddDevice(absl::StrCat("gpu-", i)));
  }
  node.Hold("gpu-0");
  node.Hold("gpu-3");
  EXPECT_EQ(node.Give("first-fit", 3), "gpu-1 gpu-2 gpu-4");
  EXPECT_EQ(node.Give("topology", 3), "gpu-4 gpu-5 gpu-6");
  // Two roots on one NUMA node, or one root on the other.
  EXPECT_EQ(node.Give("topology", 2), "gpu-4 gpu-5");
  EXPECT_EQ(node.last.rank, int64_t{1} * 100'000 * 100'000 + int64_t{1} * 100'000 + 4);
  // A single device comes from the NUMA node that is broken anyway.
  EXPECT_EQ(node.Give("topology", 1), "gpu-1");
  EXPECT_EQ(node.Give("topology", 5), "gpu-1 gpu-4 gpu-5 gpu-6 gpu-7");
}

// A device that lists several roots is close to the devices of each of them.
TEST(TopologyTest, ListsJoinRoots) {
  OneNode node("driver");
  const auto add_list = [&node](const std::string& name, const std::vector<std::string>& roots) {
    auto& root = (*node.AddDevice(name)->mutable_attributes())["resource.kubernetes.io/pcieRoot"];
    for (const std::string& one : roots) root.add_strings(one);
  };
  add_list("gpu-0", {"a"});
  add_list("gpu-1", {"b"});
  add_list("gpu-2", {"c"});
  add_list("cpu-0", {"d", "e"});
  add_list("cpu-1", {"b", "c"});
  add_list("cpu-2", {"c", "d"});
  EXPECT_EQ(node.Give("topology", 2), "gpu-1 cpu-1");
  EXPECT_EQ(node.Give("topology", 3), "gpu-2 cpu-1 cpu-2");
  EXPECT_EQ(node.Give("topology", 4), "gpu-0 gpu-2 cpu-1 cpu-2");
}

}  // namespace
}  // namespace drasim
