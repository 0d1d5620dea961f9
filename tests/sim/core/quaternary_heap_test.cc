// The heap beside a naive oracle, a sorted vector: single calls, random histories, and an order
// that the keys alone do not give.
#include "sim/core/quaternary_heap.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "model/random.h"
#include "sim/core/event_key.h"

namespace drasim {
namespace quaternary_heap_test {

using Heap = QuaternaryHeap<EventKey>;

struct Pair {
  int64_t time_ns;
  uint64_t order;
  bool operator==(const Pair&) const = default;
};
using Pairs = std::vector<Pair>;

Pairs Drain(Heap heap) {
  Pairs pairs;
  while (!heap.empty()) {
    pairs.push_back({heap.top().time_ns, heap.top().order});
    heap.Pop(EarlierKey());
  }
  return pairs;
}

Pairs Sorted(std::vector<EventKey> keys) {
  std::sort(keys.begin(), keys.end(), [](const EventKey& x, const EventKey& y) {
    return x.time_ns != y.time_ns ? x.time_ns < y.time_ns : x.order < y.order;
  });
  Pairs pairs;
  for (const EventKey& key : keys) pairs.push_back({key.time_ns, key.order});
  return pairs;
}

TEST(QuaternaryHeapTest, TimeDecidesThenOrder) {
  Heap heap;
  EXPECT_TRUE(heap.empty());
  heap.Push({7, 1}, EarlierKey());
  heap.Push({-3, 9}, EarlierKey());
  heap.Push({7, 0}, EarlierKey());
  heap.Push({std::numeric_limits<int64_t>::max(), 4}, EarlierKey());
  heap.Push({std::numeric_limits<int64_t>::min(), 5}, EarlierKey());
  EXPECT_EQ(heap.size(), 5u);
  EXPECT_EQ(Drain(heap), (Pairs{{std::numeric_limits<int64_t>::min(), 5},
                                {-3, 9},
                                {7, 0},
                                {7, 1},
                                {std::numeric_limits<int64_t>::max(), 4}}));
}

TEST(QuaternaryHeapTest, SecondIsTheNextKeyOrNull) {
  Heap heap;
  heap.Push({5, 0}, EarlierKey());
  EXPECT_EQ(heap.Second(EarlierKey()), nullptr);
  for (const int64_t time_ns : {9, 6, 8, 7, 10, 11}) heap.Push({time_ns, 0}, EarlierKey());
  ASSERT_NE(heap.Second(EarlierKey()), nullptr);
  EXPECT_EQ(heap.Second(EarlierKey())->time_ns, 6);
  heap.Pop(EarlierKey());
  EXPECT_EQ(heap.top().time_ns, 6);
  EXPECT_EQ(heap.Second(EarlierKey())->time_ns, 7);
}

TEST(QuaternaryHeapTest, ReplaceTopPutsTheNewKeyInItsPlace) {
  Heap heap;
  for (uint64_t i = 0; i < 20; ++i) heap.Push({static_cast<int64_t>(i), i}, EarlierKey());
  heap.ReplaceTop({10, 99}, EarlierKey());
  EXPECT_EQ(heap.size(), 20u);
  EXPECT_EQ(heap.top().time_ns, 1);
  const Pairs pairs = Drain(heap);
  EXPECT_EQ(pairs[9], (Pair{10, 10}));
  EXPECT_EQ(pairs[10], (Pair{10, 99}));
}

TEST(QuaternaryHeapTest, TakeLastAndReplaceTopArePop) {
  Heap heap;
  for (const int64_t time_ns : {4, 1, 3, 2, 5}) heap.Push({time_ns, 0}, EarlierKey());
  const EventKey last = heap.TakeLast();
  EXPECT_EQ(heap.size(), 4u);
  heap.ReplaceTop(last, EarlierKey());
  EXPECT_EQ(Drain(heap), (Pairs{{2, 0}, {3, 0}, {4, 0}, {5, 0}}));
}

TEST(QuaternaryHeapTest, AssignReplacesMoreAndFewerKeys) {
  Random random(1, "heap");
  Heap heap;
  for (const size_t size : {size_t{0}, size_t{1}, size_t{100}, size_t{7}, size_t{0}, size_t{33}}) {
    std::vector<EventKey> keys;
    for (size_t i = 0; i < size; ++i) {
      keys.push_back({static_cast<int64_t>(random.Below(20)), i});
    }
    heap.Assign(keys, EarlierKey());
    EXPECT_EQ(heap.size(), size);
    EXPECT_EQ(Drain(heap), Sorted(keys));
    // Ends that are no longer in use hold default keys, so that the next pushes compare well.
    heap.Push({-1, 0}, EarlierKey());
    EXPECT_EQ(heap.top().time_ns, -1);
    keys.push_back({-1, 0});
    EXPECT_EQ(Drain(heap), Sorted(keys));
  }
}

TEST(QuaternaryHeapTest, ClearedHeapsCanBeFilledAgain) {
  Heap heap;
  for (uint64_t i = 0; i < 50; ++i) heap.Push({static_cast<int64_t>(i), i}, EarlierKey());
  heap.Clear();
  EXPECT_TRUE(heap.empty());
  heap.Push({3, 0}, EarlierKey());
  heap.Push({2, 0}, EarlierKey());
  EXPECT_EQ(Drain(heap), (Pairs{{2, 0}, {3, 0}}));
}

TEST(QuaternaryHeapTest, RandomHistoriesMatchASortedVector) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed, "heap");
    Heap heap;
    std::vector<EventKey> naive;
    for (uint64_t step = 0; step < 2000; ++step) {
      const uint64_t what = random.Below(100);
      const EventKey key{static_cast<int64_t>(random.Below(200)) - 100, step};
      const auto first =
          std::min_element(naive.begin(), naive.end(),
                           [](const EventKey& x, const EventKey& y) { return EarlierKey()(x, y); });
      if (what < 55 || naive.empty()) {
        heap.Push(key, EarlierKey());
        naive.push_back(key);
      } else if (what < 85) {
        EXPECT_EQ(heap.top().order, first->order);
        heap.Pop(EarlierKey());
        naive.erase(first);
      } else if (what < 99) {
        EXPECT_EQ(heap.top().order, first->order);
        heap.ReplaceTop(key, EarlierKey());
        *first = key;
      } else {
        const auto keep = [](const EventKey& k) { return k.order % 3 != 0; };
        heap.KeepIf(keep, EarlierKey());
        std::erase_if(naive, [keep](const EventKey& k) { return !keep(k); });
      }
      ASSERT_EQ(heap.size(), naive.size());
    }
    size_t visited = 0;
    heap.ForEach([&](const EventKey& key) {
      if (visited == 0) {
        EXPECT_EQ(key.order, heap.top().order);
      }
      ++visited;
    });
    EXPECT_EQ(visited, heap.size());
    EXPECT_EQ(Drain(heap), Sorted(naive));
  }
}

// Keys that name slots of a table; the table gives the order, and the default key is last.
TEST(QuaternaryHeapTest, AnOrderMayHoldState) {
  const std::vector<int> rank_of = {3, 1, 4, 0, 2};
  const auto before = [&rank_of](const EventKey& x, const EventKey& y) {
    if (x.time_ns >= 5 || y.time_ns >= 5) return x.time_ns < 5 && y.time_ns >= 5;
    return rank_of[static_cast<size_t>(x.time_ns)] < rank_of[static_cast<size_t>(y.time_ns)];
  };
  Heap heap;
  for (int64_t slot = 0; slot < 5; ++slot) heap.Push({slot, 0}, before);
  heap.KeepIf([](const EventKey& key) { return key.time_ns != 1; }, before);
  std::vector<int64_t> slots;
  for (; !heap.empty(); heap.Pop(before)) slots.push_back(heap.top().time_ns);
  EXPECT_EQ(slots, (std::vector<int64_t>{3, 4, 0, 2}));
}

}  // namespace quaternary_heap_test
}  // namespace drasim
