// Runs the cells of a suite into a folder: cells.csv (bench_table.h), costs.csv, missing.csv and
// bench.yaml, which has the setup of instruction counts, too. A run that was interrupted goes on
// where it was.
#ifndef DRASIM_SIM_BENCH_BENCH_RUN_H_
#define DRASIM_SIM_BENCH_BENCH_RUN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/bench/bench_cells.h"
#include "sim/bench/bench_table.h"
#include "sim/bench/instructions.h"
#include "sim/bench/shard.h"
#include "sim/bench/suite.h"

namespace drasim::bench {

struct BenchRunOptions {
  std::optional<Tier> last;  // entries of later tiers are left out; absent: all run
  Filter filter;
  size_t jobs = 1;
  double timeout_seconds = 600;  // for each cell
  // Identifies the program: cells that another program ran are run again.
  std::string program;
  // Only this part of the cells in scope runs; shard_folder.h has what the folder then has besides.
  std::optional<Shard> shard;
  // Counts the instructions of cells marked `cost`, too, in that way; absent: does not.
  std::optional<CostSetup> count_instructions;
  std::string program_file;  // of this program, to count them
  bool quiet = false;
};

struct BenchCosts {
  CellId id;
  double cpu_seconds = 0;
  int64_t peak_rss_kib = 0;
  std::optional<uint64_t> instructions;  // of a cell marked `cost`, if they were counted
};

struct CellProblem {
  CellId id;
  std::string what;
};

struct BenchRunSummary {
  size_t cells = 0;  // in scope, and of the shard
  size_t run_now = 0;
  size_t from_before = 0;
  std::vector<CellProblem> missing;  // a file that they need is not there
  std::vector<CellProblem> failed;   // crashed, ran too long, or ended with an error
};

// Runs the cells in scope into `dir`, which exists and is the caller's own. Every finished cell is
// appended to bench.partial.csv, and every count of instructions to instructions.partial.csv, at
// once; a later call with the same folder takes it from there,
// unless its inputs or the program have changed or its line is torn. A cell that fails does not
// stop the others. Errors of MakeBenchCells, and those of files.
absl::StatusOr<BenchRunSummary> RunBench(const Suite& suite, const BenchRunOptions& options,
                                         const std::string& dir);

// The contents of a folder of results.
struct BenchFolder {
  std::string suite;
  int32_t version = 0;
  std::optional<Tier> last;
  std::string filter;
  std::optional<CostSetup> instructions;  // the way in which `costs` counted them
  std::vector<std::string> lines;         // BenchLine of each cell, sorted by cell
  std::vector<BenchCosts> costs;
  std::vector<CellProblem> missing;  // with those that failed
};
// All files at once. Errors as of AtomicFile.
absl::Status WriteBenchFolder(BenchFolder folder, const std::string& dir);

// The rows of a folder or a baseline, and the cells that were to run: `last` and `filter` are those
// of the folder's own run, and absent for a file.
struct BenchResults {
  BenchTable table;
  std::vector<CellProblem> missing;
  std::optional<Tier> last;
  Filter filter;
  std::vector<BenchCosts> costs;         // of a folder; sorted by cell
  std::optional<CostSetup> count_setup;  // if instructions were counted
};
// `path`: a folder that RunBench has written, or a file of its cells. InvalidArgument for a folder
// without finished results and for damaged files.
absl::StatusOr<BenchResults> ReadBenchResults(const std::string& path);

}  // namespace drasim::bench

#endif  // DRASIM_SIM_BENCH_BENCH_RUN_H_
