#include "gui/view/inspect_pod.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/device_set.h"
#include "model/ids.h"
#include "model/record.h"
#include "model/time.h"
#include "tests/gui/view/view_rig.h"

namespace drasim {
namespace inspect_pod_test {

using view::LifeMark;
using view::LifeMarkName;
using view::LifeSegment;
using view::LifeSegmentName;
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

TEST(InspectPodTest, SplitsAVerdictByItsReasons) {
  using Reasons = std::vector<std::string>;
  EXPECT_EQ(view::VerdictReasons("0/3 nodes are available: 1 Too many pods, 2 Insufficient cpu."),
            (Reasons{"1 Too many pods", "2 Insufficient cpu"}));
  EXPECT_EQ(view::VerdictReasons("0/2 nodes are available: 2 cannot allocate all claims, yet."),
            (Reasons{"2 cannot allocate all claims, yet"}));
  EXPECT_EQ(view::VerdictReasons("waiting for the driver"), (Reasons{"waiting for the driver"}));
}

}  // namespace inspect_pod_test
}  // namespace drasim
