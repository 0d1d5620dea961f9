// Small parts that several panels use.
#ifndef DRASIM_GUI_APP_WIDGETS_H_
#define DRASIM_GUI_APP_WIDGETS_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gui/app/app_state.h"
#include "gui/view/draw_list.h"
#include "gui/view/palette.h"
#include "gui/view/rgb.h"
#include "gui/view/table_model.h"
#include "model/time.h"

namespace drasim::gui {

void Text(absl::string_view text);
void DimText(absl::string_view text, const AppState& app);
void StrongText(absl::string_view text, const AppState& app);
// Text that breaks its lines at the right edge.
void WrappedText(absl::string_view text);
void WrappedDimText(absl::string_view text, const AppState& app);

// The colour of links.
Rgb LinkColour(const AppState& app);
// A name that selects its object when clicked. True when it was.
bool Link(const ObjectRef& object, AppState* app);
bool Link(const ObjectRef& object, absl::string_view label, AppState* app);
// A text that acts when clicked, such as "+ change another key".
bool TextButton(absl::string_view label, const AppState& app);

// A picture of a view model at the present place of the window, for which it reserves room. Returns
// its origin on the screen.
view::Point Picture(const view::DrawList& list, float width, float height, const AppState& app);
// The mouse over the item that was drawn last, in its coordinates; none if it is elsewhere.
std::optional<view::Point> MouseIn(view::Point origin);
// A coloured square with its meaning. They follow each other in a line as long as there is room.
class LegendLine {
 public:
  explicit LegendLine(const AppState& app) : app_(app) {}
  void Add(const view::Ink& ink, absl::string_view text);

 private:
  const AppState& app_;
  bool empty_ = true;
};
// A line of dim label and value, the values under each other.
void Fact(absl::string_view label, absl::string_view value, const AppState& app);

// An instant for people: "20h00m03.2s", or "record 12,345" in a run without a clock.
std::string InstantText(SimTime at, const AppState& app);
// The same for a length of time: "10h35m", or "1,234 records".
std::string LengthText(SimDuration length, const AppState& app);

// A choice of a few names in a row, such as the colours of the map. True when `chosen` changed.
bool Choice(absl::string_view label, absl::Span<const absl::string_view> names, int* chosen,
            const AppState& app);

// A table of any length: header with sort marks, visible rows only. Sorting changes `table`.
struct TableLook {
  std::string id;
  std::vector<size_t> columns;  // of the source, in the order shown
  size_t link_column = 0;       // whose cells are links
  ObjectKind link_kind = ObjectKind::kNone;
  // Up, Down, Page Up, Page Down and Enter are for this table.
  bool takes_keys = false;
  std::optional<size_t> dim_column;  // long texts of less weight, such as verdicts
  // Fewer words for its cells. Null: as the source shows them.
  std::function<std::string(size_t row)> shown;
  // A square behind the text of `square_column`, such as the colour of a profile. Null: none.
  size_t square_column = 0;
  std::function<const view::Ink*(size_t row)> square;
  // Columns whose cells name an object of another kind, such as the node of a pod.
  std::vector<std::pair<size_t, ObjectKind>> other_links;
};
// Fills the rest of the window. O(rows in sight) unless something was clicked.
void DrawTable(const TableLook& look, const view::TableSource& source, view::TableModel* table,
               AppState* app);

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_WIDGETS_H_
