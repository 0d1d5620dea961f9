// drasim-gui: parse the command line, fold the ledger, show it, map the status to an exit code.

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gui/app/window.h"
#include "gui/view/run_view.h"
#include "model/status_macros.h"
#include "model/time.h"
#include "sim/app/exit_codes.h"
#include "sim/app/flags.h"
#include "sim/record/version.h"
#include "sim/scenario/duration_text.h"

namespace drasim {
namespace {

constexpr int kMinSize = 200;
constexpr int kMaxSize = 8192;

std::vector<FlagSpec> Flags() {
  return {{"screenshot", "", "FILE.png", "draw into a picture instead of a window, and exit"},
          {"at", "", "TIME",
           "the devices as they were then, such as 1h30m (default: when most was allocated)"},
          {"width", "", "PIXELS", "of the window, 200..8192; 1280 by default"},
          {"height", "", "PIXELS", "of the window, 200..8192; 800 by default"},
          {"help", "", "", "this text"},
          {"version", "", "", "the version"}};
}

std::string Help() {
  return absl::StrCat(
      "drasim-gui: the devices of a cluster at one moment of a run, and how they filled.\n\n"
      "Usage: drasim-gui [FLAGS] LEDGER|DIR\n\n"
      "LEDGER is a ledger that `drasim run` wrote, DIR the folder of a run with a ledger in it. A\n"
      "partial ledger is shown up to where it breaks off. Scenarios are not run here; do that\n"
      "first:\n\n"
      "  drasim run SCENARIO.yaml --out DIR && drasim-gui DIR\n\n"
      "Point at a device to see its node, its model and what is allocated of it. Escape closes\n"
      "the window.\n\nFlags:\n",
      FlagHelp(Flags()), "\nExit codes: 0 done, 1 no window can be opened or drawn, 2 bad usage ",
      "or input.\n");
}

absl::Status ReadSize(const ParsedFlags& flags, absl::string_view name, int* size) {
  if (!flags.Has(name)) return absl::OkStatus();
  const std::string text = flags.GetOr(name, "");
  if (absl::SimpleAtoi(text, size) && *size >= kMinSize && *size <= kMaxSize) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("--", name, ": found '", text,
                                                 "', expected a whole number of pixels, ", kMinSize,
                                                 "..", kMaxSize));
}

// Nothing without --at.
absl::StatusOr<std::optional<SimTime>> ReadMoment(const ParsedFlags& flags) {
  if (!flags.Has("at")) return std::optional<SimTime>();
  const std::string text = flags.GetOr("at", "");
  const absl::StatusOr<SimDuration> at = ParseDuration(text);
  if (text.empty() || !at.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--at: found '", text, "', expected a time from the start of the run, such as 90s or 1h"));
  }
  return std::optional<SimTime>(SimTime(at->ns()));
}

absl::StatusOr<std::string> LedgerPath(const ParsedFlags& flags) {
  if (flags.positional().size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected one ledger or one folder of a run, found ",
                     flags.positional().size(), "; `drasim-gui --help` explains"));
  }
  const std::string& path = flags.positional().front();
  if (absl::EndsWith(path, ".yaml") || absl::EndsWith(path, ".yml")) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": drasim-gui opens ledgers, not scenarios; run it first: drasim run ",
                     path, " --out DIR && drasim-gui DIR"));
  }
  return path;
}

absl::Status Show(const ParsedFlags& flags) {
  WindowOptions options;
  RETURN_IF_ERROR(ReadSize(flags, "width", &options.width));
  RETURN_IF_ERROR(ReadSize(flags, "height", &options.height));
  options.screenshot = flags.GetOr("screenshot", "");
  if (flags.Has("screenshot") && options.screenshot.empty()) {
    return absl::InvalidArgumentError("--screenshot needs the name of a file");
  }
  ASSIGN_OR_RETURN(const std::string path, LedgerPath(flags));
  ASSIGN_OR_RETURN(const std::optional<SimTime> at, ReadMoment(flags));
  ASSIGN_OR_RETURN(const RunView view, OpenRunView(path, at));
  RETURN_IF_ERROR(ShowWindow(view, options));
  if (!options.screenshot.empty()) std::printf("%s\n", options.screenshot.c_str());
  return absl::OkStatus();
}

int ExitCode(const absl::Status& status) {
  if (status.ok()) return kExitOk;
  std::fprintf(stderr, "drasim-gui: error: %s\n", std::string(status.message()).c_str());
  return absl::IsUnavailable(status) || absl::IsInternal(status) ? kExitFailed : kExitUsage;
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
}  // namespace drasim

int main(int argc, char** argv) {
  return drasim::RunGui(std::vector<std::string>(argv + 1, argv + argc));
}
