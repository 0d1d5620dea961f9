#include "gui/app/panel_plots.h"

#include <imgui.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "gui/app/panel.h"
#include "gui/app/run_plots.h"
#include "gui/session/run_overview.h"
#include "gui/view/plot_model.h"
#include "gui/view/pyramid.h"
#include "gui/view/timeline.h"
#include "model/time.h"
#include "tests/gui/app/panel_rig.h"

namespace drasim {
namespace panel_plots_test {

using gui::RunOverview;
using gui::RunPlot;

constexpr int64_t kEndS = 1000;

SimTime At(int64_t seconds) { return SimTime(seconds * kSecondNs); }

// A metric with the values at 0 s, 500 s and the end.
void AddSeries(const std::string& name, double first, double middle, double last,
               RunOverview* run) {
  gui::MetricSeries series;
  series.name = name;
  series.data.Append(At(0), first);
  series.data.Append(At(500), middle);
  series.data.Append(At(kEndS), last);
  run->series.push_back(std::move(series));
}

std::shared_ptr<RunOverview> SlicedRun() {
  auto run = std::make_shared<RunOverview>();
  run->end = At(kEndS);
  run->slices = true;
  AddSeries("slices_total", 80, 80, 40, run.get());
  AddSeries("slices_held", 8, 40, 20, run.get());
  AddSeries("slices_stranded", 0, 4, 4, run.get());
  AddSeries("pods_waiting", 0, 30, 10, run.get());
  AddSeries("attempts_failed", 0, 500, 500, run.get());
  AddSeries("pods_bound", 0, 100, 200, run.get());
  AddSeries("wait_p50", 1, 2, 3, run.get());
  AddSeries("wait_p95", 10, 20, 30, run.get());
  AddSeries("pods_rejected", 0, 0, 0, run.get());
  return run;
}

std::vector<std::string> IdsOf(const std::vector<RunPlot>& plots) {
  std::vector<std::string> ids;
  for (const RunPlot& plot : plots) ids.push_back(plot.id);
  return ids;
}

double ValueOf(const RunPlot& plot, size_t series, int64_t seconds) {
  return plot.model->ValueAt(view::LegendKind::kSeries, series, At(seconds)).value_or(-1);
}

TEST(RunPlotsTest, ShowsWhatTheLedgerHas) {
  const std::shared_ptr<RunOverview> run = SlicedRun();
  std::vector<RunPlot> plots = PlotsOf(*run, nullptr, view::ThemeKind::kDark);
  EXPECT_EQ(IdsOf(plots), (std::vector<std::string>{"slices", "waiting", "attempts", "waits"}));
  // The four parts of a stack make up all slices that ever were there.
  const RunPlot& slices = plots[0];
  ASSERT_EQ(slices.model->spec().series.size(), 4u);
  EXPECT_DOUBLE_EQ(ValueOf(slices, 0, 500), 50);
  EXPECT_DOUBLE_EQ(ValueOf(slices, 1, 500), 5);
  EXPECT_DOUBLE_EQ(ValueOf(slices, 2, 500), 45);
  EXPECT_DOUBLE_EQ(ValueOf(slices, 3, 500), 0);
  EXPECT_DOUBLE_EQ(ValueOf(slices, 2, kEndS), 20);
  EXPECT_DOUBLE_EQ(ValueOf(slices, 3, kEndS), 50);

  RunPlot& attempts = plots[2];
  attempts.SetWindow(At(0), At(kEndS), 10);
  ASSERT_EQ(attempts.model->spec().series.size(), 2u);
  EXPECT_EQ(attempts.model->spec().series[1].name, "found no node");
  EXPECT_NEAR(ValueOf(attempts, 0, 100), 12, 1e-9);
  EXPECT_NEAR(ValueOf(attempts, 1, 100), 60, 1e-9);
  EXPECT_NEAR(ValueOf(attempts, 1, 800), 0, 1e-9);
  EXPECT_TRUE(plots[3].can_be_log);

  // Finer verdicts and calls by client, where the ledger knows them.
  AddSeries("waiting_untried", 0, 1, 1, run.get());
  AddSeries("waiting_no_room", 0, 9, 4, run.get());
  AddSeries("waiting_driver", 0, 20, 5, run.get());
  AddSeries("calls:driver", 0, 1000, 1000, run.get());
  AddSeries("calls:kubelet", 0, 0, 3000, run.get());
  std::vector<RunPlot> finer = PlotsOf(*run, nullptr, view::ThemeKind::kDark);
  EXPECT_EQ(IdsOf(finer),
            (std::vector<std::string>{"slices", "waiting", "attempts", "waits", "calls"}));
  EXPECT_TRUE(finer[1].model->spec().stacked);
  EXPECT_EQ(finer[1].model->spec().series.size(), 3u);
  finer[4].SetWindow(At(0), At(kEndS), 10);
  EXPECT_EQ(finer[4].model->spec().series[0].name, "kubelet");  // the busiest
  EXPECT_NEAR(ValueOf(finer[4], 0, 800), 6, 1e-9);
  EXPECT_NEAR(ValueOf(finer[4], 1, 100), 2, 1e-9);
}

TEST(RunPlotsTest, AFillIsDrawnOverTheArrivedLoad) {
  RunOverview run;
  run.by_record = true;
  run.end = At(kEndS);
  run.gpus = 8;
  AddSeries("gpu_allocated_milli", 0, 4000, 6000, &run);
  AddSeries("gpu_capacity_milli", 8000, 8000, 8000, &run);
  AddSeries("pods_waiting", 0, 0, 2, &run);
  AddSeries("attempts_failed", 0, 0, 2, &run);
  run.load.Append(At(0), 0);
  run.load.Append(At(kEndS), 120);
  const std::vector<RunPlot> plots = PlotsOf(run, nullptr, view::ThemeKind::kDark);
  EXPECT_EQ(IdsOf(plots), (std::vector<std::string>{"gpus", "waiting"}));
  EXPECT_EQ(plots[0].model->spec().load, &run.load);
  EXPECT_DOUBLE_EQ(ValueOf(plots[0], 0, kEndS), 75);
}

TEST(RunPlotsTest, TwoRunsShareEachPlot) {
  const std::shared_ptr<RunOverview> a = SlicedRun();
  const std::shared_ptr<RunOverview> b = SlicedRun();
  b->series[1].data = view::Pyramid::Build({At(0)}, {60});
  const std::vector<RunPlot> plots = PlotsOf(*a, b.get(), view::ThemeKind::kLight);
  EXPECT_EQ(IdsOf(plots),
            (std::vector<std::string>{"slices", "waiting", "stranded", "attempts", "waits"}));
  for (const RunPlot& plot : plots) {
    ASSERT_EQ(plot.model->spec().series.size(), 2u) << plot.id;
    EXPECT_EQ(plot.model->spec().differences.size(), 1u) << plot.id;
  }
  EXPECT_DOUBLE_EQ(ValueOf(plots[0], 0, 500), 50);
  EXPECT_DOUBLE_EQ(ValueOf(plots[0], 1, 500), 75);
}

class PanelPlotsTest : public ::testing::Test {
 protected:
  PanelPlotsTest() : rig_(gui::MakePlotsPanel()) {
    rig_.app().a.overview = SlicedRun();
    rig_.app().timeline = view::Timeline(At(kEndS));
    rig_.Frames(3);
  }
  SimTime cursor() { return rig_.app().timeline.cursor().time; }

  PanelRig rig_;
};

// The window is 1,200 pixels wide and four plots share 800 pixels; the areas begin left of x = 150
// and end right of x = 850.
TEST_F(PanelPlotsTest, ADragInAPlotSeeks) {
  rig_.Click(300, 100);
  const SimTime first = cursor();
  EXPECT_GT(first, At(50));
  EXPECT_LT(first, At(500));
  rig_.MoveMouse(500, 100);
  EXPECT_EQ(cursor(), first);  // the button is up
  rig_.MoveMouse(300, 100);
  rig_.Press();
  EXPECT_EQ(cursor(), first);
  rig_.MoveMouse(600, 100);
  const SimTime second = cursor();
  EXPECT_GT(second, first);
  rig_.MoveMouse(5000, 100);
  EXPECT_EQ(cursor(), At(kEndS));
  rig_.Release();
  // Every plot has the same axis of time.
  rig_.Click(600, 700);
  EXPECT_NEAR(cursor().seconds(), second.seconds(), 25);
}

TEST_F(PanelPlotsTest, TheWheelZoomsAndDragsOfOtherButtonsPan) {
  view::Timeline& timeline = rig_.app().timeline;
  rig_.Click(500, 100);
  const SimTime here = cursor();
  rig_.Wheel(1);
  EXPECT_FALSE(timeline.shows_everything());
  EXPECT_NEAR((timeline.window_end() - timeline.window_begin()).seconds(), 800, 0.001);
  // The instant under the mouse stays there.
  rig_.Click(500, 100);
  EXPECT_NEAR(cursor().seconds(), here.seconds(), 0.5);

  const SimTime begin = timeline.window_begin();
  rig_.Press(1);
  rig_.MoveMouse(450, 100);
  rig_.MoveMouse(400, 100);
  rig_.Release(1);
  EXPECT_GT(timeline.window_begin(), begin);
  EXPECT_NEAR((timeline.window_end() - timeline.window_begin()).seconds(), 800, 0.001);
  // A pixel for a pixel.
  rig_.Click(400, 100);
  EXPECT_NEAR(cursor().seconds(), here.seconds(), 2);

  ImGui::GetIO().MouseDoubleClickTime = 0.3F;
  rig_.Press();
  rig_.Release();
  rig_.Press();
  rig_.Release();
  EXPECT_TRUE(timeline.shows_everything());
}

TEST_F(PanelPlotsTest, ExportsEveryPlotThatIsShown) {
  const std::vector<gui::PanelExport> files = rig_.panel().Exports(rig_.app());
  ASSERT_EQ(files.size(), 8u);
  EXPECT_EQ(files[0].name, "slices.svg");
  EXPECT_TRUE(absl::StrContains(files[0].content, "Memory slices"));
  EXPECT_EQ(files[3].name, "waiting.csv");
  EXPECT_EQ(files[3].content, "time_s,waiting\n0,0\n500,30\n1000,10\n");
}

TEST_F(PanelPlotsTest, WhatWasHiddenStaysHiddenInANewTheme) {
  rig_.Frames(2);
  const int vertices = rig_.Frames();
  // The uppermost row of the legend of the first plot, at the right.
  rig_.Click(1100, 40);
  const int hidden = rig_.Frames();
  EXPECT_NE(hidden, vertices);
  rig_.app().looks.theme = view::ThemeKind::kLight;
  rig_.Frames(2);
  EXPECT_EQ(rig_.Frames(), hidden);
  EXPECT_EQ(cursor(), SimTime());  // a click on the legend does not seek
}

TEST_F(PanelPlotsTest, TheMenuHidesAPlot) {
  const int before = rig_.Frames(2);
  // In the upper right corner of the first plot.
  rig_.Click(1168, 14);
  const int with_menu = rig_.Frames(2);
  EXPECT_GT(with_menu, before + 100);
  // The first box of the menu, which opens below the mouse as far right as it has room.
  rig_.Click(945, 32);
  rig_.Frames(2);
  EXPECT_EQ(rig_.panel().Exports(rig_.app()).size(), 6u);
  EXPECT_EQ(rig_.panel().Exports(rig_.app())[0].name, "waiting.svg");
  EXPECT_EQ(cursor(), SimTime());
}

TEST(PanelPlotsAloneTest, NoRunAndAnEmptyRunAreDrawn) {
  PanelRig rig(gui::MakePlotsPanel());
  rig.Frames(2);
  rig.app().a.overview = std::make_shared<RunOverview>();
  rig.Frames(2);
  rig.app().timeline = view::Timeline(At(10));
  rig.Frames(2);
  EXPECT_TRUE(rig.panel().Exports(rig.app()).empty());
}

}  // namespace panel_plots_test
}  // namespace drasim
