#include "policies/cel/conversions.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>

#include "absl/numeric/int128.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace drasim::cel {
namespace {

Value ConversionError(const Value& from, absl::string_view to, Heap* heap) {
  return heap->Error(
      absl::StrCat("type conversion error from '", TypeNameOf(from), "' to '", to, "'"));
}

// Decimal digits with a sign, as Go's ParseInt takes them: no blanks.
bool IsNumeral(absl::string_view text, bool may_have_sign) {
  if (may_have_sign && !text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  if (text.empty()) return false;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
  }
  return true;
}

Value ToInt(const Value& value, Heap* heap) {
  switch (value.kind) {
    case ValueKind::kInt:
      return value;
    case ValueKind::kUint:
      if (value.number < 0) return heap->Error("integer overflow");
      return Value::Int(value.number);
    case ValueKind::kDouble:
      if (!(value.real > -kTwoTo63 && value.real < kTwoTo63)) {
        return heap->Error("integer overflow");
      }
      return Value::Int(static_cast<int64_t>(value.real));
    case ValueKind::kString: {
      int64_t number = 0;
      if (IsNumeral(value.view(), true) && absl::SimpleAtoi(value.view(), &number)) {
        return Value::Int(number);
      }
      return ConversionError(value, "int", heap);
    }
    default:
      return Value::NoSuchOverload();
  }
}

Value ToUint(const Value& value, Heap* heap) {
  switch (value.kind) {
    case ValueKind::kUint:
      return value;
    case ValueKind::kInt:
      if (value.number < 0) return heap->Error("unsigned integer overflow");
      return Value::Uint(value.bits());
    case ValueKind::kDouble:
      if (!(value.real >= 0 && value.real < kTwoTo64)) {
        return heap->Error("unsigned integer overflow");
      }
      return Value::Uint(static_cast<uint64_t>(value.real));
    case ValueKind::kString: {
      uint64_t number = 0;
      if (IsNumeral(value.view(), false) && absl::SimpleAtoi(value.view(), &number)) {
        return Value::Uint(number);
      }
      return ConversionError(value, "uint", heap);
    }
    default:
      return Value::NoSuchOverload();
  }
}

Value ToDouble(const Value& value, Heap* heap) {
  switch (value.kind) {
    case ValueKind::kDouble:
      return value;
    case ValueKind::kInt:
      return Value::Double(static_cast<double>(value.number));
    case ValueKind::kUint:
      return Value::Double(static_cast<double>(value.bits()));
    case ValueKind::kString: {
      double number = 0;
      const absl::string_view text = value.view();
      const bool blanks = !text.empty() && (text.front() <= ' ' || text.back() <= ' ');
      if (!blanks && absl::SimpleAtod(text, &number)) return Value::Double(number);
      return ConversionError(value, "double", heap);
    }
    default:
      return Value::NoSuchOverload();
  }
}

Value ToBool(const Value& value, Heap* heap) {
  if (value.kind == ValueKind::kBool) return value;
  if (value.kind != ValueKind::kString) return Value::NoSuchOverload();
  for (const absl::string_view text : {"1", "t", "T", "TRUE", "true", "True"}) {
    if (value.view() == text) return Value::Bool(true);
  }
  for (const absl::string_view text : {"0", "f", "F", "FALSE", "false", "False"}) {
    if (value.view() == text) return Value::Bool(false);
  }
  return ConversionError(value, "bool", heap);
}

// As Go's FormatFloat(value, 'g', -1, 64): the shortest digits, with an exponent below 1e-4 and
// from 1e21.
std::string GoDouble(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  const double size = std::fabs(value);
  const bool fixed = size == 0 || (size >= 1e-4 && size < 1e21);
  char text[512];
  const std::to_chars_result end =
      std::to_chars(text, text + sizeof(text), value,
                    fixed ? std::chars_format::fixed : std::chars_format::scientific);
  return std::string(text, end.ptr);
}

bool IsUtf8(absl::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const unsigned char lead = static_cast<unsigned char>(text[i]);
    const size_t length = lead < 0x80   ? 1
                          : lead < 0xc2 ? 0
                          : lead < 0xe0 ? 2
                          : lead < 0xf0 ? 3
                          : lead < 0xf5 ? 4
                                        : 0;
    if (length == 0 || i + length > text.size()) return false;
    for (size_t j = 1; j < length; ++j) {
      if ((text[i + j] & '\xc0') != '\x80') return false;
    }
    i += length;
  }
  return true;
}

Value ToText(const Value& value, Heap* heap) {
  switch (value.kind) {
    case ValueKind::kString:
      return value;
    case ValueKind::kBytes:
      if (!IsUtf8(value.view())) {
        return heap->Error("invalid UTF-8 in bytes, cannot convert to string");
      }
      return Value::Text(value.view());
    case ValueKind::kBool:
      return Value::Text(value.IsTrue() ? "true" : "false");
    case ValueKind::kInt:
      return Value::Text(heap->Text(absl::StrCat(value.number)));
    case ValueKind::kUint:
      return Value::Text(heap->Text(absl::StrCat(value.bits())));
    case ValueKind::kDouble:
      return Value::Text(heap->Text(GoDouble(value.real)));
    default:
      return Value::NoSuchOverload();
  }
}

}  // namespace

Value Convert(Function function, const Value& value, Heap* heap) {
  switch (function) {
    case Function::kToInt:
      return ToInt(value, heap);
    case Function::kToUint:
      return ToUint(value, heap);
    case Function::kToDouble:
      return ToDouble(value, heap);
    case Function::kToString:
      return ToText(value, heap);
    case Function::kToBool:
      return ToBool(value, heap);
    default:
      if (value.kind == ValueKind::kBytes) return value;
      return value.kind == ValueKind::kString ? Value::Bytes(value.view())
                                              : Value::NoSuchOverload();
  }
}

double ApproximateDouble(const Quantity& quantity) {
  // Amounts are multiples of 10^-9. Whole units are exact; parts of them cost a last bit at most.
  const std::optional<absl::int128> nanos = quantity.Nanos();
  if (nanos.has_value()) {
    const absl::int128 billion = 1'000'000'000;
    const double units = static_cast<double>(*nanos / billion);
    return units + static_cast<double>(*nanos % billion) / 1e9;
  }
  const double infinity = std::numeric_limits<double>::infinity();
  return quantity.Compare(Quantity()) < 0 ? -infinity : infinity;
}

absl::string_view GoTypeName(const Value& value) {
  switch (value.kind) {
    case ValueKind::kNull:
      return "types.Null";
    case ValueKind::kBool:
      return "types.Bool";
    case ValueKind::kInt:
      return "types.Int";
    case ValueKind::kUint:
      return "types.Uint";
    case ValueKind::kDouble:
      return "types.Double";
    case ValueKind::kString:
      return "types.String";
    case ValueKind::kBytes:
      return "types.Bytes";
    case ValueKind::kType:
      return "*types.Type";
    case ValueKind::kQuantity:
      return "cel.Quantity";
    case ValueKind::kSemver:
      return "cel.Semver";
    case ValueKind::kOptional:
      return "*types.Optional";
    default:
      return TypeNameOf(value);
  }
}

}  // namespace drasim::cel
