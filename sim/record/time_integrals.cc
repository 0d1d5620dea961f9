#include "sim/record/time_integrals.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/string_view.h"
#include "model/check.h"
#include "model/number_text.h"

namespace drasim {
namespace {

constexpr std::array<int64_t Levels::*, kLevelCount> kLevelFields = {
    &Levels::gpu_capacity_milli,
    &Levels::gpu_allocated_milli,
    &Levels::gpu_idle_no_demand_milli,
    &Levels::gpu_idle_fragmented_milli,
    &Levels::gpu_idle_reserved_milli,
    &Levels::cpu_capacity_milli,
    &Levels::cpu_allocated_milli,
    &Levels::memory_capacity_bytes,
    &Levels::memory_allocated_bytes,
    &Levels::jobs_waiting,
    &Levels::jobs_running};

constexpr double kNsOfHour = 3.6e12;
constexpr double kGib = 1073741824;

// The run's times may span all of int64, so a difference of two may exceed it.
uint64_t SpanNs(SimTime from, SimTime to) {
  return static_cast<uint64_t>(to.ns()) - static_cast<uint64_t>(from.ns());
}

SimTime Later(SimTime time, SimDuration by) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  return time.ns() > kMax - by.ns() ? SimTime(kMax) : time + by;
}

SimTime Earlier(SimTime time, SimDuration by) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  return time.ns() < kMin + by.ns() ? SimTime(kMin) : SimTime(time.ns() - by.ns());
}

// Levels are below 2^63 and the range of time below 2^64, so each product is below 2^127.
void Accumulate(const Levels& levels, uint64_t ns, LevelSums* sums) {
  for (size_t i = 0; i < kLevelCount; ++i) {
    (*sums)[i] += absl::uint128(static_cast<uint64_t>(levels.*kLevelFields[i])) * ns;
  }
}

bool AllFromZero(const Levels& levels) {
  return std::all_of(kLevelFields.begin(), kLevelFields.end(),
                     [&levels](int64_t Levels::*field) { return levels.*field >= 0; });
}

void WriteRounded(absl::string_view key, std::optional<double> value, JsonWriter& j) {
  j.Key(key);
  if (value.has_value()) {
    j.Double(RoundDecimals(*value, 6));
  } else {
    j.Null();
  }
}

}  // namespace

IdleGpus IdleByReason(int64_t idle_milli, int64_t demand_milli, int64_t smallest_need_milli) {
  DRASIM_CHECK(idle_milli >= 0 && demand_milli >= 0 && smallest_need_milli >= 0);
  IdleGpus idle;
  const int64_t wanted = std::min(idle_milli, demand_milli);
  idle.no_demand_milli = idle_milli - wanted;
  (smallest_need_milli > idle_milli ? idle.reserved_milli : idle.fragmented_milli) = wanted;
  return idle;
}

void Levels::set_idle(const IdleGpus& idle) {
  gpu_idle_no_demand_milli = idle.no_demand_milli;
  gpu_idle_fragmented_milli = idle.fragmented_milli;
  gpu_idle_reserved_milli = idle.reserved_milli;
}

uint64_t WindowIntegrals::length_ns() const { return SpanNs(from_, to_); }

std::optional<double> WindowIntegrals::Mean(Level level) const {
  if (length_ns() == 0) return std::nullopt;
  return static_cast<double>(Integral(level)) / static_cast<double>(length_ns());
}

std::optional<double> WindowIntegrals::Percent(Level part, Level whole) const {
  if (Integral(whole) == 0) return std::nullopt;
  return 100 * static_cast<double>(Integral(part)) / static_cast<double>(Integral(whole));
}

double WindowIntegrals::MilliHours(Level level) const {
  return static_cast<double>(Integral(level)) / (1000 * kNsOfHour);
}

double WindowIntegrals::GibHours(Level level) const {
  return static_cast<double>(Integral(level)) / kGib / kNsOfHour;
}

void WindowIntegrals::WriteJson(JsonWriter& j) const {
  constexpr std::pair<absl::string_view, Level> kIdle[] = {
      {"no_demand", Level::kGpuIdleNoDemandMilli},
      {"fragmented", Level::kGpuIdleFragmentedMilli},
      {"reserved", Level::kGpuIdleReservedMilli}};
  j.BeginObject();
  WriteRounded("from_seconds", static_cast<double>(from_.ns()) / 1e9, j);
  WriteRounded("to_seconds", static_cast<double>(to_.ns()) / 1e9, j);
  j.Key("gpu").BeginObject();
  WriteRounded("capacity_hours", MilliHours(Level::kGpuCapacityMilli), j);
  WriteRounded("allocated_hours", MilliHours(Level::kGpuAllocatedMilli), j);
  WriteRounded("allocated_percent", Percent(Level::kGpuAllocatedMilli, Level::kGpuCapacityMilli),
               j);
  j.Key("idle_hours").BeginObject();
  for (const auto& [name, level] : kIdle) WriteRounded(name, MilliHours(level), j);
  j.EndObject();
  j.Key("idle_percent").BeginObject();
  for (const auto& [name, level] : kIdle) {
    WriteRounded(name, Percent(level, Level::kGpuCapacityMilli), j);
  }
  j.EndObject();
  j.EndObject();
  j.Key("cpu").BeginObject();
  WriteRounded("capacity_core_hours", MilliHours(Level::kCpuCapacityMilli), j);
  WriteRounded("allocated_core_hours", MilliHours(Level::kCpuAllocatedMilli), j);
  WriteRounded("allocated_percent", Percent(Level::kCpuAllocatedMilli, Level::kCpuCapacityMilli),
               j);
  j.EndObject();
  j.Key("memory").BeginObject();
  WriteRounded("capacity_gib_hours", GibHours(Level::kMemoryCapacityBytes), j);
  WriteRounded("allocated_gib_hours", GibHours(Level::kMemoryAllocatedBytes), j);
  WriteRounded("allocated_percent",
               Percent(Level::kMemoryAllocatedBytes, Level::kMemoryCapacityBytes), j);
  j.EndObject();
  WriteRounded("jobs_waiting_mean", Mean(Level::kJobsWaiting), j);
  WriteRounded("jobs_running_mean", Mean(Level::kJobsRunning), j);
  j.EndObject();
}

TimeIntegrals::TimeIntegrals(SimDuration warm_up, SimDuration drain)
    : warm_up_(warm_up), drain_(drain) {
  DRASIM_CHECK(warm_up >= SimDuration() && drain >= SimDuration());
}

void TimeIntegrals::Begin(SimTime first_submission) {
  if (begun_) return;
  begun_ = true;
  now_ = first_submission;
  window_begin_ = Later(first_submission, warm_up_);
  folded_until_ = window_begin_;
}

void TimeIntegrals::Advance(SimTime now, const Levels& levels) {
  if (!begun_) return;
  DRASIM_CHECK(now >= now_);
  DRASIM_CHECK(AllFromZero(levels));
  const SimTime from = std::max(now_, window_begin_);
  now_ = now;
  if (now <= from) return;
  if (drain_ == SimDuration()) {
    Accumulate(levels, SpanNs(from, now), &sums_);
    folded_until_ = now;
    return;
  }
  if (!steps_.empty() && steps_.back().levels == levels) {
    steps_.back().until = now;
  } else {
    steps_.push_back({now, levels});
  }
  // The run ends no earlier than now, so these are inside the window.
  const SimTime inside = Earlier(now, drain_);
  while (!steps_.empty() && steps_.front().until <= inside) {
    const Step& step = steps_.front();
    Accumulate(step.levels, SpanNs(folded_until_, step.until), &sums_);
    folded_until_ = step.until;
    steps_.pop_front();
  }
}

WindowIntegrals TimeIntegrals::Window() const {
  if (!begun_) return WindowIntegrals();
  const SimTime end = Earlier(now_, drain_);
  if (end <= window_begin_) return WindowIntegrals(window_begin_, window_begin_, LevelSums{});
  LevelSums sums = sums_;
  SimTime from = folded_until_;
  for (const Step& step : steps_) {
    const SimTime to = std::min(step.until, end);
    if (to <= from) break;
    Accumulate(step.levels, SpanNs(from, to), &sums);
    from = to;
  }
  return WindowIntegrals(window_begin_, end, sums);
}

void TimeIntegrals::Save(StateWriter& out) const {
  out.Section("time_integrals");
  out.Bool(begun_);
  for (SimTime t : {window_begin_, now_, folded_until_}) out.I64(t.ns());
  for (const absl::uint128& sum : sums_) {
    out.U64(absl::Uint128High64(sum));
    out.U64(absl::Uint128Low64(sum));
  }
  out.U64(steps_.size());
  for (const Step& step : steps_) {
    out.I64(step.until.ns());
    for (const auto field : kLevelFields) out.I64(step.levels.*field);
  }
}

absl::Status TimeIntegrals::Load(StateReader& in) {
  in.Section("time_integrals");
  begun_ = in.Bool();
  for (SimTime* t : {&window_begin_, &now_, &folded_until_}) *t = SimTime(in.I64());
  for (absl::uint128& sum : sums_) {
    const uint64_t high = in.U64();
    sum = absl::MakeUint128(high, in.U64());
  }
  steps_.clear();
  const size_t n = in.Count();
  if (n > 0 && drain_ == SimDuration()) in.Fail("steps are kept although there is no drain");
  SimTime last = folded_until_;
  for (size_t i = 0; i < n && in.status().ok(); ++i) {
    Step step;
    step.until = SimTime(in.I64());
    for (const auto field : kLevelFields) step.levels.*field = in.I64();
    if (step.until <= last || step.until > now_ || !AllFromZero(step.levels)) {
      in.Fail("a step of the averages goes back in time or below zero");
    }
    last = step.until;
    steps_.push_back(step);
  }
  return in.status();
}

}  // namespace drasim
