// Frames of resumption checkpoints.
#ifndef DRASIM_SIM_RECORD_LEDGER_CHECKPOINT_H_
#define DRASIM_SIM_RECORD_LEDGER_CHECKPOINT_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "model/proto/ledger.pb.h"
#include "model/saved_state.h"

namespace drasim {

// The payload of a frame: the state after `records` records, which builds on that of the frame at
// `base_offset`; 0: on none, also if it has no tables.
std::string PackCheckpoint(uint64_t records, const SavedState& state, uint64_t base_offset);

// The state of a frame. DataLoss, without a place, if it is damaged.
absl::Status UnpackCheckpoint(const proto::LedgerCheckpoint& checkpoint, SavedState* state);

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_LEDGER_CHECKPOINT_H_
