// The frame of lists and forms that stand above the panels.
#ifndef DRASIM_GUI_APP_OVERLAY_WINDOW_H_
#define DRASIM_GUI_APP_OVERLAY_WINDOW_H_

namespace drasim::gui {

// Opens a window of ImGui in the upper middle of the display, no larger than that; a height of 0
// follows the content. To be followed by ImGui::End().
void BeginOverlay(const char* id, float width, float height, bool is_new);

// Whether Enter was pressed in this frame.
bool EnterPressed();
bool EscapePressed();

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_OVERLAY_WINDOW_H_
