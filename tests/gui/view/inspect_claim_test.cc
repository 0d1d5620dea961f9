#include "gui/view/inspect_claim.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "gui/view/timeline.h"
#include "model/check.h"
#include "model/claim_change.h"
#include "model/device_grant.h"
#include "model/ids.h"
#include "model/time.h"
#include "sim/record/ledger_seek.h"
#include "sim/record/ledger_writer.h"
#include "sim/record/live_claims.h"
#include "tests/gui/view/view_rig.h"
#include "tests/sim/record/record_script.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace inspect_claim_test {

using view::ClaimInspection;
using view::ClaimInspector;

constexpr uint64_t kClaim = 3;

ClaimChange Made(int64_t seconds, ClaimChangeKind kind, uint64_t claim = kClaim) {
  ClaimChange change;
  change.time = SimTime(seconds * kSecondNs);
  change.kind = kind;
  change.claim = claim;
  return change;
}

ClaimChange Created(int64_t seconds, uint64_t claim,
                    ClaimMode mode = ClaimMode::kWaitForFirstConsumer) {
  ClaimChange change = Made(seconds, ClaimChangeKind::kCreated, claim);
  change.identity = {"default/a", mode == ClaimMode::kImmediate ? "" : "pod-a", "gpu", mode};
  return change;
}

ClaimChange Asked(int64_t seconds, uint32_t nodes) {
  ClaimChange change = Made(seconds, ClaimChangeKind::kDriverAsked);
  change.asked = nodes;
  return change;
}

ClaimChange Answered(int64_t seconds, uint32_t refused, uint32_t asked, const char* words) {
  ClaimChange change = Made(seconds, ClaimChangeKind::kDriverAnswered);
  change.refused = refused;
  change.asked = asked;
  change.text = words;
  return change;
}

ClaimChange OnNode(int64_t seconds, ClaimChangeKind kind, NodeId node, const char* words = "") {
  ClaimChange change = Made(seconds, kind);
  change.node = node;
  change.text = words;
  return change;
}

ClaimChange OfPod(int64_t seconds, ClaimChangeKind kind, const char* pod) {
  ClaimChange change = Made(seconds, kind);
  change.text = pod;
  return change;
}

constexpr NodeId kNodeA{size_t{0}};
constexpr NodeId kNodeB{size_t{1}};

// Asked in vain, then allocated on node-a, reserved and prepared at the second attempt.
std::vector<ClaimChange> Story(const ViewRig& rig) {
  ClaimChange allocated = OnNode(8, ClaimChangeKind::kAllocated, kNodeA);
  allocated.grants = rig.Instance("3g.40gb", 0, 4);
  return {Created(1, kClaim),
          Asked(2, 2),
          OnNode(2, ClaimChangeKind::kNodeSelected, kNodeB),
          Answered(3, 2, 2, "1 GPU wanted, 0 free"),
          OnNode(4, ClaimChangeKind::kNodeSelected, NodeId()),
          Answered(5, 1, 2, "1 GPU wanted, 0 free"),
          OnNode(6, ClaimChangeKind::kNodeSelected, kNodeA),
          Made(6, ClaimChangeKind::kPrepared, 99),  // another claim
          OnNode(7, ClaimChangeKind::kAllocationFailed, NodeId(), "conflict"),
          allocated,
          OfPod(8, ClaimChangeKind::kReserved, "pod-a"),
          OnNode(9, ClaimChangeKind::kPrepareFailed, kNodeA, "plugin away"),
          OnNode(10, ClaimChangeKind::kPrepared, kNodeA)};
}

ClaimInspection Inspect(const ViewRig& rig, const std::vector<ClaimChange>& changes,
                        int64_t seconds) {
  ClaimInspector inspector("default/a", &rig.cluster());
  for (const ClaimChange& change : changes) inspector.Add(change);
  DRASIM_CHECK(inspector.found());
  return inspector.Inspect(SimTime(seconds * kSecondNs));
}

std::vector<std::string> StepTexts(const ClaimInspection& claim) {
  std::vector<std::string> texts;
  for (const view::ClaimStep& step : claim.steps) {
    texts.push_back(absl::StrCat(step.name, " ", step.times));
    if (step.times > 0) {
      absl::StrAppend(&texts.back(), " ", step.first.seconds(), "-", step.last.seconds());
    }
    if (step.present) texts.back() += " now";
  }
  return texts;
}

std::vector<std::string> HistoryTexts(const ClaimInspection& claim) {
  std::vector<std::string> texts;
  for (const view::ClaimHistoryLine& line : claim.history) {
    texts.push_back(absl::StrCat(line.time.seconds(), " ", line.text));
  }
  return texts;
}

TEST(InspectClaimTest, TheMachineOfAPreparedClaim) {
  const ViewRig rig;
  const ClaimInspection claim = Inspect(rig, Story(rig), 12);
  EXPECT_EQ(StepTexts(claim),
            (std::vector<std::string>{"created 1 1-1", "driver asked 1 2-2", "node selected 2 2-6",
                                      "allocated 1 8-8", "reserved 1 8-8", "prepared 1 10-10 now",
                                      "releasing 0", "deleting 0"}));
  EXPECT_EQ(claim.state, ClaimState::kPrepared);
  EXPECT_EQ(claim.since, SimTime(10 * kSecondNs));
  EXPECT_EQ(claim.now, SimTime(12 * kSecondNs));
  EXPECT_EQ(claim.name, "default/a");
  EXPECT_EQ(claim.pod, "pod-a");
  EXPECT_EQ(claim.mode, "WaitForFirstConsumer");
  EXPECT_EQ(claim.selected_node, "node-a");
  EXPECT_EQ(claim.node, "node-a");
  EXPECT_EQ(claim.devices, "0:3g.40gb@4");
  EXPECT_EQ(claim.pods, std::vector<std::string>{"pod-a"});
  EXPECT_EQ(claim.nodes_asked, 2);
  EXPECT_EQ(claim.nodes_refused, 1);
}

TEST(InspectClaimTest, TheHistoryInWords) {
  const ViewRig rig;
  std::vector<ClaimChange> changes = Story(rig);
  changes.push_back(OnNode(20, ClaimChangeKind::kUnprepared, kNodeA));
  changes.push_back(OfPod(21, ClaimChangeKind::kUnreserved, "pod-a"));
  changes.push_back(Made(22, ClaimChangeKind::kReleaseAsked));
  changes.push_back(Made(23, ClaimChangeKind::kDeallocated));
  changes.push_back(Asked(24, 1));
  changes.push_back(Answered(25, 0, 1, ""));
  changes.push_back(Asked(26, 0));
  const ClaimInspection claim = Inspect(rig, changes, 30);
  EXPECT_EQ(
      HistoryTexts(claim),
      (std::vector<std::string>{
          "1 created for pod-a, class gpu, WaitForFirstConsumer",
          "2 driver asked about 2 potential nodes", "2 node-b selected",
          "3 driver refuses 2 of 2 nodes: 1 GPU wanted, 0 free", "4 selected node withdrawn",
          "5 driver refuses 1 of 2 nodes: 1 GPU wanted, 0 free", "6 node-a selected",
          "7 driver failed to allocate: conflict", "8 allocated on node-a: 0:3g.40gb@4",
          "8 reserved for pod-a", "9 preparing on node-a failed: plugin away",
          "10 prepared on node-a", "20 unprepared on node-a", "21 reservation for pod-a removed",
          "22 deallocation requested", "23 deallocated", "24 driver asked about 1 potential node",
          "25 driver refuses none of the nodes", "26 potential nodes withdrawn"}));
  EXPECT_EQ(claim.history[2].node, "node-b");
  EXPECT_EQ(claim.history[9].pod, "pod-a");
  EXPECT_EQ(claim.state, ClaimState::kCreated);
  EXPECT_TRUE(claim.pods.empty());
  EXPECT_EQ(claim.node, "");
}

TEST(InspectClaimTest, WordsAreCounted) {
  const ViewRig rig;
  const ClaimInspection claim = Inspect(rig, Story(rig), 12);
  ASSERT_EQ(claim.words.size(), 3u);
  EXPECT_EQ(claim.words[0].text, "1 GPU wanted, 0 free");
  EXPECT_EQ(claim.words[0].times, 2);
  EXPECT_EQ(claim.words[0].refused, 1);
  EXPECT_EQ(claim.words[0].asked, 2);
  EXPECT_EQ(claim.words[0].first, SimTime(3 * kSecondNs));
  EXPECT_EQ(claim.words[0].last, SimTime(5 * kSecondNs));
  EXPECT_EQ(claim.words[1].text, "conflict");
  EXPECT_EQ(claim.words[1].refused, 0);
  EXPECT_EQ(claim.words[2].text, "plugin away");
}

TEST(InspectClaimTest, ImmediateClaimsHaveFewerSteps) {
  const ViewRig rig;
  const ClaimInspection claim = Inspect(rig, {Created(1, kClaim, ClaimMode::kImmediate)}, 2);
  EXPECT_EQ(StepTexts(claim),
            (std::vector<std::string>{"created 1 1-1 now", "allocated 0", "reserved 0",
                                      "prepared 0", "releasing 0", "deleting 0"}));
  EXPECT_EQ(claim.history[0].text, "created, class gpu, Immediate");
}

// A structured claim has neither a driver's steps nor its words, but devices with their facts.
TEST(InspectClaimTest, DevicesOfAStructuredClaim) {
  const ViewRig rig;
  ClaimChange allocated = OnNode(2, ClaimChangeKind::kAllocated, kNodeA);
  ClaimDevice gpu;
  gpu.request = "gpu";
  gpu.driver = "gpu.example.com";
  gpu.pool = "node-a";
  gpu.device = "gpu-0";
  gpu.slice = "node-a-0";
  gpu.facts = {{DeviceFactKind::kAttribute, "model", "LATEST"},
               {DeviceFactKind::kTaint, "hot", "NoSchedule"}};
  ClaimDevice second = gpu;
  second.device = "gpu-1";
  ClaimDevice nic;
  nic.driver = "dra.net";
  nic.device = "eth1";
  allocated.devices = {gpu, second, nic};
  std::vector<ClaimChange> changes = {Created(1, kClaim, ClaimMode::kStructured), allocated,
                                      OfPod(2, ClaimChangeKind::kReserved, "pod-a")};
  ClaimInspection claim = Inspect(rig, changes, 3);
  EXPECT_EQ(StepTexts(claim),
            (std::vector<std::string>{"created 1 1-1", "allocated 1 2-2", "reserved 1 2-2 now",
                                      "prepared 0", "deleting 0"}));
  EXPECT_EQ(HistoryTexts(claim),
            (std::vector<std::string>{
                "1 created for pod-a, class gpu, structured",
                "2 allocated on node-a: gpu-0, gpu-1 of gpu.example.com, eth1 of dra.net",
                "2 reserved for pod-a"}));
  EXPECT_EQ(claim.devices, "gpu-0, gpu-1, eth1");
  EXPECT_EQ(claim.allocated, allocated.devices);
  changes.push_back(Made(4, ClaimChangeKind::kDeallocated));
  claim = Inspect(rig, changes, 5);
  EXPECT_EQ(claim.devices, "");
  EXPECT_TRUE(claim.allocated.empty());
}

TEST(InspectClaimTest, TheYoungestOfTheName) {
  const ViewRig rig;
  std::vector<ClaimChange> changes = Story(rig);
  changes.push_back(Made(20, ClaimChangeKind::kDeleting));
  changes.push_back(Made(21, ClaimChangeKind::kDeleted));
  ClaimInspection claim = Inspect(rig, changes, 22);
  EXPECT_TRUE(claim.deleted);
  EXPECT_EQ(claim.devices, "0:3g.40gb@4");
  for (const view::ClaimStep& step : claim.steps) EXPECT_FALSE(step.present) << step.name;
  changes.push_back(Created(30, 77));
  claim = Inspect(rig, changes, 31);
  EXPECT_FALSE(claim.deleted);
  EXPECT_EQ(claim.history.size(), 1u);
  EXPECT_TRUE(claim.words.empty());
}

TEST(InspectClaimTest, UpToAMomentOfALedger) {
  const TempDir dir;
  RecordScript script;
  absl::StatusOr<std::unique_ptr<LedgerWriter>> writer =
      LedgerWriter::Create(dir.PathOf("ledger"), "", script.cluster(), {}, script.summaries());
  ASSERT_TRUE(writer.ok()) << writer.status();
  script.AddSink(writer->get());
  (*writer)->OnClaimChange(Created(1, kClaim));
  script.At(2 * kSecondNs);
  const PodId pod = script.Arrive("pod-a", script.Shape(100, 0, 0, 0));
  (*writer)->OnClaimChange(Asked(3, 2));
  script.At(4 * kSecondNs);
  script.Drop(pod);
  (*writer)->OnClaimChange(Made(5, ClaimChangeKind::kDeleted));
  ASSERT_EQ((*writer)->Finish(1), absl::OkStatus());
  const std::string bytes = dir.Read("ledger");
  absl::StatusOr<std::unique_ptr<LedgerSeek>> run = LedgerSeek::FromMemory(bytes);
  ASSERT_TRUE(run.ok()) << run.status();
  const auto lines = [&run](const view::TimeTarget& at) -> size_t {
    const absl::StatusOr<ClaimInspection> claim = InspectClaim(run->get(), "default/a", at);
    return claim.ok() ? claim->history.size() : 0;
  };
  EXPECT_EQ(lines({SimTime()}), 0u);
  EXPECT_EQ(lines({SimTime(kSecondNs)}), 1u);
  EXPECT_EQ(lines({SimTime(3 * kSecondNs)}), 2u);
  EXPECT_EQ(lines({SimTime(9 * kSecondNs)}), 3u);
  EXPECT_EQ(lines({SimTime(2 * kSecondNs), uint64_t{1}}), 1u);
  EXPECT_EQ(lines({SimTime(4 * kSecondNs), uint64_t{2}}), 2u);
  EXPECT_EQ((*run)->record(), 0u);
  EXPECT_EQ(view::InspectClaim(run->get(), "default/b", {SimTime(9 * kSecondNs)}).status(),
            absl::NotFoundError("memory: no claim 'default/b' exists by then"));
}

}  // namespace inspect_claim_test
}  // namespace drasim
