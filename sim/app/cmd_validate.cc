// drasim validate.

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "model/status_macros.h"
#include "sim/app/commands.h"
#include "sim/app/format_flag.h"
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

// A configuration of a Kubernetes component, in YAML or JSON; a scenario has no apiVersion.
bool LooksLikeKubeConfig(absl::string_view text) {
  return absl::StartsWith(text, "apiVersion:") || absl::StrContains(text, "\napiVersion:") ||
         absl::StrContains(text, "\"apiVersion\"");
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

}  // namespace

absl::Status ValidateCommand(const ParsedFlags& flags) {
  if (flags.positional().empty())
    return absl::InvalidArgumentError("validate needs at least one file");
  ValidFiles valid(FormatOf(flags));
  // Checks every file; the error lists the problems of each of them.
  absl::Status all;
  for (const std::string& path : flags.positional()) {
    const absl::Status s = ValidateOne(path, &valid);
    if (s.ok()) continue;
    all = all.ok() ? s : absl::Status(all.code(), absl::StrCat(all.message(), "\n", s.message()));
  }
  valid.Print();
  return all;
}

}  // namespace drasim
