#include "sim/app/report_flag.h"

namespace drasim {
namespace {

constexpr absl::string_view kReportFlag = "report";

}  // namespace

FlagSpec ReportFlag() {
  return {kReportFlag, "", "FORMAT[=FILE]",
          "for other tools: markdown, junit, github, google-benchmark, perf-dash, bencher, "
          "openmetrics"};
}

absl::StatusOr<std::vector<ReportRequest>> ReportsOf(const ParsedFlags& flags,
                                                     absl::string_view command,
                                                     absl::Span<const ResultPart> parts) {
  return ParseReports(flags.All(kReportFlag), command, parts);
}

}  // namespace drasim
