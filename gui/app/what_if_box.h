// The part of an inspector that repeats the run with a change and opens it as B.
#ifndef DRASIM_GUI_APP_WHAT_IF_BOX_H_
#define DRASIM_GUI_APP_WHAT_IF_BOX_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gui/app/app_state.h"
#include "gui/session/inspection.h"
#include "gui/session/run_overview.h"
#include "gui/view/what_if.h"

namespace drasim::gui {

class WhatIfBox {
 public:
  // Changes worth trying for a pod. REQUIRES: inspection->pod.
  void DrawSuggestions(const std::shared_ptr<const Inspection>& inspection, AppState* app);
  // "+ change another key": a key of the scenario and its new value.
  void DrawKeyEditor(AppState* app);
  // "it fails", "it is drained", "one more like it": events of a node at the cursor.
  void DrawNodeEvents(const std::string& node, AppState* app);

 private:
  void Search();
  void DrawMatches(const AppState& app);
  void OpenAsB(AppState* app);

  std::shared_ptr<const Inspection> suggested_for_;
  std::vector<view::WhatIfSuggestion> suggestions_;

  bool open_ = false;
  bool is_new_ = false;  // opened in this frame
  std::string key_;
  std::string value_;
  std::shared_ptr<const RunOverview> keys_of_;
  std::vector<view::ScenarioKey> keys_;
  std::optional<std::string> searched_;  // the text for which matches_ were found
  std::vector<size_t> matches_;          // indices into keys_
  absl::Status error_;                   // of the value
};

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_WHAT_IF_BOX_H_
