#include "gui/view/cluster_map_data.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "gui/view/map_model.h"
#include "model/device_set.h"
#include "model/ids.h"
#include "tests/gui/view/view_rig.h"

namespace drasim {
namespace cluster_map_data_test {

using view::ClusterMapData;
using view::MapDataOf;
using view::MapSlot;

TEST(MapDataTest, SlotsStandWherePodsHoldThem) {
  ViewRig rig;
  const PodId mig = rig.Arrive("mig", ViewRig::Mig("3g.40gb"));
  rig.Bind(mig, 0, DeviceSet::Of(0), rig.Instance("3g.40gb", 0, 4));
  const PodId first = rig.Arrive("first", ViewRig::Gpus(1, 300));
  rig.Bind(first, 1, DeviceSet::Of(1));
  const PodId second = rig.Arrive("second", ViewRig::Gpus(1, 500));
  rig.Bind(second, 1, DeviceSet::Of(1));
  const ClusterMapData data = MapDataOf(rig.cluster(), rig.pods());
  ASSERT_EQ(data.nodes.size(), 2u);
  ASSERT_EQ(data.gpus.size(), 4u);
  EXPECT_EQ(data.gpus[0].units, 8);
  ASSERT_EQ(data.SlotsOf(data.gpus[0]).size(), 1u);
  const MapSlot& slot = data.SlotsOf(data.gpus[0])[0];
  EXPECT_EQ(slot.start, 4);
  EXPECT_EQ(slot.size, 4);
  EXPECT_EQ(slot.pod, mig.value());
  EXPECT_EQ(data.profiles[slot.profile], "3g.40gb");
  EXPECT_EQ(data.gpus[1].slot_count, 0u);
  EXPECT_EQ(data.gpus[3].units, view::kShareUnits);
  ASSERT_EQ(data.SlotsOf(data.gpus[3]).size(), 2u);
  EXPECT_EQ(data.SlotsOf(data.gpus[3])[1].start, 300);
  EXPECT_EQ(data.SlotsOf(data.gpus[3])[1].size, 500);
  EXPECT_EQ(data.gpus[3].held_milli, 800);
}

TEST(MapDataTest, SlicesThatNothingCoversAreStranded) {
  ViewRig rig;
  // Seven instances of one slice leave the eighth slice, which none of them can start at.
  for (uint32_t start = 0; start < 7; ++start) {
    const PodId pod = rig.Arrive(absl::StrCat("pod-", start), ViewRig::Mig("1g.10gb"));
    rig.Bind(pod, 0, DeviceSet::Of(0), rig.Instance("1g.10gb", 0, static_cast<int32_t>(start)));
  }
  const ClusterMapData data = MapDataOf(rig.cluster(), rig.pods());
  EXPECT_EQ(data.gpus[0].stranded, 0x80u);
  EXPECT_EQ(data.gpus[1].stranded, 0u);
}

TEST(MapDataTest, TellsWhichProfilesFitOnceMore) {
  ViewRig rig;
  const PodId pod = rig.Arrive("mig", ViewRig::Mig("3g.40gb"));
  rig.Bind(pod, 0, DeviceSet::Of(0), rig.Instance("3g.40gb", 0, 4));
  const auto fitting = [&](const ClusterMapData& data, size_t gpu) {
    std::vector<std::string> names;
    for (size_t p = 0; p < data.profiles.size(); ++p) {
      if ((data.gpus[gpu].fits >> p & 1) != 0) names.push_back(data.profiles[p]);
    }
    return names;
  };
  const PodId whole = rig.Arrive("whole", ViewRig::Gpus(1, 1000));
  rig.Bind(whole, 1, DeviceSet::Of(1));
  const ClusterMapData data = MapDataOf(rig.cluster(), rig.pods());
  // Variants with media extensions fit, too, but are not listed.
  EXPECT_EQ(fitting(data, 0),
            (std::vector<std::string>{"1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb"}));
  EXPECT_EQ(fitting(data, 1), (std::vector<std::string>{"1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb",
                                                        "4g.40gb", "7g.80gb"}));
  EXPECT_EQ(data.gpus[3].fits, 0u);
}

TEST(MapDataTest, AGpuThatIsUsedWholeKeepsItsHeight) {
  ViewRig rig;
  const PodId pod = rig.Arrive("whole", ViewRig::Gpus(1, 1000));
  rig.Bind(pod, 0, DeviceSet::Of(0));
  const ClusterMapData data = MapDataOf(rig.cluster(), rig.pods());
  ASSERT_EQ(data.gpus[0].units, view::kShareUnits);
  EXPECT_EQ(data.gpus[0].slices, 8);
  view::ClusterMap map(&data);
  const view::MapView view = map.Fit(800, 600);
  EXPECT_EQ(map.GpuRect(view, 0).height, map.GpuRect(view, 1).height);
}

}  // namespace cluster_map_data_test
}  // namespace drasim
