// SimTime and SimDuration: virtual time in signed 64-bit nanoseconds since the start of the run,
// independent of any wall clock.
//
// The range is about 292 years either way. Readers must reject input whose arithmetic could leave
// it.
#ifndef DRASIM_MODEL_TIME_H_
#define DRASIM_MODEL_TIME_H_

#include <compare>
#include <cstdint>
#include <limits>

namespace drasim {

inline constexpr int64_t kSecondNs = 1'000'000'000;
inline constexpr int64_t kMinuteNs = 60 * kSecondNs;
inline constexpr int64_t kHourNs = 60 * kMinuteNs;
inline constexpr int64_t kDayNs = 24 * kHourNs;

// A length of virtual time; may be negative.
class SimDuration {
 public:
  constexpr SimDuration() = default;
  constexpr explicit SimDuration(int64_t ns) : ns_(ns) {}
  static constexpr SimDuration Seconds(int64_t s) { return SimDuration(s * 1'000'000'000); }
  static constexpr SimDuration Millis(int64_t ms) { return SimDuration(ms * 1'000'000); }
  constexpr int64_t ns() const { return ns_; }
  // For reports only; decisions compare nanoseconds. Divided, not multiplied, which gives the
  // double nearest to the decimal: 0.3 and not 0.30000000000000004.
  constexpr double seconds() const { return static_cast<double>(ns_) / 1e9; }
  constexpr auto operator<=>(const SimDuration&) const = default;
  constexpr SimDuration operator+(SimDuration o) const { return SimDuration(ns_ + o.ns_); }
  constexpr SimDuration operator-(SimDuration o) const { return SimDuration(ns_ - o.ns_); }

 private:
  int64_t ns_ = 0;
};

// A point of virtual time.
class SimTime {
 public:
  constexpr SimTime() = default;
  constexpr explicit SimTime(int64_t ns) : ns_(ns) {}
  static constexpr SimTime Max() { return SimTime(std::numeric_limits<int64_t>::max()); }
  constexpr int64_t ns() const { return ns_; }
  constexpr double seconds() const { return SimDuration(ns_).seconds(); }
  constexpr auto operator<=>(const SimTime&) const = default;
  constexpr SimTime operator+(SimDuration d) const { return SimTime(ns_ + d.ns()); }
  constexpr SimDuration operator-(SimTime o) const { return SimDuration(ns_ - o.ns_); }

 private:
  int64_t ns_ = 0;
};

// The end of a length that may reach beyond the range of the clock: at most its last moment.
inline SimTime AddSaturating(SimTime time, SimDuration length) {
  int64_t sum = 0;
  if (__builtin_add_overflow(time.ns(), length.ns(), &sum)) {
    sum = std::numeric_limits<int64_t>::max();
  }
  return SimTime(sum);
}

}  // namespace drasim

#endif  // DRASIM_MODEL_TIME_H_
