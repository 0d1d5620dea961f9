// The comparison of two ledgers, made by a worker that reads both to their ends.
#ifndef DRASIM_GUI_SESSION_COMPARISON_JOB_H_
#define DRASIM_GUI_SESSION_COMPARISON_JOB_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gui/view/compare_model.h"
#include "gui/view/inspect_tenant.h"
#include "gui/view/pod_story.h"
#include "gui/view/pod_table.h"
#include "gui/view/run_figures.h"
#include "gui/view/timeline.h"

namespace drasim::gui {

// The mean wait of the pods that want the same, from arrival to the first start, in both runs. A
// pod that waits for that at the end counts with its wait so far.
struct WaitPair {
  std::string wants;
  double a_seconds = 0;  // negative: no such pod counts
  double b_seconds = 0;
};

// A fill has no clock: times of its pods and divergences are numbers of records, a nanosecond each,
// and there are no waits.
struct RunComparison {
  view::PodTable a_pods;  // at the ends
  view::PodTable b_pods;
  view::RunFigures a_figures;
  view::RunFigures b_figures;
  std::unique_ptr<view::CompareModel> model;
  std::vector<view::TimeTarget> divergences;  // the times of model->divergences()
  std::vector<view::KeyDifference> keys;      // of the scenarios
  std::vector<WaitPair> waits;                // the longest in B first
};

// As for RunSession: for the interface's thread; only Settle waits. Errors are LedgerReader's.
class ComparisonJob {
 public:
  static std::unique_ptr<ComparisonJob> Start(std::string path_a, std::string path_b,
                                              const view::CompareOptions& options,
                                              std::function<void()> on_change);
  ~ComparisonJob();

  absl::Status status() const;
  double progress() const;  // 0..1
  // Null until it is complete.
  std::shared_ptr<const RunComparison> result() const;

  // Asks for the stories of a pod in both runs, in place of an earlier request. They are published
  // in stories(). Costs the records from the pod's arrival to its end.
  void TellStories(const std::string& pod);
  struct Stories {
    std::string pod;
    std::vector<view::StoryLine> a;  // empty: the run has no such pod
    std::vector<view::StoryLine> b;
  };
  std::shared_ptr<const Stories> stories() const;
  void Settle();

 private:
  class Impl;
  explicit ComparisonJob(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace drasim::gui

#endif  // DRASIM_GUI_SESSION_COMPARISON_JOB_H_
