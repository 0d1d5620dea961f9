// The state of drasim-gui that all panels share: the opened runs, the clock, the selection, looks.
// It knows neither a window nor OpenGL; frames may be made without either.
#ifndef DRASIM_GUI_APP_APP_STATE_H_
#define DRASIM_GUI_APP_APP_STATE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gui/app/view_list.h"
#include "gui/session/comparison_job.h"
#include "gui/session/run_job.h"
#include "gui/session/run_session.h"
#include "gui/view/map_model.h"
#include "gui/view/palette.h"
#include "gui/view/timeline.h"

struct ImFont;

namespace drasim::gui {

// The texts of one theme and scale. Null: ImGui's own font, in tests.
struct Fonts {
  ImFont* normal = nullptr;
  ImFont* small = nullptr;
  ImFont* strong = nullptr;
  ImFont* large = nullptr;  // of the clock
};

// One opened run and its data in this frame. `overview` and `snapshot` are taken from the session
// once per frame, so all panels show the same state.
struct RunSlot {
  std::unique_ptr<RunSession> session;  // null: nothing is opened
  std::unique_ptr<RunJob> job;          // the run in progress that will be opened here
  std::shared_ptr<const RunOverview> overview;
  std::shared_ptr<const RunSnapshot> snapshot;
  std::array<std::shared_ptr<const Inspection>, kObjectKinds> inspections;  // by ObjectKind
  bool opened() const { return session != nullptr; }
};

struct Looks {
  view::ThemeKind theme = view::ThemeKind::kDark;
  float scale = 1;  // 1..3
};

// The map's settings, which all maps of a comparison share.
struct MapSettings {
  view::MapColour colour = view::MapColour::kProfile;
  view::MapGrouping grouping = view::MapGrouping::kNone;
  std::string label;  // the key to group by; empty before one was chosen
  view::MapOrder order = view::MapOrder::kName;

  // The part in sight: 1 shows everything, more enlarges it.
  float zoom = 1;
  view::Point origin;  // at the upper left, in the map's own units
  void Fit() {
    zoom = 1;
    origin = {};
  }
  // Wishes of commands, carried out by the map in its next frame.
  float zoom_by = 1;
  view::Point pan_by;  // in widths and heights of the panel

  // The map that places the nodes for all of them; only its arrangement may be read, since its
  // data may be gone. Null before the first map is drawn.
  std::shared_ptr<const view::ClusterMap> arranged;
  std::string arranged_for;  // run, grouping and order; a map places the nodes again on a change
};

// A line for the user at the lower edge: an error or the result of an export.
struct Notice {
  std::string text;
  bool error = false;
};

struct AppState {
  RunSlot a;
  RunSlot b;
  std::unique_ptr<ComparisonJob> comparison;  // of A and B
  std::string error;                          // of opening; shown instead of the panels

  view::Timeline timeline{SimTime()};
  view::StepUnit step_unit = view::StepUnit::kRecord;
  SimDuration tolerance = SimDuration::Seconds(60);  // of divergences

  // The cursor in A or B: records are A's, B is at the same time; neither is past its end.
  view::TimeTarget CursorIn(const RunSlot& slot) const;

  // --- selection ---
  ObjectRef selected;  // the object in the inspector
  // The node whose slots are shown over time: the last one selected, or that of the pod or claim.
  std::string node;
  // Selects an object and remembers the one before.
  void Select(ObjectRef object);
  // Nothing is selected, and nothing was: for another run.
  void ForgetSelections();
  bool CanGoBack() const { return place_ > 0; }
  bool CanGoForward() const { return place_ + 1 < visited_.size(); }
  void GoBack();
  void GoForward();

  // --- looks ---
  Looks looks;
  Fonts fonts;
  MapSettings map;
  ViewSet views;                  // the panels in sight
  std::optional<ViewKind> focus;  // the panel that takes keys
  std::string pod_filter;         // as typed
  std::vector<Notice> notices;    // the newest last

  // --- wishes of panels in sight; cleared before the panels are drawn ---
  bool wants_tenants = false;  // SnapshotRequest::tenants
  bool wants_frame = false;    // a panel has more to do, and needs a frame soon
  std::string wants_claim;     // a claim to be inspected beside the selected pod

  // --- wishes of panels, carried out between frames ---
  std::vector<std::string> open_as_a;  // paths
  std::vector<std::string> open_as_b;
  std::optional<RunJobSpec> run_as_a;
  std::optional<RunJobSpec> run_as_b;

  const view::Theme& theme() const { return view::ThemeOf(looks.theme); }
  bool comparing() const { return a.opened() && b.opened(); }

 private:
  std::vector<ObjectRef> visited_;
  size_t place_ = 0;
};

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_APP_STATE_H_
