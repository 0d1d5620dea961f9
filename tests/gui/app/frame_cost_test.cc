// Costs of frames, as ratios of costs in this process: they hold on any machine. bench/gui_bench
// has the times. Bounds are at least twice the measured ratios.
#include <imgui.h>

#include <algorithm>
#include <cstdint>
#include <memory>

#include "gtest/gtest.h"
#include "gui/app/app.h"
#include "gui/app/app_layout.h"
#include "gui/app/window.h"
#include "gui/session/run_snapshot.h"
#include "gui/view/map_model.h"
#include "gui/view/timeline.h"
#include "model/time.h"
#include "tests/gui/app/headless_imgui.h"
#include "tests/gui/view/large_run.h"
#include "tests/testing/thread_cpu.h"

namespace drasim {
namespace frame_cost_test {

constexpr int kRepeats = 5;
constexpr int kFrames = 20;  // of a repeat

// The whole window over runs made by hand.
class FrameCostTest : public ::testing::Test {
 protected:
  FrameCostTest() {
    app_ = std::make_unique<gui::App>(gui::AppOptions());
    gui::AppState& state = app_->state();
    gui::ApplyLooks(state.looks, &state.fonts);
    HeadlessImGui::TakeFonts();
  }

  void Open(const LargeRunSize& size) {
    const ManyPods pods(size.pods);
    gui::AppState& state = app_->state();
    state.a.overview = LargeOverview(size);
    state.timeline = view::Timeline(state.a.overview->end);
    for (uint64_t i = 0; i < 2; ++i) snapshots_[i] = LargeSnapshot(size, pods, i);
    Show(0);
    for (int i = 0; i < 60; ++i) Frame();
  }
  void Show(int64_t second) {
    app_->state().timeline.MoveTo({SimTime(second * kSecondNs)});
    app_->state().a.snapshot = snapshots_[second % 2];
  }
  void Frame() {
    ImGui::NewFrame();
    app_->layout().Draw(app_.get(), SimDuration::Millis(16));
    ImGui::Render();
  }
  double CostOfUnchangedFrames() {
    return LeastCpuSeconds(kRepeats, [&] {
      for (int i = 0; i < kFrames; ++i) Frame();
    });
  }
  double CostOfMovedFrames() {
    int64_t second = 0;
    return LeastCpuSeconds(kRepeats, [&] {
      for (int i = 0; i < kFrames; ++i) {
        Show(++second);
        Frame();
      }
    });
  }

  HeadlessImGui imgui_{ImVec2(1600, 1000)};
  std::unique_ptr<gui::App> app_;
  std::shared_ptr<const gui::RunSnapshot> snapshots_[2];
};

TEST_F(FrameCostTest, AFrameWithoutAChangeCostsAPartOfOneWithANewCursor) {
  Open({.nodes = 12'500, .samples = 30'000, .pods = 30'000});
  double moved = CostOfMovedFrames();
  double unchanged = CostOfUnchangedFrames();
  // Again in turn: the speed of a shared machine changes within seconds.
  for (int round = 0; round < 2; ++round) {
    moved = std::min(moved, CostOfMovedFrames());
    unchanged = std::min(unchanged, CostOfUnchangedFrames());
  }
  EXPECT_LT(unchanged, 0.6 * moved);
}

// Plots read columns of pixels, tables the rows in sight: neither must look at all of a run.
TEST_F(FrameCostTest, ALongerRunCostsNoMoreToLookAt) {
  Open({.nodes = 1'000, .samples = 30'000, .pods = 30'000});
  const double shorter = CostOfUnchangedFrames();
  Open({.nodes = 1'000, .samples = 300'000, .pods = 120'000});
  EXPECT_LT(CostOfUnchangedFrames(), 2 * shorter);
}

double CostOfMap(int nodes, float pixels_per_gpu) {
  view::ClusterMapData data = LargeCluster(nodes, 1);
  view::ClusterMap map(&data);
  map.Arrange(view::MapGrouping::kModel, view::MapOrder::kName, 1.6F);
  view::MapView shown = map.Fit(800, 500);
  shown = view::ClusterMap::Zoomed(shown, pixels_per_gpu / shown.scale, {0, 0});
  // The same number of nodes is in sight in either cluster.
  shown.origin = {};
  return LeastCpuSeconds(kRepeats, [&] {
    for (int i = 0; i < kFrames; ++i) {
      ++data.version;
      map.Draw(shown, nullptr);
    }
  });
}

TEST(MapCostTest, GpusOutOfSightAreFree) {
  constexpr float kPixels = 12;
  const double few = CostOfMap(2'000, kPixels);
  EXPECT_LT(CostOfMap(20'000, kPixels), 2 * few);
}

TEST(MapCostTest, AnUnchangedMapIsNotDrawnAgain) {
  const view::ClusterMapData data = LargeCluster(1'000, 1);
  view::ClusterMap map(&data);
  map.Arrange(view::MapGrouping::kModel, view::MapOrder::kName, 1.6F);
  view::MapView shown = map.Fit(800, 500);
  const auto cost = [&](float step) {
    return LeastCpuSeconds(kRepeats, [&] {
      for (int i = 0; i < kFrames; ++i) {
        shown.origin.x += step;
        map.Draw(shown, nullptr);
      }
    });
  };
  const double moved = cost(0.01F);
  EXPECT_LT(cost(0), moved / 20);
}

}  // namespace frame_cost_test
}  // namespace drasim
