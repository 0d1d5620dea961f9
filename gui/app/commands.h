// Everything that a user can do, once: menus, keys, Ctrl+P and the table of keys (F1) read this
// list, so a new command is one line here.
#ifndef DRASIM_GUI_APP_COMMANDS_H_
#define DRASIM_GUI_APP_COMMANDS_H_

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
};
absl::Span<const Command> Commands();

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_COMMANDS_H_
