// The flag --format of commands, and errors in the form that it asks for.
#ifndef DRASIM_SIM_APP_FORMAT_FLAG_H_
#define DRASIM_SIM_APP_FORMAT_FLAG_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "sim/app/flags.h"
#include "sim/record/data_table.h"

namespace drasim {

// The flag's choices name the text "table" or "text", as it looks.
OutputFormat FormatOf(const ParsedFlags& flags);
// InvalidArgument when --format has a value that is none of the flag's choices.
absl::Status CheckFormat(absl::Span<const FlagSpec> specs, const ParsedFlags& flags);
// The same as FormatOf for arguments that have not been parsed, or cannot be: an error among them
// is reported in the form that they ask for.
OutputFormat FormatAskedFor(const std::vector<std::string>& args);

// "drasim.error/v1" on one line: code (the name of the status code, such as invalid_argument),
// message and exit_code.
std::string ErrorJson(const absl::Status& status, int exit_code);

}  // namespace drasim

#endif  // DRASIM_SIM_APP_FORMAT_FLAG_H_
