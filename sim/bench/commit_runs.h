// Runs of benchmark cells by the programs of several commits: builds them in worktrees and reads
// what their runs leave. For bisection.
#ifndef DRASIM_SIM_BENCH_COMMIT_RUNS_H_
#define DRASIM_SIM_BENCH_COMMIT_RUNS_H_

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/bench/bench_cells.h"
#include "sim/bench/bisect_options.h"
#include "sim/bench/git_history.h"

namespace drasim::bench {

// The hash over all decisions.
inline constexpr absl::string_view kFingerprintFigure = "fingerprint";

// The figures of one commit: by cell, then by name, as written.
using CommitFigures = std::map<std::string, std::map<std::string, std::string>>;

// The figures that differ, in the order of cells, then of names; the fingerprint comes first.
// Figures that only one side has do not count, since versions may add some.
std::vector<FigureStep> Differences(const CommitFigures& before, const CommitFigures& after,
                                    const std::vector<std::string>& wanted);

class CommitRuns {
 public:
  // All three must outlive the object.
  CommitRuns(const GitHistory* history, const std::vector<BenchCell>* cells,
             const BisectOptions* options)
      : history_(*history), cells_(*cells), options_(*options) {}
  // Removes the worktrees and all runs.
  ~CommitRuns();
  CommitRuns(const CommitRuns&) = delete;
  CommitRuns& operator=(const CommitRuns&) = delete;

  // Builds and runs a commit, once. FailedPrecondition if that does not work. The pointer lives as
  // long as this object.
  absl::StatusOr<const CommitFigures*> Of(const std::string& commit);

  // The decisions in which the runs of one cell by two commits part, each told by its own program.
  absl::StatusOr<std::array<BisectDecision, 2>> DecisionOf(const std::string& cell,
                                                           const std::string& before,
                                                           const std::string& after);
  size_t built() const { return built_; }

 private:
  // Three worktrees, so that the programs of both sides stay while a third one is tried.
  struct Slot {
    std::string commit;
    size_t last_use = 0;
  };

  std::string PathIn(const std::string& name) const { return options_.work_dir + "/" + name; }
  std::string RunFolder(const std::string& commit, size_t cell) const;
  // The worktree that has the commit's program.
  absl::StatusOr<std::string> Build(const std::string& commit);
  absl::StatusOr<CommitFigures> Measure(const std::string& commit);
  // Adds the figures and digests of the suite's only entry, which has cases.
  absl::Status MeasureCases(const std::string& tree, const std::string& suite,
                            std::map<std::string, std::string>* figures) const;

  const GitHistory& history_;
  const std::vector<BenchCell>& cells_;
  const BisectOptions& options_;
  std::array<Slot, 3> slots_;
  size_t uses_ = 0;
  size_t built_ = 0;
  std::map<std::string, absl::StatusOr<CommitFigures>> known_;
};

}  // namespace drasim::bench

#endif  // DRASIM_SIM_BENCH_COMMIT_RUNS_H_
