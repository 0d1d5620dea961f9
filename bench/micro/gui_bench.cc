// Frames of the whole window without a window, at the size that it is made for: 100,000 GPUs with
// their slots, six plots of 1,000,000 samples, a table of 1,000,000 pods. The states are made by
// hand, so a frame here is all that a frame does but for asking the workers.

#include <benchmark/benchmark.h>
#include <imgui.h>

#include <cstdint>
#include <memory>

#include "gui/app/app.h"
#include "gui/app/app_layout.h"
#include "gui/app/window.h"
#include "gui/session/run_overview.h"
#include "gui/session/run_snapshot.h"
#include "gui/view/timeline.h"
#include "model/time.h"
#include "tests/gui/view/large_run.h"

namespace drasim::gui {
namespace {

constexpr LargeRunSize kSize;

struct LargeRun {
  std::shared_ptr<const RunOverview> overview = LargeOverview(kSize);
  ManyPods pods{kSize.pods};
  std::shared_ptr<const RunSnapshot> snapshots[2] = {LargeSnapshot(kSize, pods, 0),
                                                     LargeSnapshot(kSize, pods, 1)};
};

const LargeRun& Large() {
  static const auto* const run = new LargeRun;
  return *run;
}

class Window {
 public:
  Window() {
    IMGUI_CHECKVERSION();
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DeltaTime = 1.0F / 60;
    io.DisplaySize = ImVec2(1600, 1000);
    io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
    app_ = std::make_unique<App>(AppOptions());
    AppState& state = app_->state();
    ApplyLooks(state.looks, &state.fonts);
    unsigned char* pixels = nullptr;
    int width = 0;
    int height = 0;
    io.Fonts->GetTexDataAsAlpha8(&pixels, &width, &height);
    state.a.overview = Large().overview;
    state.timeline = view::Timeline(state.a.overview->end);
    Show(0);
    for (int i = 0; i < 60; ++i) Frame();
  }
  ~Window() {
    app_.reset();
    ImGui::DestroyContext();
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  AppState& state() { return app_->state(); }
  // Moves the cursor to that second, where the run has one of two states.
  void Show(int64_t second) {
    state().timeline.MoveTo({SimTime(second % kSize.samples * kSecondNs)});
    state().a.snapshot = Large().snapshots[second % 2];
  }
  int Frame() {
    ImGui::NewFrame();
    app_->layout().Draw(app_.get(), SimDuration::Millis(16));
    ImGui::Render();
    return ImGui::GetDrawData()->TotalVtxCount;
  }

 private:
  std::unique_ptr<App> app_;
};

// The cursor moves at every frame, and the workers' answer is there by the next one.
void BM_FrameOfAMovedCursor(benchmark::State& state) {
  Window window;
  int64_t second = kSize.samples / 2;
  int vertices = 0;
  for (auto _ : state) {
    window.Show(++second);
    vertices = window.Frame();
  }
  state.counters["vertices"] = vertices;
}
BENCHMARK(BM_FrameOfAMovedCursor)->Unit(benchmark::kMicrosecond);

void BM_FrameWithoutAChange(benchmark::State& state) {
  Window window;
  int vertices = 0;
  for (auto _ : state) vertices = window.Frame();
  state.counters["vertices"] = vertices;
}
BENCHMARK(BM_FrameWithoutAChange)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace drasim::gui
