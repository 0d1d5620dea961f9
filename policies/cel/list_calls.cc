#include "policies/cel/list_calls.h"

#include <cstddef>
#include <cstdint>

#include "policies/cel/arithmetic.h"

namespace drasim::cel {
namespace {

// The cost of looking at every item, whose texts count by their bytes, rounded down.
uint64_t TraversalCost(const Value& value, const CallContext& context) {
  switch (value.kind) {
    case ValueKind::kString:
    case ValueKind::kBytes:
      return value.size / 10;
    case ValueKind::kList: {
      uint64_t cost = 0;
      for (const Value& item : value.list()) cost += TraversalCost(item, context);
      return cost;
    }
    case ValueKind::kMap: {
      uint64_t cost = 0;
      for (size_t i = 0; i < 2 * size_t{value.size}; ++i) {
        cost += TraversalCost(value.items[i], context);
      }
      return cost;
    }
    default:
      return 1;
  }
}

Value Includes(const Value& target, const Value& wanted) {
  if (target.kind != ValueKind::kList) return Value::Bool(EqualValues(target, wanted).IsTrue());
  for (const Value& item : target.list()) {
    if (EqualValues(item, wanted).IsTrue()) return Value::Bool(true);
  }
  return Value::Bool(false);
}

Value IsSorted(const Value& list) {
  for (size_t i = 1; i < list.size; ++i) {
    const Value order = CompareValues(list.items[i - 1], list.items[i]);
    if (order.kind == ValueKind::kInt && order.number > 0) return Value::Bool(false);
  }
  return Value::Bool(true);
}

Value Sum(const Value& list, CallContext* context) {
  if (list.size == 0) return Value::Int(0);
  Value sum = list.items[0];
  if (!sum.IsNumber()) return Value::NoSuchOverload();
  const uint64_t cost = context->cost;
  for (size_t i = 1; i < list.size && !sum.IsError(); ++i) {
    sum = Arithmetic(Function::kAdd, sum, list.items[i], context);
  }
  context->cost = cost;  // the traversal is paid already
  return sum;
}

Value Extreme(Function function, const Value& list) {
  if (list.size == 0) {
    return Value::Error(ErrorKind::kText, function == Function::kMin ? "min called on empty list"
                                                                     : "max called on empty list");
  }
  Value best = list.items[0];
  for (const Value& item : list.list()) {
    const Value order = CompareValues(best, item);
    if (order.kind != ValueKind::kInt) continue;
    if (function == Function::kMin ? order.number > 0 : order.number < 0) best = item;
  }
  return best;
}

Value PositionOf(Function function, const Value& list, const Value& wanted) {
  const bool last = function == Function::kLastIndexOf;
  for (size_t i = 0; i < list.size; ++i) {
    const size_t at = last ? list.size - 1 - i : i;
    if (EqualValues(list.items[at], wanted).IsTrue()) return Value::Int(static_cast<int64_t>(at));
  }
  return Value::Int(-1);
}

}  // namespace

Value CallListFunction(Function function, absl::Span<const Value> arguments, CallContext* context) {
  const Value& list = arguments[0];
  if (function == Function::kIncludes) {
    context->cost += list.kind == ValueKind::kList ? list.size : 1;
    return Includes(list, arguments[1]);
  }
  if (list.kind != ValueKind::kList) return Value::NoSuchOverload();
  context->cost += TraversalCost(list, *context);
  switch (function) {
    case Function::kIsSorted:
      return IsSorted(list);
    case Function::kSum:
      return Sum(list, context);
    case Function::kMin:
    case Function::kMax:
      return Extreme(function, list);
    default:
      if (arguments.size() != 2) return Value::NoSuchOverload();
      return PositionOf(function, list, arguments[1]);
  }
}

}  // namespace drasim::cel
