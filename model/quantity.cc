#include "model/quantity.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/status_macros.h"

namespace drasim {
namespace {

using Decimal = internal::QuantityDecimal;
using Format = Quantity::Format;

constexpr int64_t kMaxInt64 = std::numeric_limits<int64_t>::max();
constexpr int32_t kNanoScale = -9;
constexpr size_t kMaxTextLength = 1000;
constexpr int32_t kMaxExponent = 1000;
// Upstream's budgets for the int64 form. A binary suffix uses up three digits per factor of 1024.
constexpr size_t kMaxInt64Digits = 18;
constexpr size_t kMaxBinaryDigits = 14;

constexpr std::array<int64_t, 19> kPowersOfTen = {1,
                                                  10,
                                                  100,
                                                  1'000,
                                                  10'000,
                                                  100'000,
                                                  1'000'000,
                                                  10'000'000,
                                                  100'000'000,
                                                  1'000'000'000,
                                                  10'000'000'000,
                                                  100'000'000'000,
                                                  1'000'000'000'000,
                                                  10'000'000'000'000,
                                                  100'000'000'000'000,
                                                  1'000'000'000'000'000,
                                                  10'000'000'000'000'000,
                                                  100'000'000'000'000'000,
                                                  1'000'000'000'000'000'000};

// ---- int64 arithmetic ----

// Sets *result to mantissa * 10^shift, rounded away from zero. False, and 0, if that does not fit.
bool ScaleInt64(int64_t mantissa, int32_t shift, int64_t* result) {
  *result = 0;
  if (mantissa == 0) return true;
  const size_t places = static_cast<size_t>(shift < 0 ? -shift : shift);
  if (shift >= 0) {
    int64_t product = 0;
    if (places >= kPowersOfTen.size()) return false;
    if (__builtin_mul_overflow(mantissa, kPowersOfTen[places], &product)) return false;
    *result = product;
    return true;
  }
  const int64_t away = mantissa > 0 ? 1 : -1;
  *result = away;
  if (places >= kPowersOfTen.size()) return true;
  const int64_t quotient = mantissa / kPowersOfTen[places];
  *result = mantissa % kPowersOfTen[places] == 0 ? quotient : quotient + away;
  return true;
}

// Compares left_mantissa * 10^left_scale with right_mantissa * 10^right_scale.
int CompareInt64(int64_t left_mantissa, int32_t left_scale, int64_t right_mantissa,
                 int32_t right_scale) {
  if (left_scale < right_scale) {
    return -CompareInt64(right_mantissa, right_scale, left_mantissa, left_scale);
  }
  int64_t left = 0;
  // A scaled value that does not fit exceeds every int64, hence the right side: its sign decides.
  if (!ScaleInt64(left_mantissa, left_scale - right_scale, &left)) {
    return left_mantissa > 0 ? 1 : -1;
  }
  if (left == right_mantissa) return 0;
  return left < right_mantissa ? -1 : 1;
}

// ---- digit strings: most significant digit first, any number of leading zeros ----

int DigitFromEnd(absl::string_view digits, size_t index) {
  return index < digits.size() ? digits[digits.size() - 1 - index] - '0' : 0;
}

std::string AddDigits(absl::string_view left, absl::string_view right) {
  std::string sum(std::max(left.size(), right.size()) + 1, '0');
  int carry = 0;
  for (size_t i = 0; i < sum.size(); ++i) {
    const int digit = DigitFromEnd(left, i) + DigitFromEnd(right, i) + carry;
    carry = digit / 10;
    sum[sum.size() - 1 - i] = static_cast<char>('0' + digit % 10);
  }
  return sum;
}

// left - right, where left >= right.
std::string SubtractDigits(absl::string_view left, absl::string_view right) {
  std::string difference(std::max(left.size(), right.size()), '0');
  int borrow = 0;
  for (size_t i = 0; i < difference.size(); ++i) {
    const int digit = DigitFromEnd(left, i) - DigitFromEnd(right, i) - borrow;
    borrow = digit < 0 ? 1 : 0;
    difference[difference.size() - 1 - i] = static_cast<char>('0' + digit + 10 * borrow);
  }
  DRASIM_CHECK_EQ(borrow, 0);
  return difference;
}

std::string MultiplyDigitsBy1024(absl::string_view digits) {
  std::string product(digits.size() + 4, '0');
  int carry = 0;
  for (size_t i = 0; i < product.size(); ++i) {
    const int sum = DigitFromEnd(digits, i) * 1024 + carry;
    carry = sum / 10;
    product[product.size() - 1 - i] = static_cast<char>('0' + sum % 10);
  }
  return product;
}

// Divides by 1024, or returns false and leaves the digits alone where a remainder would be left.
bool DivideDigitsBy1024(std::string* digits) {
  std::string quotient;
  int remainder = 0;
  for (const char c : *digits) {
    remainder = remainder * 10 + (c - '0');
    const int digit = remainder / 1024;
    remainder %= 1024;
    if (digit != 0 || !quotient.empty()) quotient.push_back(static_cast<char>('0' + digit));
  }
  if (remainder != 0) return false;
  *digits = std::move(quotient);
  return true;
}

// ---- decimals ----

// Restores the invariant of QuantityDecimal.
void Normalize(Decimal* amount) {
  std::string& digits = amount->digits;
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  while (!digits.empty() && digits.back() == '0') {
    digits.pop_back();
    ++amount->scale;
  }
  if (digits.empty()) *amount = Decimal();
}

// The digits of the amount counted in 10^scale, which must not be coarser than the amount's own.
std::string DigitsAtScale(const Decimal& amount, int32_t scale) {
  std::string digits = amount.digits;
  if (digits.empty()) return digits;
  DRASIM_CHECK_GE(amount.scale, scale);
  digits.append(static_cast<size_t>(amount.scale - scale), '0');
  return digits;
}

// -1, 0 or 1 for |left| against |right|.
int CompareMagnitude(const Decimal& left, const Decimal& right) {
  if (left.digits.empty() || right.digits.empty()) {
    return (left.digits.empty() ? 0 : 1) - (right.digits.empty() ? 0 : 1);
  }
  const int64_t left_top = static_cast<int64_t>(left.digits.size()) + left.scale;
  const int64_t right_top = static_cast<int64_t>(right.digits.size()) + right.scale;
  if (left_top != right_top) return left_top < right_top ? -1 : 1;
  // Same leading position. A proper prefix is smaller, since the last digit is never a zero.
  const int order = left.digits.compare(right.digits);
  return order == 0 ? 0 : (order < 0 ? -1 : 1);
}

// Makes the amount a multiple of 10^scale, away from zero.
void RoundAwayFromZero(int32_t scale, Decimal* amount) {
  if (amount->digits.empty() || amount->scale >= scale) return;
  const size_t dropped = static_cast<uint32_t>(scale) - static_cast<uint32_t>(amount->scale);
  // The last digit is never a zero, so something is always lost here.
  if (dropped >= amount->digits.size()) {
    amount->digits.assign(1, '1');
  } else {
    amount->digits.erase(amount->digits.size() - dropped);
    amount->digits = AddDigits(amount->digits, "1");
  }
  amount->scale = scale;
  Normalize(amount);
}

Decimal AddDecimals(const Decimal& left, const Decimal& right) {
  Decimal sum;
  sum.scale = std::min(left.scale, right.scale);
  const std::string left_digits = DigitsAtScale(left, sum.scale);
  const std::string right_digits = DigitsAtScale(right, sum.scale);
  if (left.negative == right.negative) {
    sum.negative = left.negative;
    sum.digits = AddDigits(left_digits, right_digits);
  } else if (CompareMagnitude(left, right) >= 0) {
    sum.negative = left.negative;
    sum.digits = SubtractDigits(left_digits, right_digits);
  } else {
    sum.negative = right.negative;
    sum.digits = SubtractDigits(right_digits, left_digits);
  }
  Normalize(&sum);
  return sum;
}

// amount * 10^shift as an integer, rounded away from zero.
Decimal ScaledInteger(const Decimal& amount, int32_t shift) {
  Decimal integer = amount;
  if (integer.digits.empty()) return integer;
  integer.scale += shift;
  RoundAwayFromZero(0, &integer);
  return integer;
}

// The magnitude of an integer modulo 2^64.
uint64_t LowBits(const Decimal& integer) {
  uint64_t bits = 0;
  for (const char c : integer.digits) bits = bits * 10 + static_cast<uint64_t>(c - '0');
  for (int32_t i = 0; i < integer.scale; ++i) bits *= 10;
  return bits;
}

// ---- suffixes ----

struct SuffixRow {
  const char* text;
  Format format;     // DecimalSI or BinarySI
  int32_t exponent;  // of ten or of two
};

constexpr SuffixRow kSuffixes[] = {
    {"", Format::kDecimalSi, 0},   {"n", Format::kDecimalSi, -9}, {"u", Format::kDecimalSi, -6},
    {"m", Format::kDecimalSi, -3}, {"k", Format::kDecimalSi, 3},  {"M", Format::kDecimalSi, 6},
    {"G", Format::kDecimalSi, 9},  {"T", Format::kDecimalSi, 12}, {"P", Format::kDecimalSi, 15},
    {"E", Format::kDecimalSi, 18}, {"Ki", Format::kBinarySi, 10}, {"Mi", Format::kBinarySi, 20},
    {"Gi", Format::kBinarySi, 30}, {"Ti", Format::kBinarySi, 40}, {"Pi", Format::kBinarySi, 50},
    {"Ei", Format::kBinarySi, 60},
};

// Empty for an exponent without a suffix: 2^0, and everything too large for E or Ei.
const char* SuffixText(Format format, int32_t exponent) {
  for (const SuffixRow& row : kSuffixes) {
    if (row.format == format && row.exponent == exponent) return row.text;
  }
  return "";
}

struct Suffix {
  Format format = Format::kDecimalSi;
  int32_t exponent = 0;
};

// False where the text is not a suffix.
bool InterpretSuffix(absl::string_view text, Suffix* suffix) {
  for (const SuffixRow& row : kSuffixes) {
    if (text == row.text) {
      *suffix = Suffix{row.format, row.exponent};
      return true;
    }
  }
  int32_t exponent = 0;
  if ((text[0] != 'e' && text[0] != 'E') || !absl::SimpleAtoi(text.substr(1), &exponent) ||
      exponent < -kMaxExponent || exponent > kMaxExponent) {
    return false;
  }
  *suffix = Suffix{Format::kDecimalExponent, exponent};
  return true;
}

// ---- scanning ----

// Quoted for a message: printable, and not longer than a line.
std::string Quoted(absl::string_view text) {
  constexpr size_t kShown = 60;
  return absl::StrCat("\"", absl::Utf8SafeCHexEscape(text.substr(0, kShown)),
                      text.size() > kShown ? "...\"" : "\"");
}

absl::Status FormatError(absl::string_view text, absl::string_view problem) {
  return absl::InvalidArgumentError(absl::StrCat(
      "quantity ", Quoted(text), ": format error: ", problem,
      "; expected a number with an optional sign and suffix, such as 2, 100m, 1.5Gi or 3e6"));
}

absl::Status SuffixError(absl::string_view text, absl::string_view suffix) {
  return absl::InvalidArgumentError(
      absl::StrCat("quantity ", Quoted(text), ": suffix error: unknown suffix ", Quoted(suffix),
                   "; expected none, n, u, m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei, or an "
                   "exponent from e-",
                   kMaxExponent, " to e", kMaxExponent));
}

struct Scanned {
  bool negative = false;
  bool has_digits = false;
  absl::string_view integer;   // without leading zeros; "0" where nothing is left
  absl::string_view fraction;  // the digits after the point
  absl::string_view suffix;
};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

size_t SkipDigits(absl::string_view text, size_t begin) {
  while (begin < text.size() && IsDigit(text[begin])) ++begin;
  return begin;
}

// Splits the text as upstream's scanner does: its last part is any run of suffix letters, a sign
// and digits. So "1+5" and "1mm" scan and only their suffixes are wrong; "1e3k" does not scan.
absl::StatusOr<Scanned> Scan(absl::string_view text) {
  if (text.empty()) return FormatError(text, "the text is empty");
  if (text.size() > kMaxTextLength) {
    return FormatError(text, absl::StrCat("more than ", kMaxTextLength, " characters"));
  }
  Scanned out;
  out.negative = text[0] == '-';
  const size_t number_begin = (text[0] == '-' || text[0] == '+') ? 1 : 0;
  size_t end = SkipDigits(text, number_begin);
  out.has_digits = end > number_begin;
  out.integer = text.substr(number_begin, end - number_begin);
  while (!out.integer.empty() && out.integer[0] == '0') out.integer.remove_prefix(1);
  if (out.integer.empty()) out.integer = "0";
  if (end < text.size() && text[end] == '.') {
    const size_t fraction_begin = end + 1;
    end = SkipDigits(text, fraction_begin);
    out.fraction = text.substr(fraction_begin, end - fraction_begin);
    out.has_digits = out.has_digits || !out.fraction.empty();
  }
  out.suffix = text.substr(end);
  constexpr absl::string_view kSuffixLetters = "eEinumkKMGTP";
  while (end < text.size() && kSuffixLetters.find(text[end]) != absl::string_view::npos) ++end;
  if (end < text.size() && (text[end] == '-' || text[end] == '+')) ++end;
  end = SkipDigits(text, end);
  if (end != text.size()) {
    return FormatError(text, absl::StrCat("unexpected character ", Quoted(text.substr(end, 1)),
                                          " at position ", end + 1));
  }
  return out;
}

// Whether upstream takes the int64 path.
bool FitsInt64Form(const Scanned& scanned, const Suffix& suffix) {
  const size_t digits = scanned.integer.size() + scanned.fraction.size();
  if (suffix.format == Format::kBinarySi) {
    return scanned.fraction.empty() &&
           digits + static_cast<size_t>(suffix.exponent) * 3 / 10 <= kMaxBinaryDigits;
  }
  return digits <= kMaxInt64Digits &&
         suffix.exponent - static_cast<int32_t>(scanned.fraction.size()) >= kNanoScale;
}

// The decimal form: exact, then rounded to nano, then limited if binary. May change the format.
Decimal ToWide(const Scanned& scanned, const Suffix& suffix, Format* format) {
  Decimal amount;
  amount.digits = absl::StrCat(scanned.integer, scanned.fraction);
  amount.scale = -static_cast<int32_t>(scanned.fraction.size());
  if (suffix.format == Format::kBinarySi) {
    for (int32_t i = 0; i < suffix.exponent; i += 10) {
      amount.digits = MultiplyDigitsBy1024(amount.digits);
    }
  } else {
    amount.scale += suffix.exponent;
  }
  Normalize(&amount);
  RoundAwayFromZero(kNanoScale, &amount);
  if (suffix.format == Format::kBinarySi) {
    const Decimal largest{false, 0, absl::StrCat(kMaxInt64)};
    const Decimal one{false, 0, "1"};
    if (CompareMagnitude(amount, largest) > 0) amount = largest;
    if (!amount.digits.empty() && CompareMagnitude(amount, one) < 0) *format = Format::kDecimalSi;
  }
  amount.negative = scanned.negative && !amount.digits.empty();
  return amount;
}

// ---- printing ----

std::string DecimalText(Decimal amount, Format format) {
  while (amount.scale % 3 != 0) {
    amount.digits.push_back('0');
    --amount.scale;
  }
  std::string suffix = SuffixText(format, amount.scale);
  if (format == Format::kDecimalExponent && amount.scale != 0) {
    suffix = absl::StrCat("e", amount.scale);
  }
  return absl::StrCat(amount.negative ? "-" : "", amount.digits, suffix);
}

// The amount is an integer other than zero.
std::string BinaryText(const Decimal& amount) {
  std::string digits = DigitsAtScale(amount, 0);
  int32_t exponent = 0;
  while (DivideDigitsBy1024(&digits)) exponent += 10;
  return absl::StrCat(amount.negative ? "-" : "", digits, SuffixText(Format::kBinarySi, exponent));
}

// Parse, for readers: what both of them refuse.
absl::StatusOr<Quantity> ParseNotNegative(absl::string_view text) {
  absl::StatusOr<Quantity> quantity = Quantity::Parse(text);
  if (quantity.ok() && quantity->Compare(Quantity()) < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("quantity ", Quoted(text), " is negative; expected zero or more"));
  }
  return quantity;
}

}  // namespace

absl::StatusOr<Quantity> Quantity::Parse(absl::string_view text) {
  ASSIGN_OR_RETURN(const Scanned scanned, Scan(text));
  Suffix suffix;
  if (!InterpretSuffix(scanned.suffix, &suffix)) return SuffixError(text, scanned.suffix);

  Quantity quantity;
  quantity.format_ = suffix.format;
  if (!FitsInt64Form(scanned, suffix)) {
    if (!scanned.has_digits) {
      return absl::InvalidArgumentError(absl::StrCat(
          "quantity ", Quoted(text), ": number error: no digits in front of the suffix"));
    }
    quantity.is_wide_ = true;
    quantity.wide_ = ToWide(scanned, suffix, &quantity.format_);
    return quantity;
  }

  const std::string digits = absl::StrCat(scanned.integer, scanned.fraction);
  int64_t number = 0;
  DRASIM_CHECK(absl::SimpleAtoi(digits, &number));
  bool looks_canonical = false;
  if (suffix.format == Format::kBinarySi) {
    quantity.mantissa_ = number * (int64_t{1} << suffix.exponent);
    looks_canonical = number % 8 != 0;
  } else {
    quantity.mantissa_ = number;
    quantity.scale_ = suffix.exponent - static_cast<int32_t>(scanned.fraction.size());
    looks_canonical =
        quantity.scale_ % 3 == 0 && digits[0] != '0' && !absl::EndsWith(digits, "000");
  }
  if (scanned.negative) quantity.mantissa_ = -quantity.mantissa_;
  if (looks_canonical) quantity.text_ = std::string(text);
  return quantity;
}

Quantity Quantity::FromMilli(int64_t milli, Format format) {
  Quantity quantity;
  quantity.mantissa_ = milli;
  quantity.scale_ = -3;
  quantity.format_ = format;
  return quantity;
}

Quantity Quantity::FromUnits(int64_t units, Format format) {
  Quantity quantity;
  quantity.mantissa_ = units;
  quantity.format_ = format;
  return quantity;
}

std::string Quantity::Canonical() const {
  const Decimal amount = ToDecimal();
  if (amount.digits.empty()) return "0";
  if (format_ != Format::kBinarySi) return DecimalText(amount, format_);
  const Decimal kibi{false, 0, "1024"};
  const bool whole = amount.scale >= 0;
  if (whole && CompareMagnitude(amount, kibi) >= 0) return BinaryText(amount);
  return DecimalText(amount, Format::kDecimalSi);
}

int Quantity::Compare(const Quantity& right) const {
  if (!is_wide_ && !right.is_wide_) {
    return CompareInt64(mantissa_, scale_, right.mantissa_, right.scale_);
  }
  const Decimal left_amount = ToDecimal();
  const Decimal right_amount = right.ToDecimal();
  if (left_amount.negative != right_amount.negative) return left_amount.negative ? -1 : 1;
  const int order = CompareMagnitude(left_amount, right_amount);
  return left_amount.negative ? -order : order;
}

int64_t Quantity::ScaledValue(int32_t shift) const {
  if (!is_wide_) {
    int64_t value = 0;
    ScaleInt64(mantissa_, scale_ + shift, &value);  // An overflow gives 0, as upstream.
    return value;
  }
  const Decimal integer = ScaledInteger(wide_, shift);
  const uint64_t bits = LowBits(integer);
  return static_cast<int64_t>(integer.negative ? uint64_t{0} - bits : bits);
}

bool Quantity::FitsInt64(int32_t shift) const {
  if (!is_wide_) {
    int64_t value = 0;
    return ScaleInt64(mantissa_, scale_ + shift, &value);
  }
  const Decimal integer = ScaledInteger(wide_, shift);
  const Decimal limit{false, 0, absl::StrCat(uint64_t{1} << 63)};
  return CompareMagnitude(integer, limit) < (integer.negative ? 1 : 0);
}

bool Quantity::IsZero() const { return is_wide_ ? wide_.digits.empty() : mantissa_ == 0; }

internal::QuantityDecimal Quantity::ToDecimal() const {
  if (is_wide_) return wide_;
  const uint64_t bits = static_cast<uint64_t>(mantissa_);
  Decimal amount;
  amount.negative = mantissa_ < 0;
  amount.scale = scale_;
  amount.digits = absl::StrCat(amount.negative ? uint64_t{0} - bits : bits);
  Normalize(&amount);
  return amount;
}

std::optional<absl::int128> Quantity::Nanos() const {
  constexpr int64_t kMaxPlaces = 33;
  const Decimal amount = ToDecimal();
  const int64_t places = static_cast<int64_t>(amount.digits.size()) + amount.scale - kNanoScale;
  if (places > kMaxPlaces) return std::nullopt;
  absl::int128 nanos = 0;
  for (int64_t i = 0; i < places; ++i) {
    const bool given = i < static_cast<int64_t>(amount.digits.size());
    nanos = nanos * 10 + (given ? amount.digits[static_cast<size_t>(i)] - '0' : 0);
  }
  return amount.negative ? -nanos : nanos;
}

Quantity Quantity::Combine(const Quantity& right, bool subtract) const {
  Quantity result;
  result.format_ = IsZero() ? right.format_ : format_;
  if (!is_wide_ && !right.is_wide_) {
    // A zero takes the other side's scale, so that it never forces a multiplication.
    const int32_t left_scale = mantissa_ == 0 ? right.scale_ : scale_;
    const int32_t scale = right.mantissa_ == 0 ? left_scale : std::min(left_scale, right.scale_);
    int64_t a = 0;
    int64_t b = 0;
    int64_t c = 0;
    if (ScaleInt64(mantissa_, scale_ - scale, &a) &&
        ScaleInt64(right.mantissa_, right.scale_ - scale, &b) &&
        !(subtract ? __builtin_sub_overflow(a, b, &c) : __builtin_add_overflow(a, b, &c))) {
      result.mantissa_ = c;
      result.scale_ = scale;
      return result;
    }
  }
  Decimal right_amount = right.ToDecimal();
  if (subtract && !right_amount.digits.empty()) right_amount.negative = !right_amount.negative;
  result.is_wide_ = true;
  result.wide_ = AddDecimals(ToDecimal(), right_amount);
  return result;
}

absl::StatusOr<int64_t> ParseMilli(absl::string_view text) {
  ASSIGN_OR_RETURN(const Quantity quantity, ParseNotNegative(text));
  if (!quantity.MilliFitsInt64()) {
    return absl::OutOfRangeError(absl::StrCat(
        "quantity ", Quoted(text), " is too large: it exceeds ", kMaxInt64, " thousandths"));
  }
  return quantity.MilliValue();
}

absl::StatusOr<int64_t> ParseUnits(absl::string_view text) {
  ASSIGN_OR_RETURN(const Quantity quantity, ParseNotNegative(text));
  if (!quantity.UnitsFitInt64()) {
    return absl::OutOfRangeError(
        absl::StrCat("quantity ", Quoted(text), " is too large: it exceeds ", kMaxInt64, " units"));
  }
  const int64_t units = quantity.Value();
  if (quantity.format() == Quantity::Format::kBinarySi && units == kMaxInt64) {
    return absl::OutOfRangeError(absl::StrCat("quantity ", Quoted(text),
                                              " is too large: with a binary suffix, amounts of ",
                                              kMaxInt64, " units and more cannot be told apart"));
  }
  return units;
}

}  // namespace drasim
