// The exit codes of drasim's programs, and the status of a command that ends with one of them
// without an error message.
#ifndef DRASIM_SIM_APP_EXIT_CODES_H_
#define DRASIM_SIM_APP_EXIT_CODES_H_

#include <optional>

#include "absl/status/status.h"

namespace drasim {

inline constexpr int kExitOk = 0;       // done
inline constexpr int kExitFailed = 1;   // the run failed, or the answer is no
inline constexpr int kExitUsage = 2;    // bad usage or input
inline constexpr int kExitChanged = 3;  // bench compare: nothing worse, but decisions differ
inline constexpr int kExitMissing = 4;  // bench: nothing to compare, or something is missing

// The exit code for what a command returned.
int ExitCodeOf(const absl::Status& status);

// The result of a command that has printed its answer, and the answer is no: `diff` found a
// difference, a layout does not fit. Ends with that exit code, without an error message.
// REQUIRES: exit_code != kExitOk.
absl::Status QuietFailure(int exit_code = kExitFailed);
// The exit code of a QuietFailure; nothing for any other status.
std::optional<int> QuietExitCode(const absl::Status& status);

}  // namespace drasim

#endif  // DRASIM_SIM_APP_EXIT_CODES_H_
