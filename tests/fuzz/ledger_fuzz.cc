// libFuzzer target: any bytes as a ledger. Reading ends with records or an error, and the state it
// rebuilt is sound.
//
// A first byte of 1 means that the rest is a list of frames without checksums (u8 type, u16 length,
// payload), which get right ones here: otherwise no mutation would ever get past the checksum.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "model/check.h"
#include "sim/record/ledger_frame.h"
#include "sim/record/ledger_index.h"
#include "sim/record/ledger_reader.h"
#include "sim/record/ledger_seek.h"

namespace drasim {
namespace {

std::string Reframe(absl::string_view bytes) {
  std::string ledger(kLedgerMagic);
  while (bytes.size() >= 3) {
    const auto type = static_cast<FrameType>(static_cast<unsigned char>(bytes[0]));
    const size_t length = std::min<size_t>(ReadLittleEndian(bytes.substr(1, 2)), bytes.size() - 3);
    ledger += MakeFrame(type, bytes.substr(3, length));
    bytes.remove_prefix(3 + length);
  }
  return ledger;
}

void ReadAll(absl::string_view bytes) {
  auto ledger = LedgerReader::FromMemory(bytes);
  if (!ledger.ok()) return;
  Record record;
  while (true) {
    absl::StatusOr<bool> more = (*ledger)->Next(&record);
    if (!more.ok() || !*more) break;
  }
  DRASIM_CHECK((*ledger)->cluster().CheckInvariants().ok());
  auto checkpoints = (*ledger)->ListCheckpoints();
  if (!checkpoints.ok()) return;
  for (const LedgerReader::Checkpoint& c : *checkpoints) (void)(*ledger)->ReadCheckpoint(c);
}

void SeekEverywhere(absl::string_view bytes) {
  auto seek = LedgerSeek::FromMemory(bytes);
  if (!seek.ok()) return;
  const LedgerIndex index = (*seek)->index();
  (void)(*seek)->ToRecord(~uint64_t{0});
  for (const LedgerPlace& keyframe : index.keyframes) {
    if (!(*seek)->ToRecord(keyframe.records).ok()) continue;
    DRASIM_CHECK((*seek)->cluster().CheckInvariants().ok());
  }
  (void)(*seek)->ToTime(SimTime());
  (void)(*seek)->ReadSeries();
  for (size_t i = 0; i < index.pods.size(); ++i) (void)(*seek)->ReadPods(i);
  for (size_t i = 0; i < index.claims.size(); ++i) (void)(*seek)->ReadClaimChanges(i);
}

}  // namespace
}  // namespace drasim

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (size > 0 && data[0] == 1) {
    const std::string ledger = drasim::Reframe(bytes.substr(1));
    drasim::ReadAll(ledger);
    drasim::SeekEverywhere(ledger);
  } else {
    drasim::ReadAll(bytes);
    drasim::SeekEverywhere(bytes);
  }
  return 0;
}
