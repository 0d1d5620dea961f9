// A moment of a run as a position in its ledger, and reading up to there.
//
//   ASSIGN_OR_RETURN(const SimTime now,
//                    ReadUpTo(reader.get(), cursor, [&](const Record& record) { ... }));
#ifndef DRASIM_GUI_VIEW_LEDGER_CURSOR_H_
#define DRASIM_GUI_VIEW_LEDGER_CURSOR_H_

#include <cstdint>
#include <limits>
#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "model/record.h"
#include "model/time.h"
#include "sim/record/ledger_reader.h"

namespace drasim::view {

// The state after the first `records` records; by default after all.
struct LedgerCursor {
  uint64_t records = std::numeric_limits<uint64_t>::max();
  std::optional<SimTime> now;  // the moment to show; default: that of the last record
};

// Reads from where `reader` stands up to the cursor, or to the end of the ledger if that comes
// first, and shows each record after it was applied. Returns the moment to show. Errors are the
// reader's.
absl::StatusOr<SimTime> ReadUpTo(LedgerReader* reader, const LedgerCursor& cursor,
                                 absl::FunctionRef<void(const Record&)> visit);

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_LEDGER_CURSOR_H_
