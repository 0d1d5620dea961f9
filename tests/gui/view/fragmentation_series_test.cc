#include "gui/view/fragmentation_series.h"

#include <cstddef>
#include <vector>

#include "gtest/gtest.h"
#include "gui/view/pyramid.h"
#include "model/device_set.h"
#include "model/fragmentation.h"
#include "model/ids.h"
#include "model/record.h"
#include "model/time.h"
#include "tests/gui/view/view_rig.h"

namespace drasim {
namespace fragmentation_series_test {

using view::FragmentationSeries;
using view::Pyramid;

SimTime AtSecond(int64_t seconds) { return SimTime(seconds * kSecondNs); }

// Every typical pod wants a whole GPU of any model.
std::vector<TypicalPod> WholeGpus() {
  TypicalPod typical;
  typical.gpu_count = 1;
  typical.gpu_milli = kDeviceMilli;
  typical.model_mask = ~uint64_t{0};
  typical.weight = 1;
  return {typical};
}

TEST(FragmentationSeriesTest, EqualsACountOfAllNodesAtEachSample) {
  ViewRig rig;
  const FragmentationModel model(WholeGpus());
  // A step of half a second: every record of this test is sampled.
  FragmentationSeries series(&model, rig.cluster(), AtSecond(1000));
  std::vector<double> wanted;
  rig.Follow([&](const Record& record) {
    series.Add(record, rig.now(), rig.cluster());
    FragmentationTracker fresh(&model);
    for (size_t n = 0; n < rig.cluster().node_count(); ++n) fresh.Update(rig.cluster(), NodeId(n));
    wanted.push_back(fresh.Report().ratio_percent());
  });
  std::vector<PodId> pods;
  for (int i = 0; i < 4; ++i) {
    rig.At(10 * (2 * i + 1));
    pods.push_back(rig.Arrive("pod", ViewRig::Gpus(1, 300 + 100 * i)));
    rig.At(10 * (2 * i + 2));
    rig.Bind(pods.back(), static_cast<uint32_t>(i % 2), DeviceSet::Of(static_cast<size_t>(i / 2)));
  }
  rig.At(90);
  rig.Finish(pods[0]);
  const Pyramid data = series.Take();
  ASSERT_EQ(wanted.size(), 9u);
  for (size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(data.ValueAt(AtSecond(10 * (static_cast<int64_t>(i) + 1))), wanted[i]) << i;
  }
  EXPECT_GT(wanted[7], wanted[1]);
  EXPECT_GT(wanted[1], wanted[0]);
  EXPECT_EQ(data.time(data.size() - 1), AtSecond(1000));
  EXPECT_TRUE(series.Take().empty());
}

TEST(FragmentationSeriesTest, WaitsBetweenSamples) {
  ViewRig rig;
  const FragmentationModel model(WholeGpus());
  FragmentationSeries series(&model, rig.cluster(), AtSecond(200'000));  // a sample in 100 s
  rig.Follow([&](const Record& record) { series.Add(record, rig.now(), rig.cluster()); });
  rig.At(1);
  const PodId pod = rig.Arrive("pod", ViewRig::Gpus(1, 300));
  rig.At(2);
  rig.Bind(pod, 0, DeviceSet::Of(0));
  rig.At(101);
  rig.Arrive("next", ViewRig::Gpus(1, 300));
  const Pyramid data = series.Take();
  ASSERT_EQ(data.size(), 3u);
  EXPECT_EQ(data.time(0), AtSecond(1));
  EXPECT_EQ(data.value(0), 0);
  EXPECT_EQ(data.time(1), AtSecond(101));
  EXPECT_GT(data.value(1), 0);  // also of nodes that changed in between
}

}  // namespace fragmentation_series_test
}  // namespace drasim
