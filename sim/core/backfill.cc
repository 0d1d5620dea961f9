#include "sim/core/backfill.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "model/check.h"

namespace drasim {

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

void AvailabilityProfile::Release(const std::vector<RunningJob>& ends) {
  for (const RunningJob& running : ends) {
    // In a copy: push_back may move the last step.
    Step step = steps_.back();
    DRASIM_CHECK(running.expected_end >= step.since);
    step.free.Add(running.request, 1);
    if (running.expected_end == step.since) {
      steps_.back() = step;
      continue;
    }
    step.since = running.expected_end;
    steps_.push_back(step);
  }
}

SimDuration AvailabilityProfile::FreeFor(const ResourceAmounts& need, SimTime from) const {
  for (size_t i = StepAt(from); i < steps_.size(); ++i) {
    if (FitsWithin(need, steps_[i].free)) continue;
    return std::max(steps_[i].since - from, SimDuration());
  }
  return SimDuration(std::numeric_limits<int64_t>::max());
}

// The step at that time, or the first.
size_t AvailabilityProfile::StepAt(SimTime at) const {
  const auto after = std::upper_bound(steps_.begin(), steps_.end(), at,
                                      [](SimTime t, const Step& s) { return t < s.since; });
  return after == steps_.begin() ? 0 : static_cast<size_t>(after - steps_.begin()) - 1;
}

void AvailabilityProfile::Reserve(SimTime start, SimDuration length,
                                  const ResourceAmounts& amounts) {
  const SimTime end = AddSaturating(start, length);
  const size_t first = Cut(start);
  const size_t last = Cut(end);
  for (size_t i = first; i < last; ++i) steps_[i].free.Add(amounts, -1);
}

SimTime AvailabilityProfile::NextChange(SimTime time) const {
  const auto next = std::upper_bound(steps_.begin(), steps_.end(), time,
                                     [](SimTime t, const Step& s) { return t < s.since; });
  return next == steps_.end() ? time : next->since;
}

SimTime AvailabilityProfile::EarliestFit(const ResourceAmounts& need, SimDuration length,
                                         SimTime from) const {
  SimTime candidate = std::max(from, steps_.front().since);
  for (size_t i = StepAt(candidate); i < steps_.size(); ++i) {
    if (steps_[i].since >= AddSaturating(candidate, length) && steps_[i].since > candidate) {
      return candidate;
    }
    if (FitsWithin(need, steps_[i].free)) continue;
    // Not before the end of this step. The last step always has everything that is ever free.
    if (i + 1 < steps_.size()) candidate = steps_[i + 1].since;
  }
  return candidate;
}

SimTime EarliestStarts::Bound(SimDuration length, SimTime otherwise) const {
  const auto longer = starts_.upper_bound(length);
  return longer == starts_.begin() ? otherwise : std::max(std::prev(longer)->second, otherwise);
}

void EarliestStarts::Learn(SimDuration length, SimTime start) {
  if (Bound(length, start) > start) return;
  auto it = starts_.insert_or_assign(length, start).first;
  // Longer ones start no earlier, so smaller bounds for them are useless now.
  for (++it; it != starts_.end() && it->second <= start;) it = starts_.erase(it);
}

}  // namespace drasim
