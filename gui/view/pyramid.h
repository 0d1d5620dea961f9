// Smallest and largest values of a time series over any span of time, for plots that lose no spike.
//
// Blocks of 8 samples, of 64, of 512 and so on keep their minimum and maximum, so a query reads a
// few blocks per level instead of all samples. Append-only: a plot may read while nobody appends.
//
//   Pyramid waiting;
//   waiting.Append(SimTime(0), 3);
//   const SampleSummary column = waiting.Query(begin, end);
//   if (!column.empty()) Draw(column.min, column.max);
#ifndef DRASIM_GUI_VIEW_PYRAMID_H_
#define DRASIM_GUI_VIEW_PYRAMID_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "model/time.h"

namespace drasim::view {

// Samples of a span of time. The values are valid unless it is empty.
struct SampleSummary {
  double min = 0;
  double max = 0;
  double first = 0;
  double last = 0;
  size_t count = 0;
  bool empty() const { return count == 0; }
  bool operator==(const SampleSummary&) const = default;
};

class Pyramid {
 public:
  Pyramid() = default;
  // REQUIRES: equally long; times do not decrease; values are finite. O(n).
  static Pyramid Build(absl::Span<const SimTime> times, absl::Span<const double> values);

  // REQUIRES: not before the last sample; a finite value. Amortised O(1).
  void Append(SimTime time, double value);
  // Appends a block that is known by its summary alone, as samples at its first instant, its middle
  // and its last instant. Where in the block the extremes lay is lost, the extremes are not.
  // REQUIRES: begin <= end, not before the last sample; min <= first, last <= max.
  void AppendBlock(SimTime begin, SimTime end, const SampleSummary& block);
  void Reserve(size_t samples);

  size_t size() const { return values_.size(); }
  bool empty() const { return values_.empty(); }
  SimTime time(size_t sample) const { return SimTime(times_ns_[sample]); }
  double value(size_t sample) const { return values_[sample]; }

  // The first sample at or after `time`, size() if there is none. O(log n).
  size_t LowerBound(SimTime time) const { return LowerBoundFrom(0, time); }
  // The same, searched upwards from `hint`: O(log distance).
  // REQUIRES: no sample before `hint` is at or after `time`.
  size_t LowerBoundFrom(size_t hint, SimTime time) const;

  // The last value at or before `time`. Absent before the first sample. O(log n).
  std::optional<double> ValueAt(SimTime time) const;
  // The time of the first sample that reaches `value`. REQUIRES: values do not decrease. O(log n).
  std::optional<SimTime> FirstReaching(double value) const;

  // Samples with begin <= time < end. O(log n).
  SampleSummary Query(SimTime begin, SimTime end) const;
  // Samples by number, from `begin` to before `end`. REQUIRES: begin <= end <= size(). O(log n).
  SampleSummary QuerySamples(size_t begin, size_t end) const;
  // Query for each pixel column [edges[i], edges[i + 1]). REQUIRES: edges do not decrease; there is
  // one more of them than of columns.
  void QueryColumns(absl::Span<const SimTime> edges, absl::Span<SampleSummary> columns) const;

 private:
  struct Extremes {
    double min = 0;
    double max = 0;
  };

  std::vector<int64_t> times_ns_;
  std::vector<double> values_;
  std::vector<std::vector<Extremes>> levels_;  // complete blocks of 8, 64, 512, ... samples
};

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_PYRAMID_H_
