#include "sim/app/extender_flags.h"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "model/status_macros.h"
#include "sim/extender/extender_log.h"
#include "sim/extender/http_channel.h"
#include "sim/record/ledger_frame.h"
#include "sim/record/ledger_reader.h"
#include "sim/run/run_extenders.h"
#include "traces/byte_source.h"

namespace drasim {
namespace {

constexpr size_t kLargestRecording = size_t{1} << 30;

absl::StatusOr<std::string> RecordingOfLedger(const std::string& path) {
  ASSIGN_OR_RETURN(const std::unique_ptr<LedgerReader> ledger, LedgerReader::Open(path));
  return ExtenderRecordingOf(*ledger);
}

absl::StatusOr<std::string> ReadRecording(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return RecordingOfLedger(path);
  ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenByteSource(path));
  ASSIGN_OR_RETURN(std::string text, ReadAll(*source, kLargestRecording));
  if (absl::StartsWith(text, kLedgerMagic)) return RecordingOfLedger(path);
  return text;
}

}  // namespace

bool HasExtenderFlags(const ParsedFlags& flags) {
  return flags.Has("extender-record") || flags.Has("extender-replay") ||
         flags.Has("extender-check");
}

absl::StatusOr<std::unique_ptr<ExtenderChannel>> ExtenderChannelOf(const ParsedFlags& flags,
                                                                   absl::string_view earlier) {
  const std::optional<std::string> record = flags.Get("extender-record");
  const std::optional<std::string> replay = flags.Get("extender-replay");
  const std::optional<std::string> check = flags.Get("extender-check");
  if (record.has_value() + replay.has_value() + check.has_value() > 1) {
    return absl::InvalidArgumentError(
        "only one of --extender-record, --extender-replay and --extender-check can be given");
  }
  std::unique_ptr<ExtenderChannel> live;
  if (!replay.has_value()) live = std::make_unique<HttpChannel>();
  if (record.has_value()) return RecordingChannel::Open(*record, std::move(live), earlier);
  if (!replay.has_value() && !check.has_value()) return live;
  const std::string& path = replay.has_value() ? *replay : *check;
  ASSIGN_OR_RETURN(const std::string text, ReadRecording(path));
  ASSIGN_OR_RETURN(std::vector<ExtenderCall> calls, ReadExtenderLog(text, path));
  return std::make_unique<ReplayChannel>(std::move(calls), std::move(live));
}

}  // namespace drasim
