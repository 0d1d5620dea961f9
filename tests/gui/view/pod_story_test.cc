#include "gui/view/pod_story.h"

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
namespace pod_story_test {

using view::DeviceWords;
using view::PodInspector;
using view::ShortVerdict;
using view::StoryLine;
using view::TellStory;

std::string LinesText(const std::vector<StoryLine>& lines) {
  std::string text;
  for (const StoryLine& line : lines)
    absl::StrAppend(&text, line.time.seconds(), " ", line.text, "\n");
  return text;
}

// Follows the pod called "b".
class StoryRig {
 public:
  StoryRig() {
    rig.Follow(
        [this](const Record& record) { inspector_.Add(record, rig.cluster(), rig.summaries()); });
  }
  std::string Story(int64_t now_s) const {
    return LinesText(TellStory(inspector_.Inspect(SimTime(now_s * kSecondNs), rig.cluster())));
  }

  ViewRig rig;

 private:
  PodInspector inspector_{"b"};
};

TEST(PodStoryTest, TellsALifeThatGoesOn) {
  StoryRig story;
  ViewRig& rig = story.rig;
  rig.At(5);
  const PodId b = rig.Arrive("b", ViewRig::Mig("3g.40gb"));
  rig.Fail(b, 1, 1);
  rig.At(6);
  rig.Fail(b, 1, 1);
  rig.At(7);
  rig.Fail(b, 2, 0);
  rig.At(8);
  rig.Reserve(b, 1, DeviceSet::Of(1), rig.Instance("3g.40gb", 1, 4));
  rig.At(9);
  rig.Unreserve(b);
  rig.Fail(b, 0, 1);
  rig.At(10);
  rig.Bind(b, 1, DeviceSet::Of(0), rig.Instance("3g.40gb", 0, 0));
  rig.At(30);
  rig.Evict(b, EvictionCause::kPreempted);
  EXPECT_EQ(story.Story(50),
            "5 arrives, wants 3g.40gb\n"
            "5 no node: 1 Insufficient cpu, 1 no free placement\n"
            "6 the same\n"
            "7 no node: 2 Insufficient cpu\n"
            "8 placed on node-b\n"
            "9 taken back: 1 no free placement\n"
            "10 bound: node-b, GPU 0 3g.40gb@0\n"
            "30 evicted: preempted by another job\n"
            "50 still waiting, for 20s\n");
}

TEST(PodStoryTest, CondensesNeighboursAlone) {
  StoryRig story;
  ViewRig& rig = story.rig;
  const PodId b = rig.Arrive("b", ViewRig::Gpus(2));
  for (const int64_t second : {1, 2, 3, 4}) {
    rig.At(second);
    rig.Fail(b, 2, 0);
  }
  rig.At(5);
  rig.Fail(b, 0, 2);
  rig.At(6);
  rig.Fail(b, 2, 0);
  rig.At(7);
  rig.Bind(b, 0, DeviceSet::FirstN(2));
  rig.At(9);
  rig.Finish(b);
  EXPECT_EQ(story.Story(50),
            "0 arrives, wants 2 GPUs\n"
            "1 no node: 2 Insufficient cpu\n"
            "2 the same, 3 times\n"
            "5 no node: 2 no free placement\n"
            "6 no node: 2 Insufficient cpu\n"
            "7 bound: node-a, GPU 0, GPU 1\n"
            "9 finished\n");
}

TEST(PodStoryTest, ARunningPodSaysSoAndATurnedAwayOneWhy) {
  StoryRig story;
  ViewRig& rig = story.rig;
  const PodId b = rig.Arrive("b", ViewRig::Gpus(1));
  rig.Bind(b, 0, DeviceSet::Of(1));
  rig.TurnAway(b, AdmissionFailure::kDeviceUnhealthy, false);
  rig.At(60);
  rig.Bind(b, 1, DeviceSet::Of(0));
  const std::string text = story.Story(180);
  EXPECT_EQ(text, absl::StrCat("0 arrives, wants 1 GPU\n"
                               "0 bound: node-a, GPU 1\n"
                               "0 turned away by node-a: ",
                               ShortVerdict(AdmissionMessage(AdmissionFailure::kDeviceUnhealthy)),
                               "\n60 bound: node-b, GPU 0\n"
                               "180 still running, for 2m\n"));
}

TEST(PodStoryTest, ADroppedPodEnds) {
  StoryRig story;
  ViewRig& rig = story.rig;
  const PodId b = rig.Arrive("b", ViewRig::Gpus(1));
  rig.Fail(b, 2, 0);
  rig.Drop(b);
  EXPECT_EQ(story.Story(3), "0 arrives, wants 1 GPU\n0 no node: 2 Insufficient cpu\n0 dropped\n");
}

TEST(PodStoryTest, WordsOfVerdicts) {
  EXPECT_EQ(ShortVerdict("0/3 nodes are available: 1 Too many pods, 2 Insufficient cpu."),
            "1 Too many pods, 2 Insufficient cpu");
  EXPECT_EQ(ShortVerdict("0/32 nodes are available: 1 Insufficient cpu, 31 resourceclaim cannot be "
                         "allocated for the node (unsuitable)."),
            "1 Insufficient cpu, 31 resourceclaim cannot be allocated for the node (unsuitable)");
  EXPECT_EQ(ShortVerdict("The kubelet has too few devices."), "The kubelet has too few devices");
  EXPECT_EQ(ShortVerdict("2 of them"), "2 of them");
}

TEST(PodStoryTest, WordsOfDevices) {
  EXPECT_EQ(DeviceWords(""), "");
  EXPECT_EQ(DeviceWords("0;1"), "GPU 0, GPU 1");
  EXPECT_EQ(DeviceWords("7:3g.40gb@4"), "GPU 7 3g.40gb@4");
  EXPECT_EQ(DeviceWords("1 (250m)"), "GPU 1 (250m)");
}

}  // namespace pod_story_test
}  // namespace drasim
