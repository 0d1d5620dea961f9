// Places and labels of the ticks of an axis.
#ifndef DRASIM_GUI_VIEW_TICKS_H_
#define DRASIM_GUI_VIEW_TICKS_H_

#include <string>
#include <vector>

#include "gui/view/unit_text.h"
#include "model/time.h"

namespace drasim::view {

struct Tick {
  double value = 0;
  std::string label;
};

// Ticks of an axis of values, and the range that ends at ticks.
struct TickScale {
  double low = 0;
  double high = 1;
  std::vector<Tick> ticks;
};

// The smallest range of whole steps around [low, high], with at most max_ticks ticks: steps of 1, 2
// or 5 times a power of ten; seconds go by 1, 2, 5, 10, 15, 30 seconds and minutes, then hours and
// days; bytes go by powers of two. An empty range is widened. Percentages do not exceed 100 where
// `high` does not.
// REQUIRES: low <= high, both at most 1e15 in size (seconds: 1e8), max_ticks >= 3.
TickScale LinearScale(double low, double high, int max_ticks, Unit unit);

// Powers of ten, with 2 and 5 between them where there is room; for lengths of time 1 and 10 of a
// unit. REQUIRES: 1e-12 <= low <= high <= 1e15 (seconds: 1e-6 <= low, high <= 8e7), max_ticks >= 2.
TickScale LogScale(double low, double high, int max_ticks, Unit unit);

// Times in [begin, end], whose values are in nanoseconds: by the second, minute, hour and day, and
// decimally below the second. REQUIRES: 0 <= begin < end, max_ticks >= 2.
std::vector<Tick> TimeTicks(SimTime begin, SimTime end, int max_ticks);

// The decimal logarithm from additions, multiplications and divisions alone, so that every machine
// gets the same last bit. REQUIRES: value is positive, finite and not denormal.
double Log10(double value);

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_TICKS_H_
