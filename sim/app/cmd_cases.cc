// drasim cases kube.

#include <cstdio>
#include <memory>

#include "model/status_macros.h"
#include "sim/app/commands.h"
#include "sim/app/exit_codes.h"
#include "sim/kube/case_compare.h"
#include "sim/kube/case_file.h"
#include "sim/kube/kube_case.h"
#include "traces/byte_source.h"

namespace drasim {

absl::Status CasesKubeCommand(const ParsedFlags& flags) {
  if (flags.positional().size() != 1) {
    return absl::InvalidArgumentError("cases kube needs one file of cases");
  }
  const bool compare = flags.Has("compare");
  ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenByteSource(flags.positional()[0]));
  CaseComparison comparison;
  RETURN_IF_ERROR(ForEachKubeCase(*source, compare, [&](const KubeCaseLine& line) -> absl::Status {
    ASSIGN_OR_RETURN(const proto::kube::KubeAnswer answer, AnswerKubeCase(line.given));
    if (!compare) {
      std::fputs(KubeAnswerLine(line.given.id(), answer).c_str(), stdout);
      return absl::OkStatus();
    }
    if (!line.stored.has_value()) {
      return absl::InvalidArgumentError("no key `answer` to compare with");
    }
    comparison.Add(line.given.id(), line.given.family(), answer, *line.stored);
    return absl::OkStatus();
  }));
  if (!compare) return absl::OkStatus();
  std::fputs(comparison.Text().c_str(), stdout);
  return comparison.unequal_cases() == 0 ? absl::OkStatus() : QuietFailure();
}

}  // namespace drasim
