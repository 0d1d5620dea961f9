// InspectionWishes: decides which objects the workers inspect: the selected one, and those that
// panels show beside it.
#ifndef DRASIM_GUI_APP_INSPECTION_WISHES_H_
#define DRASIM_GUI_APP_INSPECTION_WISHES_H_

#include <array>
#include <string>
#include <utility>

#include "gui/app/app_state.h"
#include "gui/app/stepper.h"
#include "gui/session/inspection.h"

namespace drasim::gui {

class InspectionWishes {
 public:
  // For another run A or B.
  void Forget(bool as_b);

  // Asks both sessions for what the panels in sight need at the cursor, and for the marks that a
  // step waits for. True if something of it is new. REQUIRES: the clock stands where A is to be
  // seen.
  bool AskAll(AppState* state, Stepper* stepper);
  // A pod or claim brings its node with it, once: another node may be looked at beside it.
  void FollowToNode(AppState* state);

 private:
  bool AskFor(ObjectKind kind, bool as_b, AppState* state, Stepper* stepper);

  std::array<std::array<InspectRequest, kObjectKinds>, 2> asked_;  // of A and B
  std::pair<ObjectRef, std::string> node_of_;  // the selected object, and the node it brought
};

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_INSPECTION_WISHES_H_
