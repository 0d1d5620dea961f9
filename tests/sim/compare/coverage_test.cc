// The error rates of paired comparisons where the truth is known: 100 comparisons of each kind in
// `make test`, 10,000 in `make soak`.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "model/distributions.h"
#include "model/random.h"
#include "sim/compare/paired.h"
#include "sim/compare/verdict.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace coverage_test {

constexpr uint64_t kComparisons = 100;
constexpr size_t kSeeds = 20;

Distribution Parsed(const char* text) {
  const absl::StatusOr<Distribution> parsed = Distribution::Parse(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return parsed.value();
}

// Three standard errors of a frequency around `probability`; 0 in `make soak`, where the limits of
// the specification hold as they stand.
double Noise(double probability, uint64_t comparisons) {
  if (comparisons >= 10'000) return 0;
  return 3 * std::sqrt(probability * (1 - probability) / static_cast<double>(comparisons));
}

void ExpectShare(uint64_t hits, uint64_t comparisons, double low, double high, double around) {
  const double share = static_cast<double>(hits) / static_cast<double>(comparisons);
  EXPECT_GE(share, low - Noise(around, comparisons));
  EXPECT_LE(share, high + Noise(around, comparisons));
}

// Base and head are figures of the given distribution: the true difference is 0.
void ExpectCoverageOfEqualPrograms(const char* figure) {
  const Distribution distribution = Parsed(figure);
  Random random(1, figure);
  const uint64_t comparisons = SoakSeeds(kComparisons);
  uint64_t covered_95 = 0;
  uint64_t covered_90 = 0;
  std::vector<double> base(kSeeds);
  std::vector<double> head(kSeeds);
  for (uint64_t c = 0; c < comparisons; ++c) {
    for (double& v : base) v = distribution.Sample(random);
    for (double& v : head) v = distribution.Sample(random);
    const PairedDifference d = ComparePaired(base, head);
    if (d.interval_95.low <= 0 && d.interval_95.high >= 0) ++covered_95;
    if (d.interval_90.low <= 0 && d.interval_90.high >= 0) ++covered_90;
  }
  ExpectShare(covered_95, comparisons, 0.93, 0.97, 0.95);
  ExpectShare(covered_90, comparisons, 0.88, 0.93, 0.90);
}

TEST(CoverageTest, EqualProgramsWithNormalFigures) {
  ExpectCoverageOfEqualPrograms("normal(mean=50,stddev=3)");
}
TEST(CoverageTest, EqualProgramsWithSkewedFigures) {
  ExpectCoverageOfEqualPrograms("exponential(mean=30)");
}
TEST(CoverageTest, EqualProgramsWithLongTails) {
  ExpectCoverageOfEqualPrograms("lognormal(median=600,sigma=1)");
}

// The differences themselves are skewed around a mean other than 0.
void ExpectCoverageOfSkewedDifferences(const char* difference) {
  const Distribution distribution = Parsed(difference);
  Random random(1, difference);
  const uint64_t comparisons = SoakSeeds(kComparisons);
  uint64_t covered = 0;
  const std::vector<double> base(kSeeds, 0.0);
  std::vector<double> head(kSeeds);
  for (uint64_t c = 0; c < comparisons; ++c) {
    for (double& v : head) v = distribution.Sample(random);
    const Interval interval = ComparePaired(base, head).interval_95;
    const double truth = distribution.Mean();
    if (interval.low <= truth && truth <= interval.high) ++covered;
  }
  ExpectShare(covered, comparisons, 0.93, 0.97, 0.95);
}

TEST(CoverageTest, ExponentialDifferences) {
  ExpectCoverageOfSkewedDifferences("exponential(mean=30)");
}
TEST(CoverageTest, LogNormalDifferences) {
  ExpectCoverageOfSkewedDifferences("lognormal(median=1,sigma=0.5)");
}

// A comparison of 20 primary metrics, each with its own seeds' figures. `change`: of one of them,
// in the unit of the figures. Adds up the comparisons with a metric that is called worse or better.
struct GateCounts {
  uint64_t comparisons = 0;
  uint64_t worse = 0;
  uint64_t better = 0;
};

GateCounts CountGates(const char* figure, double change) {
  constexpr size_t kMetrics = 20;
  const Distribution distribution = Parsed(figure);
  Random random(2, figure);
  GateCounts counts;
  counts.comparisons = SoakSeeds(kComparisons);
  for (uint64_t c = 0; c < counts.comparisons; ++c) {
    std::vector<PairedDifference> differences(kMetrics);
    std::vector<double> p;
    for (PairedDifference& d : differences) {
      std::vector<double> flips(kSeeds);
      d.n = kSeeds;
      for (double& v : flips) {
        v = distribution.Sample(random) - distribution.Sample(random);
        if (&d == &differences[7]) v += change;
        d.mean += v / static_cast<double>(kSeeds);
      }
      // The intervals, which take most of the time, do not decide about the gate.
      d.interval_90 = {d.mean, d.mean};
      p.push_back(SignFlipP(flips));
    }
    const std::vector<double> adjusted = HolmAdjusted(p);
    bool worse = false;
    bool better = false;
    for (size_t i = 0; i < kMetrics; ++i) {
      const CellVerdict verdict = JudgeOutcome(differences[i], adjusted[i], {});
      worse |= verdict == CellVerdict::kWorse;
      better |= verdict == CellVerdict::kBetter;
    }
    if (worse) ++counts.worse;
    if (better) ++counts.better;
  }
  return counts;
}

void ExpectFewFalseAlarms(const char* figure) {
  const GateCounts counts = CountGates(figure, 0);
  ExpectShare(counts.worse, counts.comparisons, 0, 0.01, 0.01);
  ExpectShare(counts.better, counts.comparisons, 0, 0.01, 0.01);
}

TEST(GateErrorTest, EqualProgramsWithNormalFigures) {
  ExpectFewFalseAlarms("normal(mean=50,stddev=3)");
}
TEST(GateErrorTest, EqualProgramsWithSkewedFigures) {
  ExpectFewFalseAlarms("exponential(mean=30)");
}
TEST(GateErrorTest, EqualProgramsWithLongTails) {
  ExpectFewFalseAlarms("lognormal(median=600,sigma=1)");
}

// A change of three standard deviations of the figure in one metric out of 20.
TEST(GateErrorTest, ChangesAreFound) {
  const GateCounts counts = CountGates("normal(mean=50,stddev=3)", 9);
  ExpectShare(counts.worse, counts.comparisons, 0.99, 1, 0.99);
  ExpectShare(counts.better, counts.comparisons, 0, 0.01, 0.01);
}

}  // namespace coverage_test
}  // namespace drasim
