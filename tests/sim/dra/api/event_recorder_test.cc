// Aggregation of kube-scheduler's events into series.
#include "sim/dra/api/event_recorder.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/kube/name.h"
#include "model/kube/objects.h"
#include "model/time.h"
#include "sim/dra/api/api_network.h"

namespace drasim {
namespace event_recorder_test {

using Reason = EventRecorder::Reason;
using testing::ElementsAre;
using testing::IsEmpty;

class EventRecorderTest : public ::testing::Test {
 protected:
  EventRecorderTest() {
    ClientOptions options;
    options.name = "events";
    recorder_.Start(network_.Connect(options, &recorder_));
    network_.set_on_message([this](const ApiMessage& m) {
      calls_.push_back(
          absl::StrCat(m.done.ns() / kSecondNs, " ", CallText(m.verb, m.kind), " ", m.name.text()));
    });
    pod_.meta.ns = names_.Intern("default");
    pod_.meta.name = names_.Intern("pod");
    pod_.meta.uid = 1;
    pod_.meta.version = 5;
  }
  void RunTo(int64_t seconds) { network_.RunUntil(SimTime(seconds * kSecondNs)); }
  std::vector<std::string> Take() { return std::exchange(calls_, {}); }

  NamePool names_;
  ApiNetwork network_{&names_, 1};
  EventRecorder recorder_;
  Pod pod_;
  std::vector<std::string> calls_;
};

TEST_F(EventRecorderTest, TheSecondOfEqualEventsMakesASeries) {
  for (int i = 0; i < 5; ++i) recorder_.Record(Reason::kFailedScheduling, pod_);
  EXPECT_THAT(Take(), ElementsAre("0 POST events pod", "0 PATCH events pod"));
  recorder_.Record(Reason::kScheduled, pod_);
  EXPECT_THAT(Take(), ElementsAre("0 POST events pod"));
  ++pod_.meta.version;
  recorder_.Record(Reason::kFailedScheduling, pod_);
  EXPECT_THAT(Take(), ElementsAre("0 POST events pod"));
  EXPECT_EQ(recorder_.remembered(), 3u);
}

TEST_F(EventRecorderTest, ASeriesThatNoLongerGrowsIsWrittenALastTime) {
  RunTo(10);
  recorder_.Record(Reason::kFailedScheduling, pod_);
  recorder_.Record(Reason::kFailedScheduling, pod_);
  recorder_.Record(Reason::kScheduled, pod_);
  Take();
  RunTo(719);
  EXPECT_THAT(Take(), IsEmpty());
  RunTo(720);
  EXPECT_THAT(Take(), ElementsAre("720 PATCH events pod"));
  EXPECT_EQ(recorder_.remembered(), 0u);
  // Nothing is left to look at.
  EXPECT_FALSE(network_.NextTime().has_value());
}

TEST_F(EventRecorderTest, ASeriesThatGoesOnIsWrittenEveryHalfHour) {
  for (int64_t minutes = 0; minutes < 60; minutes += 5) {
    RunTo(minutes * 60);
    recorder_.Record(Reason::kFailedScheduling, pod_);
  }
  EXPECT_THAT(Take(),
              ElementsAre("0 POST events pod", "300 PATCH events pod", "1800 PATCH events pod"));
}

TEST_F(EventRecorderTest, ARestartForgetsEverything) {
  recorder_.Record(Reason::kFailedScheduling, pod_);
  RunTo(60);
  network_.Restart(recorder_.client(), SimDuration::Seconds(5));
  recorder_.Record(Reason::kFailedScheduling, pod_);  // nobody is there
  RunTo(70);
  EXPECT_EQ(recorder_.remembered(), 0u);
  recorder_.Record(Reason::kFailedScheduling, pod_);
  EXPECT_THAT(Take(), ElementsAre("0 POST events pod", "70 POST events pod"));
  RunTo(65 + 720);
  EXPECT_EQ(recorder_.remembered(), 0u);
}

}  // namespace event_recorder_test
}  // namespace drasim
