// The far future of an event queue: keys that need no order yet.
//
// A heap of all pending events compares each of them a logarithm of times, at addresses all over
// memory, though almost all lie far ahead and their order does not matter yet. Here far keys only
// fall into buckets of time, without comparisons, and a bucket reaches the queue's heap when it is
// due. The heap then holds a few dozen keys and stays in the first-level cache, and the cost of an
// event hardly depends on how many others are pending (W. T. Tang, R. S. M. Goh and I. L.-J. Thng,
// "Ladder Queue: An O(1) Priority Queue Structure for Large-Scale Discrete Event Simulation", ACM
// Transactions on Modeling and Computer Simulation 15(3), 2005).
//
// Structure, from early to late:
//
//   near border | innermost rung | ... | outermost rung | top
//
// Keys up to the near border belong to the heap, not to the ladder. The top is unsorted. A rung
// cuts a stretch of time into buckets of equal width; each rung further in covers one bucket of the
// rung around it, which was too full to be handed out at once, or what the heap gave back. When the
// rungs are used up, the top becomes the next outermost rung. Unlike in the paper the widths are
// powers of two, so that a bucket is found by a shift; the width fits the keys that were there when
// the rung was cut, and the last bucket takes whatever comes later in the rung's stretch; and keys
// live in chunks of one pool, so that memory is proportional to the greatest size() so far,
// wherever in time the keys gather.
//
// Every instant lies in one bucket, so the ladder never decides the order of two keys of equal
// time. All integers, and no arithmetic overflows over the full range of int64_t.
//
// Thread rule: one thread at a time. Copies are independent.
#ifndef DRASIM_SIM_CORE_EVENT_LADDER_H_
#define DRASIM_SIM_CORE_EVENT_LADDER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "sim/core/event_key.h"

namespace drasim {

class EventLadder {
 public:
  // With at most this many keys TakeNext hands out all of them, and everything is near again.
  static constexpr size_t kFewKeys = 512;
  // Larger groups are cut up further, as long as they do not lie at one instant and the rungs
  // suffice.
  static constexpr size_t kSplitKeys = 256;
  // Smaller groups are filled up from the next buckets: handing out has a fixed cost.
  static constexpr size_t kGroupKeys = 8;
  static constexpr size_t kMaxRungs = 8;

  // Whether a key of this time belongs to the heap. True for all times at first.
  bool IsNear(int64_t time_ns) const { return time_ns <= near_last_ns_; }

  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }

  // REQUIRES: !IsNear(key.time_ns). Amortised O(1).
  void Push(const EventKey& key);

  // Replaces *keys by the earliest keys, at least one, in no order, and moves the near border to
  // the first of the keys that stay: afterwards all of *keys are near and all that stay are not.
  // REQUIRES: !empty(). Amortised O(1) per key over its life in the ladder.
  void TakeNext(std::vector<EventKey>* keys);

  // Whether Regroup would help a heap that has outgrown its cache: with `count` keys, the first at
  // first_ns. No, if they all lie at the border's instant, or if no rung is left and the ladder's
  // own keys are the majority: sorting all again would then cost more than the new keys pay for.
  bool CanRegroup(int64_t first_ns, size_t count) const {
    return first_ns < near_last_ns_ && (rung_count_ < kMaxRungs || size_ <= count);
  }

  // Takes *keys back and hands out the earliest group of all, as TakeNext does. The near border may
  // move to an earlier time, so *keys must be all near keys there are. REQUIRES: CanRegroup, and
  // *keys is not empty. O(keys->size()).
  void Regroup(std::vector<EventKey>* keys);

  // Calls visit(const EventKey&) for each key, in no order. O(size()) amortised.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const EventKey& key : top_) visit(key);
    for (size_t i = 0; i < rung_count_; ++i) {
      for (const Bucket& bucket : rungs_[i].buckets) {
        uint32_t chunk = bucket.head;
        for (size_t left = bucket.count; left != 0; chunk = next_chunk_[chunk]) {
          const size_t in_chunk = KeysInHead(left);
          for (size_t k = 0; k < in_chunk; ++k) visit(chunks_[chunk].keys[k]);
          left -= in_chunk;
        }
      }
    }
  }

  // Drops every key for which keep(const EventKey&) is false. The near border stays. O(size())
  // amortised.
  template <typename Keep>
  void KeepIf(Keep keep) {
    // The rungs were cut for more keys than will be left; the next TakeNext cuts new ones.
    Collapse();
    size_t kept = 0;
    for (const EventKey& key : top_) {
      if (keep(key)) top_[kept++] = key;
    }
    top_.resize(kept);
    size_ = kept;
  }

 private:
  static constexpr size_t kChunkKeys = 8;
  static constexpr uint32_t kNoChunk = std::numeric_limits<uint32_t>::max();
  // Keys per bucket when a rung is cut. The width is rounded up to a power of two, so that there
  // are up to twice as many, and under a steady load as many again arrive before the bucket is due.
  static constexpr uint64_t kBucketKeys = 8;
  static constexpr uint64_t kMaxBuckets = 65536;

  // Two cache lines.
  struct alignas(64) Chunk {
    std::array<EventKey, kChunkKeys> keys;
  };

  // All chunks but the head are full.
  struct Bucket {
    uint32_t head = kNoChunk;
    uint32_t count = 0;  // keys
  };

  // First and last instant, both included.
  struct Range {
    int64_t first_ns = std::numeric_limits<int64_t>::max();
    int64_t last_ns = std::numeric_limits<int64_t>::min();
  };

  struct Rung {
    int64_t start_ns = 0;  // start of bucket 0
    int64_t open_ns = 0;   // start of the first bucket that was not taken yet
    int64_t last_ns = 0;   // the last instant of the last bucket
    int width_log2 = 0;    // binary logarithm of the buckets' width in ns
    size_t next = 0;       // the first bucket that was not taken yet; all before are empty
    std::vector<Bucket> buckets;
  };

  static constexpr size_t KeysInHead(size_t bucket_keys) {
    return (bucket_keys - 1) % kChunkKeys + 1;
  }
  static Range RangeOf(const std::vector<EventKey>& keys);
  static Bucket& BucketOf(Rung& rung, int64_t time_ns);

  void Append(Bucket& bucket, const EventKey& key);
  void Drain(Bucket& bucket, std::vector<EventKey>* keys);
  Range TakeBucket(std::vector<EventKey>* keys);
  bool NextFits(size_t group_size) const;
  void Spread(const std::vector<EventKey>& keys, const Range& range, int64_t last_ns);
  void SpreadTop();
  void Collapse();
  void PrefetchNextBucket() const;

  int64_t near_last_ns_ = std::numeric_limits<int64_t>::max();        // The near border, included.
  int64_t top_last_before_ns_ = std::numeric_limits<int64_t>::max();  // The top holds later times.
  size_t size_ = 0;  // keys in the top and all rungs
  std::vector<EventKey> top_;
  // Outermost first. The innermost begins behind the near border, the others behind the rung that
  // follows here. A rung is dropped with its last bucket.
  std::array<Rung, kMaxRungs> rungs_;
  size_t rung_count_ = 0;
  std::vector<Chunk> chunks_;
  std::vector<uint32_t> next_chunk_;  // By chunk: the next of its bucket, or of the free ones.
  uint32_t free_chunk_ = kNoChunk;    // The chunk freed last is still in the cache.
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_EVENT_LADDER_H_
