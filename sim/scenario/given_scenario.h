// A scenario as given by the user: its text and its file, for errors with line and column.
//
//   ASSIGN_OR_RETURN(GivenScenario given, ReadGiven("day.yaml"));
//   RETURN_IF_ERROR(OverrideKey("seed", "43", "--set", &given));
//   ASSIGN_OR_RETURN(const RunSpec spec, ResolveGiven(given));
#ifndef DRASIM_SIM_SCENARIO_GIVEN_SCENARIO_H_
#define DRASIM_SIM_SCENARIO_GIVEN_SCENARIO_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/scenario/run_spec.h"
#include "sim/scenario/scenario_message.h"

namespace drasim {

// The size limit of a scenario file.
inline constexpr size_t kMaxScenarioBytes = 16u << 20;

// An unresolved scenario.
struct GivenScenario {
  ScenarioMessage scenario;
  std::string file;                     // empty: no file was given
  std::string text;                     // of the file
  std::vector<std::string> overridden;  // keys replaced by flags
};

// Keys of `output`, as given.
struct GivenOutput {
  std::string dir;
  bool without_ledger = false;
  std::string max_ledger;
};
GivenOutput OutputOf(const GivenScenario& given);
void SetOutputDir(const std::string& dir, GivenScenario* given);

// The scenario of a file, "-" for standard input. Its paths are then relative to the working
// directory. Errors of OpenByteSource and ParseGiven.
absl::StatusOr<GivenScenario> ReadGiven(const std::string& path);
// Replaces the value of a key, as `--set KEY=VALUE` does (SetField, model/text/yaml_proto.h);
// errors begin with `origin`.
absl::Status OverrideKey(absl::string_view key, absl::string_view value, absl::string_view origin,
                         GivenScenario* given);
// Reads `text` into `scenario`. InvalidArgument for text that is no scenario or sets no key.
absl::Status ParseGiven(GivenScenario* given);
// Prefixes the place in the file to an error about a value from the file (KeyOfError,
// model/key_error.h). Other errors are returned unchanged.
absl::Status InFile(const GivenScenario& given, const absl::Status& status);
// ResolveScenario, with errors by InFile.
absl::StatusOr<RunSpec> ResolveGiven(const GivenScenario& given);

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_GIVEN_SCENARIO_H_
