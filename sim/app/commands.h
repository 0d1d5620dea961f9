// The subcommands. Each file cmd_*.cc holds one family and is registered in commands.cc.
#ifndef DRASIM_SIM_APP_COMMANDS_H_
#define DRASIM_SIM_APP_COMMANDS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/mig_product.h"
#include "model/mig_table.h"
#include "model/text/json_writer.h"
#include "sim/app/flags.h"
#include "sim/compare/contenders.h"
#include "sim/scenario/given_scenario.h"

namespace drasim {

absl::Status RunCommand(const ParsedFlags& flags);
absl::Status CompareCommand(const ParsedFlags& flags);
absl::Status SweepCommand(const ParsedFlags& flags);
absl::Status DiffCommand(const ParsedFlags& flags);
absl::Status ExplainCommand(const ParsedFlags& flags);
absl::Status ValidateCommand(const ParsedFlags& flags);
absl::Status TraceStatsCommand(const ParsedFlags& flags);
absl::Status TraceConvertCommand(const ParsedFlags& flags);
absl::Status TraceGenerateCommand(const ParsedFlags& flags);
absl::Status TraceFetchCommand(const ParsedFlags& flags);
absl::Status MigProductsCommand(const ParsedFlags& flags);
absl::Status MigProfilesCommand(const ParsedFlags& flags);
absl::Status MigLayoutsCommand(const ParsedFlags& flags);
absl::Status MigFitsCommand(const ParsedFlags& flags);
absl::Status MigDrawCommand(const ParsedFlags& flags);
absl::Status MigCountCommand(const ParsedFlags& flags);
absl::Status CompletionCommand(const ParsedFlags& flags);

// Shared by the mig commands.
// The product that the first argument names; it lives as long as the program. InvalidArgument
// without one, for an unknown name and for more than `most` arguments.
absl::StatusOr<const MigProduct*> MigProductArgument(const ParsedFlags& flags, size_t most);
// The product's rules with the driver of --driver (default: the newest).
absl::StatusOr<MigRules> MigRulesOfDriver(const MigProduct& product, const ParsedFlags& flags);
// What limits instances besides the places where they may sit, a sentence each.
std::vector<std::string> MigRuleLines(absl::Span<const MigProfile> profiles, const MigRules& rules);
// The keys "forbid" and "engines" of an object that is open.
void WriteMigRules(const MigRules& rules, JsonWriter* json);

// The flags that are shorthand for scenario keys, shared by run, compare and sweep.
const std::vector<FlagSpec>& ScenarioFlags();
// The scenario that the command line describes: the file (--scenario or the one positional
// argument), then flags in order, then --set. Not resolved.
absl::StatusOr<GivenScenario> ScenarioFromFlags(const ParsedFlags& flags);

// The lists of contenders that flags name.
ContenderFlags ContenderFlagsOf(const ParsedFlags& flags);

}  // namespace drasim

#endif  // DRASIM_SIM_APP_COMMANDS_H_
