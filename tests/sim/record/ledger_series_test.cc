// Frames of series by themselves. tests/sim/run/ledger_seek_test.cc has those of whole runs.
#include "sim/record/ledger_series.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "model/ids.h"
#include "model/mig_slices.h"
#include "model/proto/ledger.pb.h"
#include "model/record.h"
#include "model/time.h"
#include "sim/record/live_state.h"
#include "tests/sim/record/record_script.h"

namespace drasim {
namespace ledger_series_test {

Record CordonAt(int64_t ns, uint32_t node, NodeChangeKind kind) {
  Record record;
  record.time = SimTime(ns);
  record.kind = RecordKind::kNodeChanged;
  record.node = NodeId(node);
  record.detail = static_cast<uint32_t>(kind);
  return record;
}

class SeriesTest : public ::testing::Test {
 protected:
  void Add(const Record& record) {
    live_.OnRecord(record, script_.cluster());
    folder_.OnRecord(record, live_);
  }
  // The frame of two blocks: an event and a plain record in the first, an event in the second.
  proto::LedgerSeries TwoBlocks() {
    Add(CordonAt(5, 1, NodeChangeKind::kCordoned));
    Record other;
    other.time = SimTime(6);
    Add(other);
    folder_.EndBlock(live_, SliceCounts(), SliceCounts());
    Add(CordonAt(9, 0, NodeChangeKind::kUncordoned));
    folder_.EndBlock(live_, SliceCounts(), SliceCounts());
    proto::LedgerSeries frame;
    EXPECT_TRUE(frame.ParseFromString(folder_.Pack()));
    return frame;
  }

  RecordScript script_;
  LiveState live_{script_.cluster(), &script_.summaries()};
  SeriesFolder folder_;
};

TEST_F(SeriesTest, EventsComeBack) {
  LedgerSeries series;
  ASSERT_TRUE(UnpackSeries(TwoBlocks().SerializeAsString(), 2, &series));
  ASSERT_EQ(series.events.size(), 2u);
  EXPECT_EQ(series.events[0],
            (SeriesEvent{0, SimTime(5), RecordKind::kNodeChanged, 3, NodeId(1u)}));
  EXPECT_EQ(series.events[1],
            (SeriesEvent{2, SimTime(9), RecordKind::kNodeChanged, 4, NodeId(0u)}));
  EXPECT_EQ(series.events_left_out, 0u);
  // The next frame counts from its own first record.
  folder_.Clear();
  Add(CordonAt(11, 1, NodeChangeKind::kUnavailable));
  folder_.EndBlock(live_, SliceCounts(), SliceCounts());
  ASSERT_TRUE(UnpackSeries(folder_.Pack(), 2, &series));
  ASSERT_EQ(series.events.size(), 3u);
  EXPECT_EQ(series.events[2],
            (SeriesEvent{3, SimTime(11), RecordKind::kNodeChanged, 2, NodeId(1u)}));
}

TEST_F(SeriesTest, EventsAreBounded) {
  constexpr uint64_t kEvents = kMaxSeriesEvents + 77;
  for (uint64_t i = 0; i < kEvents; ++i) {
    Add(CordonAt(static_cast<int64_t>(i), 0, NodeChangeKind::kCordoned));
  }
  folder_.EndBlock(live_, SliceCounts(), SliceCounts());
  LedgerSeries series;
  ASSERT_TRUE(UnpackSeries(folder_.Pack(), 2, &series));
  EXPECT_EQ(series.events.size(), kMaxSeriesEvents);
  EXPECT_EQ(series.events.back().record, kMaxSeriesEvents - 1);
  EXPECT_EQ(series.events_left_out, 77u);
}

TEST_F(SeriesTest, DamagedEventsAreRefused) {
  const proto::LedgerSeries sound = TwoBlocks();
  const auto refused = [&sound](const std::function<void(proto::LedgerSeries*)>& change) {
    proto::LedgerSeries frame = sound;
    change(&frame);
    LedgerSeries series;
    return !UnpackSeries(frame.SerializeAsString(), 2, &series);
  };
  EXPECT_FALSE(refused([](auto*) {}));
  EXPECT_TRUE(refused([](auto* s) { s->add_event_record(1); }));
  EXPECT_TRUE(refused([](auto* s) { s->add_event_time_ns(1); }));
  EXPECT_TRUE(refused([](auto* s) { s->add_event_node(1); }));
  EXPECT_TRUE(refused([](auto* s) { s->mutable_event_kind()->push_back('\x0c'); }));
  EXPECT_TRUE(refused([](auto* s) { s->mutable_event_detail()->push_back('\1'); }));
  EXPECT_TRUE(refused([](auto* s) { s->set_event_node(0, 2); }));
  EXPECT_TRUE(refused([](auto* s) { s->set_event_record(1, 0); }));  // the same record again
  EXPECT_TRUE(refused([](auto* s) { s->set_event_record(1, 3); }));  // behind the blocks
  EXPECT_TRUE(refused([](auto* s) { s->set_event_record(0, ~uint64_t{0}); }));
  EXPECT_TRUE(refused([](auto* s) { (*s->mutable_event_kind())[0] = '\1'; }));
  EXPECT_TRUE(refused([](auto* s) { (*s->mutable_event_detail())[0] = '\0'; }));
  EXPECT_TRUE(refused([](auto* s) { (*s->mutable_event_detail())[0] = '\5'; }));
  EXPECT_TRUE(refused([](auto* s) { s->set_events(1); }));
  EXPECT_FALSE(refused([](auto* s) { s->set_events(3); }));
}

// Slices are known at the ends of blocks alone.
TEST_F(SeriesTest, SlicesRunFromEndToEnd) {
  Add(CordonAt(1, 0, NodeChangeKind::kCordoned));
  folder_.EndBlock(live_, {16, 2, 1}, {16, 9, 0});
  Add(CordonAt(2, 0, NodeChangeKind::kCordoned));
  folder_.EndBlock(live_, {16, 9, 0}, {16, 4, 3});
  LedgerSeries series;
  ASSERT_TRUE(UnpackSeries(folder_.Pack(), 2, &series));
  const auto points = [&series](const std::string& name) {
    for (size_t m = 0; m < series.names.size(); ++m) {
      if (series.names[m] == name) return series.points[m];
    }
    return std::vector<SeriesPoint>();
  };
  EXPECT_EQ(points("slices_total"), (std::vector<SeriesPoint>{{16, 16, 16, 16}, {16, 16, 16, 16}}));
  EXPECT_EQ(points("slices_held"), (std::vector<SeriesPoint>{{2, 9, 2, 9}, {9, 4, 4, 9}}));
  EXPECT_EQ(points("slices_stranded"), (std::vector<SeriesPoint>{{1, 0, 0, 1}, {0, 3, 0, 3}}));
}

// A wait changes its kind at a failed attempt in the midst of a block.
TEST_F(SeriesTest, WaitingPodsByTheirLastVerdict) {
  const auto tell = [this](RecordKind kind, PodId pod, uint32_t detail) {
    Record record;
    record.kind = kind;
    record.pod = pod;
    record.detail = detail;
    Add(record);
  };
  const PodId pod = script_.Arrive("p", script_.Shape(1000, kGib, 0, 0));
  script_.Fail(pod, {2, {{1, 2}}});  // summary 0
  tell(RecordKind::kPodArrived, pod, 0);
  tell(RecordKind::kAttemptFailed, pod, 0);
  tell(RecordKind::kPodDropped, pod, 0);
  folder_.EndBlock(live_, SliceCounts(), SliceCounts());
  LedgerSeries series;
  ASSERT_TRUE(UnpackSeries(folder_.Pack(), 2, &series));
  for (size_t m = 0; m < series.names.size(); ++m) {
    const SeriesPoint& point = series.points[m][0];
    if (series.names[m] == "waiting_untried") {
      EXPECT_EQ(point, (SeriesPoint{1, 0, 0, 1}));
    } else if (series.names[m] == "waiting_no_room") {
      EXPECT_EQ(point, (SeriesPoint{0, 0, 0, 1}));
    } else if (series.names[m] == "waiting_driver") {
      EXPECT_EQ(point, (SeriesPoint{0, 0, 0, 0}));
    }
  }
}

}  // namespace ledger_series_test
}  // namespace drasim
