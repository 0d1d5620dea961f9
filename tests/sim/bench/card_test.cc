// Score cards: ranks with their tests, differences, wins, fronts and distances from the bound.
#include "sim/bench/card.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "sim/bench/bench_metrics.h"
#include "sim/bench/bench_table.h"
#include "sim/bench/card_ranks.h"

namespace drasim::bench {
namespace {

// ---- ranks ----

TEST(CardRanksTest, TiesShareRanks) {
  EXPECT_EQ(DoubledRanks({5, 9, 1}, true), (std::vector<int>{4, 2, 6}));
  EXPECT_EQ(DoubledRanks({5, 9, 1}, false), (std::vector<int>{4, 6, 2}));
  EXPECT_EQ(DoubledRanks({3, 3, 1, 3}, true), (std::vector<int>{4, 4, 8, 4}));
  EXPECT_EQ(DoubledRanks({2, 2}, false), (std::vector<int>{3, 3}));
}

// Demsar's example (section 3.2.2, table 6): four classifiers on 14 data sets, with average ranks
// of 3.143, 2.000, 2.893 and 1.964, and a critical distance of 1.25 at 5 %.
const std::vector<std::vector<double>>& DemsarsFigures() {
  static const auto* const figures = new std::vector<std::vector<double>>{
      {0.763, 0.768, 0.771, 0.798},  {0.599, 0.591, 0.590, 0.569}, {0.954, 0.971, 0.968, 0.967},
      {0.628, 0.661, 0.654, 0.657},  {0.882, 0.888, 0.886, 0.898}, {0.936, 0.931, 0.916, 0.931},
      {0.661, 0.668, 0.609, 0.685},  {0.583, 0.583, 0.563, 0.625}, {0.775, 0.838, 0.866, 0.875},
      {1.000, 1.000, 1.000, 1.000},  {0.940, 0.962, 0.965, 0.962}, {0.619, 0.666, 0.614, 0.669},
      {0.972, 0.981, 0.9751, 0.975}, {0.957, 0.978, 0.946, 0.970}};
  return *figures;
}

TEST(CardRanksTest, AgreesWithThePublishedExample) {
  const RankSummary ranks =
      RankPolicies(DemsarsFigures(), std::vector<bool>(DemsarsFigures().size(), true));
  ASSERT_EQ(ranks.mean_ranks.size(), 4u);
  EXPECT_NEAR(ranks.mean_ranks[0], 3.143, 5e-4);
  EXPECT_NEAR(ranks.mean_ranks[1], 2.000, 5e-4);
  EXPECT_NEAR(ranks.mean_ranks[2], 2.893, 5e-4);
  EXPECT_NEAR(ranks.mean_ranks[3], 1.964, 5e-4);
  EXPECT_NEAR(ranks.critical_distance, 1.25, 5e-3);
  // F(3, 39) = 3.69: significant at 5 %, and p is 0.0198; that of chi-square is 0.0257.
  EXPECT_GT(ranks.p, 0.01);
  EXPECT_LT(ranks.p, 0.03);
}

TEST(CardRanksTest, EqualPoliciesAreNotTold) {
  const RankSummary ranks = RankPolicies({{1, 1, 1}, {2, 2, 2}, {3, 3, 3}}, {true, false, true});
  EXPECT_EQ(ranks.p, 1);
  EXPECT_EQ(ranks.mean_ranks, (std::vector<double>{2, 2, 2}));
}

// All orders equal in six scenarios: of 2^6 pairs of orders, two are as extreme.
TEST(CardRanksTest, TwoPoliciesAreASignTest) {
  const RankSummary ranks =
      RankPolicies(std::vector<std::vector<double>>(6, {1, 2}), std::vector<bool>(6, true));
  EXPECT_NEAR(ranks.p, 2.0 / 64, 0.002);
  EXPECT_EQ(ranks.mean_ranks, (std::vector<double>{2, 1}));
}

TEST(CardRanksTest, OneScenarioProvesNothing) {
  const RankSummary ranks = RankPolicies({{1, 2, 3}}, {true});
  EXPECT_EQ(ranks.p, 1);
  EXPECT_EQ(ranks.critical_distance, 0);
  EXPECT_EQ(RankPolicies({}, {}).scenarios, 0u);
}

// The distribution of the range of k normal figures, integrated: k * integral of phi(z) *
// (Phi(z) - Phi(z - q))^(k - 1).
double RangeProbability(double q, size_t k) {
  const auto phi_sum = [](double x) { return 0.5 * (1 + std::erf(x / std::sqrt(2.0))); };
  constexpr int kSteps = 4000;
  const double width = (16 + q) / kSteps;
  double sum = 0;
  for (int i = 0; i <= kSteps; ++i) {
    const double z = -8 + i * width;
    const double weight = i == 0 || i == kSteps ? 1 : i % 2 == 1 ? 4 : 2;
    sum += weight * std::exp(-z * z / 2) / std::sqrt(2 * M_PI) *
           std::pow(phi_sum(z) - phi_sum(z - q), static_cast<double>(k - 1));
  }
  return static_cast<double>(k) * sum * width / 3;
}

TEST(CardRanksTest, QuantilesAreThoseOfTheStudentizedRange) {
  for (size_t k = 2; k <= kMostRanked; ++k) {
    EXPECT_NEAR(RangeProbability(NemenyiQuantile(k) * std::sqrt(2.0), k), 0.95, 2e-4) << k;
  }
}

// ---- cards ----

BenchRow CardRow(const std::string& policy, uint64_t seed, double allocation,
                 double unschedulable) {
  BenchRow row;
  row.id = {"fill", "", policy, seed};
  row.primary = {"gpu_allocation_percent_end", true, {}};
  row.random = true;
  row.metrics.resize(BenchMetrics().size());
  row.metrics[MetricIndex("gpu_allocation_percent_end")] = absl::StrCat(allocation);
  row.metrics[MetricIndex("pods_unschedulable")] = absl::StrCat(unschedulable);
  row.fingerprint = "0123456789abcdef";
  return row;
}

BenchTable SmallResults() {
  BenchTable table;
  table.suite = "small";
  table.version = 3;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    const auto s = static_cast<double>(seed);
    table.rows.push_back(CardRow("a", seed, 80 + s, 10));
    table.rows.push_back(CardRow("b", seed, 90, 20));
    table.rows.push_back(CardRow("c", seed, seed == 1 ? 90 : 70, 20));
  }
  return table;
}

TEST(CardTest, DifferencesWinsFrontsAndBounds) {
  SampleBounds bounds;
  for (uint64_t seed = 1; seed <= 4; ++seed) bounds[{"fill", seed}] = {100'000, 95'000};
  const absl::StatusOr<Card> card = MakeCard(SmallResults(), bounds, {"a", {}});
  ASSERT_TRUE(card.ok()) << card.status();
  ASSERT_EQ(card->scenarios.size(), 1u);
  const CardScenario& fill = card->scenarios[0];
  EXPECT_EQ(fill.bound_percent, 95.0);
  ASSERT_EQ(fill.lines.size(), 3u);
  EXPECT_EQ(fill.lines[0].mean, 82.5);
  EXPECT_EQ(fill.lines[0].difference.n, 0u);
  EXPECT_EQ(fill.lines[1].difference.n, 4u);
  EXPECT_EQ(fill.lines[1].difference.mean, 7.5);
  EXPECT_EQ(fill.lines[0].won, 0);
  EXPECT_EQ(fill.lines[1].won, 3.5 / 4);  // seed 1 is shared
  EXPECT_EQ(fill.lines[2].won, 0.5 / 4);
  EXPECT_EQ(fill.lines[0].below_bound, 12.5);
  EXPECT_EQ(fill.lines[1].below_bound, 5.0);
  EXPECT_TRUE(fill.lines[0].on_front);  // fewest unschedulable pods
  EXPECT_TRUE(fill.lines[1].on_front);
  EXPECT_FALSE(fill.lines[2].on_front);
  EXPECT_EQ(card->ranked, (std::vector<std::string>{"a", "b", "c"}));
}

TEST(CardTest, AFrontOfOneMetricIsItsBest) {
  const absl::StatusOr<Card> card =
      MakeCard(SmallResults(), {}, {"", {"gpu_allocation_percent_end"}});
  ASSERT_TRUE(card.ok());
  EXPECT_EQ(card->reference, "a");  // all ran everywhere
  EXPECT_FALSE(card->scenarios[0].lines[0].on_front);
  EXPECT_TRUE(card->scenarios[0].lines[1].on_front);
  EXPECT_EQ(card->scenarios[0].bound_percent, std::nullopt);
}

TEST(CardTest, BadRequests) {
  EXPECT_EQ(MakeCard(SmallResults(), {}, {"aa", {}}).status().message(),
            "--reference: found no results of 'aa' (did you mean 'a'?)");
  EXPECT_EQ(MakeCard(SmallResults(), {}, {"", {"gpus"}}).status().code(),
            absl::StatusCode::kInvalidArgument);
  BenchTable one = SmallResults();
  std::erase_if(one.rows, [](const BenchRow& row) { return row.id.policy != "a"; });
  EXPECT_EQ(MakeCard(one, {}, {}).status().message(),
            "found no scenario with results of two policies, which a card compares");
  SampleBounds low;
  low[{"fill", 1}] = {100'000, 80'999};
  EXPECT_EQ(MakeCard(SmallResults(), low, {}).status().code(), absl::StatusCode::kInternal);
}

TEST(CardTest, TextsHaveALineForEachPolicy) {
  const absl::StatusOr<Card> card = MakeCard(SmallResults(), {}, {"a", {}});
  ASSERT_TRUE(card.ok());
  EXPECT_NE(CardText(*card).find("suite small, version 3, differences from a"), std::string::npos);
  EXPECT_NE(CardText(*card).find("b           4    90  +7.5 ["), std::string::npos)
      << CardText(*card);
  EXPECT_NE(CardCsv(*card).find("\nfill,,c,gpu_allocation_percent_end,higher,4,75,"),
            std::string::npos)
      << CardCsv(*card);
  EXPECT_NE(CardJson(*card).find("\"schema\": \"drasim.bench-card/v1\""), std::string::npos);
}

}  // namespace
}  // namespace drasim::bench
