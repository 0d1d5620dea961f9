#include "policies/cel/calls.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "model/quantity.h"
#include "model/semver.h"
#include "policies/cel/arithmetic.h"
#include "policies/cel/conversions.h"
#include "policies/cel/cost.h"
#include "policies/cel/list_calls.h"
#include "policies/cel/text_calls.h"

namespace drasim::cel {
namespace {

Value Negate(const Value& value) {
  if (value.kind == ValueKind::kDouble) return Value::Double(-value.real);
  if (value.kind != ValueKind::kInt) return Value::NoSuchOverload();
  if (value.number == std::numeric_limits<int64_t>::min())
    return Value::Error(ErrorKind::kText, "integer overflow");
  return Value::Int(-value.number);
}

Value Order(Function function, const Value& left, const Value& right, CallContext* context) {
  const bool texts = left.kind == ValueKind::kString || left.kind == ValueKind::kBytes;
  context->cost +=
      texts ? ScaleCost(std::min(SizeForCost(left, *context), SizeForCost(right, *context)),
                        kTraversalFactor)
            : 1;
  const Value order = CompareValues(left, right);
  if (order.IsError()) return order;
  switch (function) {
    case Function::kLess:
      return Value::Bool(order.number < 0);
    case Function::kLessEqual:
      return Value::Bool(order.number <= 0);
    case Function::kGreater:
      return Value::Bool(order.number > 0);
    default:
      return Value::Bool(order.number >= 0);
  }
}

Value Equality(Function function, const Value& left, const Value& right, CallContext* context) {
  const bool object = left.kind == ValueKind::kQuantity || left.kind == ValueKind::kSemver;
  const uint64_t size = std::min(SizeForCost(left, *context), SizeForCost(right, *context));
  context->cost += object ? 1 : ScaleCost(size, kTraversalFactor);
  context->work += size;
  const Value equal = EqualValues(left, right);
  // As upstream, values that cannot be compared are unequal for != and an error for ==.
  return function == Function::kEqual ? equal : Value::Bool(!equal.IsTrue());
}

Value ParseAmount(Function function, absl::Span<const Value> arguments, CallContext* context) {
  if (arguments[0].kind != ValueKind::kString) return Value::NoSuchOverload();
  context->cost += ScaleCost(SizeForCost(arguments[0], *context), kTraversalFactor);
  absl::StatusOr<Quantity> quantity = Quantity::Parse(arguments[0].view());
  if (function == Function::kIsQuantity) return Value::Bool(quantity.ok());
  if (!quantity.ok()) return context->heap->Error(std::string(quantity.status().message()));
  return context->heap->Make(*std::move(quantity));
}

Value ParseVersion(Function function, absl::Span<const Value> arguments, CallContext* context) {
  if (arguments[0].kind != ValueKind::kString) return Value::NoSuchOverload();
  bool tolerant = false;
  if (arguments.size() > 1) {
    if (arguments[1].kind != ValueKind::kBool) return Value::NoSuchOverload();
    tolerant = arguments[1].IsTrue();
  }
  context->cost += ScaleCost(SizeForCost(arguments[0], *context), kTraversalFactor);
  absl::StatusOr<Semver> version =
      tolerant ? Semver::ParseNormalized(arguments[0].view()) : Semver::Parse(arguments[0].view());
  if (function == Function::kIsSemver) return Value::Bool(version.ok());
  if (!version.ok()) return context->heap->Error(std::string(version.status().message()));
  return context->heap->Make(*std::move(version));
}

// compareTo, isGreaterThan and isLessThan.
Value CompareObjects(Function function, const Value& left, const Value& right) {
  int order = 0;
  if (left.kind == ValueKind::kQuantity && right.kind == ValueKind::kQuantity) {
    order = left.quantity->Compare(*right.quantity);
  } else if (left.kind == ValueKind::kSemver && right.kind == ValueKind::kSemver) {
    order = left.version->Compare(*right.version);
  } else {
    return Value::NoSuchOverload();
  }
  if (function == Function::kCompareTo) return Value::Int(order);
  return Value::Bool(function == Function::kIsGreaterThan ? order > 0 : order < 0);
}

// An int64-held amount in whole units, as AsInt64 of upstream.
bool AsInteger(const Quantity& quantity, int64_t* value) {
  if (!quantity.UnitsFitInt64()) return false;
  *value = quantity.Value();
  return Quantity::FromUnits(*value, quantity.format()).Compare(quantity) == 0;
}

Value QuantityFunction(Function function, absl::Span<const Value> arguments, CallContext* context) {
  if (arguments[0].kind != ValueKind::kQuantity) return Value::NoSuchOverload();
  const Quantity& quantity = *arguments[0].quantity;
  int64_t integer = 0;
  switch (function) {
    case Function::kSign:
      return Value::Int(quantity.Compare(Quantity()));
    case Function::kIsInteger:
      return Value::Bool(AsInteger(quantity, &integer));
    case Function::kAsInteger:
      if (AsInteger(quantity, &integer)) return Value::Int(integer);
      return Value::Error(ErrorKind::kText, "cannot convert value to integer");
    case Function::kAsApproximateFloat:
      return Value::Double(ApproximateDouble(quantity));
    default:
      break;
  }
  Quantity other;
  if (arguments[1].kind == ValueKind::kQuantity) {
    other = *arguments[1].quantity;
  } else if (arguments[1].kind == ValueKind::kInt) {
    other = Quantity::FromUnits(arguments[1].number, Quantity::Format::kDecimalExponent);
  } else {
    return Value::NoSuchOverload();
  }
  return context->heap->Make(function == Function::kPlus ? quantity + other : quantity - other);
}

Value VersionPart(Function function, const Value& value) {
  if (value.kind != ValueKind::kSemver) return Value::NoSuchOverload();
  const Semver& version = *value.version;
  const uint64_t part = function == Function::kMajor   ? version.major_number()
                        : function == Function::kMinor ? version.minor_number()
                                                       : version.patch_number();
  return Value::Int(static_cast<int64_t>(part));
}

Value SizeOf(const Value& value, CallContext* context) {
  switch (value.kind) {
    case ValueKind::kString:
    case ValueKind::kBytes:
    case ValueKind::kList:
    case ValueKind::kMap:
    case ValueKind::kDomains:
    case ValueKind::kIds:
      return Value::Int(static_cast<int64_t>(SizeForCost(value, *context)));
    default:
      return Value::NoSuchOverload();
  }
}

// Whether a value is the zero of its type.
bool IsZero(const Value& value, const CallContext& context) {
  switch (value.kind) {
    case ValueKind::kNull:
      return true;
    case ValueKind::kBool:
    case ValueKind::kInt:
    case ValueKind::kUint:
      return value.number == 0;
    case ValueKind::kDouble:
      return value.real == 0;
    case ValueKind::kString:
    case ValueKind::kBytes:
    case ValueKind::kList:
    case ValueKind::kMap:
    case ValueKind::kDomains:
    case ValueKind::kIds:
      return SizeForCost(value, context) == 0;
    default:
      return false;
  }
}

Value OptionalFunction(Function function, absl::Span<const Value> arguments, CallContext* context) {
  if (function == Function::kOptionalNone) return Value::Optional(nullptr);
  if (function == Function::kOptionalOf ||
      (function == Function::kOptionalOfNonZero && !IsZero(arguments[0], *context))) {
    return Value::Optional(context->heap->Copy(arguments[0]));
  }
  if (function == Function::kOptionalOfNonZero) return Value::Optional(nullptr);
  const Value& optional = arguments[0];
  if (optional.kind != ValueKind::kOptional) return Value::NoSuchOverload();
  const bool has = optional.flag != 0;
  switch (function) {
    case Function::kOptionalHasValue:
      return Value::Bool(has);
    case Function::kOptionalValue:
      return has ? *optional.items : Value::Error(ErrorKind::kText, "optional.none() dereference");
    case Function::kOptionalOr:
      return has ? optional : arguments[1];
    default:
      return has ? *optional.items : arguments[1];
  }
}

// The name of a key in "no such key: ...".
absl::string_view KeyText(const Value& key, Heap* heap) {
  switch (key.kind) {
    case ValueKind::kString:
      return key.view();
    case ValueKind::kBool:
      return key.IsTrue() ? "true" : "false";
    case ValueKind::kInt:
      return heap->Text(absl::StrCat(key.number));
    case ValueKind::kUint:
      return heap->Text(absl::StrCat(key.bits()));
    default:
      return TypeNameOf(key);
  }
}

// An index into a list: an integer of any numeric type.
Value ListIndex(const Value& key, Heap* heap) {
  switch (key.kind) {
    case ValueKind::kInt:
      return key;
    case ValueKind::kUint:
      if (key.bits() <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return key;
      break;
    case ValueKind::kDouble:
      if (std::trunc(key.real) == key.real && std::fabs(key.real) < kTwoTo63) {
        return Value::Int(static_cast<int64_t>(key.real));
      }
      break;
    default:
      break;
  }
  return heap->Error(absl::StrCat("unsupported index type '", TypeNameOf(key), "' in list"));
}

const Value* FindInMap(const Value& map, const Value& key) {
  for (size_t i = map.size; i > 0; --i) {
    if (EqualValues(map.items[2 * (i - 1)], key).IsTrue()) return &map.items[2 * i - 1];
  }
  return nullptr;
}

// The entry of a key: true if there is one, false if there is none, or an error.
Value Lookup(const Value& container, const Value& key, CallContext* context, Value* found) {
  switch (container.kind) {
    case ValueKind::kMap: {
      const Value* entry = FindInMap(container, key);
      if (entry != nullptr) *found = *entry;
      return Value::Bool(entry != nullptr);
    }
    case ValueKind::kDomains:
      // Every domain has a map, be it empty.
      *found = context->row->Domain(container.flag != 0,
                                    key.kind == ValueKind::kString ? key.view() : "");
      if (key.kind != ValueKind::kString) found->size = std::numeric_limits<uint32_t>::max();
      return Value::Bool(true);
    case ValueKind::kIds: {
      const int slot =
          key.kind == ValueKind::kString ? context->row->SlotOf(container, key.view()) : -1;
      if (slot >= 0) *found = context->row->At(slot, context->heap);
      return Value::Bool(slot >= 0);
    }
    case ValueKind::kList: {
      const Value index = ListIndex(key, context->heap);
      if (index.IsError()) return index;
      const bool inside = index.number >= 0 && index.number < static_cast<int64_t>(container.size);
      if (inside) *found = container.items[index.number];
      return Value::Bool(inside);
    }
    case ValueKind::kDevice: {
      const absl::string_view field = key.kind == ValueKind::kString ? key.view() : "";
      if (field == "driver") {
        *found = context->row->Driver();
      } else if (field == "allowMultipleAllocations") {
        *found = context->row->Multiple();
      } else if (field == "attributes" || field == "capacity") {
        *found = RowView::Domains(field == "capacity");
      } else {
        return Value::Bool(false);
      }
      return Value::Bool(true);
    }
    default:
      return Value::Bool(false);
  }
}

}  // namespace

Value NoOverloadFor(Function function, absl::Span<const Value> arguments, Heap* heap) {
  std::vector<absl::string_view> types;
  for (const Value& argument : arguments) types.push_back(TypeNameOf(argument));
  return Value::Error(
      ErrorKind::kNoSuchOverload,
      heap->Text(absl::StrCat(FunctionName(function), "(", absl::StrJoin(types, ", "), ")")));
}

Value IndexValue(const Value& container, const Value& key, bool optional, CallContext* context) {
  const Value* inner = &container;
  if (container.kind == ValueKind::kOptional) {
    if (container.flag == 0) return container;
    inner = container.items;
    optional = true;
  }
  Value found;
  const Value present = Lookup(*inner, key, context, &found);
  if (present.IsError()) return present;
  if (present.IsTrue()) {
    return optional ? Value::Optional(context->heap->Copy(found)) : found;
  }
  if (optional) return Value::Optional(nullptr);
  const absl::string_view text = KeyText(key, context->heap);
  if (inner->kind == ValueKind::kList) {
    return context->heap->Error(absl::StrCat("index out of bounds: ", text));
  }
  return Value::Error(ErrorKind::kNoSuchKey, text);
}

Value HasField(const Value& container, const Value& key, CallContext* context) {
  const Value* inner = &container;
  if (container.kind == ValueKind::kOptional) {
    if (container.flag == 0) return Value::Bool(false);
    inner = container.items;
  }
  Value found;
  return Lookup(*inner, key, context, &found);
}

Value InContainer(const Value& key, const Value& container, CallContext* context) {
  switch (container.kind) {
    case ValueKind::kList:
      context->cost += container.size;
      for (const Value& item : container.list()) {
        if (EqualValues(key, item).IsTrue()) return Value::Bool(true);
      }
      return Value::Bool(false);
    case ValueKind::kMap:
      context->cost += 1;
      return Value::Bool(FindInMap(container, key) != nullptr);
    case ValueKind::kDomains:
      context->cost += 1;
      return Value::Bool(key.kind == ValueKind::kString &&
                         context->row->HasDomain(container.flag != 0, key.view()));
    case ValueKind::kIds:
      context->cost += 1;
      return Value::Bool(key.kind == ValueKind::kString &&
                         context->row->SlotOf(container, key.view()) >= 0);
    default:
      context->cost += 1;
      return Value::NoSuchOverload();
  }
}

Value RangeOf(const Value& value, CallContext* context) {
  switch (value.kind) {
    case ValueKind::kList:
      return value;
    case ValueKind::kMap: {
      const absl::Span<Value> keys = context->heap->Values(value.size);
      for (size_t i = 0; i < value.size; ++i) keys[i] = value.items[2 * i];
      return Value::List(keys);
    }
    case ValueKind::kDomains:
    case ValueKind::kIds:
      return context->row->Keys(value, context->heap);
    case ValueKind::kDevice: {
      const absl::Span<Value> keys = context->heap->Values(4);
      keys[0] = Value::Text("allowMultipleAllocations");
      keys[1] = Value::Text("attributes");
      keys[2] = Value::Text("capacity");
      keys[3] = Value::Text("driver");
      return Value::List(keys);
    }
    case ValueKind::kError:
      return value;
    default:
      return context->heap->Error(
          absl::StrCat("got '", GoTypeName(value), "', expected iterable type"));
  }
}

Value CallFunction(Function function, absl::Span<const Value> arguments, const re2::RE2* pattern,
                   CallContext* context) {
  Value result;
  switch (function) {
    case Function::kNot:
      context->cost += 1;
      return arguments[0].kind == ValueKind::kBool ? Value::Bool(!arguments[0].IsTrue())
                                                   : Value::NoSuchOverload();
    case Function::kNegate:
      context->cost += 1;
      return Negate(arguments[0]);
    case Function::kEqual:
    case Function::kNotEqual:
      return Equality(function, arguments[0], arguments[1], context);
    case Function::kLess:
    case Function::kLessEqual:
    case Function::kGreater:
    case Function::kGreaterEqual:
      return Order(function, arguments[0], arguments[1], context);
    case Function::kIn:
      return InContainer(arguments[0], arguments[1], context);
    case Function::kAdd:
    case Function::kSubtract:
    case Function::kMultiply:
    case Function::kDivide:
    case Function::kModulo:
      return Arithmetic(function, arguments[0], arguments[1], context);
    case Function::kSize:
      context->cost += 1;
      result = SizeOf(arguments[0], context);
      break;
    case Function::kToInt:
    case Function::kToUint:
    case Function::kToDouble:
    case Function::kToString:
    case Function::kToBytes:
    case Function::kToBool:
      context->cost += 1;
      result = Convert(function, arguments[0], context->heap);
      break;
    case Function::kToDyn:
      context->cost += 1;
      return arguments[0];
    case Function::kTypeOf:
      context->cost += 1;
      return Value::Type(TypeKindOf(arguments[0]));
    case Function::kQuantity:
    case Function::kIsQuantity:
      result = ParseAmount(function, arguments, context);
      break;
    case Function::kSemver:
    case Function::kIsSemver:
      result = ParseVersion(function, arguments, context);
      break;
    case Function::kSign:
    case Function::kIsInteger:
    case Function::kAsInteger:
    case Function::kAsApproximateFloat:
    case Function::kPlus:
    case Function::kMinus:
      context->cost += 1;
      result = QuantityFunction(function, arguments, context);
      break;
    case Function::kCompareTo:
    case Function::kIsGreaterThan:
    case Function::kIsLessThan:
      context->cost += 1;
      result = CompareObjects(function, arguments[0], arguments[1]);
      break;
    case Function::kMajor:
    case Function::kMinor:
    case Function::kPatch:
      context->cost += 1;
      result = VersionPart(function, arguments[0]);
      break;
    case Function::kOptionalOf:
    case Function::kOptionalOfNonZero:
    case Function::kOptionalNone:
    case Function::kOptionalValue:
    case Function::kOptionalHasValue:
    case Function::kOptionalOr:
    case Function::kOptionalOrValue:
      context->cost += 1;
      result = OptionalFunction(function, arguments, context);
      break;
    case Function::kIsSorted:
    case Function::kSum:
    case Function::kMin:
    case Function::kMax:
    case Function::kIncludes:
      result = CallListFunction(function, arguments, context);
      break;
    case Function::kIndexOf:
    case Function::kLastIndexOf:
      result = arguments[0].kind == ValueKind::kList
                   ? CallListFunction(function, arguments, context)
                   : CallTextFunction(function, arguments, pattern, context);
      break;
    default:
      result = CallTextFunction(function, arguments, pattern, context);
      break;
  }
  const bool unnamed = result.IsError() && result.size == 0 &&
                       static_cast<ErrorKind>(result.flag) == ErrorKind::kNoSuchOverload;
  return unnamed ? NoOverloadFor(function, arguments, context->heap) : result;
}

}  // namespace drasim::cel
