// BisectOptions: the request of a bisection; and the parts of its answer.
#ifndef DRASIM_SIM_BENCH_BISECT_OPTIONS_H_
#define DRASIM_SIM_BENCH_BISECT_OPTIONS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace drasim::bench {

struct BisectOptions {
  std::string folder = ".";  // in the repository
  std::string good;          // any names of commits
  std::string bad;
  std::string build;     // a command for the shell, in the worktree; empty: nothing to build
  std::string program;   // that it leaves, relative to the worktree
  std::string work_dir;  // for worktrees and runs; made, and emptied at the end
  // Figures that count, by the beginnings of their names; empty: all.
  std::vector<std::string> figures;
  bool all = false;  // go on behind the first change until the last
  double build_seconds = 3600;
  double run_seconds = 600;
  std::function<void(absl::string_view)> on_progress = nullptr;  // a line for people
};

// A figure that differs.
struct FigureStep {
  std::string cell;
  std::string figure;  // "fingerprint", "steps.decisions", "jobs.jct_seconds.mean"
  std::string before;
  std::string after;
};

// One side of the decision in which the runs part.
struct BisectDecision {
  std::string pod;
  std::string node;                // empty: none
  std::vector<std::string> nodes;  // the best ones, "node-1 (50)"
  std::string json;                // the side as `drasim diff --json` has it; empty: not known
  std::string unknown;             // why
};

}  // namespace drasim::bench

#endif  // DRASIM_SIM_BENCH_BISECT_OPTIONS_H_
