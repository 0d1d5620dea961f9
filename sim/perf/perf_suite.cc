#include "sim/perf/perf_suite.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "model/hash.h"
#include "model/key_error.h"
#include "model/number_text.h"
#include "model/proto/scenario.pb.h"
#include "model/status_macros.h"
#include "model/text/yaml_writer.h"
#include "sim/bench/bench_run.h"
#include "sim/bench/bench_table.h"
#include "sim/bench/child_runs.h"
#include "sim/perf/finished_reports.h"
#include "sim/perf/perf_action.h"
#include "sim/perf/perf_refusals.h"
#include "sim/perf/perf_run.h"
#include "sim/perf/perf_templates.h"
#include "sim/record/atomic_file.h"
#include "sim/run/input_files.h"
#include "sim/run/progress.h"
#include "sim/scenario/given_scenario.h"
#include "sim/scenario/scheduler_spec.h"

namespace drasim::perf {
namespace {

namespace fs = std::filesystem;

constexpr char kConfigName[] = "performance-config.yaml";
constexpr char kPerfFile[] = "perf.csv";
constexpr char kPartialFile[] = "perf.partial";
constexpr char kSeparator = '\x1f';

// The specification of such a suite's scenario, with the settings applied.
absl::StatusOr<RunSpec> SpecWith(const std::vector<std::string>& settings) {
  GivenScenario given;
  given.file = "scheduler_perf";
  given.text =
      absl::StrCat("mode: replay\nscheduler: {queue: kubernetes, policy: ", kKubeSchedulerPolicy,
                   "}\ntiming: {schedule: ", kPerfAttemptLatency, "}\n");
  RETURN_IF_ERROR(ParseGiven(&given));
  for (const std::string& setting : settings) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(setting, absl::MaxSplits('=', 1));
    const absl::string_view section = parts.first.substr(0, parts.first.find('.'));
    if (section != "scheduler" && section != "timing" && section != "seed" &&
        section != "preemption") {
      return absl::InvalidArgumentError(
          absl::StrCat("--set: found '", parts.first,
                       "', expected seed or a key of scheduler, timing or preemption: the rest "
                       "is in the configurations"));
    }
    RETURN_IF_ERROR(OverrideKey(parts.first, parts.second, "--set", &given));
  }
  return ResolveGiven(given);
}

// Paths of the configurations, relative to the root, sorted.
absl::StatusOr<std::vector<std::string>> FindConfigs(const std::string& root) {
  std::vector<std::string> paths;
  std::error_code error;
  for (fs::recursive_directory_iterator at(root, error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().filename() == kConfigName) {
      paths.push_back(at->path().lexically_relative(root).generic_string());
    }
  }
  std::sort(paths.begin(), paths.end());
  if (!paths.empty()) return paths;
  return absl::NotFoundError(
      absl::StrCat(root, ": found no ", kConfigName, " in this folder or below"));
}

struct LabelFilter {
  std::vector<std::string> wanted;
  std::vector<std::string> unwanted;

  explicit LabelFilter(absl::string_view text) {
    for (absl::string_view label : absl::StrSplit(text, ',', absl::SkipEmpty())) {
      std::vector<std::string>& list = absl::ConsumePrefix(&label, "-") ? unwanted : wanted;
      absl::ConsumePrefix(&label, "+");
      list.emplace_back(label);
    }
  }
  bool Matches(const std::vector<std::string>& labels) const {
    const auto has = [&labels](const std::string& label) {
      return std::find(labels.begin(), labels.end(), label) != labels.end();
    };
    return std::all_of(wanted.begin(), wanted.end(), has) &&
           std::none_of(unwanted.begin(), unwanted.end(), has);
  }
};

// Small workloads are for every change, the labelled short ones for every pull request.
bench::Tier TierOf(const PerfWorkload& workload) {
  const auto has = [&workload](const char* label) {
    const std::vector<std::string>& labels = workload.labels;
    return std::find(labels.begin(), labels.end(), label) != labels.end();
  };
  if (has("integration-test")) return bench::Tier::kSmoke;
  return has("short") ? bench::Tier::kPr : bench::Tier::kNightly;
}

bench::Suite BenchSuiteOf() {
  bench::Suite suite;
  suite.name = kPerfSuiteName;
  suite.version = kPerfSuiteVersion;
  return suite;
}

bench::BenchCell CellOf(const PerfSuite& suite, const PerfEntry& entry,
                        const PerfTemplates& templates) {
  bench::BenchCell cell;
  cell.id = entry.id;
  cell.tier = entry.tier;
  cell.primary.metric = "mean_start_seconds";
  cell.primary.higher_is_better = false;
  cell.primary.margin = {1, true};
  // Its one seed is part of the cell, so figures are compared exactly.
  cell.random = false;
  uint64_t hash = Fnv1a(ToYaml(*suite.spec.written), Fnv1a(suite.config_texts));
  for (const auto& [path, text] : templates.texts()) hash = Fnv1a(text, Fnv1a(path, hash));
  cell.inputs = HexHash(hash);
  return cell;
}

PerfReport ReportOf(const PerfEntry& entry, const absl::Status& status) {
  PerfReport report;
  report.id = entry.id;
  report.threshold = entry.workload->threshold;
  report.why = std::string(status.message());
  report.verdict = PerfVerdict::kFailed;
  if (status.ok()) report.verdict = PerfVerdict::kRuns;
  if (absl::IsUnimplemented(status) || absl::IsNotFound(status)) {
    report.verdict = PerfVerdict::kRefused;
  }
  return report;
}

absl::Status Prepare(const PerfEntry& entry, PerfTemplates* templates,
                     std::vector<PerfAction>* actions) {
  ASSIGN_OR_RETURN(*actions, ExpandWorkload(*entry.of, *entry.workload));
  return CheckWorkload(*actions, GatesOf(*entry.of, *entry.workload), entry.folder, templates);
}

// A report on its way from a child process or a file: fields between separators.
std::string Packed(const PerfReport& report) {
  const std::vector<std::string> fields = {absl::StrCat(static_cast<int>(report.verdict)),
                                           report.why,
                                           report.fingerprint,
                                           report.line,
                                           absl::StrCat(report.measured_pods),
                                           DoubleText(report.measured_seconds),
                                           DoubleText(report.measured_cpu_seconds),
                                           DoubleText(report.cpu_seconds),
                                           absl::StrCat(report.peak_rss_kib)};
  return absl::StrJoin(fields, std::string(1, kSeparator));
}

PerfReport Unpacked(const PerfEntry& entry, const std::string& text) {
  PerfReport report = ReportOf(entry, absl::OkStatus());
  const std::vector<std::string> fields = absl::StrSplit(text, kSeparator);
  int verdict = 0;
  const bool whole = fields.size() == 9 && absl::SimpleAtoi(fields[0], &verdict) &&
                     absl::SimpleAtoi(fields[4], &report.measured_pods) &&
                     absl::SimpleAtod(fields[5], &report.measured_seconds) &&
                     absl::SimpleAtod(fields[6], &report.measured_cpu_seconds) &&
                     absl::SimpleAtod(fields[7], &report.cpu_seconds) &&
                     absl::SimpleAtoi(fields[8], &report.peak_rss_kib);
  if (!whole) return ReportOf(entry, absl::InternalError("the answer of the process is damaged"));
  report.verdict = static_cast<PerfVerdict>(verdict);
  report.why = fields[1];
  report.fingerprint = fields[2];
  report.line = fields[3];
  return report;
}

// Files below a folder, by path, with their bytes. Those of the results are no input.
absl::StatusOr<uint64_t> HashFolder(const std::string& folder, const std::string& results,
                                    uint64_t hash) {
  std::vector<std::string> paths;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    if (fs::equivalent(at->path(), results, error)) at.disable_recursion_pending();
    if (at->is_regular_file(error)) paths.push_back(at->path().generic_string());
  }
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(const std::string sha256, FileSha256(path));
    hash = Fnv1a(sha256, Fnv1a(path, hash));
  }
  return hash;
}

// All that an answer depends on, but for the workload.
absl::StatusOr<uint64_t> HashInputs(const PerfSuite& suite, const std::string& program,
                                    const std::string& results) {
  uint64_t hash = Fnv1a(ToYaml(*suite.spec.written), Fnv1a(program));
  ASSIGN_OR_RETURN(hash, HashFolder(suite.root, results, hash));
  if (suite.overlay.empty()) return hash;
  return HashFolder(suite.overlay, results, hash);
}

// A filter for exactly the entries, where some were left out.
std::string FilterText(const PerfSuite& suite) {
  if (suite.complete) return "";
  std::vector<std::string> names;
  for (const PerfEntry& entry : suite.entries) names.push_back(entry.id.entry);
  return absl::StrCat("^(", absl::StrJoin(names, "|"), ")/");
}

}  // namespace

absl::StatusOr<PerfSuite> ReadPerfSuite(const PerfSelection& selection) {
  PerfSuite suite;
  suite.root = selection.root;
  suite.overlay = selection.overlay;
  std::error_code error;
  if (!selection.overlay.empty() && !fs::is_directory(selection.overlay, error)) {
    return absl::NotFoundError(absl::StrCat("--overlay: ", selection.overlay, " is no folder"));
  }
  ASSIGN_OR_RETURN(suite.spec, SpecWith(selection.settings));
  const LabelFilter labels(selection.labels);
  ASSIGN_OR_RETURN(const std::vector<std::string> paths, FindConfigs(selection.root));
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(const std::string text,
                     ReadTextFile((fs::path(selection.root) / path).generic_string()));
    ASSIGN_OR_RETURN(PerfConfig read, ReadPerfConfig(text, path));
    absl::StrAppend(&suite.config_texts, path, "\n", text);
    suite.configs.push_back(std::make_unique<const PerfConfig>(std::move(read)));
    const std::string folder = fs::path(path).parent_path().generic_string();
    for (const PerfCase& one : suite.configs.back()->cases) {
      for (const PerfWorkload& workload : one.workloads) {
        PerfEntry entry;
        entry.id.entry =
            absl::StrCat(folder.empty() ? "" : folder + "/", one.name, "/", workload.name);
        entry.id.queue = suite.spec.scheduler.queue_name;
        entry.id.policy = std::string(kKubeSchedulerPolicy);
        entry.id.seed = suite.spec.seed;
        entry.tier = TierOf(workload);
        entry.folder = folder;
        entry.of = &one;
        entry.workload = &workload;
        const bool late = selection.last.has_value() && entry.tier > *selection.last;
        if (late || !labels.Matches(workload.labels) || !selection.filter.Matches(entry.id)) {
          suite.complete = false;
          continue;
        }
        suite.entries.push_back(std::move(entry));
      }
    }
  }
  std::sort(suite.entries.begin(), suite.entries.end(),
            [](const PerfEntry& a, const PerfEntry& b) { return a.id < b.id; });
  return suite;
}

PerfReport CheckPerfEntry(const PerfSuite& suite, const PerfEntry& entry) {
  PerfTemplates templates(suite.root, suite.overlay);
  std::vector<PerfAction> actions;
  return ReportOf(entry, Prepare(entry, &templates, &actions));
}

PerfReport RunPerfEntry(const PerfSuite& suite, const PerfEntry& entry) {
  PerfTemplates templates(suite.root, suite.overlay);
  std::vector<PerfAction> actions;
  const absl::Status ready = Prepare(entry, &templates, &actions);
  if (!ready.ok()) return ReportOf(entry, ready);
  const absl::StatusOr<PerfOutcome> outcome = RunWorkload(
      actions, GatesOf(*entry.of, *entry.workload), entry.folder, suite.spec, &templates);
  if (!outcome.ok()) {
    PerfReport report = ReportOf(entry, outcome.status());
    // All templates are there: another thing was not found.
    if (!absl::IsUnimplemented(outcome.status())) report.verdict = PerfVerdict::kFailed;
    return report;
  }
  PerfReport report = ReportOf(entry, absl::OkStatus());
  report.why = outcome->stopped;
  report.measured_pods = outcome->measured_pods;
  report.measured_seconds = static_cast<double>(outcome->measured_time.ns()) / kSecondNs;
  report.measured_cpu_seconds = outcome->measured_cpu_seconds;
  report.fingerprint = HexHash(outcome->cell.fingerprint);
  if (!outcome->stopped.empty()) {
    report.verdict = PerfVerdict::kStops;
    return report;
  }
  const bench::BenchCell cell = CellOf(suite, entry, templates);
  report.line =
      bench::BenchLine(bench::EmptyTable(BenchSuiteOf()), bench::RowOf(cell, outcome->cell));
  return report;
}

absl::StatusOr<std::vector<PerfReport>> RunPerfSuite(const PerfSuite& suite,
                                                     const PerfRunOptions& options,
                                                     const std::string& dir) {
  std::vector<PerfReport> reports(suite.entries.size());
  ASSIGN_OR_RETURN(const uint64_t inputs, HashInputs(suite, options.program, dir));
  const auto key_of = [&](size_t i) { return HexHash(Fnv1a(suite.entries[i].id.Name(), inputs)); };
  FinishedReports finished(absl::StrCat(dir, "/", kPartialFile));
  std::vector<size_t> pending;
  for (size_t i = 0; i < reports.size(); ++i) {
    const std::string* const earlier = finished.Find(key_of(i));
    if (earlier != nullptr) {
      reports[i] = Unpacked(suite.entries[i], *earlier);
    } else {
      pending.push_back(i);
    }
  }
  RunsProgress progress("bench", pending.size(), options.quiet);
  const absl::Status ran = bench::RunInChildren(
      pending.size(), {options.jobs, options.timeout_seconds},
      [&](size_t k) -> absl::StatusOr<std::string> {
        return Packed(RunPerfEntry(suite, suite.entries[pending[k]]));
      },
      [&](size_t k, const bench::ChildResult& result) {
        progress.Update(k, 1);
        const size_t i = pending[k];
        reports[i] = result.answer.ok() ? Unpacked(suite.entries[i], *result.answer)
                                        : ReportOf(suite.entries[i], result.answer.status());
        if (!result.answer.ok()) reports[i].verdict = PerfVerdict::kFailed;
        reports[i].cpu_seconds = result.cpu_seconds;
        reports[i].peak_rss_kib = result.peak_rss_kib;
        // One that crashed may have lacked memory or time.
        if (result.answer.ok()) finished.Keep(key_of(i), Packed(reports[i]));
      });
  progress.Clear();
  RETURN_IF_ERROR(ran);
  RETURN_IF_ERROR(finished.status());
  bench::BenchFolder folder;
  folder.suite = kPerfSuiteName;
  folder.version = kPerfSuiteVersion;
  folder.filter = FilterText(suite);
  for (const PerfReport& report : reports) {
    if (report.verdict == PerfVerdict::kFailed) folder.missing.push_back({report.id, report.why});
    if (report.verdict != PerfVerdict::kRuns) continue;
    folder.lines.push_back(report.line);
    folder.costs.push_back({report.id, report.cpu_seconds, report.peak_rss_kib, std::nullopt});
  }
  RETURN_IF_ERROR(bench::WriteBenchFolder(std::move(folder), dir));
  RETURN_IF_ERROR(WriteFileAtomically(absl::StrCat(dir, "/", kPerfFile), PerfTable(reports).Csv()));
  return reports;
}

}  // namespace drasim::perf
