#include "policies/dra/claim_hints.h"

#include "gtest/gtest.h"
#include "tests/policies/dra/dra_rig.h"

namespace drasim {
namespace {

using dra_rig::ClaimOf;
using dra_rig::PodOf;
using dra_rig::TestCache;

constexpr char kAllocatedStatus[] = "status { allocation { } }";

class ClaimHintsTest : public testing::Test {
 protected:
  ClaimHintsTest() {
    cache_.Add(ClaimOf("own"));
    cache_.Add(ClaimOf("other"));
  }
  bool Helps(const ClaimRef& before, const ClaimRef& after) const {
    return ClaimChangeHelps(PodOf("pod", {"own"}), TransitionOf(before.get(), after.get()), cache_);
  }
  TestCache cache_;
};

TEST_F(ClaimHintsTest, QueueForNewClaimsAndStatusChangesOfOwnOnes) {
  EXPECT_TRUE(Helps(nullptr, ClaimOf("own")));
  EXPECT_FALSE(Helps(nullptr, ClaimOf("other")));
  EXPECT_TRUE(Helps(ClaimOf("own"), ClaimOf("own", kAllocatedStatus)));
  EXPECT_FALSE(Helps(ClaimOf("other"), ClaimOf("other", kAllocatedStatus)));
  EXPECT_FALSE(Helps(ClaimOf("own"), ClaimOf("own", "metadata { finalizers: \"f\" }")));
}

TEST_F(ClaimHintsTest, DeallocationHelpsEveryPod) {
  EXPECT_TRUE(Helps(ClaimOf("other", kAllocatedStatus), ClaimOf("other")));
  EXPECT_TRUE(Helps(ClaimOf("other", kAllocatedStatus), nullptr));
  EXPECT_FALSE(Helps(ClaimOf("other"), nullptr));
  EXPECT_FALSE(Helps(ClaimOf("own"), nullptr));
}

TEST_F(ClaimHintsTest, NothingHelpsAPodWhoseClaimIsMissing) {
  cache_.Remove("own");
  EXPECT_FALSE(Helps(ClaimOf("other", kAllocatedStatus), ClaimOf("other")));
}

TEST_F(ClaimHintsTest, PodChangeHelpsThatPodOnceItsClaimsAreThere) {
  EXPECT_TRUE(PodChangeHelps(PodOf("pod", {"own"}), PodOf("pod", {"own"}), cache_));
  EXPECT_FALSE(PodChangeHelps(PodOf("pod", {"own"}), PodOf("pod", {"missing"}), cache_));
  EXPECT_FALSE(PodChangeHelps(PodOf("pod", {"own"}), PodOf("rival", {"own"}), cache_));
}

}  // namespace
}  // namespace drasim
