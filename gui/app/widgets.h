// Small parts that several panels use.
#ifndef DRASIM_GUI_APP_WIDGETS_H_
#define DRASIM_GUI_APP_WIDGETS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gui/app/app_state.h"
#include "gui/view/table_model.h"

namespace drasim::gui {

void Text(absl::string_view text);
void DimText(absl::string_view text, const AppState& app);
void StrongText(absl::string_view text, const AppState& app);

// A name that selects its object when clicked. True when it was.
bool Link(const ObjectRef& object, AppState* app);
bool Link(const ObjectRef& object, absl::string_view label, AppState* app);

// A choice of a few names in a row, such as the colours of the map. True when `chosen` changed.
bool Choice(absl::string_view label, absl::Span<const absl::string_view> names, int* chosen,
            const AppState& app);

// A table of any length: header with sort marks, visible rows only. Sorting changes `table`.
struct TableLook {
  std::string id;
  std::vector<size_t> columns;  // of the source, in the order shown
  size_t link_column = 0;       // whose cells are links
  ObjectKind link_kind = ObjectKind::kNone;
};
void DrawTable(const TableLook& look, const view::TableSource& source, view::TableModel* table,
               AppState* app);

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_WIDGETS_H_
