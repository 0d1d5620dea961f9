// A node with few devices, for tests of single rules of the allocator: objects from texts, and
// answers as texts.
#ifndef DRASIM_TESTS_POLICIES_ALLOCATOR_TINY_WORLD_H_
#define DRASIM_TESTS_POLICIES_ALLOCATOR_TINY_WORLD_H_

#include <google/protobuf/text_format.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/proto/resource.pb.h"
#include "policies/allocator/cel_verdicts.h"
#include "policies/allocator/device_catalog.h"
#include "policies/allocator/node_pools.h"
#include "policies/allocator/structured_allocator.h"

namespace drasim::tiny_world {

struct World {
  std::vector<proto::kube::ResourceSlice> slices;
  std::vector<proto::kube::ResourceClaimV1> claims;
  DeviceUse use;
  AllocatorOptions options;

  World() {
    for (const char* feature :
         {"PartitionableDevices", "DeviceTaints", "ConsumableCapacity", "ListTypeAttributes"}) {
      EXPECT_TRUE(SetDraFeature(feature, true, &options.features).ok());
    }
    options.variant = AllocatorVariant::kExperimental;
    options.count_steps = true;
  }

  // A slice "slice-N" for all nodes; `spec` is the rest of its content.
  World& Slice(const std::string& spec, const std::string& pool = "pool") {
    slices.emplace_back();
    proto::kube::ResourceSlice& slice = slices.back();
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(spec, slice.mutable_spec())) << spec;
    slice.mutable_metadata()->set_name(absl::StrCat("slice-", slices.size()));
    slice.mutable_spec()->set_driver("driver");
    slice.mutable_spec()->mutable_pool()->set_name(pool);
    if (!slice.spec().per_device_node_selection()) slice.mutable_spec()->set_all_nodes(true);
    for (proto::kube::ResourceSlice& other : slices) {
      int count = 0;
      for (const auto& each : slices) {
        if (each.spec().pool().name() == other.spec().pool().name()) ++count;
      }
      other.mutable_spec()->mutable_pool()->set_resource_slice_count(count);
    }
    return *this;
  }
  // A claim "claim-N" of `devices`; requests get the class and mode that they lack.
  World& Claim(const std::string& devices) {
    claims.emplace_back();
    proto::kube::ResourceClaimV1& claim = claims.back();
    auto* spec = claim.mutable_spec()->mutable_devices();
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(devices, spec)) << devices;
    claim.mutable_metadata()->set_name(absl::StrCat("claim-", claims.size()));
    for (proto::kube::DeviceRequest& request : *spec->mutable_requests()) {
      auto* exactly = request.mutable_exactly();
      exactly->set_device_class_name("class");
      if (exactly->allocation_mode().empty()) exactly->set_allocation_mode("ExactCount");
      if (exactly->count() == 0) exactly->set_count(1);
    }
    return *this;
  }
  World& Held(const std::string& device) {
    use.dedicated.push_back({"driver", "pool", device});
    return *this;
  }

  // "a b / c": the devices of each claim; "none", or the error.
  std::string Answer(StructuredRelease release = StructuredRelease::k1_37) {
    AllocatorOptions of = options;
    of.release = release;
    std::vector<const proto::kube::ResourceSlice*> pointers;
    for (const auto& slice : slices) pointers.push_back(&slice);
    auto catalog = DeviceCatalog::Make(pointers);
    EXPECT_TRUE(catalog.ok()) << catalog.status();
    proto::kube::DeviceClass device_class;
    device_class.mutable_metadata()->set_name("class");
    const std::vector<const proto::kube::DeviceClass*> classes = {&device_class};
    auto allocator = StructuredAllocator::Make(std::make_shared<NodePools>(of, *catalog),
                                               MakeCelVerdicts(&(*catalog)->columns(), of.features),
                                               classes, use);
    EXPECT_TRUE(allocator.ok()) << allocator.status();
    std::vector<AskedClaim> wanted;
    for (const auto& claim : claims) wanted.emplace_back(&claim);
    proto::kube::Node node;
    node.mutable_metadata()->set_name("node");
    last = (*allocator)->Allocate(node, wanted);
    // A search must leave nothing behind for the next node.
    const AllocationAnswer again = (*allocator)->Allocate(node, wanted);
    EXPECT_EQ(again.error, last.error);
    EXPECT_EQ(again.steps, last.steps);
    if (!last.error.empty()) return last.error;
    if (last.outcome != AllocationOutcome::kAllocated) return "none";
    std::string text;
    for (const auto& result : last.results) {
      if (!text.empty()) absl::StrAppend(&text, " /");
      for (const auto& device : result.devices().results()) {
        absl::StrAppend(&text, text.empty() ? "" : " ", device.device());
      }
    }
    return text;
  }

  AllocationAnswer last;
};

}  // namespace drasim::tiny_world

#endif  // DRASIM_TESTS_POLICIES_ALLOCATOR_TINY_WORLD_H_
