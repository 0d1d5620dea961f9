#include "gui/session/snapshot_builder.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "gui/session/block_columns.h"
#include "gui/session/fit_tally.h"
#include "gui/view/pod_archive.h"
#include "model/cluster_state.h"
#include "model/device_set.h"
#include "model/fragmentation.h"
#include "model/gpu_model_table.h"
#include "model/ids.h"
#include "model/record.h"
#include "model/shape_table.h"
#include "model/time.h"
#include "sim/record/ledger_seek.h"
#include "sim/record/live_state.h"
#include "tests/gui/view/view_rig.h"
#include "tests/testing/thread_cpu.h"

namespace drasim {
namespace snapshot_builder_test {

using gui::MakeSnapshot;
using gui::RunSnapshot;
using gui::SnapshotExtras;
using gui::SnapshotRequest;
using view::PodArchive;

// A rig whose live state follows, and its snapshot.
class SnapshotRig {
 public:
  SnapshotRig() : live_(rig_.cluster(), &rig_.summaries()) {
    rig_.Follow([this](const Record& record) {
      live_.OnRecord(record, rig_.cluster());
      if (!live_.ended().has_value()) return;
      view::PodRow row;
      static_cast<PodCourse&>(row) = live_.ended()->history;
      row.number = record.pod.value();
      row.shape = rig_.cluster().pod_shape_id(record.pod).value();
      row.arrival = rig_.cluster().pod_arrival(record.pod);
      row.ended = record.time;
      row.phase = rig_.cluster().pod_phase(record.pod);
      ended_.push_back(row);
    });
  }

  ViewRig& rig() { return rig_; }
  std::shared_ptr<const PodArchive> Archive() const {
    auto archive = std::make_shared<PodArchive>(view::PodTexts::Of(rig_.cluster()));
    archive->InternTenant("red");
    for (const view::PodRow& row : ended_) {
      archive->Append(row, rig_.cluster().pod_name(PodId(row.number)), rig_.summaries());
    }
    return archive;
  }
  RunSnapshot Snapshot(const std::shared_ptr<const PodArchive>& archive,
                       const SnapshotExtras& extras = {}, bool tenants = false) const {
    const auto number_of = [](PodId pod) { return pod.value(); };
    const auto tenant_of = [](PodId pod) { return pod.value() == 1 ? 1U : 0U; };
    SnapshotRequest request;
    request.tenants = tenants;
    return MakeSnapshot(
        request,
        {rig_.cluster(), live_, rig_.summaries(), archive, number_of, tenant_of, rig_.now()},
        extras);
  }

 private:
  ViewRig rig_;
  LiveState live_;
  std::vector<view::PodRow> ended_;
};

int64_t FitsOf(const RunSnapshot& snapshot, const std::string& profile) {
  for (const view::FitRow& row : snapshot.fits) {
    if (row.profile == profile) return row.fits;
  }
  return -1;
}

int64_t WaitsOf(const RunSnapshot& snapshot, const std::string& profile) {
  for (const view::FitRow& row : snapshot.fits) {
    if (row.profile == profile) return row.waits;
  }
  return -1;
}

TEST(GuiSnapshotTest, EndedPodsComeFirstAndKeepTheirNumbers) {
  SnapshotRig rig;
  PlayThreePods(&rig.rig());
  const RunSnapshot snapshot = rig.Snapshot(rig.Archive(), {}, /*tenants=*/true);
  ASSERT_EQ(snapshot.pods.rows(), 3u);
  EXPECT_EQ(snapshot.pods.name(0), "a");
  EXPECT_EQ(snapshot.pods.name(1), "b");
  EXPECT_EQ(snapshot.pods.name(2), "c");
  EXPECT_EQ(snapshot.pods.row(0).phase, PodPhase::kSucceeded);
  EXPECT_EQ(snapshot.pods.verdict(2), AdmissionMessage(AdmissionFailure::kDeviceUnhealthy));
  EXPECT_EQ(snapshot.pods.Find("c"), 2u);
  EXPECT_EQ(snapshot.pods.FindNumber(1), 1u);
  EXPECT_EQ(snapshot.waiting, 2);
  EXPECT_EQ(snapshot.counters[static_cast<size_t>(RunCounter::kPodsArrived)], 3);
  ASSERT_TRUE(snapshot.tenants.has_value());
  ASSERT_EQ(snapshot.tenants->rows(), 2u);
  EXPECT_EQ(snapshot.tenants->row(1).name, "red");
  EXPECT_EQ(snapshot.tenants->row(1).waiting, 1);
}

TEST(GuiSnapshotTest, ProfilesThatFitAndWait) {
  SnapshotRig rig;
  ViewRig& run = rig.rig();
  const PodId placed = run.Arrive("placed", ViewRig::Mig("4g.40gb"));
  run.Arrive("first", ViewRig::Mig("3g.40gb"));
  run.Arrive("second", ViewRig::Mig("3g.40gb"));
  PodShape two = ViewRig::Mig("1g.10gb");
  two.request.mig[0].second = 2;
  run.Arrive("two", two);
  run.Bind(placed, 0, DeviceSet::Of(0), run.Instance("4g.40gb", 0, 0));
  const RunSnapshot before = rig.Snapshot(rig.Archive());
  // One half of a GPU, and three empty ones with two each.
  EXPECT_EQ(FitsOf(before, "3g.40gb"), 7);
  EXPECT_EQ(FitsOf(before, "7g.80gb"), 3);
  EXPECT_EQ(WaitsOf(before, "3g.40gb"), 2);
  EXPECT_EQ(WaitsOf(before, "1g.10gb"), 1);
  EXPECT_EQ(WaitsOf(before, "7g.80gb"), 0);
  EXPECT_EQ(FitsOf(before, "GPU"), -1);
  EXPECT_EQ(before.slices.slices, 32);
  EXPECT_EQ(before.slices.held, 4);
  // A node that takes no pods has no room.
  run.Cordon(1);
  const RunSnapshot after = rig.Snapshot(rig.Archive());
  EXPECT_EQ(FitsOf(after, "3g.40gb"), 3);
  EXPECT_EQ(FitsOf(after, "7g.80gb"), 1);
}

TEST(GuiSnapshotTest, AStaticLayoutHasRoomInItsIdleInstances) {
  SnapshotRig rig;
  ViewRig& run = rig.rig();
  const PodId placed = run.Arrive("placed", ViewRig::Mig("3g.40gb"));
  run.Bind(placed, 0, DeviceSet::Of(0), run.Instance("3g.40gb", 0, 0));
  const uint64_t layout = uint64_t{1} << run.Instance("3g.40gb", 0, 0)[0].placement |
                          uint64_t{1} << run.Instance("2g.20gb", 0, 4)[0].placement;
  const auto layout_of = [&](NodeId node, size_t) -> std::optional<uint64_t> {
    return node == NodeId(0U) ? layout : 0;
  };
  SnapshotExtras extras;
  extras.layout_of.emplace(layout_of);
  const RunSnapshot snapshot = rig.Snapshot(rig.Archive(), extras);
  // Node-a has one idle 3g.40gb and two idle 2g.20gb; the GPUs of node-b are empty.
  EXPECT_EQ(FitsOf(snapshot, "3g.40gb"), 1 + 4);
  EXPECT_EQ(FitsOf(snapshot, "2g.20gb"), 2 + 6);
  EXPECT_EQ(FitsOf(snapshot, "1g.10gb"), 14);
  EXPECT_EQ(snapshot.slices.stranded, 4);
  EXPECT_EQ(snapshot.nodes.row(0).slices.stranded, 4);
  EXPECT_EQ(snapshot.nodes.row(1).slices.stranded, 0);
}

TEST(GuiSnapshotTest, NodesThatJoinAndFragments) {
  SnapshotRig rig;
  ViewRig& run = rig.rig();
  const PodId pod = run.Arrive("share", ViewRig::Gpus(1, 400));
  run.Bind(pod, 0, DeviceSet::Of(1));
  std::vector<gui::NodeChange> changes(3);
  for (size_t i = 0; i < changes.size(); ++i) {
    changes[i].number = i + 1;
    changes[i].record.kind = RecordKind::kNodeChanged;
    changes[i].record.node = NodeId(1U);
    changes[i].record.time = SimTime(static_cast<int64_t>(10 * (i + 1)));
    changes[i].record.detail =
        static_cast<uint32_t>(i == 1 ? NodeChangeKind::kUnavailable : NodeChangeKind::kAvailable);
  }
  // Typical pods want a whole GPU of any model: idle parts of others are fragments.
  TypicalPod typical;
  typical.gpu_count = 1;
  typical.gpu_milli = kDeviceMilli;
  typical.model_mask = ~uint64_t{0};
  typical.weight = 1;
  const FragmentationModel model({typical});
  SnapshotExtras extras;
  extras.record = 2;
  extras.time = SimTime(77);
  extras.node_changes = changes;
  extras.fragmentation = &model;
  const RunSnapshot snapshot = rig.Snapshot(rig.Archive(), extras);
  EXPECT_EQ(snapshot.record, 2u);
  EXPECT_EQ(snapshot.time, SimTime(77));
  EXPECT_EQ(snapshot.map.nodes[0].since, SimTime());
  EXPECT_EQ(snapshot.map.nodes[1].since, SimTime(10));
  // 600 of the node's 1,600 idle thousandths, spread over both GPUs by their idle parts.
  EXPECT_EQ(snapshot.map.gpus[0].fragmentation_milli, 375);
  EXPECT_EQ(snapshot.map.gpus[1].fragmentation_milli, 225);
  EXPECT_EQ(snapshot.map.gpus[2].fragmentation_milli, 0);
}

// Which is what makes playing cheap. bench/gui_bench has the times.
TEST(GuiSnapshotTest, AFewTouchedNodesCostAPartOfAll) {
  GpuModelTable models;
  ShapeTable shapes(&models);
  ClusterState cluster(&models, &shapes);
  for (int n = 0; n < 3000; ++n) {
    NodeSpec spec;
    spec.name = absl::StrCat("node-", n);
    spec.gpu_count = 8;
    spec.gpu_model = "A100";
    ASSERT_TRUE(cluster.AddNode(spec).ok());
  }
  VerdictSummaryTable summaries;
  LiveState live(cluster, &summaries);
  const std::shared_ptr<const PodArchive> archive =
      std::make_shared<PodArchive>(view::PodTexts::Of(cluster));
  gui::FitTally fits;
  SnapshotExtras extras;
  extras.fits = &fits;
  const auto number_of = [](PodId pod) { return pod.value(); };
  const auto tenant_of = [](PodId) { return 0U; };
  RunSnapshot snapshot;
  const auto update = [&](const TouchedNodes& touched) {
    gui::UpdateSnapshot(SnapshotRequest(),
                        {cluster, live, summaries, archive, number_of, tenant_of, SimTime()},
                        extras, touched, &snapshot);
  };
  update(TouchedNodes());
  constexpr int kRepeats = 5;
  const double all = LeastCpuSeconds(kRepeats, [&] { update(TouchedNodes()); });
  const TouchedNodes few = {.all = false, .nodes = {NodeId(1U), NodeId(70U), NodeId(2900U)}};
  EXPECT_LT(LeastCpuSeconds(kRepeats, [&] { update(few); }), 0.25 * all);
  EXPECT_EQ(FitsOf(snapshot, "GPU"), 24'000);
}

}  // namespace snapshot_builder_test
}  // namespace drasim
