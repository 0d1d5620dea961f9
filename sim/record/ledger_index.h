// The places of a ledger's frames, for random access.
#ifndef DRASIM_SIM_RECORD_LEDGER_INDEX_H_
#define DRASIM_SIM_RECORD_LEDGER_INDEX_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "model/time.h"
#include "sim/record/ledger_frame.h"

namespace drasim {

// One frame, and the moment at which it stands: after `records` records, of which the last is at
// `time` (0 without any). Checkpoints have no time.
struct LedgerPlace {
  uint64_t records = 0;
  SimTime time;
  uint64_t offset = 0;  // of the frame in the file
  bool operator==(const LedgerPlace&) const = default;
};

// All frames but the header and the end, by type in file order.
struct LedgerIndex {
  std::vector<LedgerPlace> checkpoints;
  std::vector<LedgerPlace> blocks;
  std::vector<LedgerPlace> definitions;
  std::vector<LedgerPlace> keyframes;
  std::vector<LedgerPlace> series;
  std::vector<LedgerPlace> pods;
  std::vector<LedgerPlace> claims;
  std::vector<LedgerPlace> live_claims;
  std::vector<LedgerPlace> extender_calls;
  uint64_t records = 0;   // of the whole ledger
  SimTime end;            // time of the last one
  bool complete = false;  // the ledger has an end frame

  // The list of the type; null for headers, ends and unknown types.
  std::vector<LedgerPlace>* ListOf(FrameType type);
  // Drops the frames from `offset` on.
  void CutAt(uint64_t offset);
};

// The payload of the end frame.
std::string PackEnd(const LedgerIndex& index, uint64_t fingerprint);
// False if the payload is unreadable, or if its places cannot be those of a file of `file_bytes`.
bool UnpackEnd(const std::string& payload, uint64_t file_bytes, LedgerIndex* index);

// The moment of a frame from the first bytes of its payload, of which 24 suffice. Checkpoints have
// only `records`. `offset` stays unchanged.
void ReadMoment(absl::string_view payload, LedgerPlace* place);

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_LEDGER_INDEX_H_
