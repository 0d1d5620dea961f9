#include "policies/cel/code_generator.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "policies/cel/calls.h"
#include "policies/cel/cost.h"
#include "policies/cel/operators.h"
#include "policies/cel/pattern.h"
#include "re2/re2.h"

namespace drasim::cel {
namespace {

using Register = uint16_t;

bool IsConversion(Function function) {
  return function >= Function::kToInt && function <= Function::kToDyn;
}

bool IsComparison(Function function) {
  return function >= Function::kEqual && function <= Function::kGreaterEqual;
}

bool IsObjectComparison(Function function) {
  return function >= Function::kCompareTo && function <= Function::kIsLessThan;
}

bool IsParser(Function function) {
  return function == Function::kQuantity || function == Function::kIsQuantity ||
         function == Function::kSemver || function == Function::kIsSemver;
}

class Generator {
 public:
  Generator(const Ast& ast, const CheckedAst& checked, Program* program)
      : ast_(ast), checked_(checked), program_(*program) {}

  absl::Status Run() {
    const Register result = Take();
    To(ast_.root, result);
    Emit({.op = Op::kReturn, .a = result});
    program_.registers = most_;
    return status_;
  }

 private:
  struct Variable {
    absl::string_view name;
    Register reg;
  };

  Register Take() {
    const Register taken = next_++;
    most_ = std::max<size_t>(most_, next_);
    return taken;
  }

  // Adds an instruction and the cost of names read for it; returns its place.
  size_t Emit(Instruction instruction) {
    instruction.cost += pending_cost_;
    pending_cost_ = 0;
    program_.code.push_back(instruction);
    return program_.code.size() - 1;
  }

  uint32_t Here() const { return static_cast<uint32_t>(program_.code.size()); }

  uint32_t Constant(const Value& value) {
    program_.constants.push_back(value);
    program_.patterns.push_back(nullptr);
    return static_cast<uint32_t>(program_.constants.size() - 1);
  }

  const Variable* FindVariable(absl::string_view name) const {
    for (size_t i = variables_.size(); i > 0; --i) {
      if (variables_[i - 1].name == name) return &variables_[i - 1];
    }
    return nullptr;
  }

  absl::Span<const NodeId> Children(NodeId id) const { return ast_.ChildrenOf(ast_.nodes[id]); }

  Function FunctionOf(NodeId id) const {
    const FunctionInfo* info = checked_.calls[id].function;
    return ast_.nodes[id].kind == NodeKind::kCall && info != nullptr ? info->function
                                                                     : Function::kNone;
  }

  static Value LiteralValue(const Node& node) {
    switch (node.literal) {
      case LiteralKind::kNull:
        return Value::Null();
      case LiteralKind::kBool:
        return Value::Bool(node.number != 0);
      case LiteralKind::kInt:
        return Value::Int(node.number);
      case LiteralKind::kUint:
        return Value::Uint(static_cast<uint64_t>(node.number));
      case LiteralKind::kDouble:
        return Value::Double(node.real);
      case LiteralKind::kString:
        return Value::Text(node.text);
      case LiteralKind::kBytes:
        return Value::Bytes(node.text);
    }
    return Value::Null();
  }

  // --- Paths ---

  bool IsDevice(NodeId id) const {
    const Node& node = ast_.nodes[id];
    return node.kind == NodeKind::kIdent && node.text == "device" &&
           FindVariable(node.text) == nullptr;
  }

  // device.attributes or device.capacity.
  bool IsDomains(NodeId id, bool* capacity) const {
    const Node& node = ast_.nodes[id];
    if (node.kind != NodeKind::kSelect || node.test_only || !IsDevice(Children(id)[0])) {
      return false;
    }
    *capacity = node.text == "capacity";
    return *capacity || node.text == "attributes";
  }

  // The constant key of x.key and x["key"].
  bool ConstantKey(NodeId id, NodeId* container, absl::string_view* key) const {
    const Node& node = ast_.nodes[id];
    if (node.kind == NodeKind::kSelect) {
      *container = Children(id)[0];
      *key = node.text;
      return true;
    }
    if (FunctionOf(id) != Function::kIndex) return false;
    const Node& index = ast_.nodes[Children(id)[1]];
    *container = Children(id)[0];
    *key = index.text;
    return index.kind == NodeKind::kLiteral && index.literal == LiteralKind::kString;
  }

  bool IsDomain(NodeId id, Path* path) const {
    NodeId container = 0;
    return !ast_.nodes[id].test_only && ConstantKey(id, &container, &path->domain) &&
           IsDomains(container, &path->capacity);
  }

  bool IsPath(NodeId id, Path* path) const {
    NodeId container = 0;
    return ConstantKey(id, &container, &path->id) && IsDomain(container, path);
  }

  uint32_t PathIndex(const Path& path) {
    program_.paths.push_back(path);
    return static_cast<uint32_t>(program_.paths.size() - 1);
  }

  // --- Expressions ---

  // Generates code that leaves the value of a node in `dst`.
  void To(NodeId id, Register dst) {
    const Node& node = ast_.nodes[id];
    switch (node.kind) {
      case NodeKind::kLiteral:
        Emit({.op = Op::kConstant, .dst = dst, .x = Constant(LiteralValue(node))});
        return;
      case NodeKind::kIdent:
        Ident(node, dst);
        return;
      case NodeKind::kSelect:
        Select(id, node, dst);
        return;
      case NodeKind::kCall:
        Call(id, dst);
        return;
      case NodeKind::kList:
        List(id, dst);
        return;
      case NodeKind::kMap:
        Map(id, dst);
        return;
      case NodeKind::kComprehension:
        if (node.bind) {
          Bind(id, node, dst);
        } else {
          Loop(id, node, dst);
        }
        return;
    }
  }

  // The register of a node's value: a variable's own, or a new one.
  Register Operand(NodeId id) {
    const Node& node = ast_.nodes[id];
    if (node.kind == NodeKind::kIdent) {
      const Variable* variable = FindVariable(node.text);
      if (variable != nullptr) {
        ++pending_cost_;
        return variable->reg;
      }
    }
    const Register reg = Take();
    To(id, reg);
    return reg;
  }

  void Ident(const Node& node, Register dst) {
    const Variable* variable = FindVariable(node.text);
    if (variable != nullptr) {
      Emit({.op = Op::kCopy, .dst = dst, .a = variable->reg, .cost = 1});
    } else if (node.text == "device") {
      Emit({.op = Op::kDevice, .dst = dst, .cost = 1});
    } else {
      const TypeId named = checked_.types.At(node.type).first;
      Emit({.op = Op::kConstant,
            .dst = dst,
            .x = Constant(Value::Type(checked_.types.Kind(named)))});
    }
  }

  void Select(NodeId id, const Node& node, Register dst) {
    Path path;
    bool capacity = false;
    if (IsPath(id, &path)) {
      const bool has = node.test_only;
      Emit({.op = has ? Op::kHasPath : Op::kAttribute,
            .dst = dst,
            .cost = has ? 3U : 4U,
            .x = PathIndex(path)});
    } else if (IsDomain(id, &path)) {
      Emit({.op = Op::kDomain, .dst = dst, .cost = 3, .x = PathIndex(path)});
    } else if (IsDomains(id, &capacity)) {
      Emit({.op = Op::kDomains, .dst = dst, .cost = 2, .x = capacity ? 1U : 0U});
    } else if (IsDevice(Children(id)[0]) && !node.test_only) {
      Emit({.op = node.text == "driver" ? Op::kDriver : Op::kMultiple, .dst = dst, .cost = 2});
    } else {
      const Register saved = next_;
      const Register operand = Operand(Children(id)[0]);
      Emit({.op = node.test_only ? Op::kHas : Op::kSelect,
            .dst = dst,
            .a = operand,
            .cost = node.test_only ? 0U : 1U,
            .x = Constant(Value::Text(node.text))});
      next_ = saved;
    }
  }

  void Call(NodeId id, Register dst) {
    const Function function = FunctionOf(id);
    const Register saved = next_;
    switch (function) {
      case Function::kAnd:
        Logic(id, Op::kAndFirst, Op::kAndSecond, dst);
        break;
      case Function::kOr:
        Logic(id, Op::kOrFirst, Op::kOrSecond, dst);
        break;
      case Function::kConditional:
        Conditional(id, dst);
        break;
      case Function::kIndex:
      case Function::kOptIndex:
        Index(id, function, dst);
        break;
      case Function::kOptSelect: {
        const Register operand = Operand(Children(id)[0]);
        const absl::string_view field = ast_.nodes[Children(id)[1]].text;
        Emit({.op = Op::kOptSelect,
              .dst = dst,
              .a = operand,
              .cost = 1,
              .x = Constant(Value::Text(field))});
        break;
      }
      case Function::kNotStrictlyFalse:
        // Only conditions of loops are such calls; kBreak does their work.
        To(Children(id)[0], dst);
        program_.code.back().cost += 1;
        break;
      case Function::kIn:
        if (!InPath(id, dst)) Arguments(id, function, dst);
        break;
      default:
        if (!Fold(id, function, dst) && !Test(id, function, dst)) Arguments(id, function, dst);
        break;
    }
    next_ = saved;
  }

  // "id" in device.attributes["domain"]
  bool InPath(NodeId id, Register dst) {
    const Node& key = ast_.nodes[Children(id)[0]];
    Path path;
    if (key.kind != NodeKind::kLiteral || key.literal != LiteralKind::kString) return false;
    if (!IsDomain(Children(id)[1], &path)) return false;
    path.id = key.text;
    Emit({.op = Op::kHasPath, .dst = dst, .cost = 4, .x = PathIndex(path)});
    return true;
  }

  void Index(NodeId id, Function function, Register dst) {
    Path path;
    if (function == Function::kIndex && IsPath(id, &path)) {
      Emit({.op = Op::kAttribute, .dst = dst, .cost = 4, .x = PathIndex(path)});
      return;
    }
    if (function == Function::kIndex && IsDomain(id, &path)) {
      Emit({.op = Op::kDomain, .dst = dst, .cost = 3, .x = PathIndex(path)});
      return;
    }
    const Register container = Operand(Children(id)[0]);
    const Register key = Operand(Children(id)[1]);
    Emit({.op = function == Function::kIndex ? Op::kIndex : Op::kOptIndex,
          .dst = dst,
          .a = container,
          .b = key,
          .cost = 1});
  }

  void Logic(NodeId id, Op first, Op second, Register dst) {
    To(Children(id)[0], dst);
    const size_t jump = Emit({.op = first, .dst = dst});
    const Register other = Operand(Children(id)[1]);
    Emit({.op = second, .dst = dst, .a = other});
    program_.code[jump].x = Here();
  }

  void Conditional(NodeId id, Register dst) {
    const Register condition = Operand(Children(id)[0]);
    const size_t branch = Emit({.op = Op::kBranch, .dst = dst, .a = condition});
    To(Children(id)[1], dst);
    const size_t jump = Emit({.op = Op::kJump});
    program_.code[branch].x = Here();
    To(Children(id)[2], dst);
    program_.code[branch].y = Here();
    program_.code[jump].x = Here();
  }

  // Calls a conversion or parser of a constant now. Its price is paid at run time, as upstream does
  // for parsers.
  bool Fold(NodeId id, Function function, Register dst) {
    if (!IsConversion(function) && !IsParser(function)) return false;
    absl::InlinedVector<Value, 2> arguments;
    for (const NodeId child : Children(id)) {
      const Node& node = ast_.nodes[child];
      if (node.kind != NodeKind::kLiteral) return false;
      arguments.push_back(LiteralValue(node));
    }
    CallContext context;
    context.heap = program_.heap.get();
    const Value value = CallFunction(function, arguments, nullptr, &context);
    if (value.IsError() && IsConversion(function)) {
      Refuse(absl::StrCat("program instantiation failed: ", ErrorText(value)));
    }
    Emit({.op = Op::kConstant,
          .dst = dst,
          .cost = IsParser(function) ? static_cast<uint32_t>(context.cost) : 0,
          .x = Constant(value)});
    return true;
  }

  // The operand of the device that a node is, with its price.
  bool IsOperand(NodeId id, uint32_t* operand, uint32_t* cost) {
    const Node& node = ast_.nodes[id];
    Path path;
    if (IsPath(id, &path)) {
      if (node.test_only) return false;
      *operand = PathIndex(path);
      *cost = 4;
      return true;
    }
    if (node.kind != NodeKind::kSelect || node.test_only || !IsDevice(Children(id)[0])) {
      return false;
    }
    if (node.text != "driver" && node.text != "allowMultipleAllocations") return false;
    *operand = node.text == "driver" ? kDriverOperand : kMultipleOperand;
    *cost = 2;
    return true;
  }

  // A constant that kTest takes, with the price of parsing it.
  bool IsTestConstant(NodeId id, Value* value, uint32_t* cost) {
    const Node& node = ast_.nodes[id];
    *cost = 0;
    if (node.kind == NodeKind::kLiteral) {
      *value = LiteralValue(node);
      return value->kind == ValueKind::kString || value->kind == ValueKind::kInt ||
             value->kind == ValueKind::kBool;
    }
    const Function parser = FunctionOf(id);
    if (parser != Function::kQuantity && parser != Function::kSemver) return false;
    if (!AllLiterals(id)) return false;
    CallContext context;
    context.heap = program_.heap.get();
    *value = CallFunction(parser, LiteralItems(id), nullptr, &context);
    *cost = static_cast<uint32_t>(context.cost);
    return !value->IsError();
  }

  // Comparisons of the device with a constant, and of any value with an integer constant.
  bool Test(NodeId id, Function function, Register dst) {
    const bool comparison = IsComparison(function);
    if (!comparison && !IsObjectComparison(function)) return false;
    const absl::Span<const NodeId> children = Children(id);
    Value constant;
    uint32_t parse_cost = 0;
    if (!IsTestConstant(children[1], &constant, &parse_cost)) return false;
    uint32_t operand = 0;
    uint32_t cost = 0;
    if (IsOperand(children[0], &operand, &cost)) {
      Emit({.op = Op::kTest,
            .function = function,
            .dst = dst,
            .cost = cost + parse_cost,
            .x = operand,
            .y = Constant(constant)});
      return true;
    }
    if (!comparison || constant.kind != ValueKind::kInt) return false;
    const Register left = Operand(children[0]);
    Emit(
        {.op = Op::kTestInt, .function = function, .dst = dst, .a = left, .y = Constant(constant)});
    return true;
  }

  void Refuse(absl::string_view message) {
    if (status_.ok()) status_ = absl::InvalidArgumentError(message);
  }

  void Arguments(NodeId id, Function function, Register dst) {
    absl::Span<const NodeId> children = Children(id);
    if (checked_.calls[id].qualified) children.remove_prefix(1);
    const Register first = next_;
    for (size_t i = 0; i < children.size(); ++i) Take();
    for (size_t i = 0; i < children.size(); ++i) {
      To(children[i], static_cast<Register>(first + i));
    }
    Emit({.op = Op::kCall,
          .function = function,
          .dst = dst,
          .a = first,
          .x = static_cast<uint32_t>(children.size()),
          .y = PatternOf(function, children)});
  }

  // One more than the constant that holds a call's pattern; 0 if the pattern is no constant.
  uint32_t PatternOf(Function function, absl::Span<const NodeId> children) {
    const bool matches = function == Function::kMatches;
    if (!matches && function != Function::kFind && function != Function::kFindAll) return 0;
    const Node& node = ast_.nodes[children[1]];
    if (node.kind != NodeKind::kLiteral || node.literal != LiteralKind::kString) return 0;
    std::shared_ptr<const re2::RE2> pattern = CompilePattern(node.text);
    if (!pattern->ok()) {
      Refuse(absl::StrCat(matches ? "compilation failed: " : "program instantiation failed: ",
                          matches ? "invalid matches argument: " : "", PatternError(*pattern)));
      return 0;
    }
    const uint32_t index = Constant(Value::Text(node.text));
    program_.patterns[index] = std::move(pattern);
    return index + 1;
  }

  // --- Lists and maps ---

  bool AllLiterals(NodeId id) const {
    const absl::Span<const NodeId> children = Children(id);
    return std::all_of(children.begin(), children.end(),
                       [&](NodeId child) { return ast_.nodes[child].kind == NodeKind::kLiteral; });
  }

  absl::Span<const Value> LiteralItems(NodeId id) {
    const absl::Span<const NodeId> children = Children(id);
    const absl::Span<Value> items = program_.heap->Values(children.size());
    for (size_t i = 0; i < children.size(); ++i) items[i] = LiteralValue(ast_.nodes[children[i]]);
    return items;
  }

  Register Elements(NodeId id) {
    const absl::Span<const NodeId> children = Children(id);
    const Register first = next_;
    for (size_t i = 0; i < children.size(); ++i) Take();
    for (size_t i = 0; i < children.size(); ++i) {
      To(children[i], static_cast<Register>(first + i));
    }
    return first;
  }

  void List(NodeId id, Register dst) {
    if (AllLiterals(id)) {
      Emit({.op = Op::kConstant, .dst = dst, .x = Constant(Value::List(LiteralItems(id)))});
      return;
    }
    const Register saved = next_;
    const Register first = Elements(id);
    Emit({.op = Op::kList,
          .dst = dst,
          .a = first,
          .cost = static_cast<uint32_t>(kListCost),
          .x = ast_.nodes[id].count});
    next_ = saved;
  }

  void Map(NodeId id, Register dst) {
    const uint32_t count = ast_.nodes[id].count / 2;
    if (AllLiterals(id)) {
      Emit({.op = Op::kConstant, .dst = dst, .x = Constant(Value::Map(LiteralItems(id)))});
      return;
    }
    const Register saved = next_;
    const Register first = Elements(id);
    Emit({.op = Op::kMap,
          .dst = dst,
          .a = first,
          .cost = static_cast<uint32_t>(kMapCost),
          .x = count});
    next_ = saved;
  }

  // --- Variables ---

  void Bind(NodeId id, const Node& node, Register dst) {
    const Register saved = next_;
    const Register variable = Take();
    To(Children(id)[1], variable);
    variables_.push_back({node.accumulator, variable});
    To(Children(id)[4], dst);
    variables_.pop_back();
    next_ = saved;
  }

  // accumulator + [x], the step of map and filter.
  bool IsAppend(NodeId id, absl::string_view accumulator) const {
    if (FunctionOf(id) != Function::kAdd || accumulator != kResultVariable) return false;
    const Node& left = ast_.nodes[Children(id)[0]];
    const Node& right = ast_.nodes[Children(id)[1]];
    return left.kind == NodeKind::kIdent && left.text == accumulator &&
           right.kind == NodeKind::kList && right.count == 1;
  }

  void Append(NodeId step, Register accumulator) {
    const Register item = Operand(Children(Children(step)[1])[0]);
    // The name of the list, the new list of one item, and the sum.
    Emit({.op = Op::kAppend,
          .dst = accumulator,
          .a = item,
          .cost = 2 + static_cast<uint32_t>(kListCost)});
  }

  // The step of a loop. Steps of map and filter extend the list in place.
  void Step(NodeId step, absl::string_view name, Register accumulator) {
    if (IsAppend(step, name)) {
      Append(step, accumulator);
      return;
    }
    if (FunctionOf(step) == Function::kConditional && IsAppend(Children(step)[1], name)) {
      const Register condition = Operand(Children(step)[0]);
      const size_t branch = Emit({.op = Op::kBranch, .dst = accumulator, .a = condition});
      Append(Children(step)[1], accumulator);
      const size_t jump = Emit({.op = Op::kJump});
      program_.code[branch].x = Here();
      Emit({.op = Op::kCopy, .dst = accumulator, .a = accumulator, .cost = 1});
      program_.code[branch].y = Here();
      program_.code[jump].x = Here();
      return;
    }
    const Register next = Take();
    To(step, next);
    Emit({.op = Op::kCopy, .dst = accumulator, .a = next});
  }

  void Loop(NodeId id, const Node& node, Register dst) {
    program_.has_loops = true;
    const Register saved = next_;
    const absl::Span<const NodeId> children = Children(id);
    const Register accumulator = Take();
    const Register iterator = Take();  // and its place in the next one
    Take();
    const Register item = Take();
    const Register range = Operand(children[0]);
    const size_t iterate = Emit({.op = Op::kIterate, .dst = iterator, .a = range, .b = dst});
    To(children[1], accumulator);
    const uint32_t top = Here();
    const size_t next = Emit({.op = Op::kNext, .dst = iterator, .a = item});
    variables_.push_back({node.accumulator, accumulator});
    variables_.push_back({node.iteration, item});
    const Register body = next_;
    size_t break_at = 0;
    const bool endless = ast_.nodes[children[2]].kind == NodeKind::kLiteral;
    if (!endless) {
      const Register condition = Operand(children[2]);
      break_at = Emit({.op = Op::kBreak, .a = condition});
    }
    Step(children[3], node.accumulator, accumulator);
    Emit({.op = Op::kJump, .x = top});
    next_ = body;
    variables_.pop_back();
    program_.code[next].x = Here();
    if (!endless) program_.code[break_at].x = Here();
    To(children[4], dst);
    variables_.pop_back();
    program_.code[iterate].x = Here();
    next_ = saved;
  }

  const Ast& ast_;
  const CheckedAst& checked_;
  Program& program_;
  std::vector<Variable> variables_;
  uint32_t pending_cost_ = 0;
  Register next_ = 0;
  size_t most_ = 0;
  absl::Status status_;
};

}  // namespace

absl::Status Generate(const Ast& ast, const CheckedAst& checked, Program* program) {
  return Generator(ast, checked, program).Run();
}

}  // namespace drasim::cel
