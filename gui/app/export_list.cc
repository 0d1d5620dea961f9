#include "gui/app/export_list.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <imgui.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gui/app/app_view.h"
#include "gui/app/commands.h"
#include "gui/app/overlay_window.h"
#include "gui/app/view_list.h"
#include "gui/app/widgets.h"
#include "gui/session/run_session.h"
#include "gui/view/unit_text.h"
#include "sim/record/atomic_file.h"

namespace drasim::gui {
namespace {

constexpr float kListWidthInEm = 34;

bool IsWritable(const std::string& folder) { return access(folder.c_str(), W_OK | X_OK) == 0; }

}  // namespace

std::string FreePath(const std::string& folder, const std::string& name) {
  const size_t dot = std::min(name.rfind('.'), name.size());
  std::string path = absl::StrCat(folder, "/", name);
  std::error_code error;
  for (int number = 2; std::filesystem::exists(path, error); ++number) {
    path = absl::StrCat(folder, "/", name.substr(0, dot), "-", number, name.substr(dot));
  }
  return path;
}

// Beside the ledger if the user may write there, else where the program was started. The folder of
// a run of this window would be removed with it.
std::string ExportList::FolderOf(const App& app) {
  const RunSlot& a = app.state().a;
  if (a.opened() && a.job == nullptr) {
    std::error_code error;
    const std::filesystem::path path(a.session->path());
    std::string folder =
        std::filesystem::is_directory(path, error) ? path.string() : path.parent_path().string();
    if (folder.empty()) folder = ".";
    if (IsWritable(folder)) return folder;
  }
  return ".";
}

void ExportList::Write(const PanelExport& file, App* app) const {
  const std::string path = FreePath(folder_, file.name);
  const absl::Status status = WriteFileAtomically(path, file.content);
  if (status.ok()) {
    app->Notify(absl::StrCat("Written: ", path));
  } else {
    app->Notify(status.message(), /*error=*/true);
  }
}

bool ExportList::Draw(bool is_new, App* app) {
  const AppState& state = app->state();
  if (is_new) {
    panel_.clear();
    files_.clear();
    picture_.reset();
    chosen_ = 0;
    folder_ = FolderOf(*app);
    const std::optional<size_t> panel = app->layout().focused_panel();
    if (panel.has_value()) {
      panel_ = std::string(app->panels()[*panel]->title());
      files_ = app->panels()[*panel]->Exports(state);
      for (const AppView::PlacedPanel& placed : app->layout().placed()) {
        if (placed.panel != *panel) continue;
        const absl::string_view name = ViewName(app->panels()[*panel]->view());
        picture_ = {absl::StrCat(name, ".png"), placed.rect};
      }
    }
  }
  BeginOverlay("##exports", kListWidthInEm * ImGui::GetFontSize(), 0, is_new);
  StrongText(panel_.empty() ? "Export" : absl::StrCat("Export: ", panel_), state);
  WrappedDimText(absl::StrCat("into ", folder_), state);
  if (panel_.empty()) WrappedDimText("A panel that has the keys (1 to 7) exports its data.", state);
  std::vector<std::string> rows;
  for (const PanelExport& file : files_) {
    rows.push_back(absl::StrCat(
        file.name, ", ",
        view::ValueText(static_cast<double>(file.content.size()), view::Unit::kBytes)));
  }
  rows.emplace_back("window.png, the whole window");
  if (picture_.has_value()) rows.push_back(absl::StrCat(picture_->path, ", this panel"));
  rows.emplace_back("the view as a command line, to the clipboard");
  if (ImGui::IsKeyPressed(GLFW_KEY_DOWN)) chosen_ = (chosen_ + 1) % rows.size();
  if (ImGui::IsKeyPressed(GLFW_KEY_UP)) chosen_ = (chosen_ + rows.size() - 1) % rows.size();
  std::optional<size_t> picked;
  if (EnterPressed()) picked = chosen_;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (ImGui::Selectable(absl::StrCat(rows[i], "##", i).c_str(), i == chosen_)) picked = i;
  }
  ImGui::End();
  if (!picked.has_value()) return true;
  if (*picked < files_.size()) {
    Write(files_[*picked], app);
  } else if (*picked == files_.size()) {
    app->WishPicture({FreePath(folder_, "window.png"), std::nullopt});
  } else if (*picked + 1 < rows.size()) {
    app->WishPicture({FreePath(folder_, picture_->path), picture_->part});
  } else {
    RunCommand("copy_command", app);
  }
  return false;
}

}  // namespace drasim::gui
