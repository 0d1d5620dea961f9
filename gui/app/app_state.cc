#include "gui/app/app_state.h"

#include <utility>

#include "gui/session/run_overview.h"

namespace drasim::gui {

view::TimeTarget AppState::CursorIn(const RunSlot& slot) const {
  view::TimeTarget at = timeline.cursor();
  if (&slot == &b) at.record.reset();
  if (slot.overview != nullptr && at.time > slot.overview->end) {
    at.time = slot.overview->end;
    at.record.reset();
  }
  return at;
}

void AppState::Select(ObjectRef object) {
  if (object.kind == ObjectKind::kNode) node = object.name;
  if (object == selected) return;
  selected = object;
  if (!visited_.empty()) visited_.resize(place_ + 1);
  visited_.push_back(std::move(object));
  place_ = visited_.size() - 1;
}

void AppState::ForgetSelections() {
  selected = {};
  node.clear();
  visited_.clear();
  place_ = 0;
}

void AppState::GoBack() {
  if (!CanGoBack()) return;
  --place_;
  selected = visited_[place_];
  if (selected.kind == ObjectKind::kNode) node = selected.name;
}

void AppState::GoForward() {
  if (!CanGoForward()) return;
  ++place_;
  selected = visited_[place_];
  if (selected.kind == ObjectKind::kNode) node = selected.name;
}

}  // namespace drasim::gui
