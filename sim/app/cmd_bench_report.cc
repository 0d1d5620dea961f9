// drasim bench report: the history of a suite as one HTML page.

#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "model/status_macros.h"
#include "sim/app/commands.h"
#include "sim/app/format_flag.h"
#include "sim/bench/bench_history.h"
#include "sim/bench/history_page.h"
#include "sim/record/atomic_file.h"
#include "sim/record/data_table.h"
#include "traces/byte_source.h"

namespace drasim {

absl::Status BenchReportCommand(const ParsedFlags& flags) {
  constexpr size_t kMaxHistoryBytes = 256u << 20;
  const std::string history = flags.GetOr("history", "");
  const std::string html = flags.GetOr("html", "");
  const std::string url = flags.GetOr("commit-url", "");
  if (history.empty() || html.empty() || !flags.positional().empty()) {
    return absl::InvalidArgumentError("bench report needs --history FILE.jsonl and --html FILE");
  }
  const bool is_link = absl::StartsWith(url, "https://") || absl::StartsWith(url, "http://");
  if (!url.empty() && (!is_link || !absl::StrContains(url, "{commit}"))) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--commit-url: found '", url, "', expected such as https://example.org/commit/{commit}"));
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenByteSource(history));
  ASSIGN_OR_RETURN(const std::string text, ReadAll(*source, kMaxHistoryBytes));
  ASSIGN_OR_RETURN(const std::vector<bench::HistoryRun> runs, bench::ParseHistory(text, history));
  RETURN_IF_ERROR(WriteFileAtomically(html, bench::HistoryPage(runs, url)));
  const OutputFormat format = FormatOf(flags);
  if (format == OutputFormat::kText) {
    std::printf("%zu runs in %s\n", runs.size(), html.c_str());
  } else {
    DataTable done({"file", "runs"});
    done.AddRow().Text(html).Int(static_cast<int64_t>(runs.size()));
    std::fputs(DocumentOf("bench-report", done, format).c_str(), stdout);
  }
  return absl::OkStatus();
}

}  // namespace drasim
