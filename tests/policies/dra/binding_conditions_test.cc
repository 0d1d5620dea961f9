#include "policies/dra/binding_conditions.h"

#include <string>

#include "gtest/gtest.h"
#include "model/kube/kube_time.h"
#include "model/time.h"
#include "tests/policies/dra/dra_rig.h"

namespace drasim {
namespace {

using dra_rig::ClaimOf;

constexpr char kAllocatedAtTen[] = R"(
    results { driver: "d" pool: "p" device: "plain" }
    results {
      driver: "d" pool: "p" device: "wired"
      binding_conditions: "attached" binding_conditions: "ready"
      binding_failure_conditions: "failed"
    })";

ClaimRef WiredClaim(const std::string& status) {
  return ClaimOf("c", "status { allocation { devices { " + std::string(kAllocatedAtTen) +
                          " } allocation_timestamp: \"1970-01-01T00:00:10Z\" } " + status + " }");
}

std::string ConditionsOfWired(const std::string& conditions) {
  return "devices { driver: \"d\" pool: \"p\" device: \"wired\" " + conditions + " }";
}

TEST(BindingConditionsTest, WaitForTheDeviceAndForEachCondition) {
  EXPECT_EQ(ReadinessOf(*ClaimOf("c")).state, BindingReadiness::kPending);
  EXPECT_EQ(ReadinessOf(*WiredClaim("")).state, BindingReadiness::kPending);
  const std::string attached = R"(conditions { type: "attached" status: "True" })";
  EXPECT_EQ(ReadinessOf(*WiredClaim(ConditionsOfWired(attached))).state,
            BindingReadiness::kPending);
  const std::string not_ready = R"(conditions { type: "ready" status: "False" })";
  EXPECT_EQ(ReadinessOf(*WiredClaim(ConditionsOfWired(attached + not_ready))).state,
            BindingReadiness::kPending);
  const std::string ready = R"(conditions { type: "ready" status: "True" })";
  EXPECT_EQ(ReadinessOf(*WiredClaim(ConditionsOfWired(attached + ready))).state,
            BindingReadiness::kReady);
}

TEST(BindingConditionsTest, FailureComesBeforeSuccess) {
  const ClaimReadiness readiness = ReadinessOf(*WiredClaim(ConditionsOfWired(
      R"(conditions { type: "attached" status: "True" } conditions { type: "ready" status: "True" }
         conditions { type: "failed" status: "True" reason: "Broken"
                      message: "link \"0\" down" })")));
  EXPECT_EQ(readiness.state, BindingReadiness::kFailed);
  EXPECT_EQ(readiness.failure, R"(reason=Broken, message="link \"0\" down")");
}

TEST(BindingConditionsTest, TimeOutOnlyAfterTheWholeTime) {
  const ClaimRef claim = WiredClaim("");
  EXPECT_TRUE(HasBindingConditions(claim->status().allocation()));
  EXPECT_FALSE(BindingTimedOut(*claim, 60 * kSecondNs, 70 * kSecondNs));
  EXPECT_TRUE(BindingTimedOut(*claim, 60 * kSecondNs, 70 * kSecondNs + 1));
  const ClaimRef plain = ClaimOf("c",
                                 "status { allocation { devices { results { device: \"plain\" } } "
                                 "allocation_timestamp: \"1970-01-01T00:00:10Z\" } }");
  EXPECT_FALSE(HasBindingConditions(plain->status().allocation()));
  EXPECT_FALSE(BindingTimedOut(*plain, 0, kHourNs));
  proto::kube::ResourceClaimV1 undated = *claim;
  undated.mutable_status()->mutable_allocation()->clear_allocation_timestamp();
  EXPECT_FALSE(BindingTimedOut(undated, 0, kHourNs));
}

TEST(BindingConditionsTest, KeepTimesInWholeSeconds) {
  EXPECT_EQ(KubeTimeNs("2000-01-01T00:00:00Z"), 946684800 * kSecondNs);
  EXPECT_EQ(KubeTimeText(946684800 * kSecondNs + 999), "2000-01-01T00:00:00Z");
}

}  // namespace
}  // namespace drasim
