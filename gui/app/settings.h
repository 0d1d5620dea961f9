// Settings that a user keeps from one start to the next: looks, splitters, recent files. A small
// text file; damage and unknown lines are ignored, since nothing in it is worth an error.
#ifndef DRASIM_GUI_APP_SETTINGS_H_
#define DRASIM_GUI_APP_SETTINGS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gui/app/app_state.h"
#include "gui/app/panel_places.h"

namespace drasim::gui {

inline constexpr size_t kRecentPaths = 10;

struct Settings {
  Looks looks;
  SplitterPlaces splitters = DefaultSplitters();
  std::vector<std::string> recent;  // paths, the newest first
};

std::string SettingsText(const Settings& settings);
Settings ParseSettings(absl::string_view text);

// $XDG_CONFIG_HOME/drasim or ~/.config/drasim; empty without either.
std::string UserSettingsFolder();
// The defaults if there is no such file.
Settings ReadSettings(const std::string& folder);
// Makes the folder. Errors are those of the file system.
absl::Status WriteSettings(const std::string& folder, const Settings& settings);

// Puts the path in front, once, and drops the oldest.
void AddRecent(const std::string& path, Settings* settings);

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_SETTINGS_H_
