// Decimal text to integers of a base unit, exactly and without floating point.
//
// Grammar: blanks? sign? digits? ('.' digits?)? (('e'|'E') sign? digits)? blanks?, with at least
// one digit ahead of the exponent. Any number of digits is exact. Any other text ("12Gi", "NaN",
// "0x10", "1,000") is no number.
#ifndef DRASIM_TRACES_DECIMAL_H_
#define DRASIM_TRACES_DECIMAL_H_

#include <cstddef>
#include <cstdint>
#include <limits>

#include "absl/strings/string_view.h"

namespace drasim {

inline bool IsBlank(char c) { return c == ' ' || c == '\t'; }

enum class DecimalError {
  kNone,
  kNotANumber,
  kNegative,  // and not zero
  kTooLarge,  // beyond int64
  kTooSmall,  // the same downwards
  kNotWhole,
};

inline constexpr int64_t kMaxInt64 = std::numeric_limits<int64_t>::max();

// Longest text that ParseDigits takes: every number of this many digits fits int64.
inline constexpr size_t kMaxPlainDigits = 18;

// The fast way for the usual case: 1 to 18 digits and nothing else. False for all other text, which
// may be a number nevertheless.
inline bool ParseDigits(absl::string_view text, int64_t* value) {
  if (text.empty() || text.size() > kMaxPlainDigits) return false;
  int64_t sum = 0;
  for (const char c : text) {
    const unsigned digit = static_cast<unsigned char>(c) - 48u;
    if (digit > 9) return false;
    sum = sum * 10 + digit;
  }
  *value = sum;
  return true;
}

// Base units are 1/`scale` of the text's unit: with scale 1000, "1.5" is 1500. A fraction of a base
// unit counts as a whole one: with scale 1, "1.001" is 2. `*value` is set only when the result is
// kNone; it is never negative. O(length of the text). REQUIRES: 1 <= scale <= 10^17.
DecimalError ParseAmount(absl::string_view text, int64_t scale, int64_t* value);

// As ParseAmount, but to the nearest base unit, halves up: for points and lengths of time, which
// float arithmetic has often moved by less than anything means ("475.00000000000006").
DecimalError ParseNearest(absl::string_view text, int64_t scale, int64_t* value);

// A whole number, perhaps negative; "1.0" and "2e3" are whole. `*value` is set only when the result
// is kNone.
DecimalError ParseWhole(absl::string_view text, int64_t* value);

}  // namespace drasim

#endif  // DRASIM_TRACES_DECIMAL_H_
