#include "sim/record/ledger_extender_calls.h"

#include "absl/strings/str_cat.h"
#include "model/proto/ledger.pb.h"
#include "model/status_macros.h"
#include "sim/record/ledger_frame.h"

namespace drasim {
namespace {

constexpr size_t kMostBytes = size_t{1} << 30;

}  // namespace

std::string PackExtenderCalls(uint64_t records, SimTime time, absl::string_view lines) {
  proto::LedgerExtenderCalls frame;
  frame.set_records(records);
  frame.set_time_ns(time.ns());
  frame.set_lines_bytes(lines.size());
  frame.set_lines(Pack(lines));
  return frame.SerializeAsString();
}

bool UnpackExtenderCalls(const std::string& payload, std::string* lines) {
  proto::LedgerExtenderCalls frame;
  if (!frame.ParseFromString(payload)) return false;
  const uint64_t bytes = frame.lines_bytes();
  std::string unpacked;
  if (bytes > kMostBytes || !CanUnpackTo(frame.lines(), bytes) ||
      !Unpack(frame.lines(), bytes, &unpacked)) {
    return false;
  }
  lines->append(unpacked);
  return true;
}

absl::StatusOr<std::string> ReadExtenderCalls(LedgerReader& reader, const LedgerIndex& index) {
  std::string lines;
  for (const LedgerPlace& place : index.extender_calls) {
    ASSIGN_OR_RETURN(const std::string payload,
                     reader.ReadPayload(FrameType::kExtenderCalls, place.offset));
    if (UnpackExtenderCalls(payload, &lines) && lines.size() <= kMostBytes) continue;
    return absl::DataLossError(absl::StrCat(reader.path(), ": damaged at byte ", place.offset,
                                            ": calls to extenders are unreadable"));
  }
  return lines;
}

}  // namespace drasim
