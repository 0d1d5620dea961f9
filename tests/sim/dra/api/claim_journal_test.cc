// The changes of claims that whole runs report, line by line and against the server's objects.
#include "sim/dra/api/claim_journal.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/check.h"
#include "model/claim_change.h"
#include "model/distributions.h"
#include "model/ids.h"
#include "model/kube/name.h"
#include "model/kube/objects.h"
#include "model/record.h"
#include "model/time.h"
#include "sim/core/engine_parts.h"
#include "sim/dra/api/api_types.h"
#include "sim/dra/classic/control_plane.h"
#include "sim/record/live_claims.h"
#include "tests/sim/core/engine_rig.h"
#include "tests/sim/dra/classic/dra_rig.h"

namespace drasim {
namespace claim_journal_test {

// Keeps the changes, as lines and folded.
class ClaimLines : public RecordSink {
 public:
  explicit ClaimLines(bool wants = true) : wants_(wants) {}
  void OnRecord(const Record&, const ClusterState&) override {}
  bool wants_claim_changes() const override { return wants_; }
  void OnClaimChange(const ClaimChange& change) override {
    EXPECT_GE(change.time, time_);
    time_ = change.time;
    ++changes_;
    if (change.kind == ClaimChangeKind::kCreated) created_.push_back(change);
    // Nothing happens to a claim that does not exist.
    EXPECT_TRUE(change.kind == ClaimChangeKind::kCreated || claims_.Find(change.claim) != nullptr);
    claims_.Apply(change);
    std::string line = absl::StrCat(change.time.ns() / 1'000'000'000, " ", change.claim, " ",
                                    ClaimChangeName(change.kind));
    if (change.node.valid()) absl::StrAppend(&line, " node-", change.node.value());
    if (change.asked > 0) absl::StrAppend(&line, " ", change.refused, "/", change.asked);
    if (!change.text.empty()) absl::StrAppend(&line, " '", change.text, "'");
    lines_.push_back(std::move(line));
  }

  size_t changes() const { return changes_; }
  const std::vector<ClaimChange>& created() const { return created_; }
  const LiveClaims& claims() const { return claims_; }
  // The lines of one claim, without its uid.
  Lines Of(const ClaimChange& created) const {
    const std::string uid = absl::StrCat(" ", created.claim, " ");
    Lines own;
    for (const std::string& line : lines_) {
      const size_t at = line.find(uid);
      if (at != line.find(' ')) continue;
      own.push_back(absl::StrCat(line.substr(0, at), line.substr(at + uid.size() - 1)));
    }
    return own;
  }
  const Lines& lines() const { return lines_; }

 private:
  bool wants_;
  size_t changes_ = 0;
  SimTime time_;
  std::vector<ClaimChange> created_;
  LiveClaims claims_;
  Lines lines_;
};

NodeTransition FailAt(double seconds, size_t node, NodeTransition::Action action) {
  NodeTransition change;
  change.at = SimTime(static_cast<int64_t>(seconds * 1e9));
  change.node = NodeId(node);
  change.action = action;
  return change;
}

TEST(ClaimJournalTest, ALifeFromCreationToDeletion) {
  ClaimLines journal;
  DraScenario s = StoryScenario({1, 1});
  s.sinks = {&journal};
  s.engine.pods = {{"pod", 0, 1 * kStorySecond, 10 * kStorySecond, 0}};
  DraRig rig(std::move(s));
  ASSERT_EQ(rig.Run(), absl::OkStatus());
  ASSERT_EQ(journal.created().size(), 1u);
  const ClaimIdentity& identity = journal.created()[0].identity;
  EXPECT_EQ(identity.pod, "pod");
  EXPECT_EQ(identity.class_name, "class");
  EXPECT_EQ(identity.mode, ClaimMode::kWaitForFirstConsumer);
  EXPECT_EQ(identity.name.substr(0, 16), "default/pod-gpu-");
  EXPECT_EQ(
      journal.Of(journal.created()[0]),
      (Lines{"1 created", "1 driver asked 0/2", "1 node selected node-0 0/2", "1 allocated node-0",
             "1 reserved 'pod'", "1 prepared node-0", "11 unprepared node-0",
             "11 reservation removed 'pod'", "11 deallocation requested", "11 deletion begun",
             "11 deallocated", "11 deleted"}));
}

TEST(ClaimJournalTest, ImmediateClaimsNeedNoNode) {
  ClaimLines journal;
  DraScenario s = StoryScenario({1, 1});
  s.sinks = {&journal};
  s.objects = [](ControlPlane& plane) {
    DRASIM_CHECK(plane.Create(TestClass(plane.names(), "class", kStoryDriver)).ok());
    DRASIM_CHECK(
        plane.Create(TestClaim(plane.names(), "shared", "class", AllocationMode::kImmediate)).ok());
  };
  s.claims = [](NamePool& names, const std::string&) {
    return std::vector<PodClaim>{FromClaim(names, "gpu", "shared")};
  };
  s.engine.pods = {{"pod", 0, 1 * kStorySecond, 10 * kStorySecond, 0}};
  DraRig rig(std::move(s));
  ASSERT_EQ(rig.Run(), absl::OkStatus());
  ASSERT_EQ(journal.created().size(), 1u);
  const ClaimIdentity& identity = journal.created()[0].identity;
  EXPECT_EQ(identity.name, "default/shared");
  EXPECT_EQ(identity.pod, "");
  EXPECT_EQ(identity.mode, ClaimMode::kImmediate);
  EXPECT_EQ(journal.Of(journal.created()[0]),
            (Lines{"0 created", "0 allocated node-0", "1 reserved 'pod'", "1 prepared node-0",
                   "11 unprepared node-0", "11 reservation removed 'pod'"}));
}

TEST(ClaimJournalTest, ADriverThatRefusesEveryNode) {
  ClaimLines journal;
  DraScenario s = StoryScenario({1, 1});
  s.sinks = {&journal};
  s.engine.pods = {{"first", 0, 0, 100 * kStorySecond, 0},
                   {"second", 0, 0, 100 * kStorySecond, 0},
                   {"third", 0, 5 * kStorySecond, 10 * kStorySecond, 0}};
  DraRig rig(std::move(s));
  ASSERT_EQ(rig.Run(), absl::OkStatus());
  ASSERT_EQ(journal.created().size(), 3u);
  EXPECT_EQ(journal.Of(journal.created()[2]),
            (Lines{"5 created", "5 driver asked 0/2", "5 node selected node-0 0/2",
                   "5 driver answered 2/2", "125 allocated node-0", "125 reserved 'third'",
                   "125 prepared node-0", "135 unprepared node-0",
                   "135 reservation removed 'third'", "135 deallocation requested",
                   "135 deletion begun", "135 deallocated", "135 deleted"}));
}

TEST(ClaimJournalTest, ANodeThatFailsUnpreparesItsClaims) {
  ClaimLines journal;
  DraScenario s = StoryScenario({1, 1});
  s.sinks = {&journal};
  s.engine.pods = {{"pod", 0, 0, 100 * kStorySecond, 0}};
  s.engine.node_changes = {FailAt(50, 0, NodeTransition::Action::kFail)};
  DraRig rig(std::move(s));
  ASSERT_EQ(rig.Run(), absl::OkStatus());
  ASSERT_EQ(journal.created().size(), 2u);
  EXPECT_EQ(
      journal.Of(journal.created()[0]),
      (Lines{"0 created", "0 driver asked 0/2", "0 node selected node-0 0/2", "0 allocated node-0",
             "0 reserved 'pod'", "0 prepared node-0", "50 unprepared node-0",
             "50 reservation removed 'pod'", "50 deallocation requested", "50 deletion begun",
             "50 deallocated", "50 deleted"}));
}

TEST(ClaimJournalTest, APluginThatFailsAndTriesAgain) {
  ClaimLines journal;
  DraScenario s = StoryScenario({1});
  s.sinks = {&journal};
  s.engine.pods = {{"pod", 0, 0, 10 * kStorySecond, 0}};
  s.plane.kubelet.failures_per_mille = 500;
  s.plane.seed = 3;
  DraRig rig(std::move(s));
  ASSERT_EQ(rig.Run(), absl::OkStatus());
  ASSERT_EQ(journal.created().size(), 1u);
  const Lines lines = journal.Of(journal.created()[0]);
  ASSERT_EQ(lines.size(), 14u);
  const std::string failed =
      " preparing failed node-0 'driver gpu.example.com failed to prepare it'";
  EXPECT_EQ(lines[5], absl::StrCat("0", failed));
  EXPECT_EQ(lines[6], absl::StrCat("89", failed));
  EXPECT_EQ(lines[7], "172 prepared node-0");
  EXPECT_EQ(rig.plane().dra_manager().failed_prepares(), 2u);
}

TEST(ClaimJournalTest, ADriverThatFails) {
  ClaimLines journal;
  DraScenario s = StoryScenario({1});
  s.sinks = {&journal};
  s.objects = [](ControlPlane& plane) {
    DRASIM_CHECK(plane.Create(TestClass(plane.names(), "class", kStoryDriver)).ok());
    auto claim = std::make_shared<ResourceClaim>();
    claim->meta.ns = plane.names().Intern("default");
    claim->meta.name = plane.names().Intern("shared");
    claim->spec.class_name = plane.names().Intern("class");
    claim->spec.mode = AllocationMode::kImmediate;
    claim->spec.parameters.kind = plane.names().Intern("ConfigMap");
    claim->spec.parameters.name = plane.names().Intern("missing");
    DRASIM_CHECK(plane.Create(Ref<ResourceClaim>(std::move(claim))).ok());
  };
  s.claims = [](NamePool&, const std::string&) { return std::vector<PodClaim>(); };
  s.engine.pods = {{"pod", 0, 1 * kStorySecond, 1 * kStorySecond, 0}};
  DraRig rig(std::move(s));
  ASSERT_EQ(rig.rig().engine().Run(), absl::OkStatus());
  ASSERT_EQ(journal.created().size(), 1u);
  const Lines lines = journal.Of(journal.created()[0]);
  ASSERT_GT(lines.size(), 2u);
  EXPECT_EQ(lines[0], "0 created");
  EXPECT_EQ(lines[1],
            "0 allocation failed 'claim parameters ConfigMap \"missing\": parameters "
            "\"default/missing\": not found'");
}

// Pods that compete for too few devices, nodes that fail, and slow drivers.
DraScenario BusyScenario(uint64_t seed) {
  DraScenario s = StoryScenario({2, 1, 1});
  for (int i = 0; i < 12; ++i) {
    s.engine.pods.push_back({absl::StrCat(i % 4 == 3 ? "plain-" : "pod-", i), 0,
                             i * (3 + static_cast<int64_t>(seed)) * kStorySecond, 40 * kStorySecond,
                             0});
  }
  s.engine.node_changes = {FailAt(60, 1, NodeTransition::Action::kFail),
                           FailAt(90, 1, NodeTransition::Action::kRecover)};
  s.plane.driver_controller.decision_latency = *Distribution::Parse("uniform(low=0.1,high=3)");
  s.plane.kubelet.failures_per_mille = 100;
  s.plane.seed = seed;
  return s;
}

TEST(ClaimJournalTest, TheFoldIsTheServersState) {
  size_t live = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    ClaimLines journal;
    DraScenario s = BusyScenario(seed);
    s.sinks = {&journal};
    s.engine.options.stop_after_events = 60 + 20 * seed;
    DraRig rig(std::move(s));
    ASSERT_EQ(rig.rig().engine().Run(), absl::OkStatus());
    const auto claims = rig.plane().network().server().objects().of<ResourceClaim>().Sorted();
    ASSERT_EQ(journal.claims().claims().size(), claims.size());
    std::vector<size_t> prepared(3);
    for (const Ref<ResourceClaim>& object : claims) {
      ++live;
      const LiveClaim* const claim = journal.claims().Find(object->meta.uid);
      ASSERT_NE(claim, nullptr);
      const Ref<Allocation>& allocation = object->status.allocation;
      EXPECT_EQ(claim->identity.name,
                absl::StrCat(object->meta.ns.text(), "/", object->meta.name.text()));
      EXPECT_EQ(claim->allocated, allocation != nullptr);
      EXPECT_EQ(claim->node, allocation == nullptr ? NodeId() : allocation->node);
      EXPECT_EQ(claim->reserved, object->status.reserved_for.size());
      EXPECT_EQ(claim->releasing, object->status.deallocation_requested);
      EXPECT_EQ(claim->deleting, object->meta.deleting);
      if (claim->prepared > 0) prepared[claim->node.value()] += claim->prepared;
    }
    for (size_t n = 0; n < prepared.size(); ++n) {
      EXPECT_EQ(prepared[n], rig.plane().dra_manager().prepared_claims(NodeId(n))) << seed;
    }
  }
  EXPECT_GT(live, 40u);
}

// Whether anybody listens changes nothing.
TEST(ClaimJournalTest, ListenersDoNotDisturb) {
  ClaimLines listener;
  ClaimLines deaf(/*wants=*/false);
  DraScenario with = BusyScenario(1);
  with.sinks = {&listener, &deaf};
  DraScenario without = BusyScenario(1);
  without.sinks = {&deaf};
  DraRig a(std::move(with));
  DraRig b(std::move(without));
  ASSERT_EQ(a.Run(), absl::OkStatus());
  ASSERT_EQ(b.Run(), absl::OkStatus());
  EXPECT_GT(listener.changes(), 100u);
  EXPECT_EQ(deaf.changes(), 0u);
  EXPECT_EQ(a.rig().RecordLines(), b.rig().RecordLines());
  EXPECT_EQ(a.Calls(/*with_all=*/true), b.Calls(/*with_all=*/true));
}

}  // namespace claim_journal_test
}  // namespace drasim
