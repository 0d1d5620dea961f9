#include "sim/perf/perf_report.h"

#include <array>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "model/number_text.h"
#include "model/text/text_table.h"

namespace drasim::perf {
namespace {

constexpr char kPageHead[] =
    "# scheduler_perf\n"
    "\n"
    "Outcome of every workload of the configurations of Kubernetes' benchmark scheduler_perf that\n"
    "drasim is tested with. Written by `drasim bench run --scheduler-perf DIR --page`; do not "
    "edit.\n"
    "\n"
    "*runs*: all steps are done; the fingerprint identifies the decisions. *refused*: drasim "
    "lacks\n"
    "what is named, or a template is missing, and the workload is not run without it. *stops*: a\n"
    "step waits for pods that cannot be scheduled; the text says for what. Pods per second are of\n"
    "virtual time, in which an attempt takes 1 ms ([fidelity.md](fidelity.md#scheduler_perf)).\n"
    "Upstream's threshold is in pods per second of its test machine; it judges nothing here.\n"
    "\n";

// Empty when nothing was measured.
std::string Rate(int64_t pods, double seconds) {
  if (pods == 0 || seconds <= 0) return "";
  return FixedText(static_cast<double>(pods) / seconds, 1);
}

std::string ThresholdText(const PerfReport& report) {
  return report.threshold.has_value() ? DoubleText(*report.threshold) : "";
}

std::string CountsText(absl::Span<const PerfReport> reports) {
  std::array<size_t, 4> counts = {};
  for (const PerfReport& report : reports) ++counts[static_cast<size_t>(report.verdict)];
  std::string text = absl::StrCat(reports.size(), " workloads");
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    absl::StrAppend(&text, i == 0 ? ": " : ", ", counts[i], " ",
                    PerfVerdictName(static_cast<PerfVerdict>(i)));
  }
  return text;
}

// Text in a cell of a Markdown table.
std::string CellText(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"|", "\\|"}, {"\n", " "}, {"<", "&lt;"}});
}

}  // namespace

const char* PerfVerdictName(PerfVerdict verdict) {
  switch (verdict) {
    case PerfVerdict::kRuns:
      return "runs";
    case PerfVerdict::kRefused:
      return "refused";
    case PerfVerdict::kStops:
      return "stops";
    case PerfVerdict::kFailed:
      return "failed";
  }
  return "";
}

DataTable PerfTable(absl::Span<const PerfReport> reports) {
  DataTable table({"entry", "outcome", "why", "fingerprint", "measured_pods", "virtual_seconds",
                   "pods_per_virtual_second", "cpu_seconds", "pods_per_cpu_second",
                   "upstream_threshold"});
  const auto number = [&table](const std::string& text) {
    if (text.empty()) {
      table.Empty();
    } else {
      table.Number(text);
    }
  };
  for (const PerfReport& report : reports) {
    table.AddRow().Text(report.id.entry).Text(PerfVerdictName(report.verdict));
    table.Text(report.why).Text(report.fingerprint).Int(report.measured_pods);
    number(DoubleText(report.measured_seconds));
    number(Rate(report.measured_pods, report.measured_seconds));
    number(FixedText(report.measured_cpu_seconds, 6));
    number(Rate(report.measured_pods, report.measured_cpu_seconds));
    number(ThresholdText(report));
  }
  return table;
}

std::string PerfText(absl::Span<const PerfReport> reports) {
  TextTable table({"workload", "outcome", "pods", "pods/s virtual", "pods/s of CPU time",
                   "upstream's threshold", "why"});
  for (const PerfReport& report : reports) {
    constexpr size_t kLongest = 100;
    const bool cut = report.why.size() > kLongest;
    table.AddRow({report.id.entry, PerfVerdictName(report.verdict),
                  report.measured_pods == 0 ? "" : absl::StrCat(report.measured_pods),
                  Rate(report.measured_pods, report.measured_seconds),
                  Rate(report.measured_pods, report.measured_cpu_seconds), ThresholdText(report),
                  absl::StrCat(report.why.substr(0, kLongest), cut ? "..." : "")});
  }
  return absl::StrCat(table.Render(false), CountsText(reports), "\n");
}

std::string PerfPage(absl::Span<const PerfReport> reports) {
  std::string text = absl::StrCat(kPageHead, CountsText(reports), ".\n");
  std::string last_case;
  for (const PerfReport& report : reports) {
    // FOLDER/CASE/WORKLOAD, where a workload may have slashes, too; folders are in lower case.
    const absl::string_view entry = report.id.entry;
    const size_t of_case = entry.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    const size_t end = entry.find('/', of_case == absl::string_view::npos ? 0 : of_case);
    const std::string name(entry.substr(0, end));
    if (name != last_case) {
      absl::StrAppend(&text, "\n## ", name,
                      "\n\n| Workload | Outcome | Fingerprint, or why not | Pods/s | Threshold |\n"
                      "|---|---|---|---|---|\n");
      last_case = name;
    }
    const bool runs = report.verdict == PerfVerdict::kRuns;
    absl::StrAppend(&text, "| ", entry.substr(end + 1), " | ", PerfVerdictName(report.verdict),
                    " | ", runs ? report.fingerprint : CellText(report.why), " | ",
                    runs ? Rate(report.measured_pods, report.measured_seconds) : "", " | ",
                    ThresholdText(report), " |\n");
  }
  return text;
}

}  // namespace drasim::perf
