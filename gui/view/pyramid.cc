#include "gui/view/pyramid.h"

#include <algorithm>
#include <limits>

#include "model/check.h"

namespace drasim::view {
namespace {

constexpr size_t kFanOut = 8;

bool IsFinite(double value) {
  return value >= std::numeric_limits<double>::lowest() &&
         value <= std::numeric_limits<double>::max();
}

}  // namespace

Pyramid Pyramid::Build(absl::Span<const SimTime> times, absl::Span<const double> values) {
  DRASIM_CHECK_EQ(times.size(), values.size());
  Pyramid pyramid;
  pyramid.Reserve(times.size());
  for (size_t i = 0; i < times.size(); ++i) pyramid.Append(times[i], values[i]);
  return pyramid;
}

void Pyramid::Reserve(size_t samples) {
  times_ns_.reserve(samples);
  values_.reserve(samples);
}

void Pyramid::Append(SimTime time, double value) {
  DRASIM_CHECK(times_ns_.empty() || time.ns() >= times_ns_.back());
  DRASIM_CHECK(IsFinite(value));
  times_ns_.push_back(time.ns());
  values_.push_back(value);
  // A block is stored as soon as its last sample is there, and may in turn end a larger one.
  size_t complete = values_.size();
  for (size_t level = 0; complete % kFanOut == 0; ++level) {
    complete /= kFanOut;
    Extremes block;
    if (level == 0) {
      const auto [min, max] = std::minmax_element(values_.end() - kFanOut, values_.end());
      block.min = *min;
      block.max = *max;
    } else {
      const std::vector<Extremes>& parts = levels_[level - 1];
      block = parts.back();
      for (size_t i = parts.size() - kFanOut; i < parts.size(); ++i) {
        block.min = std::min(block.min, parts[i].min);
        block.max = std::max(block.max, parts[i].max);
      }
    }
    if (levels_.size() == level) levels_.emplace_back();
    levels_[level].push_back(block);
  }
}

void Pyramid::AppendBlock(SimTime begin, SimTime end, const SampleSummary& block) {
  DRASIM_CHECK(begin <= end);
  DRASIM_CHECK(block.min <= block.first && block.min <= block.last);
  DRASIM_CHECK(block.max >= block.first && block.max >= block.last);
  const SimTime middle = begin + SimDuration((end - begin).ns() / 2);
  Append(begin, block.first);
  // An extreme that is an end of the block needs no sample of its own.
  const bool min_inside = block.min < std::min(block.first, block.last);
  const bool max_inside = block.max > std::max(block.first, block.last);
  if (min_inside) Append(middle, block.min);
  if (max_inside) Append(middle, block.max);
  if (end > begin || min_inside || max_inside || block.last != block.first) {
    Append(end, block.last);
  }
}

size_t Pyramid::LowerBoundFrom(size_t hint, SimTime time) const {
  const int64_t ns = time.ns();
  const size_t size = times_ns_.size();
  // Neighbouring columns end near each other: double the stride until the end is passed.
  size_t low = hint;
  size_t stride = 1;
  while (low + stride <= size && times_ns_[low + stride - 1] < ns) {
    low += stride;
    stride *= 2;
  }
  const size_t high = std::min(size, low + stride);
  const auto begin = times_ns_.begin();
  return static_cast<size_t>(std::lower_bound(begin + static_cast<std::ptrdiff_t>(low),
                                              begin + static_cast<std::ptrdiff_t>(high), ns) -
                             begin);
}

std::optional<double> Pyramid::ValueAt(SimTime time) const {
  const auto after = std::upper_bound(times_ns_.begin(), times_ns_.end(), time.ns());
  if (after == times_ns_.begin()) return std::nullopt;
  return values_[static_cast<size_t>(after - times_ns_.begin()) - 1];
}

std::optional<SimTime> Pyramid::FirstReaching(double value) const {
  const auto found = std::lower_bound(values_.begin(), values_.end(), value);
  if (found == values_.end()) return std::nullopt;
  return SimTime(times_ns_[static_cast<size_t>(found - values_.begin())]);
}

SampleSummary Pyramid::Query(SimTime begin, SimTime end) const {
  if (end <= begin) return {};
  const size_t first = LowerBound(begin);
  return QuerySamples(first, LowerBoundFrom(first, end));
}

SampleSummary Pyramid::QuerySamples(size_t begin, size_t end) const {
  DRASIM_CHECK(begin <= end && end <= values_.size());
  SampleSummary summary;
  if (begin == end) return summary;
  summary.count = end - begin;
  summary.first = summary.min = summary.max = values_[begin];
  summary.last = values_[end - 1];
  const auto take = [&summary](double min, double max) {
    summary.min = std::min(summary.min, min);
    summary.max = std::max(summary.max, max);
  };
  // Single samples up to the borders of whole blocks, then blocks up to the borders of larger ones.
  // Every block inside is complete, because it ends at or before `end`.
  for (; begin < end && begin % kFanOut != 0; ++begin) take(values_[begin], values_[begin]);
  for (; begin < end && end % kFanOut != 0; --end) take(values_[end - 1], values_[end - 1]);
  for (size_t level = 0; begin < end; ++level) {
    begin /= kFanOut;
    end /= kFanOut;
    const std::vector<Extremes>& blocks = levels_[level];
    for (; begin < end && begin % kFanOut != 0; ++begin) {
      take(blocks[begin].min, blocks[begin].max);
    }
    for (; begin < end && end % kFanOut != 0; --end) {
      take(blocks[end - 1].min, blocks[end - 1].max);
    }
  }
  return summary;
}

void Pyramid::QueryColumns(absl::Span<const SimTime> edges,
                           absl::Span<SampleSummary> columns) const {
  DRASIM_CHECK_EQ(edges.size(), columns.size() + 1);
  size_t begin = LowerBound(edges[0]);
  for (size_t i = 0; i < columns.size(); ++i) {
    const size_t end = LowerBoundFrom(begin, edges[i + 1]);
    columns[i] = QuerySamples(begin, end);
    begin = end;
  }
}

}  // namespace drasim::view
