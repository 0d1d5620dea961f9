#include "gui/view/cluster_map_data.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "gui/view/map_model.h"
#include "model/cluster_state.h"
#include "model/device_grant.h"
#include "model/device_set.h"
#include "model/gpu_model_table.h"
#include "model/ids.h"
#include "model/node_spec.h"
#include "model/shape_table.h"
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

TEST(MapDataTest, IdleInstancesOfAStaticLayout) {
  ViewRig rig;
  const PodId pod = rig.Arrive("pod", ViewRig::Mig("3g.40gb"));
  const DeviceGrants upper = rig.Instance("3g.40gb", 0, 0);
  rig.Bind(pod, 0, DeviceSet::Of(0), upper);
  const uint8_t lower = rig.Instance("3g.40gb", 0, 4)[0].placement;
  const auto pod_of = [](PodId id) {
    view::MapPod shown;
    shown.number = id.value() + 7;
    return shown;
  };
  // The first GPU of the first node alone.
  const auto layout_of = [&](NodeId node, size_t gpu) -> std::optional<uint64_t> {
    if (node != NodeId(0U) || gpu != 0) return std::nullopt;
    return uint64_t{1} << upper[0].placement | uint64_t{1} << lower;
  };
  const ClusterMapData data = MapDataOf(rig.cluster(), {{""}, pod_of, nullptr, layout_of});
  const absl::Span<const MapSlot> slots = data.SlotsOf(data.gpus[0]);
  ASSERT_EQ(slots.size(), 2u);
  EXPECT_TRUE(slots[0].held);
  EXPECT_EQ(slots[0].pod, 7u);
  EXPECT_EQ(slots[0].start, 0);
  EXPECT_FALSE(slots[1].held);
  EXPECT_EQ(slots[1].pod, view::kNoPod);
  EXPECT_EQ(slots[1].start, 4);
  EXPECT_EQ(slots[1].size, 4);
  EXPECT_EQ(data.profiles[slots[1].profile], "3g.40gb");
  EXPECT_EQ(data.gpus[0].held_milli, 500);
  EXPECT_TRUE(data.SlotsOf(data.gpus[1]).empty());
}

TEST(MapDataTest, SlicesOutsideAStaticLayoutAreStranded) {
  ViewRig rig;
  const PodId pod = rig.Arrive("pod", ViewRig::Mig("3g.40gb"));
  rig.Bind(pod, 0, DeviceSet::Of(0), rig.Instance("3g.40gb", 0, 0));
  const auto placement = [&](const char* profile, int32_t start) {
    return uint64_t{1} << rig.Instance(profile, 0, start)[0].placement;
  };
  const auto layout_of = [&](NodeId, size_t gpu) -> std::optional<uint64_t> {
    if (gpu == 1) return placement("2g.20gb", 2);
    return placement("3g.40gb", 0) | placement("1g.10gb", 5);
  };
  const ClusterMapData data = MapDataOf(rig.cluster(), rig.pods(), layout_of);
  const auto fitting = [&](size_t gpu) {
    std::vector<std::string> names;
    for (size_t p = 0; p < data.profiles.size(); ++p) {
      if ((data.gpus[gpu].fits >> p & 1) != 0) names.push_back(data.profiles[p]);
    }
    return names;
  };
  EXPECT_EQ(data.gpus[0].stranded, 0b1101'0000U);
  EXPECT_EQ(fitting(0), std::vector<std::string>{"1g.10gb"});
  EXPECT_EQ(data.gpus[1].stranded, 0b1111'0011U);
  EXPECT_EQ(fitting(1), std::vector<std::string>{"2g.20gb"});
  // The pod of the first node is none of the second one's.
  EXPECT_EQ(data.gpus[2].stranded, 0b1101'0000U);
  EXPECT_EQ(fitting(2), (std::vector<std::string>{"1g.10gb", "3g.40gb"}));
}

TEST(MapDataTest, AnInstanceOutsideTheLayoutStrandsNothing) {
  ViewRig rig;
  const PodId pod = rig.Arrive("pod", ViewRig::Mig("3g.40gb"));
  rig.Bind(pod, 0, DeviceSet::Of(0), rig.Instance("3g.40gb", 0, 0));
  const uint64_t layout = uint64_t{1} << rig.Instance("2g.20gb", 0, 4)[0].placement;
  const auto layout_of = [&](NodeId, size_t) -> std::optional<uint64_t> { return layout; };
  const ClusterMapData data = MapDataOf(rig.cluster(), rig.pods(), layout_of);
  EXPECT_EQ(data.gpus[0].stranded, 0u);
  EXPECT_EQ(data.gpus[0].fits, 0u);
}

TEST(MapDataTest, NodesHaveTheirPoolsAndLabels) {
  GpuModelTable models;
  ShapeTable shapes(&models);
  ClusterState cluster(&models, &shapes);
  for (const char* zone : {"west", "east"}) {
    NodeSpec spec;
    spec.name = absl::StrCat("gpu-", zone, "-1");
    spec.cpu_milli = 1000;
    spec.gpu_count = 1;
    spec.gpu_model = "T4";
    spec.labels = {{"zone", zone}};
    ASSERT_TRUE(cluster.AddNode(spec).ok());
  }
  const auto pod_of = [](PodId) { return view::MapPod(); };
  const ClusterMapData data =
      MapDataOf(cluster, {{""}, pod_of, nullptr, std::nullopt, /*label=*/"zone"});
  ASSERT_EQ(data.nodes.size(), 2u);
  EXPECT_EQ(data.nodes[0].pool, "gpu-west");
  EXPECT_EQ(data.nodes[0].label, "west");
  EXPECT_EQ(data.nodes[1].label, "east");
  EXPECT_EQ(MapDataOf(cluster, {{""}, pod_of, nullptr}).nodes[0].label, "");
}

}  // namespace cluster_map_data_test
}  // namespace drasim
