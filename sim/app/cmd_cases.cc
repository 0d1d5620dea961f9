// drasim cases kube.

#include <cstddef>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/status_macros.h"
#include "sim/app/commands.h"
#include "sim/app/exit_codes.h"
#include "sim/extender/extender_channel.h"
#include "sim/extender/extender_log.h"
#include "sim/extender/http_channel.h"
#include "sim/kube/case_compare.h"
#include "sim/kube/case_file.h"
#include "sim/kube/kube_case.h"
#include "traces/byte_source.h"

namespace drasim {
namespace {

constexpr size_t kLargestRecording = size_t{1} << 30;

// How the extenders of the cases are asked.
absl::StatusOr<std::unique_ptr<ExtenderChannel>> ChannelOf(const ParsedFlags& flags) {
  const std::optional<std::string> record = flags.Get("extender-record");
  const std::optional<std::string> replay = flags.Get("extender-replay");
  const std::optional<std::string> check = flags.Get("extender-check");
  if (record.has_value() + replay.has_value() + check.has_value() > 1) {
    return absl::InvalidArgumentError(
        "only one of --extender-record, --extender-replay and --extender-check can be given");
  }
  std::unique_ptr<ExtenderChannel> live;
  if (!replay.has_value()) live = std::make_unique<HttpChannel>();
  if (record.has_value()) return RecordingChannel::Open(*record, std::move(live));
  if (!replay.has_value() && !check.has_value()) return live;
  ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source,
                   OpenByteSource(replay.has_value() ? *replay : *check));
  ASSIGN_OR_RETURN(const std::string text, ReadAll(*source, kLargestRecording));
  ASSIGN_OR_RETURN(std::vector<ExtenderCall> calls, ReadExtenderLog(text, source->name()));
  return std::make_unique<ReplayChannel>(std::move(calls), std::move(live));
}

}  // namespace

absl::Status CasesKubeCommand(const ParsedFlags& flags) {
  if (flags.positional().size() != 1) {
    return absl::InvalidArgumentError("cases kube needs one file of cases");
  }
  const bool compare = flags.Has("compare");
  ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenByteSource(flags.positional()[0]));
  ASSIGN_OR_RETURN(std::unique_ptr<ExtenderChannel> channel, ChannelOf(flags));
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
