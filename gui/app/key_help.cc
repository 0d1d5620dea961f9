#include "gui/app/key_help.h"

#include <imgui.h>

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "gui/app/app.h"
#include "gui/app/commands.h"
#include "gui/app/overlay_window.h"
#include "gui/app/widgets.h"

namespace drasim::gui {
namespace {

constexpr float kColumnInEm = 34;
constexpr float kKeyInEm = 12;

void DrawCommand(const Command& command, const AppState& state) {
  const float left = ImGui::GetCursorPosX();
  std::string keys = KeyText(command.key);
  if (command.other_key.key != 0) absl::StrAppend(&keys, ", ", KeyText(command.other_key));
  StrongText(keys, state);
  ImGui::SameLine();
  ImGui::SetCursorPosX(left + kKeyInEm * ImGui::GetFontSize());
  WrappedText(command.title);
}

}  // namespace

void DrawKeyHelp(bool is_new, App* app) {
  const AppState& state = app->state();
  const float em = ImGui::GetFontSize();
  const float display = ImGui::GetIO().DisplaySize.x - 3 * em;
  const int columns = display >= 2 * kColumnInEm * em ? 2 : 1;
  BeginOverlay("##keys", static_cast<float>(columns) * kColumnInEm * em, 0, is_new);
  StrongText("Keys", state);
  ImGui::SameLine();
  DimText("Everything else: Ctrl+P, and its name. Escape closes lists.", state);
  ImGui::Columns(columns, "##columns", false);
  size_t with_keys = 0;
  for (const Command& command : Commands()) with_keys += command.key.key != 0 ? 1 : 0;
  size_t drawn = 0;
  for (size_t menu = 0; menu < kMenus; ++menu) {
    DimText(MenuName(static_cast<Menu>(menu)), state);
    for (const Command& command : Commands()) {
      if (command.menu != static_cast<Menu>(menu) || command.key.key == 0) continue;
      DrawCommand(command, state);
      ++drawn;
    }
    if (columns == 2 && ImGui::GetColumnIndex() == 0 && drawn * 2 >= with_keys) {
      ImGui::NextColumn();
    }
  }
  ImGui::Columns(1);
  ImGui::End();
}

}  // namespace drasim::gui
