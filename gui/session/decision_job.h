// One attempt to place a pod, explained by a worker that simulates the run again up to there: the
// decision inspector.
//
//   std::unique_ptr<DecisionJob> job = DecisionJob::Start(path, "pod-0002132", cursor_time, wake);
//   ...                                        // at every frame:
//   if (const auto decision = job->result()) Draw(*decision);
//
// All functions are for the interface's thread, and none but Settle waits for the worker.
#ifndef DRASIM_GUI_SESSION_DECISION_JOB_H_
#define DRASIM_GUI_SESSION_DECISION_JOB_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "model/time.h"
#include "sim/explain/decision.h"

namespace drasim::gui {

struct PodDecision {
  DecisionExplanation decision;
  // The verdict and the words of drivers of a failed attempt, or the claims of a placed pod. Lines
  // that begin with blanks belong to the one above.
  std::vector<std::string> lines;
};

class DecisionJob {
 public:
  // Explains the pod's last attempt up to `at` on the run's clock (RunOverview); absent: the last
  // one of all. `on_change` is called by the worker at the end and as it goes on; null: nobody.
  static std::unique_ptr<DecisionJob> Start(std::string ledger_path, std::string pod,
                                            std::optional<SimTime> at,
                                            std::function<void()> on_change);
  // Cancels; waits until the worker has noticed, between two events.
  ~DecisionJob();

  // Errors of ExplainDecision; Cancelled after Cancel.
  absl::Status status() const;
  double progress() const;  // 0..1
  // Null until it is complete.
  std::shared_ptr<const PodDecision> result() const;
  void Cancel();
  // Waits until there is a result or an error.
  void Settle();

 private:
  class Impl;
  explicit DecisionJob(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace drasim::gui

#endif  // DRASIM_GUI_SESSION_DECISION_JOB_H_
