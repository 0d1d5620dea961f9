#include "sim/record/live_claims.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "model/claim_change.h"
#include "model/ids.h"
#include "model/time.h"

namespace drasim {
namespace live_claims_test {

constexpr uint64_t kClaim = 7;

class LiveClaimsTest : public testing::Test {
 protected:
  ClaimChange Change(int64_t seconds, ClaimChangeKind kind, uint64_t claim = kClaim) {
    ClaimChange change;
    change.time = SimTime() + SimDuration::Seconds(seconds);
    change.kind = kind;
    change.claim = claim;
    return change;
  }
  void Apply(const ClaimChange& change) { claims_.Apply(change); }
  void Apply(int64_t seconds, ClaimChangeKind kind) { Apply(Change(seconds, kind)); }
  const LiveClaim& claim() const { return *claims_.Find(kClaim); }
  // The state, and the second in which it began.
  std::pair<ClaimState, int64_t> State() const {
    return {claim().state, claim().since.ns() / 1'000'000'000};
  }
  void Create(int64_t seconds) {
    ClaimChange created = Change(seconds, ClaimChangeKind::kCreated);
    created.identity = {"default/a", "pod", "gpu", ClaimMode::kWaitForFirstConsumer};
    Apply(created);
  }
  void Ask(int64_t seconds, uint32_t nodes) {
    ClaimChange change = Change(seconds, ClaimChangeKind::kDriverAsked);
    change.asked = nodes;
    Apply(change);
  }
  void Select(int64_t seconds, NodeId node) {
    ClaimChange change = Change(seconds, ClaimChangeKind::kNodeSelected);
    change.node = node;
    Apply(change);
  }
  void Allocate(int64_t seconds) {
    ClaimChange change = Change(seconds, ClaimChangeKind::kAllocated);
    change.node = NodeId(size_t{1});
    change.grants.push_back({2, 5, 250});
    Apply(change);
  }

  LiveClaims claims_;
};

TEST_F(LiveClaimsTest, AWholeLife) {
  using S = ClaimState;
  Create(1);
  EXPECT_EQ(State(), std::make_pair(S::kCreated, int64_t{1}));
  EXPECT_EQ(claim().identity.name, "default/a");
  Ask(2, 4);
  EXPECT_EQ(State(), std::make_pair(S::kDriverAsked, int64_t{2}));
  ClaimChange answer = Change(3, ClaimChangeKind::kDriverAnswered);
  answer.asked = 4;
  answer.refused = 3;
  answer.text = "full";
  Apply(answer);
  EXPECT_EQ(State(), std::make_pair(S::kDriverAsked, int64_t{2}));
  EXPECT_EQ(claim().refused, 3u);
  EXPECT_EQ(claim().message, "full");
  Select(4, NodeId(size_t{1}));
  EXPECT_EQ(State(), std::make_pair(S::kNodeSelected, int64_t{4}));
  EXPECT_EQ(claim().selected, NodeId(size_t{1}));
  Allocate(5);
  EXPECT_EQ(State(), std::make_pair(S::kAllocated, int64_t{5}));
  EXPECT_EQ(claim().node, NodeId(size_t{1}));
  EXPECT_EQ(claim().grants.size(), 1u);
  ClaimChange reserved = Change(6, ClaimChangeKind::kReserved);
  reserved.text = "pod";
  Apply(reserved);
  EXPECT_EQ(State(), std::make_pair(S::kReserved, int64_t{6}));
  EXPECT_EQ(claim().message, "full");  // a pod's name is no message
  Apply(7, ClaimChangeKind::kPrepared);
  EXPECT_EQ(State(), std::make_pair(S::kPrepared, int64_t{7}));
  Apply(8, ClaimChangeKind::kUnprepared);
  EXPECT_EQ(State(), std::make_pair(S::kReserved, int64_t{8}));
  Apply(9, ClaimChangeKind::kUnreserved);
  EXPECT_EQ(State(), std::make_pair(S::kAllocated, int64_t{9}));
  Apply(10, ClaimChangeKind::kDeleting);
  EXPECT_EQ(State(), std::make_pair(S::kDeleting, int64_t{10}));
  Apply(11, ClaimChangeKind::kDeleted);
  EXPECT_EQ(claims_.Find(kClaim), nullptr);
  EXPECT_TRUE(claims_.claims().empty());
}

TEST_F(LiveClaimsTest, DeallocationStartsOver) {
  Create(0);
  Ask(1, 2);
  Select(1, NodeId(size_t{0}));
  Allocate(2);
  Apply(3, ClaimChangeKind::kReleaseAsked);
  EXPECT_EQ(State(), std::make_pair(ClaimState::kReleasing, int64_t{3}));
  Apply(4, ClaimChangeKind::kDeallocated);
  EXPECT_EQ(State(), std::make_pair(ClaimState::kCreated, int64_t{4}));
  EXPECT_FALSE(claim().selected.valid());
  EXPECT_FALSE(claim().node.valid());
  EXPECT_TRUE(claim().grants.empty());
  EXPECT_EQ(claim().asked, 0u);
}

TEST_F(LiveClaimsTest, WithdrawalsLeadBackAndAreNotCounted) {
  Create(0);
  Ask(1, 2);
  Select(2, NodeId(size_t{0}));
  Select(3, NodeId());
  EXPECT_EQ(State(), std::make_pair(ClaimState::kDriverAsked, int64_t{3}));
  Ask(4, 0);
  EXPECT_EQ(State(), std::make_pair(ClaimState::kCreated, int64_t{4}));
  Ask(5, 3);
  const ClaimTally& asked = claim().tally(ClaimChangeKind::kDriverAsked);
  EXPECT_EQ(asked.times, 2u);
  EXPECT_EQ(asked.first.ns(), 1'000'000'000);
  EXPECT_EQ(asked.last.ns(), 5'000'000'000);
  EXPECT_EQ(claim().tally(ClaimChangeKind::kNodeSelected).times, 1u);
  EXPECT_EQ(claim().tally(ClaimChangeKind::kPrepared).times, 0u);
}

TEST_F(LiveClaimsTest, PreparedOnTwoNodesUntilBothAreDone) {
  Create(0);
  Allocate(1);
  Apply(2, ClaimChangeKind::kPrepared);
  Apply(3, ClaimChangeKind::kPrepared);
  Apply(4, ClaimChangeKind::kUnprepared);
  EXPECT_EQ(State(), std::make_pair(ClaimState::kPrepared, int64_t{2}));
  Apply(5, ClaimChangeKind::kUnprepared);
  EXPECT_EQ(claim().state, ClaimState::kAllocated);
  Apply(6, ClaimChangeKind::kUnprepared);
  EXPECT_EQ(claim().prepared, 0u);
}

TEST_F(LiveClaimsTest, UnknownClaimsAreIgnoredAndIdsStartAfresh) {
  Apply(1, ClaimChangeKind::kPrepared);
  Apply(1, ClaimChangeKind::kDeleted);
  EXPECT_TRUE(claims_.claims().empty());
  Create(2);
  Allocate(3);
  Create(4);
  EXPECT_EQ(State(), std::make_pair(ClaimState::kCreated, int64_t{4}));
  EXPECT_EQ(claim().tally(ClaimChangeKind::kAllocated).times, 0u);
}

TEST_F(LiveClaimsTest, NamesDiffer) {
  std::set<std::string> names;
  for (size_t i = 0; i < kClaimStates; ++i) {
    names.insert(std::string(ClaimStateName(static_cast<ClaimState>(i))));
  }
  EXPECT_EQ(names.size(), kClaimStates);
}

}  // namespace live_claims_test
}  // namespace drasim
