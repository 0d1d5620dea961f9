// Texts at exact places of the header and the timeline, cut where they would not fit.
#ifndef DRASIM_GUI_APP_TEXT_DRAW_H_
#define DRASIM_GUI_APP_TEXT_DRAW_H_

#include <imgui.h>

#include <string>

#include "absl/strings/string_view.h"
#include "gui/view/rgb.h"

namespace drasim::gui {

// In each function a null font stands for the present one of ImGui.
float FontHeight(const ImFont* font);
float TextWidth(absl::string_view text, const ImFont* font);
void DrawTextAt(ImVec2 at, Rgb colour, absl::string_view text, const ImFont* font, ImDrawList* to);
// The text, or as much of it as fits with "..." behind; empty if not even that does. Cut between
// characters of UTF-8.
std::string FittingText(absl::string_view text, float width, const ImFont* font);

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_TEXT_DRAW_H_
