#include "policies/dra/structured_writes.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/time.h"
#include "policies/dra/claim_rules.h"
#include "tests/policies/dra/dra_rig.h"

namespace drasim {
namespace {

using dra_rig::ClaimOf;
using dra_rig::FromText;
using dra_rig::PodOf;
using dra_rig::TestCache;

constexpr char kWiredAllocation[] = R"(allocation { devices { results {
    driver: "d" pool: "p" device: "x" binding_conditions: "attached"
    binding_failure_conditions: "failed" } } allocation_timestamp: "1970-01-01T00:00:00Z" })";

std::string WiredStatus(const std::string& more) {
  return absl::StrCat("status { ", kWiredAllocation, " ", more, " }");
}

class StructuredWritesTest : public testing::Test {
 protected:
  StructuredWritesTest() {
    options_.binding_timeout_ns = 12 * kSecondNs;
    cycle_.pod = PodOf("pod", {"c"});
  }
  void AddClaim(const ClaimRef& claim) {
    cache_.Add(claim);
    cycle_.claims.push_back({claim, nullptr, /*is_shared=*/false});
  }
  StructuredWrites Writes() { return StructuredWrites(&cache_, &in_flight_, options_); }
  // Answers every call with success.
  ClaimProgress CarryOut(ClaimProgress progress, int64_t now_ns = 0) {
    while (progress.call.has_value()) {
      calls_.push_back(*progress.call);
      const ClaimReply reply = {absl::OkStatus(), progress.call->claim};
      if (progress.call->verb == ClaimVerb::kUpdateStatus) cache_.Add(progress.call->claim);
      progress = Writes().Resume(&cycle_, &reply, now_ns);
    }
    return progress;
  }

  StructuredOptions options_;
  TestCache cache_;
  InFlightClaims in_flight_{&cache_.cluster()};
  StructuredCycle cycle_;
  std::vector<ClaimCall> calls_;
};

TEST_F(StructuredWritesTest, PostFilterFreesTheFirstUnavailableClaimOfThePod) {
  AddClaim(ClaimOf("busy", "status { allocation { } reserved_for { uid: \"uid-other\" } }"));
  AddClaim(ClaimOf("own",
                   "status { allocation { } reserved_for { uid: \"uid-pod\" } "
                   "devices { device: \"x\" } }"));
  AddClaim(ClaimOf("free", "status { allocation { } }"));
  cycle_.unavailable = {0, 1, 2};
  const ClaimProgress progress = CarryOut(Writes().PostFilter(&cycle_));
  EXPECT_EQ(progress.status,
            (ClaimStatus{StepCode::kReject, "deallocation of ResourceClaim completed"}));
  ASSERT_EQ(calls_.size(), 1U);
  EXPECT_EQ(calls_[0].verb, ClaimVerb::kUpdateStatus);
  EXPECT_EQ(calls_[0].claim->metadata().name(), "own");
  EXPECT_FALSE(IsAllocatedClaim(*calls_[0].claim));
  EXPECT_EQ(calls_[0].claim->status().reserved_for_size(), 0);
  EXPECT_EQ(calls_[0].claim->status().devices_size(), 0);
}

TEST_F(StructuredWritesTest, PostFilterDrawsOneOfTheClaimsThatCanBeFreed) {
  for (const char* name : {"a", "b", "c"}) AddClaim(ClaimOf(name, "status { allocation { } }"));
  AddClaim(ClaimOf("busy", "status { allocation { } reserved_for { uid: \"uid-other\" } }"));
  cycle_.unavailable = {0, 1, 2, 3};
  std::map<std::string, int> freed;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    options_.seed = seed;
    const ClaimProgress progress = Writes().PostFilter(&cycle_);
    ASSERT_TRUE(progress.call.has_value());
    const std::string& name = progress.call->claim->metadata().name();
    ++freed[name];
    EXPECT_EQ(Writes().PostFilter(&cycle_).call->claim->metadata().name(), name);
    cycle_.tasks.clear();
  }
  EXPECT_EQ(freed.size(), 3U);
  for (const auto& [name, times] : freed) EXPECT_GT(times, 60) << name;
  // Another attempt of the same pod draws anew.
  std::set<std::string> over_time;
  for (int64_t second = 0; second < 20; ++second) {
    cycle_.started_ns = second * kSecondNs;
    over_time.insert(Writes().PostFilter(&cycle_).call->claim->metadata().name());
    cycle_.tasks.clear();
  }
  EXPECT_EQ(over_time.size(), 3U);
}

TEST_F(StructuredWritesTest, PostFilterWithoutHelpHasNoReason) {
  AddClaim(ClaimOf("busy", "status { allocation { } reserved_for { uid: \"uid-other\" } }"));
  cycle_.unavailable = {0};
  EXPECT_EQ(CarryOut(Writes().PostFilter(&cycle_)).status, (ClaimStatus{StepCode::kReject, ""}));
  EXPECT_TRUE(calls_.empty());
}

TEST_F(StructuredWritesTest, PostFilterDeletesASyntheticClaimLeftBehind) {
  AddClaim(ClaimOf("left"));
  cycle_.has_synthetic = true;
  EXPECT_EQ(CarryOut(Writes().PostFilter(&cycle_)).status.reason,
            "deletion of ResourceClaim completed");
  ASSERT_EQ(calls_.size(), 2U);
  EXPECT_EQ(calls_[1].verb, ClaimVerb::kDelete);
}

TEST_F(StructuredWritesTest, PreBindWritesEveryClaimThatIsNotReserved) {
  AddClaim(ClaimOf("reserved", "status { allocation { } reserved_for { uid: \"uid-pod\" } }"));
  AddClaim(ClaimOf("shared", "status { allocation { } reserved_for { uid: \"uid-other\" } }"));
  AddClaim(ClaimOf("new"));
  cycle_.claims[2].allocation = std::make_shared<proto::kube::AllocationResultV1>();
  in_flight_.Add(ClaimOf("new", "status { allocation { } }"), "uid-pod", "");
  EXPECT_TRUE(CarryOut(Writes().PreBind(&cycle_, "n", kSecondNs), kSecondNs).status.ok());
  ASSERT_EQ(calls_.size(), 3U);
  EXPECT_EQ(calls_[0].claim->metadata().name(), "shared");
  EXPECT_EQ(calls_[0].claim->status().reserved_for_size(), 2);
  EXPECT_EQ(calls_[1].verb, ClaimVerb::kUpdate);
  EXPECT_EQ(calls_[2].claim->metadata().name(), "new");
  EXPECT_EQ(calls_[2].claim->status().allocation().allocation_timestamp(), "1970-01-01T00:00:01Z");
  EXPECT_FALSE(in_flight_.Has("uid-new"));
}

// One object writes for many pods, at different times.
TEST_F(StructuredWritesTest, AllocationsBearTheTimeOfTheirWrite) {
  StructuredWrites writes = Writes();
  const std::vector<std::pair<int64_t, std::string>> times = {
      {kSecondNs, "1970-01-01T00:00:01Z"},
      {kSecondNs + 1, "1970-01-01T00:00:01Z"},
      {3661 * kSecondNs, "1970-01-01T01:01:01Z"},
      {kSecondNs, "1970-01-01T00:00:01Z"}};
  for (const auto& [now_ns, text] : times) {
    cycle_ = StructuredCycle();
    cycle_.pod = PodOf("pod", {"c"});
    AddClaim(ClaimOf("c"));
    cycle_.claims[0].allocation = std::make_shared<proto::kube::AllocationResultV1>();
    ClaimProgress progress = writes.PreBind(&cycle_, "n", now_ns);
    ASSERT_TRUE(progress.call.has_value());
    const ClaimReply reply = {absl::OkStatus(), progress.call->claim};
    progress = writes.Resume(&cycle_, &reply, now_ns);
    ASSERT_TRUE(progress.call.has_value());
    EXPECT_EQ(progress.call->claim->status().allocation().allocation_timestamp(), text);
  }
}

// A claim for extended resources whose creation the informers deliver late: its devices stay in
// flight until the cache has it, at most for two minutes.
TEST_F(StructuredWritesTest, ASyntheticClaimIsAwaitedInTheCache) {
  for (const bool appears : {true, false}) {
    cycle_ = StructuredCycle();
    cycle_.pod = PodOf("pod", {});
    cycle_.has_synthetic = true;
    cycle_.synthetic_uid = "uid-unmade";
    auto unmade = std::make_shared<proto::kube::ResourceClaimV1>(*ClaimOf("unmade"));
    unmade->mutable_metadata()->set_name(kUnmadeClaimName);
    cycle_.claims.push_back(
        {unmade, std::make_shared<proto::kube::AllocationResultV1>(), /*is_shared=*/false});
    StructuredCycle::NodeFind& find = cycle_.finds["n"];
    find.synthetic = unmade;
    find.mappings.push_back(
        FromText<proto::kube::ContainerExtendedResourceRequest>("container_name: \"main\""));
    in_flight_.Add(ClaimOf("unmade", "status { allocation { } }"), "uid-pod", "");

    ClaimProgress progress = Writes().PreBind(&cycle_, "n", 0);
    ClaimRef made;
    std::vector<ClaimVerb> verbs;
    while (progress.call.has_value()) {
      verbs.push_back(progress.call->verb);
      auto stored = std::make_shared<proto::kube::ResourceClaimV1>(*progress.call->claim);
      stored->mutable_metadata()->set_name("made");
      stored->mutable_metadata()->set_uid("uid-made");
      made = stored;
      const ClaimReply reply = {absl::OkStatus(), made};
      progress = Writes().Resume(&cycle_, &reply, 0);
    }
    EXPECT_EQ(verbs,
              (std::vector<ClaimVerb>{ClaimVerb::kCreate, ClaimVerb::kUpdate,
                                      ClaimVerb::kUpdateStatus, ClaimVerb::kPatchPodStatus}));
    EXPECT_EQ(progress.wake_ns, 0);
    progress = Writes().Resume(&cycle_, nullptr, 0);
    EXPECT_EQ(progress.wake_ns, kSecondNs);
    progress = Writes().Resume(&cycle_, nullptr, kSecondNs);
    EXPECT_EQ(progress.wake_ns, 2 * kSecondNs);
    EXPECT_TRUE(in_flight_.Has("uid-unmade"));
    if (appears) cache_.Add(made);
    progress = Writes().Resume(&cycle_, nullptr, (appears ? 2 : 120) * kSecondNs);
    EXPECT_TRUE(progress.done());
    EXPECT_TRUE(progress.status.ok());
    EXPECT_FALSE(in_flight_.Has("uid-unmade"));
    EXPECT_EQ(cycle_.claims[0].claim->metadata().uid(), "uid-made");
    cache_.Remove("made");
  }
}

TEST_F(StructuredWritesTest, AConflictIsTriedAgainAfterAPause) {
  AddClaim(ClaimOf("c", "status { allocation { } }"));
  for (const bool drawn : {false, true}) {
    if (drawn) options_.seed = 7;
    ClaimProgress progress = Writes().PreBind(&cycle_, "n", 0);
    int64_t now_ns = 0;
    const ClaimReply conflict = {absl::AbortedError("changed"), nullptr};
    int pauses = 0;
    while (!progress.done()) {
      if (progress.wake_ns.has_value()) {
        const int64_t pause_ns = *progress.wake_ns - now_ns;
        EXPECT_GE(pause_ns, 10'000'000);
        EXPECT_LT(pause_ns, drawn ? 11'000'000 : 10'000'001);
        now_ns = *progress.wake_ns;
        ++pauses;
        progress = Writes().Resume(&cycle_, nullptr, now_ns);
        ASSERT_TRUE(progress.call.has_value());
        EXPECT_EQ(progress.call->verb, ClaimVerb::kGet);
        const ClaimReply latest = {absl::OkStatus(), cycle_.claims[0].claim};
        progress = Writes().Resume(&cycle_, &latest, now_ns);
        continue;
      }
      EXPECT_EQ(progress.call->verb, ClaimVerb::kUpdateStatus);
      progress = Writes().Resume(&cycle_, &conflict, now_ns);
    }
    // Five attempts, with four pauses.
    EXPECT_EQ(pauses, 4);
    EXPECT_EQ(progress.status.code, StepCode::kError);
    cycle_.tasks.clear();
  }
}

TEST_F(StructuredWritesTest, UnreserveForgetsACallThatWaits) {
  AddClaim(ClaimOf("c", "status { allocation { } }"));
  Writes().PreBind(&cycle_, "n", 0);
  const ClaimReply conflict = {absl::AbortedError("changed"), nullptr};
  ASSERT_TRUE(Writes().Resume(&cycle_, &conflict, 0).wake_ns.has_value());
  EXPECT_TRUE(Writes().Unreserve(&cycle_).done());
  EXPECT_FALSE(cycle_.paused_call.has_value());
}

TEST_F(StructuredWritesTest, PreBindWaitsForConditionsInStepsOfFiveSeconds) {
  const std::string reserved = "reserved_for { uid: \"uid-pod\" } ";
  AddClaim(ClaimOf("c", WiredStatus(reserved)));
  ClaimProgress progress = Writes().PreBind(&cycle_, "n", 0);
  EXPECT_EQ(progress.wake_ns, 5 * kSecondNs);
  progress = Writes().Resume(&cycle_, nullptr, 5 * kSecondNs);
  EXPECT_EQ(progress.wake_ns, 10 * kSecondNs);
  cache_.Add(ClaimOf("c", WiredStatus(reserved + R"(devices { driver: "d" pool: "p" device: "x"
      conditions { type: "attached" status: "True" } })")));
  progress = Writes().Resume(&cycle_, nullptr, 10 * kSecondNs);
  EXPECT_TRUE(progress.done());
  EXPECT_TRUE(progress.status.ok());
}

TEST_F(StructuredWritesTest, PreBindEndsWithItsOwnTimeout) {
  AddClaim(ClaimOf("c", WiredStatus("reserved_for { uid: \"uid-pod\" }")));
  Writes().PreBind(&cycle_, "n", 0);
  Writes().Resume(&cycle_, nullptr, 5 * kSecondNs);
  ClaimProgress progress = Writes().Resume(&cycle_, nullptr, 10 * kSecondNs);
  EXPECT_EQ(progress.wake_ns, 12 * kSecondNs);
  progress = Writes().Resume(&cycle_, nullptr, 12 * kSecondNs);
  EXPECT_EQ(progress.status,
            (ClaimStatus{StepCode::kError, "device binding timeout: context deadline exceeded"}));
}

TEST_F(StructuredWritesTest, PreBindEndsWithAClaimThatWaitedBefore) {
  AddClaim(ClaimOf("c", WiredStatus("reserved_for { uid: \"uid-pod\" }")));
  const ClaimProgress progress = Writes().PreBind(&cycle_, "n", 10 * kSecondNs);
  EXPECT_EQ(progress.wake_ns, 15 * kSecondNs);
  EXPECT_EQ(Writes().Resume(&cycle_, nullptr, 15 * kSecondNs).status,
            (ClaimStatus{StepCode::kError, "device binding timeout: claim=c"}));
}

TEST_F(StructuredWritesTest, PreBindEndsWithAFailure) {
  AddClaim(ClaimOf("c", WiredStatus(R"(reserved_for { uid: "uid-pod" }
      devices { driver: "d" pool: "p" device: "x"
                conditions { type: "failed" status: "True" reason: "R" message: "m" } })")));
  EXPECT_EQ(
      Writes().PreBind(&cycle_, "n", 0).status,
      (ClaimStatus{StepCode::kError, "device binding failed: claim=c, reason=R, message=\"m\""}));
}

TEST_F(StructuredWritesTest, UnreserveGivesBackWhatTheAttemptTook) {
  AddClaim(ClaimOf("reserved", "status { allocation { } reserved_for { uid: \"uid-pod\" } }"));
  AddClaim(ClaimOf("flying"));
  cycle_.claims[1].allocation = std::make_shared<proto::kube::AllocationResultV1>();
  in_flight_.Add(ClaimOf("flying", "status { allocation { } }"), "uid-pod", "");
  AddClaim(ClaimOf("made"));
  cycle_.has_synthetic = true;
  EXPECT_TRUE(CarryOut(Writes().Unreserve(&cycle_)).status.ok());
  EXPECT_FALSE(in_flight_.Has("uid-flying"));
  ASSERT_EQ(calls_.size(), 3U);
  EXPECT_EQ(calls_[0].verb, ClaimVerb::kRemoveReservation);
  EXPECT_EQ(calls_[0].consumer_uid, "uid-pod");
  EXPECT_EQ(calls_[1].verb, ClaimVerb::kUpdate);
  EXPECT_EQ(calls_[2].verb, ClaimVerb::kDelete);
}

TEST_F(StructuredWritesTest, PodOfAGroupJoinsAClaimThatAnotherHasWritten) {
  options_.pod_groups = true;
  cycle_.pod_group = "group";
  const ClaimRef flying = ClaimOf("c", "status { allocation { } }");
  in_flight_.Add(flying, "uid-first", "group");
  in_flight_.Join("uid-c", "uid-pod");
  cycle_.claims.push_back({flying, nullptr, /*is_shared=*/true});
  ClaimProgress progress = Writes().PreBind(&cycle_, "n", 0);
  ASSERT_TRUE(progress.call.has_value());
  EXPECT_EQ(progress.call->verb, ClaimVerb::kGet);
  const ClaimReply reply = {
      absl::OkStatus(),
      ClaimOf("c", "status { allocation { } reserved_for { uid: \"uid-first\" } }")};
  progress = Writes().Resume(&cycle_, &reply, 0);
  ASSERT_TRUE(progress.call.has_value());
  EXPECT_EQ(progress.call->verb, ClaimVerb::kUpdateStatus);
  EXPECT_EQ(progress.call->claim->status().reserved_for_size(), 2);
  EXPECT_TRUE(CarryOut(progress).status.ok());
  EXPECT_FALSE(in_flight_.Has("uid-c"));
}

TEST_F(StructuredWritesTest, PodOfAGroupWritesAClaimThatNobodyHasWritten) {
  options_.pod_groups = true;
  cycle_.pod_group = "group";
  const ClaimRef flying = ClaimOf("c", "status { allocation { } }");
  in_flight_.Add(flying, "uid-first", "group");
  cycle_.claims.push_back({flying, nullptr, /*is_shared=*/true});
  Writes().PreBind(&cycle_, "n", 0);
  const ClaimReply reply = {absl::OkStatus(), ClaimOf("c")};
  EXPECT_TRUE(CarryOut(Writes().Resume(&cycle_, &reply, 0)).status.ok());
  ASSERT_EQ(calls_.size(), 2U);
  EXPECT_TRUE(calls_[0].claim.guarded());
  EXPECT_TRUE(IsAllocatedClaim(*calls_[1].claim));
}

TEST_F(StructuredWritesTest, OlderReleasesHaveTheirOwnWords) {
  options_.release = StructuredRelease::k1_36;
  EXPECT_EQ(CarryOut(Writes().PostFilter(&cycle_)).status,
            (ClaimStatus{StepCode::kReject, "no new claims to deallocate"}));
  AddClaim(ClaimOf("c", WiredStatus("reserved_for { uid: \"uid-pod\" }")));
  EXPECT_EQ(CarryOut(Writes().PostFilter(&cycle_)).status,
            (ClaimStatus{StepCode::kReject, "still not schedulable"}));
  Writes().PreBind(&cycle_, "n", 0);
  EXPECT_EQ(Writes().Resume(&cycle_, nullptr, 12 * kSecondNs).status,
            (ClaimStatus{StepCode::kError, "device binding timeout"}));
  EXPECT_EQ(Writes().PreBind(&cycle_, "n", 13 * kSecondNs).status,
            (ClaimStatus{StepCode::kError, "claim c binding timeout"}));
  cache_.Add(ClaimOf("c", WiredStatus(R"(reserved_for { uid: "uid-pod" }
      devices { driver: "d" pool: "p" device: "x"
                conditions { type: "failed" status: "True" reason: "R" message: "m" } })")));
  EXPECT_EQ(Writes().PreBind(&cycle_, "n", 0).status,
            (ClaimStatus{StepCode::kError, "claim c binding failed: reason=R, message=\"m\""}));
}

}  // namespace
}  // namespace drasim
