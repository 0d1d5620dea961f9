// From arrival to work: the parts by hand, evictions and admissions, and random histories against a
// reading of the definition.
#include "sim/record/start_report.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/device_set.h"
#include "model/random.h"
#include "model/record.h"
#include "model/state_io.h"

namespace drasim {

void PrintTo(const StartTimes& t, std::ostream* out) {
  *out << t.starts << " starts, queue " << t.queue.mean << "/" << t.queue.p95 << ", negotiation "
       << t.negotiation.mean << "/" << t.negotiation.p95 << ", prepare " << t.prepare.mean << "/"
       << t.prepare.p95 << ", total " << t.total.mean << "/" << t.total.p95 << ", attempts "
       << t.attempts;
}

namespace start_report_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr uint8_t kNoCpu = 1;
constexpr uint8_t kWaits = 2;
constexpr uint8_t kNoGpu = 3;

// Hands records to a report; the cluster is not looked at.
class History {
 public:
  explicit History(bool starts_later = false) : cluster_(&models_, &shapes_) {
    summaries_.SetReasons(
        {"Insufficient cpu", "waiting for resource driver", "Insufficient gpu"},
        {ReasonKind::kCpu, ReasonKind::kWaitsForDriver, ReasonKind::kExtendedResource});
    StartReportOptions options;
    options.summaries = &summaries_;
    options.starts_later = starts_later;
    options_ = options;
    report_ = StartReport(options);
  }

  void At(double seconds) { now_ = SimTime(std::llround(seconds * 1e9)); }
  void AtNs(int64_t ns) { now_ = SimTime(ns); }
  PodId Arrive() {
    const PodId pod(pods_++);
    Emit(RecordKind::kPodArrived, pod);
    return pod;
  }
  void Fail(PodId pod, std::vector<std::pair<uint8_t, uint32_t>> why) {
    VerdictSummaryTable::Row row;
    row.nodes = 4;
    row.rejected = std::move(why);
    Emit(RecordKind::kAttemptFailed, pod, summaries_.Intern(row).value());
  }
  void Emit(RecordKind kind, PodId pod, uint32_t detail = 0) {
    report_.OnRecord({now_, kind, pod, NodeId(0u), DeviceSet(), detail}, cluster_);
  }
  void Bind(PodId pod) { Emit(RecordKind::kPodBound, pod); }
  void Start(PodId pod) { Emit(RecordKind::kPodStarted, pod); }
  void Evict(PodId pod, EvictionCause cause) {
    Emit(RecordKind::kPodEvicted, pod, static_cast<uint32_t>(cause));
  }

  StartReport& report() { return report_; }
  // The same state in another report.
  StartReport Reloaded() const {
    StateWriter out;
    report_.Save(out);
    StartReport loaded(options_);
    StateReader in(out.bytes());
    EXPECT_EQ(loaded.Load(in), absl::OkStatus());
    EXPECT_TRUE(in.AtEnd());
    return loaded;
  }
  const StartReportOptions& options() const { return options_; }

 private:
  GpuModelTable models_;
  ShapeTable shapes_{&models_};
  ClusterState cluster_;
  VerdictSummaryTable summaries_;
  StartReportOptions options_;
  StartReport report_{StartReportOptions()};
  SimTime now_;
  size_t pods_ = 0;
};

// One start.
StartTimes One(double queue, double negotiation, double prepare, double attempts) {
  StartTimes t;
  t.starts = 1;
  t.queue = {queue, queue};
  t.negotiation = {negotiation, negotiation};
  t.prepare = {prepare, prepare};
  t.total = {queue + negotiation + prepare, queue + negotiation + prepare};
  t.attempts = attempts;
  return t;
}

TEST(StartReportTest, NothingYet) {
  History h;
  EXPECT_EQ(h.report().Times(), StartTimes());
  const PodId pod = h.Arrive();
  h.At(3);
  h.Fail(pod, {{kNoCpu, 4}});
  EXPECT_EQ(h.report().Times(), StartTimes());
  EXPECT_EQ(h.report().pods_arrived(), 1);
  EXPECT_EQ(h.report().pods_unplaced(), 1);
}

TEST(StartReportTest, QueueUntilBoundWithoutADriver) {
  History h;
  h.At(10);
  const PodId pod = h.Arrive();
  h.At(12);
  h.Fail(pod, {{kNoCpu, 1}, {kNoGpu, 3}});
  h.At(13.5);
  h.Emit(RecordKind::kPodReserved, pod);
  h.At(14);
  h.Bind(pod);
  EXPECT_EQ(h.report().Times(), One(4, 0, 0, 2));
  h.At(100);
  h.Emit(RecordKind::kPodFinished, pod);
  EXPECT_EQ(h.report().Times(), One(4, 0, 0, 2));
  EXPECT_EQ(h.report().pods_unplaced(), 0);
}

TEST(StartReportTest, NegotiationBeginsWithTheFirstWaitForADriver) {
  History h(/*starts_later=*/true);
  h.At(1);
  const PodId pod = h.Arrive();
  h.At(2);
  h.Fail(pod, {{kNoCpu, 4}});
  h.At(4);
  h.Fail(pod, {{kWaits, 1}});
  h.At(7);
  h.Fail(pod, {{kNoGpu, 4}});  // it goes on, whatever is in the way
  h.At(9);
  h.Fail(pod, {{kNoCpu, 1}, {kWaits, 1}});
  h.At(12);
  h.Bind(pod);
  EXPECT_EQ(h.report().Times(), StartTimes());  // it does not work yet
  h.At(12.25);
  h.Start(pod);
  EXPECT_EQ(h.report().Times(), One(3, 8, 0.25, 5));
}

TEST(StartReportTest, WorkBeginsWithBindingUnlessToldOtherwise) {
  // Without the option a start is counted when the pod is bound, and moved when a record says so.
  History h;
  const PodId early = h.Arrive();
  const PodId late = h.Arrive();
  h.At(2);
  h.Bind(early);
  h.Bind(late);
  h.At(5);
  h.Start(late);
  StartTimes expected;
  expected.starts = 2;
  expected.queue = {2, 2};
  expected.prepare = {1.5, 3};
  expected.total = {3.5, 5};
  expected.attempts = 1;
  EXPECT_EQ(h.report().Times(), expected);
  // With it, a pod that never begins is none, whatever becomes of it.
  History strict(/*starts_later=*/true);
  const PodId finished = strict.Arrive();
  const PodId evicted = strict.Arrive();
  strict.Arrive();
  strict.At(2);
  strict.Bind(finished);
  strict.Bind(evicted);
  strict.At(3);
  strict.Emit(RecordKind::kPodDeleted, finished);
  strict.Evict(evicted, EvictionCause::kNodeLost);
  EXPECT_EQ(strict.report().Times(), StartTimes());
  EXPECT_EQ(strict.report().pods_unplaced(), 1);
}

TEST(StartReportTest, AnEvictionSetsTheClockBack) {
  for (const EvictionCause cause :
       {EvictionCause::kPreempted, EvictionCause::kNodeLost, EvictionCause::kDrained,
        EvictionCause::kAttemptFailed, EvictionCause::kRepartitioned}) {
    History h(/*starts_later=*/true);
    const PodId pod = h.Arrive();
    h.At(1);
    h.Fail(pod, {{kWaits, 1}});
    h.At(3);
    h.Bind(pod);
    h.At(4);
    h.Start(pod);
    h.At(50);
    h.Evict(pod, cause);
    h.At(60);
    h.Bind(pod);
    h.At(62);
    h.Start(pod);
    StartTimes expected;
    expected.starts = 2;
    expected.queue = {5.5, 10};
    expected.negotiation = {1, 2};
    expected.prepare = {1.5, 2};
    expected.total = {8, 12};
    expected.attempts = 1.5;
    EXPECT_EQ(h.report().Times(), expected) << static_cast<int>(cause);
    // It was placed once, so that it is not among those that never were.
    h.At(70);
    h.Evict(pod, cause);
    EXPECT_EQ(h.report().pods_unplaced(), 0);
  }
}

TEST(StartReportTest, APodThatIsTurnedAwayGoesOnWaiting) {
  History h;
  const PodId pod = h.Arrive();
  const PodId other = h.Arrive();  // of the same gang
  h.At(2);
  h.Bind(pod);
  h.Bind(other);
  h.Emit(RecordKind::kPodRejected, pod, 1);
  h.Evict(other, EvictionCause::kTurnedAway);
  EXPECT_EQ(h.report().Times(), StartTimes());
  h.At(12);
  h.Bind(pod);
  h.Bind(other);
  StartTimes expected = One(12, 0, 0, 2);
  expected.starts = 2;
  EXPECT_EQ(h.report().Times(), expected);
}

TEST(StartReportTest, WhoIsGivenUpDidNotStart) {
  History h;
  const PodId pod = h.Arrive();
  const PodId other = h.Arrive();
  const PodId dropped = h.Arrive();
  h.At(2);
  h.Bind(pod);
  h.Bind(other);
  h.Emit(RecordKind::kPodRejected, pod, 1 | kGivenUp);
  h.Emit(RecordKind::kPodFailed, other, static_cast<uint32_t>(EvictionCause::kTurnedAway));
  h.Fail(dropped, {{kNoGpu, 4}});
  h.Emit(RecordKind::kPodDropped, dropped);
  EXPECT_EQ(h.report().Times(), StartTimes());
  EXPECT_EQ(h.report().pods_unplaced(), 1);
  EXPECT_THAT(h.report().UnplacedByReason(), ElementsAre(Pair("Insufficient gpu", 1)));
}

TEST(StartReportTest, P95IsTheNearestRank) {
  // The 19th of 20 values, the 20th of 21.
  for (const auto& [pods, rank] : {std::pair(1, 1), std::pair(19, 19), std::pair(20, 19),
                                   std::pair(21, 20), std::pair(40, 38), std::pair(41, 39)}) {
    History h;
    std::vector<PodId> ids;
    for (int i = 0; i < pods; ++i) ids.push_back(h.Arrive());
    for (int i = 0; i < pods; ++i) {
      h.At(i + 1);
      h.Bind(ids[static_cast<size_t>(i)]);
    }
    EXPECT_EQ(h.report().Times().total.p95, rank) << pods;
    EXPECT_EQ(h.report().Times().total.mean, (pods + 1) / 2.0) << pods;
  }
}

TEST(StartReportTest, WhyPodsWereNeverPlaced) {
  History h;
  std::vector<PodId> pods;
  for (int i = 0; i < 5; ++i) pods.push_back(h.Arrive());
  h.Fail(pods[0], {{kNoGpu, 4}});
  h.Fail(pods[0], {{kNoCpu, 1}, {kNoGpu, 3}});  // the last attempt counts
  h.Fail(pods[1], {{kNoGpu, 4}});
  h.Fail(pods[2], {{kNoCpu, 4}});
  h.Bind(pods[2]);
  h.Fail(pods[3], {});
  EXPECT_THAT(h.report().UnplacedByReason(),
              ElementsAre(Pair("Insufficient gpu", 2), Pair("(never tried)", 1),
                          Pair("Insufficient cpu", 1)));
  EXPECT_EQ(h.report().pods_unplaced(), 4);
  EXPECT_EQ(h.Reloaded().UnplacedByReason(), h.report().UnplacedByReason());
}

TEST(StartReportTest, CallsComeFromOutside) {
  StartReport report((StartReportOptions()));
  EXPECT_EQ(report.api_reads(), std::nullopt);
  EXPECT_EQ(report.api_writes(), std::nullopt);
  report.set_api_reads(7);
  EXPECT_EQ(report.api_reads(), 7u);
  EXPECT_EQ(report.api_writes(), std::nullopt);
  report.set_api_writes(9);
  EXPECT_EQ(report.api_writes(), 9u);
}

TEST(StartReportTest, RecordsThatAreAboutNoPod) {
  History h;
  h.Emit(RecordKind::kNodeChanged, PodId(), 1);
  h.Emit(RecordKind::kDevicesChanged, PodId(), 1);
  h.Emit(RecordKind::kRunEnded, PodId());
  EXPECT_EQ(h.report().pods_arrived(), 0);
}

// --- Random histories ---

// An event of one pod; figures are read off its list at the end.
struct Event {
  int64_t ns;
  RecordKind kind;
  uint32_t detail;
  bool waits;  // a failed attempt for a driver
};

double Rounded(double ns) { return std::nearbyint(ns / 1e3) / 1e6; }

StartSpread NaiveSpread(std::vector<int64_t> values) {
  StartSpread spread;
  if (values.empty()) return spread;
  std::sort(values.begin(), values.end());
  double sum = 0;
  for (const int64_t v : values) sum += static_cast<double>(v);
  spread.mean = Rounded(sum / static_cast<double>(values.size()));
  size_t rank = 1;
  while (100 * rank < 95 * values.size()) ++rank;
  spread.p95 = Rounded(static_cast<double>(values[rank - 1]));
  return spread;
}

// The starts of a pod, backwards from each moment at which work begins.
StartTimes NaiveTimes(const std::vector<std::vector<Event>>& pods, bool starts_later) {
  std::vector<int64_t> queue, negotiation, prepare, total;
  int64_t attempts = 0;
  for (const std::vector<Event>& events : pods) {
    for (size_t b = 0; b < events.size(); ++b) {
      if (events[b].kind != RecordKind::kPodBound) continue;
      const bool told = b + 1 < events.size() && events[b + 1].kind == RecordKind::kPodStarted;
      const bool turned_away =
          b + 1 < events.size() &&
          (events[b + 1].kind == RecordKind::kPodRejected ||
           (events[b + 1].kind == RecordKind::kPodEvicted && events[b + 1].detail == 6));
      if (turned_away || (starts_later && !told)) continue;
      const int64_t work = told ? events[b + 1].ns : events[b].ns;
      // Back to the arrival, or to an eviction that was no turning away.
      size_t begin = b;
      while (events[begin].kind != RecordKind::kPodArrived &&
             !(events[begin].kind == RecordKind::kPodEvicted && events[begin].detail != 6)) {
        --begin;
      }
      int64_t asked = -1;
      for (size_t i = begin; i <= b; ++i) {
        if (events[i].kind == RecordKind::kAttemptFailed) {
          ++attempts;
          if (asked < 0 && events[i].waits) asked = events[i].ns;
        }
        if (events[i].kind == RecordKind::kPodBound) ++attempts;
      }
      const int64_t queued_until = asked >= 0 ? asked : events[b].ns;
      queue.push_back(queued_until - events[begin].ns);
      negotiation.push_back(events[b].ns - queued_until);
      prepare.push_back(work - events[b].ns);
      total.push_back(work - events[begin].ns);
    }
  }
  StartTimes times;
  times.starts = static_cast<int64_t>(total.size());
  times.queue = NaiveSpread(queue);
  times.negotiation = NaiveSpread(negotiation);
  times.prepare = NaiveSpread(prepare);
  times.total = NaiveSpread(total);
  if (!total.empty()) {
    times.attempts =
        std::nearbyint(1e6 * static_cast<double>(attempts) / static_cast<double>(total.size())) /
        1e6;
  }
  return times;
}

bool Near(const StartTimes& a, const StartTimes& b) {
  const auto near = [](double x, double y) { return std::abs(x - y) <= 2e-6; };
  const auto spreads = [&](const StartSpread& x, const StartSpread& y) {
    return near(x.mean, y.mean) && near(x.p95, y.p95);
  };
  return a.starts == b.starts && spreads(a.queue, b.queue) &&
         spreads(a.negotiation, b.negotiation) && spreads(a.prepare, b.prepare) &&
         spreads(a.total, b.total) && near(a.attempts, b.attempts);
}

TEST(StartReportTest, RandomHistoriesAgreeWithTheDefinition) {
  int64_t starts = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed, "start_report_test");
    const bool starts_later = seed % 2 == 0;
    History h(starts_later);
    std::vector<std::vector<Event>> pods;
    // 0 waits, 1 bound, 2 works, 3 gone
    std::vector<int> state;
    int64_t now = 0;
    for (int step = 0; step < 60; ++step) {
      now += static_cast<int64_t>(random.Below(3)) * 1'234'567'891;
      h.AtNs(now);
      if (pods.empty() || random.Below(6) == 0) {
        h.Arrive();
        pods.push_back({{now, RecordKind::kPodArrived, 0, false}});
        state.push_back(0);
        continue;
      }
      const auto p = static_cast<size_t>(random.Below(pods.size()));
      const PodId pod(p);
      const auto add = [&](RecordKind kind, uint32_t detail, int next) {
        pods[p].push_back({now, kind, detail, false});
        h.Emit(kind, pod, detail);
        state[p] = next;
      };
      if (state[p] == 0) {
        const uint64_t what = random.Below(4);
        if (what == 0) {
          add(RecordKind::kPodBound, 0, 1);
        } else {
          const bool waits = what == 1;
          pods[p].push_back({now, RecordKind::kAttemptFailed, 0, waits});
          h.Fail(pod, {{waits ? kWaits : kNoGpu, 1}});
        }
      } else if (state[p] == 1) {
        switch (random.Below(5)) {
          case 0:
            add(RecordKind::kPodStarted, 0, 2);
            break;
          case 1:
            add(RecordKind::kPodRejected, 1, 0);
            break;
          case 2:
            add(RecordKind::kPodEvicted, 6, 0);
            break;
          case 3:
            add(RecordKind::kPodEvicted, 2, 0);
            break;
          default:
            add(RecordKind::kPodFinished, 0, 3);
            break;
        }
      } else if (state[p] == 2) {
        if (random.Below(2) == 0) {
          add(RecordKind::kPodEvicted, 1, 0);
        } else {
          add(RecordKind::kPodFailed, 0, 3);
        }
      }
    }
    const StartTimes naive = NaiveTimes(pods, starts_later);
    const StartTimes times = h.report().Times();
    EXPECT_TRUE(Near(times, naive)) << seed << ": " << ::testing::PrintToString(times) << " but "
                                    << ::testing::PrintToString(naive);
    EXPECT_EQ(h.Reloaded().Times(), times) << seed;
    starts += times.starts;
  }
  EXPECT_GT(starts, 500);  // else the above says little
}

TEST(StartReportTest, AReloadedReportGoesOn) {
  History h(/*starts_later=*/true);
  const PodId pod = h.Arrive();
  h.At(1);
  h.Fail(pod, {{kWaits, 1}});
  h.At(2);
  h.Bind(pod);
  StartReport loaded = h.Reloaded();
  GpuModelTable models;
  ShapeTable shapes(&models);
  const ClusterState cluster(&models, &shapes);
  loaded.OnRecord(
      {SimTime(5'000'000'000), RecordKind::kPodStarted, pod, NodeId(0u), DeviceSet(), 0}, cluster);
  EXPECT_EQ(loaded.Times(), One(1, 1, 3, 2));
}

TEST(StartReportTest, DamagedStateIsRefused) {
  History h;
  const PodId pod = h.Arrive();
  h.At(2);
  h.Fail(pod, {{kWaits, 1}});
  h.At(3);
  h.Bind(pod);
  StateWriter out;
  h.report().Save(out);
  for (size_t size = 0; size < out.bytes().size(); ++size) {
    StartReport loaded(h.options());
    StateReader in(absl::string_view(out.bytes()).substr(0, size));
    EXPECT_FALSE(loaded.Load(in).ok()) << size;
  }
  // since, negotiating, bound, attempts, last failure, state, negotiates, ever bound; no starts.
  const auto status = [&](int64_t since, int64_t negotiating, int64_t bound, uint64_t why,
                          uint64_t state, int64_t part) {
    StateWriter bad;
    bad.Section("start_report");
    bad.U64(1);
    bad.I64(since);
    bad.I64(negotiating);
    bad.I64(bound);
    bad.U64(1);
    bad.U64(why);
    bad.U64(state);
    bad.Bool(true);
    bad.Bool(true);
    bad.U64(1);
    bad.I64(part);
    bad.I64(0);
    bad.I64(0);
    bad.U64(1);
    StartReport loaded(h.options());
    StateReader in(bad.bytes());
    return loaded.Load(in);
  };
  EXPECT_EQ(status(1, 2, 3, 0, 1, 0), absl::OkStatus());
  EXPECT_FALSE(status(3, 2, 3, 0, 1, 0).ok());
  EXPECT_FALSE(status(1, 4, 3, 0, 1, 0).ok());
  EXPECT_FALSE(status(1, 2, 3, 1, 1, 0).ok());
  EXPECT_FALSE(status(1, 2, 3, 0, 4, 0).ok());
  EXPECT_FALSE(status(1, 2, 3, 0, 1, -1).ok());
}

}  // namespace start_report_test
}  // namespace drasim
