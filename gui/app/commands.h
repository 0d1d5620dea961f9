// Everything that a user can do, once: menus, keys, Ctrl+P and the table of keys (F1) read this
// list, so a new command is one line here.
#ifndef DRASIM_GUI_APP_COMMANDS_H_
#define DRASIM_GUI_APP_COMMANDS_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gui/app/app_state.h"

namespace drasim::gui {

class App;

// A key with its modifiers.
struct KeyChord {
  int key = 0;  // as GLFW names it (GLFW_KEY_SPACE), which is what the back end passes on; 0: none
  bool ctrl = false;
  bool shift = false;
  bool alt = false;
};
std::string KeyText(const KeyChord& chord);  // "Ctrl+P"

enum class Menu : uint8_t { kFile, kRun, kView, kCompare, kExport, kHelp };

struct Command {
  absl::string_view id;  // "play"
  Menu menu = Menu::kView;
  absl::string_view title;  // "Play or pause"
  KeyChord key = {};
  bool (*enabled)(const App&) = nullptr;  // null: always
  void (*run)(App*) = nullptr;
  KeyChord other_key = {};
  bool (*checked)(const App&) = nullptr;  // a mark in the menu; null: none
  bool repeats = false;                   // while its key is held
};
absl::Span<const Command> Commands();
// Null for an unknown id.
const Command* FindCommand(absl::string_view id);
// Nothing if the command does not exist or cannot be had now.
void RunCommand(absl::string_view id, App* app);
absl::string_view MenuName(Menu menu);  // "File"
inline constexpr size_t kMenus = 6;

// Runs the commands whose keys were pressed in this frame of ImGui. While a text is being typed,
// only those with Ctrl that no text field uses, and function keys.
void RunKeys(App* app);

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_COMMANDS_H_
