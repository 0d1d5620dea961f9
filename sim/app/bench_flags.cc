#include "sim/app/bench_flags.h"

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "model/status_macros.h"
#include "sim/app/format_flag.h"
#include "sim/bench/suite.h"

namespace drasim {
namespace {

constexpr double kMaxTimeoutSeconds = 1e6;

}  // namespace

absl::StatusOr<bench::Scope> BenchScopeOf(const ParsedFlags& flags) {
  bench::Scope scope;
  if (const std::optional<std::string> tier = flags.Get("tier"); tier.has_value()) {
    ASSIGN_OR_RETURN(scope.last, bench::ParseTier(*tier, "--tier"));
  }
  ASSIGN_OR_RETURN(scope.filter, bench::Filter::Make(flags.GetOr("filter", "")));
  return scope;
}

absl::StatusOr<double> BenchTimeoutOf(const ParsedFlags& flags, double usual) {
  const std::optional<std::string> text = flags.Get("timeout");
  if (!text.has_value()) return usual;
  double seconds = 0;
  if (!absl::SimpleAtod(*text, &seconds) || !(seconds > 0 && seconds <= kMaxTimeoutSeconds)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--timeout: found '", *text, "', expected seconds, up to 1000000"));
  }
  return seconds;
}

void PrintCellProblems(absl::string_view what, const std::vector<bench::CellProblem>& problems,
                       const ParsedFlags& flags) {
  for (const bench::CellProblem& problem : problems) {
    PrintProblem(what, absl::StrCat(problem.id.Name(), ": ", problem.what), FormatOf(flags));
  }
}

}  // namespace drasim
