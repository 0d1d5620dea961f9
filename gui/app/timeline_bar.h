// The bar under the header: transport, the clock, and the scrubber over the whole run with its
// load, queue, events and bookmarks.
#ifndef DRASIM_GUI_APP_TIMELINE_BAR_H_
#define DRASIM_GUI_APP_TIMELINE_BAR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gui/app/app_state.h"
#include "gui/session/run_overview.h"
#include "gui/view/draw_list.h"
#include "gui/view/pyramid.h"
#include "gui/view/ticks.h"
#include "gui/view/timeline.h"
#include "model/time.h"

struct ImDrawList;

namespace drasim::gui {

class App;

class TimelineBar {
 public:
  // In pixels, for the present font.
  static float Height();
  void Draw(const view::Rect& area, App* app);
  // A field for a typed time, below the clock. False when it is to be closed.
  bool DrawGoTo(bool is_new, App* app);

 private:
  // A curve as one summary per pixel column.
  struct Curve {
    std::vector<view::SampleSummary> columns;
    double highest = 0;
  };
  // Something that happened at a node, or a bookmark.
  struct Mark {
    SimTime begin;
    SimTime end;  // == begin for an instant
    std::string text;
    size_t ink = 0;  // category
  };
  enum class Drag : uint8_t { kNone, kCursor, kWindow, kBegin, kEnd };

  void DrawTransport(const view::Rect& area, App* app);
  void DrawChoices(float width, App* app);
  void DrawClock(const view::Rect& area, App* app);
  void DrawScrubber(const view::Rect& area, App* app);
  void DrawCurves(const view::Rect& area, const AppState& state, ImDrawList* to) const;
  void DrawWindow(const view::Rect& area, const AppState& state, ImDrawList* to) const;
  void DrawTicks(const view::Rect& area, const AppState& state, ImDrawList* to) const;
  void DrawLane(const view::Rect& area, const AppState& state, ImDrawList* to);
  // Clicks on bookmarks, and the menu of one.
  void SteerBookmarks(const view::Rect& area, App* app);
  void DrawCursor(const view::Rect& area, const AppState& state, ImDrawList* to) const;
  void Steer(const view::Rect& area, App* app);
  void Refresh(const view::Rect& area, const AppState& state);
  Curve Sample(const RunOverview* run, const char* metric, size_t columns) const;
  float XOf(const view::Rect& area, SimTime time) const;
  SimTime TimeAt(const view::Rect& area, float x) const;
  // In a fill each pod waits alone, for an instant.
  bool queues() const { return a_queue_.highest > 1; }

  // Inputs from which the curves were sampled.
  std::shared_ptr<const RunOverview> a_;
  std::shared_ptr<const RunOverview> b_;
  float width_ = 0;
  SimTime end_;
  Curve a_load_;
  Curve b_load_;
  Curve a_queue_;
  std::vector<Mark> marks_;
  std::vector<view::Tick> ticks_;

  Drag drag_ = Drag::kNone;
  SimTime grabbed_;  // the time under the mouse when it was pressed
  SimTime grabbed_begin_;
  SimTime grabbed_end_;
  view::TimeTarget bookmark_;  // whose menu is open
  std::string bookmark_name_;  // as typed there
  std::string typed_;
  std::string typed_error_;
};

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_TIMELINE_BAR_H_
