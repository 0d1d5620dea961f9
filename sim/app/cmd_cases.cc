// drasim cases kube.

#include <cstdio>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/status_macros.h"
#include "sim/app/commands.h"
#include "sim/app/exit_codes.h"
#include "sim/app/extender_flags.h"
#include "sim/extender/extender_channel.h"
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
  ASSIGN_OR_RETURN(std::unique_ptr<ExtenderChannel> channel, ExtenderChannelOf(flags, ""));
  CaseComparison comparison;
  const auto handle = [&](const KubeCaseLine& line) -> absl::Status {
    const absl::StatusOr<proto::kube::KubeAnswer> answered =
        AnswerKubeCase(line.given, channel.get());
    // Every case has its line, even one that cannot be answered.
    const proto::kube::KubeAnswer answer =
        answered.ok() ? *answered : proto::kube::KubeAnswer::default_instance();
    if (!compare) {
      std::fputs(KubeAnswerLine(line.given.id(), answer).c_str(), stdout);
      return answered.status();
    }
    if (!line.stored.has_value()) {
      return absl::InvalidArgumentError("no key `answer` to compare with");
    }
    comparison.Add(line.given.id(), line.given.family(), answer, *line.stored);
    return absl::OkStatus();
  };
  const absl::Status read = ForEachKubeCase(*source, compare, handle);
  RETURN_IF_ERROR(channel->Finish());
  if (!compare) return read;
  std::fputs(comparison.Text().c_str(), stdout);
  RETURN_IF_ERROR(read);
  return comparison.unequal_cases() == 0 ? absl::OkStatus() : QuietFailure();
}

}  // namespace drasim
