// Steps of the clock: to the next record, attempt, event of the selected object, or divergence.
#ifndef DRASIM_GUI_APP_STEPPER_H_
#define DRASIM_GUI_APP_STEPPER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gui/app/app_state.h"
#include "gui/session/inspection.h"
#include "gui/session/run_overview.h"
#include "gui/view/timeline.h"

namespace drasim::gui {

// Stepper: knows the places to which steps lead. A pod's places are taken from an inspection at the
// end of the run, since one at the cursor has only earlier events; a step before it arrives waits
// for it.
class Stepper {
 public:
  // For another run A.
  void Forget();

  // Moves the clock, and with a divergence the selection. Returns what the user is to be told: why
  // there is no such place; else nothing.
  std::string Step(view::StepUnit unit, bool forward, AppState* state);
  // Takes new data of A, and carries out the step that waited for it. Returns as Step.
  std::string TakePlaces(AppState* state);

  // Whether a step waits for the inspection of the selected pod at the end of A.
  bool WantsMarks(const AppState& state) const {
    return pending_.has_value() && state.selected.kind == ObjectKind::kPod;
  }
  void HasAskedForMarks(const InspectRequest& request) { marks_request_ = request; }
  // Whether an inspection of A was asked for by a step alone, so that it is not to be shown.
  bool IsForStepAlone(const InspectRequest& request, const AppState& state) const {
    return marks_request_ == request && request.at != state.CursorIn(state.a);
  }

 private:
  struct PodPlaces {
    std::string pod;
    bool complete = false;
    std::vector<view::TimeTarget> events;
    std::vector<view::TimeTarget> attempts;
  };
  struct PendingStep {
    view::StepUnit unit = view::StepUnit::kEvent;
    bool forward = true;
  };

  bool PlacesAreKnown(view::StepUnit unit, const AppState& state) const;
  view::StepPlaces Places(const AppState& state) const;
  static std::string NoPlaceText(view::StepUnit unit, bool forward, bool compared,
                                 const AppState& state);

  std::vector<view::TimeTarget> run_events_;  // of the run, or of the selected node
  std::shared_ptr<const RunOverview> run_events_of_;
  std::string run_events_node_;
  PodPlaces pod_places_;
  std::optional<PendingStep> pending_;
  std::optional<InspectRequest> marks_request_;  // the last one made for PodPlaces
};

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_STEPPER_H_
