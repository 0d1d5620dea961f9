#include "model/distributions.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/random.h"

namespace drasim {
namespace distributions_test {

using Kind = Distribution::Kind;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kSamples = 200000;

Distribution Parsed(const std::string& text) {
  const absl::StatusOr<Distribution> result = Distribution::Parse(text);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *result : Distribution();
}

std::string ErrorOf(const absl::StatusOr<Distribution>& result) {
  EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(result.status().message());
}

double RelativeError(double actual, double expected) {
  return std::abs(actual - expected) / std::abs(expected);
}

TEST(DetLogTest, AgreesWithTheLibrary) {
  Random random(1, "log");
  for (int i = 0; i < 100000; ++i) {
    // Every positive finite bit pattern, subnormal ones included, is equally likely.
    const uint64_t bits = 1 + random.Below((uint64_t{0x7ff} << 52) - 1);
    const double x = std::bit_cast<double>(bits);
    ASSERT_LT(RelativeError(DetLog(x), std::log(x)), 1e-14) << x;
  }
  for (int i = 0; i < 100000; ++i) {
    // Near 1, where the result is small.
    const double distance = (random.Unit() - 0.5) / static_cast<double>(1 + random.Below(1000000));
    const double x = 1.0 + distance;
    if (x == 1.0) continue;
    ASSERT_LT(RelativeError(DetLog(x), std::log(x)), 1e-14) << x;
  }
}

TEST(DetLogTest, ValuesArePinned) {
  EXPECT_EQ(DetLog(1.0), 0.0);
  EXPECT_EQ(DetLog(2.0), 0x1.62e42fefa39efp-1);
  EXPECT_EQ(DetLog(10.0), 0x1.26bb1bbb55516p+1);
  EXPECT_EQ(DetLog(0.1), -0x1.26bb1bbb55515p+1);
  EXPECT_EQ(DetLog(1e-310), -0x1.64e69394d9508p+9);
  EXPECT_EQ(DetLog(1e300), 0x1.5963447f87fb5p+9);
}

TEST(DetExpTest, AgreesWithTheLibrary) {
  Random random(1, "exp");
  for (int i = 0; i < 100000; ++i) {
    const double wide = -708.0 + 1417.0 * random.Unit();
    ASSERT_LT(RelativeError(DetExp(wide), std::exp(wide)), 1e-14) << wide;
    const double narrow = -1.0 + 2.0 * random.Unit();
    ASSERT_LT(RelativeError(DetExp(narrow), std::exp(narrow)), 1e-14) << narrow;
  }
}

TEST(DetExpTest, ValuesArePinned) {
  EXPECT_EQ(DetExp(0.0), 1.0);
  EXPECT_EQ(DetExp(1.0), 0x1.5bf0a8b14576ap+1);
  EXPECT_EQ(DetExp(-1.0), 0x1.78b56362cef38p-2);
  EXPECT_EQ(DetExp(0.5), 0x1.a61298e1e069cp+0);
  EXPECT_EQ(DetExp(100.0), 0x1.3494a9b171bf5p+144);
  EXPECT_EQ(DetExp(-740.0), 0x55p-1074);
}

TEST(DetExpTest, EndsOfTheRange) {
  EXPECT_EQ(DetExp(709.782712893384), 0x1.fffffffffff2ap+1023);
  EXPECT_EQ(DetExp(709.7827128933841), kInfinity);
  EXPECT_EQ(DetExp(1e300), kInfinity);
  EXPECT_EQ(DetExp(kInfinity), kInfinity);
  EXPECT_EQ(DetExp(-745.1332191019411), 0x1p-1074);
  EXPECT_EQ(DetExp(-745.1332191019412), 0.0);
  EXPECT_EQ(DetExp(-1e300), 0.0);
  EXPECT_EQ(DetExp(-kInfinity), 0.0);
}

TEST(DetLogDeathTest, RefusesArgumentsOutsideTheDomain) {
  EXPECT_DEATH(DetLog(0.0), "CHECK failed");
  EXPECT_DEATH(DetLog(-1.0), "CHECK failed");
  EXPECT_DEATH(DetLog(kInfinity), "CHECK failed");
  EXPECT_DEATH(DetExp(std::numeric_limits<double>::quiet_NaN()), "CHECK failed");
}

// Known properties of a distribution, found without sampling it.
struct ContinuousCase {
  const char* text;
  double mean;
  std::array<double, 3> quantiles;      // for 10 %, 50 % and 90 %
  std::array<double, 3> first_samples;  // of the stream named `text` with seed 2024
};

std::vector<ContinuousCase> ContinuousCases() {
  const double z = 1.2815515655446004;  // 90 % quantile of the unit normal distribution
  const double weibull_power = 1.0 / 1.5;
  return {
      {"uniform(low=1,high=5)",
       3.0,
       {{1.4, 3.0, 4.6}},
       {{0x1.18a58a616f18ep+1, 0x1.8ca7e489c4e42p+0, 0x1.2d3194cbc8f41p+1}}},
      {"exponential(mean=30)",
       30.0,
       {{-30 * std::log(0.9), -30 * std::log(0.5), -30 * std::log(0.1)}},
       {{0x1.dd314fa997500p+4, 0x1.1ab22d092d504p-3, 0x1.4422882b4091fp+2}}},
      {"normal(mean=10,stddev=3)",
       10.0,
       {{10 - 3 * z, 10, 10 + 3 * z}},
       {{0x1.6ebec5125641ep+3, 0x1.0bc70a19d2269p+3, 0x1.dba9609b76aeep+2}}},
      {"lognormal(median=600,sigma=0.5)",
       600 * std::exp(0.125),
       {{600 * std::exp(-0.5 * z), 600, 600 * std::exp(0.5 * z)}},
       {{0x1.10dca33b920aep+10, 0x1.435a8fe658be0p+9, 0x1.e10564ae1c750p+7}}},
      {"pareto(min=2,alpha=5)",
       2.5,
       {{2 * std::pow(0.9, -0.2), 2 * std::pow(0.5, -0.2), 2 * std::pow(0.1, -0.2)}},
       {{0x1.5d8e8e4e80394p+1, 0x1.3439f930b5f1fp+1, 0x1.8d56fc9f52c69p+1}}},
      {"weibull(scale=100,shape=1.5)",
       100 * std::tgamma(1 + weibull_power),
       {{100 * std::pow(-std::log(0.9), weibull_power),
         100 * std::pow(-std::log(0.5), weibull_power),
         100 * std::pow(-std::log(0.1), weibull_power)}},
       {{0x1.2423b4bab7c4ap+5, 0x1.bbf22cd6c25c1p+5, 0x1.1a679244280fbp+6}}},
  };
}

std::vector<double> Samples(const Distribution& distribution, const std::string& stream,
                            int count) {
  Random random(2024, stream);
  std::vector<double> samples;
  for (int i = 0; i < count; ++i) samples.push_back(distribution.Sample(random));
  return samples;
}

void ExpectMeanWithinFourStandardErrors(const std::vector<double>& samples, double mean) {
  const double n = static_cast<double>(samples.size());
  double sum = 0;
  for (const double x : samples) sum += x;
  double squares = 0;
  for (const double x : samples) squares += (x - sum / n) * (x - sum / n);
  const double standard_error = std::sqrt(squares / (n - 1) / n);
  EXPECT_LT(std::abs(sum / n - mean), 4 * standard_error) << "sample mean " << sum / n;
}

TEST(DistributionTest, FirstSamplesArePinned) {
  for (const ContinuousCase& c : ContinuousCases()) {
    SCOPED_TRACE(c.text);
    const std::vector<double> samples = Samples(Parsed(c.text), c.text, 3);
    for (size_t i = 0; i < 3; ++i) EXPECT_EQ(samples[i], c.first_samples[i]);
  }
}

TEST(DistributionTest, SampleMeansAreTheMean) {
  for (const ContinuousCase& c : ContinuousCases()) {
    SCOPED_TRACE(c.text);
    const Distribution distribution = Parsed(c.text);
    EXPECT_LT(RelativeError(distribution.Mean(), c.mean), 1e-13);
    ExpectMeanWithinFourStandardErrors(Samples(distribution, c.text, kSamples), c.mean);
  }
}

TEST(DistributionTest, QuantilesAreRight) {
  constexpr std::array<double, 3> kProbabilities = {{0.1, 0.5, 0.9}};
  for (const ContinuousCase& c : ContinuousCases()) {
    SCOPED_TRACE(c.text);
    const std::vector<double> samples = Samples(Parsed(c.text), c.text, kSamples);
    for (size_t i = 0; i < 3; ++i) {
      const double p = kProbabilities[i];
      int below = 0;
      for (const double x : samples) below += x <= c.quantiles[i] ? 1 : 0;
      const double standard_deviation = std::sqrt(kSamples * p * (1 - p));
      EXPECT_LT(std::abs(below - kSamples * p), 4 * standard_deviation) << "p=" << p;
    }
  }
}

TEST(DistributionTest, SamplesStayInTheirRange) {
  for (const double x : Samples(Parsed("uniform(low=1,high=5)"), "range", 20000)) {
    ASSERT_GE(x, 1.0);
    ASSERT_LE(x, 5.0);
  }
  for (const double x : Samples(Parsed("uniform(low=3,high=3)"), "range", 10)) ASSERT_EQ(x, 3.0);
  for (const double x : Samples(Parsed("pareto(min=2,alpha=100)"), "range", 20000)) {
    ASSERT_GE(x, 2.0);
  }
  for (const double x : Samples(Parsed("weibull(scale=1,shape=0.5)"), "range", 20000)) {
    ASSERT_GE(x, 0.0);
  }
}

TEST(DistributionTest, SamplesStayFiniteForExtremeParameters) {
  for (const char* text : {"lognormal(median=1e300,sigma=1e308)", "normal(mean=1e308,stddev=1e308)",
                           "pareto(min=1e300,alpha=1e-300)", "weibull(scale=1e300,shape=1e-300)",
                           "exponential(mean=1e308)", "uniform(low=-8e307,high=8e307)",
                           "weibull(scale=1,shape=1e300)"}) {
    for (const double x : Samples(Parsed(text), text, 1000)) ASSERT_TRUE(std::isfinite(x)) << text;
  }
}

TEST(DistributionTest, ZeroSpreadGivesTheCentre) {
  for (const double x : Samples(Parsed("normal(mean=7,stddev=0)"), "x", 10)) EXPECT_EQ(x, 7.0);
  for (const double x : Samples(Parsed("lognormal(median=7,sigma=0)"), "x", 10)) EXPECT_EQ(x, 7.0);
}

TEST(DistributionTest, ConstantDrawsNothing) {
  const Distribution five = Parsed("constant(5)");
  Random random(1, "x");
  Random copy = random;
  EXPECT_EQ(five.Sample(random), 5.0);
  EXPECT_EQ(five.Mean(), 5.0);
  EXPECT_EQ(random.U64(), copy.U64());
}

TEST(DistributionTest, DiscreteIsPinnedAndHasItsWeights) {
  const std::string text = "discrete(1:50,2:30,8:20)";
  const Distribution distribution = Parsed(text);
  EXPECT_DOUBLE_EQ(distribution.Mean(), 2.7);
  const std::vector<double> samples = Samples(distribution, text, kSamples);
  EXPECT_EQ(std::vector<double>(samples.begin(), samples.begin() + 10),
            (std::vector<double>{2, 2, 1, 1, 8, 2, 2, 8, 2, 1}));
  ExpectMeanWithinFourStandardErrors(samples, 2.7);
  int ones = 0;
  int twos = 0;
  for (const double x : samples) {
    ones += x == 1 ? 1 : 0;
    twos += x == 2 ? 1 : 0;
    ASSERT_TRUE(x == 1 || x == 2 || x == 8);
  }
  EXPECT_EQ(ones, 99630);  // expected 100,000, standard deviation 224
  EXPECT_EQ(twos, 60272);  // expected 60,000, standard deviation 205
}

TEST(DistributionTest, DiscreteAgreesWithALinearSearch) {
  Random setup(5, "setup");
  for (int round = 0; round < 50; ++round) {
    std::vector<Distribution::Outcome> outcomes(1 + setup.Below(20));
    uint64_t total = 0;
    for (size_t i = 0; i < outcomes.size(); ++i) {
      outcomes[i].value = static_cast<double>(i);
      outcomes[i].weight = setup.Below(4);  // often 0
      total += outcomes[i].weight;
    }
    const absl::StatusOr<Distribution> distribution = Distribution::Discrete(outcomes);
    ASSERT_EQ(distribution.ok(), total > 0);
    if (total == 0) continue;
    Random random(static_cast<uint64_t>(round), "draws");
    Random naive = random;
    for (int i = 0; i < 200; ++i) {
      uint64_t rest = naive.Below(total);
      size_t index = 0;
      while (rest >= outcomes[index].weight) rest -= outcomes[index++].weight;
      ASSERT_EQ(distribution->Sample(random), outcomes[index].value);
    }
  }
}

TEST(DistributionTest, MeansBeyondTheRangeAreInfinite) {
  EXPECT_EQ(Parsed("pareto(min=1,alpha=1)").Mean(), kInfinity);
  EXPECT_EQ(Parsed("pareto(min=1,alpha=0.5)").Mean(), kInfinity);
  EXPECT_EQ(Parsed("pareto(min=1,alpha=2)").Mean(), 2.0);
  EXPECT_EQ(Parsed("lognormal(median=1,sigma=100)").Mean(), kInfinity);
  EXPECT_EQ(Parsed("weibull(scale=1,shape=0.005)").Mean(), kInfinity);
}

TEST(DistributionTest, WeibullMeanAgreesWithTheGammaFunction) {
  for (int i = 1; i <= 200; ++i) {
    const double shape = 0.05 * i;
    const absl::StatusOr<Distribution> distribution = Distribution::Weibull(3.0, shape);
    ASSERT_TRUE(distribution.ok());
    ASSERT_LT(RelativeError(distribution->Mean(), 3.0 * std::tgamma(1 + 1 / shape)), 1e-13)
        << shape;
  }
}

TEST(DistributionTest, TextFormIsReadAndPrinted) {
  struct TextCase {
    const char* text;
    Kind kind;
    const char* printed;
  };
  const std::vector<TextCase> cases = {
      {"constant(5)", Kind::kConstant, "constant(5)"},
      {" constant ( value = 0.5 ) ", Kind::kConstant, "constant(0.5)"},
      {"constant(-1e-3)", Kind::kConstant, "constant(-0.001)"},
      {"discrete( 1 : 50, 2.5:30 )", Kind::kDiscrete, "discrete(1:50,2.5:30)"},
      {"exponential(mean=30)", Kind::kExponential, "exponential(mean=30)"},
      {"lognormal( sigma = 2 , median=600 )", Kind::kLogNormal, "lognormal(median=600,sigma=2)"},
      {"normal(mean=-1,stddev=0)", Kind::kNormal, "normal(mean=-1,stddev=0)"},
      {"pareto(min=100000,alpha=1.5)", Kind::kPareto, "pareto(min=100000,alpha=1.5)"},
      {"uniform(low=0.1,high=1e30)", Kind::kUniform, "uniform(low=0.1,high=1e+30)"},
      {"weibull(scale=100,shape=0.7)", Kind::kWeibull, "weibull(scale=100,shape=0.7)"},
  };
  for (const TextCase& c : cases) {
    SCOPED_TRACE(c.text);
    const Distribution distribution = Parsed(c.text);
    EXPECT_EQ(distribution.kind(), c.kind);
    EXPECT_EQ(distribution.ToString(), c.printed);
    EXPECT_TRUE(Parsed(c.printed) == distribution);
  }
}

TEST(DistributionTest, FactoriesGiveWhatTheTextGives) {
  EXPECT_TRUE(*Distribution::Constant(5) == Parsed("constant(5)"));
  EXPECT_TRUE(*Distribution::Exponential(30) == Parsed("exponential(mean=30)"));
  EXPECT_TRUE(*Distribution::LogNormal(600, 2) == Parsed("lognormal(median=600,sigma=2)"));
  EXPECT_TRUE(*Distribution::Normal(1, 2) == Parsed("normal(mean=1,stddev=2)"));
  EXPECT_TRUE(*Distribution::Pareto(1, 2) == Parsed("pareto(min=1,alpha=2)"));
  EXPECT_TRUE(*Distribution::Uniform(1, 2) == Parsed("uniform(low=1,high=2)"));
  EXPECT_TRUE(*Distribution::Weibull(1, 2) == Parsed("weibull(scale=1,shape=2)"));
  const std::vector<Distribution::Outcome> outcomes = {{1, 50}, {2, 30}};
  EXPECT_TRUE(*Distribution::Discrete(outcomes) == Parsed("discrete(1:50,2:30)"));
  EXPECT_TRUE(Distribution() == Parsed("constant(0)"));
  EXPECT_FALSE(*Distribution::Normal(1, 2) == *Distribution::Uniform(1, 2));
  EXPECT_EQ(ErrorOf(Distribution::Normal(kInfinity, 1)), "mean must be a finite number, found inf");
}

TEST(DistributionTest, ErrorsSayWhatIsWrong) {
  const std::string known =
      "; known: constant, discrete, exponential, lognormal, normal, pareto, uniform, weibull";
  const std::string shape =
      "expected a name with its parameters in parentheses, as in 'exponential(mean=30)'";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", shape},
      {"exponential", shape},
      {"exponential(mean=30", shape},
      {"lognorm(median=1,sigma=2)", "unknown name 'lognorm' (did you mean 'lognormal'?)" + known},
      {"Unifrom(low=1,high=2)", "unknown name 'Unifrom' (did you mean 'uniform'?)" + known},
      {"zipf(s=1)", "unknown name 'zipf'" + known},
      {"exponential(meen=30)",
       "unknown parameter 'meen' (did you mean 'mean'?); exponential takes mean"},
      {"uniform(low=1,top=5)", "unknown parameter 'top'; uniform takes low and high"},
      {"lognormal(median=600)", "missing parameter 'sigma'"},
      {"exponential()", "missing parameter 'mean'"},
      {"exponential(mean=fast)", "parameter 'mean' is 'fast', which is not a finite number"},
      {"exponential(mean=)", "parameter 'mean' is '', which is not a finite number"},
      {"exponential(mean=inf)", "parameter 'mean' is 'inf', which is not a finite number"},
      {"exponential(mean=1e999)", "parameter 'mean' is '1e999', which is not a finite number"},
      {"exponential(mean=1,mean=2)", "parameter 'mean' is given twice"},
      {"exponential(mean=1,)", "expected parameter=number, found ''"},
      {"exponential(30)", "expected parameter=number, found '30'"},
      {"exponential(mean=0)", "mean must be more than 0, found 0"},
      {"normal(mean=0,stddev=-1)", "stddev must be at least 0, found -1"},
      {"uniform(low=5,high=1)",
       "low must be at most high, and their distance finite, found low=5 and high=1"},
      {"uniform(low=-1e308,high=1e308)",
       "low must be at most high, and their distance finite, found low=-1e+308 and high=1e+308"},
      {"constant(1,2)", "parameter 'value' is given twice"},
      {"constant()", "missing parameter 'value'"},
      {"discrete()", "expected value:weight, as in 'discrete(1:50,2:30)', found ''"},
      {"discrete(a:1)", "the value 'a' is not a finite number"},
      {"discrete(1:1.5)", "the weight '1.5' is not a whole number from 0 to 2^64-1"},
      {"discrete(1:-1)", "the weight '-1' is not a whole number from 0 to 2^64-1"},
      {"discrete(1:0)", "at least one value needs a weight of more than 0"},
      {"discrete(1:18446744073709551615,2:1)", "the sum of the weights does not fit into 64 bits"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_EQ(ErrorOf(Distribution::Parse(text)),
              absl::StrCat("distribution '", text, "': ", message));
  }
}

}  // namespace distributions_test
}  // namespace drasim
