// The subcommands. Each file cmd_*.cc holds one family and is registered in commands.cc.
#ifndef DRASIM_SIM_APP_COMMANDS_H_
#define DRASIM_SIM_APP_COMMANDS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/proto/scenario.pb.h"
#include "sim/app/flags.h"

namespace drasim {

absl::Status RunCommand(const ParsedFlags& flags);
absl::Status CompareCommand(const ParsedFlags& flags);
absl::Status SweepCommand(const ParsedFlags& flags);
absl::Status DiffCommand(const ParsedFlags& flags);
absl::Status ValidateCommand(const ParsedFlags& flags);
absl::Status TraceStatsCommand(const ParsedFlags& flags);
absl::Status TraceConvertCommand(const ParsedFlags& flags);
absl::Status TraceGenerateCommand(const ParsedFlags& flags);
absl::Status TraceFetchCommand(const ParsedFlags& flags);
absl::Status CompletionCommand(const ParsedFlags& flags);

// The flags that are shorthand for scenario keys, shared by run, compare and sweep.
const std::vector<FlagSpec>& ScenarioFlags();
// The scenario that the command line describes: the file (--scenario or the one positional
// argument), then flags in order, then --set. Not resolved.
struct GivenScenario {
  proto::Scenario scenario;
  std::string file;                     // empty: no file was given
  std::string text;                     // of the file
  std::vector<std::string> overridden;  // keys that flags have set since
};
absl::StatusOr<GivenScenario> ScenarioFromFlags(const ParsedFlags& flags);
// ResolveScenario, with the place in the file put in front of an error about a value that the file
// gives.
absl::Status ResolveGiven(GivenScenario* given);

}  // namespace drasim

#endif  // DRASIM_SIM_APP_COMMANDS_H_
