#include "model/number_text.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

#include "gtest/gtest.h"
#include "model/random.h"
#include "model/time.h"

namespace drasim {
namespace number_text_test {

constexpr std::array<double, 10> kPowers = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
constexpr double kLimit = 4503599627370496.0;  // 2^52

uint64_t Bits(double value) { return std::bit_cast<uint64_t>(value); }

// The double that is `steps` representable values further from zero.
double Away(double value, int steps) {
  return std::bit_cast<double>(Bits(value) + static_cast<uint64_t>(int64_t{steps}));
}

// Compares both functions with the C library and counts the values that took part.
class AgainstPrintf {
 public:
  // False at the first difference, which is reported.
  bool Same(double value, int decimals) {
    if (!(std::fabs(value) * kPowers[static_cast<size_t>(decimals)] < kLimit)) return true;
    ++compared_;
    std::array<char, 64> text;
    std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
    const double rounded = std::strtod(text.data(), nullptr);
    const double actual = RoundDecimals(value, decimals);
    // As bits, so that the sign of zero counts.
    if (Bits(actual) != Bits(rounded)) {
      ADD_FAILURE() << "RoundDecimals(" << DoubleText(value) << ", " << decimals << ") is "
                    << DoubleText(actual) << ", printf writes " << text.data();
      return false;
    }
    std::array<char, kMostDoubleChars> written;
    const std::string direct(written.data(), WriteRounded(value, decimals, written.data()));
    if (direct != DoubleText(actual)) {
      ADD_FAILURE() << "WriteRounded(" << DoubleText(value) << ", " << decimals << ") is " << direct
                    << ", AppendDouble writes " << DoubleText(actual);
      return false;
    }
    const std::string fixed = FixedText(value, decimals);
    if (fixed != text.data()) {
      ADD_FAILURE() << "FixedText(" << DoubleText(value) << ", " << decimals << ") is " << fixed
                    << ", printf writes " << text.data();
      return false;
    }
    return true;
  }
  int compared() const { return compared_; }

 private:
  int compared_ = 0;
};

TEST(RoundDecimalsTest, RoundsToTheNearest) {
  EXPECT_EQ(RoundDecimals(95.2349, 2), 95.23);
  EXPECT_EQ(RoundDecimals(95.2351, 2), 95.24);
  EXPECT_EQ(RoundDecimals(-95.2351, 2), -95.24);
  EXPECT_EQ(RoundDecimals(1234567.891, 0), 1234568.0);
  EXPECT_EQ(RoundDecimals(0.123456789123, 9), 0.123456789);
  EXPECT_EQ(RoundDecimals(0, 5), 0.0);
}

TEST(RoundDecimalsTest, ExactTiesGoToEven) {
  EXPECT_EQ(RoundDecimals(0.5, 0), 0.0);
  EXPECT_EQ(RoundDecimals(1.5, 0), 2.0);
  EXPECT_EQ(RoundDecimals(2.5, 0), 2.0);
  EXPECT_EQ(RoundDecimals(0.125, 2), 0.12);
  EXPECT_EQ(RoundDecimals(0.375, 2), 0.38);
  EXPECT_EQ(RoundDecimals(-0.125, 2), -0.12);
  EXPECT_EQ(RoundDecimals(-2.5, 0), -2.0);
}

// These decimals have no exact double: the double next to them lies on one side of the tie.
TEST(RoundDecimalsTest, TheExactBinaryValueDecidesNextToATie) {
  EXPECT_EQ(RoundDecimals(0.005, 2), 0.01);  // 0.005000000000000000104...
  EXPECT_EQ(RoundDecimals(0.015, 2), 0.01);  // 0.014999999999999999444...
  EXPECT_EQ(RoundDecimals(0.05, 1), 0.1);    // 0.05000000000000000277...
  EXPECT_EQ(RoundDecimals(0.15, 1), 0.1);    // 0.1499999999999999944...
  EXPECT_EQ(RoundDecimals(1.005, 2), 1.0);   // 1.00499999999999989...
  EXPECT_EQ(RoundDecimals(2.675, 2), 2.67);  // 2.67499999999999982...
  EXPECT_EQ(RoundDecimals(1.115, 2), 1.11);  // 1.11499999999999999...
  EXPECT_EQ(RoundDecimals(-0.005, 2), -0.01);
  EXPECT_EQ(RoundDecimals(-0.015, 2), -0.01);
}

TEST(RoundDecimalsTest, KeepsTheSignOfZero) {
  EXPECT_EQ(Bits(RoundDecimals(-0.001, 2)), Bits(-0.0));
  EXPECT_EQ(Bits(RoundDecimals(-0.0, 2)), Bits(-0.0));
  EXPECT_EQ(Bits(RoundDecimals(0.001, 2)), Bits(0.0));
}

// An exponent is shorter than zeros from some places on.
TEST(WriteRoundedTest, WritesAsAppendDoubleDoes) {
  const auto text = [](double value, int decimals) {
    std::array<char, kMostDoubleChars> to;
    return std::string(to.data(), WriteRounded(value, decimals, to.data()));
  };
  EXPECT_EQ(text(866232.5512, 2), "866232.55");
  EXPECT_EQ(text(106.7049, 2), "106.7");
  EXPECT_EQ(text(12, 2), "12");
  EXPECT_EQ(text(-3.25, 2), "-3.25");
  EXPECT_EQ(text(-0.001, 2), "-0");
  EXPECT_EQ(text(0.05, 3), "0.05");
  for (int decimals = 0; decimals <= 9; ++decimals) {
    for (double digits : {1.0, 2.0, 12.0, 123.0, 1023.0}) {
      for (double power = 1e-9; power < 1e20; power *= 10) {
        const double value = digits * power;
        if (value * std::pow(10.0, decimals) >= 4e15) break;
        EXPECT_EQ(text(value, decimals), DoubleText(RoundDecimals(value, decimals)))
            << value << " " << decimals;
      }
    }
  }
}

TEST(RoundDecimalsDeathTest, RefusesPlacesThatItHasNoPowerFor) {
  EXPECT_DEATH(RoundDecimals(1, -1), "CHECK failed");
  EXPECT_DEATH(RoundDecimals(1, 10), "CHECK failed");
}

// Every kind of value that a report rounds, plus every binary exponent up to the limit.
TEST(RoundingAgainstPrintfTest, RandomValues) {
  Random random(1, "number_text_test");
  AgainstPrintf check;
  for (int i = 0; i < 26000; ++i) {
    for (int decimals = 0; decimals <= 9; ++decimals) {
      const double sign = random.Below(2) == 0 ? 1 : -1;
      const double unit = sign * random.Unit();
      const auto large = static_cast<double>(uint64_t{1} << random.Below(53));
      const auto small = static_cast<double>(uint64_t{1} << random.Below(64));
      ASSERT_TRUE(check.Same(100 * unit, decimals));
      ASSERT_TRUE(check.Same(unit * large, decimals));
      ASSERT_TRUE(check.Same(unit / small, decimals));
    }
  }
  EXPECT_GE(check.compared(), 650000);
}

// m / 2^(d+1) with m odd lies exactly between two decimals of d places; no other double does.
TEST(RoundingAgainstPrintfTest, ExactTiesAndTheirNeighbours) {
  Random random(2, "number_text_test");
  AgainstPrintf check;
  for (int decimals = 0; decimals <= 9; ++decimals) {
    const auto denominator = static_cast<double>(uint64_t{2} << decimals);
    for (uint64_t i = 0; i < 5000; ++i) {
      const uint64_t half = i < 2500 ? i : random.Below(uint64_t{1} << random.Below(50));
      const double tie = static_cast<double>(2 * half + 1) / denominator;
      for (int steps = -1; steps <= 1; ++steps) {
        ASSERT_TRUE(check.Same(Away(tie, steps), decimals));
        ASSERT_TRUE(check.Same(-Away(tie, steps), decimals));
      }
    }
  }
  EXPECT_GE(check.compared(), 200000);
}

// Doubles next to decimals that end in 5, such as 0.005: the product with 10^d rounds to a tie
// although the value is none.
TEST(RoundingAgainstPrintfTest, DoublesNextToDecimalTies) {
  Random random(3, "number_text_test");
  AgainstPrintf check;
  for (int decimals = 0; decimals <= 9; ++decimals) {
    for (uint64_t i = 0; i < 3000; ++i) {
      const uint64_t below = i < 1500 ? i : random.Below(uint64_t{1} << random.Below(50));
      const double value =
          (static_cast<double>(below) + 0.5) / kPowers[static_cast<size_t>(decimals)];
      for (int steps = -2; steps <= 2; ++steps) {
        ASSERT_TRUE(check.Same(Away(value, steps), decimals));
        ASSERT_TRUE(check.Same(-Away(value, steps), decimals));
      }
    }
  }
  EXPECT_GE(check.compared(), 250000);
}

TEST(FixedTextTest, WritesExactlyThatManyPlaces) {
  EXPECT_EQ(FixedText(95.23, 2), "95.23");
  EXPECT_EQ(FixedText(95, 2), "95.00");
  EXPECT_EQ(FixedText(0.5, 0), "0");
  EXPECT_EQ(FixedText(1.5, 0), "2");
  EXPECT_EQ(FixedText(-0.001, 2), "-0.00");
  EXPECT_EQ(FixedText(1e21, 1), "1000000000000000000000.0");
  EXPECT_EQ(FixedText(0.1, 20), "0.10000000000000000555");
}

TEST(FixedTextTest, HasRoomForTheLongestNumber) {
  const double largest = std::numeric_limits<double>::max();
  std::array<char, 400> text;
  std::snprintf(text.data(), text.size(), "%.9f", -largest);
  EXPECT_EQ(FixedText(-largest, 9), text.data());
}

TEST(DoubleTextTest, IsTheShortestTextThatReadsBack) {
  EXPECT_EQ(DoubleText(95.23), "95.23");
  EXPECT_EQ(DoubleText(0.1), "0.1");
  EXPECT_EQ(DoubleText(1e30), "1e+30");
  EXPECT_EQ(DoubleText(0), "0");
  EXPECT_EQ(DoubleText(-0.0), "-0");
  EXPECT_EQ(DoubleText(-2.5), "-2.5");
  EXPECT_EQ(DoubleText(100), "100");
  EXPECT_EQ(DoubleText(123456), "123456");
  EXPECT_EQ(DoubleText(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(DoubleText(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(DoubleText(9007199254740992.0), "9007199254740992");
  EXPECT_EQ(DoubleText(std::numeric_limits<double>::max()), "1.7976931348623157e+308");
  EXPECT_EQ(DoubleText(std::numeric_limits<double>::min()), "2.2250738585072014e-308");
  EXPECT_EQ(DoubleText(std::numeric_limits<double>::denorm_min()), "5e-324");
}

TEST(DoubleTextTest, ChoosesTheShorterOfTheTwoForms) {
  EXPECT_EQ(DoubleText(10000), "10000");
  EXPECT_EQ(DoubleText(100000), "1e+05");
  EXPECT_EQ(DoubleText(100000.5), "100000.5");
  EXPECT_EQ(DoubleText(0.001), "0.001");
  EXPECT_EQ(DoubleText(0.0001), "1e-04");
  EXPECT_EQ(DoubleText(0.00012), "0.00012");
}

TEST(DoubleTextTest, TimesAreTheDecimalsThatTheyStandFor) {
  EXPECT_EQ(DoubleText(SimTime(300'000'000).seconds()), "0.3");
  EXPECT_EQ(DoubleText(SimDuration(95'227'000'000).seconds()), "95.227");
}

TEST(RoundSignificantTest, DropsWhatIsBehindTheDigits) {
  EXPECT_EQ(RoundSignificant(95.22699999999999, 15), 95.227);
  EXPECT_EQ(RoundSignificant(95.24600000000001, 15), 95.246);
  EXPECT_EQ(RoundSignificant(-0.1 - 0.2, 15), -0.3);
  EXPECT_EQ(RoundSignificant(0, 15), 0);
  EXPECT_EQ(RoundSignificant(12345, 2), 12000);
  EXPECT_EQ(RoundSignificant(1.0 / 3, 15), 0.333333333333333);
  EXPECT_EQ(RoundSignificant(1.0 / 3, 17), 1.0 / 3);
  const double largest = std::numeric_limits<double>::max();
  EXPECT_EQ(RoundSignificant(largest, 3), largest);
}

TEST(DoubleTextTest, AppendsToWhatIsThere) {
  std::string text = "x=";
  AppendDouble(&text, 1.5);
  AppendDouble(&text, -3);
  EXPECT_EQ(text, "x=1.5-3");
}

TEST(DoubleTextTest, RandomValuesReadBackAndNoExponentFormIsShorter) {
  Random random(4, "number_text_test");
  for (int i = 0; i < 60000; ++i) {
    const auto any = std::bit_cast<double>(random.U64());
    const double value = i % 2 == 0 ? any : static_cast<double>(random.Below(1000000)) / 100;
    if (!std::isfinite(value)) continue;
    const std::string text = DoubleText(value);
    ASSERT_EQ(Bits(std::strtod(text.c_str(), nullptr)), Bits(value)) << text;
    std::array<char, 64> shortest;
    int length = 0;
    for (int digits = 0; digits <= 16; ++digits) {
      length = std::snprintf(shortest.data(), shortest.size(), "%.*e", digits, value);
      if (Bits(std::strtod(shortest.data(), nullptr)) == Bits(value)) break;
    }
    ASSERT_LE(text.size(), static_cast<size_t>(length)) << text << " " << shortest.data();
  }
}

}  // namespace number_text_test
}  // namespace drasim
