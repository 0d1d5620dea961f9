#include "gui/app/overlay_window.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

namespace drasim::gui {

void BeginOverlay(const char* id, float width, float height, bool is_new) {
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const float em = ImGui::GetFontSize();
  const float top = std::min(3 * em, display.y * 0.1F);
  const float most = std::max(display.y - 2 * top, 1.0F);
  width = std::max(std::min(width, display.x - em), 1.0F);
  ImGui::SetNextWindowPos(ImVec2(std::round((display.x - width) / 2), top));
  if (height > 0) {
    ImGui::SetNextWindowSize(ImVec2(width, std::min(height, most)));
  } else {
    ImGui::SetNextWindowSizeConstraints(ImVec2(width, 0), ImVec2(width, most));
  }
  if (is_new) ImGui::SetNextWindowFocus();
  ImGuiWindowFlags flags = ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize |
                           ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoSavedSettings |
                           ImGuiWindowFlags_NoMove;
  if (height <= 0) flags |= ImGuiWindowFlags_AlwaysAutoResize;
  ImGui::Begin(id, nullptr, flags);
}

bool EnterPressed() {
  return ImGui::IsKeyPressed(GLFW_KEY_ENTER, false) ||
         ImGui::IsKeyPressed(GLFW_KEY_KP_ENTER, false);
}

bool EscapePressed() { return ImGui::IsKeyPressed(GLFW_KEY_ESCAPE, false); }

}  // namespace drasim::gui
