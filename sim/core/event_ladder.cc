#include "sim/core/event_ladder.h"

#include <algorithm>
#include <limits>

#include "model/check.h"

namespace drasim {

namespace {

constexpr int64_t kMaxTimeNs = std::numeric_limits<int64_t>::max();

// The distance to a later time. May be up to 2^64 - 1, hence unsigned.
constexpr uint64_t Distance(int64_t from_ns, int64_t to_ns) {
  return static_cast<uint64_t>(to_ns) - static_cast<uint64_t>(from_ns);
}

// The inverse of Distance: exact as long as the result is a time.
constexpr int64_t Later(int64_t time_ns, uint64_t distance_ns) {
  return static_cast<int64_t>(static_cast<uint64_t>(time_ns) + distance_ns);
}

}  // namespace

EventLadder::Range EventLadder::RangeOf(const std::vector<EventKey>& keys) {
  Range range;
  for (const EventKey& key : keys) {
    range.first_ns = std::min(range.first_ns, key.time_ns);
    range.last_ns = std::max(range.last_ns, key.time_ns);
  }
  return range;
}

EventLadder::Bucket& EventLadder::BucketOf(Rung& rung, int64_t time_ns) {
  const uint64_t index = Distance(rung.start_ns, time_ns) >> rung.width_log2;
  return rung.buckets[std::min<uint64_t>(index, rung.buckets.size() - 1)];
}

void EventLadder::Append(Bucket& bucket, const EventKey& key) {
  const size_t offset = bucket.count % kChunkKeys;
  if (offset == 0) {
    uint32_t chunk = free_chunk_;
    if (chunk != kNoChunk) {
      free_chunk_ = next_chunk_[chunk];
    } else {
      chunk = static_cast<uint32_t>(chunks_.size());
      chunks_.emplace_back();
      next_chunk_.emplace_back();
    }
    next_chunk_[chunk] = bucket.head;
    bucket.head = chunk;
  }
  chunks_[bucket.head].keys[offset] = key;
  ++bucket.count;
}

// Moves the bucket's keys behind *keys and frees its chunks.
void EventLadder::Drain(Bucket& bucket, std::vector<EventKey>* keys) {
  uint32_t chunk = bucket.head;
  for (size_t left = bucket.count; left != 0;) {
    const size_t in_chunk = KeysInHead(left);
    const EventKey* const first = chunks_[chunk].keys.data();
    keys->insert(keys->end(), first, first + in_chunk);
    left -= in_chunk;
    const uint32_t next = next_chunk_[chunk];
    next_chunk_[chunk] = free_chunk_;
    free_chunk_ = chunk;
    chunk = next;
  }
  bucket = Bucket{};
}

void EventLadder::Push(const EventKey& key) {
  ++size_;
  if (key.time_ns > top_last_before_ns_) {
    top_.push_back(key);
    return;
  }
  size_t i = 0;
  while (i < rung_count_ && key.time_ns < rungs_[i].open_ns) ++i;
  DRASIM_CHECK_LT(i, rung_count_);
  Append(BucketOf(rungs_[i], key.time_ns), key);
}

// Cuts a new innermost rung for these keys, which fill `range`. It also takes later keys up to
// last_ns.
void EventLadder::Spread(const std::vector<EventKey>& keys, const Range& range, int64_t last_ns) {
  DRASIM_CHECK_LT(rung_count_, kMaxRungs);
  Rung& rung = rungs_[rung_count_++];
  const uint64_t span_ns = Distance(range.first_ns, range.last_ns);
  const uint64_t most = std::clamp<uint64_t>(keys.size() / kBucketKeys, 2, kMaxBuckets);
  // At most 63, since `most` is at least 2. From here on the index of a bucket times the width is
  // at most the distance to the last key, or to last_ns: neither overflows.
  rung.width_log2 = 0;
  while ((span_ns >> rung.width_log2) >= most) ++rung.width_log2;
  uint64_t count = (span_ns >> rung.width_log2) + 1;
  if ((Distance(range.first_ns, last_ns) >> rung.width_log2) >= count) ++count;
  rung.start_ns = range.first_ns;
  rung.open_ns = range.first_ns;
  rung.last_ns = last_ns;
  rung.next = 0;
  rung.buckets.assign(count, Bucket{});
  for (const EventKey& key : keys) Append(BucketOf(rung, key.time_ns), key);
}

void EventLadder::SpreadTop() {
  DRASIM_CHECK(!top_.empty());
  const Range range = RangeOf(top_);
  Spread(top_, range, range.last_ns);
  top_.clear();
  top_last_before_ns_ = range.last_ns;
}

// Moves all keys to the top and drops all rungs.
void EventLadder::Collapse() {
  for (size_t i = 0; i < rung_count_; ++i) {
    for (Bucket& bucket : rungs_[i].buckets) Drain(bucket, &top_);
  }
  rung_count_ = 0;
  top_last_before_ns_ = near_last_ns_;
}

// Moves the keys of the innermost rung's next bucket behind *keys and returns the bucket's stretch
// of time. The last bucket ends the rung.
EventLadder::Range EventLadder::TakeBucket(std::vector<EventKey>* keys) {
  Rung& rung = rungs_[rung_count_ - 1];
  const size_t i = rung.next;
  Range range;
  range.first_ns = Later(rung.start_ns, uint64_t{i} << rung.width_log2);
  if (i + 1 == rung.buckets.size()) {
    range.last_ns = rung.last_ns;
    --rung_count_;
  } else {
    rung.next = i + 1;
    rung.open_ns = Later(rung.start_ns, uint64_t{i + 1} << rung.width_log2);
    range.last_ns = rung.open_ns - 1;
  }
  Drain(rung.buckets[i], keys);
  return range;
}

// True when the next bucket can join a group of this size.
bool EventLadder::NextFits(size_t group_size) const {
  if (rung_count_ == 0) return false;
  const Rung& rung = rungs_[rung_count_ - 1];
  return group_size + rung.buckets[rung.next].count <= kSplitKeys;
}

void EventLadder::TakeNext(std::vector<EventKey>* keys) {
  DRASIM_CHECK(!empty());
  keys->clear();
  if (size_ <= kFewKeys) {
    Collapse();
    keys->assign(top_.begin(), top_.end());
    top_.clear();
    size_ = 0;
    near_last_ns_ = kMaxTimeNs;
    top_last_before_ns_ = kMaxTimeNs;
    return;
  }
  for (;;) {
    if (rung_count_ == 0) SpreadTop();
    const Range range = TakeBucket(keys);
    near_last_ns_ = range.last_ns;
    // Only keys of one bucket are ever split: then each split separates some of them for good.
    if (keys->empty() || (keys->size() < kGroupKeys && NextFits(keys->size()))) continue;
    const bool one_instant = range.first_ns == range.last_ns;
    if (keys->size() <= kSplitKeys || one_instant || rung_count_ == kMaxRungs) break;
    Spread(*keys, RangeOf(*keys), range.last_ns);
    keys->clear();
  }
  size_ -= keys->size();
  PrefetchNextBucket();
}

void EventLadder::Regroup(std::vector<EventKey>* keys) {
  if (empty() || rung_count_ == kMaxRungs) {
    Collapse();
    top_.insert(top_.end(), keys->begin(), keys->end());
  } else {
    Spread(*keys, RangeOf(*keys), near_last_ns_);
  }
  size_ += keys->size();
  TakeNext(keys);
}

// While the heap works through this bucket, the next one is brought closer in the memory hierarchy.
// More than a few chunks would evict data needed earlier.
void EventLadder::PrefetchNextBucket() const {
  constexpr size_t kPrefetchKeys = 8 * kChunkKeys;
  if (rung_count_ == 0) return;
  const Rung& rung = rungs_[rung_count_ - 1];
  const Bucket& bucket = rung.buckets[rung.next];
  uint32_t chunk = bucket.head;
  for (size_t k = 0; k < bucket.count && k < kPrefetchKeys; k += kChunkKeys) {
    const EventKey* const keys = chunks_[chunk].keys.data();
    __builtin_prefetch(keys);
    __builtin_prefetch(keys + kChunkKeys / 2);
    chunk = next_chunk_[chunk];
  }
}

}  // namespace drasim
