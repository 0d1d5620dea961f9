// The drasim command line: subcommands, help, exit codes.
#ifndef DRASIM_SIM_APP_CLI_H_
#define DRASIM_SIM_APP_CLI_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "sim/app/flags.h"

namespace drasim {

// Exit codes: done; the run failed; bad usage or input.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;

struct Command {
  absl::string_view name;     // "run", "trace stats", ...
  absl::string_view summary;  // one line
  absl::string_view usage;    // behind "drasim NAME"
  absl::string_view details;  // paragraphs for --help; may be empty
  std::vector<FlagSpec> flags;
  absl::Status (*run)(const ParsedFlags& flags);
};

// All subcommands in the order of `drasim --help`.
const std::vector<Command>& Commands();

// Runs a command line without the program's name; prints errors to standard error. Returns the exit
// code, which is not kExitOk when standard output took less than all.
int RunCli(const std::vector<std::string>& args);

// A result that is neither an error nor success: `diff` found a difference. Exit code 1, nothing
// printed.
absl::Status QuietFailure();

}  // namespace drasim

#endif  // DRASIM_SIM_APP_CLI_H_
