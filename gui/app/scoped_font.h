// A font of ImGui for the texts of a scope.
#ifndef DRASIM_GUI_APP_SCOPED_FONT_H_
#define DRASIM_GUI_APP_SCOPED_FONT_H_

#include <imgui.h>

namespace drasim::gui {

class ScopedFont {
 public:
  // Null: ImGui's own font.
  explicit ScopedFont(ImFont* font) { ImGui::PushFont(font); }
  ~ScopedFont() { ImGui::PopFont(); }
  ScopedFont(const ScopedFont&) = delete;
  ScopedFont& operator=(const ScopedFont&) = delete;
};

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_SCOPED_FONT_H_
