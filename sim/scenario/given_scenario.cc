#include "sim/scenario/given_scenario.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "model/key_error.h"
#include "model/proto/scenario.pb.h"
#include "model/status_macros.h"
#include "model/text/yaml_proto.h"
#include "sim/scenario/resolve.h"
#include "sim/scenario/scenario_paths.h"
#include "traces/byte_source.h"

namespace drasim {

absl::StatusOr<GivenScenario> ReadGiven(const std::string& path) {
  GivenScenario given;
  ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenByteSource(path));
  ASSIGN_OR_RETURN(given.text, ReadAll(*source, kMaxScenarioBytes));
  given.file = source->name();
  RETURN_IF_ERROR(ParseGiven(&given));
  AnchorPaths(path, &*given.scenario);
  return given;
}

absl::Status OverrideKey(absl::string_view key, absl::string_view value, absl::string_view origin,
                         GivenScenario* given) {
  RETURN_IF_ERROR(SetField(key, value, origin, &*given->scenario));
  given->overridden.emplace_back(key);
  return absl::OkStatus();
}

absl::Status ParseGiven(GivenScenario* given) {
  RETURN_IF_ERROR(MergeYaml(given->text, given->file, &*given->scenario));
  if (given->scenario->ByteSizeLong() > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(given->file, ": found no key that is set, expected a scenario"));
}

GivenOutput OutputOf(const GivenScenario& given) {
  const proto::Output& output = given.scenario->output();
  return {output.dir(), output.has_ledger() && !output.ledger(), output.max_ledger()};
}

void SetOutputDir(const std::string& dir, GivenScenario* given) {
  given->scenario->mutable_output()->set_dir(dir);
}

absl::Status InFile(const GivenScenario& given, const absl::Status& status) {
  if (status.ok() || given.file.empty()) return status;
  // LocateField takes "events.0" for the first item of a list.
  const std::string key = absl::StrReplaceAll(KeyOfError(status), {{"[", "."}, {"]", ""}});
  if (key.empty()) return status;
  const auto& flags = given.overridden;
  if (std::find(flags.begin(), flags.end(), key) != flags.end()) return status;
  const std::string place = LocateField(given.text, given.file, key);
  if (place.empty()) return status;
  return absl::Status(status.code(), absl::StrCat(place, ": ", status.message()));
}

absl::StatusOr<RunSpec> ResolveGiven(const GivenScenario& given) {
  absl::StatusOr<RunSpec> spec = ResolveScenario(*given.scenario);
  if (spec.ok()) return spec;
  return InFile(given, spec.status());
}

}  // namespace drasim
