// A table over the newest snapshot of a run. It keeps its sorting and its filter while the cursor
// moves, and spreads the work for long tables over several frames: until the new rows are complete,
// those of an older snapshot stay in sight.
//
//   LiveTable table([](const RunSnapshot& run) -> const view::TableSource* { return &run.nodes; });
//   table.SortBy(view::NodeTable::kStranded, true);
//   table.Update(app->a.snapshot, app);                  // at every frame
//   if (table.ready()) DrawTable(look, table.source(), table.model(), app);
#ifndef DRASIM_GUI_APP_LIVE_TABLE_H_
#define DRASIM_GUI_APP_LIVE_TABLE_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "gui/app/app_state.h"
#include "gui/session/run_snapshot.h"
#include "gui/view/table_model.h"

namespace drasim::gui {

// Longer tables are filtered in slices, and follow a moving cursor only a few times a second.
inline constexpr size_t kLongTable = 20'000;

class LiveTable {
 public:
  // The part of a snapshot that is shown; null if it has none.
  using SourceOf = const view::TableSource* (*)(const RunSnapshot& run);
  struct Rows {
    size_t first = 0;                      // those before it are left out
    std::function<bool(size_t row)> keep;  // of the others; null: all
  };
  // Which rows of a snapshot are shown. It outlives what this returns.
  using RowsOf = std::function<Rows(const RunSnapshot& run)>;

  explicit LiveTable(SourceOf source_of) : source_of_(source_of) {}

  // The order before the user has chosen one.
  void SortBy(size_t column, bool descending);
  // From the next Update() on; null keeps all rows.
  void Filter(RowsOf rows_of);
  // Brings the table nearer to `newest`, for a few milliseconds at most; sets `app->wants_frame`
  // unless it got there. Null drops the table.
  void Update(const std::shared_ptr<const RunSnapshot>& newest, AppState* app);

  // The rest: REQUIRES ready().
  bool ready() const { return shown_.model != nullptr; }
  const RunSnapshot& run() const { return *shown_.run; }
  const view::TableSource& source() const { return *source_of_(*shown_.run); }
  view::TableModel* model() { return shown_.model.get(); }

 private:
  struct Stand {
    std::shared_ptr<const RunSnapshot> run;
    std::unique_ptr<view::TableModel> model;
    size_t filter = 0;  // its number
  };

  void Begin(const std::shared_ptr<const RunSnapshot>& run);
  void Finish();

  SourceOf source_of_;
  RowsOf rows_of_;
  size_t filter_ = 0;  // number of rows_of_
  std::optional<size_t> sort_column_;
  bool descending_ = false;
  Stand shown_;
  Stand next_;               // in progress
  double refreshed_at_ = 0;  // on ImGui's clock
};

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_LIVE_TABLE_H_
