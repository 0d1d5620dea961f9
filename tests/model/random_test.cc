#include "model/random.h"

#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "model/state_io.h"

namespace drasim {
namespace random_test {

constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();

Random FromState(const std::vector<uint64_t>& words) {
  StateWriter writer;
  writer.Section("random");
  for (const uint64_t word : words) writer.U64(word);
  StateReader reader(writer.bytes());
  Random random(0, "");
  EXPECT_TRUE(random.Load(reader).ok());
  return random;
}

// a * b as two words, by shifting and adding.
void NaiveMultiply(uint64_t a, uint64_t b, uint64_t* high, uint64_t* low) {
  *high = 0;
  *low = 0;
  for (int bit = 63; bit >= 0; --bit) {
    *high = (*high << 1) | (*low >> 63);
    *low <<= 1;
    if (((b >> bit) & 1) == 0) continue;
    *low += a;
    if (*low < a) ++*high;
  }
}

// The definition of Below, without its shortcuts: products in an incomplete round are refused.
uint64_t NaiveBelow(Random& random, uint64_t n) {
  const uint64_t incomplete = (kMax % n + 1) % n;
  uint64_t high = 0;
  uint64_t low = 0;
  do {
    NaiveMultiply(random.U64(), n, &high, &low);
  } while (low < incomplete);
  return high;
}

// The generator's published reference sequence for the state 1, 2, 3, 4.
TEST(RandomTest, IsXoshiro256StarStar) {
  Random random = FromState({1, 2, 3, 4});
  EXPECT_EQ(random.U64(), 11520U);
  EXPECT_EQ(random.U64(), 0U);
  EXPECT_EQ(random.U64(), 1509978240U);
  EXPECT_EQ(random.U64(), 1215971899390074240U);
  EXPECT_EQ(random.U64(), 1216172134540287360U);
  EXPECT_EQ(random.U64(), 607988272756665600U);
}

TEST(RandomTest, FirstValuesOfStreamsArePinned) {
  Random arrivals(42, "arrivals");
  EXPECT_EQ(arrivals.U64(), 0xa00ee8818062bd90U);
  EXPECT_EQ(arrivals.U64(), 0xd7c5a57a54b7c7f2U);
  EXPECT_EQ(arrivals.U64(), 0xad2f4fb3fe786df7U);
  EXPECT_EQ(arrivals.U64(), 0x1c76211df81df7fbU);
  Random unnamed(0, "");
  EXPECT_EQ(unnamed.U64(), 0x1e28178eedbf0f30U);
  EXPECT_EQ(unnamed.U64(), 0x32dadb1a9e4a4d08U);
  EXPECT_EQ(Random(42, "departures").U64(), 0x1556d9e811734c61U);
  EXPECT_EQ(Random(43, "arrivals").U64(), 0x6755fd782394425dU);
}

TEST(RandomTest, DerivedDrawsArePinned) {
  Random below(42, "arrivals");
  std::vector<uint64_t> digits;
  for (int i = 0; i < 12; ++i) digits.push_back(below.Below(10));
  EXPECT_EQ(digits, (std::vector<uint64_t>{6, 8, 6, 1, 0, 8, 4, 2, 8, 0, 6, 8}));

  Random unit(42, "arrivals");
  EXPECT_EQ(unit.Unit(), 0x1.401dd10300c57p-1);
  EXPECT_EQ(unit.Unit(), 0x1.af8b4af4a96f8p-1);
  EXPECT_EQ(unit.Unit(), 0x1.5a5e9f67fcf0dp-1);

  Random shuffle(42, "arrivals");
  std::vector<int> order(10);
  std::iota(order.begin(), order.end(), 0);
  shuffle.Shuffle(absl::MakeSpan(order));
  EXPECT_EQ(order, (std::vector<int>{2, 3, 8, 1, 4, 9, 0, 5, 7, 6}));

  Random bernoulli(42, "arrivals");
  std::string coins;
  for (int i = 0; i < 20; ++i) coins.push_back(bernoulli.Bernoulli(3, 10) ? '1' : '0');
  EXPECT_EQ(coins, "00011001010010001010");
}

TEST(RandomTest, NearbySeedsAndNamesGiveDifferentStreams) {
  std::set<uint64_t> first;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    for (const char* name : {"", "a", "b", "aa"}) first.insert(Random(seed, name).U64());
  }
  EXPECT_EQ(first.size(), 400U);
}

TEST(RandomTest, StreamsThatDifferInOneLetterAreUncorrelated) {
  Random a(5, "a");
  Random b(5, "b");
  int differing_bits = 0;
  for (int i = 0; i < 10000; ++i) {
    for (uint64_t bits = a.U64() ^ b.U64(); bits != 0; bits &= bits - 1) ++differing_bits;
  }
  // 640,000 fair coins: mean 320,000, standard deviation 400.
  EXPECT_GT(differing_bits, 320000 - 4 * 400);
  EXPECT_LT(differing_bits, 320000 + 4 * 400);
}

TEST(RandomTest, BelowAgreesWithTheNaiveOracle) {
  const uint64_t half = uint64_t{1} << 63;
  // Just above 2^63 about every second draw is rejected.
  for (const uint64_t n : {uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{10},
                           (uint64_t{1} << 32) + 1, half, half + 1, half + half / 2, kMax}) {
    Random fast(n, "oracle");
    Random naive = fast;
    for (int i = 0; i < 500; ++i) {
      const uint64_t value = fast.Below(n);
      ASSERT_EQ(value, NaiveBelow(naive, n)) << "n=" << n << " i=" << i;
      ASSERT_LT(value, n);
    }
    EXPECT_EQ(fast.U64(), naive.U64()) << "different numbers of draws for n=" << n;
  }
}

TEST(RandomTest, BelowIsUniform) {
  Random random(7, "below");
  std::vector<int> counts(10);
  for (int i = 0; i < 100000; ++i) ++counts[random.Below(10)];
  double chi_square = 0;
  for (const int count : counts) chi_square += (count - 10000.0) * (count - 10000.0) / 10000.0;
  EXPECT_LT(chi_square, 27.9);  // 99.9 % quantile for 9 degrees of freedom
}

TEST(RandomTest, UnitIsAMultipleOfTwoToMinus53BelowOne) {
  Random random(7, "unit");
  for (int i = 0; i < 10000; ++i) {
    const double value = random.Unit();
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
    const double scaled = value * 0x1.0p53;
    ASSERT_EQ(static_cast<double>(static_cast<uint64_t>(scaled)), scaled);
  }
  // Five times this word is all ones, which no rotation changes; times nine it is 2^64 - 9, whose
  // top 53 bits are all ones: the largest possible result.
  const uint64_t fifth_of_all_ones = kMax / 5;
  EXPECT_EQ(FromState({0, fifth_of_all_ones, 0, 0}).Unit(), 1.0 - 0x1.0p-53);
}

TEST(RandomTest, BernoulliIsExactAtTheEndsAndAlwaysDraws) {
  Random random(3, "bernoulli");
  Random copy = random;
  EXPECT_FALSE(random.Bernoulli(0, 1));
  EXPECT_TRUE(random.Bernoulli(1, 1));
  EXPECT_FALSE(random.Bernoulli(0, kMax));
  for (int i = 0; i < 3; ++i) copy.U64();
  EXPECT_EQ(random.U64(), copy.U64());
}

TEST(RandomTest, BernoulliHasItsProbability) {
  Random random(7, "bernoulli");
  int hits = 0;
  for (int i = 0; i < 100000; ++i) hits += random.Bernoulli(3, 10) ? 1 : 0;
  // Mean 30,000, standard deviation 145.
  EXPECT_GT(hits, 30000 - 4 * 145);
  EXPECT_LT(hits, 30000 + 4 * 145);
}

TEST(RandomTest, ShuffleMakesEveryOrderEquallyOften) {
  Random random(7, "shuffle");
  std::map<std::vector<int>, int> counts;
  for (int i = 0; i < 24000; ++i) {
    std::vector<int> items = {0, 1, 2, 3};
    random.Shuffle(absl::MakeSpan(items));
    ++counts[items];
  }
  ASSERT_EQ(counts.size(), 24U);
  double chi_square = 0;
  for (const auto& [order, count] : counts) {
    chi_square += (count - 1000.0) * (count - 1000.0) / 1000.0;
  }
  EXPECT_LT(chi_square, 49.7);  // 99.9 % quantile for 23 degrees of freedom
}

TEST(RandomTest, ShuffleOfNothingOrOneDrawsNothing) {
  Random random(1, "x");
  Random copy = random;
  std::vector<std::string> items;
  random.Shuffle(absl::MakeSpan(items));
  items.push_back("only");
  random.Shuffle(absl::MakeSpan(items));
  EXPECT_EQ(items, std::vector<std::string>{"only"});
  EXPECT_EQ(random.U64(), copy.U64());
}

TEST(RandomTest, ContinuesAfterSaveAndLoad) {
  Random random(11, "checkpoint");
  for (int i = 0; i < 5; ++i) random.U64();
  StateWriter writer;
  random.Save(writer);
  StateReader reader(writer.bytes());
  Random restored(0, "other");
  ASSERT_TRUE(restored.Load(reader).ok());
  EXPECT_TRUE(reader.AtEnd());
  for (int i = 0; i < 100; ++i) ASSERT_EQ(restored.U64(), random.U64());
}

TEST(RandomTest, LoadRefusesBadDataAndKeepsTheStream) {
  StateWriter zero;
  zero.Section("random");
  for (int i = 0; i < 4; ++i) zero.U64(0);
  StateWriter other;
  other.Section("engine");
  StateWriter whole;
  Random(1, "x").Save(whole);
  const absl::string_view truncated = whole.bytes().substr(0, whole.bytes().size() - 1);

  const absl::string_view inputs[] = {zero.bytes(), other.bytes(), truncated};
  for (const absl::string_view bytes : inputs) {
    Random random(2, "kept");
    StateReader reader(bytes);
    EXPECT_FALSE(random.Load(reader).ok());
    EXPECT_FALSE(reader.status().ok());
    EXPECT_EQ(random.U64(), Random(2, "kept").U64());
  }
}

TEST(RandomDeathTest, RefusesEmptyRangesAndImpossibleProbabilities) {
  Random random(1, "x");
  EXPECT_DEATH(random.Below(0), "CHECK failed");
  EXPECT_DEATH(random.Bernoulli(2, 1), "CHECK failed");
}

}  // namespace random_test
}  // namespace drasim
