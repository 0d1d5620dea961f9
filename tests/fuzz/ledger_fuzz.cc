// libFuzzer target: any bytes as a ledger. Reading ends with records or an error, and the state it rebuilt is sound.

#include <cstddef>
#include <cstdint>

#include "model/check.h"
#include "sim/record/ledger_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using drasim::LedgerReader;
  auto ledger = LedgerReader::FromMemory(absl::string_view(reinterpret_cast<const char*>(data), size));
  if (!ledger.ok()) return 0;
  drasim::Record record;
  while (true) {
    absl::StatusOr<bool> more = (*ledger)->Next(&record);
    if (!more.ok() || !*more) break;
  }
  DRASIM_CHECK((*ledger)->cluster().CheckInvariants().ok());
  auto checkpoints = (*ledger)->ListCheckpoints();
  if (!checkpoints.ok()) return 0;
  for (const LedgerReader::Checkpoint& c : *checkpoints) (void)(*ledger)->ReadCheckpoint(c);
  return 0;
}
