// drasim report: a run, or two side by side, as one HTML page.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gui/view/report_page.h"
#include "gui/view/run_report.h"
#include "model/status_macros.h"
#include "model/text/shown_text.h"
#include "sim/app/commands.h"
#include "sim/app/format_flag.h"
#include "sim/record/atomic_file.h"
#include "sim/record/data_table.h"
#include "sim/record/ledger_reader.h"
#include "sim/scenario/duration_text.h"

namespace drasim {
namespace {

absl::StatusOr<std::vector<SimTime>> MomentsOf(const ParsedFlags& flags) {
  std::vector<SimTime> moments;
  for (const std::string& list : flags.All("at")) {
    for (const absl::string_view text : absl::StrSplit(list, ',')) {
      absl::StatusOr<SimDuration> moment = ParseDuration(text);
      if (text.empty()) {
        moment =
            absl::InvalidArgumentError("found '', expected a duration such as 5ms, 1.5s or 2h");
      }
      if (!moment.ok()) {
        return absl::InvalidArgumentError(absl::StrCat("--at: ", moment.status().message()));
      }
      moments.push_back(SimTime(moment->ns()));
    }
  }
  return moments;
}

absl::StatusOr<view::RunReport> ReportOf(const std::string& path, const std::string& out,
                                         const std::vector<SimTime>& at) {
  // The file that a folder stands for.
  std::string file;
  {
    ASSIGN_OR_RETURN(const std::unique_ptr<LedgerReader> reader, LedgerReader::Open(path));
    file = reader->path();
  }
  std::error_code error;
  if (std::filesystem::equivalent(file, out, error)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--out ", ShownText(out), " is the ledger; choose another file"));
  }
  return view::ReadRunReport([&file] { return LedgerReader::Open(file); }, at);
}

}  // namespace

absl::Status ReportCommand(const ParsedFlags& flags) {
  const std::vector<std::string>& ledgers = flags.positional();
  if (ledgers.empty() || ledgers.size() > 2) {
    return absl::InvalidArgumentError("report needs one or two ledgers (files or run folders)");
  }
  const std::string out = flags.GetOr("out", "");
  if (out.empty()) return absl::InvalidArgumentError("report needs --out FILE.html");
  ASSIGN_OR_RETURN(const std::vector<SimTime> at, MomentsOf(flags));
  std::vector<view::RunReport> runs;
  for (const std::string& ledger : ledgers) {
    ASSIGN_OR_RETURN(view::RunReport run, ReportOf(ledger, out, at));
    runs.push_back(std::move(run));
  }
  const std::string page = view::ReportPage(runs[0], runs.size() > 1 ? &runs[1] : nullptr);
  if (out == "-") {
    std::fwrite(page.data(), 1, page.size(), stdout);
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(WriteFileAtomically(out, page));
  const OutputFormat format = FormatOf(flags);
  if (format == OutputFormat::kText) {
    std::printf("report on %zu run%s written to %s\n", runs.size(), runs.size() == 1 ? "" : "s",
                out.c_str());
    return absl::OkStatus();
  }
  DataTable done({"file", "bytes", "runs"});
  done.AddRow()
      .Text(out)
      .Int(static_cast<int64_t>(page.size()))
      .Int(static_cast<int64_t>(runs.size()));
  std::fputs(DocumentOf("report", done, format).c_str(), stdout);
  return absl::OkStatus();
}

}  // namespace drasim
