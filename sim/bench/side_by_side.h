// Two binaries beside each other on one machine: the results of a suite from each, instructions,
// CPU time in interleaved runs, and memory. The base is measured anew in the same job, so it does
// not matter where and when earlier figures were made.
#ifndef DRASIM_SIM_BENCH_SIDE_BY_SIDE_H_
#define DRASIM_SIM_BENCH_SIDE_BY_SIDE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/bench/bench_run.h"
#include "sim/bench/cost_verdicts.h"
#include "sim/bench/suite.h"

namespace drasim::bench {

struct SideBySideOptions {
  std::string base_binary;  // any version of drasim with `bench run`
  std::string head_binary;
  // Cells, processes at a time, time limit of each cell, and how instructions are counted; the
  // program is of no account. Times are measured one process at a time.
  BenchRunOptions run;
  size_t blocks = kBlocks;  // 0: no times
};

struct SideBySide {
  BenchResults base;
  BenchResults head;
  std::vector<CellTimes> times;
  std::vector<CellProblem> problems;  // of measurements; cells that did not run are in the results
};

// Results go to dir/base and dir/head, the times to dir/blocks.csv; `dir` exists and is the
// caller's own. Cells marked `cost` are measured. A binary that fails on a cell costs that cell.
// Errors of MakeBenchCells; InvalidArgument naming a binary that leaves no results; those of files.
// REQUIRES: this process has one thread.
absl::StatusOr<SideBySide> RunSideBySide(const Suite& suite, const SideBySideOptions& options,
                                         const std::string& dir);

}  // namespace drasim::bench

#endif  // DRASIM_SIM_BENCH_SIDE_BY_SIDE_H_
