#include "gui/app/inspection_wishes.h"

#include <cstddef>
#include <memory>

#include "gui/app/view_list.h"
#include "gui/session/run_overview.h"
#include "gui/session/run_session.h"
#include "gui/view/inspect_claim.h"
#include "gui/view/inspect_pod.h"
#include "gui/view/timeline.h"

namespace drasim::gui {

void InspectionWishes::Forget(bool as_b) {
  asked_[as_b ? 1 : 0] = {};
  if (!as_b) node_of_ = {};
}

bool InspectionWishes::AskFor(ObjectKind kind, bool as_b, AppState* state, Stepper* stepper) {
  RunSlot& slot = as_b ? state->b : state->a;
  const bool in_sight = state->views.Has(ViewKind::kInspect);
  const bool is_selected = kind == state->selected.kind;
  const bool for_marks = !as_b && kind == ObjectKind::kPod && stepper->WantsMarks(*state);
  InspectRequest request;
  request.object.kind = kind;
  if (kind == ObjectKind::kNode && in_sight) request.object.name = state->node;
  if (is_selected && (in_sight || for_marks)) {
    request.object.name = state->selected.name;
  } else if (kind == ObjectKind::kClaim && in_sight) {
    request.object.name = state->wants_claim;
  }
  InspectRequest& asked = asked_[as_b ? 1 : 0][static_cast<size_t>(kind)];
  if (request.object.name.empty()) {
    if (asked.object.name.empty()) return false;  // nothing was asked, nothing is to be ended
    slot.inspections[static_cast<size_t>(kind)].reset();
  } else {
    request.at = for_marks ? view::TimeTarget{slot.overview->end} : state->CursorIn(slot);
    if (for_marks) stepper->HasAskedForMarks(request);
    if (kind == ObjectKind::kNode) {
      request.begin = state->timeline.window_begin();
      request.end = state->timeline.window_end();
    }
  }
  if (asked == request) return false;
  asked = request;
  slot.session->Inspect(request);
  return true;
}

bool InspectionWishes::AskAll(AppState* state, Stepper* stepper) {
  bool is_new = false;
  for (const bool as_b : {false, true}) {
    const RunSlot& slot = as_b ? state->b : state->a;
    if (slot.overview == nullptr || !slot.opened()) continue;
    for (const ObjectKind kind :
         {ObjectKind::kPod, ObjectKind::kNode, ObjectKind::kClaim, ObjectKind::kTenant}) {
      is_new = AskFor(kind, as_b, state, stepper) || is_new;
    }
  }
  return is_new;
}

void InspectionWishes::FollowToNode(AppState* state) {
  const ObjectRef& selected = state->selected;
  if (node_of_.first != selected) node_of_ = {selected, ""};
  const std::shared_ptr<const Inspection>& told =
      state->a.inspections[static_cast<size_t>(selected.kind)];
  if (told == nullptr || told->request.object != selected) return;
  std::string node;
  if (told->pod.has_value()) node = view::NodeOf(*told->pod);
  if (told->claim.has_value()) node = view::NodeOf(*told->claim);
  if (node.empty() || node_of_.second == node) return;
  node_of_.second = node;
  state->node = node;
}

}  // namespace drasim::gui
