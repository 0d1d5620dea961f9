#include "policies/dra/allocated_devices.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/policies/dra/dra_rig.h"

namespace drasim {
namespace {

using dra_rig::ClaimOf;

ClaimRef Holding(const std::string& name, const std::string& results) {
  return ClaimOf(name, absl::StrCat("status { allocation { devices { ", results, " } } }"));
}

std::string PlainResult(const std::string& device) {
  return absl::StrCat("results { driver: \"d\" pool: \"p\" device: \"", device, "\" }");
}

// "x y | s shared | s.memory=2Gi"
std::string UseText(const AllocatedDevices& devices, const InFlightClaims& in_flight = {}) {
  const absl::StatusOr<DeviceUse> use = devices.Use(in_flight);
  if (!use.ok()) return std::string(use.status().message());
  std::string text;
  for (const DeviceId& id : use->dedicated) absl::StrAppend(&text, id.device, " ");
  text += "|";
  for (const DeviceId& id : use->shared) absl::StrAppend(&text, " ", id.device);
  for (const auto& [id, amounts] : use->consumed) {
    for (const auto& [name, amount] : amounts) {
      absl::StrAppend(&text, " ", id.device, ".", name, "=", amount.ToString());
    }
  }
  return text;
}

TEST(AllocatedDevicesTest, FollowAllocations) {
  AllocatedDevices devices;
  const ClaimRef free = ClaimOf("c");
  const ClaimRef held = Holding("c", PlainResult("x") + PlainResult("y"));
  devices.OnClaim(nullptr, free.get());
  EXPECT_EQ(UseText(devices), "|");
  devices.OnClaim(free.get(), held.get());
  devices.OnClaim(held.get(), held.get());
  EXPECT_EQ(UseText(devices), "x y |");
  devices.OnClaim(held.get(), nullptr);
  EXPECT_EQ(UseText(devices), "|");
}

TEST(AllocatedDevicesTest, AdminAccessHoldsNothing) {
  AllocatedDevices devices;
  devices.OnClaim(nullptr, Holding("c", "results { device: \"x\" admin_access: true }").get());
  EXPECT_EQ(UseText(devices), "|");
}

TEST(AllocatedDevicesTest, FirstOfTwoHoldersFreesTheDevice) {
  AllocatedDevices devices;
  const ClaimRef first = Holding("first", PlainResult("x"));
  devices.OnClaim(nullptr, first.get());
  devices.OnClaim(nullptr, Holding("second", PlainResult("x")).get());
  devices.OnClaim(first.get(), ClaimOf("first").get());
  EXPECT_EQ(UseText(devices), "|");
}

TEST(AllocatedDevicesTest, SharesAndTheirCapacityAreCounted) {
  const std::string share = R"(results { driver: "d" pool: "p" device: "s" share_id: "1"
      consumed_capacity { key: "memory" value: "1Gi" } })";
  AllocatedDevices devices;
  const ClaimRef first = Holding("first", share);
  const ClaimRef second = Holding("second", share);
  devices.OnClaim(nullptr, first.get());
  devices.OnClaim(nullptr, second.get());
  EXPECT_EQ(UseText(devices), "| s s.memory=2Gi");
  devices.OnClaim(first.get(), nullptr);
  EXPECT_EQ(UseText(devices), "| s s.memory=1Gi");
  devices.OnClaim(second.get(), nullptr);
  EXPECT_EQ(UseText(devices), "|");
}

TEST(AllocatedDevicesTest, ClaimsInFlightCount) {
  AllocatedDevices devices;
  InFlightClaims in_flight;
  in_flight.Add(Holding("c", PlainResult("x")), "uid-pod", "");
  EXPECT_EQ(UseText(devices, in_flight), "x |");
  EXPECT_EQ(UseText(devices), "|");
}

}  // namespace
}  // namespace drasim
