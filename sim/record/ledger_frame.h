// Framing of the ledger file, whose format model/proto/ledger.proto describes.
#ifndef DRASIM_SIM_RECORD_LEDGER_FRAME_H_
#define DRASIM_SIM_RECORD_LEDGER_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "model/device_grant.h"
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

// Whether the record has an entry in the column `preemptor`.
constexpr bool HasPreemptor(const Record& record) {
  return record.kind == RecordKind::kPodEvicted &&
         record.detail == static_cast<uint32_t>(EvictionCause::kPreempted);
}

inline constexpr uint32_t kLedgerVersion = 4;
inline constexpr absl::string_view kLedgerMagic = "DRASIMLG";
inline constexpr absl::string_view kLedgerTrailer = "DRASIMED";
inline constexpr size_t kFrameHeaderBytes = 9;

enum class FrameType : uint8_t {
  kHeader = 1,
  kBlock = 2,
  kCheckpoint = 3,
  kEnd = 4,
  kDefinitions = 5,
  kKeyframe = 6,
  kSeries = 7,
  kPods = 8,
  kClaims = 9,
  kLiveClaims = 10,
  kExtenderCalls = 11,
};
inline constexpr int kLastFrameType = 11;
// Frames that a reader of records passes over.
constexpr bool IsBesideRecords(FrameType type) {
  return type == FrameType::kCheckpoint || type == FrameType::kDefinitions ||
         type == FrameType::kKeyframe || type == FrameType::kSeries || type == FrameType::kPods ||
         type == FrameType::kClaims || type == FrameType::kLiveClaims ||
         type == FrameType::kExtenderCalls;
}

// Limits that keep hostile chains of checkpoints cheap: the links that readers follow, and the size
// of a packed state as a multiple of its packed bytes.
inline constexpr size_t kMostCheckpointsPerChain = 1024;
inline constexpr uint64_t kMostStatePerPacked = 32;

// Length, CRC and type of a frame, kFrameHeaderBytes in all.
std::string FrameHead(FrameType type, absl::string_view payload);
// The same, then the payload.
std::string MakeFrame(FrameType type, absl::string_view payload);
// CRC-32 over the type byte and the payload.
uint32_t FrameCrc(FrameType type, absl::string_view payload);

void AppendLittleEndian(uint64_t value, int bytes, std::string* out);
uint64_t ReadLittleEndian(absl::string_view bytes);

// A DeviceGrant as a word of the column `grant`.
constexpr uint32_t GrantWord(const DeviceGrant& grant) {
  return uint32_t{grant.device} << 24 | uint32_t{grant.placement} << 16 |
         static_cast<uint16_t>(grant.milli);
}
constexpr DeviceGrant GrantOfWord(uint32_t word) {
  return {static_cast<uint8_t>(word >> 24), static_cast<uint8_t>(word >> 16),
          static_cast<int16_t>(static_cast<uint16_t>(word))};
}

// The bytes, packed by Zstandard at a fast level.
std::string Pack(absl::string_view bytes);
// False if `packed` cannot unpack to that number of bytes, so that a lie costs no memory.
bool CanUnpackTo(absl::string_view packed, uint64_t bytes);
// Unpacks what Pack packed; false if that is not `bytes` long. REQUIRES: CanUnpackTo.
bool Unpack(absl::string_view packed, uint64_t bytes, std::string* out);

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_LEDGER_FRAME_H_
