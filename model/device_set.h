// DeviceSet: a set of devices of one node, by index.
//
// A value of one machine word: copies, comparisons and every operation below are O(1) and inline;
// iteration is O(size) and ascends. It converts neither from nor to integers, so that a set is
// never taken for an index or a count.
//
// kMaxDevicesPerNode limits the devices of a node everywhere: readers of nodes refuse more, and the
// width of columns follows from it. To raise it, widen `bits_` and its serialised form (bits() and
// FromBits()); no other code knows the width of the word.
//
// Usage:
//
//   DeviceSet idle = DeviceSet::FirstN(8) - busy;
//   if (!wanted.IsSubsetOf(idle)) return false;
//   for (const size_t device : wanted) charge(device);
//
//   while (!idle.empty()) {  // for loops that remove more than they visit
//     const size_t device = idle.First();
//     idle -= NeighboursOf(device) | DeviceSet::Of(device);
//   }
#ifndef DRASIM_MODEL_DEVICE_SET_H_
#define DRASIM_MODEL_DEVICE_SET_H_

#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

namespace drasim {

// Limit on the devices of a node.
inline constexpr int kMaxDevicesPerNode = 64;

class DeviceSet {
 public:
  // Visits the indices of a set in ascending order. Independent of the set that it came from.
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = size_t;
    using difference_type = std::ptrdiff_t;
    using pointer = const size_t*;
    using reference = size_t;

    constexpr Iterator() = default;
    constexpr size_t operator*() const { return static_cast<size_t>(std::countr_zero(rest_)); }
    constexpr Iterator& operator++() {
      rest_ &= rest_ - 1;
      return *this;
    }
    constexpr Iterator operator++(int) {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    constexpr bool operator==(const Iterator&) const = default;

   private:
    friend class DeviceSet;
    constexpr explicit Iterator(uint64_t rest) : rest_(rest) {}

    uint64_t rest_ = 0;  // not visited yet
  };
  using value_type = size_t;
  using iterator = Iterator;
  using const_iterator = Iterator;

  // The empty set.
  constexpr DeviceSet() = default;

  // The set of one device. REQUIRES: index < kMaxDevicesPerNode.
  static constexpr DeviceSet Of(size_t index) { return DeviceSet(uint64_t{1} << index); }
  // The devices 0 to count - 1; all devices when `count` is kMaxDevicesPerNode or more.
  static constexpr DeviceSet FirstN(size_t count) {
    return DeviceSet(count >= size_t{kMaxDevicesPerNode} ? ~uint64_t{0}
                                                         : (uint64_t{1} << count) - 1);
  }
  // Every device that a node may have, for "any device will do".
  static constexpr DeviceSet All() { return DeviceSet(~uint64_t{0}); }

  // The set as bits, device i at bit i: for checkpoints, ledgers and fingerprints only.
  static constexpr DeviceSet FromBits(uint64_t bits) { return DeviceSet(bits); }
  constexpr uint64_t bits() const { return bits_; }

  constexpr bool empty() const { return bits_ == 0; }
  constexpr int size() const { return std::popcount(bits_); }
  // REQUIRES: index < kMaxDevicesPerNode.
  constexpr bool Contains(size_t index) const { return (bits_ >> index & 1) != 0; }
  constexpr bool Intersects(DeviceSet other) const { return (bits_ & other.bits_) != 0; }
  // The empty set is a subset of every set.
  constexpr bool IsSubsetOf(DeviceSet other) const { return (bits_ & ~other.bits_) == 0; }
  // The lowest index. REQUIRES: not empty.
  constexpr size_t First() const { return static_cast<size_t>(std::countr_zero(bits_)); }
  // One more than the highest index; 0 for the empty set.
  constexpr size_t Bound() const { return static_cast<size_t>(std::bit_width(bits_)); }

  // REQUIRES: index < kMaxDevicesPerNode.
  constexpr void Add(size_t index) { bits_ |= uint64_t{1} << index; }
  constexpr void Remove(size_t index) { bits_ &= ~(uint64_t{1} << index); }
  // Removes the lowest index. Does nothing to the empty set.
  constexpr void RemoveFirst() { bits_ &= bits_ - 1; }

  constexpr Iterator begin() const { return Iterator(bits_); }
  constexpr Iterator end() const { return Iterator(); }

  // Union, intersection, difference.
  constexpr DeviceSet& operator|=(DeviceSet other) {
    bits_ |= other.bits_;
    return *this;
  }
  constexpr DeviceSet& operator&=(DeviceSet other) {
    bits_ &= other.bits_;
    return *this;
  }
  constexpr DeviceSet& operator-=(DeviceSet other) {
    bits_ &= ~other.bits_;
    return *this;
  }
  friend constexpr DeviceSet operator|(DeviceSet a, DeviceSet b) { return a |= b; }
  friend constexpr DeviceSet operator&(DeviceSet a, DeviceSet b) { return a &= b; }
  friend constexpr DeviceSet operator-(DeviceSet a, DeviceSet b) { return a -= b; }

  // A total order, for sorted containers: that of bits().
  friend constexpr bool operator==(DeviceSet, DeviceSet) = default;
  friend constexpr std::strong_ordering operator<=>(DeviceSet, DeviceSet) = default;

  template <typename H>
  friend H AbslHashValue(H h, DeviceSet set) {
    return H::combine(std::move(h), set.bits_);
  }

 private:
  constexpr explicit DeviceSet(uint64_t bits) : bits_(bits) {}

  uint64_t bits_ = 0;
};

static_assert(kMaxDevicesPerNode == 64, "a DeviceSet is one word of 64 bits");
static_assert(std::is_trivially_copyable_v<DeviceSet>);

}  // namespace drasim

#endif  // DRASIM_MODEL_DEVICE_SET_H_
