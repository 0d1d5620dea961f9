#include "policies/drivers/example_publisher.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/testing/assert_ok.h"

namespace drasim {
namespace {

using proto::kube::Device;
using proto::kube::ResourceSlice;

std::vector<ResourceSlice> PublishExample(const proto::SliceDriver& options, size_t gpus) {
  auto publisher = ExamplePublisher::Make(options);
  EXPECT_TRUE(publisher.ok()) << publisher.status();
  auto slices = (*publisher)->Publish(MadeHardware("node-1", "T4", gpus), 1);
  EXPECT_TRUE(slices.ok()) << slices.status();
  return slices.ok() ? *slices : std::vector<ResourceSlice>();
}

TEST(ExamplePublisherTest, HasTheNodesGpusOrEightOrSoManyAsAskedFor) {
  proto::SliceDriver options;
  EXPECT_EQ(PublishExample(options, 2)[0].spec().devices_size(), 2);
  EXPECT_EQ(PublishExample(options, 0)[0].spec().devices_size(), 8);
  options.set_devices(3);
  const std::vector<ResourceSlice> slices = PublishExample(options, 2);
  ASSERT_EQ(slices.size(), 1u);
  EXPECT_EQ(slices[0].spec().driver(), "gpu.example.com");
  ASSERT_EQ(slices[0].spec().devices_size(), 3);
  const Device& last = slices[0].spec().devices(2);
  EXPECT_EQ(last.name(), "gpu-2");
  EXPECT_EQ(last.attributes().at("index").int_value(), 2);
  EXPECT_EQ(last.capacity().at("memory").value(), "80Gi");
  EXPECT_EQ(last.consumes_counters_size(), 0);
  EXPECT_FALSE(last.has_allow_multiple_allocations());
}

TEST(ExamplePublisherTest, PartitionsShareCountersWithTheWholeGpu) {
  proto::SliceDriver options;
  options.set_devices(2);
  options.set_partitions(4);
  const std::vector<ResourceSlice> slices = PublishExample(options, 0);
  ASSERT_EQ(slices.size(), 2u);
  ASSERT_EQ(slices[0].spec().shared_counters_size(), 2);
  EXPECT_EQ(slices[0].spec().shared_counters(1).name(), "gpu-1-counters");
  EXPECT_EQ(slices[0].spec().shared_counters(1).counters().at("compute").value(), "100");
  ASSERT_EQ(slices[1].spec().devices_size(), 10);
  const Device& part = slices[1].spec().devices(8);
  EXPECT_EQ(part.name(), "gpu-1-partition-3");
  EXPECT_EQ(part.attributes().at("partition").int_value(), 3);
  EXPECT_EQ(part.capacity().at("memory").value(), "20Gi");
  EXPECT_EQ(part.consumes_counters(0).counter_set(), "gpu-1-counters");
  EXPECT_EQ(part.consumes_counters(0).counters().at("compute").value(), "25");
  const Device& full = slices[1].spec().devices(9);
  EXPECT_EQ(full.name(), "gpu-1-full");
  EXPECT_TRUE(full.attributes().at("full").bool_value());
  EXPECT_EQ(full.consumes_counters(0).counters().at("memory").value(), "80Gi");
  // All partitions of a GPU have its identifier.
  EXPECT_EQ(part.attributes().at("uuid").string_value(),
            full.attributes().at("uuid").string_value());
  options.set_release("1.34");
  const std::vector<ResourceSlice> combined = PublishExample(options, 0);
  ASSERT_EQ(combined.size(), 1u);
  EXPECT_EQ(combined[0].spec().shared_counters_size(), 2);
  EXPECT_EQ(combined[0].spec().devices_size(), 10);
}

TEST(ExamplePublisherTest, SharingAndConditionsAreOfEveryDevice) {
  proto::SliceDriver options;
  options.set_devices(1);
  options.set_shared(true);
  options.set_binding_conditions(true);
  const Device device = PublishExample(options, 0)[0].spec().devices(0);
  EXPECT_TRUE(device.allow_multiple_allocations());
  EXPECT_EQ(device.capacity().at("compute").value(), "100");
  ASSERT_EQ(device.binding_conditions_size(), 1);
  EXPECT_EQ(device.binding_failure_conditions_size(), 1);
}

TEST(ExamplePublisherTest, AmountsOutOfRangeAreErrors) {
  proto::SliceDriver options;
  options.set_devices(129);
  EXPECT_EQ(ExamplePublisher::Make(options).status().message(),
            "devices: found 129, expected 0 to 128");
  options.set_devices(1);
  options.set_partitions(-1);
  EXPECT_EQ(ExamplePublisher::Make(options).status().message(),
            "partitions: found -1, expected 0 to 100");
  options.set_partitions(64);
  ASSERT_OK_AND_ASSIGN(const auto publisher, ExamplePublisher::Make(options));
  EXPECT_EQ(publisher->Publish(MadeHardware("n", "", 0), 1).status().message(),
            "n: gpu.example.com would publish a slice of 65 devices, and the API server takes at "
            "most 64 with counters");
}

}  // namespace
}  // namespace drasim
