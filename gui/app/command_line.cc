#include "gui/app/command_line.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gui/view/unit_text.h"

namespace drasim::gui {
namespace {

bool IsPlain(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
         absl::string_view("_-./,:=@%+").find(c) != absl::string_view::npos;
}

std::string AtFlag(const AppState& app) {
  const bool by_record = app.a.overview != nullptr && app.a.overview->by_record;
  return absl::StrCat(" --at ", ShellWord(TypedTime(app.timeline.cursor(), by_record)));
}

// A path that no flag parser takes for a flag.
std::string PathWord(const std::string& path) {
  return ShellWord(absl::StartsWith(path, "-") ? absl::StrCat("./", path) : path);
}

}  // namespace

std::string ShellWord(absl::string_view text) {
  if (!text.empty() && std::all_of(text.begin(), text.end(), IsPlain)) return std::string(text);
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

std::string TypedTime(const view::TimeTarget& at, bool by_record) {
  if (at.record.has_value()) return absl::StrCat("record ", *at.record);
  if (by_record) return absl::StrCat("record ", at.time.ns());
  return view::TimeText(at.time);
}

std::string ViewCommandLine(const AppState& app) {
  std::string line = "drasim-gui";
  if (app.a.opened()) absl::StrAppend(&line, AtFlag(app));
  if (!app.views.empty()) absl::StrAppend(&line, " --view ", ViewsText(app.views));
  if (app.selected.kind != ObjectKind::kNone) {
    absl::StrAppend(&line, " --select ", ShellWord(app.selected.name));
  }
  if (app.looks.theme == view::ThemeKind::kLight) absl::StrAppend(&line, " --theme light");
  if (app.looks.scale != 1) absl::StrAppend(&line, " --scale ", app.looks.scale);
  if (app.a.opened()) absl::StrAppend(&line, " ", PathWord(app.a.session->path()));
  if (app.b.opened()) absl::StrAppend(&line, " ", PathWord(app.b.session->path()));
  return line;
}

std::string ExplainCommandLine(const AppState& app) {
  if (!app.a.opened() || app.selected.kind != ObjectKind::kPod) return "";
  std::string line = absl::StrCat("drasim explain ", PathWord(app.a.session->path()), " --pod ",
                                  ShellWord(app.selected.name));
  const bool by_record = app.a.overview != nullptr && app.a.overview->by_record;
  // `explain` takes times of the run only, and a fill has none.
  if (!by_record) {
    absl::StrAppend(&line, " --at ", view::TimeText(app.timeline.cursor().time));
  }
  return line;
}

std::string ReportCommandLine(const AppState& app) {
  if (!app.a.opened()) return "";
  std::string line = absl::StrCat("drasim report ", PathWord(app.a.session->path()));
  if (app.b.opened()) absl::StrAppend(&line, " ", PathWord(app.b.session->path()));
  absl::StrAppend(&line, " --out report.html");
  const bool by_record = app.a.overview != nullptr && app.a.overview->by_record;
  if (!by_record) {
    absl::StrAppend(&line, " --at ", view::TimeText(app.timeline.cursor().time));
  }
  return line;
}

}  // namespace drasim::gui
