#include "sim/core/backfill.h"

#include <algorithm>
#include <limits>

namespace drasim {
namespace {

// Estimates may be as long as the clock is wide.
SimTime AddSaturating(SimTime time, SimDuration length) {
  int64_t sum = 0;
  if (__builtin_add_overflow(time.ns(), length.ns(), &sum)) {
    sum = std::numeric_limits<int64_t>::max();
  }
  return SimTime(sum);
}

}  // namespace

bool FitsWithin(const ResourceAmounts& need, const ResourceAmounts& free) {
  return (need.cpu_milli == 0 || need.cpu_milli <= free.cpu_milli) &&
         (need.memory_bytes == 0 || need.memory_bytes <= free.memory_bytes) &&
         (need.gpu_milli == 0 || need.gpu_milli <= free.gpu_milli);
}

size_t AvailabilityProfile::Cut(SimTime at) {
  const auto after = std::upper_bound(steps_.begin(), steps_.end(), at,
                                      [](SimTime t, const Step& s) { return t < s.since; });
  const auto index = static_cast<size_t>(after - steps_.begin());
  if (index == 0) return 0;  // before the profile begins: all of it
  if (steps_[index - 1].since == at) return index - 1;
  const Step step = {at, steps_[index - 1].free};
  steps_.insert(after, step);
  return index;
}

void AvailabilityProfile::Release(SimTime at, const ResourceAmounts& amounts) {
  for (size_t i = Cut(at); i < steps_.size(); ++i) steps_[i].free.Add(amounts, 1);
}

void AvailabilityProfile::Reserve(SimTime start, SimDuration length,
                                  const ResourceAmounts& amounts) {
  const SimTime end = AddSaturating(start, length);
  const size_t first = Cut(start);
  const size_t last = Cut(end);
  for (size_t i = first; i < last; ++i) steps_[i].free.Add(amounts, -1);
}

SimTime AvailabilityProfile::NextChange(SimTime time) const {
  for (const Step& step : steps_) {
    if (step.since > time) return step.since;
  }
  return time;
}

SimTime AvailabilityProfile::EarliestFit(const ResourceAmounts& need, SimDuration length,
                                         SimTime from) const {
  SimTime candidate = std::max(from, steps_.front().since);
  for (size_t i = 0; i < steps_.size(); ++i) {
    const bool over = i + 1 < steps_.size() && steps_[i + 1].since <= candidate;
    if (over) continue;  // ends before the candidate begins
    if (steps_[i].since >= AddSaturating(candidate, length) && steps_[i].since > candidate) {
      return candidate;
    }
    if (FitsWithin(need, steps_[i].free)) continue;
    // Not before this step is over. The last step always has everything that is ever free.
    if (i + 1 < steps_.size()) candidate = steps_[i + 1].since;
  }
  return candidate;
}

}  // namespace drasim
