// GoSort: the order in which Go's sort.Slice leaves its elements.
//
// The sort is not stable: where elements are equal, their order follows from the algorithm.
// Decisions of kube-scheduler depend on it (which of equal pods is a preemption's victim), so this
// follows the algorithm comparison by comparison: insertion sort up to 12 elements, else pattern-
// defeating quicksort (Orson Peters) with Go's choice of pivots and its xorshift generator, and
// heapsort after too many bad pivots.
//
//   std::vector<Pod> pods = ...;
//   GoSort(&pods, [](const Pod& a, const Pod& b) { return a.priority > b.priority; });
//
// O(n log n) comparisons, O(n) for sorted and reversed input.
#ifndef DRASIM_MODEL_GO_SORT_H_
#define DRASIM_MODEL_GO_SORT_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace drasim {
namespace go_sort_internal {

enum class Hint : uint8_t { kUnknown, kIncreasing, kDecreasing };

// Ranges are [begin, end) of `items`.
template <typename T, typename Less>
class Sorter {
 public:
  Sorter(std::vector<T>* items, Less less) : items_(*items), less_(less) {}

  void Quicksort(size_t begin, size_t end, int limit) {
    bool was_balanced = true;
    bool was_partitioned = true;
    while (true) {
      const size_t length = end - begin;
      if (length <= kMostForInsertion) return InsertionSort(begin, end);
      if (limit == 0) return Heapsort(begin, end);
      if (!was_balanced) {
        BreakPatterns(begin, end);
        --limit;
      }
      auto [pivot, hint] = ChoosePivot(begin, end);
      if (hint == Hint::kDecreasing) {
        for (size_t i = begin, j = end - 1; i < j; ++i, --j) Swap(i, j);
        pivot = (end - 1) - (pivot - begin);
        hint = Hint::kIncreasing;
      }
      if (was_balanced && was_partitioned && hint == Hint::kIncreasing &&
          PartialInsertionSort(begin, end)) {
        return;
      }
      // Nothing in the range is below the element before it: when that one equals the pivot, all
      // equal elements can be set aside.
      if (begin > 0 && !Before(begin - 1, pivot)) {
        begin = PartitionEqual(begin, end, pivot);
        continue;
      }
      const auto [middle, partitioned] = Partition(begin, end, pivot);
      was_partitioned = partitioned;
      const size_t left = middle - begin;
      const size_t right = end - middle;
      if (left < right) {
        was_balanced = left >= length / 8;
        Quicksort(begin, middle, limit);
        begin = middle + 1;
      } else {
        was_balanced = right >= length / 8;
        Quicksort(middle + 1, end, limit);
        end = middle;
      }
    }
  }

 private:
  static constexpr size_t kMostForInsertion = 12;

  bool Before(size_t i, size_t j) const { return less_(items_[i], items_[j]); }
  void Swap(size_t i, size_t j) { std::swap(items_[i], items_[j]); }

  void InsertionSort(size_t begin, size_t end) {
    for (size_t i = begin + 1; i < end; ++i) {
      for (size_t j = i; j > begin && Before(j, j - 1); --j) Swap(j, j - 1);
    }
  }

  // Lets the root of the heap [root, size) at offset `first` sink to its place.
  void Sink(size_t root, size_t size, size_t first) {
    while (true) {
      size_t child = 2 * root + 1;
      if (child >= size) return;
      if (child + 1 < size && Before(first + child, first + child + 1)) ++child;
      if (!Before(first + root, first + child)) return;
      Swap(first + root, first + child);
      root = child;
    }
  }

  void Heapsort(size_t begin, size_t end) {
    const size_t size = end - begin;
    for (size_t i = (size - 1) / 2 + 1; i > 0; --i) Sink(i - 1, size, begin);
    for (size_t i = size; i > 0; --i) {
      Swap(begin, begin + i - 1);
      Sink(0, i - 1, begin);
    }
  }

  // Scatters some elements, in order to break patterns that cause bad partitions.
  void BreakPatterns(size_t begin, size_t end) {
    const size_t length = end - begin;
    if (length < 8) return;
    uint64_t random = length;
    const uint64_t mask = (uint64_t{1} << std::bit_width(length)) - 1;
    const size_t index = begin + (length / 4) * 2 - 1;
    for (size_t i = 0; i < 3; ++i) {
      random ^= random << 13;
      random ^= random >> 7;
      random ^= random << 17;
      auto other = static_cast<size_t>(random & mask);
      if (other >= length) other -= length;
      Swap(index + i, begin + other);
    }
  }

  std::pair<size_t, Hint> ChoosePivot(size_t begin, size_t end) {
    constexpr size_t kLeastForMedians = 50;
    constexpr int kMostSwaps = 4 * 3;
    const size_t length = end - begin;
    int swaps = 0;
    size_t i = begin + length / 4;
    size_t j = begin + length / 4 * 2;
    size_t k = begin + length / 4 * 3;
    if (length >= kLeastForMedians) {
      i = Median(i - 1, i, i + 1, &swaps);
      j = Median(j - 1, j, j + 1, &swaps);
      k = Median(k - 1, k, k + 1, &swaps);
    }
    j = Median(i, j, k, &swaps);
    if (swaps == 0) return {j, Hint::kIncreasing};
    return {j, swaps == kMostSwaps ? Hint::kDecreasing : Hint::kUnknown};
  }

  // The place of the median; counts the exchanges that would sort the three.
  size_t Median(size_t a, size_t b, size_t c, int* swaps) const {
    const auto sort2 = [&](size_t* x, size_t* y) {
      if (!Before(*y, *x)) return;
      ++*swaps;
      std::swap(*x, *y);
    };
    sort2(&a, &b);
    sort2(&b, &c);
    sort2(&a, &b);
    return b;
  }

  // Sorts a range that is nearly sorted; false when it is not, and then it may be partly sorted.
  bool PartialInsertionSort(size_t begin, size_t end) {
    constexpr int kMostSteps = 5;
    constexpr size_t kLeastForShifts = 50;
    size_t i = begin + 1;
    for (int step = 0; step < kMostSteps; ++step) {
      while (i < end && !Before(i, i - 1)) ++i;
      if (i == end) return true;
      if (end - begin < kLeastForShifts) return false;
      Swap(i, i - 1);
      if (i - begin >= 2) {
        for (size_t j = i - 1; j >= 1 && Before(j, j - 1); --j) Swap(j, j - 1);
      }
      if (end - i >= 2) {
        for (size_t j = i + 1; j < end && Before(j, j - 1); ++j) Swap(j, j - 1);
      }
    }
    return false;
  }

  // Elements equal to the pivot first; returns the end of that part. REQUIRES: none is less.
  size_t PartitionEqual(size_t begin, size_t end, size_t pivot) {
    Swap(begin, pivot);
    size_t i = begin + 1;
    size_t j = end - 1;
    while (true) {
      while (i <= j && !Before(begin, i)) ++i;
      while (i <= j && Before(begin, j)) --j;
      if (i > j) return i;
      Swap(i++, j--);
    }
  }

  // Smaller elements, the pivot (at the place returned), the others; and whether it was so already.
  std::pair<size_t, bool> Partition(size_t begin, size_t end, size_t pivot) {
    Swap(begin, pivot);
    size_t i = begin + 1;
    size_t j = end - 1;
    bool partitioned = true;
    while (true) {
      while (i <= j && Before(i, begin)) ++i;
      while (i <= j && !Before(j, begin)) --j;
      if (i > j) break;
      Swap(i++, j--);
      partitioned = false;
    }
    Swap(j, begin);
    return {j, partitioned};
  }

  std::vector<T>& items_;
  Less less_;
};

}  // namespace go_sort_internal

// `less` is a strict weak order.
template <typename T, typename Less>
void GoSort(std::vector<T>* items, Less less) {
  go_sort_internal::Sorter<T, Less>(items, less)
      .Quicksort(0, items->size(), static_cast<int>(std::bit_width(items->size())));
}

}  // namespace drasim

#endif  // DRASIM_MODEL_GO_SORT_H_
