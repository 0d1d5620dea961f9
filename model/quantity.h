// Quantity: an amount such as "100m", "1.5Gi" or "2e3", with the exact meaning Kubernetes gives it.
//
// Source of every rule: k8s.io/apimachinery, pkg/api/resource, release v0.34.1 (Kubernetes 1.34).
// Its overflow, rounding and printing habits are kept, defects included, because a simulator that
// reads the same manifest must see the same number and print the same text.
//
// Grammar: sign? digits? ('.' digits?)? suffix, without spaces. The suffix is empty, one of
// n u m k M G T P E, one of Ki Mi Gi Ti Pi Ei, or e or E with a signed integer. "E" alone is 10^18.
//
// An amount is held in one of two ways, as upstream does:
//   * int64-held: mantissa * 10^scale, for up to 18 digits (fewer in front of a binary suffix);
//   * decimal-held: sign, digits and exponent of any length, for everything else and for sums that
//     overflow the first way.
// Amounts are exact down to 10^-9; finer ones move away from zero to a multiple of that. How an
// amount is held shows only when Value() or MilliValue() overflows, and in whether the original
// text is kept.
//
// Known differences from upstream, all of them outside sane input:
//   * text of more than 1000 characters, and exponents outside -1000..1000, are errors; upstream
//     spends unbounded time and memory on them;
//   * Value() and MilliValue() of a negative decimal-held amount round away from zero like all
//     others; upstream rounds some of these towards zero and lets others overflow;
//   * overflow of an int64-held amount always gives 0; upstream wraps for a few exponents.
#ifndef DRASIM_MODEL_QUANTITY_H_
#define DRASIM_MODEL_QUANTITY_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace drasim {

namespace internal {

// The amount (negative ? -1 : 1) * digits * 10^scale. Digits come most significant first, without a
// zero at either end; zero is {false, 0, ""}. An implementation detail of Quantity.
struct QuantityDecimal {
  bool negative = false;
  int32_t scale = 0;
  std::string digits;
};

}  // namespace internal

// An immutable value: copying is cheap, and it refers to nothing outside itself. Operations take
// constant time for int64-held amounts and time linear in the number of digits for others;
// Canonical() of a decimal-held BinarySI amount is quadratic.
class Quantity {
 public:
  // How an amount is printed; parsing takes it from the suffix.
  enum class Format {
    kDecimalSi,        // 100m, 5, 2k
    kBinarySi,         // 1536Mi
    kDecimalExponent,  // 12e6
  };

  // Zero, DecimalSI.
  Quantity() = default;

  // Reads `text`; the whole of it must be one quantity. Spaces are errors: trimming is the business
  // of the JSON or YAML reader. InvalidArgument says "format error" where the text does not scan,
  // "suffix error" where it scans but the suffix is unknown, and "number error" where digits are
  // missing ahead of a suffix with which upstream insists on them: it reads "Ki" as 0 and refuses
  // "Pi". A binary amount beyond 2^63-1 in magnitude is cut to that without an error, as upstream.
  static absl::StatusOr<Quantity> Parse(absl::string_view text);

  // milli / 1000, DecimalSI.
  static Quantity FromMilli(int64_t milli);
  static Quantity FromUnits(int64_t units, Format format);

  // The amount in units, and in thousandths, rounded away from zero: 0.1 counts as 1 unit. Overflow
  // is silent, as upstream: an int64-held amount gives 0, a decimal-held one its low 64 bits. For
  // amounts from outside use ParseMilli and ParseUnits, or ask the two functions below first.
  int64_t Value() const { return ScaledValue(0); }
  int64_t MilliValue() const { return ScaledValue(3); }

  // Whether Value(), or MilliValue(), is the true result and not the remains of an overflow.
  bool UnitsFitInt64() const { return FitsInt64(0); }
  bool MilliFitsInt64() const { return FitsInt64(3); }

  // The text upstream prints: the original where Parse kept it ("+5", "0100m", "1.500"), otherwise
  // Canonical(). Only int64-held amounts that look canonical to upstream's quick check keep it, and
  // the result of arithmetic never does.
  std::string ToString() const { return text_.empty() ? Canonical() : text_; }

  // The canonical text of the number and format alone: equal amounts of one format give equal text.
  // DecimalSI has no suffix beyond 10^18 and then drops the exponent, as upstream: 10^21 gives "1".
  std::string Canonical() const;

  Format format() const { return format_; }

  // -1, 0 or 1: exact, whatever the formats.
  int Compare(const Quantity& right) const;

  // Exact. The result has the left format, or the right one where the left amount is zero. Unlike
  // Parse, arithmetic does not limit binary amounts to 2^63-1.
  Quantity operator+(const Quantity& right) const { return Combine(right, /*subtract=*/false); }
  Quantity operator-(const Quantity& right) const { return Combine(right, /*subtract=*/true); }

 private:
  int64_t ScaledValue(int32_t shift) const;
  bool FitsInt64(int32_t shift) const;
  bool IsZero() const;
  internal::QuantityDecimal ToDecimal() const;
  Quantity Combine(const Quantity& right, bool subtract) const;

  int64_t mantissa_ = 0;  // zero when decimal-held
  int32_t scale_ = 0;     // zero when decimal-held
  Format format_ = Format::kDecimalSi;
  bool is_wide_ = false;            // decimal-held
  internal::QuantityDecimal wide_;  // zero unless decimal-held
  std::string text_;                // the kept original, or empty
};

// For readers of manifests and traces: Parse, then MilliValue() (thousandths, rounded up). Errors:
// InvalidArgument for what Parse refuses and for negative amounts, OutOfRange for amounts of which
// the thousandths exceed int64.
absl::StatusOr<int64_t> ParseMilli(absl::string_view text);

// The same in whole units (bytes, devices, pods), rounded up. OutOfRange also for a binary amount
// that reached 2^63-1, which upstream would cut to that without a word.
absl::StatusOr<int64_t> ParseUnits(absl::string_view text);

}  // namespace drasim

#endif  // DRASIM_MODEL_QUANTITY_H_
