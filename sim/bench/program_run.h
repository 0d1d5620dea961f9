// Other programs, run to their end: git, builds, and other versions of drasim. POSIX.
#ifndef DRASIM_SIM_BENCH_PROGRAM_RUN_H_
#define DRASIM_SIM_BENCH_PROGRAM_RUN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace drasim::bench {

struct ProgramOutput {
  int exit_code = 0;  // 128 + the signal that ended it; 127: there is no such program
  std::string out;    // standard output
  std::string err;    // standard error
};

// Runs args[0], found by PATH, in the folder `cwd` with an empty standard input, and waits for its
// end. Aborted if it takes longer than `timeout_seconds` of wall time; it is then killed with its
// children. Unavailable if the system refuses a process or temporary files. Programs die with this
// process. REQUIRES: args is not empty.
absl::StatusOr<ProgramOutput> RunProgram(const std::vector<std::string>& args,
                                         const std::string& cwd, double timeout_seconds);

}  // namespace drasim::bench

#endif  // DRASIM_SIM_BENCH_PROGRAM_RUN_H_
