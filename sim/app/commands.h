// The table of subcommands, and the functions that run them. Each file cmd_*.cc holds one family.
#ifndef DRASIM_SIM_APP_COMMANDS_H_
#define DRASIM_SIM_APP_COMMANDS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "sim/app/flags.h"

namespace drasim {

struct Command {
  absl::string_view name;     // "run", "trace stats", ...
  absl::string_view summary;  // one line
  absl::string_view usage;    // behind "drasim NAME"
  absl::string_view details;  // paragraphs for --help; may be empty
  std::vector<FlagSpec> flags;
  absl::Status (*run)(const ParsedFlags& flags);
};

// All subcommands in the order of `drasim --help`.
const std::vector<Command>& Commands();

absl::Status RunCommand(const ParsedFlags& flags);
absl::Status CompareCommand(const ParsedFlags& flags);
absl::Status SweepCommand(const ParsedFlags& flags);
absl::Status DiffCommand(const ParsedFlags& flags);
absl::Status ExplainCommand(const ParsedFlags& flags);
absl::Status ReportCommand(const ParsedFlags& flags);
absl::Status BenchRunCommand(const ParsedFlags& flags);
// bench run --scheduler-perf.
absl::Status BenchPerfCommand(const ParsedFlags& flags);
absl::Status BenchCompareCommand(const ParsedFlags& flags);
absl::Status BenchAcceptCommand(const ParsedFlags& flags);
absl::Status MergeCommand(const ParsedFlags& flags);
absl::Status BenchJudgeCommand(const ParsedFlags& flags);
absl::Status BenchCardCommand(const ParsedFlags& flags);
absl::Status BenchVerifyCommand(const ParsedFlags& flags);
absl::Status BenchBisectCommand(const ParsedFlags& flags);
absl::Status BenchCasesCommand(const ParsedFlags& flags);
absl::Status BenchReportCommand(const ParsedFlags& flags);
absl::Status CasesKubeCommand(const ParsedFlags& flags);
absl::Status CasesCelCommand(const ParsedFlags& flags);
absl::Status CasesSdraCommand(const ParsedFlags& flags);
absl::Status CdiCommand(const ParsedFlags& flags);
absl::Status CelCommand(const ParsedFlags& flags);
absl::Status SlicesCommand(const ParsedFlags& flags);
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

}  // namespace drasim

#endif  // DRASIM_SIM_APP_COMMANDS_H_
