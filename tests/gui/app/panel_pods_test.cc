#include "gui/app/panel_pods.h"

#include <imgui.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "gui/app/live_table.h"
#include "gui/app/panel.h"
#include "gui/app/panel_nodes.h"
#include "gui/app/panel_tenants.h"
#include "gui/session/run_snapshot.h"
#include "gui/view/node_table.h"
#include "gui/view/pod_table.h"
#include "gui/view/tenant_table.h"
#include "model/time.h"
#include "tests/gui/app/panel_rig.h"
#include "tests/gui/view/view_rig.h"

namespace drasim {
namespace panel_pods_test {

using gui::ObjectKind;
using gui::ObjectRef;
using gui::RunSnapshot;

// b waits for 75 s, c for 60 s, d for none; a has ended.
std::shared_ptr<const RunSnapshot> SnapshotOf(const ViewRig& rig, int64_t waiting) {
  auto snapshot = std::make_shared<RunSnapshot>();
  snapshot->time = rig.now();
  snapshot->waiting = waiting;
  snapshot->nodes = view::NodeTable(rig.cluster());
  snapshot->pods = rig.Table();
  snapshot->map.profiles = {"1g.10gb", "7g.80gb"};
  return snapshot;
}

// The names in a table's CSV, from its first column.
std::string NamesIn(PanelRig* rig) {
  std::string names;
  const auto exports = rig->panel().Exports(rig->app());
  if (exports.empty()) return "none";
  const std::string& csv = exports[0].content;
  for (size_t at = csv.find('\n') + 1; at < csv.size(); at = csv.find('\n', at) + 1) {
    absl::StrAppend(&names, csv.substr(at, csv.find(',', at) - at), " ");
  }
  return names;
}

class PanelPodsTest : public ::testing::Test {
 protected:
  PanelPodsTest() {
    PlayThreePods(&rig_);
    rig_.Arrive("d", ViewRig::Gpus(1));
    panels_.app().a.snapshot = SnapshotOf(rig_, 3);
    panels_.Frames(3);
  }

  std::string Names() { return NamesIn(&panels_); }
  void TypeFilter(const char* text) {
    panels_.Click(40, 18);
    panels_.Type(text);
    panels_.Frames(2);
  }

  ViewRig rig_;
  PanelRig panels_{gui::MakePodsPanel(), ImVec2(700, 500)};
};

TEST_F(PanelPodsTest, ShowsWaitingPodsAndTheLongestWaitFirst) {
  EXPECT_EQ(Names(), "b c d ");
  // The square of the profile.
  EXPECT_GE(PanelRig::VerticesOf(view::StepColour(panels_.app().theme(), 1, 2)), 4);
}

TEST_F(PanelPodsTest, AClickSelectsThePodOfTheRow) {
  panels_.Click(20, PanelRig::TableY(1, 2));
  EXPECT_EQ(panels_.app().selected, (ObjectRef{ObjectKind::kPod, "c"}));
  panels_.Click(20, PanelRig::TableY(1, 1));
  EXPECT_EQ(panels_.app().selected, (ObjectRef{ObjectKind::kPod, "b"}));
  // Below the last row there is nothing.
  panels_.Click(20, PanelRig::TableY(1, 5));
  EXPECT_EQ(panels_.app().selected.name, "b");
}

TEST_F(PanelPodsTest, AClickOnAHeaderSorts) {
  panels_.Click(15, PanelRig::TableY(1, 0));
  EXPECT_EQ(Names(), "b c d ");
  panels_.Click(15, PanelRig::TableY(1, 0));
  EXPECT_EQ(Names(), "d c b ");
  EXPECT_EQ(panels_.app().selected.kind, ObjectKind::kNone);
}

TEST_F(PanelPodsTest, TypingFilters) {
  TypeFilter("-tenant:blue");
  EXPECT_EQ(panels_.app().pod_filter, "-tenant:blue");
  EXPECT_EQ(Names(), "c d ");
}

TEST_F(PanelPodsTest, AStateInTheFilterReachesPodsThatDoNotWait) {
  panels_.app().pod_filter = "state:succeeded";
  panels_.Frames(2);
  EXPECT_EQ(Names(), "a ");
}

TEST_F(PanelPodsTest, ABadFilterShowsItsErrorAndKeepsTheRows) {
  const Rgb error = panels_.app().theme().stranded;
  TypeFilter("wants:7g.80gb");
  EXPECT_EQ(Names(), "b ");
  EXPECT_EQ(PanelRig::VerticesOf(error), 0);
  panels_.Type(" wnats:x");
  EXPECT_EQ(panels_.app().pod_filter, "wants:7g.80gb wnats:x");
  EXPECT_EQ(Names(), "b ");
  EXPECT_GT(PanelRig::VerticesOf(error), 0);
}

TEST_F(PanelPodsTest, KeysMoveTheSelection) {
  panels_.SetFocused(true);
  panels_.PressKey(ImGuiKey_DownArrow);
  EXPECT_EQ(panels_.app().selected.name, "b");
  panels_.PressKey(ImGuiKey_DownArrow);
  panels_.PressKey(ImGuiKey_DownArrow);
  panels_.PressKey(ImGuiKey_DownArrow);
  EXPECT_EQ(panels_.app().selected.name, "d");
  panels_.PressKey(ImGuiKey_UpArrow);
  EXPECT_EQ(panels_.app().selected.name, "c");
  panels_.SetFocused(false);
  panels_.PressKey(ImGuiKey_UpArrow);
  EXPECT_EQ(panels_.app().selected.name, "c");
}

TEST_F(PanelPodsTest, ANewSnapshotKeepsSortingAndFilter) {
  panels_.app().pod_filter = "-tenant:blue";
  panels_.Click(15, PanelRig::TableY(1, 0));
  panels_.Click(15, PanelRig::TableY(1, 0));
  EXPECT_EQ(Names(), "d c ");
  rig_.At(200);
  rig_.Arrive("e", ViewRig::Gpus(1));
  panels_.app().a.snapshot = SnapshotOf(rig_, 4);
  panels_.Frames();
  EXPECT_EQ(Names(), "e d c ");
  // A closed run has no pods.
  panels_.app().a.snapshot = nullptr;
  panels_.Frames();
  EXPECT_EQ(Names(), "none");
}

TEST_F(PanelPodsTest, OtherTablesOfTheSnapshot) {
  panels_.Replace(gui::MakeNodesPanel());
  panels_.Frames(3);
  EXPECT_EQ(NamesIn(&panels_), "node-a node-b ");
  panels_.Click(20, PanelRig::TableY(0, 2));
  EXPECT_EQ(panels_.app().selected, (ObjectRef{ObjectKind::kNode, "node-b"}));

  panels_.Replace(gui::MakeTenantsPanel());
  panels_.Frames();
  EXPECT_TRUE(panels_.app().wants_tenants);
  EXPECT_EQ(NamesIn(&panels_), "none");
  auto snapshot = std::make_shared<RunSnapshot>(*panels_.app().a.snapshot);
  snapshot->tenants.emplace(snapshot->pods);
  panels_.app().a.snapshot = std::move(snapshot);
  panels_.Frames();
  EXPECT_EQ(NamesIn(&panels_), "(none) blue red ");
}

const view::TableSource* AllPods(const RunSnapshot& run) { return &run.pods; }

// A table that is too long for one frame shows what it had until the new rows are complete, and
// follows a moving cursor only now and then.
TEST(LiveTableTest, LongTablesAreFilteredInSlices) {
  PanelRig panels;
  ViewRig rig;
  for (size_t i = 0; i < 3 * gui::kLongTable; ++i) {
    rig.Arrive(absl::StrCat("pod-", i), ViewRig::Gpus(1));
  }
  gui::LiveTable table(&AllPods);
  gui::AppState& app = panels.app();
  const auto frame = [&](const std::shared_ptr<const RunSnapshot>& run) {
    ImGui::NewFrame();
    app.wants_frame = false;
    table.Update(run, &app);
    ImGui::EndFrame();
  };
  const std::shared_ptr<const RunSnapshot> first = SnapshotOf(rig, 0);
  // The first rows come at once.
  frame(first);
  ASSERT_TRUE(table.ready());
  EXPECT_FALSE(app.wants_frame);
  EXPECT_EQ(table.model()->size(), 3 * gui::kLongTable);

  table.SortBy(view::PodTable::kName, true);
  size_t asked = 0;
  table.Filter([&](const RunSnapshot&, size_t row) {
    ++asked;
    return row % 2 == 0;
  });
  const size_t all = 3 * gui::kLongTable;
  int frames = 0;
  do {
    EXPECT_EQ(table.model()->size(), all);
    frame(first);
    ++frames;
  } while (app.wants_frame && frames < 100'000);
  EXPECT_EQ(asked, all);
  EXPECT_EQ(table.model()->size(), all / 2);
  EXPECT_EQ(table.model()->sort_column(), std::optional<size_t>(view::PodTable::kName));
  EXPECT_TRUE(table.model()->descending());

  // Ten times a second is too often for a long table.
  const std::shared_ptr<const RunSnapshot> second = SnapshotOf(rig, 0);
  frame(second);
  EXPECT_TRUE(app.wants_frame);
  EXPECT_EQ(&table.run(), first.get());
  frames = 0;
  while (&table.run() != second.get() && frames < 100'000) {
    frame(second);
    ++frames;
  }
  EXPECT_GE(frames, 13);  // a quarter of a second
  EXPECT_EQ(table.model()->size(), all / 2);
  EXPECT_FALSE(app.wants_frame);
}

}  // namespace panel_pods_test
}  // namespace drasim
