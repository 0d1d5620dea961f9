#include "sim/outputs/result_formats.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "model/status_macros.h"
#include "model/text/did_you_mean.h"
#include "sim/outputs/bencher_output.h"
#include "sim/outputs/gbench_output.h"
#include "sim/outputs/github_output.h"
#include "sim/outputs/junit_output.h"
#include "sim/outputs/markdown_output.h"
#include "sim/outputs/openmetrics_output.h"
#include "sim/outputs/perf_dash_output.h"
#include "sim/record/atomic_file.h"

namespace drasim {
namespace {

constexpr ResultFormat kFormats[] = {
    {"markdown", ResultPart::kText, true, MarkdownOutput},
    {"junit", ResultPart::kChecks, false, JunitXml},
    {"github", ResultPart::kChecks, false, GithubAnnotations},
    {"google-benchmark", ResultPart::kTimes, false, GoogleBenchmarkJson},
    {"perf-dash", ResultPart::kFigures, false, PerfDashJson},
    {"bencher", ResultPart::kFigures, false, BencherMetricJson},
    {"openmetrics", ResultPart::kFigures, false, OpenMetricsText},
};

absl::string_view PartName(ResultPart part) {
  switch (part) {
    case ResultPart::kText:
      return "texts";
    case ResultPart::kChecks:
      return "checks";
    case ResultPart::kFigures:
      return "figures";
    case ResultPart::kTimes:
      return "times";
  }
  return "";
}

absl::Status AppendToFile(const std::string& path, const std::string& text) {
  std::FILE* const file = std::fopen(path.c_str(), "ab");
  if (file == nullptr) return FileStatus(path, "cannot open the file", errno);
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int error = errno;
  const bool closed = std::fclose(file) == 0;
  if (written && closed) return absl::OkStatus();
  return FileStatus(path, "cannot write", written ? errno : error);
}

}  // namespace

absl::Span<const ResultFormat> ResultFormats() { return kFormats; }

absl::StatusOr<std::vector<ReportRequest>> ParseReports(const std::vector<std::string>& texts,
                                                        absl::string_view command,
                                                        absl::Span<const ResultPart> parts) {
  std::vector<std::string> known;
  for (const ResultFormat& format : kFormats) {
    if (std::find(parts.begin(), parts.end(), format.part) == parts.end()) continue;
    known.emplace_back(format.name);
  }
  std::vector<ReportRequest> requests;
  for (const std::string& text : texts) {
    const std::pair<std::string, std::string> words = absl::StrSplit(text, absl::MaxSplits('=', 1));
    const ResultFormat* found = nullptr;
    for (const ResultFormat& format : kFormats) {
      if (format.name == words.first) found = &format;
    }
    if (found == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("--report: unknown format '", words.first, "'",
                                                     Suggest(words.first, known), "; ", command,
                                                     " has ", absl::StrJoin(known, ", ")));
    }
    if (std::find(parts.begin(), parts.end(), found->part) == parts.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--report: '", found->name, "' holds ", PartName(found->part), ", and ",
                       command, " has none; expected ", absl::StrJoin(known, ", ")));
    }
    requests.push_back({found, words.second});
  }
  return requests;
}

absl::Status WriteReports(absl::Span<const ReportRequest> requests, const ResultSet& results) {
  for (const ReportRequest& request : requests) {
    const std::string text = request.format->write(results);
    if (request.file.empty() || request.file == "-") {
      std::fputs(text.c_str(), stdout);
    } else if (request.format->append) {
      RETURN_IF_ERROR(AppendToFile(request.file, text));
    } else {
      RETURN_IF_ERROR(WriteFileAtomically(request.file, text));
    }
  }
  return absl::OkStatus();
}

}  // namespace drasim
