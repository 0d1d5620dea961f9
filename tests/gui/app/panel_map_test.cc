#include "gui/app/panel_map.h"

#include <imgui.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "gui/app/map_canvas.h"
#include "gui/app/panel.h"
#include "gui/session/inspection.h"
#include "gui/session/run_overview.h"
#include "gui/session/run_snapshot.h"
#include "gui/view/map_model.h"
#include "gui/view/pod_archive.h"
#include "gui/view/pod_table.h"
#include "model/device_set.h"
#include "model/ids.h"
#include "tests/gui/app/panel_rig.h"
#include "tests/gui/view/view_rig.h"

namespace drasim {
namespace panel_map_test {

using gui::ObjectKind;
using gui::RunSnapshot;

// A 3g.40gb at slice 4 of the first GPU of node-a, and two 1g.10gb of one pod on node-b.
void Fill(ViewRig* rig) {
  const PodId big = rig->Arrive("big", ViewRig::Mig("3g.40gb"));
  rig->Bind(big, 0, DeviceSet::Of(0), rig->Instance("3g.40gb", 0, 4));
  const PodId small = rig->Arrive("small", ViewRig::Mig("1g.10gb"));
  rig->Bind(small, 1, DeviceSet::Of(1), rig->Instance("1g.10gb", 1, 0));
}

// The same pods as a session has them: those that have ended come first.
view::PodTable EndedFirst(const ViewRig& rig) {
  const view::PodTable all = rig.Table();
  const auto archive = std::make_shared<view::PodArchive>(view::PodTexts::Of(rig.cluster()));
  for (size_t p = 0; p < all.rows(); ++p) {
    if (all.row(p).has_ended()) archive->Append(all.row(p), all.name(p), rig.summaries());
  }
  view::PodTable pods(rig.now(), archive, archive->size());
  for (size_t p = 0; p < all.rows(); ++p) {
    if (!all.row(p).has_ended()) pods.AddLive(all.row(p), all.name(p), rig.summaries());
  }
  return pods;
}

// A panel that is one canvas, to know where things stand.
class CanvasPanel : public gui::Panel {
 public:
  explicit CanvasPanel(gui::MapRuns runs) : canvas(runs) {}
  gui::ViewKind view() const override { return gui::ViewKind::kMap; }
  absl::string_view title() const override { return "canvas"; }
  std::string Subtitle(const gui::AppState&) const override { return ""; }
  void Draw(gui::AppState* app, bool) override { canvas.Draw(ImVec2(900, 600), app); }

  ImVec2 Middle(const view::Rect& rect) const {
    return ImVec2(canvas.origin().x + rect.x + rect.width / 2,
                  canvas.origin().y + rect.y + rect.height / 2);
  }

  gui::MapCanvas canvas;
};

struct CanvasRig {
  explicit CanvasRig(gui::MapRuns runs = gui::MapRuns::kA)
      : owned(std::make_unique<CanvasPanel>(runs)), canvas(owned.get()), rig(std::move(owned)) {}
  std::unique_ptr<CanvasPanel> owned;
  CanvasPanel* canvas;
  PanelRig rig;
};

TEST(PanelMapTest, AClickSelectsThePodOfASlotOrTheNode) {
  CanvasRig test;
  ViewRig run;
  Fill(&run);
  test.rig.app().a.snapshot = SnapshotOf(&run);
  test.rig.Frames(2);
  const RunSnapshot& shown = *test.rig.app().a.snapshot;
  const gui::MapCanvas& canvas = test.canvas->canvas;

  const view::MapSlot& slot = shown.map.SlotsOf(shown.map.gpus[0])[0];
  const ImVec2 on_slot = test.canvas->Middle(canvas.map().SlotRect(canvas.view(), 0, slot));
  test.rig.Click(on_slot.x, on_slot.y);
  EXPECT_EQ(test.rig.app().selected, (gui::ObjectRef{ObjectKind::kPod, "big"}));
  test.rig.Frames();
  ASSERT_TRUE(canvas.view().selected.has_value());
  EXPECT_EQ(canvas.view().selected->node, 0u);
  EXPECT_EQ(canvas.view().selected->gpu, 0u);
  EXPECT_EQ(canvas.view().selected->slot, shown.map.gpus[0].first_slot);

  // The upper half of the same GPU is free.
  const view::Rect gpu = canvas.map().GpuRect(canvas.view(), 2);
  const ImVec2 on_free = test.canvas->Middle(gpu);
  test.rig.Click(on_free.x, on_free.y);
  EXPECT_EQ(test.rig.app().selected, (gui::ObjectRef{ObjectKind::kNode, "node-b"}));
  test.rig.Frames();
  EXPECT_EQ(canvas.view().selected, (view::MapHit{1, std::nullopt, std::nullopt}));

  // A selection from elsewhere, of a pod that is not on a node.
  test.rig.app().selected = {ObjectKind::kPod, "nobody"};
  test.rig.Frames();
  EXPECT_FALSE(canvas.view().selected.has_value());
}

TEST(PanelMapTest, SlotsKnowTheirPodsWhenOthersHaveEnded) {
  CanvasRig test;
  ViewRig run;
  Fill(&run);
  const std::shared_ptr<RunSnapshot> before = SnapshotOf(&run);
  before->pods = EndedFirst(run);
  const PodId gone = run.Arrive("gone", ViewRig::Gpus(1));
  run.Bind(gone, 1, DeviceSet::Of(0));
  run.Finish(gone);
  const std::shared_ptr<RunSnapshot> after = SnapshotOf(&run);
  after->pods = EndedFirst(run);
  ASSERT_EQ(after->pods.name(0), "gone");
  test.rig.app().selected = {ObjectKind::kPod, "small"};
  const gui::MapCanvas& canvas = test.canvas->canvas;
  for (const std::shared_ptr<RunSnapshot>& snapshot : {before, after, before}) {
    test.rig.app().a.snapshot = snapshot;
    test.rig.Frames(2);
    ASSERT_TRUE(canvas.view().selected.has_value());
    EXPECT_EQ(canvas.view().selected->gpu, 3u);
  }
  test.rig.app().a.snapshot = after;
  test.rig.Frames();
  const view::MapSlot& slot = after->map.SlotsOf(after->map.gpus[0])[0];
  const ImVec2 on_slot = test.canvas->Middle(canvas.map().SlotRect(canvas.view(), 0, slot));
  test.rig.Click(on_slot.x, on_slot.y);
  EXPECT_EQ(test.rig.app().selected, (gui::ObjectRef{ObjectKind::kPod, "big"}));
}

TEST(PanelMapTest, ADragMovesTheMapAndSelectsNothing) {
  CanvasRig test;
  ViewRig run;
  Fill(&run);
  test.rig.app().a.snapshot = SnapshotOf(&run);
  test.rig.Frames(2);
  const gui::MapCanvas& canvas = test.canvas->canvas;
  const view::Rect before = canvas.map().GpuRect(canvas.view(), 0);
  const ImVec2 at = test.canvas->Middle(before);
  test.rig.MoveMouse(at.x, at.y);
  test.rig.Press();
  test.rig.MoveMouse(at.x + 40, at.y + 25);
  test.rig.MoveMouse(at.x + 60, at.y + 25);
  test.rig.Release();
  const view::Rect after = canvas.map().GpuRect(canvas.view(), 0);
  EXPECT_NEAR(after.x - before.x, 60, 0.1);
  EXPECT_NEAR(after.y - before.y, 25, 0.1);
  EXPECT_EQ(test.rig.app().selected.kind, ObjectKind::kNone);
  test.rig.app().map.Fit();
  test.rig.Frames();
  EXPECT_EQ(canvas.map().GpuRect(canvas.view(), 0), before);
}

TEST(PanelMapTest, TheWheelZoomsAroundTheMouseAndCommandsZoomAndPan) {
  CanvasRig test;
  ViewRig run;
  Fill(&run);
  test.rig.app().a.snapshot = SnapshotOf(&run);
  test.rig.Frames(2);
  const gui::MapCanvas& canvas = test.canvas->canvas;
  const view::Rect before = canvas.map().GpuRect(canvas.view(), 1);
  const ImVec2 at = test.canvas->Middle(before);
  test.rig.MoveMouse(at.x, at.y);
  test.rig.Wheel(1);
  view::Rect after = canvas.map().GpuRect(canvas.view(), 1);
  EXPECT_NEAR(after.width / before.width, 1.2F, 0.001);
  // ImGui's mouse stands on whole pixels.
  EXPECT_NEAR(test.canvas->Middle(after).x, at.x, 0.5);
  EXPECT_NEAR(test.canvas->Middle(after).y, at.y, 0.5);
  // Nothing drifts while nothing happens.
  const view::MapView view = canvas.view();
  test.rig.Frames(20);
  EXPECT_EQ(canvas.view(), view);

  test.rig.app().map.zoom_by = 2;
  test.rig.Frames();
  EXPECT_NEAR(canvas.view().scale / view.scale, 2, 0.001);
  const float x = canvas.view().origin.x;
  test.rig.app().map.pan_by.x = 0.5F;
  test.rig.Frames();
  EXPECT_NEAR((canvas.view().origin.x - x) * canvas.view().scale, canvas.view().width / 2, 0.1);
  EXPECT_EQ(test.rig.app().map.pan_by.x, 0);
}

TEST(PanelMapTest, NodesStayWhereTheyAreWhenTheCursorMoves) {
  CanvasRig test;
  test.rig.app().map.order = view::MapOrder::kFragmentation;
  ViewRig run;
  Fill(&run);
  const std::shared_ptr<RunSnapshot> first = SnapshotOf(&run);
  first->map.gpus[0].fragmentation_milli = 500;
  test.rig.app().a.snapshot = first;
  test.rig.Frames(2);
  const gui::MapCanvas& canvas = test.canvas->canvas;
  const view::Rect node = canvas.map().NodeRect(canvas.view(), 1);
  const uint64_t arrangements = canvas.map().arrangements();
  const std::shared_ptr<RunSnapshot> second = SnapshotOf(&run);
  second->map.gpus[2].fragmentation_milli = 900;
  test.rig.app().a.snapshot = second;
  test.rig.Frames(2);
  EXPECT_EQ(canvas.map().NodeRect(canvas.view(), 1), node);
  EXPECT_EQ(canvas.map().arrangements(), arrangements);
  // Another order is another layout, of the state now.
  test.rig.app().map.order = view::MapOrder::kName;
  test.rig.Frames();
  EXPECT_GT(canvas.map().arrangements(), arrangements);
  test.rig.app().map.order = view::MapOrder::kFragmentation;
  test.rig.Frames();
  EXPECT_NE(canvas.map().NodeRect(canvas.view(), 1), node);
}

// The maps of two runs, B's of another size.
class PairPanel : public gui::Panel {
 public:
  gui::ViewKind view() const override { return gui::ViewKind::kMap; }
  absl::string_view title() const override { return "pair"; }
  std::string Subtitle(const gui::AppState&) const override { return ""; }
  void Draw(gui::AppState* app, bool) override {
    a.Draw(ImVec2(900, 200), app);
    b.Draw(ImVec2(300, 500), app);
  }

  gui::MapCanvas a{gui::MapRuns::kA};
  gui::MapCanvas b{gui::MapRuns::kB};
};

TEST(PanelMapTest, BHasTheNodesOfAInTheSamePlaces) {
  auto owned = std::make_unique<PairPanel>();
  const PairPanel& pair = *owned;
  PanelRig rig(std::move(owned));
  rig.app().map.order = view::MapOrder::kFragmentation;
  ViewRig a;
  ViewRig b;
  Fill(&b);
  const std::shared_ptr<RunSnapshot> of_a = SnapshotOf(&a);
  of_a->map.gpus[2].fragmentation_milli = 900;
  const std::shared_ptr<RunSnapshot> of_b = SnapshotOf(&b);
  of_b->map.gpus[0].fragmentation_milli = 900;
  rig.app().a.snapshot = of_a;
  rig.app().b.snapshot = of_b;
  rig.Frames(2);
  const auto same_places = [&] {
    const view::MapView view = pair.a.view();
    return pair.a.map().NodeRect(view, 0) == pair.b.map().NodeRect(view, 0) &&
           pair.a.map().NodeRect(view, 1) == pair.b.map().NodeRect(view, 1);
  };
  EXPECT_TRUE(same_places());
  const view::Rect node = pair.a.map().NodeRect(pair.a.view(), 0);
  rig.app().map.order = view::MapOrder::kName;
  rig.Frames(2);
  EXPECT_NE(pair.a.map().NodeRect(pair.a.view(), 0), node);
  EXPECT_TRUE(same_places());

  // Other nodes have places of their own.
  const std::shared_ptr<RunSnapshot> other = SnapshotOf(&b);
  view::MapNode more;
  more.name = "node-c";
  other->map.AddNode(more);
  other->map.AddGpu(view::MapGpu(), {});
  other->map.gpus[0].fragmentation_milli = 900;
  rig.app().b.snapshot = other;
  rig.app().map.order = view::MapOrder::kFragmentation;
  rig.Frames(2);
  EXPECT_FALSE(same_places());
}

TEST(PanelMapTest, LegendsCountTheDifference) {
  CanvasRig test(gui::MapRuns::kDifference);
  ViewRig a;
  ViewRig b;
  Fill(&b);
  test.rig.app().a.snapshot = SnapshotOf(&a);
  test.rig.app().b.snapshot = SnapshotOf(&b);
  test.rig.Frames(2);
  std::vector<std::string> texts;
  for (const view::MapLegendRow& row : test.canvas->canvas.Legend(test.rig.app())) {
    texts.push_back(row.text);
  }
  EXPECT_EQ(texts, (std::vector<std::string>{"only A 0", "only B 5", "both 0", "neither 27"}));
}

TEST(PanelMapTest, GroupsByALabelThatNodesHave) {
  PanelRig rig(gui::MakeMapPanel());
  ViewRig run;
  rig.app().a.snapshot = SnapshotOf(&run);
  rig.app().map.grouping = view::MapGrouping::kLabel;
  auto overview = std::make_shared<gui::RunOverview>();
  rig.app().a.overview = overview;
  rig.Frames(2);
  // No node has a label.
  EXPECT_EQ(rig.app().map.grouping, view::MapGrouping::kNone);
  const auto labelled = std::make_shared<gui::RunOverview>();
  labelled->label_keys = {"rack", "zone"};
  rig.app().a.overview = labelled;
  rig.app().map.grouping = view::MapGrouping::kLabel;
  rig.Frames(2);
  EXPECT_EQ(rig.app().map.grouping, view::MapGrouping::kLabel);
  EXPECT_EQ(rig.app().map.label, "rack");
  const uint64_t before = rig.app().map.arranged->arrangements();
  // The nodes move when a snapshot has the values.
  const std::shared_ptr<RunSnapshot> with_zones = SnapshotOf(&run);
  with_zones->request.label = "zone";
  with_zones->map.nodes[0].label = "west";
  with_zones->map.nodes[1].label = "east";
  rig.app().map.label = "zone";
  rig.app().a.snapshot = with_zones;
  rig.Frames(2);
  EXPECT_EQ(rig.app().map.label, "zone");
  EXPECT_GT(rig.app().map.arranged->arrangements(), before);
  const view::MapView view = rig.app().map.arranged->Fit(900, 600);
  EXPECT_LT(rig.app().map.arranged->NodeRect(view, 1).y,
            rig.app().map.arranged->NodeRect(view, 0).y);
}

TEST(PanelMapTest, ThePanelDrawsOneRunOrTwo) {
  PanelRig rig(gui::MakeMapPanel());
  rig.Frames(2);  // no run yet
  ViewRig a;
  Fill(&a);
  const std::shared_ptr<RunSnapshot> snapshot = SnapshotOf(&a);
  view::FitRow fit;
  fit.profile = "1g.10gb";
  fit.fits = 7;
  snapshot->fits.push_back(fit);
  rig.app().a.snapshot = snapshot;
  const int one = rig.Frames(2);
  EXPECT_GT(one, 200);
  EXPECT_EQ(rig.panel().Subtitle(rig.app()),
            "2 nodes · one A100 per column, memory slice 0 at the top");
  std::vector<gui::PanelExport> files = rig.panel().Exports(rig.app());
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].name, "cluster.svg");
  EXPECT_TRUE(absl::StartsWith(files[0].content, "<svg"));
  // The cell at the lower left sets the filter.
  rig.Click(60, 770);
  EXPECT_EQ(rig.app().pod_filter, "wants:1g.10gb");

  ViewRig b;
  rig.app().b.snapshot = SnapshotOf(&b);
  EXPECT_GT(rig.Frames(2), one);
  EXPECT_EQ(rig.panel().Exports(rig.app()).size(), 3u);
  rig.app().map.colour = view::MapColour::kDifference;
  rig.Frames(2);
  EXPECT_EQ(rig.app().map.colour, view::MapColour::kDifference);
  // Without B there is no difference.
  rig.app().b.snapshot = nullptr;
  rig.Frames(2);
  EXPECT_EQ(rig.app().map.colour, view::MapColour::kProfile);
}

}  // namespace panel_map_test
}  // namespace drasim
