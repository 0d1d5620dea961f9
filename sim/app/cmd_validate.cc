// drasim validate.

#include <cstddef>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "model/kube/reader.h"
#include "model/kube/slice_reader.h"
#include "model/proto/resource.pb.h"
#include "model/status_macros.h"
#include "policies/cel/admission.h"
#include "policies/drivers/slice_publishers.h"
#include "sim/app/commands.h"
#include "sim/app/format_flag.h"
#include "sim/app/report_flag.h"
#include "sim/outputs/result_formats.h"
#include "sim/outputs/result_set.h"
#include "sim/record/data_table.h"
#include "sim/scenario/given_scenario.h"
#include "sim/scenario/kube_config.h"
#include "sim/scenario/run_spec.h"
#include "sim/scenario/scenario_paths.h"
#include "traces/byte_source.h"
#include "traces/mapping.h"

namespace drasim {
namespace {

// A mapping file is told from a scenario by its top-level pods or nodes section.
bool LooksLikeMapping(absl::string_view text) {
  for (absl::string_view key : {"pods:", "nodes:"}) {
    if (text.substr(0, key.size()) == key ||
        text.find(absl::StrCat("\n", key)) != absl::string_view::npos)
      return true;
  }
  return false;
}

// Objects of Kubernetes, in YAML or JSON; a scenario has no apiVersion.
bool LooksLikeKubeObjects(absl::string_view text) {
  return absl::StartsWith(text, "apiVersion:") || absl::StrContains(text, "\napiVersion:") ||
         absl::StrContains(text, "\"apiVersion\"");
}

// kube-scheduler's configuration, which stands alone in its file.
bool LooksLikeKubeConfig(absl::string_view text) {
  return LooksLikeKubeObjects(text) && (absl::StrContains(text, "KubeSchedulerConfiguration") ||
                                        absl::StrContains(text, "kubescheduler.config.k8s.io"));
}

// The files that are valid, as they are found.
class ValidFiles {
 public:
  explicit ValidFiles(OutputFormat format) : format_(format) {}
  void Add(const std::string& file, absl::string_view kind) {
    table_.AddRow().Text(file).Text(kind);
    if (format_ != OutputFormat::kText) return;
    std::fputs(absl::StrCat(file, ": a valid ", kind, "\n").c_str(), stdout);
  }
  // In JSON and CSV, all of them at once.
  void Print() const {
    if (format_ == OutputFormat::kText) return;
    std::fputs(RowsIn("validate", "valid", table_, format_).c_str(), stdout);
  }

 private:
  OutputFormat format_;
  DataTable table_{std::vector<std::string>{"file", "kind"}};
};

using DeviceConfigs = google::protobuf::RepeatedPtrField<proto::kube::DeviceConfiguration>;

// The configurations of a class, claim or template; null for other objects.
const DeviceConfigs* ConfigsOf(const proto::kube::Object& object) {
  if (object.has_device_class()) return &object.device_class().spec().config();
  if (object.has_resource_claim_v1()) {
    return &object.resource_claim_v1().spec().devices().config();
  }
  if (object.has_resource_claim_template_v1()) {
    return &object.resource_claim_template_v1().spec().spec().devices().config();
  }
  return nullptr;
}

// Configurations that their driver would refuse when it prepares the claim.
void AddConfigProblems(const KubeObject& read, const std::string& name,
                       std::vector<std::string>* warnings) {
  const DeviceConfigs* configs = ConfigsOf(read.object);
  if (configs == nullptr) return;
  for (int i = 0; i < configs->size(); ++i) {
    const proto::kube::OpaqueDeviceConfiguration& opaque = (*configs)[i].opaque();
    const absl::Status accepted = CheckOpaqueConfig(opaque.driver(), opaque.parameters());
    if (accepted.ok()) continue;
    warnings->push_back(absl::StrCat(name, ":", read.line, ": config[", i, "]: ", opaque.driver(),
                                     " would refuse the parameters: ", accepted.message()));
  }
}

// A manifest. What is odd in it, and what makes a pool of devices unusable, are warnings.
absl::Status ValidateObjects(absl::string_view text, const std::string& name, ValidFiles* valid) {
  KubeReadOptions options;
  options.check = cel::ExpressionProblems;
  ASSIGN_OR_RETURN(const KubeManifest manifest, ReadKubeObjects(text, name, options));
  std::vector<proto::kube::ResourceSlice> slices;
  for (const KubeObject& read : manifest.objects) {
    if (read.object.has_resource_slice()) slices.push_back(read.object.resource_slice());
  }
  std::vector<std::string> warnings = manifest.warnings;
  for (const KubeObject& read : manifest.objects) AddConfigProblems(read, name, &warnings);
  for (const std::string& problem : PoolProblems(slices)) {
    warnings.push_back(absl::StrCat(name, ": ", problem));
  }
  for (const std::string& warning : warnings) {
    std::fprintf(stderr, "drasim: warning: %s\n", warning.c_str());
  }
  const size_t count = manifest.objects.size();
  valid->Add(name, absl::StrCat("manifest of ", count, count == 1 ? " object" : " objects"));
  return absl::OkStatus();
}

absl::Status ValidateOne(const std::string& path, ValidFiles* valid) {
  ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenByteSource(path));
  ASSIGN_OR_RETURN(std::string text, ReadAll(*source, kMaxScenarioBytes));
  const std::string name = source->name();
  if (LooksLikeMapping(text)) {
    absl::StatusOr<proto::TableMapping> mapping = ParseMappingFile(text, name);
    if (!mapping.ok()) return mapping.status();
    valid->Add(name, "mapping");
    return absl::OkStatus();
  }
  if (LooksLikeKubeConfig(text)) {
    RETURN_IF_ERROR(ReadKubeConfig(text, name).status());
    valid->Add(name, "configuration of kube-scheduler");
    return absl::OkStatus();
  }
  if (LooksLikeKubeObjects(text)) return ValidateObjects(text, name, valid);
  GivenScenario given;
  given.file = name;
  given.text = text;
  RETURN_IF_ERROR(ParseGiven(&given));
  AnchorPaths(path, &*given.scenario);
  const absl::StatusOr<RunSpec> spec = ResolveGiven(given);
  if (const absl::Status& s = spec.status(); !s.ok()) {
    const bool placed = s.message().substr(0, name.size()) == name;
    return placed ? s : absl::InvalidArgumentError(absl::StrCat(name, ": ", s.message()));
  }
  if (const std::optional<KubeSchedulerSpec>& kube = spec->scheduler.kube; kube.has_value()) {
    if (!kube->config.empty()) RETURN_IF_ERROR(ReadKubeConfigFile(kube->config).status());
    for (const KubeSchedulerSpec::Other& other : kube->others) {
      RETURN_IF_ERROR(ReadKubeConfigFile(other.config).status());
    }
  }
  valid->Add(name, "scenario");
  return absl::OkStatus();
}

// The place "FILE:LINE:COLUMN: " at the beginning of a message becomes the check's.
ResultCheck CheckOf(const std::string& path, const absl::Status& status) {
  ResultCheck check{path, "validate", CheckOutcome::kPassed, "", path};
  if (status.ok()) return check;
  check.outcome = CheckOutcome::kFailed;
  absl::string_view rest = status.message();
  const size_t colon = rest.find(':');
  const std::vector<absl::string_view> parts = absl::StrSplit(rest, absl::MaxSplits(':', 3));
  if (parts.size() == 4 && absl::SimpleAtoi(parts[1], &check.line) &&
      absl::SimpleAtoi(parts[2], &check.column)) {
    check.file = std::string(parts[0]);
    rest = absl::StripLeadingAsciiWhitespace(parts[3]);
  } else if (colon != absl::string_view::npos && rest.substr(0, colon) == path) {
    rest = absl::StripLeadingAsciiWhitespace(rest.substr(colon + 1));
  }
  check.message = std::string(rest);
  return check;
}

}  // namespace

absl::Status ValidateCommand(const ParsedFlags& flags) {
  if (flags.positional().empty())
    return absl::InvalidArgumentError("validate needs at least one file");
  ASSIGN_OR_RETURN(const std::vector<ReportRequest> reports,
                   ReportsOf(flags, "validate", {ResultPart::kText, ResultPart::kChecks}));
  ResultSet results;
  results.command = "validate";
  ValidFiles valid(FormatOf(flags));
  // Checks every file; the error lists the problems of each of them.
  absl::Status all;
  for (const std::string& path : flags.positional()) {
    const absl::Status s = ValidateOne(path, &valid);
    results.checks.push_back(CheckOf(path, s));
    if (s.ok()) continue;
    all = all.ok() ? s : absl::Status(all.code(), absl::StrCat(all.message(), "\n", s.message()));
  }
  valid.Print();
  const size_t wrong = results.Count(CheckOutcome::kFailed);
  results.summary = absl::StrCat(results.checks.size() - wrong, " of ", results.checks.size(),
                                 " files are valid");
  RETURN_IF_ERROR(WriteReports(reports, results));
  return all;
}

}  // namespace drasim
