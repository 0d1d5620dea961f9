// The inspectors of pods and nodes, over hand-made records and over a ledger.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "gui/view/inspect_node.h"
#include "gui/view/inspect_pod.h"
#include "gui/view/ledger_cursor.h"
#include "model/device_set.h"
#include "model/ids.h"
#include "model/record.h"
#include "model/time.h"
#include "sim/record/ledger_reader.h"
#include "tests/gui/view/view_rig.h"
#include "tests/sim/record/ledger_example.h"

namespace drasim {
namespace inspect_test {

using view::FindCursor;
using view::InspectNode;
using view::InspectPod;
using view::LedgerCursor;
using view::LifeMark;
using view::LifeMarkName;
using view::LifeSegment;
using view::LifeSegmentName;
using view::NodeInspection;
using view::NodeInspector;
using view::NodeSlot;
using view::PodInspection;
using view::PodInspector;
using view::PodRoomText;

std::string SegmentsText(const PodInspection& pod) {
  std::string text;
  for (const LifeSegment& s : pod.segments) {
    absl::StrAppend(&text, s.from.seconds(), "-", s.to.seconds(), " ", LifeSegmentName(s.kind),
                    s.node.empty() ? "" : " ", s.node, s.devices.empty() ? "" : " ", s.devices,
                    "; ");
  }
  return text;
}

std::string MarksText(const PodInspection& pod) {
  std::string text;
  for (const LifeMark& mark : pod.marks) {
    absl::StrAppend(&text, mark.time.seconds(), " ", LifeMarkName(mark.kind), "; ");
  }
  return text;
}

TEST(InspectPodTest, LifeOfAPodThatWaitsAgain) {
  ViewRig rig;
  PodInspector inspector("b");
  rig.Follow([&](const Record& record) { inspector.Add(record, rig.cluster(), rig.summaries()); });
  const PodId a = rig.Arrive("a", ViewRig::Gpus(2));
  rig.Bind(a, 0, DeviceSet::FirstN(2));
  EXPECT_FALSE(inspector.found());
  rig.At(5);
  const PodId b = rig.Arrive("b", ViewRig::Mig("3g.40gb"));
  rig.Fail(b, 1, 1);
  rig.At(6);
  rig.Fail(b, 1, 1);
  rig.Fail(b, 2, 0);
  rig.At(8);
  rig.Reserve(b, 1, DeviceSet::Of(1), rig.Instance("3g.40gb", 1, 4));
  rig.At(9);
  rig.Unreserve(b);
  rig.At(10);
  rig.Bind(b, 1, DeviceSet::Of(0), rig.Instance("3g.40gb", 0, 0));
  rig.At(30);
  rig.Evict(b, EvictionCause::kPreempted);

  const PodInspection pod = inspector.Inspect(SimTime(50 * kSecondNs), rig.cluster());
  EXPECT_EQ(SegmentsText(pod),
            "5-8 waiting; 8-9 starting node-b 1:3g.40gb@4; 9-10 waiting; "
            "10-30 running node-b 0:3g.40gb@0; 30-50 waiting; ");
  EXPECT_EQ(MarksText(pod),
            "5 arrived; 5 found no node; 6 found no node; 6 found no node; 8 placed; "
            "9 taken back; 10 bound; 30 evicted; ");
  EXPECT_EQ(pod.waits, SimDuration::Seconds(25));
  EXPECT_EQ(pod.attempts_failed, 3);
  EXPECT_EQ(pod.times_taken_back, 1);
  ASSERT_EQ(pod.verdicts.size(), 2u);
  EXPECT_EQ(pod.verdicts[0].text,
            "0/2 nodes are available: 1 Insufficient cpu, 1 no free placement.");
  EXPECT_EQ(pod.verdicts[0].times, 2);
  EXPECT_EQ(pod.last_verdict, 1u);
  EXPECT_EQ(pod.marks.back().text, "preempted by another job");
  ASSERT_EQ(pod.room.size(), 1u);
  EXPECT_EQ(pod.room[0].name, "node-b");
  EXPECT_EQ(pod.gpus_with_room, 2);
  EXPECT_EQ(PodRoomText(pod),
            "1 node has room for it now, with 2 GPUs. It does not wait for room.");
}

TEST(InspectNodeTest, SlotsOverTime) {
  ViewRig rig;
  NodeInspector inspector{NodeId(size_t{0})};
  rig.Follow([&](const Record& record) { inspector.Add(record, rig.cluster()); });
  const PodId mig = rig.Arrive("mig", ViewRig::Mig("3g.40gb"));
  rig.Bind(mig, 0, DeviceSet::Of(0), rig.Instance("3g.40gb", 0, 4));
  rig.At(1);
  const PodId first = rig.Arrive("first", ViewRig::Gpus(1, 300));
  rig.Bind(first, 0, DeviceSet::Of(1));
  const PodId second = rig.Arrive("second", ViewRig::Gpus(1, 400));
  rig.Bind(second, 0, DeviceSet::Of(1));
  rig.At(2);
  rig.Finish(first);
  const PodId third = rig.Arrive("third", ViewRig::Gpus(1, 300));
  rig.Bind(third, 0, DeviceSet::Of(1));
  const PodId elsewhere = rig.Arrive("elsewhere", ViewRig::Gpus(1));
  rig.Bind(elsewhere, 1, DeviceSet::Of(0));
  rig.At(3);
  rig.Cordon(0);

  const NodeInspection node = inspector.Inspect(SimTime(4 * kSecondNs), rig.cluster());
  std::vector<std::string> slots;
  for (const NodeSlot& slot : node.slots) {
    slots.push_back(absl::StrCat(slot.pod_name, " GPU ", int{slot.part.device}, " ", slot.offset,
                                 "+", slot.part.size, "/", slot.part.whole, " ",
                                 slot.from.seconds(), "-", slot.to.seconds(),
                                 slot.open ? " open" : ""));
  }
  EXPECT_EQ(slots, (std::vector<std::string>{
                       "mig GPU 0 4+4/8 0-4 open", "first GPU 1 0+300/1000 1-2",
                       "second GPU 1 300+400/1000 1-4 open", "third GPU 1 0+300/1000 2-4 open"}));
  ASSERT_EQ(node.events.size(), 1u);
  EXPECT_EQ(node.events[0].text, "cordoned");
  ASSERT_EQ(node.pods.size(), 3u);
  EXPECT_EQ(node.pods[0].devices, "0:3g.40gb@4");
  EXPECT_EQ(node.figures.pods, 3);
}

TEST(InspectTest, ReadsALedgerUpToACursor) {
  const LedgerExample example = MakeLedgerExample();
  const auto open = [&] { return LedgerReader::FromMemory(example.bytes).value(); };
  const std::unique_ptr<LedgerReader> finder = open();
  const LedgerCursor cursor = FindCursor(finder.get(), SimTime(1'500'000'000)).value();
  EXPECT_EQ(cursor.records, 8u);

  std::unique_ptr<LedgerReader> reader = open();
  PodInspection second = InspectPod(reader.get(), "second", cursor).value();
  EXPECT_EQ(second.phase, PodPhase::kAssumed);
  EXPECT_EQ(second.now.ns(), 1'500'000'000);
  reader = open();
  second = InspectPod(reader.get(), "second").value();
  EXPECT_EQ(second.phase, PodPhase::kBound);
  EXPECT_EQ(second.attempts_failed, 2);
  EXPECT_EQ(second.times_taken_back, 1);
  EXPECT_EQ(second.wants, "0.25 GPU of T4|P100");

  reader = open();
  const NodeInspection node = InspectNode(reader.get(), "node-a").value();
  EXPECT_EQ(node.slots.size(), 3u);  // two GPUs of `first`, and later one of `second`
  reader = open();
  EXPECT_EQ(InspectPod(reader.get(), "nobody").status().message(),
            "memory: no pod 'nobody' has arrived by then");
  reader = open();
  EXPECT_EQ(InspectNode(reader.get(), "node-c").status().message(),
            "memory: no node 'node-c' (did you mean 'node-a'?)");
}

}  // namespace inspect_test
}  // namespace drasim
