// Series that are made from others: rates and differences of counters, and weighted sums such as
// shares in per cent.
//
//   const RateBuckets buckets = BucketsFor(begin, end, pixels / 2);
//   const Pyramid per_minute = RateSeries(attempts_failed, buckets, SimDuration::Seconds(60));
#ifndef DRASIM_GUI_VIEW_RATE_SERIES_H_
#define DRASIM_GUI_VIEW_RATE_SERIES_H_

#include <cstddef>

#include "absl/types/span.h"
#include "gui/view/pyramid.h"
#include "model/time.h"

namespace drasim::view {

// Spans of time of one length, one behind the other.
struct RateBuckets {
  SimTime begin;
  SimDuration length = SimDuration(1);
  size_t count = 0;
  bool operator==(const RateBuckets&) const = default;
};

// At most `most` + 2 buckets that cover [begin, end]. Their length is round (1, 2 or 5 times a
// power of ten below a second; 1, 2, 5, 10, 15, 30 seconds and minutes; 1, 2, 3, 6, 12 hours;
// days), and they begin at multiples of it, so they stay where they are while a window moves.
// REQUIRES: 0 <= begin < end, most > 0.
RateBuckets BucketsFor(SimTime begin, SimTime end, size_t most);

// The growth of a counter in each bucket, per `per`: a sample at the bucket's begin. Between two
// samples the counter is taken to grow evenly, and to be zero before the first one, so the growth
// of neighbouring buckets adds up. O(buckets x log samples). REQUIRES: per > 0.
Pyramid RateSeries(const Pyramid& counter, const RateBuckets& buckets, SimDuration per);

// A counter of what `all` counts and `some` does not: the largest all - some so far. `some` may run
// ahead within an instant. O(samples).
Pyramid CountBeyond(const Pyramid& all, const Pyramid& some);

struct SeriesTerm {
  const Pyramid* data = nullptr;
  double weight = 1;
};
// constant + the sum of weight x value, for series of steps: a sample at every instant at which a
// term has one. A term counts from its first sample on. O(samples x terms).
Pyramid WeightedSum(double constant, absl::Span<const SeriesTerm> terms);

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_RATE_SERIES_H_
