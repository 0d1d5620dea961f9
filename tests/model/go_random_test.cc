#include "model/go_random.h"

#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/state_io.h"

namespace drasim {
namespace go_random_test {

// FNV-1a, one step for each of the eight bytes of `word` from the lowest.
uint64_t HashWord(uint64_t hash, uint64_t word) {
  for (int shift = 0; shift < 64; shift += 8) {
    hash = (hash ^ ((word >> shift) & 0xff)) * 1099511628211U;
  }
  return hash;
}

constexpr uint64_t kHashOffset = 14695981039346656037U;

// The raw draw that follows `draws` others.
uint64_t RawDrawAfter(int64_t seed, int draws) {
  GoRandom random(seed);
  for (int i = 0; i < draws; ++i) random.Uint64();
  return random.Uint64();
}

// The ten numbers that unseeded Go programs printed before Go 1.20, as if seeded with 1.
TEST(GoRandomTest, GivesGosWellKnownIntn) {
  GoRandom random(1);
  std::vector<int32_t> values;
  for (int i = 0; i < 10; ++i) values.push_back(random.Intn(100));
  EXPECT_EQ(values, (std::vector<int32_t>{81, 87, 47, 59, 81, 18, 25, 40, 56, 0}));
}

TEST(GoRandomTest, GivesGosWellKnownInt63) {
  GoRandom random(1);
  EXPECT_EQ(random.Int63(), 5577006791947779410);
  EXPECT_EQ(random.Int63(), 8674665223082153551);
  EXPECT_EQ(random.Int(), 6129484611666145821);
  EXPECT_EQ(random.Int(), 4037200794235010051);
}

// 2000 draws pass the ring more than three times, so every word of the seeding table takes part.
TEST(GoRandomTest, EveryWordOfTheTableIsRight) {
  GoRandom random(1);
  uint64_t hash = kHashOffset;
  std::vector<uint64_t> draws;
  for (int i = 0; i < 2000; ++i) {
    draws.push_back(random.Uint64());
    hash = HashWord(hash, draws.back());
  }
  EXPECT_EQ(draws[606], 11728227432073157542U);
  EXPECT_EQ(draws[999], 13380093195705652690U);
  EXPECT_EQ(draws[1999], 16958892114466982789U);
  EXPECT_EQ(hash, 0x25afe24b3951ac88U);
}

TEST(GoRandomTest, ReducesSeedsAsGoDoes) {
  const std::vector<std::pair<int64_t, uint64_t>> first_draw_of_seed = {
      {0, 8717895732742165505U},
      {42, 12663951391086054483U},
      {-1, 12868334305193165484U},
      {2147483647, 8717895732742165505U},  // 2^31 - 1, equal to 0
      {std::numeric_limits<int64_t>::max(), RawDrawAfter(1, 0)},
      {std::numeric_limits<int64_t>::min(), 7681445645332086223U},
  };
  for (const auto& [seed, draw] : first_draw_of_seed) {
    EXPECT_EQ(RawDrawAfter(seed, 0), draw) << "seed " << seed;
  }
}

TEST(GoRandomTest, SeedRestartsTheSequence) {
  GoRandom random(5);
  for (int i = 0; i < 700; ++i) random.Uint64();
  random.Seed(42);
  EXPECT_EQ(random.Uint64(), 12663951391086054483U);
  EXPECT_EQ(random.Uint64(), 9832119173398632219U);
}

TEST(GoRandomTest, EveryKindOfDrawIsPinned) {
  GoRandom random(7);
  EXPECT_EQ(random.Float64(), 0x1.e421e454dfff3p-1);
  EXPECT_EQ(random.Float64(), 0x1.0377550a910c0p-4);
  EXPECT_EQ(random.Float64(), 0x1.726b469b52f58p-3);
  EXPECT_EQ(random.Intn(1), 0);
  EXPECT_EQ(random.Intn(64), 4);
  EXPECT_EQ(random.Int31(), 313867508);
  EXPECT_EQ(random.Uint32(), 1521340544U);
  EXPECT_EQ(random.Intn(std::numeric_limits<int32_t>::max()), 735904102);
  EXPECT_EQ(random.Intn(1500000000), 47808952);
  EXPECT_EQ(random.Uint64(), RawDrawAfter(7, 9)) << "each of the nine takes one draw";
}

// Nearly every second value of Int31 is over the last complete round for this n.
TEST(GoRandomTest, IntnRejectsAsGoDoes) {
  GoRandom random(3);
  std::vector<int32_t> values;
  for (int i = 0; i < 6; ++i) values.push_back(random.Intn(1073741825));
  EXPECT_EQ(values, (std::vector<int32_t>{470452779, 918335916, 698121144, 1005960747, 752280866,
                                          750220327}));
  EXPECT_EQ(random.Uint64(), RawDrawAfter(3, 14));
}

TEST(GoRandomTest, PermIsPinned) {
  GoRandom random(7);
  EXPECT_EQ(random.Perm(10), (std::vector<int32_t>{2, 0, 5, 3, 1, 6, 9, 8, 4, 7}));
  EXPECT_EQ(random.Uint64(), RawDrawAfter(7, 10)) << "the first element takes a draw, too";
  EXPECT_TRUE(random.Perm(0).empty());
}

TEST(GoRandomTest, ShuffleIsPinned) {
  GoRandom random(7);
  std::vector<int> items(10);
  std::iota(items.begin(), items.end(), 0);
  random.Shuffle(10, [&items](int32_t i, int32_t j) {
    std::swap(items[static_cast<size_t>(i)], items[static_cast<size_t>(j)]);
  });
  EXPECT_EQ(items, (std::vector<int>{8, 5, 3, 7, 0, 4, 6, 1, 2, 9}));
  EXPECT_EQ(random.Uint64(), RawDrawAfter(7, 9));
}

TEST(GoRandomTest, ShuffleOfNothingOrOneDrawsNothing) {
  GoRandom random(7);
  int calls = 0;
  random.Shuffle(0, [&calls](int32_t, int32_t) { ++calls; });
  random.Shuffle(1, [&calls](int32_t, int32_t) { ++calls; });
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(random.Uint64(), RawDrawAfter(7, 0));
}

// Long enough for rejections, which are rare in short shuffles: 300,005 draws for 299,999 swaps.
TEST(GoRandomTest, ShuffleRejectsAsGoDoes) {
  GoRandom random(5);
  uint64_t hash = kHashOffset;
  int32_t expected_i = 299999;
  random.Shuffle(300000, [&](int32_t i, int32_t j) {
    ASSERT_EQ(i, expected_i);
    --expected_i;
    hash = (hash ^ static_cast<uint64_t>(j)) * 1099511628211U;
  });
  EXPECT_EQ(expected_i, 0);
  EXPECT_EQ(hash, 0x1e0080ff5e865953U);
  EXPECT_EQ(random.Uint64(), 16715966811801777605U);
  EXPECT_EQ(RawDrawAfter(5, 300005), 16715966811801777605U);
}

TEST(GoRandomTest, ContinuesAfterSaveAndLoadAtAnyPosition) {
  GoRandom random(9);
  for (int step = 0; step < 610; ++step) {
    StateWriter writer;
    random.Save(writer);
    StateReader reader(writer.bytes());
    GoRandom restored(1);
    ASSERT_TRUE(restored.Load(reader).ok());
    ASSERT_TRUE(reader.AtEnd());
    GoRandom original = random;
    for (int i = 0; i < 3; ++i) ASSERT_EQ(restored.Uint64(), original.Uint64()) << "step " << step;
    random.Uint64();
  }
}

TEST(GoRandomTest, LoadRefusesBadDataAndKeepsTheGenerator) {
  StateWriter position;
  position.Section("go_random");
  position.U64(607);
  for (int i = 0; i < 607; ++i) position.U64(1);
  StateWriter other;
  other.Section("random");
  StateWriter whole;
  GoRandom(1).Save(whole);
  const absl::string_view truncated = whole.bytes().substr(0, whole.bytes().size() - 1);

  const absl::string_view inputs[] = {position.bytes(), other.bytes(), truncated};
  for (const absl::string_view bytes : inputs) {
    GoRandom random(42);
    StateReader reader(bytes);
    EXPECT_FALSE(random.Load(reader).ok());
    EXPECT_EQ(random.Uint64(), RawDrawAfter(42, 0));
  }
}

TEST(GoRandomDeathTest, RefusesEmptyRanges) {
  GoRandom random(1);
  EXPECT_DEATH(random.Intn(0), "CHECK failed");
  EXPECT_DEATH(random.Intn(-5), "CHECK failed");
  EXPECT_DEATH(random.Perm(-1), "CHECK failed");
}

}  // namespace go_random_test
}  // namespace drasim
