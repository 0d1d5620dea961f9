#include "sim/record/ledger_checkpoint.h"

#include <utility>

#include "absl/strings/string_view.h"
#include "sim/record/ledger_frame.h"

namespace drasim {

std::string PackCheckpoint(uint64_t records, const SavedState& state, uint64_t base_offset) {
  std::string bytes = EncodeState(state);
  proto::LedgerCheckpoint checkpoint;
  checkpoint.set_records(records);
  checkpoint.set_state_bytes(bytes.size());
  if (!state.tables.empty()) checkpoint.set_base_offset(base_offset);
  std::string packed = Pack(bytes);
  const bool packs =
      packed.size() < bytes.size() && bytes.size() / kMostStatePerPacked <= packed.size();
  checkpoint.set_state(packs ? std::move(packed) : std::move(bytes));
  return checkpoint.SerializeAsString();
}

absl::Status UnpackCheckpoint(const proto::LedgerCheckpoint& checkpoint, SavedState* state) {
  const std::string& packed = checkpoint.state();
  const uint64_t bytes = checkpoint.state_bytes();
  if (bytes == packed.size()) {
    if (DecodeState(packed, state)) return absl::OkStatus();
    return absl::DataLossError("a checkpoint is unreadable");
  }
  if (!CanUnpackTo(packed, bytes) || bytes / kMostStatePerPacked > packed.size()) {
    return absl::DataLossError("a checkpoint claims an impossible size");
  }
  std::string unpacked;
  if (!Unpack(packed, bytes, &unpacked)) {
    return absl::DataLossError("a checkpoint does not unpack");
  }
  if (DecodeState(unpacked, state)) return absl::OkStatus();
  return absl::DataLossError("a checkpoint is unreadable");
}

}  // namespace drasim
