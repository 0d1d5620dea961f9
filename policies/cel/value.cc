#include "policies/cel/value.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"

namespace drasim::cel {
namespace {

int Order(bool less, bool greater) { return less ? -1 : greater ? 1 : 0; }

int CompareDoubles(double left, double right) { return Order(left<right, left> right); }

// Compares exactly where the double is beyond all integers of the other type.
int CompareIntDouble(int64_t left, double right) {
  if (right < static_cast<double>(std::numeric_limits<int64_t>::min())) return 1;
  if (right > static_cast<double>(std::numeric_limits<int64_t>::max())) return -1;
  return CompareDoubles(static_cast<double>(left), right);
}

int CompareUintDouble(uint64_t left, double right) {
  if (right < 0) return 1;
  if (right > static_cast<double>(std::numeric_limits<uint64_t>::max())) return -1;
  return CompareDoubles(static_cast<double>(left), right);
}

int CompareIntUint(int64_t left, uint64_t right) {
  if (left < 0) return -1;
  const uint64_t value = static_cast<uint64_t>(left);
  return Order(value<right, value> right);
}

// Orders two numbers; false for NaN, which has no order.
bool CompareNumbers(const Value& left, const Value& right, int* order) {
  const auto is_nan = [](const Value& value) {
    return value.kind == ValueKind::kDouble && value.real != value.real;
  };
  if (is_nan(left) || is_nan(right)) return false;
  if (left.kind == right.kind) {
    if (left.kind == ValueKind::kInt) {
      *order = Order(left.number<right.number, left.number> right.number);
    } else if (left.kind == ValueKind::kUint) {
      *order = Order(left.bits() < right.bits(), left.bits() > right.bits());
    } else {
      *order = CompareDoubles(left.real, right.real);
    }
  } else if (left.kind == ValueKind::kDouble ||
             (left.kind == ValueKind::kUint && right.kind == ValueKind::kInt)) {
    CompareNumbers(right, left, order);
    *order = -*order;
  } else if (left.kind == ValueKind::kUint) {
    *order = CompareUintDouble(left.bits(), right.real);
  } else if (right.kind == ValueKind::kUint) {
    *order = CompareIntUint(left.number, right.bits());
  } else {
    *order = CompareIntDouble(left.number, right.real);
  }
  return true;
}

bool EqualLists(absl::Span<const Value> left, absl::Span<const Value> right) {
  if (left.size() != right.size()) return false;
  for (size_t i = 0; i < left.size(); ++i) {
    // As upstream, items that cannot be compared do not make lists differ.
    if (EqualValues(left[i], right[i]).IsFalse()) return false;
  }
  return true;
}

bool EqualMaps(const Value& left, const Value& right) {
  if (left.size != right.size) return false;
  for (size_t i = 0; i < left.size; ++i) {
    const Value* found = nullptr;
    for (size_t j = 0; j < right.size; ++j) {
      if (EqualValues(left.items[2 * i], right.items[2 * j]).IsTrue()) {
        found = &right.items[2 * j + 1];
      }
    }
    if (found == nullptr || EqualValues(left.items[2 * i + 1], *found).IsFalse()) return false;
  }
  return true;
}

}  // namespace

Value Value::Number(ValueKind kind, int64_t number) {
  Value value;
  value.kind = kind;
  value.number = number;
  return value;
}

Value Value::Double(double real) {
  Value value;
  value.kind = ValueKind::kDouble;
  value.real = real;
  return value;
}

Value Value::Texts(ValueKind kind, absl::string_view text) {
  Value value;
  value.kind = kind;
  value.size = static_cast<uint32_t>(text.size());
  value.text = text.data();
  return value;
}

Value Value::List(absl::Span<const Value> items) {
  Value value;
  value.kind = ValueKind::kList;
  value.size = static_cast<uint32_t>(items.size());
  value.items = items.data();
  return value;
}

Value Value::Map(absl::Span<const Value> keys_and_values) {
  Value value = List(keys_and_values);
  value.kind = ValueKind::kMap;
  value.size /= 2;
  return value;
}

Value Value::Of(const Quantity* quantity) {
  Value value;
  value.kind = ValueKind::kQuantity;
  value.quantity = quantity;
  return value;
}

Value Value::Of(const Semver* version) {
  Value value;
  value.kind = ValueKind::kSemver;
  value.version = version;
  return value;
}

Value Value::Optional(const Value* inner) {
  Value value;
  value.kind = ValueKind::kOptional;
  value.flag = inner != nullptr ? 1 : 0;
  value.items = inner;
  return value;
}

Value Value::Error(ErrorKind kind, absl::string_view text) {
  Value value = Texts(ValueKind::kError, text);
  value.flag = static_cast<uint8_t>(kind);
  return value;
}

absl::string_view Heap::Text(std::string text) {
  texts_.push_back(std::move(text));
  return texts_.back();
}

absl::Span<Value> Heap::Values(size_t count) {
  if (count > room_ - used_) {
    room_ = std::max(kBlock, count);
    blocks_.push_back(std::make_unique<Value[]>(room_));
    used_ = 0;
  }
  const absl::Span<Value> values(blocks_.empty() ? nullptr : blocks_.back().get() + used_, count);
  used_ += count;
  return values;
}

const Value* Heap::Copy(const Value& value) {
  const absl::Span<Value> room = Values(1);
  room[0] = value;
  return room.data();
}

Value Heap::Make(Quantity quantity) {
  quantities_.push_back(std::move(quantity));
  return Value::Of(&quantities_.back());
}

Value Heap::Make(Semver version) {
  versions_.push_back(std::move(version));
  return Value::Of(&versions_.back());
}

void Heap::Reset() {
  if (!texts_.empty()) texts_.clear();
  if (!quantities_.empty()) quantities_.clear();
  if (!versions_.empty()) versions_.clear();
  if (blocks_.size() > 1) {
    blocks_.clear();
    room_ = 0;
  }
  used_ = 0;
}

Value EqualValues(const Value& left, const Value& right) {
  if (left.kind == ValueKind::kNull || right.kind == ValueKind::kNull) {
    return Value::Bool(left.kind == right.kind);
  }
  if (left.IsNumber() && right.IsNumber()) {
    int order = 1;
    return Value::Bool(CompareNumbers(left, right, &order) && order == 0);
  }
  if (left.kind != right.kind) {
    const bool object = left.kind == ValueKind::kQuantity || left.kind == ValueKind::kSemver;
    return object ? Value::NoSuchOverload() : Value::Bool(false);
  }
  switch (left.kind) {
    case ValueKind::kBool:
    case ValueKind::kType:
      return Value::Bool(left.number == right.number);
    case ValueKind::kString:
    case ValueKind::kBytes:
      return Value::Bool(left.view() == right.view());
    case ValueKind::kList:
      return Value::Bool(EqualLists(left.list(), right.list()));
    case ValueKind::kMap:
      return Value::Bool(EqualMaps(left, right));
    case ValueKind::kQuantity:
      return Value::Bool(left.quantity->Compare(*right.quantity) == 0);
    case ValueKind::kSemver:
      return Value::Bool(left.version->Compare(*right.version) == 0);
    case ValueKind::kOptional:
      if (left.flag == 0 || right.flag == 0) return Value::Bool(left.flag == right.flag);
      return EqualValues(*left.items, *right.items);
    case ValueKind::kDomains:
      return Value::Bool(left.flag == right.flag);
    case ValueKind::kIds:
      return Value::Bool(left.flag == right.flag && left.size == right.size);
    default:
      return Value::Bool(true);
  }
}

Value CompareValues(const Value& left, const Value& right) {
  if (left.IsNumber() && right.IsNumber()) {
    int order = 0;
    if (CompareNumbers(left, right, &order)) return Value::Int(order);
    return Value::Error(ErrorKind::kText, "NaN values cannot be ordered");
  }
  if (left.kind != right.kind) return Value::NoSuchOverload();
  switch (left.kind) {
    case ValueKind::kBool:
      return Value::Int(left.number - right.number);
    case ValueKind::kString:
    case ValueKind::kBytes: {
      const int order = left.view().compare(right.view());
      return Value::Int(Order(order<0, order> 0));
    }
    default:
      return Value::NoSuchOverload();
  }
}

TypeKind TypeKindOf(const Value& value) {
  switch (value.kind) {
    case ValueKind::kError:
      return TypeKind::kError;
    case ValueKind::kNull:
      return TypeKind::kNull;
    case ValueKind::kBool:
      return TypeKind::kBool;
    case ValueKind::kInt:
      return TypeKind::kInt;
    case ValueKind::kUint:
      return TypeKind::kUint;
    case ValueKind::kDouble:
      return TypeKind::kDouble;
    case ValueKind::kString:
      return TypeKind::kString;
    case ValueKind::kBytes:
      return TypeKind::kBytes;
    case ValueKind::kList:
      return TypeKind::kList;
    case ValueKind::kType:
      return TypeKind::kType;
    case ValueKind::kQuantity:
      return TypeKind::kQuantity;
    case ValueKind::kSemver:
      return TypeKind::kSemver;
    case ValueKind::kOptional:
      return TypeKind::kOptional;
    case ValueKind::kMap:
    case ValueKind::kDevice:  // upstream's device is a map of its fields
    case ValueKind::kDomains:
    case ValueKind::kIds:
      return TypeKind::kMap;
  }
  return TypeKind::kError;
}

absl::string_view TypeNameOf(const Value& value) {
  const TypeKind kind = TypeKindOf(value);
  return kind == TypeKind::kNull ? "null_type" : TypeName(kind);
}

std::string ErrorText(const Value& error) {
  switch (static_cast<ErrorKind>(error.flag)) {
    case ErrorKind::kText:
      return std::string(error.view());
    case ErrorKind::kNoSuchKey:
      return absl::StrCat("no such key: ", error.view());
    case ErrorKind::kNoSuchOverload:
      return error.size == 0 ? "no such overload"
                             : absl::StrCat("no such overload: ", error.view());
    case ErrorKind::kLimit:
      return "operation cancelled: actual cost limit exceeded";
  }
  return "";
}

size_t CharacterCount(absl::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & '\xc0') != '\x80'; }));
}

}  // namespace drasim::cel
