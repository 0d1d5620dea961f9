// The formats for results, by name: one line of the table in result_formats.cc for each.
//
//   ASSIGN_OR_RETURN(const std::vector<ReportRequest> requests,
//                    ParseReports({"junit=results.xml", "github"}));
//   RETURN_IF_ERROR(WriteReports(requests, results));
#ifndef DRASIM_SIM_OUTPUTS_RESULT_FORMATS_H_
#define DRASIM_SIM_OUTPUTS_RESULT_FORMATS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "sim/outputs/result_set.h"

namespace drasim {

// Parts of a result; a format requires some of them of a command.
enum class ResultPart : uint8_t { kText, kChecks, kFigures, kTimes };

struct ResultFormat {
  absl::string_view name;
  ResultPart part;
  bool append;  // to what the file holds, instead of replacing it
  std::string (*write)(const ResultSet& results);
};

absl::Span<const ResultFormat> ResultFormats();

// One --report FORMAT[=FILE].
struct ReportRequest {
  const ResultFormat* format = nullptr;
  std::string file;  // empty or "-": standard output
};

// InvalidArgument for an unknown format (with a suggestion) and for one that shows none of `parts`,
// which are those that `command` has.
absl::StatusOr<std::vector<ReportRequest>> ParseReports(const std::vector<std::string>& texts,
                                                        absl::string_view command,
                                                        absl::Span<const ResultPart> parts);

// Writes the files (errors of AtomicFile) and prints the rest.
absl::Status WriteReports(absl::Span<const ReportRequest> requests, const ResultSet& results);

}  // namespace drasim

#endif  // DRASIM_SIM_OUTPUTS_RESULT_FORMATS_H_
