// Calls to scheduler extenders in the ledger: the lines of a recording
// (sim/extender/extender_log.h), in pieces, so that the run can be repeated without the extenders.
#ifndef DRASIM_SIM_RECORD_LEDGER_EXTENDER_CALLS_H_
#define DRASIM_SIM_RECORD_LEDGER_EXTENDER_CALLS_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/time.h"
#include "sim/record/ledger_index.h"
#include "sim/record/ledger_reader.h"

namespace drasim {

// A writer ends its block, and writes the lines to the file, when they reach this size.
inline constexpr size_t kExtenderBytesPerBlock = size_t{1} << 20;

// The payload of a frame that stands after `records` records, the last of them at `time`.
std::string PackExtenderCalls(uint64_t records, SimTime time, absl::string_view lines);
// Adds the lines of a frame. False if the payload is unreadable.
bool UnpackExtenderCalls(const std::string& payload, std::string* lines);

// The lines of all frames of the index; empty for a run without extenders. DataLoss for damage, or
// more than a gigabyte.
absl::StatusOr<std::string> ReadExtenderCalls(LedgerReader& reader, const LedgerIndex& index);

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_LEDGER_EXTENDER_CALLS_H_
