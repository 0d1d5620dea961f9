#include "traces/stats.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/random.h"
#include "tests/testing/assert_ok.h"
#include "tests/testing/data_text.h"
#include "traces/embedded.h"
#include "traces/generator.h"

namespace drasim {
namespace stats_test {

constexpr int64_t kMib = int64_t{1} << 20;
constexpr int64_t kMaxInt64 = std::numeric_limits<int64_t>::max();

int64_t QuantileOfOne(int64_t seconds) {
  SecondsHistogram histogram;
  histogram.Add(seconds);
  return histogram.Quantile(500);
}

// |found - exact| <= exact / 128, without leaving 64 bits.
bool IsClose(int64_t found, int64_t exact) {
  return std::max(found, exact) - std::min(found, exact) <= exact / 128;
}

TEST(SecondsHistogramTest, SmallValuesAreExact) {
  for (int64_t seconds = 0; seconds < 128; ++seconds) EXPECT_EQ(QuantileOfOne(seconds), seconds);
}

TEST(SecondsHistogramTest, BucketsAreRepresentedByTheirMiddle) {
  EXPECT_EQ(QuantileOfOne(128), 129);  // 128..129
  EXPECT_EQ(QuantileOfOne(129), 129);
  EXPECT_EQ(QuantileOfOne(130), 131);
  EXPECT_EQ(QuantileOfOne(255), 255);  // 254..255
  EXPECT_EQ(QuantileOfOne(256), 258);  // 256..259
  EXPECT_EQ(QuantileOfOne(259), 258);
  EXPECT_EQ(QuantileOfOne(260), 262);
  EXPECT_EQ(QuantileOfOne(86400), 86528);  // 86016..87039
}

TEST(SecondsHistogramTest, RelativeErrorIsAtMostOne128th) {
  for (int64_t seconds = 0; seconds < 20000; ++seconds) {
    ASSERT_TRUE(IsClose(QuantileOfOne(seconds), seconds)) << seconds;
  }
  for (int bit = 14; bit < 63; ++bit) {
    const int64_t power = int64_t{1} << bit;
    for (const int64_t seconds : {power - 1, power, power + 1, power + power / 3}) {
      ASSERT_TRUE(IsClose(QuantileOfOne(seconds), seconds)) << seconds;
    }
  }
  EXPECT_TRUE(IsClose(QuantileOfOne(kMaxInt64), kMaxInt64));
}

TEST(SecondsHistogramTest, QuantilesAreThoseOfTheSortedValues) {
  Random random(1, "stats_test");
  for (const size_t size : {size_t{1}, size_t{2}, size_t{3}, size_t{999}, size_t{1000}}) {
    std::vector<int64_t> values;
    SecondsHistogram histogram;
    for (size_t i = 0; i < size; ++i) {
      // All magnitudes up to 2^40.
      const uint64_t limit = uint64_t{1} << random.Below(41);
      values.push_back(static_cast<int64_t>(random.Below(limit)));
      histogram.Add(values.back());
    }
    EXPECT_EQ(histogram.count(), static_cast<int64_t>(size));
    std::sort(values.begin(), values.end());
    for (int permille = 1; permille <= 1000; ++permille) {
      const size_t rank = (size * static_cast<size_t>(permille) + 999) / 1000;
      ASSERT_TRUE(IsClose(histogram.Quantile(permille), values[rank - 1]))
          << permille << " of " << size;
    }
  }
}

class TraceStatsTest : public ::testing::Test {
 protected:
  TraceStatsTest() : shapes_(&models_), stats_(&shapes_) {}

  static PodShape Shape(int64_t cpu_milli, int64_t memory_bytes, int32_t gpu_count,
                        int32_t gpu_milli, absl::string_view gpu_spec) {
    PodShape shape;
    shape.request.cpu_milli = cpu_milli;
    shape.request.memory_bytes = memory_bytes;
    shape.request.gpu_count = gpu_count;
    shape.request.gpu_milli = gpu_milli;
    shape.request.gpu_spec = std::string(gpu_spec);
    return shape;
  }

  void Add(const PodShape& shape, int64_t arrival_ns) {
    JobArrival pod;
    pod.shape = shapes_.Intern(shape);
    pod.time = SimTime(arrival_ns);
    stats_.Add(pod);
  }

  void AddTimed(const PodShape& shape, int64_t arrival_ns, int64_t run_time_ns) {
    JobArrival pod;
    pod.shape = shapes_.Intern(shape);
    pod.time = SimTime(arrival_ns);
    pod.has_run_time = true;
    pod.run_time = SimDuration(run_time_ns);
    stats_.Add(pod);
  }

  // Two share pods with run times and one that asks for two whole GPUs.
  void AddThree() {
    const PodShape share = Shape(1000, kMib, 1, 500, "");
    AddTimed(share, 0, 60'000'000'000);
    Add(Shape(4000, 2 * kMib + 1, 2, 1000, "G2|T4"), 1'500'000'000);
    AddTimed(share, 10'000'000'000, 120'400'000'000);
  }

  GpuModelTable models_;
  ShapeTable shapes_;
  TraceStats stats_;
};

TEST_F(TraceStatsTest, Table) {
  AddThree();
  const std::string& expected = TestText("Table.expected");
  EXPECT_EQ(stats_.Summary(10).ToTable(), expected);
}

TEST_F(TraceStatsTest, Json) {
  AddThree();
  const std::string& expected = TestText("Json.expected");
  EXPECT_EQ(stats_.Summary(10).ToJson(), expected);
}

TEST_F(TraceStatsTest, NothingAtAll) {
  const TraceSummary summary = stats_.Summary(10);
  EXPECT_EQ(summary.pods, 0);
  EXPECT_TRUE(summary.by_gpu_count.empty());
  const std::string json = summary.ToJson();
  EXPECT_NE(json.find("\"by_gpu_count\": [],\n"), std::string::npos) << json;
  EXPECT_NE(json.find("\"arrivals\": null,\n"), std::string::npos) << json;
  EXPECT_NE(json.find("\"run_time\": {\"pods\": 0, \"min_ns\": null, \"max_ns\": null, "
                      "\"mean_ns\": null, \"quantiles_s\": null},\n"),
            std::string::npos)
      << json;
  EXPECT_NE(json.find("\"top_shapes\": []\n"), std::string::npos) << json;
  const std::string& table = TestText("NothingAtAll.table");
  EXPECT_EQ(summary.ToTable(), table);
}

TEST_F(TraceStatsTest, ShareBinsAndTheirEdges) {
  const std::vector<std::pair<int32_t, size_t>> bin_of = {{1, 0},   {100, 0}, {101, 1}, {500, 4},
                                                          {900, 8}, {901, 9}, {999, 9}};
  std::array<int64_t, TraceSummary::kShareBins> expected{};
  for (const auto& [gpu_milli, bin] : bin_of) {
    Add(Shape(1, 0, 1, gpu_milli, ""), 0);
    ++expected[bin];
  }
  Add(Shape(1, 0, 1, 1000, ""), 0);  // not a share
  Add(Shape(1, 0, 0, 0, ""), 0);
  const TraceSummary summary = stats_.Summary(10);
  EXPECT_EQ(summary.share_pods, 7);
  EXPECT_EQ(summary.share_bins, expected);
}

TEST_F(TraceStatsTest, TopShapesByCountThenFirstAppearance) {
  for (const int64_t cpu_milli : {1, 2, 3, 2, 3, 4}) Add(Shape(cpu_milli, 0, 0, 0, ""), 0);
  const TraceSummary summary = stats_.Summary(3);
  EXPECT_EQ(summary.distinct_shapes, 4);
  ASSERT_EQ(summary.top_shapes.size(), 3u);
  EXPECT_EQ(summary.top_shapes[0].shape.request.cpu_milli, 2);
  EXPECT_EQ(summary.top_shapes[0].pods, 2);
  EXPECT_EQ(summary.top_shapes[1].shape.request.cpu_milli, 3);
  EXPECT_EQ(summary.top_shapes[2].shape.request.cpu_milli, 1);
  EXPECT_EQ(summary.top_shapes[2].pods, 1);
  EXPECT_TRUE(stats_.Summary(0).top_shapes.empty());
}

TEST_F(TraceStatsTest, SumsThatLeave64BitsSaySo) {
  for (int i = 0; i < 3; ++i) Add(Shape(kMaxInt64 / 2, kMaxInt64, 0, 0, ""), 0);
  const TraceSummary summary = stats_.Summary(1);
  EXPECT_EQ(summary.cpu_milli, kMaxInt64);
  EXPECT_EQ(summary.memory_bytes, kMaxInt64);
  EXPECT_EQ(summary.exceeded, (std::vector<std::string>{"cpu_milli", "memory_bytes"}));
  EXPECT_TRUE(
      absl::StrContains(summary.ToTable(), "requested CPU, milli     above 9223372036854775807\n"))
      << summary.ToTable();
  EXPECT_TRUE(absl::StrContains(
      summary.ToJson(), "\"gpu_milli\": 0, \"exceeded\": [\"cpu_milli\", \"memory_bytes\"]}"))
      << summary.ToJson();
}

TEST_F(TraceStatsTest, TimesInAnyOrder) {
  const PodShape shape = Shape(1, 0, 0, 0, "");
  AddTimed(shape, 5'000'000'000, 1'500'000'000);  // 2 s in the histogram
  AddTimed(shape, -1'000'000'000, -7);            // counts as 0
  AddTimed(shape, 3'000'000'000, kMaxInt64);
  const TraceSummary summary = stats_.Summary(1);
  EXPECT_EQ(summary.first_arrival_ns, -1'000'000'000);
  EXPECT_EQ(summary.last_arrival_ns, 5'000'000'000);
  EXPECT_EQ(summary.timed_pods, 3);
  EXPECT_EQ(summary.min_run_time_ns, 0);
  EXPECT_EQ(summary.max_run_time_ns, kMaxInt64);
  EXPECT_EQ(summary.mean_run_time_ns, (kMaxInt64 / 3) + 500'000'000);
  EXPECT_EQ(summary.run_time_quantiles_s[0], 0);  // p1
  EXPECT_EQ(summary.run_time_quantiles_s[3], 2);  // p50
  EXPECT_TRUE(IsClose(summary.run_time_quantiles_s[7], 9223372037));
}

TEST_F(TraceStatsTest, JsonEscapesText) {
  Add(Shape(1, 0, 1, 1000, "a\"b\\c\n"), 0);
  const std::string json = stats_.Summary(1).ToJson();
  const std::string expected = R"("gpu_spec": "a\"b\\c\u000a"})";
  EXPECT_NE(json.find(expected), std::string::npos) << json;
}

// The published figures of openb, through the generator and the statistics.
TEST_F(TraceStatsTest, OpenbLikeWorkload) {
  ASSERT_OK_AND_ASSIGN(const WorkloadTable table,
                       ParseWorkloadTable(EmbeddedOpenbLikeTable(), "openb_like.csv"));
  GeneratedOptions options;
  options.interarrival = "constant(10)";
  options.run_time = "constant(100)";
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<GeneratedSource> source,
                       GeneratedSource::Create(table, options, &shapes_));
  JobArrival pod;
  for (;;) {
    ASSERT_OK_AND_ASSIGN(const bool more, source->Next(&pod));
    if (!more) break;
    stats_.Add(pod);
  }
  const TraceSummary summary = stats_.Summary(2);
  EXPECT_EQ(summary.pods, 8152);
  EXPECT_EQ(summary.share_pods, 3078);
  EXPECT_EQ(summary.gpus, 7433);
  EXPECT_EQ(summary.gpu_milli, 6086800);
  EXPECT_EQ(summary.distinct_shapes, 151);
  ASSERT_EQ(summary.by_gpu_count.size(), 5u);
  EXPECT_EQ(summary.by_gpu_count[0].pods, 1088);
  EXPECT_EQ(summary.by_gpu_count[0].gpu_milli, 0);
  EXPECT_EQ(summary.by_gpu_count[1].pods, 6989);
  EXPECT_EQ(summary.by_gpu_count[4].gpu_count, 8);
  EXPECT_EQ(summary.by_gpu_count[4].gpu_milli, 352000);
  ASSERT_EQ(summary.top_shapes.size(), 2u);
  EXPECT_EQ(summary.top_shapes[0].pods, 1047);
  EXPECT_EQ(summary.top_shapes[0].shape.request.gpu_milli, 810);
  EXPECT_EQ(summary.last_arrival_ns, 81'510'000'000'000);
  EXPECT_EQ(summary.timed_pods, 8152);
  EXPECT_EQ(summary.mean_run_time_ns, 100'000'000'000);
  EXPECT_EQ(summary.run_time_quantiles_s[3], 100);
}

}  // namespace stats_test
}  // namespace drasim
