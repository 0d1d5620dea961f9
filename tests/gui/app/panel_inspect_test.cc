#include "gui/app/panel_inspect.h"

#include <imgui.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "gui/app/decision_table.h"
#include "gui/app/panel.h"
#include "gui/app/panel_slots.h"
#include "gui/session/decision_job.h"
#include "gui/session/inspection.h"
#include "gui/session/run_overview.h"
#include "gui/session/run_snapshot.h"
#include "gui/view/inspect_node.h"
#include "gui/view/inspect_pod.h"
#include "gui/view/inspect_tenant.h"
#include "gui/view/table_model.h"
#include "gui/view/timeline.h"
#include "model/ids.h"
#include "model/record.h"
#include "model/time.h"
#include "tests/gui/app/panel_rig.h"
#include "tests/gui/view/view_rig.h"

namespace drasim {
namespace panel_inspect_test {

using gui::Inspection;
using gui::ObjectKind;
using gui::ObjectRef;
using gui::RunSnapshot;

class PanelInspectTest : public ::testing::Test {
 protected:
  PanelInspectTest() : pod_("b"), node_(NodeId(uint32_t{1})) {
    rig_.Follow([this](const Record& record) {
      pod_.Add(record, rig_.cluster(), rig_.summaries());
      node_.Add(record, rig_.cluster());
    });
    PlayThreePods(&rig_);
    auto snapshot = std::make_shared<RunSnapshot>();
    snapshot->time = rig_.now();
    snapshot->nodes = view::NodeTable(rig_.cluster());
    snapshot->pods = rig_.Table();
    snapshot->map.profiles = {"1g.10gb", "7g.80gb"};
    app().a.snapshot = std::move(snapshot);
    auto overview = std::make_shared<gui::RunOverview>();
    overview->path = "results/test";
    overview->scenario_yaml = "mode: replay\nseed: 7\n";
    overview->end = rig_.now();
    app().a.overview = std::move(overview);
    app().timeline = view::Timeline(rig_.now());
  }

  static constexpr float kWidth = 700;

  gui::AppState& app() { return panels_.app(); }
  gui::Panel& panel() { return panels_.panel(); }
  void Show(Inspection inspection, ObjectRef object) {
    inspection.request.object = object;
    const auto kind = static_cast<size_t>(object.kind);
    app().a.inspections[kind] = std::make_shared<const Inspection>(std::move(inspection));
    app().Select(std::move(object));
    panels_.Frames(3);
  }
  void ShowPod() {
    Inspection inspection;
    inspection.pod = pod_.Inspect(rig_.now(), rig_.cluster());
    Show(std::move(inspection), {ObjectKind::kPod, "b"});
  }
  Inspection NodeB() {
    Inspection inspection;
    inspection.node = node_.Inspect(rig_.now(), rig_.cluster());
    return inspection;
  }

  ViewRig rig_;
  view::PodInspector pod_;
  view::NodeInspector node_;
  PanelRig panels_{gui::MakeInspectPanel(), ImVec2(kWidth, 500)};
};

TEST_F(PanelInspectTest, NothingSelectedIsAHint) {
  panels_.Frames(2);
  EXPECT_EQ(panel().title(), "Inspector");
  EXPECT_EQ(panel().Subtitle(app()), "");
}

TEST_F(PanelInspectTest, ShowsAPodWithItsLife) {
  ShowPod();
  EXPECT_EQ(panel().title(), "b");
  EXPECT_EQ(panel().Subtitle(app()), "wants 7g.80gb");
  const auto exports = panel().Exports(app());
  ASSERT_EQ(exports.size(), 1u);
  EXPECT_EQ(exports[0].name, "life.svg");
  EXPECT_NE(exports[0].content.find("<svg"), std::string::npos);
  // After a selection changes, the old pod's picture is not exported.
  app().Select({ObjectKind::kPod, "another"});
  EXPECT_TRUE(panel().Exports(app()).empty());
  app().ForgetSelections();
  EXPECT_TRUE(panel().Exports(app()).empty());
}

TEST_F(PanelInspectTest, AClickOnAMarkMovesTheClock) {
  ShowPod();
  // b lived from 10 s to 100 s and was evicted at 40 s, after a third of that.
  const float x = 8 + (kWidth - 16) / 3 + 1;
  EXPECT_TRUE(panels_.ClickUntil(
      x, [&] { return app().timeline.cursor().time == SimTime(40 * kSecondNs); }));
}

TEST_F(PanelInspectTest, CellsOfNodesAreLinks) {
  ShowPod();
  ASSERT_EQ(app().a.inspections[1]->pod->room.size(), 2u);
  // The first cell in the line of nodes.
  EXPECT_TRUE(panels_.ClickUntil(14, [&] {
    return app().selected == ObjectRef{ObjectKind::kNode, "node-a"};
  }));
}

TEST_F(PanelInspectTest, GoesBackAndForward) {
  ShowPod();
  Show(NodeB(), {ObjectKind::kNode, "node-b"});
  EXPECT_EQ(panel().title(), "node-b");
  panels_.Click(16, 16);
  EXPECT_EQ(app().selected.name, "b");
  EXPECT_TRUE(app().CanGoForward());
  // The button of "forward" is the next one.
  panels_.Click(16 + 19 + 8, 16);
  EXPECT_EQ(app().selected.name, "node-b");
}

TEST_F(PanelInspectTest, ANodeFailsAtTheCursorAsB) {
  Show(NodeB(), {ObjectKind::kNode, "node-b"});
  EXPECT_TRUE(panels_.ClickUntil(20, [&] { return app().run_as_b.has_value(); }));
  ASSERT_EQ(app().run_as_b->node_events.size(), 1u);
  EXPECT_EQ(app().run_as_b->node_events[0].kind, gui::NodeEventChange::Kind::kFail);
  EXPECT_EQ(app().run_as_b->node_events[0].node, "node-b");
  EXPECT_EQ(app().run_as_b->node_events[0].at, rig_.now());
  EXPECT_EQ(app().run_as_b->resume_from, "results/test");
  EXPECT_EQ(app().run_as_b->scenario_yaml, "mode: replay\nseed: 7\n");
}

TEST_F(PanelInspectTest, LongestWaitsOfATenantAreLinks) {
  Inspection inspection;
  inspection.tenant = view::InspectTenant(rig_.Table(), "blue").value();
  Show(std::move(inspection), {ObjectKind::kTenant, "blue"});
  EXPECT_TRUE(panels_.ClickUntil(11, [&] {
    return app().selected == ObjectRef{ObjectKind::kPod, "b"};
  }));
}

TEST_F(PanelInspectTest, AnErrorIsShownInsteadOfTheObject) {
  Inspection inspection;
  inspection.status = absl::NotFoundError("no pod 'x' has arrived by then");
  Show(std::move(inspection), {ObjectKind::kPod, "x"});
  EXPECT_EQ(panel().title(), "x");
  EXPECT_EQ(panel().Subtitle(app()), "pod");
  EXPECT_TRUE(panel().Exports(app()).empty());
}

TEST_F(PanelInspectTest, SlotsOverTimeAreLinks) {
  app().node = "node-b";
  app().a.inspections[static_cast<size_t>(ObjectKind::kNode)] = [&] {
    Inspection inspection = NodeB();
    inspection.request.object = {ObjectKind::kNode, "node-b"};
    return std::make_shared<const Inspection>(std::move(inspection));
  }();
  panels_.Replace(gui::MakeSlotsPanel());
  panels_.Frames(3);
  EXPECT_EQ(panel().title(), "node-b");
  EXPECT_EQ(panel().view(), gui::ViewKind::kInspect);
  const auto exports = panel().Exports(app());
  ASSERT_EQ(exports.size(), 1u);
  EXPECT_EQ(exports[0].name, "slots.svg");
  EXPECT_NE(exports[0].content.find("b 7g.80gb"), std::string::npos);
  // b held GPU 0 from 20 s to 40 s of 100 s: a third of the way. A click beside it moves the clock.
  panels_.Click(230, 60);
  EXPECT_EQ(app().selected, (ObjectRef{ObjectKind::kPod, "b"}));
  EXPECT_EQ(app().timeline.cursor().time, SimTime());
  panels_.Click(500, 60);
  EXPECT_GT(app().timeline.cursor().time, SimTime(60 * kSecondNs));
  EXPECT_LT(app().timeline.cursor().time, SimTime(80 * kSecondNs));
}

TEST_F(PanelInspectTest, SlotsBeginWithTheFirstNode) {
  panels_.Replace(gui::MakeSlotsPanel());
  panels_.Frames();
  EXPECT_EQ(app().node, "node-a");
  EXPECT_TRUE(panel().Exports(app()).empty());
}

TEST(DecisionTableTest, ScoresByPlugin) {
  gui::PodDecision made;
  auto& decision = made.decision;
  decision.plugins = {"FGD", "NodeResourcesFit x2"};
  decision.nodes.resize(3);
  decision.nodes[0].node = "n1";
  decision.nodes[0].candidate = decision.nodes[0].chosen = true;
  decision.nodes[0].total = 1200;
  decision.nodes[0].scores = {1000, 200};
  decision.nodes[1].node = "n2";
  decision.nodes[1].candidate = true;
  decision.nodes[1].total = 50;
  decision.nodes[1].scores = {0, 50};
  decision.nodes[2].node = "n3";
  decision.nodes[2].verdict = "Insufficient cpu";
  const gui::DecisionTable table(&made);
  view::TableModel model(&table);
  model.SortBy(gui::DecisionTable::kFirstPlugin + 1, false);
  EXPECT_EQ(model.Csv(),
            "node,result,total,FGD,NodeResourcesFit x2\n"
            "n2,candidate,50,0,50\nn1,chosen,1200,1000,200\nn3,Insufficient cpu,,,\n");
  EXPECT_EQ(table.Shown(0, gui::DecisionTable::kTotal), "1,200");
}

}  // namespace panel_inspect_test
}  // namespace drasim
