#include "policies/cel/selector.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "policies/cel/cost.h"

namespace drasim::cel {
namespace {

bool OverLimit(const CallContext& context) {
  return context.cost > kCostLimit || context.work > kWorkLimit;
}

// a && b or a || b, of which `left` did not decide; `decisive` is false or true.
Value Second(const Value& left, const Value& right, bool decisive) {
  if (right.kind == ValueKind::kBool && right.IsTrue() == decisive) return right;
  if (left.kind != ValueKind::kBool) return left.IsError() ? left : Value::NoSuchOverload();
  if (right.kind != ValueKind::kBool) return right.IsError() ? right : Value::NoSuchOverload();
  return right;
}

// The result of a comparison, from the order of its operands.
Value OrderResult(Function function, int order) {
  switch (function) {
    case Function::kEqual:
      return Value::Bool(order == 0);
    case Function::kNotEqual:
      return Value::Bool(order != 0);
    case Function::kLess:
    case Function::kIsLessThan:
      return Value::Bool(order < 0);
    case Function::kLessEqual:
      return Value::Bool(order <= 0);
    case Function::kGreater:
    case Function::kIsGreaterThan:
      return Value::Bool(order > 0);
    case Function::kGreaterEqual:
      return Value::Bool(order >= 0);
    default:
      return Value::Int(order);
  }
}

int OrderOfInts(int64_t left, int64_t right) { return left < right ? -1 : left > right ? 1 : 0; }

bool IsScalar(DeviceValue::Kind kind) {
  return kind == DeviceValue::Kind::kBool || kind == DeviceValue::Kind::kInt ||
         kind == DeviceValue::Kind::kString;
}

// The first error among values, or null.
const Value* FirstError(absl::Span<const Value> values) {
  for (const Value& value : values) {
    if (value.IsError()) return &value;
  }
  return nullptr;
}

}  // namespace

std::string WithAdvice(std::string error) {
  if (!absl::StartsWith(error, "no such key:")) return error;
  return absl::StrCat(error,
                      ". consider using CEL optional chaining (.? followed by orValue()) or "
                      "guarding the check with has() for optional fields");
}

DeviceSelector::DeviceSelector(const Program* program, DeviceColumns* columns)
    : program_(*program), columns_(*columns), registers_(program->registers) {
  for (const Path& path : program->paths) {
    path_texts_.push_back({columns->texts().Intern(path.domain), columns->texts().Intern(path.id)});
  }
  tests_.resize(program->code.size());
  for (size_t i = 0; i < program->code.size(); ++i) {
    if (program->code[i].op != Op::kTest) continue;
    const Value& constant = program->constants[program->code[i].y];
    DeviceValue& value = tests_[i].value;
    if (constant.kind == ValueKind::kString) {
      value = columns->StoreText(constant.view());
    } else if (constant.kind == ValueKind::kQuantity) {
      value.kind = DeviceValue::Kind::kQuantity;
    } else if (constant.kind == ValueKind::kSemver) {
      value.kind = DeviceValue::Kind::kVersion;
    } else {
      value.kind =
          constant.kind == ValueKind::kBool ? DeviceValue::Kind::kBool : DeviceValue::Kind::kInt;
      value.bits = constant.number;
    }
  }
}

int DeviceSelector::OrderOf(const DeviceValue& value, const Value& constant,
                            TestConstant* test) const {
  constexpr int8_t kUnknown = 2;
  const bool quantity = value.kind == DeviceValue::Kind::kQuantity;
  const size_t at = static_cast<size_t>(value.bits);
  if (at >= test->orders.size()) {
    test->orders.resize(quantity ? columns_.quantity_count() : columns_.version_count(), kUnknown);
  }
  int8_t& order = test->orders[at];
  if (order == kUnknown) {
    order = static_cast<int8_t>(
        quantity ? columns_.quantity(value.bits).Compare(*constant.quantity)
                 : columns_.version(value.bits).value.Compare(*constant.version));
  }
  return order;
}

bool DeviceSelector::TestValue(Function function, const DeviceValue& value, const Value& constant,
                               TestConstant* test, Value* result) const {
  const DeviceValue& wanted = test->value;
  const bool equality = function == Function::kEqual || function == Function::kNotEqual;
  const bool object =
      value.kind == DeviceValue::Kind::kQuantity || value.kind == DeviceValue::Kind::kVersion;
  if (IsScalar(value.kind) && IsScalar(wanted.kind)) {
    if (equality) {
      *result = OrderResult(function, value == wanted ? 0 : 1);
      return true;
    }
    if (value.kind != DeviceValue::Kind::kInt || wanted.kind != value.kind) return false;
    if (function >= Function::kCompareTo) return false;
    *result = OrderResult(function, OrderOfInts(value.bits, wanted.bits));
    return true;
  }
  // Quantities and versions have methods for their order, not operators.
  if (!object || value.kind != wanted.kind) return false;
  if (!equality && function < Function::kCompareTo) return false;
  *result = OrderResult(function, OrderOf(value, constant, test));
  return true;
}

Value DeviceSelector::Test(const Instruction& in, TestConstant* test, const RowView& view,
                           const int* slots, CallContext* context) {
  const Value& constant = program_.constants[in.y];
  const bool path = in.x < kMultipleOperand;
  if (path && slots[in.x] < 0) {
    return Value::Error(ErrorKind::kNoSuchKey, program_.paths[in.x].id);
  }
  if (!exact_) {
    Value result;
    if (TestValue(in.function, view.Operand(path ? slots[in.x] : -1, in.x == kDriverOperand),
                  constant, test, &result)) {
      return result;
    }
  }
  const Value left = path                     ? view.At(slots[in.x], &heap_)
                     : in.x == kDriverOperand ? view.Driver()
                                              : view.Multiple();
  const Value arguments[] = {left, constant};
  return CallFunction(in.function, arguments, nullptr, context);
}

Value DeviceSelector::TestInt(const Instruction& in, const Value& left, CallContext* context) {
  if (left.IsError()) return left;
  const Value& constant = program_.constants[in.y];
  if (left.kind == ValueKind::kInt) {
    context->cost += 1;
    return OrderResult(in.function, OrderOfInts(left.number, constant.number));
  }
  const Value arguments[] = {left, constant};
  return CallFunction(in.function, arguments, nullptr, context);
}

const int* DeviceSelector::SlotsOf(LayoutId layout) {
  const size_t paths = path_texts_.size();
  if (has_slots_.size() <= layout.value()) {
    has_slots_.resize(columns_.layout_count());
    slots_.resize(columns_.layout_count() * paths);
  }
  int* slots = slots_.data() + layout.value() * paths;
  if (!has_slots_[layout.value()]) {
    has_slots_[layout.value()] = true;
    for (size_t i = 0; i < paths; ++i) {
      const PathTexts& path = path_texts_[i];
      slots[i] = program_.paths[i].capacity ? columns_.CapacitySlot(layout, path.domain, path.id)
                                            : columns_.AttributeSlot(layout, path.domain, path.id);
    }
  }
  return slots;
}

void DeviceSelector::Append(const Value& item, Value* list, CallContext* context) {
  if (list->IsError()) return;
  if (item.IsError()) {
    *list = item;
    return;
  }
  // The room doubles at powers of two; constants start without room.
  const uint32_t size = list->size;
  if ((size & (size - 1)) == 0) {
    const absl::Span<Value> room = context->heap->Values(size == 0 ? 1 : size_t{size} * 2);
    std::copy_n(list->items, size, room.begin());
    context->work += size;
    list->items = room.data();
  }
  const_cast<Value*>(list->items)[size] = item;
  ++list->size;
}

bool DeviceSelector::NextItem(Value* iterator, Value* item) const {
  // The place is in the register behind the list.
  int64_t& place = iterator[1].number;
  if (place >= static_cast<int64_t>(iterator->size)) return false;
  *item = iterator->items[place++];
  return true;
}

Value DeviceSelector::Run(DeviceRow row, CallContext* context) {
  const RowView view(&columns_, row);
  context->row = &view;
  context->heap = &heap_;
  heap_.Reset();
  const int* slots = SlotsOf(view.layout());
  Value* const regs = registers_.data();
  for (size_t at = 0;; ++at) {
    const Instruction& in = program_.code[at];
    context->cost += in.cost;
    Value& dst = regs[in.dst];
    switch (in.op) {
      case Op::kConstant:
        dst = program_.constants[in.x];
        break;
      case Op::kDevice:
        dst = Value();
        dst.kind = ValueKind::kDevice;
        break;
      case Op::kDriver:
        dst = view.Driver();
        break;
      case Op::kMultiple:
        dst = view.Multiple();
        break;
      case Op::kDomains:
        dst = RowView::Domains(in.x != 0);
        break;
      case Op::kDomain:
        dst = view.Domain(program_.paths[in.x].capacity, program_.paths[in.x].domain);
        break;
      case Op::kAttribute:
        dst = slots[in.x] >= 0 ? view.At(slots[in.x], &heap_)
                               : Value::Error(ErrorKind::kNoSuchKey, program_.paths[in.x].id);
        break;
      case Op::kHasPath:
        dst = Value::Bool(slots[in.x] >= 0);
        break;
      case Op::kSelect:
      case Op::kOptSelect: {
        const Value& operand = regs[in.a];
        dst = operand.IsError()
                  ? operand
                  : IndexValue(operand, program_.constants[in.x], in.op == Op::kOptSelect, context);
        break;
      }
      case Op::kHas: {
        const Value& operand = regs[in.a];
        dst = operand.IsError() ? operand : HasField(operand, program_.constants[in.x], context);
        break;
      }
      case Op::kIndex:
      case Op::kOptIndex: {
        const Value& container = regs[in.a];
        const Value& key = regs[in.b];
        if (container.IsError() || key.IsError()) {
          dst = container.IsError() ? container : key;
        } else {
          dst = IndexValue(container, key, in.op == Op::kOptIndex, context);
        }
        break;
      }
      case Op::kList:
      case Op::kMap: {
        const size_t count = in.op == Op::kList ? in.x : size_t{in.x} * 2;
        const absl::Span<const Value> from(regs + in.a, count);
        if (const Value* error = FirstError(from); error != nullptr) {
          dst = *error;
          break;
        }
        context->work += count;
        const absl::Span<Value> items = heap_.Values(count);
        std::copy(from.begin(), from.end(), items.begin());
        dst = in.op == Op::kList ? Value::List(items) : Value::Map(items);
        break;
      }
      case Op::kCall: {
        const absl::Span<const Value> arguments(regs + in.a, in.x);
        if (const Value* error = FirstError(arguments); error != nullptr) {
          dst = *error;
          break;
        }
        const re2::RE2* pattern = in.y > 0 ? program_.patterns[in.y - 1].get() : nullptr;
        dst = CallFunction(in.function, arguments, pattern, context);
        if (OverLimit(*context)) return Value::Error(ErrorKind::kLimit, "");
        break;
      }
      case Op::kTest:
        dst = Test(in, &tests_[at], view, slots, context);
        break;
      case Op::kTestInt:
        dst = TestInt(in, regs[in.a], context);
        break;
      case Op::kCopy:
        dst = regs[in.a];
        break;
      case Op::kAndFirst:
        if (dst.IsFalse()) at = in.x - 1;
        break;
      case Op::kAndSecond:
        dst = Second(dst, regs[in.a], /*decisive=*/false);
        break;
      case Op::kOrFirst:
        if (dst.IsTrue()) at = in.x - 1;
        break;
      case Op::kOrSecond:
        dst = Second(dst, regs[in.a], /*decisive=*/true);
        break;
      case Op::kBranch: {
        const Value& condition = regs[in.a];
        if (condition.IsTrue()) break;
        if (!condition.IsFalse()) {
          dst = condition.IsError() ? condition : Value::NoSuchOverload();
        }
        at = (condition.IsFalse() ? in.x : in.y) - 1;
        break;
      }
      case Op::kJump:
        at = in.x - 1;
        break;
      case Op::kIterate: {
        const Value range = RangeOf(regs[in.a], context);
        if (range.IsError()) {
          regs[in.b] = range;
          at = in.x - 1;
          break;
        }
        dst = range;
        regs[in.dst + 1] = Value::Int(0);
        break;
      }
      case Op::kNext:
        if (OverLimit(*context)) return Value::Error(ErrorKind::kLimit, "");
        if (!NextItem(&dst, &regs[in.a])) at = in.x - 1;
        break;
      case Op::kBreak:
        if (regs[in.a].IsFalse()) at = in.x - 1;
        break;
      case Op::kAppend:
        Append(regs[in.a], &dst, context);
        break;
      case Op::kReturn:
        if (OverLimit(*context)) return Value::Error(ErrorKind::kLimit, "");
        return regs[in.a];
    }
  }
}

void DeviceSelector::Evaluate(absl::Span<const DeviceRow> rows, absl::Span<Verdict> verdicts) {
  DRASIM_CHECK_EQ(rows.size(), verdicts.size());
  // Without loops, no selector comes near the limit.
  exact_ = program_.has_loops;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!columns_.problem(rows[i]).empty()) {
      verdicts[i] = Verdict::kError;
      continue;
    }
    CallContext context;
    const Value value = Run(rows[i], &context);
    verdicts[i] = value.kind != ValueKind::kBool ? Verdict::kError
                  : value.IsTrue()               ? Verdict::kTrue
                                                 : Verdict::kFalse;
  }
}

Evaluation DeviceSelector::Explain(DeviceRow row) {
  Evaluation evaluation;
  if (const std::string& problem = columns_.problem(row); !problem.empty()) {
    evaluation.verdict = Verdict::kError;
    evaluation.error = problem;
    return evaluation;
  }
  exact_ = true;
  CallContext context;
  const Value value = Run(row, &context);
  evaluation.cost = context.cost;
  if (value.kind == ValueKind::kBool) {
    evaluation.verdict = value.IsTrue() ? Verdict::kTrue : Verdict::kFalse;
    return evaluation;
  }
  evaluation.verdict = Verdict::kError;
  if (value.IsError()) {
    evaluation.error = ErrorText(value);
  } else {
    evaluation.error =
        absl::StrCat("CEL result of type ", TypeNameOf(value), " could not be converted to bool");
  }
  return evaluation;
}

// A value of a single type; kNone for values that no attribute can have.
DeviceValue DeviceSelector::Store(const Value& value) {
  switch (value.kind) {
    case ValueKind::kBool:
      return {DeviceValue::Kind::kBool, value.number};
    case ValueKind::kInt:
      return {DeviceValue::Kind::kInt, value.number};
    case ValueKind::kString:
      return columns_.StoreText(value.view());
    case ValueKind::kSemver:
      return columns_.StoreVersion(*value.version);
    case ValueKind::kList: {
      std::vector<DeviceValue> items;
      for (const Value& item : value.list()) items.push_back(Store(item));
      return columns_.StoreList(items);
    }
    default:
      return DeviceValue();
  }
}

absl::StatusOr<DeviceValue> DeviceSelector::Derive(DeviceRow row) {
  if (const std::string& problem = columns_.problem(row); !problem.empty()) {
    return absl::InvalidArgumentError(problem);
  }
  exact_ = true;
  CallContext context;
  const Value value = Run(row, &context);
  if (value.IsError()) return absl::InvalidArgumentError(ErrorText(value));
  const DeviceValue stored = Store(value);
  if (stored.kind != DeviceValue::Kind::kNone) return stored;
  return absl::InvalidArgumentError(absl::StrCat("CEL result of type ", TypeNameOf(value),
                                                 " could not be converted to an attribute value"));
}

}  // namespace drasim::cel
