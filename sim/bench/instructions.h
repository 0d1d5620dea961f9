// Counts the instructions that a program takes for a cell: exact under load, unlike any time.
//
//   ASSIGN_OR_RETURN(const CostSetup setup, FindCostSetup());
//   RETURN_IF_ERROR(CountInstructions(setup, "build/release/bin/drasim", cells, options,
//                                     [&](size_t i, const InstructionCount& count) { ... }));
//
// Equal runs of one binary differ by less than 0.01 %: what varies from run to run is fixed, namely
// the address space, the environment, the seed of protobuf's maps, which would come from the clock
// (GOOGLE_PROTOBUF_NO_RDTSC), and the lengths of the program's path and of its working directory:
// strings of other lengths shift the heap, and absl's hash tables probe by their addresses.
#ifndef DRASIM_SIM_BENCH_INSTRUCTIONS_H_
#define DRASIM_SIM_BENCH_INSTRUCTIONS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "sim/bench/bench_cells.h"
#include "sim/bench/child_runs.h"

namespace drasim::bench {

// CostSetup: the environment that counts depend on, beside the program. Counts of different setups
// do not compare.
struct CostSetup {
  std::string method;  // kCachegrind or kPerf
  std::string tool;    // its version
  // The build of this program, and the shared libraries that it has loaded, each with the first
  // digits of its SHA-256.
  std::string compiler;
  std::string flags;
  std::vector<std::string> libraries;

  bool operator==(const CostSetup&) const = default;
  // The differences from the other, for people: "tool valgrind-3.19.0 and valgrind-3.22.0".
  std::string DifferenceTo(const CostSetup& other) const;
};
inline constexpr char kCachegrind[] = "cachegrind";
inline constexpr char kPerf[] = "perf";

// cachegrind if valgrind is installed, else perf if the machine has hardware counters. NotFound,
// with the package to install, if there is neither. Reads the program's shared libraries.
absl::StatusOr<CostSetup> FindCostSetup();

// The same with other tools: `run_tool` gives the output of a command, or an error if it cannot
// run.
using RunTool = absl::FunctionRef<absl::StatusOr<std::string>(const std::vector<std::string>&)>;
absl::StatusOr<CostSetup> FindCostSetup(RunTool run_tool);

// The count in what `perf stat -x, -e instructions:u` writes. Processors with cores of two kinds
// have a line for each. Aborted if nothing was counted.
absl::StatusOr<uint64_t> InstructionsInPerf(absl::string_view text);

struct InstructionCount {
  // Aborted if the cell did not run or was killed.
  absl::StatusOr<uint64_t> instructions;
  std::string fingerprint;  // of the run that was counted
};

// Runs `program` on each cell, without results, and calls done(i, count) as they end. Unavailable
// if a temporary file cannot be written or no process started.
// REQUIRES: this process has one thread.
absl::Status CountInstructions(const CostSetup& setup, const std::string& program,
                               absl::Span<const BenchCell* const> cells,
                               const ChildRunOptions& options,
                               absl::FunctionRef<void(size_t, const InstructionCount&)> done);

// The run of a cell from standard input: `prefix`, the program and its arguments. The answer of
// such a program holds the fingerprint.
// `scenario_file` holds the cell's scenario.
Program ProgramOfCell(std::vector<std::string> prefix, const std::string& program,
                      const BenchCell& cell, const std::string& scenario_file);
// Empty if the answer has none.
std::string FingerprintIn(absl::string_view answer);

}  // namespace drasim::bench

#endif  // DRASIM_SIM_BENCH_INSTRUCTIONS_H_
