// Exact integrals over time of what changes in steps: allocated amounts, waiting jobs, idle GPUs.
//
// All sums are 128-bit integers of level x nanoseconds; doubles appear only where a figure leaves.
// The window of the averages begins `warm_up` after the first submission and ends `drain` before
// the last Advance.
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

// Why GPUs are idle; the sum of the three is all that is idle.
struct IdleGpus {
  int64_t no_demand_milli = 0;   // more than the waiting jobs ask for
  int64_t fragmented_milli = 0;  // enough in number, but not where or how they are needed
  int64_t reserved_milli = 0;    // held back for a job that waits for more than there is

  bool operator==(const IdleGpus&) const = default;
};

// Splits `idle_milli` (of ready nodes). `demand_milli` is what the waiting jobs ask for in sum,
// `smallest_need_milli` the least that one of those needs which the policy would start now; it does
// not matter when nothing is asked for. Up to the demand, idle GPUs are reserved when even the
// smallest need is larger than all of them, else fragmented. REQUIRES: nothing is negative.
IdleGpus IdleByReason(int64_t idle_milli, int64_t demand_milli, int64_t smallest_need_milli);

// What holds between two events. Nothing may be negative.
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

// The integrals over one window, and what follows from them. A value; nothing is rounded beyond
// what doubles cannot hold.
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
  // The mean over the window, in the level's unit; none for an empty window.
  std::optional<double> Mean(Level level) const;
  // 100 x part / whole, of the integrals; none where `whole` was zero throughout.
  std::optional<double> Percent(Level part, Level whole) const;
  // GPU-hours or core-hours, of a level in thousandths.
  double MilliHours(Level level) const;
  // GiB-hours, of a level in bytes.
  double GibHours(Level level) const;

  // The object "utilisation" of summary.json; doubles are rounded to 6 decimals.
  void WriteJson(JsonWriter& j) const;

 private:
  SimTime from_;
  SimTime to_;
  LevelSums sums_{};
};

// Not thread-safe. Advance is O(1) amortised. Memory is O(1) without a drain; with one, the steps
// of the last `drain` are kept, since where the window ends is known only at the end. The result is
// exact either way.
class TimeIntegrals {
 public:
  // REQUIRES: neither is negative.
  explicit TimeIntegrals(SimDuration warm_up = SimDuration(), SimDuration drain = SimDuration());

  // The first submission; what lies before is not counted. Later calls do nothing.
  void Begin(SimTime first_submission);
  // `levels` held from the last call (or Begin) up to `now`. Ignored ahead of Begin. REQUIRES:
  // times do not decrease.
  void Advance(SimTime now, const Levels& levels);

  // Over the window that ends `drain` before the last Advance; empty when it ends before it begins.
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
