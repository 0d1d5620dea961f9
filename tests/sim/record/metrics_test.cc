// Every figure of a sample, worked out by hand, after every record of a small run.
#include "sim/record/metrics.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/device_set.h"
#include "model/fragmentation.h"
#include "model/state_io.h"
#include "tests/sim/record/record_script.h"

namespace drasim {
namespace metrics_test {

// Half the pods want half a GPU, a quarter two GPUs, a quarter none. Weights are exact in binary,
// and so are all sums below.
FragmentationModel Model() {
  std::vector<TypicalPod> typical(3);
  typical[0].cpu_milli = 2000;
  typical[0].gpu_milli = 500;
  typical[0].gpu_count = 1;
  typical[0].model_mask = ~uint64_t{0};
  typical[0].weight = 0.5;
  typical[1].cpu_milli = 4000;
  typical[1].gpu_milli = 1000;
  typical[1].gpu_count = 2;
  typical[1].model_mask = ~uint64_t{0};
  typical[1].weight = 0.25;
  typical[2].cpu_milli = 1000;
  typical[2].weight = 0.25;
  return FragmentationModel(std::move(typical));
}

std::vector<double> Cases(const Sample& sample) {
  return {sample.fragmentation.by_case.begin(), sample.fragmentation.by_case.end()};
}

// Arrived, scheduled, dropped, finished, attempts failed, GPU milli arrived.
std::vector<int64_t> Counts(const Sample& s) {
  return {s.pods_arrived,  s.pods_scheduled,  s.pods_dropped,
          s.pods_finished, s.attempts_failed, s.gpu_arrived_milli};
}

TEST(MetricsSinkTest, AnIdleClusterIsCountedFromTheStart) {
  const FragmentationModel model = Model();
  const RecordScript script;
  const MetricsSink sink(&model, script.cluster());
  const Sample& s = sink.sample();
  EXPECT_EQ(Counts(s), (std::vector<int64_t>{0, 0, 0, 0, 0, 0}));
  // Q1, Q2, Q3, Q4, XL, XR, NA. node-a: all three fit or want none. node-b: too few GPUs for two.
  EXPECT_EQ(Cases(s), (std::vector<double>{0, 250, 2000, 0, 750, 0, 0}));
  EXPECT_EQ(s.fragmentation.amount_milli(), 1000.0);
  EXPECT_EQ(s.fragmentation.idle_milli(), 3000.0);
  EXPECT_DOUBLE_EQ(s.fragmentation.ratio_percent(), 100.0 / 3);
  EXPECT_DOUBLE_EQ(s.fragmentation.q124_percent(), 25.0 / 3);
  EXPECT_EQ(s.totals.gpu_milli_capacity, 3000);
  EXPECT_EQ(s.totals.gpu_milli_allocated, 0);
  EXPECT_TRUE(sink.dropped_by_shape().empty());
}

TEST(MetricsSinkTest, EveryRecordOfASmallRun) {
  const FragmentationModel model = Model();
  RecordScript script;
  MetricsSink sink(&model, script.cluster());
  std::vector<Sample> seen;
  sink.AddObserver([&seen](const Sample& sample) { seen.push_back(sample); });
  script.AddSink(&sink);

  script.At(1000);
  const ShapeId large = script.Shape(7000, 4 * kGib, 1, 500);
  const PodId first = script.Arrive("first", large);
  EXPECT_EQ(Counts(sink.sample()), (std::vector<int64_t>{1, 0, 0, 0, 0, 500}));
  script.Reserve(first, 0, DeviceSet::Of(0));
  ASSERT_EQ(seen.size(),
            1u);  // the charge counts from the reservation on; the arrival is no outcome
  EXPECT_EQ(seen[0].totals.gpu_milli_allocated, 500);
  EXPECT_EQ(seen[0].pods_scheduled, 0);
  seen.clear();

  script.At(2000);
  script.Bind(first, 0, DeviceSet::Of(0));
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].time, SimTime(2000));
  EXPECT_EQ(Counts(seen[0]), (std::vector<int64_t>{1, 1, 0, 0, 0, 500}));
  EXPECT_EQ(Cases(seen[0]), (std::vector<double>{375, 250, 500, 750, 625, 0, 0}));
  EXPECT_EQ(seen[0].fragmentation.amount_milli(), 2000.0);
  EXPECT_EQ(seen[0].fragmentation.ratio_percent(), 80.0);
  EXPECT_EQ(seen[0].fragmentation.q124_percent(), 55.0);
  EXPECT_EQ(seen[0].totals.gpu_milli_allocated, 500);
  EXPECT_EQ(seen[0].totals.cpu_milli_allocated, 7000);
  EXPECT_EQ(seen[0].totals.memory_bytes_allocated, 4 * kGib);
  EXPECT_EQ(seen[0].totals.gpus_in_use, 1);
  EXPECT_EQ(seen[0].totals.nodes_in_use, 1);
  EXPECT_EQ(seen[0].totals.gpus_on_used_nodes, 2);

  const PodId second = script.Arrive("second", script.Shape(4000, kGib, 1, 1000));
  script.Bind(second, 1, DeviceSet::Of(0));
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(Counts(seen[1]), (std::vector<int64_t>{2, 2, 0, 0, 0, 1500}));
  EXPECT_EQ(Cases(seen[1]), (std::vector<double>{375, 0, 0, 750, 375, 0, 0}));
  EXPECT_EQ(seen[1].fragmentation.ratio_percent(), 100.0);

  const PodId third = script.Arrive("third", large);
  script.Fail(third, {2, {{1, 2}}});
  EXPECT_EQ(seen.size(), 2u);
  EXPECT_EQ(sink.sample().attempts_failed, 1);
  script.Drop(third);
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(Counts(seen[2]), (std::vector<int64_t>{3, 2, 1, 0, 1, 2000}));
  EXPECT_EQ(seen[2].totals, seen[1].totals);
  EXPECT_EQ(sink.dropped_by_shape(), (std::vector<int64_t>{1, 0}));

  script.At(5000);
  script.Finish(first);
  ASSERT_EQ(seen.size(), 4u);
  EXPECT_EQ(seen[3].time, SimTime(5000));
  EXPECT_EQ(Counts(seen[3]), (std::vector<int64_t>{3, 2, 1, 1, 1, 2000}));
  EXPECT_EQ(Cases(seen[3]), (std::vector<double>{0, 0, 1500, 0, 500, 0, 0}));
  script.Finish(second);
  EXPECT_EQ(Cases(seen[4]), (std::vector<double>{0, 250, 2000, 0, 750, 0, 0}));
  script.End();
  EXPECT_EQ(seen.size(), 5u);
}

TEST(MetricsSinkTest, AReservationThatIsTakenBackLeavesNoTrace) {
  const FragmentationModel model = Model();
  RecordScript script;
  MetricsSink sink(&model, script.cluster());
  script.AddSink(&sink);
  const PodId pod = script.Arrive("pod", script.Shape(7000, kGib, 2, 1000));
  script.Reserve(pod, 0, DeviceSet::FirstN(2));
  script.Unreserve(pod);
  script.Drop(pod);
  EXPECT_EQ(Counts(sink.sample()), (std::vector<int64_t>{1, 0, 1, 0, 0, 2000}));
  EXPECT_EQ(Cases(sink.sample()), (std::vector<double>{0, 250, 2000, 0, 750, 0, 0}));
  EXPECT_EQ(sink.sample().totals.gpu_milli_allocated, 0);
  EXPECT_EQ(sink.sample().totals.pods_resident, 0);
}

TEST(MetricsSinkTest, ObserversAreCalledInOrder) {
  const FragmentationModel model = Model();
  RecordScript script;
  MetricsSink sink(&model, script.cluster());
  std::string calls;
  sink.AddObserver([&calls](const Sample&) { calls += "a"; });
  sink.AddObserver([&calls](const Sample&) { calls += "b"; });
  script.AddSink(&sink);
  const PodId pod = script.Arrive("pod", script.Shape(1000, kGib, 0, 0));
  script.Bind(pod, 0, DeviceSet());
  script.Finish(pod);
  EXPECT_EQ(calls, "abab");
}

TEST(MetricsSinkTest, SavesAndLoads) {
  const FragmentationModel model = Model();
  RecordScript script;
  MetricsSink sink(&model, script.cluster());
  script.AddSink(&sink);
  const ShapeId shape = script.Shape(7000, 4 * kGib, 1, 500);
  script.At(700);
  const PodId first = script.Arrive("first", shape);
  script.Bind(first, 0, DeviceSet::Of(0));
  const PodId second = script.Arrive("second", shape);
  script.Fail(second, {2, {{1, 2}}});
  script.Drop(second);
  StateWriter out;
  sink.Save(out);

  // A new sink over the state as it is now: the sink itself counts the cluster.
  MetricsSink loaded(&model, script.cluster());
  StateReader in(out.bytes());
  ASSERT_EQ(loaded.Load(in), absl::OkStatus());
  EXPECT_TRUE(in.AtEnd());
  EXPECT_EQ(loaded.sample().time, SimTime(700));
  EXPECT_EQ(Counts(loaded.sample()), Counts(sink.sample()));
  EXPECT_EQ(Cases(loaded.sample()), Cases(sink.sample()));
  EXPECT_EQ(loaded.sample().totals, sink.sample().totals);
  EXPECT_EQ(loaded.dropped_by_shape(), (std::vector<int64_t>{1}));

  script.AddSink(&loaded);
  script.Finish(first);
  EXPECT_EQ(Counts(loaded.sample()), Counts(sink.sample()));
  EXPECT_EQ(Cases(loaded.sample()), Cases(sink.sample()));
  EXPECT_EQ(Cases(loaded.sample()), (std::vector<double>{0, 250, 2000, 0, 750, 0, 0}));

  for (size_t size = 0; size < out.bytes().size(); ++size) {
    const absl::string_view cut = out.bytes().substr(0, size);
    StateReader cut_in(cut);
    MetricsSink other(&model, script.cluster());
    EXPECT_EQ(other.Load(cut_in).code(), absl::StatusCode::kDataLoss) << size;
  }
}

}  // namespace metrics_test
}  // namespace drasim
