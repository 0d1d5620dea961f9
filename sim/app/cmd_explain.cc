// drasim explain: why a pod does not run, or why it started so late.

#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/status_macros.h"
#include "sim/app/commands.h"
#include "sim/app/format_flag.h"
#include "sim/app/report_flag.h"
#include "sim/explain/cluster.h"
#include "sim/explain/replay.h"
#include "sim/explain/story_json.h"
#include "sim/explain/story_text.h"
#include "sim/outputs/result_formats.h"
#include "sim/outputs/result_set.h"
#include "sim/record/data_table.h"
#include "sim/scenario/duration_text.h"

namespace drasim {
namespace {

void WarnOfEach(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) {
    std::fprintf(stderr, "drasim: warning: %s\n", warning.c_str());
  }
}

// --report has the text that stands on standard output, or would without --format.
absl::Status ReportText(const ParsedFlags& flags, const std::string& pod, const std::string& text) {
  ResultSet results;
  results.command = "explain";
  results.summary = pod.empty() ? "all pending pods" : absl::StrCat("pod ", pod);
  results.text = text;
  ASSIGN_OR_RETURN(const std::vector<ReportRequest> reports,
                   ReportsOf(flags, "explain", {ResultPart::kText}));
  return WriteReports(reports, results);
}

absl::Status ExplainFiles(const ParsedFlags& flags, const std::string& pod, OutputFormat format) {
  for (const char* flag : {"at", "brief"}) {
    if (!flags.Has(flag)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "--", flag, " is about a run; the files of --cluster show a cluster at one moment"));
  }
  std::vector<std::string> paths = flags.All("cluster");
  paths.insert(paths.end(), flags.positional().begin(), flags.positional().end());
  std::vector<std::string> warnings;
  const absl::StatusOr<std::string> text = ExplainCluster(paths, pod, format, &warnings);
  WarnOfEach(warnings);
  if (!text.ok()) return text.status();
  std::fputs(text->c_str(), stdout);
  return ReportText(flags, pod, *text);
}

absl::Status ExplainLedger(const ParsedFlags& flags, const std::string& pod, OutputFormat format) {
  if (flags.positional().size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "explain needs one ledger (a file or a run's folder), or --cluster FILE; found ",
        flags.positional().empty() ? "none" : absl::StrJoin(flags.positional(), ", ")));
  }
  ExplainRequest request;
  request.path = flags.positional()[0];
  request.pod = pod;
  request.brief = flags.Has("brief");
  request.quiet = flags.Has("quiet");
  if (flags.Has("at")) {
    absl::StatusOr<SimDuration> at = ParseDuration(*flags.Get("at"));
    if (flags.Get("at")->empty()) {
      at = absl::InvalidArgumentError("found '', expected a duration such as 5ms, 1.5s or 2h");
    }
    if (!at.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("--at: ", at.status().message()));
    }
    request.at = SimTime(at->ns());
  }
  ASSIGN_OR_RETURN(const Story story, ExplainRun(request));
  WarnOfEach(story.warnings);
  const std::string text = format == OutputFormat::kJson  ? StoryJson(story)
                           : format == OutputFormat::kCsv ? StoryCsv(story)
                                                          : StoryText(story);
  std::fputs(text.c_str(), stdout);
  return ReportText(flags, pod, format == OutputFormat::kText ? text : StoryText(story));
}

}  // namespace

absl::Status ExplainCommand(const ParsedFlags& flags) {
  RETURN_IF_ERROR(ReportsOf(flags, "explain", {ResultPart::kText}).status());
  const OutputFormat format = FormatOf(flags);
  const std::string pod = flags.GetOr("pod", "");
  if (pod.empty() && (flags.Has("pod") || !flags.Has("cluster"))) {
    return absl::InvalidArgumentError(
        "explain needs --pod NAMESPACE/NAME, or NAME in the namespace default; the name of a gang "
        "stands for its pods");
  }
  return flags.Has("cluster") ? ExplainFiles(flags, pod, format)
                              : ExplainLedger(flags, pod, format);
}

}  // namespace drasim
