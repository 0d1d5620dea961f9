#include "policies/allocator/capacity_policy.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/testing/assert_ok.h"

namespace drasim {
namespace {

using Verdict = CapacityDemand::Verdict;

struct PolicyTexts {
  std::string value;
  std::string fallback = {};  // the policy's default
  std::string min = {};
  std::string max = {};
  std::string step = {};
};

DeviceCapacities CapacitiesOf(const PolicyTexts& texts) {
  proto::kube::Device device;
  device.set_name("device");
  auto& capacity = (*device.mutable_capacity())["memory"];
  capacity.set_value(texts.value);
  if (!texts.fallback.empty()) {
    capacity.mutable_request_policy()->set_default_value(texts.fallback);
  }
  if (!texts.min.empty()) {
    auto* range = capacity.mutable_request_policy()->mutable_valid_range();
    range->set_min(texts.min);
    if (!texts.max.empty()) range->set_max(texts.max);
    if (!texts.step.empty()) range->set_step(texts.step);
  }
  const absl::StatusOr<DeviceCapacities> read = ReadDeviceCapacities(device);
  EXPECT_TRUE(read.ok()) << read.status();
  return *read;
}

CapacityDemand Ask(const std::string& amount, const DeviceCapacities& capacities,
                   bool milli = false) {
  CapacityRequest request;
  if (!amount.empty()) request["memory"] = *Quantity::Parse(amount);
  return DemandOf(request, capacities, milli);
}

TEST(CapacityPolicyTest, WithoutARequestTheDefaultOrEverythingIsConsumed) {
  EXPECT_EQ(Ask("", CapacitiesOf({"8Gi"})).amounts[0].ToString(), "8Gi");
  EXPECT_EQ(Ask("", CapacitiesOf({"8Gi", "1Gi"})).amounts[0].ToString(), "1Gi");
}

TEST(CapacityPolicyTest, RoundsUpToMinAndStep) {
  const DeviceCapacities capacities = CapacitiesOf({"10", "2", "2", "8", "3"});
  EXPECT_EQ(Ask("1", capacities).amounts[0].Value(), 2);
  EXPECT_EQ(Ask("2", capacities).amounts[0].Value(), 2);
  EXPECT_EQ(Ask("3", capacities).amounts[0].Value(), 5);
  EXPECT_EQ(Ask("6", capacities).amounts[0].Value(), 8);
  EXPECT_EQ(Ask("8", capacities).verdict, Verdict::kEnough);
  EXPECT_EQ(Ask("9", capacities).verdict, Verdict::kSkip);  // 11 is above max
}

TEST(CapacityPolicyTest, FractionalStepsNeedTheGate) {
  const DeviceCapacities capacities = CapacitiesOf({"2", "", "500m", "2", "250m"});
  EXPECT_EQ(Ask("600m", capacities, true).amounts[0].MilliValue(), 750);
  EXPECT_EQ(Ask("600m", capacities, true).verdict, Verdict::kEnough);
  // In whole units, min and step are 1.
  EXPECT_EQ(Ask("600m", capacities, false).amounts[0].Value(), 1);
}

TEST(CapacityPolicyTest, UnknownNamesAreSkippedAndNegativeOnesAreErrors) {
  const DeviceCapacities capacities = CapacitiesOf({"8"});
  CapacityRequest other;
  other["driver/memory"] = *Quantity::Parse("1");
  EXPECT_EQ(DemandOf(other, capacities, false).verdict, Verdict::kSkip);
  EXPECT_EQ(Ask("9", capacities).verdict, Verdict::kSkip);
  const CapacityDemand negative = Ask("-1", capacities);
  EXPECT_EQ(negative.verdict, Verdict::kError);
  EXPECT_EQ(negative.error, "capacity \"memory\": capacity value is negative");
}

TEST(CapacityPolicyTest, RequestsBeyondInt64CannotBeRounded) {
  const DeviceCapacities capacities = CapacitiesOf({"4", "2", "2", "4", "2"});
  EXPECT_EQ(Ask("18446744073709551616", capacities).error,
            "capacity \"memory\": capacity request cannot be represented in the device's range "
            "arithmetic: request 18446744073709551616 exceeds MaxInt64");
  EXPECT_EQ(Ask("9223372036854775807", capacities).error,
            "capacity \"memory\": capacity request cannot be represented in the device's range "
            "arithmetic: rounding request 9223372036854775807 up to the next step passes MaxInt64");
}

TEST(CapacityPolicyTest, ValidValuesTakeTheNextOne) {
  proto::kube::Device device;
  auto& capacity = (*device.mutable_capacity())["memory"];
  capacity.set_value("8");
  for (const char* value : {"1", "2", "4"}) {
    capacity.mutable_request_policy()->add_valid_values(value);
  }
  ASSERT_OK_AND_ASSIGN(const DeviceCapacities capacities, ReadDeviceCapacities(device));
  EXPECT_EQ(Ask("3", capacities).amounts[0].Value(), 4);
  EXPECT_EQ(Ask("5", capacities).verdict, Verdict::kSkip);
}

TEST(CapacityPolicyTest, BadAmountsNameDeviceAndField) {
  proto::kube::Device device;
  device.set_name("gpu-0");
  (*device.mutable_capacity())["memory"].set_value("1e30");
  EXPECT_EQ(ReadDeviceCapacities(device).status().message(),
            "device gpu-0: capacity[memory]: found 1e30, expected an amount of at most 10^24");
}

}  // namespace
}  // namespace drasim
