// Makes ledgers of frames without checksums: no mutation would get past a checksum.
#ifndef DRASIM_TESTS_FUZZ_REFRAME_H_
#define DRASIM_TESTS_FUZZ_REFRAME_H_

#include <algorithm>
#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "sim/record/ledger_frame.h"

namespace drasim {

// `bytes` is a list of frames (u8 type, u16 length, payload), which get right checksums.
inline std::string Reframe(absl::string_view bytes) {
  std::string ledger(kLedgerMagic);
  while (bytes.size() >= 3) {
    const auto type = static_cast<FrameType>(static_cast<unsigned char>(bytes[0]));
    const size_t length = std::min<size_t>(ReadLittleEndian(bytes.substr(1, 2)), bytes.size() - 3);
    ledger += MakeFrame(type, bytes.substr(3, length));
    bytes.remove_prefix(3 + length);
  }
  return ledger;
}

}  // namespace drasim

#endif  // DRASIM_TESTS_FUZZ_REFRAME_H_
