// Work in child processes, so that a crash, a hang or a leak in one piece of it stays there, and so
// that its CPU time and memory can be told from those of the others. POSIX.
#ifndef DRASIM_SIM_BENCH_CHILD_RUNS_H_
#define DRASIM_SIM_BENCH_CHILD_RUNS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace drasim::bench {

struct ChildResult {
  // The result of the work; Aborted if the child crashed or was killed at its time limit.
  absl::StatusOr<std::string> answer;
  double cpu_seconds = 0;  // user and system
  double wall_seconds = 0;
  int64_t peak_rss_kib = 0;  // with the memory that the child shares with its parent
};

struct ChildRunOptions {
  size_t jobs = 1;             // children at a time
  double timeout_seconds = 0;  // of wall time for each; then it is killed
};

// Calls work(i) for i in [0, n), each in a child process of its own, and done(i, result) in this
// process as they end. Unavailable if the system refuses a process. Children die with this process.
// REQUIRES: this process has one thread.
absl::Status RunInChildren(size_t n, const ChildRunOptions& options,
                           absl::FunctionRef<absl::StatusOr<std::string>(size_t)> work,
                           absl::FunctionRef<void(size_t, const ChildResult&)> done);

struct Program {
  // The file, or a name to be found in /usr/local/bin, /usr/bin and /bin, and its arguments.
  std::vector<std::string> arguments;
  std::string input;  // the file that is its standard input; empty: none
  // Its working directory, from which relative paths in `arguments` and LD_LIBRARY_PATH count;
  // empty: that of this process.
  std::string directory = {};
};

// The same for other programs; the answer is what one writes to standard output and standard error,
// and Aborted with the last line of it if the exit code is not 0. Each gets the same environment,
// LD_LIBRARY_PATH aside, and an address space that is not randomised: where the system allows that,
// equal runs take equal numbers of instructions.
absl::Status RunPrograms(size_t n, const ChildRunOptions& options,
                         absl::FunctionRef<Program(size_t)> program,
                         absl::FunctionRef<void(size_t, const ChildResult&)> done);

}  // namespace drasim::bench

#endif  // DRASIM_SIM_BENCH_CHILD_RUNS_H_
