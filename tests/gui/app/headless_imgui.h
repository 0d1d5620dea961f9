// HeadlessImGui: Dear ImGui without a window or renderer, for as long as the object lives.
//
//   HeadlessImGui imgui(ImVec2(1600, 1000));
//   HeadlessImGui::TakeFonts();   // after each change of the fonts
//   ImGui::NewFrame();
#ifndef DRASIM_TESTS_GUI_APP_HEADLESS_IMGUI_H_
#define DRASIM_TESTS_GUI_APP_HEADLESS_IMGUI_H_

#include <imgui.h>

namespace drasim {

class HeadlessImGui {
 public:
  explicit HeadlessImGui(ImVec2 display) {
    IMGUI_CHECKVERSION();
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DeltaTime = 1.0F / 60;
    io.DisplaySize = display;
    // OpenGL 3.2 offers it: a draw list may exceed the vertices that 16-bit indices can address.
    io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
  }
  ~HeadlessImGui() { ImGui::DestroyContext(); }
  HeadlessImGui(const HeadlessImGui&) = delete;
  HeadlessImGui& operator=(const HeadlessImGui&) = delete;

  // Builds the font atlas, which a renderer would otherwise fetch before the first frame.
  static void TakeFonts() {
    unsigned char* pixels = nullptr;
    int width = 0;
    int height = 0;
    ImGui::GetIO().Fonts->GetTexDataAsAlpha8(&pixels, &width, &height);
  }
};

}  // namespace drasim

#endif  // DRASIM_TESTS_GUI_APP_HEADLESS_IMGUI_H_
