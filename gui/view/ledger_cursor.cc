#include "gui/view/ledger_cursor.h"

#include "model/status_macros.h"

namespace drasim::view {

absl::StatusOr<SimTime> ReadUpTo(LedgerReader* reader, const LedgerCursor& cursor,
                                 absl::FunctionRef<void(const Record&)> visit) {
  SimTime last;
  while (reader->records() < cursor.records) {
    Record record;
    ASSIGN_OR_RETURN(const bool more, reader->Next(&record));
    if (!more) break;
    last = record.time;
    visit(record);
  }
  return cursor.now.value_or(last);
}

}  // namespace drasim::view
