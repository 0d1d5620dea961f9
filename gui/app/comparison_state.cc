#include "gui/app/comparison_state.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gui/app/widgets.h"
#include "gui/view/unit_text.h"

namespace drasim::gui {

std::shared_ptr<const RunComparison> ComparisonOrLine(const AppState& app) {
  if (app.comparison == nullptr) {
    DimText("Open a second run as B to compare.", app);
    return nullptr;
  }
  if (const absl::Status status = app.comparison->status(); !status.ok()) {
    Text(status.message());
    return nullptr;
  }
  std::shared_ptr<const RunComparison> result = app.comparison->result();
  if (result == nullptr || result->model == nullptr) {
    DimText(absl::StrCat("Reading both runs, ",
                         view::ValueText(100 * app.comparison->progress(), view::Unit::kPercent)),
            app);
    return nullptr;
  }
  return result;
}

}  // namespace drasim::gui
