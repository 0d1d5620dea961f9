// One panel in frames of Dear ImGui without a window, over runs that a test drives by hand. Its
// assertions are on in Debian's library: a call that it does not allow ends the test.
#ifndef DRASIM_TESTS_GUI_APP_PANEL_RIG_H_
#define DRASIM_TESTS_GUI_APP_PANEL_RIG_H_

#include <imgui.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "gui/app/app_state.h"
#include "gui/app/panel.h"
#include "gui/session/run_overview.h"
#include "gui/session/run_snapshot.h"
#include "gui/view/cluster_map_data.h"
#include "gui/view/node_table.h"
#include "gui/view/rgb.h"
#include "tests/gui/app/headless_imgui.h"
#include "tests/gui/view/view_rig.h"

namespace drasim {

// The state of a rig's cluster now.
inline std::shared_ptr<gui::RunSnapshot> SnapshotOf(ViewRig* rig) {
  auto snapshot = std::make_shared<gui::RunSnapshot>();
  snapshot->time = rig->now();
  snapshot->map = view::MapDataOf(rig->cluster(), rig->pods());
  snapshot->nodes = view::NodeTable(rig->cluster());
  snapshot->pods = rig->Table();
  for (size_t n = 0; n < snapshot->nodes.rows(); ++n) {
    snapshot->slices.slices += snapshot->nodes.row(n).slices.slices;
    snapshot->slices.held += snapshot->nodes.row(n).slices.held;
  }
  return snapshot;
}

class PanelRig {
 public:
  // The panel fills a display of that size. Without one only app() and ImGui are there.
  explicit PanelRig(std::unique_ptr<gui::Panel> panel = nullptr, ImVec2 size = ImVec2(1200, 800))
      : imgui_(size), panel_(std::move(panel)) {
    for (int key = 0; key < ImGuiKey_COUNT; ++key) ImGui::GetIO().KeyMap[key] = key;
    HeadlessImGui::TakeFonts();
  }
  PanelRig(const PanelRig&) = delete;
  PanelRig& operator=(const PanelRig&) = delete;

  gui::AppState& app() { return app_; }
  gui::Panel& panel() { return *panel_; }
  // Another panel of the same app in the place of the first.
  void Replace(std::unique_ptr<gui::Panel> panel) { panel_ = std::move(panel); }
  void SetFocused(bool focused) { focused_ = focused; }

  // Frames in which nothing new happens. The number of vertices of the last.
  int Frames(int frames = 1) {
    for (int i = 0; i < frames; ++i) {
      app_.wants_frame = false;
      app_.wants_tenants = false;
      app_.wants_claim.clear();
      ImGui::NewFrame();
      ImGui::SetNextWindowPos(ImVec2(0, 0));
      ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
      ImGui::Begin("panel", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove);
      panel_->Draw(&app_, focused_);
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
  // Clicks line by line until it is done. False if nothing did it.
  bool ClickUntil(float x, const std::function<bool()>& done) {
    for (float y = 4; y < ImGui::GetIO().DisplaySize.y; y += 5) {
      Click(x, y);
      if (done()) return true;
    }
    return false;
  }
  void Wheel(float notches) {
    ImGui::GetIO().MouseWheel = notches;
    Frames();
  }
  void PressKey(ImGuiKey key) {
    ImGui::GetIO().KeysDown[key] = true;
    Frames();
    ImGui::GetIO().KeysDown[key] = false;
    Frames();
  }
  void Type(const char* text) {
    ImGui::GetIO().AddInputCharactersUTF8(text);
    Frames(2);
  }

  // Vertices of a colour in the last frame.
  static int VerticesOf(Rgb colour) {
    const ImU32 packed = IM_COL32(colour.red, colour.green, colour.blue, 255);
    const ImDrawData* const data = ImGui::GetDrawData();
    int count = 0;
    for (int n = 0; n < data->CmdListsCount; ++n) {
      for (const ImDrawVert& vertex : data->CmdLists[n]->VtxBuffer) count += vertex.col == packed;
    }
    return count;
  }

  // The middle of the line of a table below `lines_above` framed lines: 0 is the header.
  static float TableY(int lines_above, int line) {
    const ImGuiStyle& style = ImGui::GetStyle();
    const float font = ImGui::GetIO().Fonts->Fonts[0]->FontSize;
    const float row = font + 4;
    const float framed = font + 2 * style.FramePadding.y;
    return style.WindowPadding.y +
           static_cast<float>(lines_above) * (framed + style.ItemSpacing.y) +
           (static_cast<float>(line) + 0.5F) * row;
  }

 private:
  HeadlessImGui imgui_;
  gui::AppState app_;
  std::unique_ptr<gui::Panel> panel_;
  bool focused_ = false;
};

}  // namespace drasim

#endif  // DRASIM_TESTS_GUI_APP_PANEL_RIG_H_
