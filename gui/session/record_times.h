// The times of a ledger's records, exact, from its index and single blocks.
#ifndef DRASIM_GUI_SESSION_RECORD_TIMES_H_
#define DRASIM_GUI_SESSION_RECORD_TIMES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gui/session/block_columns.h"
#include "gui/view/timeline.h"
#include "model/time.h"
#include "sim/record/ledger_index.h"

namespace drasim::gui {

// A question costs O(log blocks), and a block of the file (well under a millisecond) unless it is
// one of the last few asked for. In a block that cannot be read all records have the time of its
// end. One thread at a time.
class RecordTimes : public view::RecordClock {
 public:
  // With a null file the clock counts records, a nanosecond each.
  RecordTimes(const LedgerIndex& index, std::unique_ptr<BlockFile> file);

  uint64_t records() const override { return records_; }
  SimTime TimeOf(uint64_t record) const override;
  uint64_t LastRecordAt(SimTime time) const override;

 private:
  struct Cached {
    size_t block = 0;
    uint64_t used = 0;  // when it was asked for last
    std::vector<SimTime> times;
  };
  static constexpr size_t kCachedBlocks = 8;

  // The time of the last record of a block.
  SimTime EndOf(size_t block) const;
  uint64_t RecordsOf(size_t block) const;
  const std::vector<SimTime>& TimesIn(size_t block) const;

  std::vector<LedgerPlace> blocks_;
  uint64_t records_ = 0;
  SimTime end_;
  std::unique_ptr<BlockFile> file_;
  mutable std::vector<Cached> cache_;
  mutable uint64_t asked_ = 0;
};

}  // namespace drasim::gui

#endif  // DRASIM_GUI_SESSION_RECORD_TIMES_H_
