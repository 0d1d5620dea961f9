// drasim bench card and bench verify.

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "model/status_macros.h"
#include "sim/app/bench_flags.h"
#include "sim/app/commands.h"
#include "sim/app/exit_codes.h"
#include "sim/app/format_flag.h"
#include "sim/bench/bench_run.h"
#include "sim/bench/card.h"
#include "sim/bench/card_bundle.h"
#include "sim/bench/scratch_folder.h"
#include "sim/bench/suite.h"
#include "sim/compare/cell.h"
#include "sim/compare/parallel.h"
#include "sim/record/data_table.h"
#include "sim/record/folder_lock.h"
#include "sim/run/input_files.h"
#include "sim/run/run_outputs.h"

namespace drasim {
namespace {

absl::StatusOr<std::string> OneArgument(const ParsedFlags& flags, absl::string_view what) {
  if (flags.positional().size() == 1) return flags.positional()[0];
  return absl::InvalidArgumentError(
      absl::StrCat("expected ", what, ", found ", flags.positional().size(), " arguments"));
}

absl::StatusOr<bench::BenchRunOptions> CardRunOf(const ParsedFlags& flags) {
  bench::BenchRunOptions run;
  if (const std::optional<std::string> tier = flags.Get("tier"); tier.has_value()) {
    ASSIGN_OR_RETURN(run.last, bench::ParseTier(*tier, "--tier"));
  }
  ASSIGN_OR_RETURN(run.filter, bench::Filter::Make(flags.GetOr("filter", "")));
  ASSIGN_OR_RETURN(run.jobs, ParseJobs(flags.GetOr("jobs", "")));
  ASSIGN_OR_RETURN(run.program, FileSha256("/proc/self/exe"));
  run.quiet = flags.Has("quiet");
  return run;
}

bench::CardOptions CardOptionsOf(const ParsedFlags& flags) {
  bench::CardOptions options;
  options.reference = flags.GetOr("reference", "");
  const std::string front = flags.GetOr("front", "");
  if (!front.empty()) options.front = absl::StrSplit(front, ',');
  return options;
}

void PrintCard(const bench::Card& card, OutputFormat format) {
  const std::string text = format == OutputFormat::kJson  ? bench::CardJson(card)
                           : format == OutputFormat::kCsv ? bench::CardCsv(card)
                                                          : bench::CardText(card);
  std::fputs(text.c_str(), stdout);
}

// The card of results that are there.
absl::Status CardOfResults(const std::string& path, const ParsedFlags& flags) {
  ASSIGN_OR_RETURN(const bench::BenchResults results, bench::ReadBenchResults(path));
  ASSIGN_OR_RETURN(const bench::Card card,
                   bench::MakeCard(results.table, bench::SampleBounds(), CardOptionsOf(flags)));
  PrintCard(card, FormatOf(flags));
  return results.missing.empty() ? absl::OkStatus() : QuietFailure(kExitMissing);
}

}  // namespace

absl::Status BenchCardCommand(const ParsedFlags& flags) {
  ASSIGN_OR_RETURN(const std::string path, OneArgument(flags, "a suite or a folder of results"));
  const std::string dir = flags.GetOr("out", "");
  if (dir.empty()) return CardOfResults(path, flags);
  ASSIGN_OR_RETURN(const bench::Suite suite, bench::ReadSuite(path));
  ASSIGN_OR_RETURN(const bench::BenchRunOptions run, CardRunOf(flags));
  ASSIGN_OR_RETURN(const std::unique_ptr<FolderLock> lock,
                   PrepareOutputDir(dir, flags.Has("force"), [](const std::string& name) {
                     return bench::IsBundleFile(name);
                   }));
  ASSIGN_OR_RETURN(const bench::BundleResult result,
                   bench::MakeBundle(suite, run, CardOptionsOf(flags), dir));
  PrintCellProblems("missing", result.run.missing, flags);
  if (FormatOf(flags) == OutputFormat::kText) {
    const std::string why = absl::StrJoin(result.division.reasons, "; ");
    std::printf("division %s\n", result.division.closed ? "closed" : ("open: " + why).c_str());
  }
  PrintCard(result.card, FormatOf(flags));
  return result.run.missing.empty() ? absl::OkStatus() : QuietFailure(kExitMissing);
}

absl::Status BenchVerifyCommand(const ParsedFlags& flags) {
  ASSIGN_OR_RETURN(const std::string bundle, OneArgument(flags, "a folder of bench card"));
  ASSIGN_OR_RETURN(const bench::BenchRunOptions run, CardRunOf(flags));
  ASSIGN_OR_RETURN(const std::unique_ptr<bench::ScratchFolder> scratch,
                   bench::ScratchFolder::Make());
  const absl::StatusOr<std::vector<std::string>> differences =
      bench::VerifyBundle(bundle, scratch->path(), run);
  if (absl::IsNotFound(differences.status())) {
    PrintProblem("missing", differences.status().message(), FormatOf(flags));
    return QuietFailure(kExitMissing);
  }
  RETURN_IF_ERROR(differences.status());
  const OutputFormat format = FormatOf(flags);
  if (format != OutputFormat::kText) {
    DataTable rows({"difference"});
    for (const std::string& difference : *differences) rows.AddRow().Text(difference);
    std::fputs(RowsIn("bench-verify", "differences", rows, format).c_str(), stdout);
  } else {
    for (const std::string& difference : *differences) std::printf("%s\n", difference.c_str());
    std::printf("%s: %s\n", bundle.c_str(),
                differences->empty() ? "reproduced, byte for byte" : "not reproduced");
  }
  return differences->empty() ? absl::OkStatus() : QuietFailure();
}

}  // namespace drasim
