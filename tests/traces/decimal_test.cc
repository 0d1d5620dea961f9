#include "traces/decimal.h"

#include <cstdint>
#include <limits>
#include <string>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/random.h"
#include "model/time.h"

namespace drasim {
namespace decimal_test {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMib = int64_t{1} << 20;

// The amount, or minus the error's number.
int64_t Amount(absl::string_view text, int64_t scale) {
  int64_t value = -100;
  const DecimalError error = ParseAmount(text, scale, &value);
  if (error == DecimalError::kNone) return value;
  EXPECT_EQ(value, -100) << text;
  return -static_cast<int64_t>(error);
}

constexpr int64_t kNotANumber = -static_cast<int64_t>(DecimalError::kNotANumber);
constexpr int64_t kNegative = -static_cast<int64_t>(DecimalError::kNegative);
constexpr int64_t kTooLarge = -static_cast<int64_t>(DecimalError::kTooLarge);

TEST(DecimalTest, PlainDigits) {
  int64_t value = -1;
  EXPECT_TRUE(ParseDigits("0", &value));
  EXPECT_EQ(value, 0);
  EXPECT_TRUE(ParseDigits("999999999999999999", &value));
  EXPECT_EQ(value, 999999999999999999);
  EXPECT_TRUE(ParseDigits("007", &value));
  EXPECT_EQ(value, 7);
  for (absl::string_view text :
       {"", "1000000000000000000", "-1", "+1", "1.", " 1", "1 ", "1e1", "a", "/", ":", "\xB9"}) {
    EXPECT_FALSE(ParseDigits(text, &value)) << text;
  }
}

TEST(DecimalTest, AmountsAreExactAndRoundUp) {
  EXPECT_EQ(Amount("12", 1000), 12000);
  EXPECT_EQ(Amount("1.5", 1000), 1500);
  EXPECT_EQ(Amount(".5", 1000), 500);
  EXPECT_EQ(Amount("5.", 1000), 5000);
  EXPECT_EQ(Amount("+2", 1), 2);
  EXPECT_EQ(Amount(" 2\t", 1), 2);
  EXPECT_EQ(Amount("0.0001", 1000), 1);
  EXPECT_EQ(Amount("0.0010", 1000), 1);
  EXPECT_EQ(Amount("0.00100000000000000000000000000000000001", 1000), 2);
  EXPECT_EQ(Amount("475.00000000000006", 1'000'000'000), 475'000'000'001);
  EXPECT_EQ(Amount("0.1", 10), 1);
  EXPECT_EQ(Amount("0", 1000), 0);
  EXPECT_EQ(Amount("-0.00", 1000), 0);
  EXPECT_EQ(Amount("000000000000000000000000012", 1), 12);
  // One byte more than 200 GiB.
  EXPECT_EQ(Amount("204800.00000095367431640625", kMib), 200 * 1024 * kMib + 1);
}

TEST(DecimalTest, Exponents) {
  EXPECT_EQ(Amount("1e3", 1), 1000);
  EXPECT_EQ(Amount("1.25E+2", 1), 125);
  EXPECT_EQ(Amount("12345e-2", 1000), 123450);
  EXPECT_EQ(Amount("1e-05", 1'000'000), 10);
  EXPECT_EQ(Amount("1e-999999999999999999999", 1), 1);
  EXPECT_EQ(Amount("0e999999999999999999999", 1), 0);
  EXPECT_EQ(Amount("1e999999999999999999999", 1), kTooLarge);
  EXPECT_EQ(Amount(absl::StrCat("0.", std::string(5000, '0'), "7e5002"), 1), 70);
  EXPECT_EQ(Amount(absl::StrCat("7", std::string(5000, '0'), "e-4999"), 1), 70);
}

TEST(DecimalTest, Limits) {
  EXPECT_EQ(Amount("9223372036854775807", 1), kMax);
  EXPECT_EQ(Amount("9223372036854775808", 1), kTooLarge);
  EXPECT_EQ(Amount("9223372036854775806.5", 1), kMax);
  EXPECT_EQ(Amount("9223372036854775807.5", 1), kTooLarge);
  EXPECT_EQ(Amount("9223372036854775.807", 1000), kMax);
  EXPECT_EQ(Amount("9223372036854775.808", 1000), kTooLarge);
  EXPECT_EQ(Amount("8796093022207", kMib), 8796093022207 * kMib);
  EXPECT_EQ(Amount("8796093022208", kMib), kTooLarge);
  EXPECT_EQ(Amount("2562047", kHourNs), 2562047 * kHourNs);
  EXPECT_EQ(Amount("2562048", kHourNs), kTooLarge);
}

TEST(DecimalTest, OtherTextIsNoAmount) {
  for (absl::string_view text :
       {"",      " ",        "-",    ".",     "+.",    "12Gi",    "NaN", "nan",
        "inf",   "Infinity", "0x10", "1,000", "1 000", "1e",      "1e+", "e5",
        "1.2.3", "--1",      "1-",   "12m",   "1_0",   "\xD9\xA1"}) {
    EXPECT_EQ(Amount(text, 1000), kNotANumber) << text;
  }
  EXPECT_EQ(Amount("-1", 1), kNegative);
  EXPECT_EQ(Amount("-0.000001", 1), kNegative);
  EXPECT_EQ(Amount("-1e999", 1), kNegative);
}

TEST(DecimalTest, WholeNumbers) {
  int64_t value = 0;
  EXPECT_EQ(ParseWhole("-12", &value), DecimalError::kNone);
  EXPECT_EQ(value, -12);
  EXPECT_EQ(ParseWhole("3.000", &value), DecimalError::kNone);
  EXPECT_EQ(value, 3);
  EXPECT_EQ(ParseWhole("25e-1", &value), DecimalError::kNotWhole);
  EXPECT_EQ(ParseWhole("250e-1", &value), DecimalError::kNone);
  EXPECT_EQ(value, 25);
  EXPECT_EQ(ParseWhole("0.5", &value), DecimalError::kNotWhole);
  EXPECT_EQ(ParseWhole("-0.5", &value), DecimalError::kNotWhole);
  EXPECT_EQ(ParseWhole("99999999999999999999", &value), DecimalError::kTooLarge);
  EXPECT_EQ(ParseWhole("-99999999999999999999", &value), DecimalError::kTooSmall);
  EXPECT_EQ(ParseWhole("x", &value), DecimalError::kNotANumber);
}

// The definition with 128-bit arithmetic: digits * scale / 10^decimals, rounded up.
TEST(DecimalTest, RandomAmountsEqualWideArithmetic) {
  Random random(11, "decimal");
  for (int round = 0; round < 20000; ++round) {
    constexpr int64_t kScales[] = {1, 10, 1000, 1'000'000'000, kMib, kHourNs};
    const int64_t scale = kScales[random.Below(6)];
    const uint64_t decimals = random.Below(10);
    uint64_t power = 1;
    for (uint64_t i = 0; i < decimals; ++i) power *= 10;
    const uint64_t whole = random.Below(1'000'000);
    const uint64_t fraction = random.Below(power);
    std::string digits = absl::StrCat(fraction);
    digits.insert(0, decimals - (decimals == 0 ? 0 : digits.size()), '0');
    const std::string text = decimals == 0 ? absl::StrCat(whole) : absl::StrCat(whole, ".", digits);
    const absl::uint128 wide =
        (absl::uint128(whole) * power + fraction) * absl::uint128(static_cast<uint64_t>(scale));
    const absl::uint128 expected = (wide + (power - 1)) / power;
    EXPECT_EQ(absl::uint128(static_cast<uint64_t>(Amount(text, scale))), expected) << text;
  }
}

}  // namespace decimal_test
}  // namespace drasim
