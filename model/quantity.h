// Quantity: an amount such as "100m", "1.5Gi" or "2e3", with the exact meaning Kubernetes gives it.
//
// Source of every rule: k8s.io/apimachinery, pkg/api/resource, release v0.34.1 (Kubernetes 1.34).
// Overflow, rounding and printing follow it, defects included, because a simulator must read the
// same number from a manifest and print the same text.
//
// Usage:
//
//   ASSIGN_OR_RETURN(const int64_t cpu_milli, ParseMilli("1500m"));   // 1500
//   ASSIGN_OR_RETURN(const int64_t bytes, ParseUnits("1.5Gi"));       // 1610612736
//
//   ASSIGN_OR_RETURN(const Quantity limit, Quantity::Parse("2"));
//   const Quantity rest = limit - Quantity::FromMilli(cpu_milli);
//   rest.ToString();                                                  // "500m"
//   rest.Compare(limit);                                              // -1
//
// Grammar: sign? digits? ('.' digits?)? suffix, without spaces. The suffix is empty, one of
// n u m k M G T P E, one of Ki Mi Gi Ti Pi Ei, or e or E with a signed integer. "E" alone is 10^18.
//
// As upstream, an amount has one of two representations:
//   * int64-held: mantissa * 10^scale, for up to 18 digits (fewer in front of a binary suffix);
//   * decimal-held: sign, digits and exponent of any length, for all others, and for sums that
//     overflow the first representation.
// Amounts are exact down to 10^-9; finer ones are rounded away from zero to a multiple of that. The
// representation shows only when Value() or MilliValue() overflows, and in whether the original
// text is kept.
//
// Known differences from upstream, all for unreasonable input:
//   * text of more than 1000 characters and exponents outside -1000..1000 are errors; upstream
//     spends unbounded time and memory on them;
//   * Value() and MilliValue() of a negative decimal-held amount round away from zero like all
//     others; upstream rounds some of these towards zero and lets others overflow;
//   * overflow of an int64-held amount always gives 0; upstream wraps for a few exponents.
#ifndef DRASIM_MODEL_QUANTITY_H_
#define DRASIM_MODEL_QUANTITY_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/numeric/int128.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace drasim {

namespace internal {

// The amount (negative ? -1 : 1) * digits * 10^scale. The most significant digit comes first, and
// neither end is a zero; the amount 0 is {false, 0, ""}. An implementation detail of Quantity.
struct QuantityDecimal {
  bool negative = false;
  int32_t scale = 0;
  std::string digits;
};

}  // namespace internal

// An immutable, self-contained value that is cheap to copy. Operations are O(1) for int64-held
// amounts and O(digits) for others; Canonical() of a decimal-held BinarySI amount is O(digits^2).
class Quantity {
 public:
  // The form in which an amount is printed. Parse takes it from the suffix.
  enum class Format {
    kDecimalSi,        // 100m, 5, 2k
    kBinarySi,         // 1536Mi
    kDecimalExponent,  // 12e6
  };

  // Zero, DecimalSI.
  Quantity() = default;

  // Reads `text`, all of which must be one quantity. Spaces are errors: the JSON or YAML reader
  // trims them. InvalidArgument says "format error" for text that does not scan, "suffix error" for
  // an unknown suffix, and "number error" for missing digits ahead of a suffix that upstream
  // refuses alone: it reads "Ki" as 0 and refuses "Pi". As upstream, a binary amount beyond 2^63-1
  // in magnitude is cut to that without an error.
  static absl::StatusOr<Quantity> Parse(absl::string_view text);

  // milli / 1000.
  static Quantity FromMilli(int64_t milli, Format format = Format::kDecimalSi);
  static Quantity FromUnits(int64_t units, Format format);

  // The amount in units, and in thousandths, rounded away from zero: 0.1 gives 1 unit. As upstream,
  // overflow is silent: an int64-held amount gives 0, a decimal-held one its low 64 bits. For
  // untrusted amounts use ParseMilli and ParseUnits, or call the two functions below first.
  int64_t Value() const { return ScaledValue(0); }
  int64_t MilliValue() const { return ScaledValue(3); }

  // False when Value(), or MilliValue(), overflows.
  bool UnitsFitInt64() const { return FitsInt64(0); }
  bool MilliFitsInt64() const { return FitsInt64(3); }

  // Upstream's text: the original where Parse kept it ("+5", "0100m", "1.500"), otherwise
  // Canonical(). Parse keeps it for int64-held amounts that pass upstream's quick check for
  // canonical text; results of arithmetic never have one.
  std::string ToString() const { return text_.empty() ? Canonical() : text_; }

  // The canonical text: equal amounts of one format give equal text. As upstream, DecimalSI has no
  // suffix beyond 10^18 and drops the exponent: 10^21 gives "1".
  std::string Canonical() const;

  Format format() const { return format_; }

  // The exact amount in billionths, or nothing beyond 10^33 of them in magnitude: up to 10^5 such
  // amounts can be added up.
  std::optional<absl::int128> Nanos() const;

  // -1, 0 or 1. Exact, and independent of the formats.
  int Compare(const Quantity& right) const;

  // Exact. The result has the left format, or the right one when the left amount is zero. Unlike
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

// Parse and MilliValue() (thousandths, rounded up), for readers of manifests and traces.
// InvalidArgument for text that Parse refuses and for negative amounts, OutOfRange for amounts
// whose thousandths exceed int64.
absl::StatusOr<int64_t> ParseMilli(absl::string_view text);

// The same in whole units (bytes, devices, pods), rounded up. OutOfRange also for binary amounts of
// 2^63-1 and more, which upstream cuts silently.
absl::StatusOr<int64_t> ParseUnits(absl::string_view text);

}  // namespace drasim

#endif  // DRASIM_MODEL_QUANTITY_H_
