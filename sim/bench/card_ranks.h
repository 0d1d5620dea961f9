// Ranks of several policies over several scenarios: Friedman's test and Nemenyi's critical distance
// (Demsar, "Statistical Comparisons of Classifiers over Multiple Data Sets", 2006, section 3.2.2).
//
//   const RankSummary ranks = RankPolicies({{97.1, 96.0, 90.2}, {9.5, 8.1, 11}}, {true, false});
//   if (ranks.p < 0.05 && ranks.mean_ranks[2] - ranks.mean_ranks[0] > ranks.critical_distance) ...
#ifndef DRASIM_SIM_BENCH_CARD_RANKS_H_
#define DRASIM_SIM_BENCH_CARD_RANKS_H_

#include <cstddef>
#include <vector>

namespace drasim::bench {

// Most policies with a critical distance.
inline constexpr size_t kMostRanked = 20;
// Orders drawn for Friedman's test.
inline constexpr size_t kRankDraws = 99'999;

struct RankSummary {
  size_t scenarios = 0;
  std::vector<double> mean_ranks;  // by policy, from 1 (best); ties share the mean of their ranks
  // The p-value of the hypothesis that every order of the policies is equally likely in every
  // scenario: the share of random orders whose Friedman statistic is at least as large. Drawn from
  // a pinned stream rather than read off a chi-square distribution, which few scenarios do not
  // follow. 1 with fewer than two scenarios or policies.
  double p = 1;
  // Mean ranks that differ by more are significantly different at 5 %, whichever pair is looked at.
  // 0: none, because there are too few or too many policies, or no scenario.
  double critical_distance = 0;
};

// figures[s][p]: of policy p in scenario s, finite; more_is_better[s]: their direction. REQUIRES:
// rows of equal length. O(draws * scenarios * policies).
RankSummary RankPolicies(const std::vector<std::vector<double>>& figures,
                         const std::vector<bool>& more_is_better);

// Twice the ranks of one scenario's figures, so that ties are whole numbers. O(n log n).
std::vector<int> DoubledRanks(const std::vector<double>& figures, bool more_is_better);
// The studentized range's 95 % quantile for infinitely many degrees of freedom, over sqrt(2).
// REQUIRES: 2 <= policies <= kMostRanked.
double NemenyiQuantile(size_t policies);

}  // namespace drasim::bench

#endif  // DRASIM_SIM_BENCH_CARD_RANKS_H_
