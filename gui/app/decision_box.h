// The part of a pod's inspector that explains its last attempt: candidates with scores by plugin,
// or why each node was refused. A worker simulates the run again up to there, so it begins at the
// press of a button.
#ifndef DRASIM_GUI_APP_DECISION_BOX_H_
#define DRASIM_GUI_APP_DECISION_BOX_H_

#include <cstdint>
#include <memory>
#include <string>

#include "gui/app/app_state.h"
#include "gui/app/decision_table.h"
#include "gui/session/decision_job.h"
#include "gui/view/table_model.h"

namespace drasim::gui {

class DecisionBox {
 public:
  // Explains the decision about a pod of run A at the cursor.
  void Draw(const std::string& pod, AppState* app);

 private:
  void Start(AppState* app);
  void Drop();
  void DrawResult(AppState* app);

  std::string pod_;
  // The run, which another one may replace at the same path.
  std::string path_;
  uint64_t fingerprint_ = 0;
  uint64_t records_ = 0;
  std::unique_ptr<DecisionJob> job_;
  std::shared_ptr<const PodDecision> result_;
  std::unique_ptr<DecisionTable> source_;  // of result_
  std::unique_ptr<view::TableModel> table_;
};

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_DECISION_BOX_H_
