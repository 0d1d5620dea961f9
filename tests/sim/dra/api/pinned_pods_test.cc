// Pods that their claims keep waiting, by hand. Against a count from scratch after every event of
// random runs: CheckControlPlane.
#include "sim/dra/api/pinned_pods.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "model/kube/name.h"
#include "model/kube/objects.h"
#include "model/time.h"
#include "sim/dra/api/api_types.h"

namespace drasim {
namespace pinned_pods_test {

class PinnedPodsTest : public testing::Test {
 protected:
  Name N(const std::string& text) { return names_.Intern(text); }
  // A pod that names these claims.
  Pod Waiting(Uid uid, const std::vector<std::string>& claims) {
    Pod pod;
    pod.meta.ns = N("default");
    pod.meta.uid = uid;
    for (const std::string& claim : claims) {
      PodClaim entry;
      entry.entry = N("entry");
      entry.claim = N(claim);
      pod.claims.push_back(entry);
    }
    return pod;
  }
  ResourceClaim Claim(const std::string& name, bool allocated) {
    ResourceClaim claim;
    claim.meta.ns = N("default");
    claim.meta.name = N(name);
    if (allocated) claim.status.allocation = std::make_shared<Allocation>();
    return claim;
  }
  template <typename T>
  void Commit(int64_t seconds, T object, WatchEvent::Type type = WatchEvent::Type::kModified) {
    WatchEvent event;
    event.type = type;
    event.object = Ref<T>(std::make_shared<const T>(std::move(object)));
    pods_.OnCommit(event, SimTime() + SimDuration::Seconds(seconds));
  }

  NamePool names_;
  PinnedPods pods_{[](const Pod&, const PodClaim& entry) { return entry.claim; }};
};

TEST_F(PinnedPodsTest, NobodyAtFirst) {
  EXPECT_EQ(pods_.count(), 0);
  EXPECT_EQ(pods_.most(), 0);
  EXPECT_EQ(pods_.Mean(SimTime()), 0);
  EXPECT_EQ(pods_.Mean(SimTime() + SimDuration::Seconds(1)), 0);
}

TEST_F(PinnedPodsTest, FromTheLastAllocationToTheBinding) {
  Commit(0, Waiting(1, {"a", "b"}));
  Commit(1, Claim("a", true));
  EXPECT_EQ(pods_.count(), 0);
  Commit(2, Claim("b", true));
  Commit(3, Claim("b", true));  // reserved, say
  EXPECT_EQ(pods_.count(), 1);
  Pod bound = Waiting(1, {"a", "b"});
  bound.node = NodeId(size_t{0});
  Commit(6, bound);
  Commit(7, Claim("b", false));
  EXPECT_EQ(pods_.count(), 0);
  EXPECT_EQ(pods_.most(), 1);
  EXPECT_EQ(pods_.Mean(SimTime() + SimDuration::Seconds(8)), 0.5);
}

TEST_F(PinnedPodsTest, ClaimThatIsShared) {
  Commit(0, Claim("a", true));
  Commit(0, Waiting(1, {"a"}));
  Commit(0, Waiting(2, {"a", "a"}));
  Commit(0, Waiting(3, {"a", "b"}));
  EXPECT_EQ(pods_.count(), 2);
  Commit(1, Claim("b", true));
  EXPECT_EQ(pods_.count(), 3);
  Commit(2, Claim("a", true), WatchEvent::Type::kDeleted);
  EXPECT_EQ(pods_.count(), 0);
  Commit(3, Claim("a", true));
  EXPECT_EQ(pods_.count(), 3);
  Commit(4, Waiting(2, {"a", "a"}), WatchEvent::Type::kDeleted);
  EXPECT_EQ(pods_.count(), 2);
  EXPECT_EQ(pods_.most(), 3);
  // 2 for a second, 3 for one, 0 for one, 3 for one, 2 for one.
  EXPECT_EQ(pods_.Mean(SimTime() + SimDuration::Seconds(5)), 2);
}

TEST_F(PinnedPodsTest, PodsWithoutClaimsOrNamesOrLives) {
  Commit(0, Claim("a", true));
  Commit(0, Waiting(1, {}));
  Commit(0, Waiting(2, {"a", ""}));  // one is still to be made
  Pod ended = Waiting(3, {"a"});
  ended.phase = KubePodPhase::kFailed;
  Commit(0, ended);
  EXPECT_EQ(pods_.count(), 0);
  Commit(1, Waiting(2, {"a", "a"}));
  EXPECT_EQ(pods_.count(), 1);
}

}  // namespace pinned_pods_test
}  // namespace drasim
