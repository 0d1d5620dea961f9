// A scenario as the user gave it: its text, the file it stands in, and errors with their place in
// that file.
#ifndef DRASIM_SIM_SCENARIO_GIVEN_SCENARIO_H_
#define DRASIM_SIM_SCENARIO_GIVEN_SCENARIO_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/proto/scenario.pb.h"
#include "sim/scenario/run_spec.h"

namespace drasim {

// The size limit of a scenario file.
inline constexpr size_t kMaxScenarioBytes = 16u << 20;

// Not resolved.
struct GivenScenario {
  proto::Scenario scenario;
  std::string file;                     // empty: no file was given
  std::string text;                     // of the file
  std::vector<std::string> overridden;  // keys that flags have set since
};

// Reads `text`, of `file`, into the scenario. A text that sets no key is an error.
absl::Status ParseGiven(GivenScenario* given);
// The error with the place in the file put in front, when it is about a value that the file gives;
// its message begins with the scenario key then. Other errors as they are.
absl::Status InFile(const GivenScenario& given, const absl::Status& status);
// ResolveScenario, with errors as InFile has them.
absl::StatusOr<RunSpec> ResolveGiven(const GivenScenario& given);

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_GIVEN_SCENARIO_H_
