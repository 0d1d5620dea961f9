#include "gui/view/pyramid.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "model/random.h"
#include "model/time.h"

namespace drasim::view {
namespace pyramid_test {

struct Sample {
  SimTime time;
  double value = 0;
};

Pyramid PyramidOf(const std::vector<Sample>& samples) {
  Pyramid pyramid;
  for (const Sample& sample : samples) pyramid.Append(sample.time, sample.value);
  return pyramid;
}

// Looks at every sample.
SampleSummary FullScan(const std::vector<Sample>& samples, SimTime begin, SimTime end) {
  SampleSummary summary;
  for (const Sample& sample : samples) {
    if (sample.time < begin || sample.time >= end) continue;
    if (summary.count == 0) {
      summary.first = summary.min = summary.max = sample.value;
    }
    summary.min = std::min(summary.min, sample.value);
    summary.max = std::max(summary.max, sample.value);
    summary.last = sample.value;
    ++summary.count;
  }
  return summary;
}

// Times with gaps and with several samples at one instant.
std::vector<Sample> RandomSamples(Random* random, size_t count) {
  std::vector<Sample> samples;
  int64_t ns = 0;
  for (size_t i = 0; i < count; ++i) {
    if (random->Below(4) != 0) ns += static_cast<int64_t>(random->Below(20));
    Sample sample;
    sample.time = SimTime(ns);
    sample.value = static_cast<double>(random->Below(1'000'000)) - 500'000;
    samples.push_back(sample);
  }
  return samples;
}

TEST(PyramidTest, EqualsAFullScanForTenThousandRandomRanges) {
  Random random(7, "pyramid");
  size_t ranges = 0;
  // Around the sizes of blocks, and in between.
  const std::vector<size_t> counts = {0, 1, 2, 7, 8, 9, 63, 64, 65, 511, 512, 513, 600, 1000};
  for (const size_t count : counts) {
    const std::vector<Sample> samples = RandomSamples(&random, count);
    const Pyramid pyramid = PyramidOf(samples);
    const int64_t end_ns = samples.empty() ? 10 : samples.back().time.ns() + 10;
    for (int i = 0; i < 720; ++i, ++ranges) {
      const SimTime begin(static_cast<int64_t>(random.Below(static_cast<uint64_t>(end_ns))) - 5);
      const SimTime end(static_cast<int64_t>(random.Below(static_cast<uint64_t>(end_ns))) + 5);
      const SampleSummary expected = FullScan(samples, begin, end);
      const SampleSummary found = pyramid.Query(begin, end);
      ASSERT_EQ(found.count, expected.count) << count << " samples, range " << i;
      ASSERT_TRUE(found == expected) << count << " samples, range " << i;
    }
  }
  EXPECT_GE(ranges, size_t{10'000});
}

TEST(PyramidTest, ShowsASpikeOfOneSampleAmongAMillion) {
  constexpr size_t kSamples = 1'000'000;
  std::vector<SimTime> times;
  std::vector<double> values(kSamples, 5);
  times.reserve(kSamples);
  for (size_t i = 0; i < kSamples; ++i) times.push_back(SimTime(static_cast<int64_t>(i)));
  constexpr size_t kSpike = 654'321;
  values[kSpike] = 900;
  values[kSpike + 1] = -3;
  const Pyramid pyramid = Pyramid::Build(times, values);
  constexpr size_t kColumns = 1600;
  std::vector<SimTime> edges;
  for (size_t i = 0; i <= kColumns; ++i) {
    edges.push_back(SimTime(static_cast<int64_t>(i * kSamples / kColumns)));
  }
  std::vector<SampleSummary> columns(kColumns);
  pyramid.QueryColumns(edges, absl::MakeSpan(columns));
  size_t with_spike = 0;
  size_t samples = 0;
  for (size_t i = 0; i < kColumns; ++i) {
    samples += columns[i].count;
    if (columns[i].max != 900) {
      EXPECT_EQ(columns[i].max, 5);
      continue;
    }
    ++with_spike;
    EXPECT_EQ(columns[i].min, -3);
    EXPECT_EQ(i, kSpike * kColumns / kSamples);
  }
  EXPECT_EQ(with_spike, size_t{1});
  EXPECT_EQ(samples, kSamples);
}

TEST(PyramidTest, ColumnsEqualSingleQueries) {
  Random random(8, "columns");
  const std::vector<Sample> samples = RandomSamples(&random, 3000);
  const Pyramid pyramid = PyramidOf(samples);
  std::vector<SimTime> edges;
  for (int64_t ns = -50; ns < samples.back().time.ns() + 100;) {
    edges.push_back(SimTime(ns));
    ns += static_cast<int64_t>(random.Below(60));  // some columns are empty
  }
  std::vector<SampleSummary> columns(edges.size() - 1);
  pyramid.QueryColumns(edges, absl::MakeSpan(columns));
  for (size_t i = 0; i + 1 < edges.size(); ++i) {
    EXPECT_TRUE(columns[i] == FullScan(samples, edges[i], edges[i + 1])) << "column " << i;
  }
}

TEST(PyramidTest, FindsSamplesByTimeFromAnyHint) {
  Random random(9, "bounds");
  const std::vector<Sample> samples = RandomSamples(&random, 300);
  const Pyramid pyramid = PyramidOf(samples);
  for (int64_t ns = -2; ns < samples.back().time.ns() + 3; ++ns) {
    size_t expected = 0;
    while (expected < samples.size() && samples[expected].time < SimTime(ns)) ++expected;
    for (const size_t hint : {size_t{0}, expected / 2, expected}) {
      ASSERT_EQ(pyramid.LowerBoundFrom(hint, SimTime(ns)), expected) << ns << " from " << hint;
    }
  }
}

TEST(PyramidTest, HoldsValuesUntilTheNextSample) {
  const Pyramid pyramid = PyramidOf({{SimTime(10), 1}, {SimTime(20), 4}, {SimTime(20), 3}});
  EXPECT_FALSE(pyramid.ValueAt(SimTime(9)).has_value());
  EXPECT_EQ(pyramid.ValueAt(SimTime(10)), 1.0);
  EXPECT_EQ(pyramid.ValueAt(SimTime(19)), 1.0);
  EXPECT_EQ(pyramid.ValueAt(SimTime(20)), 3.0);
  EXPECT_EQ(pyramid.ValueAt(SimTime(1000)), 3.0);
  EXPECT_FALSE(Pyramid().ValueAt(SimTime(0)).has_value());
}

TEST(PyramidTest, FindsWhenAGrowingValueIsReached) {
  const Pyramid load =
      PyramidOf({{SimTime(0), 0}, {SimTime(5), 10}, {SimTime(9), 10}, {SimTime(12), 30}});
  EXPECT_EQ(load.FirstReaching(-1), SimTime(0));
  EXPECT_EQ(load.FirstReaching(0.5), SimTime(5));
  EXPECT_EQ(load.FirstReaching(10), SimTime(5));
  EXPECT_EQ(load.FirstReaching(30), SimTime(12));
  EXPECT_FALSE(load.FirstReaching(30.1).has_value());
}

TEST(PyramidTest, KeepsTheExtremesOfBlocks) {
  SampleSummary block;
  block.first = 4;
  block.last = 6;
  block.min = 1;
  block.max = 9;
  Pyramid pyramid;
  pyramid.AppendBlock(SimTime(100), SimTime(200), block);
  const SampleSummary all = pyramid.Query(SimTime(100), SimTime(201));
  EXPECT_EQ(all.count, size_t{4});
  EXPECT_EQ(all.first, 4);
  EXPECT_EQ(all.last, 6);
  EXPECT_EQ(all.min, 1);
  EXPECT_EQ(all.max, 9);
  EXPECT_EQ(pyramid.time(1), SimTime(150));

  // A block of one value is two samples, at one instant a single one.
  block.first = block.last = block.min = block.max = 7;
  pyramid.AppendBlock(SimTime(300), SimTime(400), block);
  EXPECT_EQ(pyramid.size(), size_t{6});
  pyramid.AppendBlock(SimTime(500), SimTime(500), block);
  EXPECT_EQ(pyramid.size(), size_t{7});
}

TEST(PyramidDeathTest, RefusesSamplesOutOfOrderAndNumbersThatAreNone) {
  Pyramid pyramid;
  pyramid.Append(SimTime(10), 1);
  EXPECT_DEATH(pyramid.Append(SimTime(9), 1), "CHECK failed");
  EXPECT_DEATH(pyramid.Append(SimTime(11), std::numeric_limits<double>::infinity()),
               "CHECK failed");
  EXPECT_DEATH(pyramid.Append(SimTime(11), std::numeric_limits<double>::quiet_NaN()),
               "CHECK failed");
}

}  // namespace pyramid_test
}  // namespace drasim::view
