#include "model/run_streams.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "model/go_random.h"
#include "model/hash.h"
#include "model/random.h"
#include "model/state_io.h"

namespace drasim {
namespace run_streams_test {

using Indices = std::vector<uint32_t>;
using Draws = std::vector<uint64_t>;

Indices Iota(size_t n) {
  Indices indices(n);
  std::iota(indices.begin(), indices.end(), 0U);
  return indices;
}

Indices Shuffled(RunStreams& streams, size_t n) {
  Indices order = Iota(n);
  streams.ShuffleArrivals(absl::MakeSpan(order));
  return order;
}

Draws TuningDraws(RunStreams& streams, uint64_t n, size_t count) {
  Draws draws;
  for (size_t i = 0; i < count; ++i) draws.push_back(streams.DrawTuning(n));
  return draws;
}

Draws PolicyDraws(RunStreams& streams, uint64_t n, size_t count) {
  Draws draws;
  for (size_t i = 0; i < count; ++i) draws.push_back(streams.DrawPolicy(n));
  return draws;
}

template <typename T>
std::vector<T> Head(const std::vector<T>& values, size_t n) {
  return std::vector<T>(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n));
}

template <typename T>
std::vector<T> Tail(const std::vector<T>& values, size_t n) {
  return std::vector<T>(values.end() - static_cast<std::ptrdiff_t>(n), values.end());
}

// Go's functions written out over raw draws alone.
class NaiveGo {
 public:
  explicit NaiveGo(int64_t seed) : raw_(seed) {}
  void Skip(int draws) {
    for (int i = 0; i < draws; ++i) raw_.Uint64();
  }
  uint64_t Intn(uint64_t n) {
    const uint64_t range = uint64_t{1} << 31;
    uint64_t value = Bits(31);
    while (value >= range - range % n) value = Bits(31);
    // For powers of two the remainder is the low bits, and nothing is ever refused.
    return value % n;
  }
  Indices Shuffle(size_t n) {
    Indices items = Iota(n);
    for (size_t i = n; i-- > 1;) std::swap(items[i], items[static_cast<size_t>(Scaled(i + 1))]);
    return items;
  }
  Indices Perm(size_t n) {
    Indices items(n);
    for (size_t i = 0; i < n; ++i) {
      const auto j = static_cast<size_t>(Intn(i + 1));
      items[i] = items[j];
      items[j] = static_cast<uint32_t>(i);
    }
    return items;
  }

 private:
  // The upper bits of a draw without its sign bit.
  uint64_t Bits(int count) { return (raw_.Uint64() << 1 >> 1) >> (63 - count); }
  uint64_t Scaled(uint64_t n) {
    const uint64_t range = uint64_t{1} << 32;
    uint64_t product = Bits(32) * n;
    while (product % range < range % n) product = Bits(32) * n;
    return product / range;
  }
  GoRandom raw_;
};

TEST(ArtifactStreamsTest, FollowsTheRecipe) {
  for (const int64_t seed : {int64_t{0}, int64_t{1}, int64_t{42}, int64_t{51}, int64_t{1} << 40}) {
    for (const size_t pods : {size_t{0}, size_t{1}, size_t{2}, size_t{1000}, size_t{8152}}) {
      NaiveGo naive(seed);
      const std::unique_ptr<RunStreams> streams = MakeArtifactStreams(static_cast<uint64_t>(seed));
      naive.Skip(1);
      ASSERT_EQ(Shuffled(*streams, pods), naive.Shuffle(pods)) << seed << " " << pods;
      for (uint64_t n = 1; n < 200; ++n) ASSERT_EQ(streams->DrawTuning(n), naive.Intn(n));
      ASSERT_EQ(streams->DrawTuning(1500000000), naive.Intn(1500000000));
      naive.Skip(10);
      ASSERT_EQ(streams->NodeRanks(1213), naive.Perm(1213)) << seed << " " << pods;
      for (uint64_t n = 1; n < 200; ++n) ASSERT_EQ(streams->DrawPolicy(n), naive.Intn(n));
    }
  }
}

// The first choices of a run with the published default workload: 8152 pods, 1213 nodes.
TEST(ArtifactStreamsTest, FirstChoicesOfSeed42ArePinned) {
  const std::unique_ptr<RunStreams> streams = MakeArtifactStreams(42);
  const Indices order = Shuffled(*streams, 8152);
  EXPECT_EQ(Head(order, 8), (Indices{255, 1685, 6784, 4463, 602, 1564, 3882, 7257}));
  EXPECT_EQ(Tail(order, 4), (Indices{357, 1701, 4923, 538}));
  const Draws tuning = TuningDraws(*streams, 8152, 2715);
  EXPECT_EQ(Head(tuning, 8), (Draws{3888, 5689, 2936, 788, 5416, 104, 5457, 3884}));
  EXPECT_EQ(Tail(tuning, 3), (Draws{7197, 5877, 4840}));
  const Indices ranks = streams->NodeRanks(1213);
  EXPECT_EQ(Head(ranks, 8), (Indices{601, 815, 450, 13, 731, 1143, 966, 834}));
  EXPECT_EQ(Tail(ranks, 4), (Indices{664, 377, 291, 968}));
}

struct PublishedOrder {
  uint64_t seed;
  // Pods that tuning to 130 % appends; one more draw finds that the next would be too much.
  size_t clones;
  const char* order_hash;
  const char* rank_hash;
};

std::string FourDigits(uint32_t value) { return absl::StrCat(absl::Dec(value, absl::kZeroPad4)); }

// The whole order of the published runs, in the form in which their golden hashes were taken: one
// name per line. Names of pods and nodes are numbered, so index order is name order.
TEST(ArtifactStreamsTest, GivesThePublishedOrders) {
  for (const PublishedOrder& want :
       {PublishedOrder{42, 2714, "b2d6025aab881d6d", "08984b9020d103b3"},
        PublishedOrder{43, 2641, "7f0c7cc683c6d0c1", "57514f3e989857eb"}}) {
    const std::unique_ptr<RunStreams> streams = MakeArtifactStreams(want.seed);
    uint64_t order_hash = kFnvOffset;
    for (const uint32_t pod : Shuffled(*streams, 8152)) {
      order_hash = Fnv1a(absl::StrCat("openb-pod-", FourDigits(pod), "\n"), order_hash);
    }
    for (size_t i = 0; i < want.clones; ++i) {
      const auto pod = static_cast<uint32_t>(streams->DrawTuning(8152));
      order_hash =
          Fnv1a(absl::StrCat("openb-pod-", FourDigits(pod), "-tuned-", i, "\n"), order_hash);
    }
    EXPECT_EQ(HexHash(order_hash), want.order_hash) << want.seed;

    streams->DrawTuning(8152);
    const Indices ranks = streams->NodeRanks(1213);
    Indices node_of_rank(ranks.size());
    for (size_t i = 0; i < ranks.size(); ++i) node_of_rank[ranks[i]] = static_cast<uint32_t>(i);
    uint64_t rank_hash = kFnvOffset;
    for (const uint32_t node : node_of_rank) {
      rank_hash = Fnv1a(absl::StrCat("openb-node-", FourDigits(node), "\n"), rank_hash);
    }
    EXPECT_EQ(HexHash(rank_hash), want.rank_hash) << want.seed;
  }
}

TEST(ArtifactStreamsTest, AllChoicesShareOneStream) {
  const std::unique_ptr<RunStreams> plain = MakeArtifactStreams(42);
  const std::unique_ptr<RunStreams> shifted = MakeArtifactStreams(42);
  shifted->DrawTuning(10);
  EXPECT_NE(plain->NodeRanks(100), shifted->NodeRanks(100));
}

TEST(SeededStreamsTest, EveryPurposeHasItsNamedStream) {
  const std::unique_ptr<RunStreams> streams = MakeSeededStreams(42);
  Random arrivals(42, "run/arrivals");
  Random tuning(42, "run/tuning");
  Random ranks(42, "run/ranks");
  Random policy(42, "run/policy");
  for (int round = 0; round < 20; ++round) {
    Indices order = Iota(50);
    arrivals.Shuffle(absl::MakeSpan(order));
    EXPECT_EQ(Shuffled(*streams, 50), order);
    EXPECT_EQ(streams->DrawTuning(1000), tuning.Below(1000));
    Indices permuted = Iota(30);
    ranks.Shuffle(absl::MakeSpan(permuted));
    EXPECT_EQ(streams->NodeRanks(30), permuted);
    EXPECT_EQ(streams->DrawPolicy(7), policy.Below(7));
  }
}

// Draws for one purpose, however many, leave the others' numbers alone.
TEST(SeededStreamsTest, PurposesAreIndependent) {
  const std::unique_ptr<RunStreams> plain = MakeSeededStreams(7);
  const Indices order = Shuffled(*plain, 100);
  const Draws tuning = TuningDraws(*plain, 1000, 20);
  const Indices ranks = plain->NodeRanks(100);
  const Draws policy = PolicyDraws(*plain, 1000, 20);

  const std::unique_ptr<RunStreams> reversed = MakeSeededStreams(7);
  EXPECT_EQ(PolicyDraws(*reversed, 1000, 20), policy);
  PolicyDraws(*reversed, 3, 17);
  EXPECT_EQ(reversed->NodeRanks(100), ranks);
  reversed->NodeRanks(5);
  EXPECT_EQ(TuningDraws(*reversed, 1000, 20), tuning);
  TuningDraws(*reversed, 9, 11);
  EXPECT_EQ(Shuffled(*reversed, 100), order);

  EXPECT_NE(tuning, policy);
  EXPECT_NE(order, ranks);
}

enum class Recipe { kArtifact, kSeeded };

// The name of a test's parameter.
void PrintTo(Recipe recipe, std::ostream* out) {
  *out << (recipe == Recipe::kArtifact ? "artifact" : "seeded");
}

class EveryStreamsTest : public ::testing::TestWithParam<Recipe> {
 protected:
  static std::unique_ptr<RunStreams> Make(uint64_t seed) {
    return GetParam() == Recipe::kArtifact ? MakeArtifactStreams(seed) : MakeSeededStreams(seed);
  }
  static std::string Saved(const RunStreams& streams) {
    StateWriter out;
    streams.Save(out);
    return out.Release();
  }
};

INSTANTIATE_TEST_SUITE_P(Both, EveryStreamsTest,
                         ::testing::Values(Recipe::kArtifact, Recipe::kSeeded));

TEST_P(EveryStreamsTest, OneSeedGivesOneRun) {
  const std::unique_ptr<RunStreams> a = Make(5);
  const std::unique_ptr<RunStreams> b = Make(5);
  EXPECT_EQ(Shuffled(*a, 500), Shuffled(*b, 500));
  EXPECT_EQ(TuningDraws(*a, 500, 50), TuningDraws(*b, 500, 50));
  EXPECT_EQ(a->NodeRanks(500), b->NodeRanks(500));
  EXPECT_EQ(PolicyDraws(*a, 500, 50), PolicyDraws(*b, 500, 50));
}

TEST_P(EveryStreamsTest, SeedsDiffer) {
  const std::unique_ptr<RunStreams> a = Make(5);
  const std::unique_ptr<RunStreams> b = Make(6);
  EXPECT_NE(Shuffled(*a, 500), Shuffled(*b, 500));
  EXPECT_NE(TuningDraws(*a, 500, 50), TuningDraws(*b, 500, 50));
  EXPECT_NE(a->NodeRanks(500), b->NodeRanks(500));
  EXPECT_NE(PolicyDraws(*a, 500, 50), PolicyDraws(*b, 500, 50));
}

TEST_P(EveryStreamsTest, ShufflesAndRanksArePermutations) {
  const std::unique_ptr<RunStreams> streams = Make(3);
  for (const size_t n : {size_t{0}, size_t{1}, size_t{2}, size_t{97}}) {
    Indices order = Shuffled(*streams, n);
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, Iota(n));
    Indices ranks = streams->NodeRanks(n);
    std::sort(ranks.begin(), ranks.end());
    EXPECT_EQ(ranks, Iota(n));
  }
}

TEST_P(EveryStreamsTest, DrawsStayBelowTheirBound) {
  const std::unique_ptr<RunStreams> streams = Make(3);
  for (uint64_t n = 1; n < 500; ++n) {
    ASSERT_LT(streams->DrawTuning(n), n);
    ASSERT_LT(streams->DrawPolicy(n), n);
  }
}

TEST_P(EveryStreamsTest, ContinuesAfterSaveAndLoad) {
  const std::unique_ptr<RunStreams> streams = Make(11);
  for (size_t step = 0; step < 40; ++step) {
    const std::string bytes = Saved(*streams);
    StateReader in(bytes);
    const std::unique_ptr<RunStreams> restored = Make(1);
    ASSERT_TRUE(restored->Load(in).ok());
    ASSERT_TRUE(in.AtEnd());
    ASSERT_EQ(Saved(*restored), bytes);
    ASSERT_EQ(Shuffled(*restored, step), Shuffled(*streams, step));
    ASSERT_EQ(TuningDraws(*restored, 100, 5), TuningDraws(*streams, 100, 5));
    ASSERT_EQ(restored->NodeRanks(20), streams->NodeRanks(20));
    ASSERT_EQ(PolicyDraws(*restored, 100, 5), PolicyDraws(*streams, 100, 5));
  }
}

TEST_P(EveryStreamsTest, TruncatedStateIsAnError) {
  const std::string bytes = Saved(*Make(11));
  const size_t stride = bytes.size() > 500 ? 41 : 1;
  for (size_t length = 0; length < bytes.size(); length += stride) {
    const std::string cut = bytes.substr(0, length);
    StateReader in(cut);
    EXPECT_EQ(Make(1)->Load(in).code(), absl::StatusCode::kDataLoss) << length;
  }
}

TEST_P(EveryStreamsTest, StateOfTheOtherRecipeIsAnError) {
  const std::unique_ptr<RunStreams> artifact = MakeArtifactStreams(11);
  const std::unique_ptr<RunStreams> seeded = MakeSeededStreams(11);
  const std::unique_ptr<RunStreams> streams = Make(1);
  int refused = 0;
  for (const RunStreams* other : {artifact.get(), seeded.get()}) {
    const std::string bytes = Saved(*other);
    StateReader in(bytes);
    if (!streams->Load(in).ok()) ++refused;
  }
  EXPECT_EQ(refused, 1);
}

}  // namespace run_streams_test
}  // namespace drasim
