// The exit codes of drasim's programs, and the status of a command that ends with one of them
// without an error message.
#ifndef DRASIM_SIM_APP_EXIT_CODES_H_
#define DRASIM_SIM_APP_EXIT_CODES_H_

#include "absl/status/status.h"

namespace drasim {

inline constexpr int kExitOk = 0;      // done
inline constexpr int kExitFailed = 1;  // the run failed
inline constexpr int kExitUsage = 2;   // bad usage or input

// The exit code for what a command returned.
int ExitCodeOf(const absl::Status& status);

// The result of a command that has printed its answer, and the answer is no: `diff` found a
// difference, a layout does not fit. Exit code 1, without an error message.
absl::Status QuietFailure();
bool IsQuietFailure(const absl::Status& status);

}  // namespace drasim

#endif  // DRASIM_SIM_APP_EXIT_CODES_H_
