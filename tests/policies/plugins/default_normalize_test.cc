// The usual NormalizeScore: figures of upstream's normalize_score_test.go.
#include "policies/plugins/default_normalize.h"

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "gtest/gtest.h"

namespace drasim {
namespace {

using Scores = std::vector<int64_t>;

Scores Normalized(bool reverse, Scores scores) {
  DefaultNormalizeScore(reverse, absl::MakeSpan(scores));
  return scores;
}

TEST(DefaultNormalizeTest, ScalesToTheLargest) {
  EXPECT_EQ(Normalized(false, {1, 2, 3, 4}), (Scores{25, 50, 75, 100}));
  EXPECT_EQ(Normalized(true, {1, 2, 3, 4}), (Scores{75, 50, 25, 0}));
  EXPECT_EQ(Normalized(false, {2, 3, 5}), (Scores{40, 60, 100}));
  EXPECT_EQ(Normalized(false, {1000, 10, 20, 999}), (Scores{100, 1, 2, 99}));
}

TEST(DefaultNormalizeTest, CutsBeforeItReverses) {
  // 100 / 7 is cut to 14, so that reversed it is rounded up.
  EXPECT_EQ(Normalized(false, {1, 7}), (Scores{14, 100}));
  EXPECT_EQ(Normalized(true, {1, 7}), (Scores{86, 0}));
}

TEST(DefaultNormalizeTest, OnlyZerosAreAllWorstOrAllBest) {
  EXPECT_EQ(Normalized(false, {0, 0}), (Scores{0, 0}));
  EXPECT_EQ(Normalized(true, {0, 0}), (Scores{100, 100}));
  EXPECT_EQ(Normalized(true, {}), Scores{});
}

}  // namespace
}  // namespace drasim
