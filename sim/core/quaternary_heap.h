// A priority queue of 16-byte keys: an implicit 4-ary heap, aligned to cache lines.
//
// The four children of a key are exactly one cache line, so that a step down the heap costs one
// line and three comparisons without branches (aligned d-heaps: LaMarca and Ladner, "The Influence
// of Caches on the Performance of Heaps", ACM Journal of Experimental Algorithmics 1, 1996).
//
//   QuaternaryHeap<EventKey> heap;
//   heap.Push({5, 1}, EarlierKey());
//   heap.Push({3, 2}, EarlierKey());
//   heap.top().time_ns;        // 3
//   heap.Pop(EarlierKey());
//
// `before(x, y)` says whether key x is first. It must be the same strict total order in every call,
// with the default key after all others. Passing it to each call lets it hold state.
//
// The result of top() depends on the set of keys alone. Not thread-safe; copies are independent.
#ifndef DRASIM_SIM_CORE_QUATERNARY_HEAP_H_
#define DRASIM_SIM_CORE_QUATERNARY_HEAP_H_

#include <array>
#include <cstddef>
#include <vector>

#include "absl/types/span.h"

namespace drasim {

template <typename Key>
class QuaternaryHeap {
 public:
  QuaternaryHeap() : lines_(1) {}

  bool empty() const { return end_ == kRoot; }
  size_t size() const { return end_ - kRoot; }
  // The first key. REQUIRES: !empty().
  const Key& top() const { return At(kRoot); }

  // Drops all keys and keeps the memory for Push.
  void Clear() {
    lines_.resize(1);
    lines_[0] = Line();
    end_ = kRoot;
  }

  // O(log size); O(1) for a key that is after all others.
  template <typename Before>
  void Push(Key key, Before before) {
    if ((end_ >> 2) == lines_.size()) lines_.emplace_back();
    size_t position = end_++;
    while (position > kRoot) {
      const size_t parent = ParentOf(position);
      if (!before(key, At(parent))) break;
      At(position) = At(parent);
      position = parent;
    }
    At(position) = key;
  }

  // Drops the first key. REQUIRES: !empty(). O(log size).
  template <typename Before>
  void Pop(Before before) {
    const Key last = TakeLast();
    if (end_ > kRoot) SiftDown(kRoot, last, before);
  }

  // Pop and Push in one repair, which is short when the new key is among the first. REQUIRES:
  // !empty(). O(log size).
  template <typename Before>
  void ReplaceTop(Key key, Before before) {
    SiftDown(kRoot, key, before);
  }

  // Drops the key at the end of the heap, which is no particular one, and returns it. Pop is
  // TakeLast and ReplaceTop, for callers that need a step in between. REQUIRES: !empty(). O(1).
  Key TakeLast() {
    --end_;
    const Key last = At(end_);
    At(end_) = Key();
    return last;
  }

  // The key that follows the first; null if there is none. O(1).
  template <typename Before>
  const Key* Second(Before before) const {
    if (end_ <= kRoot + 1) return nullptr;
    const Line& children = lines_[LineOfChildren(kRoot)];
    return &children.key[SmallestOf(children, before)];
  }

  // Replaces all keys. O(keys + size).
  template <typename Before>
  void Assign(absl::Span<const Key> keys, Before before) {
    for (size_t position = kRoot + keys.size(); position < end_; ++position) At(position) = Key();
    end_ = kRoot + keys.size();
    if (lines_.size() <= (end_ - 1) >> 2) lines_.resize(((end_ - 1) >> 2) + 1);
    size_t position = kRoot;
    for (const Key& key : keys) At(position++) = key;
    Heapify(before);
  }

  // Drops every key for which keep(const Key&) is false. Close to linear: keys come in the order of
  // the heap, so that few of them move far.
  template <typename Keep, typename Before>
  void KeepIf(Keep keep, Before before) {
    const size_t end = end_;
    end_ = kRoot;
    // A push never goes behind the keys that have been read.
    for (size_t position = kRoot; position < end; ++position) {
      const Key key = At(position);
      At(position) = Key();
      if (keep(key)) Push(key, before);
    }
  }

  // Calls visit(const Key&) for each key: the first key first, the others in no order.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (size_t position = kRoot; position < end_; ++position) visit(At(position));
  }

 private:
  // Unused ends hold the default key, so that the smallest of four children can be found without
  // asking how many there are.
  struct alignas(64) Line {
    std::array<Key, 4> key;
  };
  static_assert(sizeof(Line) == 64, "four keys fill a cache line");

  // Positions count from 3, so that the children of position p are positions 4p-8 to 4p-5:
  // line p-2.
  static constexpr size_t kRoot = 3;
  static constexpr size_t ParentOf(size_t position) { return (position >> 2) + 2; }
  static constexpr size_t LineOfChildren(size_t position) { return position - 2; }

  // A tournament of two rounds. The winner is picked by arithmetic, because compilers tend to turn
  // `?:` into a branch when both sides are loads.
  template <typename Before>
  static size_t SmallestOf(const Line& line, Before before) {
    const size_t left = size_t{before(line.key[1], line.key[0])};
    const size_t right = 2 + size_t{before(line.key[3], line.key[2])};
    const size_t take_right = size_t{before(line.key[right], line.key[left])};
    return left ^ ((left ^ right) & (size_t{0} - take_right));
  }

  template <typename Before>
  void SiftDown(size_t position, Key key, Before before) {
    for (;;) {
      const size_t line_index = LineOfChildren(position);
      const size_t first_child = line_index << 2;
      if (first_child >= end_) break;
      const Line& children = lines_[line_index];
      const size_t smallest = SmallestOf(children, before);
      if (!before(children.key[smallest], key)) break;
      At(position) = children.key[smallest];
      position = first_child + smallest;
    }
    At(position) = key;
  }

  // Makes a heap of any keys, bottom-up and in linear time.
  template <typename Before>
  void Heapify(Before before) {
    if (end_ < kRoot + 2) return;
    for (size_t position = ParentOf(end_ - 1) + 1; position-- > kRoot;) {
      SiftDown(position, At(position), before);
    }
  }

  Key& At(size_t position) { return lines_[position >> 2].key[position & 3]; }
  const Key& At(size_t position) const { return lines_[position >> 2].key[position & 3]; }

  std::vector<Line> lines_;  // positions from end_ on hold the default key
  size_t end_ = kRoot;       // one past the last position in use
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_QUATERNARY_HEAP_H_
