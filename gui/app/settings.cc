#include "gui/app/settings.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ios>
#include <iterator>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "model/time.h"
#include "sim/record/atomic_file.h"

namespace drasim::gui {
namespace {

// In the order of Splitter.
constexpr const char* kSplitterNames[] = {"rows",          "upper",         "lower-two",
                                          "lower-first",   "lower-second",  "compare-rows",
                                          "compare-lower", "compare-stack", "compare-plots"};
static_assert(std::size(kSplitterNames) == kSplitters);

std::string FileOf(const std::string& folder) { return absl::StrCat(folder, "/gui-settings"); }

// A number from low to high; anything else leaves `value` as it is.
void ReadWithin(absl::string_view text, float low, float high, float* value) {
  float read = 0;
  if (absl::SimpleAtof(text, &read) && read >= low && read <= high) *value = read;
}

void ReadSplitter(absl::string_view text, SplitterPlaces* splitters) {
  for (size_t i = 0; i < kSplitters; ++i) {
    absl::string_view rest = text;
    if (!absl::ConsumePrefix(&rest, kSplitterNames[i])) continue;
    if (absl::ConsumePrefix(&rest, " ")) ReadWithin(rest, 0, 1, &(*splitters)[i]);
  }
}

// "FINGERPRINT NANOSECONDS RECORD NAME"; the record is "-" where there is none.
void ReadBookmark(absl::string_view text, std::vector<SavedBookmark>* bookmarks) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, absl::MaxSplits(' ', 3));
  SavedBookmark saved;
  int64_t ns = 0;
  uint64_t record = 0;
  if (bookmarks->size() == kSavedBookmarks || parts.size() != 4 || parts[3].empty() ||
      !absl::SimpleHexAtoi(parts[0], &saved.fingerprint) || saved.fingerprint == 0 ||
      !absl::SimpleAtoi(parts[1], &ns) || ns < 0) {
    return;
  }
  saved.bookmark.at.time = SimTime(ns);
  if (parts[2] != "-") {
    if (!absl::SimpleAtoi(parts[2], &record)) return;
    saved.bookmark.at.record = record;
  }
  saved.bookmark.name = std::string(parts[3]);
  bookmarks->push_back(std::move(saved));
}

bool HasControlCharacter(absl::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return absl::ascii_iscntrl(static_cast<unsigned char>(c)); });
}

}  // namespace

std::string SettingsText(const Settings& settings) {
  std::string text = "# Kept by drasim-gui.\n";
  absl::StrAppend(&text, "theme ",
                  settings.looks.theme == view::ThemeKind::kLight ? "light" : "dark", "\nscale ",
                  settings.looks.scale, "\n");
  for (size_t i = 0; i < kSplitters; ++i) {
    absl::StrAppend(&text, "splitter ", kSplitterNames[i], " ", settings.splitters[i], "\n");
  }
  for (const std::string& path : settings.recent) {
    // A line could not hold it.
    if (!HasControlCharacter(path)) absl::StrAppend(&text, "recent ", path, "\n");
  }
  for (const SavedBookmark& saved : settings.bookmarks) {
    const view::Bookmark& bookmark = saved.bookmark;
    if (bookmark.name.empty() || HasControlCharacter(bookmark.name)) continue;
    absl::StrAppend(&text, "bookmark ", absl::Hex(saved.fingerprint), " ", bookmark.at.time.ns(),
                    " ", bookmark.at.record.has_value() ? absl::StrCat(*bookmark.at.record) : "-",
                    " ", bookmark.name, "\n");
  }
  return text;
}

Settings ParseSettings(absl::string_view text) {
  Settings settings;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::ConsumePrefix(&line, "theme ")) {
      if (line == "light") settings.looks.theme = view::ThemeKind::kLight;
    } else if (absl::ConsumePrefix(&line, "scale ")) {
      ReadWithin(line, 1, 3, &settings.looks.scale);
    } else if (absl::ConsumePrefix(&line, "splitter ")) {
      ReadSplitter(line, &settings.splitters);
    } else if (absl::ConsumePrefix(&line, "recent ")) {
      const bool fits = settings.recent.size() < kRecentPaths;
      if (fits && !line.empty() && !HasControlCharacter(line)) {
        settings.recent.emplace_back(line);
      }
    } else if (absl::ConsumePrefix(&line, "bookmark ")) {
      if (!HasControlCharacter(line)) ReadBookmark(line, &settings.bookmarks);
    }
  }
  return settings;
}

std::string UserSettingsFolder() {
  const char* const config = std::getenv("XDG_CONFIG_HOME");
  if (config != nullptr && *config == '/') return absl::StrCat(config, "/drasim");
  const char* const home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? absl::StrCat(home, "/.config/drasim") : "";
}

Settings ReadSettings(const std::string& folder) {
  std::ifstream file(FileOf(folder), std::ios::binary);
  // More than any file that was written here.
  std::string text(64U << 10U, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return ParseSettings(text);
}

absl::Status WriteSettings(const std::string& folder, const Settings& settings) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return FileStatus(folder, "cannot be made", error.value());
  return WriteFileAtomically(FileOf(folder), SettingsText(settings));
}

void AddRecent(const std::string& path, Settings* settings) {
  std::vector<std::string>& recent = settings->recent;
  recent.erase(std::remove(recent.begin(), recent.end(), path), recent.end());
  recent.insert(recent.begin(), path);
  if (recent.size() > kRecentPaths) recent.resize(kRecentPaths);
}

void KeepBookmarks(uint64_t fingerprint, absl::Span<const view::Bookmark> bookmarks,
                   Settings* settings) {
  if (fingerprint == 0) return;
  std::vector<SavedBookmark> kept;
  for (const view::Bookmark& bookmark : bookmarks) kept.push_back({fingerprint, bookmark});
  for (SavedBookmark& saved : settings->bookmarks) {
    if (saved.fingerprint != fingerprint) kept.push_back(std::move(saved));
  }
  if (kept.size() > kSavedBookmarks) kept.resize(kSavedBookmarks);
  settings->bookmarks = std::move(kept);
}

std::vector<view::Bookmark> BookmarksOf(uint64_t fingerprint, const Settings& settings) {
  std::vector<view::Bookmark> bookmarks;
  for (const SavedBookmark& saved : settings.bookmarks) {
    if (fingerprint != 0 && saved.fingerprint == fingerprint) bookmarks.push_back(saved.bookmark);
  }
  return bookmarks;
}

}  // namespace drasim::gui
