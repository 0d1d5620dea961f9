// Integrals of step functions: by hand at the edges of the window, and against a count of every
// single nanosecond.
#include "sim/record/time_integrals.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/random.h"
#include "model/state_io.h"
#include "model/text/json_writer.h"
#include "model/time.h"

namespace drasim {
namespace time_integrals_test {

constexpr int64_t kMaxInt64 = std::numeric_limits<int64_t>::max();

IdleGpus Idle(int64_t no_demand, int64_t fragmented, int64_t reserved) {
  IdleGpus idle;
  idle.no_demand_milli = no_demand;
  idle.fragmented_milli = fragmented;
  idle.reserved_milli = reserved;
  return idle;
}

TEST(IdleByReasonTest, SplitsWhatIsIdle) {
  // Nothing is idle.
  EXPECT_EQ(IdleByReason(0, 5000, 1000), Idle(0, 0, 0));
  // Nothing waits, whatever the need is said to be.
  EXPECT_EQ(IdleByReason(3000, 0, 0), Idle(3000, 0, 0));
  EXPECT_EQ(IdleByReason(3000, 0, 9000), Idle(3000, 0, 0));
  // Less is asked for than is idle: the rest has no demand.
  EXPECT_EQ(IdleByReason(3000, 1000, 1000), Idle(2000, 1000, 0));
  EXPECT_EQ(IdleByReason(3000, 3000, 500), Idle(0, 3000, 0));
  // More is asked for than is idle, but one of the jobs could be served by number.
  EXPECT_EQ(IdleByReason(3000, 9000, 3000), Idle(0, 3000, 0));
  // No job that may start now could be served.
  EXPECT_EQ(IdleByReason(3000, 9000, 3001), Idle(0, 0, 3000));
  EXPECT_EQ(IdleByReason(3000, 8000, 8000), Idle(0, 0, 3000));
}

// `jobs` jobs wait; the other levels are zero.
Levels Waiting(int64_t jobs) {
  Levels levels;
  levels.jobs_waiting = jobs;
  return levels;
}

absl::uint128 WaitingSum(const TimeIntegrals& integrals) {
  return integrals.Window().Integral(Level::kJobsWaiting);
}

TEST(TimeIntegralsTest, EveryLevelHasItsOwnSum) {
  Levels levels;
  levels.gpu_capacity_milli = 1;
  levels.gpu_allocated_milli = 2;
  levels.set_idle(Idle(3, 4, 5));
  levels.cpu_capacity_milli = 6;
  levels.cpu_allocated_milli = 7;
  levels.memory_capacity_bytes = 8;
  levels.memory_allocated_bytes = 9;
  levels.jobs_waiting = 10;
  levels.jobs_running = 11;
  TimeIntegrals integrals;
  integrals.Begin(SimTime(0));
  integrals.Advance(SimTime(100), levels);
  const WindowIntegrals window = integrals.Window();
  for (size_t i = 0; i < kLevelCount; ++i) {
    EXPECT_EQ(window.Integral(static_cast<Level>(i)), absl::uint128(100 * (i + 1))) << i;
  }
}

TEST(TimeIntegralsTest, CountsFromTheFirstSubmission) {
  TimeIntegrals integrals;
  integrals.Advance(SimTime(40), Waiting(1000));  // nothing was submitted yet
  EXPECT_EQ(integrals.Window().length_ns(), 0u);
  EXPECT_EQ(integrals.Window().Mean(Level::kJobsWaiting), std::nullopt);
  integrals.Begin(SimTime(50));
  EXPECT_EQ(integrals.Window().length_ns(), 0u);
  integrals.Advance(SimTime(53), Waiting(2));
  integrals.Begin(SimTime(52));  // not the first
  integrals.Advance(SimTime(53), Waiting(77));
  integrals.Advance(SimTime(60), Waiting(5));
  const WindowIntegrals window = integrals.Window();
  EXPECT_EQ(window.from(), SimTime(50));
  EXPECT_EQ(window.to(), SimTime(60));
  EXPECT_EQ(window.length_ns(), 10u);
  EXPECT_EQ(window.Integral(Level::kJobsWaiting), 3 * 2 + 7 * 5);
  EXPECT_EQ(window.Mean(Level::kJobsWaiting), 4.1);
  EXPECT_EQ(window.Mean(Level::kJobsRunning), 0.0);
}

TEST(TimeIntegralsTest, WarmUpCutsAnInterval) {
  TimeIntegrals integrals(SimDuration(10));
  integrals.Begin(SimTime(100));
  integrals.Advance(SimTime(104), Waiting(1));
  EXPECT_EQ(WaitingSum(integrals), 0);
  EXPECT_EQ(integrals.Window().length_ns(), 0u);
  EXPECT_EQ(integrals.Window().from(), SimTime(110));
  integrals.Advance(SimTime(113), Waiting(7));
  EXPECT_EQ(WaitingSum(integrals), 3 * 7);
  EXPECT_EQ(integrals.Window().to(), SimTime(113));
  integrals.Advance(SimTime(115), Waiting(2));
  EXPECT_EQ(WaitingSum(integrals), 3 * 7 + 2 * 2);
}

TEST(TimeIntegralsTest, DrainCutsTheEndWhereverItIs) {
  TimeIntegrals integrals(SimDuration(0), SimDuration(10));
  integrals.Begin(SimTime(0));
  integrals.Advance(SimTime(4), Waiting(1));
  EXPECT_EQ(integrals.Window().length_ns(), 0u);
  EXPECT_EQ(WaitingSum(integrals), 0);
  integrals.Advance(SimTime(12), Waiting(3));  // ends at 2
  EXPECT_EQ(WaitingSum(integrals), 2 * 1);
  integrals.Advance(SimTime(16), Waiting(5));  // ends at 6
  EXPECT_EQ(WaitingSum(integrals), 4 * 1 + 2 * 3);
  EXPECT_EQ(integrals.Window().to(), SimTime(6));
  integrals.Advance(SimTime(40), Waiting(0));  // ends at 30
  EXPECT_EQ(WaitingSum(integrals), 4 * 1 + 8 * 3 + 4 * 5);
  EXPECT_EQ(integrals.Window().Mean(Level::kJobsWaiting), 48.0 / 30);
}

TEST(TimeIntegralsTest, WarmUpAndDrainMayLeaveNothing) {
  TimeIntegrals integrals(SimDuration(10), SimDuration(10));
  integrals.Begin(SimTime(0));
  integrals.Advance(SimTime(20), Waiting(1));
  EXPECT_EQ(integrals.Window().length_ns(), 0u);
  EXPECT_EQ(WaitingSum(integrals), 0);
  integrals.Advance(SimTime(21), Waiting(1));
  EXPECT_EQ(integrals.Window().length_ns(), 1u);
  EXPECT_EQ(WaitingSum(integrals), 1);
}

TEST(TimeIntegralsTest, KeepsTheStepsOfTheDrainOnly) {
  TimeIntegrals exact;
  TimeIntegrals drained(SimDuration(0), SimDuration(50));
  for (TimeIntegrals* integrals : {&exact, &drained}) {
    integrals->Begin(SimTime(0));
    for (int64_t t = 1; t <= 10'000; ++t) integrals->Advance(SimTime(t), Waiting(t));
  }
  EXPECT_EQ(exact.steps_kept(), 0u);
  EXPECT_EQ(drained.steps_kept(), 50u);
  // 1 + 2 + ... + 9950.
  EXPECT_EQ(WaitingSum(drained), 9950 * 9951 / 2);
  EXPECT_EQ(WaitingSum(exact), 10'000 * 10'001 / 2);
  // Levels that stay the same are one step.
  for (int64_t t = 10'001; t <= 10'200; ++t) drained.Advance(SimTime(t), Waiting(1));
  EXPECT_EQ(drained.steps_kept(), 1u);
}

TEST(TimeIntegralsTest, DoesNotOverflow) {
  Levels levels;
  levels.memory_allocated_bytes = kMaxInt64;
  TimeIntegrals integrals(SimDuration(0), SimDuration(1));
  integrals.Begin(SimTime(-(int64_t{1} << 61)));
  integrals.Advance(SimTime((int64_t{1} << 61) + 1), levels);
  // (2^63 - 1) * 2^62 = (2^61 - 1) * 2^64 + 2^64 - 2^62.
  EXPECT_EQ(integrals.Window().Integral(Level::kMemoryAllocatedBytes),
            absl::MakeUint128((uint64_t{1} << 61) - 1, uint64_t{0} - (uint64_t{1} << 62)));
  EXPECT_EQ(integrals.Window().length_ns(), uint64_t{1} << 62);

  // A window that begins after all of time.
  TimeIntegrals late{SimDuration(kMaxInt64), SimDuration(kMaxInt64)};
  late.Begin(SimTime(5));
  late.Advance(SimTime(kMaxInt64), levels);
  EXPECT_EQ(late.Window().length_ns(), 0u);
}

Levels RandomLevels(Random& random) {
  Levels levels;
  for (int64_t* v : {&levels.gpu_capacity_milli, &levels.gpu_allocated_milli,
                     &levels.gpu_idle_no_demand_milli, &levels.jobs_waiting}) {
    *v = static_cast<int64_t>(random.Below(3));  // often the same as before
  }
  return levels;
}

// A run in which the levels may change at any nanosecond, counted one by one.
class Oracle {
 public:
  void Advance(int64_t now, const Levels& levels) {
    for (; now_ < now; ++now_) waiting_.push_back(levels.jobs_waiting);
  }
  int64_t Sum(int64_t from, int64_t to) const {
    int64_t sum = 0;
    for (int64_t t = from; t < to; ++t) sum += waiting_[static_cast<size_t>(t)];
    return sum;
  }

 private:
  int64_t now_ = 0;
  std::vector<int64_t> waiting_;  // per nanosecond from 0
};

TEST(TimeIntegralsTest, EqualsACountOfEveryNanosecond) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed, "time-integrals");
    const auto warm_up = static_cast<int64_t>(random.Below(40));
    const bool has_drain = random.Below(2) == 0;
    const auto drain = static_cast<int64_t>(has_drain ? random.Below(60) : 0);
    const auto begin = static_cast<int64_t>(random.Below(20));
    TimeIntegrals integrals{SimDuration(warm_up), SimDuration(drain)};
    Oracle oracle;
    oracle.Advance(begin, Levels());
    integrals.Begin(SimTime(begin));
    int64_t now = begin;
    for (int step = 0; step < 60; ++step) {
      now += static_cast<int64_t>(random.Below(6));
      const Levels levels = RandomLevels(random);
      integrals.Advance(SimTime(now), levels);
      oracle.Advance(now, levels);
      const int64_t from = begin + warm_up;
      const int64_t to = std::max(from, now - drain);
      ASSERT_EQ(WaitingSum(integrals), absl::uint128(oracle.Sum(from, std::min(to, now))))
          << "seed " << seed << ", step " << step;
      if (random.Below(10) > 0) continue;
      StateWriter out;
      integrals.Save(out);
      StateReader in(out.bytes());
      integrals = TimeIntegrals(SimDuration(warm_up), SimDuration(drain));
      ASSERT_EQ(integrals.Load(in), absl::OkStatus());
      ASSERT_TRUE(in.AtEnd());
    }
  }
}

TimeIntegrals Example() {
  TimeIntegrals integrals(SimDuration(1), SimDuration(8));
  integrals.Begin(SimTime(2));
  integrals.Advance(SimTime(5), Waiting(4));
  integrals.Advance(SimTime(9), Waiting(6));
  integrals.Advance(SimTime(14), Waiting(1));
  return integrals;
}

TEST(TimeIntegralsTest, EveryTruncatedStateIsRefused) {
  StateWriter out;
  Example().Save(out);
  for (size_t size = 0; size < out.bytes().size(); ++size) {
    const absl::string_view cut = out.bytes().substr(0, size);
    StateReader in(cut);
    TimeIntegrals loaded(SimDuration(1), SimDuration(8));
    EXPECT_EQ(loaded.Load(in).code(), absl::StatusCode::kDataLoss) << size;
  }
}

// A state of which the last step has `jobs_waiting` jobs and ends at `until`.
std::string StateWithStep(int64_t until, int64_t jobs_waiting) {
  StateWriter out;
  out.Section("time_integrals");
  out.Bool(true);
  for (int64_t t : {3, 14, 5}) out.I64(t);  // window begin, now, folded until
  for (size_t i = 0; i < 2 * kLevelCount; ++i) out.U64(0);
  out.U64(1);
  out.I64(until);
  for (size_t i = 0; i < kLevelCount; ++i) {
    out.I64(static_cast<Level>(i) == Level::kJobsWaiting ? jobs_waiting : 0);
  }
  return out.Release();
}

absl::Status LoadStatus(const std::string& state, SimDuration drain) {
  StateReader in(state);
  TimeIntegrals loaded(SimDuration(1), drain);
  return loaded.Load(in);
}

TEST(TimeIntegralsTest, BadStatesAreRefused) {
  EXPECT_EQ(LoadStatus(StateWithStep(14, 1), SimDuration(8)), absl::OkStatus());
  // Backwards, after now, below zero, and steps without a drain.
  EXPECT_EQ(LoadStatus(StateWithStep(5, 1), SimDuration(8)).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(LoadStatus(StateWithStep(15, 1), SimDuration(8)).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(LoadStatus(StateWithStep(14, -1), SimDuration(8)).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(LoadStatus(StateWithStep(14, 1), SimDuration(0)).code(), absl::StatusCode::kDataLoss);
}

constexpr int64_t kGib = int64_t{1} << 30;

// Two hours on 8 GPUs, 64 cores and 64 GiB.
WindowIntegrals TwoHours() {
  TimeIntegrals integrals;
  integrals.Begin(SimTime(0));
  Levels levels;
  levels.gpu_capacity_milli = 8000;
  levels.gpu_allocated_milli = 6000;
  levels.set_idle(Idle(500, 1500, 0));
  levels.cpu_capacity_milli = 64'000;
  levels.cpu_allocated_milli = 16'000;
  levels.memory_capacity_bytes = 64 * kGib;
  levels.memory_allocated_bytes = 16 * kGib;
  levels.jobs_waiting = 1;
  levels.jobs_running = 3;
  integrals.Advance(SimTime() + SimDuration::Seconds(3600), levels);
  levels.gpu_allocated_milli = 2000;
  levels.set_idle(Idle(0, 0, 6000));
  levels.cpu_allocated_milli = 8000;
  levels.memory_allocated_bytes = 0;
  levels.jobs_waiting = 4;
  levels.jobs_running = 1;
  integrals.Advance(SimTime() + SimDuration::Seconds(7200), levels);
  return integrals.Window();
}

TEST(WindowIntegralsTest, MeansPercentagesAndHours) {
  const WindowIntegrals window = TwoHours();
  EXPECT_EQ(window.MilliHours(Level::kGpuCapacityMilli), 16.0);
  EXPECT_EQ(window.MilliHours(Level::kGpuAllocatedMilli), 8.0);
  EXPECT_EQ(window.GibHours(Level::kMemoryAllocatedBytes), 16.0);
  EXPECT_EQ(window.Percent(Level::kGpuAllocatedMilli, Level::kGpuCapacityMilli), 50.0);
  EXPECT_EQ(window.Mean(Level::kJobsWaiting), 2.5);
  EXPECT_EQ(window.Mean(Level::kGpuAllocatedMilli), 4000.0);
  EXPECT_EQ(WindowIntegrals().Percent(Level::kGpuAllocatedMilli, Level::kGpuCapacityMilli),
            std::nullopt);
}

TEST(WindowIntegralsTest, Json) {
  JsonWriter json;
  TwoHours().WriteJson(json);
  EXPECT_EQ(json.text(), R"({
  "from_seconds": 0,
  "to_seconds": 7200,
  "gpu": {
    "capacity_hours": 16,
    "allocated_hours": 8,
    "allocated_percent": 50,
    "idle_hours": {
      "no_demand": 0.5,
      "fragmented": 1.5,
      "reserved": 6
    },
    "idle_percent": {
      "no_demand": 3.125,
      "fragmented": 9.375,
      "reserved": 37.5
    }
  },
  "cpu": {
    "capacity_core_hours": 128,
    "allocated_core_hours": 24,
    "allocated_percent": 18.75
  },
  "memory": {
    "capacity_gib_hours": 128,
    "allocated_gib_hours": 16,
    "allocated_percent": 12.5
  },
  "jobs_waiting_mean": 2.5,
  "jobs_running_mean": 2
}
)");
}

TEST(WindowIntegralsTest, JsonOfAnEmptyWindow) {
  JsonWriter json;
  WindowIntegrals().WriteJson(json);
  EXPECT_NE(json.text().find("\"allocated_percent\": null"), std::string::npos);
  EXPECT_NE(json.text().find("\"capacity_hours\": 0"), std::string::npos);
  EXPECT_NE(json.text().find("\"jobs_waiting_mean\": null"), std::string::npos);
}

}  // namespace time_integrals_test
}  // namespace drasim
