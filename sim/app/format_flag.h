// The flag --format of commands, and errors in that format.
#ifndef DRASIM_SIM_APP_FORMAT_FLAG_H_
#define DRASIM_SIM_APP_FORMAT_FLAG_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "sim/app/flags.h"
#include "sim/record/data_table.h"

namespace drasim {

// Text for the choices "table" and "text", and without the flag. The switch --json of some commands
// is --format json.
OutputFormat FormatOf(const ParsedFlags& flags);
// InvalidArgument if the value of --format is none of the flag's choices.
absl::Status CheckFormat(absl::Span<const FlagSpec> specs, const ParsedFlags& flags);
// FormatOf for arguments that have not been parsed, or cannot be, so that errors in them are
// reported in the right format.
OutputFormat FormatAskedFor(const std::vector<std::string>& args);

// "drasim.error/v1" on one line: code (the name of the status code, such as invalid_argument),
// message and exit_code.
std::string ErrorJson(const absl::Status& status, int exit_code);

// Prints a problem beside which there are results, such as a cell that did not run, as a line on
// standard error: "drasim: WHAT: MESSAGE", or "drasim.problem/v1" with the keys problem and
// message.
void PrintProblem(absl::string_view what, absl::string_view message, OutputFormat format);

}  // namespace drasim

#endif  // DRASIM_SIM_APP_FORMAT_FLAG_H_
