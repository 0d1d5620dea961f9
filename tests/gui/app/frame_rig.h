// Frames of one panel without a window, over snapshots that a test makes.
#ifndef DRASIM_TESTS_GUI_APP_FRAME_RIG_H_
#define DRASIM_TESTS_GUI_APP_FRAME_RIG_H_

#include <imgui.h>

#include <functional>
#include <string>

#include "gui/app/app_state.h"
#include "gui/app/panel.h"
#include "gui/view/rgb.h"

namespace drasim::gui {

class FrameRig {
 public:
  FrameRig() {
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DeltaTime = 1.0F / 60;
    io.DisplaySize = ImVec2(kWidth, kHeight);
    io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
    unsigned char* pixels = nullptr;
    int width = 0;
    int height = 0;
    io.Fonts->GetTexDataAsAlpha8(&pixels, &width, &height);
    for (int key = 0; key < ImGuiKey_COUNT; ++key) io.KeyMap[key] = key;
    io.MousePos = ImVec2(-1, -1);
  }
  ~FrameRig() { ImGui::DestroyContext(); }
  FrameRig(const FrameRig&) = delete;
  FrameRig& operator=(const FrameRig&) = delete;

  static constexpr float kWidth = 700;
  static constexpr float kHeight = 500;

  AppState& app() { return app_; }
  void SetFocused(bool focused) { focused_ = focused; }

  void Frame(Panel* panel) {
    app_.wants_frame = false;
    app_.wants_tenants = false;
    app_.wants_claim.clear();
    ImGui::NewFrame();
    ImGui::SetNextWindowPos(ImVec2(0, 0));
    ImGui::SetNextWindowSize(ImVec2(kWidth, kHeight));
    ImGui::Begin("panel", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove);
    panel->Draw(&app_, focused_);
    ImGui::End();
    ImGui::Render();
  }
  void Frames(Panel* panel, int count) {
    for (int i = 0; i < count; ++i) Frame(panel);
  }

  void MoveTo(float x, float y) { ImGui::GetIO().MousePos = ImVec2(x, y); }
  void Click(Panel* panel, float x, float y) {
    MoveTo(x, y);
    Frame(panel);
    ImGui::GetIO().MouseDown[0] = true;
    Frame(panel);
    ImGui::GetIO().MouseDown[0] = false;
    Frame(panel);
  }
  // Clicks here and there, line by line, until it is done. False if nothing did it.
  bool ClickUntil(Panel* panel, float x, const std::function<bool()>& done) {
    for (float y = 4; y < kHeight; y += 5) {
      Click(panel, x, y);
      if (done()) return true;
    }
    return false;
  }
  void Press(Panel* panel, ImGuiKey key) {
    ImGui::GetIO().KeysDown[key] = true;
    Frame(panel);
    ImGui::GetIO().KeysDown[key] = false;
    Frame(panel);
  }
  void Type(Panel* panel, const char* text) {
    ImGui::GetIO().AddInputCharactersUTF8(text);
    Frames(panel, 2);
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
    const float row = ImGui::GetIO().Fonts->Fonts[0]->FontSize + 4;
    const float framed = ImGui::GetIO().Fonts->Fonts[0]->FontSize + 2 * style.FramePadding.y;
    return style.WindowPadding.y +
           static_cast<float>(lines_above) * (framed + style.ItemSpacing.y) +
           (static_cast<float>(line) + 0.5F) * row;
  }

 private:
  AppState app_;
  bool focused_ = false;
};

}  // namespace drasim::gui

#endif  // DRASIM_TESTS_GUI_APP_FRAME_RIG_H_
