#include "gui/view/rate_series.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "model/check.h"

namespace drasim::view {
namespace {

constexpr std::array<int64_t, 17> kRoundLengths = {
    kSecondNs, 2 * kSecondNs, 5 * kSecondNs, 10 * kSecondNs, 15 * kSecondNs, 30 * kSecondNs,
    kMinuteNs, 2 * kMinuteNs, 5 * kMinuteNs, 10 * kMinuteNs, 15 * kMinuteNs, 30 * kMinuteNs,
    kHourNs,   2 * kHourNs,   3 * kHourNs,   6 * kHourNs,    12 * kHourNs};

// The smallest round length that is at least `least`.
int64_t RoundLength(int64_t least) {
  for (int64_t power = 1; power < kSecondNs; power *= 10) {
    for (const int64_t factor : {1, 2, 5}) {
      if (factor * power >= least) return factor * power;
    }
  }
  for (const int64_t length : kRoundLengths) {
    if (length >= least) return length;
  }
  int64_t length = kDayNs;
  while (length < least) length *= 2;
  return length;
}

// The value of a counter at an instant; `next` is its first sample at or after that.
double CountAt(const Pyramid& counter, size_t next, SimTime time) {
  if (next == 0) return 0;
  const double before = counter.value(next - 1);
  if (next == counter.size()) return before;
  const auto span = static_cast<double>((counter.time(next) - counter.time(next - 1)).ns());
  const auto way = static_cast<double>((time - counter.time(next - 1)).ns());
  return before + (counter.value(next) - before) * (way / span);
}

}  // namespace

RateBuckets BucketsFor(SimTime begin, SimTime end, size_t most) {
  DRASIM_CHECK(begin >= SimTime() && begin < end && most > 0);
  const int64_t span = (end - begin).ns();
  const auto buckets = static_cast<int64_t>(most);
  RateBuckets result;
  result.length = SimDuration(RoundLength(span / buckets + (span % buckets != 0 ? 1 : 0)));
  result.begin = SimTime(begin.ns() - begin.ns() % result.length.ns());
  result.count = static_cast<size_t>((end - result.begin).ns() / result.length.ns()) + 1;
  return result;
}

Pyramid RateSeries(const Pyramid& counter, const RateBuckets& buckets, SimDuration per) {
  DRASIM_CHECK(per > SimDuration());
  const double scale = static_cast<double>(per.ns()) / static_cast<double>(buckets.length.ns());
  Pyramid rates;
  rates.Reserve(buckets.count);
  SimTime time = buckets.begin;
  size_t next = counter.LowerBound(time);
  double before = CountAt(counter, next, time);
  for (size_t i = 0; i < buckets.count; ++i) {
    const SimTime end = AddSaturating(time, buckets.length);
    next = counter.LowerBoundFrom(next, end);
    const double after = CountAt(counter, next, end);
    rates.Append(time, (after - before) * scale);
    before = after;
    time = end;
  }
  return rates;
}

Pyramid CountBeyond(const Pyramid& all, const Pyramid& some) {
  const Pyramid differences = WeightedSum(0, {{&all, 1}, {&some, -1}});
  Pyramid count;
  count.Reserve(differences.size());
  double largest = 0;
  for (size_t i = 0; i < differences.size(); ++i) {
    largest = std::max(largest, differences.value(i));
    count.Append(differences.time(i), largest);
  }
  return count;
}

Pyramid WeightedSum(double constant, absl::Span<const SeriesTerm> terms) {
  Pyramid sums;
  std::vector<size_t> next(terms.size(), 0);  // by term: the first sample that is not counted
  while (true) {
    SimTime now(std::numeric_limits<int64_t>::max());
    bool more = false;
    for (size_t t = 0; t < terms.size(); ++t) {
      if (next[t] == terms[t].data->size()) continue;
      more = true;
      now = std::min(now, terms[t].data->time(next[t]));
    }
    if (!more) return sums;
    // One sample of each per round: several of one instant may be the extremes of a block.
    double sum = constant;
    for (size_t t = 0; t < terms.size(); ++t) {
      const Pyramid& data = *terms[t].data;
      if (next[t] < data.size() && data.time(next[t]) <= now) ++next[t];
      if (next[t] > 0) sum += terms[t].weight * data.value(next[t] - 1);
    }
    sums.Append(now, sum);
  }
}

}  // namespace drasim::view
