#include "sim/compare/statistics.h"

#include <vector>

#include "gtest/gtest.h"
#include "model/number_text.h"

namespace drasim {
namespace statistics_test {

TEST(MeanOfTest, TheMeanOfDecimalsIsADecimal) {
  // A plain sum gives 95.24600000000001.
  EXPECT_EQ(DoubleText(MeanOf({95.14, 95.28, 95.35, 95.34, 95.12}).mean), "95.246");
  // A plain sum of three divided by three is 0.10000000000000002.
  const MeanInterval equal = MeanOf({0.1, 0.1, 0.1});
  EXPECT_EQ(equal.mean, 0.1);
  EXPECT_EQ(equal.stddev, 0);
  EXPECT_EQ(equal.half_width, 0);
  EXPECT_EQ(MeanOf(std::vector<double>(1000, 95.227)).mean, 95.227);
}

TEST(MeanOfTest, DeviationsAreRoundedToo) {
  // 95.4 - 95.2 is 0.20000000000000284 in doubles.
  const MeanInterval two = MeanOf({95.2, 95.4});
  EXPECT_EQ(two.n, 2u);
  EXPECT_EQ(DoubleText(two.mean), "95.3");
  EXPECT_EQ(DoubleText(two.stddev), "0.141421356");
  EXPECT_EQ(DoubleText(two.half_width), "1.2706");
}

TEST(MeanOfTest, FewValues) {
  EXPECT_EQ(MeanOf({}).n, 0u);
  const MeanInterval one = MeanOf({7.25});
  EXPECT_EQ(one.mean, 7.25);
  EXPECT_EQ(one.stddev, 0);
}

TEST(StudentTest, TablesAndSeries) {
  EXPECT_EQ(StudentT975(1), 12.706);
  EXPECT_EQ(StudentT975(30), 2.042);
  EXPECT_NEAR(StudentT975(40), 2.0211, 0.001);
  EXPECT_NEAR(StudentT975(1000000), 1.95996, 0.00001);
  EXPECT_EQ(StudentT95(1), 6.314);
  EXPECT_EQ(StudentT95(19), 1.729);
  EXPECT_EQ(StudentT95(30), 1.697);
  EXPECT_NEAR(StudentT95(40), 1.6839, 0.001);
  EXPECT_NEAR(StudentT95(1000000), 1.64485, 0.00001);
}

TEST(RoundDifferenceTest, KeepsWhatTheFiguresDetermine) {
  EXPECT_EQ(DoubleText(RoundDifference(95.246 - 95.22, 95.246)), "0.026");
  EXPECT_EQ(DoubleText(RoundDifference(86400.3 - 86400.1, 86400.3)), "0.2");
  EXPECT_EQ(DoubleText(RoundDifference(1e9 + 0.3 - 1e9, 1e9)), "0.3");
  EXPECT_EQ(RoundDifference(-2, 1e17), -2);
  EXPECT_EQ(DoubleText(RoundDifference(-1e-14, 95)), "0");
}

}  // namespace statistics_test
}  // namespace drasim
