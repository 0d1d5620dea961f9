#include "policies/cel/arithmetic.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "policies/cel/cost.h"

namespace drasim::cel {
namespace {

Value Overflow(bool is_unsigned) {
  return Value::Error(ErrorKind::kText,
                      is_unsigned ? "unsigned integer overflow" : "integer overflow");
}

Value IntArithmetic(Function function, int64_t left, int64_t right) {
  int64_t result = 0;
  bool overflow = false;
  switch (function) {
    case Function::kAdd:
      overflow = __builtin_add_overflow(left, right, &result);
      break;
    case Function::kSubtract:
      overflow = __builtin_sub_overflow(left, right, &result);
      break;
    case Function::kMultiply:
      overflow = __builtin_mul_overflow(left, right, &result);
      break;
    case Function::kDivide:
      if (right == 0) return Value::Error(ErrorKind::kText, "division by zero");
      overflow = right == -1 && left == std::numeric_limits<int64_t>::min();
      if (!overflow) result = left / right;
      break;
    default:
      if (right == 0) return Value::Error(ErrorKind::kText, "modulus by zero");
      overflow = right == -1 && left == std::numeric_limits<int64_t>::min();
      if (!overflow) result = left % right;
      break;
  }
  return overflow ? Overflow(false) : Value::Int(result);
}

Value UintArithmetic(Function function, uint64_t left, uint64_t right) {
  uint64_t result = 0;
  bool overflow = false;
  switch (function) {
    case Function::kAdd:
      overflow = __builtin_add_overflow(left, right, &result);
      break;
    case Function::kSubtract:
      overflow = __builtin_sub_overflow(left, right, &result);
      break;
    case Function::kMultiply:
      overflow = __builtin_mul_overflow(left, right, &result);
      break;
    case Function::kDivide:
      if (right == 0) return Value::Error(ErrorKind::kText, "division by zero");
      result = left / right;
      break;
    default:
      if (right == 0) return Value::Error(ErrorKind::kText, "modulus by zero");
      result = left % right;
      break;
  }
  return overflow ? Overflow(true) : Value::Uint(result);
}

Value DoubleArithmetic(Function function, double left, double right) {
  switch (function) {
    case Function::kAdd:
      return Value::Double(left + right);
    case Function::kSubtract:
      return Value::Double(left - right);
    case Function::kMultiply:
      return Value::Double(left * right);
    case Function::kDivide:
      return Value::Double(left / right);
    default:
      return Value::NoSuchOverload();
  }
}

// left + right of texts or lists.
Value Concatenate(const Value& left, const Value& right, CallContext* context) {
  const size_t size = static_cast<size_t>(left.size) + right.size;
  context->work += size;
  if (context->work > kWorkLimit) return Value::Error(ErrorKind::kLimit, "");
  if (left.kind == ValueKind::kList) {
    context->cost += 1;
    const absl::Span<Value> items = context->heap->Values(size);
    std::copy_n(left.items, left.size, items.begin());
    std::copy_n(right.items, right.size, items.begin() + left.size);
    return Value::List(items);
  }
  context->cost +=
      ScaleCost(SizeForCost(left, *context) + SizeForCost(right, *context), kTraversalFactor);
  const absl::string_view text = context->heap->Text(absl::StrCat(left.view(), right.view()));
  return left.kind == ValueKind::kString ? Value::Text(text) : Value::Bytes(text);
}

}  // namespace

Value Arithmetic(Function function, const Value& left, const Value& right, CallContext* context) {
  if (left.kind == right.kind) {
    switch (left.kind) {
      case ValueKind::kInt:
        context->cost += 1;
        return IntArithmetic(function, left.number, right.number);
      case ValueKind::kUint:
        context->cost += 1;
        return UintArithmetic(function, left.bits(), right.bits());
      case ValueKind::kDouble:
        context->cost += 1;
        return DoubleArithmetic(function, left.real, right.real);
      case ValueKind::kString:
      case ValueKind::kBytes:
      case ValueKind::kList:
        if (function == Function::kAdd) return Concatenate(left, right, context);
        break;
      default:
        break;
    }
  }
  context->cost += 1;
  return Value::NoSuchOverload();
}

}  // namespace drasim::cel
