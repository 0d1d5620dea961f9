#include "model/go_sort.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "model/random.h"

namespace drasim {
namespace go_sort_test {

struct Item {
  int key;
  int place;
};

std::vector<int> PlacesAfterSort(std::vector<Item> items) {
  GoSort(&items, [](const Item& a, const Item& b) { return a.key < b.key; });
  std::vector<int> places;
  for (const Item& item : items) places.push_back(item.place);
  return places;
}

std::vector<Item> Pattern(int n) {
  std::vector<Item> items;
  for (int i = 0; i < n; ++i) items.push_back({(i * 7 + i * i * 3) % 5, i});
  return items;
}

// The expected orders are those of Go's sort.Slice for the same elements.
TEST(GoSortTest, EqualElementsStandWhereGoLeavesThem) {
  EXPECT_EQ(PlacesAfterSort(Pattern(14)),
            (std::vector<int>{6, 1, 11, 10, 0, 5, 9, 7, 4, 2, 12, 8, 3, 13}));
  EXPECT_EQ(PlacesAfterSort(Pattern(20)), (std::vector<int>{10, 1, 16, 15, 0,  5,  6, 11, 9, 12,
                                                            7,  4, 14, 2,  17, 19, 8, 13, 3, 18}));
  EXPECT_EQ(PlacesAfterSort(Pattern(60)),
            (std::vector<int>{31, 25, 56, 55, 30, 5,  6,  51, 50, 46, 10, 11, 45, 41, 40,
                              15, 16, 36, 35, 0,  20, 21, 1,  26, 39, 2,  59, 27, 22, 57,
                              4,  19, 32, 24, 34, 49, 17, 37, 54, 29, 14, 52, 42, 7,  44,
                              12, 9,  47, 33, 48, 8,  43, 13, 53, 38, 3,  18, 28, 58, 23}));
}

TEST(GoSortTest, IsStableUpToTwelveElements) {
  std::vector<Item> items;
  for (int i = 0; i < 12; ++i) items.push_back({i % 2, i});
  EXPECT_EQ(PlacesAfterSort(items), (std::vector<int>{0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11}));
}

TEST(GoSortTest, SortsEverything) {
  Random random(1, "go sort");
  for (int round = 0; round < 2000; ++round) {
    std::vector<int> values(static_cast<size_t>(random.Below(300)));
    const uint64_t range = 1 + random.Below(1 + random.Below(100));
    for (int& value : values) value = static_cast<int>(random.Below(range));
    if (round % 4 == 1) std::sort(values.begin(), values.end());
    if (round % 4 == 2) std::sort(values.rbegin(), values.rend());
    if (round % 4 >= 1 && values.size() > 3) {
      const auto a = static_cast<size_t>(random.Below(values.size()));
      const auto b = static_cast<size_t>(random.Below(values.size()));
      std::swap(values[a], values[b]);
    }
    std::vector<int> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    GoSort(&values, [](int a, int b) { return a < b; });
    ASSERT_EQ(values, sorted) << round;
  }
}

}  // namespace go_sort_test
}  // namespace drasim
