// The kinds of drivers: every one can be made, and what cannot be made is said in words.
#include "policies/devices/claim_drivers.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/claim_driver_rig.h"

namespace drasim {
namespace claim_drivers_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ClaimDriversTest, EveryKindCanBeMade) {
  GpuCluster cluster;
  cluster.Add("A100-80GB", 2);
  std::vector<std::string> kinds;
  for (const ClaimDriverInfo& info : ClaimDriverInfos()) {
    kinds.push_back(info.kind);
    EXPECT_EQ(FindClaimDriver(info.kind), &info);
    const auto made = MakeClaimDriver(cluster.Options(info.kind));
    ASSERT_TRUE(made.ok()) << made.status();
    EXPECT_EQ((*made)->name(), info.driver);
    // Without parameters a claim is one device.
    TestClaims claims(info.kind);
    const auto anywhere = (*made)->Allocate({claims.Make(2, nullptr)}, NodeId());
    EXPECT_EQ(anywhere[0].status.ok(), info.immediate_refusal == nullptr) << anywhere[0].status;
    const auto results = (*made)->Allocate({claims.Make(1, nullptr)}, NodeId(0u));
    EXPECT_TRUE(results[0].status.ok()) << results[0].status;
    EXPECT_EQ(results[0].allocation->grants.size(), 1u);
  }
  EXPECT_THAT(kinds, ElementsAre("nvidia", "example", "intel", "constraints"));
  EXPECT_EQ(FindClaimDriver("amd"), nullptr);
}

TEST(ClaimDriversTest, SaysWhatItKnows) {
  GpuCluster cluster;
  EXPECT_EQ(MakeClaimDriver(cluster.Options("amd")).status(),
            absl::InvalidArgumentError(
                "kind: expected one of nvidia, example, intel, constraints, not \"amd\""));
  ClaimDriverOptions options = cluster.Options("nvidia");
  options.placement = "mig-first-fit";
  const absl::Status status = MakeClaimDriver(options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("placement: expected one of driver, first-fit, dra-driver, hami, "));
  EXPECT_THAT(std::string(status.message()), HasSubstr(", not \"mig-first-fit\""));
}

}  // namespace claim_drivers_test
}  // namespace drasim
