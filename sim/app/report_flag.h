// The flag --report of commands: their results in formats that other tools read.
#ifndef DRASIM_SIM_APP_REPORT_FLAG_H_
#define DRASIM_SIM_APP_REPORT_FLAG_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "sim/app/flags.h"
#include "sim/outputs/result_formats.h"

namespace drasim {

// --report FORMAT[=FILE], which may be repeated.
FlagSpec ReportFlag();

// Reads the reports that --report requests. Call it before the work, so that mistakes are found
// first. Errors of ParseReports. `parts`: the parts that the command's results hold.
absl::StatusOr<std::vector<ReportRequest>> ReportsOf(const ParsedFlags& flags,
                                                     absl::string_view command,
                                                     absl::Span<const ResultPart> parts);

}  // namespace drasim

#endif  // DRASIM_SIM_APP_REPORT_FLAG_H_
