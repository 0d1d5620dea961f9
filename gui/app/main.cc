// drasim-gui: parse the command line, show a window or write a picture, map the status to an exit
// code.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gui/app/app.h"
#include "gui/app/settings.h"
#include "gui/app/view_list.h"
#include "gui/app/window.h"
#include "gui/view/palette.h"
#include "gui/view/timeline.h"
#include "model/status_macros.h"
#include "model/time.h"
#include "sim/app/exit_codes.h"
#include "sim/app/flags.h"
#include "sim/record/version.h"

namespace drasim::gui {
namespace {

constexpr int kMinSize = 200;
constexpr int kMaxSize = 8192;
constexpr float kMaxScale = 3;

std::vector<FlagSpec> Flags() {
  return {
      {"screenshot", "", "OUT.png",
       "write a picture instead of opening a window; no display needed"},
      {"size", "", "WxH", "of the picture or window in pixels, 200..8192; 1600x1000 by default"},
      {"scale", "", "S", "of texts and spacings, 1..3"},
      {"theme", "", "NAME", "dark or light", "dark,light"},
      {"at", "", "TIME",
       "such as 20h, 12:30, 50%, end or 'record 1234' (default: when most was allocated)"},
      {"view", "", "NAMES",
       "with commas: map, plots, pods, nodes, claims, tenants, inspect, compare"},
      {"select", "", "NAME", "a pod, node, claim or tenant to inspect"},
      {"help", "", "", "this text"},
      {"version", "", "", "the version"}};
}

std::string Help() {
  return absl::StrCat(
      "drasim-gui: where, when and why a run went as it did, and what if.\n\n"
      "Usage: drasim-gui [FLAGS] [A [B]]\n\n"
      "A and B are ledgers that `drasim run` wrote, folders with one, or scenarios (.yaml), which\n"
      "are run first. With B, the two are compared. Without A a start page offers scenarios and\n"
      "recent files. F1 in the window shows the keys.\n\n"
      "  drasim-gui results/fgd\n"
      "  drasim-gui --screenshot fgd.png --at 20h --view map,plots results/fgd\n\n"
      "Flags:\n",
      FlagHelp(Flags()),
      "\nFonts: Roboto, copyright Google, Apache licence 2.0; DejaVu, a derivative of Bitstream\n"
      "Vera, copyright Bitstream, Inc.\n"
      "\nExit codes: 0 done, 1 no window can be opened or nothing drawn, 2 bad usage or input.\n");
}

absl::Status BadFlag(absl::string_view name, absl::string_view found, absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat("--", name, ": found '", found, "', expected ", expected));
}

bool ReadPixels(absl::string_view text, int* pixels) {
  return absl::SimpleAtoi(text, pixels) && *pixels >= kMinSize && *pixels <= kMaxSize;
}

absl::Status ReadSize(const ParsedFlags& flags, WindowOptions* options) {
  if (!flags.Has("size")) return absl::OkStatus();
  const std::string text = flags.GetOr("size", "");
  const absl::string_view size = text;
  const size_t by = size.find('x');
  if (by != absl::string_view::npos && ReadPixels(size.substr(0, by), &options->width) &&
      ReadPixels(size.substr(by + 1), &options->height)) {
    return absl::OkStatus();
  }
  return BadFlag(
      "size", text,
      absl::StrCat("width and height of ", kMinSize, "..", kMaxSize, " pixels, such as 1600x1000"));
}

absl::Status ReadLooks(const ParsedFlags& flags, Looks* looks) {
  if (flags.Has("scale")) {
    const std::string text = flags.GetOr("scale", "");
    if (!absl::SimpleAtof(text, &looks->scale) ||
        !(looks->scale >= 1 && looks->scale <= kMaxScale)) {
      return BadFlag("scale", text, "a number from 1 to 3, such as 1.5");
    }
  }
  if (flags.Has("theme")) {
    const std::string text = flags.GetOr("theme", "");
    if (text != "dark" && text != "light") return BadFlag("theme", text, "dark or light");
    looks->theme = text == "dark" ? view::ThemeKind::kDark : view::ThemeKind::kLight;
  }
  return absl::OkStatus();
}

// Any record there may be, since the run is not read yet.
class AnyRecord : public view::RecordClock {
 public:
  uint64_t records() const override { return std::numeric_limits<uint64_t>::max(); }
  SimTime TimeOf(uint64_t) const override { return SimTime(); }
  uint64_t LastRecordAt(SimTime) const override { return 0; }
};

// Whether it is a time at all. Whether the run has such a time turns out when it is read.
absl::Status CheckTime(const ParsedFlags& flags) {
  if (!flags.Has("at")) return absl::OkStatus();
  const AnyRecord records;
  view::TypedPlace place;
  place.end = SimTime(std::numeric_limits<int64_t>::max());
  place.clock = &records;
  const absl::Status status = view::ParseTarget(flags.GetOr("at", ""), place).status();
  if (!absl::IsInvalidArgument(status)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--at: found '", flags.GetOr("at", ""), "': ", status.message()));
}

absl::StatusOr<AppOptions> ReadOptions(const ParsedFlags& flags) {
  AppOptions options;
  RETURN_IF_ERROR(ReadLooks(flags, &options.looks));
  RETURN_IF_ERROR(CheckTime(flags));
  options.at = flags.GetOr("at", "");
  options.select = flags.GetOr("select", "");
  if (flags.Has("view")) {
    absl::StatusOr<ViewSet> views = ParseViews(flags.GetOr("view", ""));
    if (!views.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("--view: ", views.status().message()));
    }
    options.views = *views;
  }
  const std::vector<std::string>& paths = flags.positional();
  if (paths.size() > 2) {
    return absl::InvalidArgumentError(absl::StrCat("found ", paths.size(),
                                                   " paths, expected a run A and perhaps a run B; ",
                                                   "`drasim-gui --help` explains"));
  }
  for (const std::string& path : paths) {
    if (path.empty()) return absl::InvalidArgumentError("found an empty path");
  }
  // Both flags name things that are looked up in A.
  for (const char* flag : {"at", "select"}) {
    if (!paths.empty() || !flags.Has(flag)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--", flag, ": found no run; name a ledger, a folder with one or a scenario"));
  }
  if (paths.size() < 2 && options.views.Has(ViewKind::kCompare)) {
    return absl::InvalidArgumentError("--view: 'compare' needs a second run, B");
  }
  if (!paths.empty()) options.path_a = paths[0];
  if (paths.size() > 1) options.path_b = paths[1];
  return options;
}

// Before a run that may take minutes, and so that no ledger is replaced by a picture.
absl::Status CheckPicturePath(const std::string& path) {
  const std::filesystem::path picture(path);
  if (picture.extension() != ".png") {
    return BadFlag("screenshot", path, "the name of a .png file");
  }
  const std::filesystem::path folder = picture.parent_path();
  std::error_code error;
  if (!folder.empty() && !std::filesystem::is_directory(folder, error)) {
    return BadFlag("screenshot", path,
                   absl::StrCat("a file in a folder; create ", folder.string()));
  }
  if (std::filesystem::is_directory(picture, error)) {
    return BadFlag("screenshot", path, "the name of a file; this is a folder");
  }
  return absl::OkStatus();
}

absl::Status Show(const ParsedFlags& flags) {
  WindowOptions window;
  RETURN_IF_ERROR(ReadSize(flags, &window));
  ASSIGN_OR_RETURN(AppOptions options, ReadOptions(flags));
  if (!flags.Has("screenshot")) {
    options.settings_folder = UserSettingsFolder();
    options.wake = WakeWindow;
    App app(std::move(options));
    return ShowWindow(window, &app);
  }
  // A picture shows what the command line says, whatever the user's settings.
  const std::string path = flags.GetOr("screenshot", "");
  RETURN_IF_ERROR(CheckPicturePath(path));
  App app(std::move(options));
  RETURN_IF_ERROR(WritePicture(window, path, &app));
  std::printf("%s\n", path.c_str());
  return absl::OkStatus();
}

int ExitCode(const absl::Status& status) {
  if (!status.ok()) {
    std::fprintf(stderr, "drasim-gui: error: %s\n", std::string(status.message()).c_str());
  }
  return ExitCodeOf(status);
}

int RunGui(const std::vector<std::string>& args) {
  const absl::StatusOr<ParsedFlags> flags = ParseFlags(Flags(), args);
  if (!flags.ok()) return ExitCode(flags.status());
  if (flags->Has("help")) {
    std::fputs(Help().c_str(), stdout);
    return kExitOk;
  }
  if (flags->Has("version")) {
    std::fputs(absl::StrCat("drasim-gui ", kDrasimVersion, "\n").c_str(), stdout);
    return kExitOk;
  }
  return ExitCode(Show(*flags));
}

}  // namespace
}  // namespace drasim::gui

int main(int argc, char** argv) {
  return drasim::gui::RunGui(std::vector<std::string>(argv + 1, argv + argc));
}
