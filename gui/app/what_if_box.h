// The part of an inspector that repeats the run with a change and opens it as B.
#ifndef DRASIM_GUI_APP_WHAT_IF_BOX_H_
#define DRASIM_GUI_APP_WHAT_IF_BOX_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "gui/app/app_state.h"
#include "gui/session/run_job.h"
#include "gui/session/run_overview.h"

namespace drasim::gui {

// The present run, to be run again with changes.
RunJobSpec RunAgain(const RunOverview& run);

class WhatIfBox {
 public:
  // "+ change another key": a key of the scenario and its new value.
  void DrawKeyEditor(AppState* app);
  // "fails", "drained", "one more like it": events of a node at the cursor.
  void DrawNodeEvents(const std::string& node, AppState* app);

 private:
  void ReadKeys(const RunOverview& run);
  void DrawMatches(const AppState& app);
  void OpenAsB(AppState* app);

  bool open_ = false;
  bool is_new_ = false;  // opened in this frame
  std::string key_;
  std::string value_;
  std::shared_ptr<const RunOverview> keys_of_;
  std::vector<std::pair<std::string, std::string>> keys_;  // of the scenario, with values
  std::string error_;                                      // of reading them
  std::string matched_;                                    // the text that matches_ are for
  std::vector<size_t> matches_;                            // indices into keys_
};

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_WHAT_IF_BOX_H_
