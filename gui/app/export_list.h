// Ctrl+E: what the focused panel and the window can be exported to, and the files written.
#ifndef DRASIM_GUI_APP_EXPORT_LIST_H_
#define DRASIM_GUI_APP_EXPORT_LIST_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gui/app/app.h"
#include "gui/app/panel.h"

namespace drasim::gui {

// A path in the folder that no file has: "pods.csv", else "pods-2.csv", "pods-3.csv", ...
std::string FreePath(const std::string& folder, const std::string& name);

class ExportList {
 public:
  // False when it is to be closed.
  bool Draw(bool is_new, App* app);

 private:
  static std::string FolderOf(const App& app);
  void Write(const PanelExport& file, App* app) const;

  std::string panel_;  // its title
  std::vector<PanelExport> files_;
  std::optional<PictureWish> picture_;  // of the panel
  std::string folder_;
  size_t chosen_ = 0;
};

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_EXPORT_LIST_H_
