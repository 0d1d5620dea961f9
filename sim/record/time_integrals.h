// Exact integrals over time of step functions: allocated amounts, waiting jobs, idle GPUs.
//
// Sums are 128-bit integers of level x nanoseconds; only final figures are doubles. The window of
// the averages begins `warm_up` after the first submission and ends `drain` before the last
// Advance.
#ifndef DRASIM_SIM_RECORD_TIME_INTEGRALS_H_
#define DRASIM_SIM_RECORD_TIME_INTEGRALS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "model/state_io.h"
#include "model/text/json_writer.h"
#include "model/time.h"

namespace drasim {

// Idle GPUs by cause; the three add up to all idle GPUs.
struct IdleGpus {
  int64_t no_demand_milli = 0;   // beyond the demand of waiting jobs
  int64_t fragmented_milli = 0;  // enough in sum, but not where or how jobs need them
  int64_t reserved_milli = 0;    // held back for a job that needs more than all of them

  bool operator==(const IdleGpus&) const = default;
};

// Splits `idle_milli` (of ready nodes). `demand_milli` is the sum of the requests of waiting jobs,
// `smallest_need_milli` the smallest request among the jobs that the policy would start now
// (irrelevant without demand). Up to the demand, idle GPUs are reserved if the smallest need
// exceeds all of them, else fragmented. REQUIRES: no argument is negative.
IdleGpus IdleByReason(int64_t idle_milli, int64_t demand_milli, int64_t smallest_need_milli);

// Levels between two events. None is negative.
struct Levels {
  int64_t gpu_capacity_milli = 0;
  int64_t gpu_allocated_milli = 0;
  int64_t gpu_idle_no_demand_milli = 0;
  int64_t gpu_idle_fragmented_milli = 0;
  int64_t gpu_idle_reserved_milli = 0;
  int64_t cpu_capacity_milli = 0;
  int64_t cpu_allocated_milli = 0;
  int64_t memory_capacity_bytes = 0;
  int64_t memory_allocated_bytes = 0;
  int64_t jobs_waiting = 0;
  int64_t jobs_running = 0;

  void set_idle(const IdleGpus& idle);
  bool operator==(const Levels&) const = default;
};

// The members of Levels, in their order.
enum class Level : uint8_t {
  kGpuCapacityMilli,
  kGpuAllocatedMilli,
  kGpuIdleNoDemandMilli,
  kGpuIdleFragmentedMilli,
  kGpuIdleReservedMilli,
  kCpuCapacityMilli,
  kCpuAllocatedMilli,
  kMemoryCapacityBytes,
  kMemoryAllocatedBytes,
  kJobsWaiting,
  kJobsRunning,
};
inline constexpr size_t kLevelCount = 11;
using LevelSums = std::array<absl::uint128, kLevelCount>;

// The integrals over one window, and figures derived from them. A value type; figures are rounded
// to doubles only.
class WindowIntegrals {
 public:
  // An empty window.
  WindowIntegrals() = default;
  WindowIntegrals(SimTime from, SimTime to, const LevelSums& sums)
      : from_(from), to_(to), sums_(sums) {}

  SimTime from() const { return from_; }
  SimTime to() const { return to_; }
  uint64_t length_ns() const;
  // Level x nanoseconds, exact.
  absl::uint128 Integral(Level level) const { return sums_[static_cast<size_t>(level)]; }
  // The mean over the window, in the level's unit; empty for an empty window.
  std::optional<double> Mean(Level level) const;
  // 100 x part / whole, of the integrals; empty if `whole` was zero throughout.
  std::optional<double> Percent(Level part, Level whole) const;
  // GPU-hours or core-hours: for levels in thousandths.
  double MilliHours(Level level) const;
  // GiB-hours: for levels in bytes.
  double GibHours(Level level) const;

  // The object "utilisation" of summary.json; doubles are rounded to 6 decimals.
  void WriteJson(JsonWriter& j) const;

 private:
  SimTime from_;
  SimTime to_;
  LevelSums sums_{};
};

// Not thread-safe. Advance is O(1) amortised. Memory is O(1) without a drain. With one, the steps
// of the last `drain` are kept, because the window's end is known only when the run has ended.
// Results are exact in both cases.
class TimeIntegrals {
 public:
  // REQUIRES: neither is negative.
  explicit TimeIntegrals(SimDuration warm_up = SimDuration(), SimDuration drain = SimDuration());

  // Time of the first submission, from which on levels count. Later calls do nothing.
  void Begin(SimTime first_submission);
  // `levels` held from the last call (or Begin) up to `now`. Ignored before Begin. REQUIRES: times
  // do not decrease.
  void Advance(SimTime now, const Levels& levels);

  // The window that ends `drain` before the last Advance; empty if it would end before it begins.
  // O(steps kept).
  WindowIntegrals Window() const;
  size_t steps_kept() const { return steps_.size(); }

  // The lengths of warm-up and drain come from the constructor, not from the state.
  void Save(StateWriter& out) const;
  absl::Status Load(StateReader& in);

 private:
  // Levels from the end of the step before up to `until`.
  struct Step {
    SimTime until;
    Levels levels;
  };

  SimDuration warm_up_;
  SimDuration drain_;
  bool begun_ = false;
  SimTime window_begin_;
  SimTime now_;           // of the last Advance
  SimTime folded_until_;  // sums_ holds the window up to here; steps_ goes on from here
  LevelSums sums_{};
  std::deque<Step> steps_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_TIME_INTEGRALS_H_
