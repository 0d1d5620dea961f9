// Sorting, shuffling and tuning of a workload in memory.

#include "traces/workload.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "tests/testing/key_errors.h"

namespace drasim {
namespace workload_test {

class ListSource : public EventSource {
 public:
  explicit ListSource(std::vector<JobArrival> pods) : pods_(std::move(pods)) {}
  absl::StatusOr<bool> Next(JobArrival* out) override {
    if (next_ == pods_.size()) return false;
    *out = pods_[next_++];
    return true;
  }
  void Save(StateWriter&) const override {}
  absl::Status Load(StateReader&) override { return absl::OkStatus(); }

 private:
  std::vector<JobArrival> pods_;
  size_t next_ = 0;
};

// Hands out scripted draws.
class ScriptedStreams : public RunStreams {
 public:
  std::deque<uint64_t> draws;
  std::vector<uint64_t> limits;
  void ShuffleArrivals(absl::Span<uint32_t> order) override {
    std::reverse(order.begin(), order.end());
  }
  uint64_t DrawTuning(uint64_t n) override {
    limits.push_back(n);
    const uint64_t draw = draws.front();
    draws.pop_front();
    return draw;
  }
  std::vector<uint32_t> NodeRanks(size_t nodes) override { return std::vector<uint32_t>(nodes); }
  uint64_t DrawPolicy(uint64_t) override { return 0; }
  void Save(StateWriter&) const override {}
  absl::Status Load(StateReader&) override { return absl::OkStatus(); }
};

class WorkloadTest : public testing::Test {
 protected:
  WorkloadTest() : shapes_(&models_) {
    // One whole GPU; eight; half of one.
    for (const auto& [count, milli] : {std::pair(1, 1000), std::pair(8, 1000), std::pair(1, 500)}) {
      PodShape shape;
      shape.request.cpu_milli = 1;
      shape.request.gpu_count = count;
      shape.request.gpu_milli = milli;
      shapes_.Intern(shape);
    }
  }
  Workload Read(const std::vector<std::pair<std::string, uint32_t>>& pods, uint64_t limit = 0) {
    std::vector<JobArrival> arrivals;
    for (const auto& [name, shape] : pods) {
      JobArrival pod;
      pod.name = name;
      pod.shape = ShapeId(shape);
      pod.time = SimTime(static_cast<int64_t>(arrivals.size()) * 10);
      arrivals.push_back(pod);
    }
    ListSource source(arrivals);
    return *Workload::Read(source, limit);
  }
  std::vector<std::string> Names(const Workload& workload) {
    std::vector<std::string> names;
    for (const Workload::Entry& e : workload.order()) names.push_back(workload.NameOf(e));
    return names;
  }
  GpuModelTable models_;
  ShapeTable shapes_;
  ScriptedStreams streams_;
};

using Strings = std::vector<std::string>;

TEST_F(WorkloadTest, SortsByBytesAndShuffles) {
  Workload w = Read({{"b", 0}, {"B", 0}, {"a10", 0}, {"a2", 0}});
  w.SortByName();
  EXPECT_EQ(Names(w), (Strings{"B", "a10", "a2", "b"}));
  w.Shuffle(streams_);
  EXPECT_EQ(Names(w), (Strings{"b", "a2", "a10", "B"}));
  EXPECT_EQ(w.CountByShape(3), (std::vector<int64_t>{4, 0, 0}));
}

TEST_F(WorkloadTest, LimitsWhatItReads) {
  EXPECT_EQ(Read({{"a", 0}, {"b", 0}, {"c", 0}}, 2).rows().size(), 2u);
}

TEST_F(WorkloadTest, TunesUpUntilTheNextPodWouldOvershootByOneDevice) {
  // 1500 milli there, 3000 wanted: +500 (clone 0), then a whole GPU fits exactly, then nothing
  // does.
  Workload w = Read({{"whole", 0}, {"half", 2}});
  streams_.draws = {1, 0, 1};
  w.Tune(3.0, 1000, shapes_, streams_);
  EXPECT_EQ(Names(w), (Strings{"whole", "half", "half-tuned-0", "whole-tuned-1"}));
  EXPECT_EQ(streams_.limits, (std::vector<uint64_t>{2, 2, 2}));
  EXPECT_TRUE(streams_.draws.empty());
}

// Else it would clone until the memory is used up.
TEST_F(WorkloadTest, TuningHasABound) {
  const Workload workload = Read({{"a", 0}, {"b", 2}});  // 1500 milli
  EXPECT_EQ(workload.CheckTuning(1, 1500 * int64_t{50'000'000}, shapes_), absl::OkStatus());
  EXPECT_EQ(WithoutCheckedKey(workload.CheckTuning(1, 1500 * int64_t{50'000'001}, shapes_)),
            absl::InvalidArgumentError(
                "workload.tuning.ratio: found 1, for which 100000002 jobs are needed, expected one "
                "for which 100000000 are enough"));
  EXPECT_EQ(workload.CheckTuning(0.5, 1, shapes_), absl::OkStatus());
  EXPECT_EQ(Workload().CheckTuning(1e6, 1'000'000, shapes_), absl::OkStatus());
}

TEST_F(WorkloadTest, AMultiGpuPodMayOvershootByUpToSevenDevices) {
  // The test is made with one device's 1000, the sum grows by 8000: the artifact's asymmetry.
  Workload w = Read({{"eight", 1}});
  streams_.draws = {0, 0};
  w.Tune(9.0, 1000, shapes_, streams_);
  EXPECT_EQ(Names(w), (Strings{"eight", "eight-tuned-0"}));
}

TEST_F(WorkloadTest, TunesDownByErasingInPlace) {
  Workload w = Read({{"a", 0}, {"b", 0}, {"c", 0}});
  streams_.draws = {1, 0};
  w.Tune(1.0, 1000, shapes_, streams_);
  EXPECT_EQ(Names(w), (Strings{"c"}));
  EXPECT_EQ(streams_.limits, (std::vector<uint64_t>{3, 2}));
}

TEST_F(WorkloadTest, ServesClonesAtTheTimeOfTheLastOriginal) {
  Workload w = Read({{"a", 0}, {"b", 2}});
  streams_.draws = {0, 0};
  w.Tune(2.5, 1000, shapes_, streams_);
  WorkloadSource source(&w, true);
  std::vector<std::pair<std::string, int64_t>> got;
  JobArrival pod;
  while (*source.Next(&pod)) got.emplace_back(pod.name, pod.time.ns());
  const std::vector<std::pair<std::string, int64_t>> want = {
      {"a", 0}, {"b", 10}, {"a-tuned-0", 10}};
  EXPECT_EQ(got, want);
  StateWriter saved;
  WorkloadSource(&w, false).Save(saved);
  WorkloadSource again(&w, false);
  StateReader reader(saved.bytes());
  ASSERT_TRUE(again.Load(reader).ok());
  ASSERT_TRUE(*again.Next(&pod));
  EXPECT_EQ(pod.name, "a");
  EXPECT_EQ(pod.time.ns(), 0);
}

}  // namespace workload_test
}  // namespace drasim
