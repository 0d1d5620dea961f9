#include "gui/session/record_times.h"

#include <algorithm>
#include <utility>

#include "model/check.h"

namespace drasim::gui {

RecordTimes::RecordTimes(const LedgerIndex& index, std::unique_ptr<BlockFile> file)
    : blocks_(index.blocks), records_(index.records), end_(index.end), file_(std::move(file)) {}

SimTime RecordTimes::EndOf(size_t block) const {
  return block + 1 < blocks_.size() ? blocks_[block + 1].time : end_;
}

uint64_t RecordTimes::RecordsOf(size_t block) const {
  const uint64_t end = block + 1 < blocks_.size() ? blocks_[block + 1].records : records_;
  return end - std::min(end, blocks_[block].records);
}

const std::vector<SimTime>& RecordTimes::TimesIn(size_t block) const {
  ++asked_;
  for (Cached& cached : cache_) {
    if (cached.block != block) continue;
    cached.used = asked_;
    return cached.times;
  }
  if (cache_.size() < kCachedBlocks) {
    cache_.emplace_back();
  } else {
    std::swap(cache_.back(),
              *std::min_element(cache_.begin(), cache_.end(),
                                [](const Cached& a, const Cached& b) { return a.used < b.used; }));
  }
  Cached& cached = cache_.back();
  cached.block = block;
  cached.used = asked_;
  if (!file_->ReadTimes(blocks_[block], &cached.times).ok() ||
      cached.times.size() != RecordsOf(block)) {
    cached.times.clear();
  }
  return cached.times;
}

SimTime RecordTimes::TimeOf(uint64_t record) const {
  DRASIM_CHECK_LE(record, records_);
  if (file_ == nullptr) return SimTime(static_cast<int64_t>(record));
  if (record == 0 || blocks_.empty()) return SimTime();
  const auto behind =
      std::lower_bound(blocks_.begin(), blocks_.end(), record,
                       [](const LedgerPlace& b, uint64_t wanted) { return b.records < wanted; });
  const auto block = std::max<size_t>(1, static_cast<size_t>(behind - blocks_.begin())) - 1;
  const std::vector<SimTime>& times = TimesIn(block);
  const uint64_t place = record - std::min(record, blocks_[block].records + 1);
  return place < times.size() ? times[place] : EndOf(block);
}

uint64_t RecordTimes::LastRecordAt(SimTime time) const {
  if (file_ == nullptr) {
    return std::min(records_, static_cast<uint64_t>(std::max<int64_t>(time.ns(), 0)));
  }
  if (blocks_.empty() || end_ <= time) return records_;
  // The first block that ends later than that.
  const auto next = std::upper_bound(
      blocks_.begin() + 1, blocks_.end(), time,
      [](SimTime wanted, const LedgerPlace& block) { return wanted < block.time; });
  const auto block = static_cast<size_t>(next - blocks_.begin()) - 1;
  const std::vector<SimTime>& times = TimesIn(block);
  const auto later = std::upper_bound(times.begin(), times.end(), time);
  return blocks_[block].records + static_cast<uint64_t>(later - times.begin());
}

}  // namespace drasim::gui
