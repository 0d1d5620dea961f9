#include "gui/app/stepper.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gui/session/comparison_job.h"
#include "gui/session/run_session.h"
#include "gui/view/compare_model.h"
#include "gui/view/inspect_pod.h"
#include "model/time.h"

namespace drasim::gui {

void Stepper::Forget() {
  pod_places_ = PodPlaces();
  pending_.reset();
  marks_request_.reset();
}

std::string Stepper::TakePlaces(AppState* state) {
  const RunSlot& a = state->a;
  if (a.overview == nullptr || !a.opened()) return "";
  const std::string node =
      state->selected.kind == ObjectKind::kNode ? state->selected.name : std::string();
  if (run_events_of_ != a.overview || run_events_node_ != node) {
    run_events_of_ = a.overview;
    run_events_node_ = node;
    run_events_.clear();
    for (const RunEvent& event : run_events_of_->events) {
      if (node.empty() || event.node == node) run_events_.push_back(event.at);
    }
  }
  if (!pending_.has_value()) return "";
  if (state->selected.kind != ObjectKind::kPod) {
    pending_.reset();
    return "";
  }
  const std::shared_ptr<const Inspection> told = a.session->inspection(ObjectKind::kPod);
  if (told == nullptr || told->request.object != state->selected ||
      told->request.at != view::TimeTarget{a.overview->end}) {
    return "";
  }
  pod_places_ = PodPlaces();
  pod_places_.pod = state->selected.name;
  pod_places_.complete = true;
  if (told->pod.has_value()) {
    for (const view::LifeMark& mark : told->pod->marks) {
      pod_places_.events.push_back({mark.time});
      if (mark.kind == view::LifeMark::Kind::kNoNode ||
          mark.kind == view::LifeMark::Kind::kPlaced) {
        pod_places_.attempts.push_back({mark.time});
      }
    }
  }
  const PendingStep step = *pending_;
  pending_.reset();
  return Step(step.unit, step.forward, state);
}

bool Stepper::PlacesAreKnown(view::StepUnit unit, const AppState& state) const {
  if (unit != view::StepUnit::kEvent && unit != view::StepUnit::kAttempt) return true;
  return state.selected.kind != ObjectKind::kPod ||
         (pod_places_.complete && pod_places_.pod == state.selected.name);
}

view::StepPlaces Stepper::Places(const AppState& state) const {
  view::StepPlaces places;
  places.clock = state.a.session->clock();
  if (state.selected.kind == ObjectKind::kPod) {
    places.events = pod_places_.events;
    places.attempts = pod_places_.attempts;
  } else {
    places.events = run_events_;
  }
  return places;
}

std::string Stepper::NoPlaceText(view::StepUnit unit, bool forward, bool compared,
                                 const AppState& state) {
  const absl::string_view side = forward ? "after" : "before";
  switch (unit) {
    case view::StepUnit::kRecord:
      return "";  // the end is in sight
    case view::StepUnit::kEvent:
      return absl::StrCat("No event ", side, " this moment");
    case view::StepUnit::kAttempt:
      return state.selected.kind == ObjectKind::kPod
                 ? absl::StrCat("No attempt of ", state.selected.name, " ", side, " this moment")
                 : "Select a pod to step through its attempts";
    case view::StepUnit::kDivergence:
      if (!state.comparing()) return "Open a second run to step through divergences";
      return compared ? absl::StrCat("No divergence ", side, " this moment")
                      : "The comparison is not complete yet";
  }
  return "";
}

std::string Stepper::Step(view::StepUnit unit, bool forward, AppState* state) {
  if (!state->a.opened() || state->a.overview == nullptr) return "";
  state->timeline.Pause();
  if (!PlacesAreKnown(unit, *state)) {
    pending_ = {unit, forward};
    return "";
  }
  view::StepPlaces places = Places(*state);
  std::shared_ptr<const RunComparison> comparison;
  if (unit == view::StepUnit::kDivergence && state->comparison != nullptr) {
    comparison = state->comparison->result();
    if (comparison != nullptr) places.divergences = comparison->divergences;
  }
  if (!state->timeline.Step(unit, places, forward)) {
    return NoPlaceText(unit, forward, comparison != nullptr, *state);
  }
  if (comparison == nullptr || comparison->model == nullptr) return "";
  const SimTime now = state->timeline.cursor().time;
  for (const view::PodDivergence& divergence : comparison->model->divergences()) {
    if (divergence.time != now) continue;
    state->Select({ObjectKind::kPod, std::string(comparison->a_pods.name(divergence.a))});
    break;
  }
  return "";
}

}  // namespace drasim::gui
