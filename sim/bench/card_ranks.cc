#include "sim/bench/card_ranks.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "absl/types/span.h"
#include "model/check.h"
#include "model/random.h"

namespace drasim::bench {
namespace {

// By number of policies, from 2 on: Demsar's table 5 (a) with a digit more, and its continuation.
constexpr double kQuantiles[] = {1.960, 2.344, 2.569, 2.728, 2.850, 2.948, 3.031,
                                 3.102, 3.164, 3.219, 3.268, 3.313, 3.354, 3.391,
                                 3.426, 3.458, 3.489, 3.517, 3.544};
static_assert(std::size(kQuantiles) == kMostRanked - 1);

// Sum of squares of the policies' sums: Friedman's statistic grows with it, as the rest of its
// formula does not depend on the order.
int64_t SquaredSums(const std::vector<std::vector<int>>& ranks) {
  int64_t squares = 0;
  for (size_t p = 0; p < ranks.front().size(); ++p) {
    int64_t sum = 0;
    for (const std::vector<int>& row : ranks) sum += row[p];
    squares += sum * sum;
  }
  return squares;
}

}  // namespace

std::vector<int> DoubledRanks(const std::vector<double>& figures, bool more_is_better) {
  std::vector<size_t> order(figures.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return more_is_better ? figures[a] > figures[b] : figures[a] < figures[b];
  });
  std::vector<int> ranks(figures.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin + 1;
    while (end < order.size() && figures[order[end]] == figures[order[begin]]) ++end;
    // The mean of begin + 1 ... end, twice.
    for (size_t i = begin; i < end; ++i) ranks[order[i]] = static_cast<int>(begin + 1 + end);
    begin = end;
  }
  return ranks;
}

double NemenyiQuantile(size_t policies) {
  DRASIM_CHECK(policies >= 2 && policies <= kMostRanked);
  return kQuantiles[policies - 2];
}

RankSummary RankPolicies(const std::vector<std::vector<double>>& figures,
                         const std::vector<bool>& more_is_better) {
  RankSummary summary;
  summary.scenarios = figures.size();
  if (figures.empty()) return summary;
  const size_t policies = figures.front().size();
  std::vector<std::vector<int>> ranks;
  for (size_t s = 0; s < figures.size(); ++s) {
    DRASIM_CHECK(figures[s].size() == policies);
    ranks.push_back(DoubledRanks(figures[s], more_is_better[s]));
  }
  const auto scenarios = static_cast<double>(figures.size());
  for (size_t p = 0; p < policies; ++p) {
    int64_t sum = 0;
    for (const std::vector<int>& row : ranks) sum += row[p];
    summary.mean_ranks.push_back(static_cast<double>(sum) / (2 * scenarios));
  }
  if (policies < 2 || figures.size() < 2) return summary;
  const int64_t found = SquaredSums(ranks);
  Random random(1, "friedman");
  size_t hits = 0;
  for (size_t draw = 0; draw < kRankDraws; ++draw) {
    for (std::vector<int>& row : ranks) random.Shuffle(absl::MakeSpan(row));
    if (SquaredSums(ranks) >= found) ++hits;
  }
  summary.p = static_cast<double>(1 + hits) / static_cast<double>(1 + kRankDraws);
  if (policies <= kMostRanked) {
    const auto k = static_cast<double>(policies);
    summary.critical_distance =
        NemenyiQuantile(policies) * std::sqrt(k * (k + 1) / (6 * scenarios));
  }
  return summary;
}

}  // namespace drasim::bench
