#include "gui/view/timeline.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "gui/view/unit_text.h"
#include "model/random.h"
#include "model/time.h"

namespace drasim::view {
namespace timeline_test {

constexpr int64_t kHourS = 3600;

SimTime At(int64_t seconds) { return SimTime(seconds * kSecondNs); }

TimeTarget Target(int64_t seconds, std::optional<uint64_t> record = std::nullopt) {
  TimeTarget target;
  target.time = At(seconds);
  target.record = record;
  return target;
}

// Records at given seconds.
class ListedClock : public RecordClock {
 public:
  explicit ListedClock(std::vector<int64_t> seconds) : seconds_(std::move(seconds)) {}
  uint64_t records() const override { return seconds_.size(); }
  SimTime TimeOf(uint64_t record) const override {
    return record == 0 ? SimTime() : At(seconds_[record - 1]);
  }
  uint64_t LastRecordAt(SimTime time) const override {
    uint64_t last = 0;
    while (last < seconds_.size() && At(seconds_[last]) <= time) ++last;
    return last;
  }

 private:
  std::vector<int64_t> seconds_;
};

// A run of ten days, with the cursor at ten hours.
absl::StatusOr<TimeTarget> Parse(absl::string_view text) {
  static const ListedClock* const clock =
      new ListedClock(std::vector<int64_t>(2000, 5));  // 2,000 records at five seconds
  TypedPlace place;
  place.now = At(10 * kHourS);
  place.end = At(240 * kHourS);
  place.clock = clock;
  return ParseTarget(text, place);
}

// The time in nanoseconds; -1 and a failed test for an error.
int64_t ParsedNs(absl::string_view text) {
  const absl::StatusOr<TimeTarget> target = Parse(text);
  EXPECT_TRUE(target.ok()) << text << ": " << target.status();
  if (!target.ok()) return -1;
  EXPECT_FALSE(target->record.has_value());
  return target->time.ns();
}

std::string ParseError(absl::string_view text) {
  const absl::StatusOr<TimeTarget> target = Parse(text);
  EXPECT_FALSE(target.ok()) << text;
  return std::string(target.status().message());
}

TEST(TimelineTest, ReadsTypedTimes) {
  EXPECT_EQ(ParsedNs("12:30:00"), 45'000 * kSecondNs);
  EXPECT_EQ(ParsedNs("12:30"), 45'000 * kSecondNs);
  EXPECT_EQ(ParsedNs("41:28:00"), (41 * kHourS + 28 * 60) * kSecondNs);
  EXPECT_EQ(ParsedNs("0:00:01.250"), 1'250'000'000);
  EXPECT_EQ(ParsedNs("3d 12:30:00"), (84 * kHourS + 1800) * kSecondNs);
  EXPECT_EQ(ParsedNs("3d4h"), 76 * kHourS * kSecondNs);
  EXPECT_EQ(ParsedNs(" 3d 4h "), 76 * kHourS * kSecondNs);
  EXPECT_EQ(ParsedNs("4h10m13.366s"), 15'013'366'000'000);
  EXPECT_EQ(ParsedNs("5000s"), 5000 * kSecondNs);
  EXPECT_EQ(ParsedNs("1.5h"), 5400 * kSecondNs);
  EXPECT_EQ(ParsedNs("90min"), 5400 * kSecondNs);
  EXPECT_EQ(ParsedNs("250ms"), 250'000'000);
  EXPECT_EQ(ParsedNs("7us"), 7'000);
  EXPECT_EQ(ParsedNs("7NS"), 7);
  EXPECT_EQ(ParsedNs("+10m"), (10 * kHourS + 600) * kSecondNs);
  EXPECT_EQ(ParsedNs("-1:00"), 9 * kHourS * kSecondNs);
  EXPECT_EQ(ParsedNs("start"), 0);
  EXPECT_EQ(ParsedNs("End"), 240 * kHourS * kSecondNs);
  EXPECT_EQ(ParsedNs("50%"), 120 * kHourS * kSecondNs);
  EXPECT_EQ(ParsedNs("12.5 %"), 30 * kHourS * kSecondNs);
}

TEST(TimelineTest, ReadsRecords) {
  for (const absl::string_view text : {"record 1234", "Record1234", "#1,234", "# 1234"}) {
    const absl::StatusOr<TimeTarget> target = Parse(text);
    ASSERT_TRUE(target.ok()) << target.status();
    EXPECT_EQ(*target, Target(5, 1234)) << text;
  }
  EXPECT_EQ(*Parse("record 0"), Target(0, 0));
}

TEST(TimelineTest, ARunWithoutTimesHasRecordsAndShares) {
  TypedPlace place;
  place.end = SimTime(200);
  place.by_record = true;
  EXPECT_EQ(ParseTarget("50%", place)->time, SimTime(100));
  EXPECT_EQ(ParseTarget("end", place)->time, SimTime(200));
  for (const absl::string_view text : {"99h", "0:00", "+1ns"}) {
    const absl::Status status = ParseTarget(text, place).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status));
    EXPECT_EQ(status.message(), absl::StrCat("\"", text,
                                             "\" is a time, and a fill has none; write "
                                             "50%, start, end or record 1234"));
  }
}

TEST(TimelineTest, SaysWhatIsWrongWithATime) {
  const std::string examples = "write 12:30:00, 3d4h, 5000s, +10m, 50%, start, end or record 1234";
  EXPECT_EQ(ParseError("  "), "no time: " + examples);
  EXPECT_EQ(ParseError("+"), "no time: " + examples);
  EXPECT_EQ(ParseError("noon"), "\"noon\" is no time; " + examples);
  EXPECT_EQ(ParseError("5000"),
            "\"5000\" has no unit after 5000; write 5000s for seconds, or record 5000");
  EXPECT_EQ(ParseError("5y"),
            "\"5y\" has the unknown unit \"y\"; units are d, h, m, s, ms, us, ns");
  EXPECT_EQ(ParseError("5m3h"), "\"5m3h\" has h after a smaller or equal unit");
  EXPECT_EQ(ParseError("5m5m"), "\"5m5m\" has m after a smaller or equal unit");
  EXPECT_EQ(ParseError("1.2.3s"), "\"1.2.3s\" has no number in 1.2.3");
  EXPECT_EQ(ParseError(".s"), "\".s\" has no number in .");
  EXPECT_EQ(ParseError("12:60"), "\"12:60\" has more than 59 minutes");
  EXPECT_EQ(ParseError("12:30:60"), "\"12:30:60\" has more than 59 seconds");
  EXPECT_EQ(ParseError("1:2:3:4"), "\"1:2:3:4\" has more than hours, minutes and seconds");
  EXPECT_EQ(ParseError("12:x"), "\"12:x\" is no time of the form hours:minutes:seconds");
  EXPECT_EQ(ParseError("12:"), "\"12:\" is no time of the form hours:minutes:seconds");
  EXPECT_EQ(ParseError("2h12:30"), "\"2h12:30\" has hours and minutes twice");
  EXPECT_EQ(ParseError("200000d"), "\"200000d\" is longer than 292 years");
  EXPECT_EQ(ParseError("99999999999999999999s"),
            "\"99999999999999999999s\" is longer than 292 years");
  EXPECT_EQ(ParseError("%"), "\"%\" has no number before %");
  EXPECT_EQ(ParseError("101%"), "more than 100 % lies behind the run's end");
  EXPECT_EQ(ParseError("11d"), "\"11d\" lies behind the run's end at 10d");
  EXPECT_EQ(ParseError("-11h"), "11h before 10h lies before the run's start");
  EXPECT_EQ(ParseError("record"), "\"record\" names no record; write record 1234");
  EXPECT_EQ(ParseError("record 12x"), "\"record 12x\" names no record; write record 1234");
  EXPECT_EQ(ParseError("record 2,001"), "there is no record 2,001; the last one is 2,000");
  EXPECT_EQ(ParseError("record 99999999999999999999999"),
            "there is no record 99999999999999999999999; the last one is 2,000");
  TypedPlace place;
  place.end = At(100);
  EXPECT_EQ(ParseTarget("record 1", place).status().message(),
            "\"record 1\" needs a run whose records are numbered");
}

TEST(TimelineTest, ReadsTheTimesThatItShows) {
  Random random(11, "shown times");
  TypedPlace place;
  place.end = SimTime(std::numeric_limits<int64_t>::max());
  for (int i = 0; i < 5000; ++i) {
    const SimTime time(static_cast<int64_t>(random.U64() >> (1 + random.Below(60))));
    const absl::StatusOr<TimeTarget> target = ParseTarget(TimeText(time), place);
    ASSERT_TRUE(target.ok()) << target.status();
    EXPECT_EQ(target->time, time) << TimeText(time);
    const absl::StatusOr<TimeTarget> clock = ParseTarget(ClockText(time), place);
    ASSERT_TRUE(clock.ok()) << clock.status();
    EXPECT_EQ(clock->time.ns(), time.ns() / 1'000'000 * 1'000'000) << ClockText(time);
  }
}

TEST(TimelineTest, NoTextLeavesTheRun) {
  static constexpr char kCharacters[] = "0123456789:.dhmsun%+-#record, ";
  Random random(12, "typed texts");
  size_t valid = 0;
  for (int i = 0; i < 50'000; ++i) {
    std::string text;
    for (uint64_t length = random.Below(9); length > 0; --length) {
      text.push_back(kCharacters[random.Below(sizeof(kCharacters) - 1)]);
    }
    const absl::StatusOr<TimeTarget> target = Parse(text);
    if (!target.ok()) {
      EXPECT_FALSE(target.status().message().empty()) << text;
      continue;
    }
    ++valid;
    EXPECT_GE(target->time, SimTime()) << text;
    EXPECT_LE(target->time, At(240 * kHourS)) << text;
    EXPECT_LE(target->record.value_or(0), uint64_t{2000}) << text;
  }
  EXPECT_GT(valid, size_t{100});
}

TEST(TimelineTest, TheCursorStaysInsideTheRun) {
  Timeline timeline(At(100));
  EXPECT_EQ(timeline.cursor(), Target(0));
  timeline.MoveTo(Target(40, 7));
  EXPECT_EQ(timeline.cursor(), Target(40, 7));
  timeline.MoveTo(Target(101, 7));
  EXPECT_EQ(timeline.cursor(), Target(100));
  timeline.MoveTo(Target(-1));
  EXPECT_EQ(timeline.cursor(), Target(0));
}

TEST(TimelineTest, StepsByRecord) {
  const ListedClock clock({10, 10, 20, 50});
  Timeline timeline(At(100));
  EXPECT_FALSE(timeline.StepRecord(clock, /*forward=*/false));
  // Two records of one instant are two steps.
  ASSERT_TRUE(timeline.StepRecord(clock, /*forward=*/true));
  EXPECT_EQ(timeline.cursor(), Target(10, 1));
  ASSERT_TRUE(timeline.StepRecord(clock, /*forward=*/true));
  EXPECT_EQ(timeline.cursor(), Target(10, 2));
  ASSERT_TRUE(timeline.StepRecord(clock, /*forward=*/true));
  EXPECT_EQ(timeline.cursor(), Target(20, 3));
  ASSERT_TRUE(timeline.StepRecord(clock, /*forward=*/false));
  EXPECT_EQ(timeline.cursor(), Target(10, 2));
  // From between two records.
  timeline.MoveTo(Target(30));
  ASSERT_TRUE(timeline.StepRecord(clock, /*forward=*/false));
  EXPECT_EQ(timeline.cursor(), Target(20, 3));
  timeline.MoveTo(Target(30));
  ASSERT_TRUE(timeline.StepRecord(clock, /*forward=*/true));
  EXPECT_EQ(timeline.cursor(), Target(50, 4));
  EXPECT_FALSE(timeline.StepRecord(clock, /*forward=*/true));
  // The end of an instant is the state after its last record.
  timeline.MoveTo(Target(10));
  ASSERT_TRUE(timeline.StepRecord(clock, /*forward=*/false));
  EXPECT_EQ(timeline.cursor(), Target(10, 1));
}

TEST(TimelineTest, StepsAmongEvents) {
  const std::vector<TimeTarget> attempts = {Target(10, 3), Target(10, 5), Target(60, 9)};
  Timeline timeline(At(100));
  EXPECT_FALSE(timeline.StepAmong(attempts, /*forward=*/false));
  EXPECT_FALSE(timeline.StepAmong({}, /*forward=*/true));
  ASSERT_TRUE(timeline.StepAmong(attempts, /*forward=*/true));
  EXPECT_EQ(timeline.cursor(), attempts[0]);
  ASSERT_TRUE(timeline.StepAmong(attempts, /*forward=*/true));
  EXPECT_EQ(timeline.cursor(), attempts[1]);
  timeline.MoveTo(Target(30));
  ASSERT_TRUE(timeline.StepAmong(attempts, /*forward=*/false));
  EXPECT_EQ(timeline.cursor(), attempts[1]);
  timeline.MoveTo(Target(60));
  EXPECT_FALSE(timeline.StepAmong(attempts, /*forward=*/true));
}

TEST(TimelineTest, StepsByTheChosenUnit) {
  const ListedClock clock({10, 20, 30, 40});
  const std::vector<TimeTarget> events = {Target(20, 2)};
  const std::vector<TimeTarget> attempts = {Target(30, 3)};
  const std::vector<TimeTarget> divergences = {Target(40, 4)};
  StepPlaces places;
  Timeline timeline(At(100));
  EXPECT_FALSE(timeline.Step(StepUnit::kRecord, places, /*forward=*/true));
  places.clock = &clock;
  places.events = events;
  places.attempts = attempts;
  places.divergences = divergences;
  ASSERT_TRUE(timeline.Step(StepUnit::kRecord, places, /*forward=*/true));
  EXPECT_EQ(timeline.cursor(), Target(10, 1));
  ASSERT_TRUE(timeline.Step(StepUnit::kDivergence, places, /*forward=*/true));
  EXPECT_EQ(timeline.cursor(), Target(40, 4));
  ASSERT_TRUE(timeline.Step(StepUnit::kAttempt, places, /*forward=*/false));
  EXPECT_EQ(timeline.cursor(), Target(30, 3));
  ASSERT_TRUE(timeline.Step(StepUnit::kEvent, places, /*forward=*/false));
  EXPECT_EQ(timeline.cursor(), Target(20, 2));
  EXPECT_FALSE(timeline.Step(StepUnit::kEvent, places, /*forward=*/false));
}

TEST(TimelineTest, WindowsZoomAndPanInsideTheRun) {
  Timeline timeline(At(1000));
  EXPECT_TRUE(timeline.shows_everything());
  timeline.Zoom(500, At(400));
  EXPECT_EQ(timeline.window_begin(), At(200));
  EXPECT_EQ(timeline.window_end(), At(700));
  timeline.Pan(500);
  EXPECT_EQ(timeline.window_begin(), At(450));
  EXPECT_EQ(timeline.window_end(), At(950));
  timeline.Pan(1000);
  EXPECT_EQ(timeline.window_begin(), At(500));
  EXPECT_EQ(timeline.window_end(), At(1000));
  timeline.Pan(-9000);
  EXPECT_EQ(timeline.window_begin(), At(0));
  timeline.Zoom(100'000, At(0));
  EXPECT_TRUE(timeline.shows_everything());
  for (int i = 0; i < 100; ++i) timeline.Zoom(500, At(1000));
  EXPECT_EQ((timeline.window_end() - timeline.window_begin()).ns(), kMinWindow.ns());
  EXPECT_EQ(timeline.window_end(), At(1000));
  timeline.SetWindow(At(900), At(100));
  EXPECT_EQ((timeline.window_end() - timeline.window_begin()).ns(), kMinWindow.ns());
  timeline.ShowEverything();
  timeline.SetEnd(At(2000));
  EXPECT_TRUE(timeline.shows_everything());
  timeline.SetWindow(At(0), At(100));
  timeline.SetEnd(At(3000));
  EXPECT_EQ(timeline.window_end(), At(100));
}

TEST(TimelineTest, AWindowFollowsOrStays) {
  Timeline timeline(At(1000));
  timeline.SetWindow(At(0), At(100));
  timeline.MoveTo(Target(100));
  EXPECT_EQ(timeline.window_begin(), At(0));
  timeline.MoveTo(Target(500));
  EXPECT_EQ(timeline.window_begin(), At(475));
  EXPECT_EQ(timeline.window_end(), At(575));
  timeline.MoveTo(Target(990));
  EXPECT_EQ(timeline.window_end(), At(1000));
  timeline.SetMode(WindowMode::kStay);
  timeline.MoveTo(Target(10));
  EXPECT_EQ(timeline.window_begin(), At(900));
  timeline.SetMode(WindowMode::kFollow);
  EXPECT_EQ(timeline.window_begin(), At(0));
}

TEST(TimelineTest, PlaysAtItsSpeedUntilTheEnd) {
  Timeline timeline(At(10'000));
  timeline.Advance(SimDuration::Millis(16));
  EXPECT_EQ(timeline.cursor(), Target(0));  // not playing
  timeline.Play();
  timeline.SetSpeed(60);
  timeline.Advance(SimDuration::Millis(500));
  EXPECT_EQ(timeline.cursor(), Target(30));
  timeline.SetSpeed(1);
  timeline.Advance(SimDuration::Seconds(5));
  EXPECT_EQ(timeline.cursor(), Target(35));
  timeline.SetSpeed(1'000'000);
  EXPECT_EQ(timeline.speed(), 100'000);
  timeline.Advance(SimDuration::Millis(10));
  EXPECT_EQ(timeline.cursor(), Target(1035));
  timeline.Advance(SimDuration(std::numeric_limits<int64_t>::max()));
  EXPECT_EQ(timeline.cursor(), Target(10'000));
  EXPECT_FALSE(timeline.playing());
  timeline.Play();
  EXPECT_EQ(timeline.cursor(), Target(0));
  timeline.Pause();
  EXPECT_FALSE(timeline.playing());
}

TEST(TimelineTest, SpeedsGoUpAndDown) {
  Timeline timeline(At(1));
  timeline.SetSpeed(0);
  EXPECT_EQ(timeline.speed(), 1);
  timeline.Slower();
  EXPECT_EQ(timeline.speed(), 1);
  timeline.Faster();
  EXPECT_EQ(timeline.speed(), 2);
  timeline.SetSpeed(60);
  timeline.Slower();
  EXPECT_EQ(timeline.speed(), 50);
  timeline.SetSpeed(70);
  timeline.Faster();
  EXPECT_EQ(timeline.speed(), 100);
  for (int i = 0; i < 30; ++i) timeline.Faster();
  EXPECT_EQ(timeline.speed(), 100'000);
}

TEST(TimelineTest, KeepsBookmarksInOrder) {
  Timeline timeline(At(100));
  for (const int64_t seconds : {50, 20, 80}) {
    timeline.MoveTo(Target(seconds));
    timeline.AddBookmark("at " + std::to_string(seconds));
  }
  timeline.MoveTo(Target(20));
  timeline.AddBookmark("the queue takes off");
  ASSERT_EQ(timeline.bookmarks().size(), size_t{3});
  EXPECT_EQ(timeline.bookmarks()[0].name, "the queue takes off");
  EXPECT_EQ(timeline.bookmarks()[1].at, Target(50));
  ASSERT_TRUE(timeline.StepBookmark(/*forward=*/true));
  EXPECT_EQ(timeline.cursor(), Target(50));
  timeline.RenameBookmark(1, "half-way");
  EXPECT_EQ(timeline.bookmarks()[1].name, "half-way");
  EXPECT_EQ(timeline.bookmarks()[1].at, Target(50));
  timeline.RemoveBookmark(0);
  EXPECT_FALSE(timeline.StepBookmark(/*forward=*/false));
  ASSERT_TRUE(timeline.StepBookmark(/*forward=*/true));
  EXPECT_EQ(timeline.cursor(), Target(80));
}

}  // namespace timeline_test
}  // namespace drasim::view
