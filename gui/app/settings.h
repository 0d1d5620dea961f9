// Settings that a user keeps from one start to the next: looks, splitters, recent files, bookmarks.
// A small text file; damage and unknown lines are ignored, since nothing in it is worth an error.
#ifndef DRASIM_GUI_APP_SETTINGS_H_
#define DRASIM_GUI_APP_SETTINGS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gui/app/app_state.h"
#include "gui/app/panel_places.h"
#include "gui/view/timeline.h"

namespace drasim::gui {

inline constexpr size_t kRecentPaths = 10;

inline constexpr size_t kSavedBookmarks = 200;

// Runs are known by their fingerprints, so a bookmark stays with a ledger that is moved.
struct SavedBookmark {
  uint64_t fingerprint = 0;
  view::Bookmark bookmark;
  bool operator==(const SavedBookmark&) const = default;
};

struct Settings {
  Looks looks;
  SplitterPlaces splitters = DefaultSplitters();
  std::vector<std::string> recent;       // paths, the newest first
  std::vector<SavedBookmark> bookmarks;  // the bookmarks of the run changed last come first
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

// Replaces the bookmarks of a run, and drops the oldest ones of others. A run that broke off has no
// fingerprint (0), and nothing is kept of it.
void KeepBookmarks(uint64_t fingerprint, absl::Span<const view::Bookmark> bookmarks,
                   Settings* settings);
std::vector<view::Bookmark> BookmarksOf(uint64_t fingerprint, const Settings& settings);

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_SETTINGS_H_
