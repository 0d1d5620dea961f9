#include "sim/core/score_tree.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "model/random.h"

namespace drasim {
namespace score_tree_test {

constexpr int32_t kInfeasible = ScoreTree::kInfeasible;

// The contract over a plain array. `places` may be fewer than the tree's leaves.
void ExpectSame(const ScoreTree& tree, const std::vector<int32_t>& places) {
  const auto best = std::max_element(places.begin(), places.end());
  const int32_t wanted = best == places.end() ? kInfeasible : *best;
  ASSERT_EQ(tree.best(), wanted);
  for (size_t i = 0; i < places.size(); ++i) ASSERT_EQ(tree.at(i), places[i]);
  // max_element returns the first of equal elements.
  if (wanted != kInfeasible) {
    ASSERT_EQ(tree.FirstBest(), static_cast<size_t>(best - places.begin()));
  }
}

TEST(ScoreTreeTest, BeginsWithoutAFeasiblePlace) {
  ScoreTree tree;
  for (const size_t places : {size_t{0}, size_t{1}, size_t{2}, size_t{5}, size_t{64}}) {
    tree.Reset(places);
    EXPECT_GE(tree.leaves(), places);
    EXPECT_EQ(tree.best(), kInfeasible);
    for (size_t i = 0; i < places; ++i) EXPECT_EQ(tree.at(i), kInfeasible);
  }
}

TEST(ScoreTreeTest, TheFirstPlaceWinsTies) {
  ScoreTree tree;
  tree.Reset(6);
  tree.Set(4, 7);
  EXPECT_EQ(tree.FirstBest(), 4u);
  tree.Set(2, 7);
  EXPECT_EQ(tree.FirstBest(), 2u);
  tree.Set(5, 7);
  EXPECT_EQ(tree.FirstBest(), 2u);
  tree.Set(2, kInfeasible);
  EXPECT_EQ(tree.FirstBest(), 4u);
  tree.Set(5, 8);
  EXPECT_EQ(tree.FirstBest(), 5u);
  EXPECT_EQ(tree.best(), 8);
  tree.Set(5, kInfeasible);
  tree.Set(4, kInfeasible);
  EXPECT_EQ(tree.best(), kInfeasible);
}

TEST(ScoreTreeTest, TakesEveryScoreAboveInfeasible) {
  ScoreTree tree;
  tree.Reset(3);
  tree.Set(1, kInfeasible + 1);
  EXPECT_EQ(tree.FirstBest(), 1u);
  tree.Set(2, -5);
  EXPECT_EQ(tree.FirstBest(), 2u);
  tree.Set(0, std::numeric_limits<int32_t>::max());
  EXPECT_EQ(tree.FirstBest(), 0u);
  EXPECT_EQ(tree.best(), std::numeric_limits<int32_t>::max());
}

TEST(ScoreTreeTest, ResetForgetsEverything) {
  ScoreTree tree;
  tree.Reset(9);
  for (size_t i = 0; i < 9; ++i) tree.Set(i, 100);
  tree.Reset(5);
  EXPECT_EQ(tree.best(), kInfeasible);
  tree.Set(3, 1);
  EXPECT_EQ(tree.FirstBest(), 3u);
}

// Few distinct scores make ties; many infeasible places make the climb end early and late.
TEST(ScoreTreeTest, RandomChangesMatchAPlainArray) {
  Random random(1, "score tree");
  for (size_t places = 1; places <= 70; ++places) {
    ScoreTree tree;
    tree.Reset(places);
    std::vector<int32_t> plain(places, kInfeasible);
    const uint64_t scores = 1 + random.Below(6);
    const auto draw = [&random, scores] {
      if (random.Below(4) == 0) return kInfeasible;
      return static_cast<int32_t>(random.Below(scores)) - 2;
    };
    for (int step = 0; step < 150; ++step) {
      if (random.Below(20) == 0) {
        // Most places at once.
        for (size_t i = 0; i < places; ++i) {
          if (random.Below(5) == 0) continue;
          plain[i] = draw();
          tree.SetLeaf(i, plain[i]);
        }
        tree.Rebuild();
      } else {
        const auto place = static_cast<size_t>(random.Below(places));
        plain[place] = draw();
        tree.Set(place, plain[place]);
      }
      ExpectSame(tree, plain);
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace score_tree_test
}  // namespace drasim
