#include "policies/dra/allocated_devices.h"

#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "policies/dra/in_flight_claims.h"
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

class AllocatedDevicesTest : public testing::Test {
 protected:
  // "x y | s shared | s.memory=2Gi"
  std::string UseText() const {
    const absl::StatusOr<DeviceUse> use = devices_.Use();
    if (!use.ok()) return std::string(use.status().message());
    std::string text;
    for (const DeviceId& id : std::set<DeviceId>(use->dedicated.begin(), use->dedicated.end())) {
      absl::StrAppend(&text, id.device, " ");
    }
    text += "|";
    for (const DeviceId& id : use->shared) absl::StrAppend(&text, " ", id.device);
    for (const auto& [id, amounts] : use->consumed) {
      for (const auto& [name, amount] : amounts) {
        absl::StrAppend(&text, " ", id.device, ".", name, "=", amount.ToString());
      }
    }
    return text;
  }

  dra_rig::TestCache cache_;  // has the inventory
  ClusterState& cluster_ = cache_.cluster();
  AllocatedDevices devices_{&cluster_};
};

TEST_F(AllocatedDevicesTest, FollowAllocations) {
  const ClaimRef free = ClaimOf("c");
  const ClaimRef held = Holding("c", PlainResult("x") + PlainResult("y"));
  devices_.OnClaim(nullptr, free);
  EXPECT_EQ(UseText(), "|");
  devices_.OnClaim(free, held);
  devices_.OnClaim(held, held);
  EXPECT_EQ(UseText(), "x y |");
  devices_.OnClaim(held, nullptr);
  EXPECT_EQ(UseText(), "|");
}

TEST_F(AllocatedDevicesTest, AdminAccessHoldsNothing) {
  devices_.OnClaim(nullptr, Holding("c", "results { device: \"x\" admin_access: true }"));
  EXPECT_EQ(UseText(), "|");
}

TEST_F(AllocatedDevicesTest, FirstOfTwoHoldersFreesTheDevice) {
  const ClaimRef first = Holding("first", PlainResult("x"));
  devices_.OnClaim(nullptr, first);
  devices_.OnClaim(nullptr, Holding("second", PlainResult("x")));
  devices_.OnClaim(first, ClaimOf("first"));
  EXPECT_EQ(UseText(), "|");
}

TEST_F(AllocatedDevicesTest, SharesAndTheirCapacityAreCounted) {
  const std::string share = R"(results { driver: "d" pool: "p" device: "s" share_id: "1"
      consumed_capacity { key: "memory" value: "1Gi" } })";
  const ClaimRef first = Holding("first", share);
  const ClaimRef second = Holding("second", share);
  devices_.OnClaim(nullptr, first);
  devices_.OnClaim(nullptr, second);
  EXPECT_EQ(UseText(), "| s s.memory=2Gi");
  devices_.OnClaim(first, nullptr);
  EXPECT_EQ(UseText(), "| s s.memory=1Gi");
  devices_.OnClaim(second, nullptr);
  EXPECT_EQ(UseText(), "|");
}

TEST_F(AllocatedDevicesTest, ClaimsInFlightCount) {
  InFlightClaims in_flight(&cluster_);
  const ClaimRef claim = Holding("c", PlainResult("x"));
  in_flight.Add(claim, "uid-pod", "");
  EXPECT_EQ(UseText(), "x |");
  // Written while it is still in flight: a holding of its own.
  devices_.OnClaim(nullptr, claim);
  in_flight.Remove("uid-c");
  EXPECT_EQ(UseText(), "x |");
  devices_.OnClaim(claim, nullptr);
  EXPECT_EQ(UseText(), "|");
  EXPECT_EQ(cluster_.CheckInvariants(), absl::OkStatus());
}

TEST_F(AllocatedDevicesTest, LastPodOfAGroupEndsTheFlight) {
  InFlightClaims in_flight(&cluster_);
  in_flight.Add(Holding("c", PlainResult("x")), "uid-pod-1", "group");
  in_flight.Join("uid-c", "uid-pod-2");
  in_flight.Leave("uid-c", "uid-pod-1");
  EXPECT_EQ(UseText(), "x |");
  in_flight.Leave("uid-c", "uid-pod-2");
  EXPECT_EQ(UseText(), "|");
}

TEST_F(AllocatedDevicesTest, AmountThatIsNoneIsAnError) {
  devices_.OnClaim(nullptr, Holding("c", R"(results { driver: "d" pool: "p" device: "s"
      share_id: "1" consumed_capacity { key: "memory" value: "much" } })"));
  EXPECT_NE(UseText().find("quantity \"much\""), std::string::npos) << UseText();
}

}  // namespace
}  // namespace drasim
