// Framing of the ledger file, whose format model/proto/ledger.proto describes.
#ifndef DRASIM_SIM_RECORD_LEDGER_FRAME_H_
#define DRASIM_SIM_RECORD_LEDGER_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "model/record.h"

namespace drasim {

// Whether records of the kind have entries in the block's sparse columns.
constexpr bool NamesNode(RecordKind kind) {
  return MayGiveDevices(kind) || kind == RecordKind::kPodUnreserved ||
         kind == RecordKind::kPodFinished || kind == RecordKind::kPodEvicted ||
         kind == RecordKind::kPodFailed || kind == RecordKind::kPodDeleted ||
         kind == RecordKind::kNodeChanged || kind == RecordKind::kPodRejected ||
         kind == RecordKind::kDevicesChanged || kind == RecordKind::kPodStarted;
}
constexpr bool HasDetailBesideNode(RecordKind kind) {
  return kind == RecordKind::kPodEvicted || kind == RecordKind::kPodFailed ||
         kind == RecordKind::kNodeChanged || kind == RecordKind::kPodRejected ||
         kind == RecordKind::kDevicesChanged;
}

inline constexpr uint32_t kLedgerVersion = 3;
inline constexpr absl::string_view kLedgerMagic = "DRASIMLG";
inline constexpr absl::string_view kLedgerTrailer = "DRASIMED";
inline constexpr size_t kFrameHeaderBytes = 9;

enum class FrameType : uint8_t { kHeader = 1, kBlock = 2, kCheckpoint = 3, kEnd = 4 };

// Length, CRC and type, then the payload.
std::string MakeFrame(FrameType type, absl::string_view payload);
// CRC-32 over the type byte and the payload.
uint32_t FrameCrc(FrameType type, absl::string_view payload);

void AppendLittleEndian(uint64_t value, int bytes, std::string* out);
uint64_t ReadLittleEndian(absl::string_view bytes);

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_LEDGER_FRAME_H_
