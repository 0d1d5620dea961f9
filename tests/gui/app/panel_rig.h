// One panel in frames of Dear ImGui without a window, over runs that a test drives by hand. Its
// assertions are on in Debian's library: a call that it does not allow ends the test.
#ifndef DRASIM_TESTS_GUI_APP_PANEL_RIG_H_
#define DRASIM_TESTS_GUI_APP_PANEL_RIG_H_

#include <imgui.h>

#include <memory>
#include <optional>
#include <utility>

#include "gui/app/app_state.h"
#include "gui/app/panel.h"
#include "gui/session/run_overview.h"
#include "gui/session/run_snapshot.h"
#include "gui/view/cluster_map_data.h"
#include "gui/view/node_table.h"
#include "tests/gui/view/view_rig.h"

namespace drasim {

// The state of a rig's cluster now.
inline std::shared_ptr<gui::RunSnapshot> SnapshotOf(ViewRig* rig) {
  auto snapshot = std::make_shared<gui::RunSnapshot>(gui::RunSnapshot{
      .request = {},
      .record = 0,
      .time = rig->now(),
      .totals = {},
      .counters = {},
      .slices = {},
      .map = view::MapDataOf(rig->cluster(), rig->pods()),
      .fits = {},
      .nodes = view::NodeTable(rig->cluster()),
      .pods = rig->Table(),
      .tenants = std::nullopt,
  });
  for (size_t n = 0; n < snapshot->nodes.rows(); ++n) {
    snapshot->slices.slices += snapshot->nodes.row(n).slices.slices;
    snapshot->slices.held += snapshot->nodes.row(n).slices.held;
  }
  return snapshot;
}

class PanelRig {
 public:
  explicit PanelRig(std::unique_ptr<gui::Panel> panel) : panel_(std::move(panel)) {
    IMGUI_CHECKVERSION();
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DeltaTime = 1.0F / 60;
    io.DisplaySize = ImVec2(1200, 800);
    io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
    unsigned char* pixels = nullptr;
    int width = 0;
    int height = 0;
    io.Fonts->GetTexDataAsAlpha8(&pixels, &width, &height);
  }
  ~PanelRig() {
    panel_.reset();
    ImGui::DestroyContext();
  }
  PanelRig(const PanelRig&) = delete;
  PanelRig& operator=(const PanelRig&) = delete;

  gui::AppState& app() { return app_; }
  gui::Panel& panel() { return *panel_; }

  // Frames in which nothing new happens. The number of vertices of the last.
  int Frames(int frames = 1) {
    for (int i = 0; i < frames; ++i) {
      ImGui::NewFrame();
      ImGui::SetNextWindowPos(ImVec2(0, 0));
      ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
      ImGui::Begin("panel", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove);
      panel_->Draw(&app_, /*focused=*/true);
      ImGui::End();
      ImGui::Render();
      ImGui::GetIO().MouseWheel = 0;
    }
    return ImGui::GetDrawData()->TotalVtxCount;
  }

  void MoveMouse(float x, float y) {
    ImGui::GetIO().MousePos = ImVec2(x, y);
    Frames();
  }
  void Press(int button = 0) {
    ImGui::GetIO().MouseDown[button] = true;
    Frames();
  }
  void Release(int button = 0) {
    ImGui::GetIO().MouseDown[button] = false;
    Frames();
  }
  // Moves there first: an item must be hovered before it can be pressed.
  void Click(float x, float y) {
    MoveMouse(x, y);
    Press();
    Release();
    // No double click with the next one.
    ImGui::GetIO().MouseDoubleClickTime = 0;
  }
  void Wheel(float notches) {
    ImGui::GetIO().MouseWheel = notches;
    Frames();
  }

 private:
  gui::AppState app_;
  std::unique_ptr<gui::Panel> panel_;
};

}  // namespace drasim

#endif  // DRASIM_TESTS_GUI_APP_PANEL_RIG_H_
