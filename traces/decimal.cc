#include "traces/decimal.h"

#include <algorithm>
#include <limits>

#include "model/check.h"

namespace drasim {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
// Nine times this is still an int64, with room for a carry.
constexpr int64_t kMaxScale = 100'000'000'000'000'000;
// Beyond any exponent that matters for text of any length that fits in memory, and far from
// overflow.
constexpr int64_t kMaxExponent = int64_t{1} << 40;

// The digits of a number and where its point is.
struct Decimal {
  bool negative = false;
  absl::string_view whole;     // digits ahead of the written point
  absl::string_view fraction;  // and behind it
  // The number of digits ahead of the point once the exponent has moved it. Negative: that many
  // zeros come between the point and the first digit. More than there are: zeros follow the last
  // digit.
  int64_t point = 0;

  int64_t size() const { return static_cast<int64_t>(whole.size() + fraction.size()); }
  int64_t digit(int64_t i) const {
    const size_t at = static_cast<size_t>(i);
    const char c = at < whole.size() ? whole[at] : fraction[at - whole.size()];
    return c - '0';
  }
  bool IsZero() const {
    return whole.find_first_not_of('0') == absl::string_view::npos &&
           fraction.find_first_not_of('0') == absl::string_view::npos;
  }
};

absl::string_view StripBlanks(absl::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  return text;
}

// Takes a sign off the front; true when it is a minus.
bool TakeSign(absl::string_view* text) {
  if (text->empty() || (text->front() != '-' && text->front() != '+')) return false;
  const bool negative = text->front() == '-';
  text->remove_prefix(1);
  return negative;
}

// Takes the digits off the front.
absl::string_view TakeDigits(absl::string_view* text) {
  const size_t count = std::min(text->find_first_not_of("0123456789"), text->size());
  const absl::string_view digits = text->substr(0, count);
  text->remove_prefix(count);
  return digits;
}

// False when `text` is not a number.
bool Scan(absl::string_view text, Decimal* out) {
  text = StripBlanks(text);
  out->negative = TakeSign(&text);
  out->whole = TakeDigits(&text);
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    out->fraction = TakeDigits(&text);
  }
  if (out->whole.empty() && out->fraction.empty()) return false;
  out->point = static_cast<int64_t>(out->whole.size());
  if (text.empty()) return true;
  if (text.front() != 'e' && text.front() != 'E') return false;
  text.remove_prefix(1);
  const bool negative = TakeSign(&text);
  const absl::string_view digits = TakeDigits(&text);
  if (digits.empty() || !text.empty()) return false;
  int64_t exponent = 0;
  for (const char c : digits) exponent = std::min(exponent * 10 + (c - '0'), kMaxExponent);
  out->point += negative ? -exponent : exponent;
  return true;
}

// The number times `scale`, rounded down, and whether anything was cut off. False when it does not
// fit int64.
bool Multiply(const Decimal& number, int64_t scale, int64_t* floor, bool* cut) {
  // Behind the point, from the last digit: x := (x + digit * scale) / 10. Rounding down at each
  // step gives the same as rounding down once at the end.
  int64_t part = 0;
  *cut = false;
  const auto divide = [&part, cut] {
    if (part % 10 != 0) *cut = true;
    part /= 10;
  };
  const int64_t count = number.size();
  for (int64_t i = count - 1; i >= std::max<int64_t>(number.point, 0); --i) {
    part += number.digit(i) * scale;
    divide();
  }
  for (int64_t zeros = -number.point; zeros > 0 && part > 0; --zeros) divide();

  int64_t whole = 0;
  for (int64_t i = 0; i < number.point; ++i) {
    if (i >= count && whole == 0) break;
    const int64_t digit = i < count ? number.digit(i) : 0;
    if (whole > (kMax - digit) / 10) return false;
    whole = whole * 10 + digit;
  }
  if (whole > (kMax - part) / scale) return false;
  *floor = whole * scale + part;
  return true;
}

}  // namespace

DecimalError ParseAmount(absl::string_view text, int64_t scale, int64_t* value) {
  DRASIM_CHECK(scale >= 1 && scale <= kMaxScale);
  Decimal number;
  if (!Scan(text, &number)) return DecimalError::kNotANumber;
  if (number.negative && !number.IsZero()) return DecimalError::kNegative;
  int64_t floor = 0;
  bool cut = false;
  if (!Multiply(number, scale, &floor, &cut)) return DecimalError::kTooLarge;
  if (cut && floor == kMax) return DecimalError::kTooLarge;
  *value = floor + (cut ? 1 : 0);
  return DecimalError::kNone;
}

DecimalError ParseNearest(absl::string_view text, int64_t scale, int64_t* value) {
  DRASIM_CHECK(scale >= 1 && scale <= kMaxScale / 2);
  Decimal number;
  if (!Scan(text, &number)) return DecimalError::kNotANumber;
  if (number.negative && !number.IsZero()) return DecimalError::kNegative;
  // floor(x + 1/2) = floor((floor(2 x) + 1) / 2).
  int64_t doubled = 0;
  bool cut = false;
  if (!Multiply(number, 2 * scale, &doubled, &cut) || doubled == kMax) {
    // Beyond half of int64's range a nanosecond more or less does not matter.
    return ParseAmount(text, scale, value);
  }
  *value = (doubled + 1) / 2;
  return DecimalError::kNone;
}

DecimalError ParseWhole(absl::string_view text, int64_t* value) {
  Decimal number;
  if (!Scan(text, &number)) return DecimalError::kNotANumber;
  int64_t floor = 0;
  bool cut = false;
  if (!Multiply(number, 1, &floor, &cut)) {
    return number.negative ? DecimalError::kTooSmall : DecimalError::kTooLarge;
  }
  if (cut) return DecimalError::kNotWhole;
  *value = number.negative ? -floor : floor;
  return DecimalError::kNone;
}

}  // namespace drasim
