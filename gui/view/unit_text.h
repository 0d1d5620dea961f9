// Values and times with their units, as plots, maps and the clock show them.
#ifndef DRASIM_GUI_VIEW_UNIT_TEXT_H_
#define DRASIM_GUI_VIEW_UNIT_TEXT_H_

#include <cstdint>
#include <string>

#include "model/time.h"

namespace drasim::view {

// Meaning of a plotted number.
enum class Unit : uint8_t {
  kCount,
  kPercent,    // 0..100
  kSeconds,    // a length of time
  kBytes,      // shown in KiB, MiB, GiB
  kPerSecond,  // a rate
  kPerMinute,
};

// "1,234,567", "-1,000"
std::string CommaText(int64_t value);

// A length of time or an instant since the start of the run, exact to the nanosecond, without
// trailing zeros: "0s", "13.366s", "5m32s", "4h10m", "20h", "10h05m00.25s". From 100 hours on with
// days: "4d4h". The text of a negative length begins with "-".
std::string DurationText(SimDuration duration);
std::string TimeText(SimTime time);

// The same with fixed places, for a clock that must not jump about: "20h00m00.000s". Cut, not
// rounded, to milliseconds. REQUIRES: time >= 0.
std::string ClockText(SimTime time);

// The value with its unit, to three or four digits: "1,102", "6.7", "65.6 %", "5m32s", "5.9 MiB",
// "12.0 /s". A length of time is rounded to milliseconds, from a minute on to seconds.
// REQUIRES: |value| < 1e18, for seconds < 9e9.
std::string ValueText(double value, Unit unit);

// As ValueText, but a positive value begins with "+", and zero is "0".
std::string DifferenceText(double value, Unit unit);

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_UNIT_TEXT_H_
