#include "policies/cel/cost.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "policies/cel/value.h"

namespace drasim::cel {
namespace {

constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();

uint64_t Plus(uint64_t a, uint64_t b) { return a > kUnlimited - b ? kUnlimited : a + b; }
uint64_t Times(uint64_t a, uint64_t b) { return b != 0 && a > kUnlimited / b ? kUnlimited : a * b; }

// An estimate of a size or a cost.
struct Range {
  uint64_t min = 0;
  uint64_t max = 0;
};

constexpr Range Fixed(uint64_t value) { return {value, value}; }
constexpr Range kUnknownSize = {0, kUnlimited};

Range operator+(Range a, Range b) { return {Plus(a.min, b.min), Plus(a.max, b.max)}; }
Range operator*(Range a, Range b) { return {Times(a.min, b.min), Times(a.max, b.max)}; }
Range Scaled(Range range, double factor) {
  return {ScaleCost(range.min, factor), ScaleCost(range.max, factor)};
}
Range Union(Range a, Range b) { return {std::min(a.min, b.min), std::max(a.max, b.max)}; }

// Where a value stands in the declared type of `device`.
enum class Place : uint8_t {
  kNowhere,
  kDevice,
  kDriver,
  kMultiple,
  kAttributes,
  kAttributeDomain,
  kAttribute,
  kCapacities,
  kCapacityDomain,
  kQuantity,
  kDomainName,
  kIdName,
};

std::optional<Range> SizeAt(Place place) {
  switch (place) {
    case Place::kNowhere:
      return std::nullopt;
    case Place::kDevice:
    case Place::kQuantity:
      return Range{0, 0};
    case Place::kMultiple:
      return Range{0, 1};
    case Place::kAttributes:
    case Place::kAttributeDomain:
    case Place::kCapacities:
    case Place::kCapacityDomain:
    case Place::kIdName:
      return Range{0, 32};
    case Place::kAttribute:
      return Range{0, 64};
    case Place::kDriver:
    case Place::kDomainName:
      return Range{0, 63};
  }
  return std::nullopt;
}

Place FieldOf(Place place, absl::string_view field) {
  if (place == Place::kAttributeDomain) return Place::kAttribute;
  if (place != Place::kDevice) return Place::kNowhere;
  if (field == "driver") return Place::kDriver;
  if (field == "attributes") return Place::kAttributes;
  if (field == "capacity") return Place::kCapacities;
  return Place::kMultiple;
}

Place ValueOf(Place place) {
  switch (place) {
    case Place::kAttributes:
      return Place::kAttributeDomain;
    case Place::kAttributeDomain:
      return Place::kAttribute;
    case Place::kCapacities:
      return Place::kCapacityDomain;
    case Place::kCapacityDomain:
      return Place::kQuantity;
    default:
      return Place::kNowhere;
  }
}

Place KeyOf(Place place) {
  switch (place) {
    case Place::kAttributes:
    case Place::kCapacities:
      return Place::kDomainName;
    case Place::kAttributeDomain:
    case Place::kCapacityDomain:
      return Place::kIdName;
    default:
      return Place::kNowhere;
  }
}

// Sizes of the entries of a list or map.
struct Entries {
  bool list = false;
  Range key;
  Range value;
};

class Estimator {
 public:
  Estimator(const Ast& ast, const CheckedAst& checked)
      : ast_(ast), checked_(checked), facts_(ast.nodes.size()) {}

  Range Cost(NodeId id) {
    const Node& node = ast_.nodes[id];
    switch (node.kind) {
      case NodeKind::kLiteral:
        return Fixed(0);
      case NodeKind::kIdent:
        facts_[id].place = PlaceOfName(node.text);
        return Fixed(1);
      case NodeKind::kSelect:
        return SelectCost(id, node);
      case NodeKind::kCall:
        return CallCost(id, node);
      case NodeKind::kList:
        return ListCost(id, node);
      case NodeKind::kMap:
        return MapCost(id, node);
      case NodeKind::kComprehension:
        return node.bind ? BindCost(id, node) : LoopCost(id, node);
    }
    return Fixed(0);
  }

 private:
  struct Facts {
    Place place = Place::kNowhere;
    std::optional<Range> size;
    std::optional<Entries> entries;
  };
  struct Variable {
    absl::string_view name;
    Facts facts;
  };
  struct CallEstimate {
    Range cost;
    std::optional<Range> size;
  };
  using Costs = absl::InlinedVector<Range, 4>;

  TypeKind Kind(NodeId id) const { return checked_.types.Kind(ast_.nodes[id].type); }

  const Variable* FindVariable(absl::string_view name) const {
    for (size_t i = variables_.size(); i > 0; --i) {
      if (variables_[i - 1].name == name) return &variables_[i - 1];
    }
    return nullptr;
  }

  Place PlaceOfName(absl::string_view name) const {
    const Variable* variable = FindVariable(name);
    if (variable != nullptr) return variable->facts.place;
    return name == "device" ? Place::kDevice : Place::kNowhere;
  }

  Place PlaceOf(NodeId id) const {
    const Node& node = ast_.nodes[id];
    if (node.kind == NodeKind::kIdent) {
      const Variable* variable = FindVariable(node.text);
      if (variable != nullptr) return variable->facts.place;
    }
    return facts_[id].place;
  }

  // The size that the form of an expression gives.
  static std::optional<Range> SizeOfForm(const Node& node) {
    switch (node.kind) {
      case NodeKind::kLiteral:
        if (node.literal == LiteralKind::kString) return Fixed(CharacterCount(node.text));
        if (node.literal == LiteralKind::kBytes) return Fixed(node.text.size());
        return Fixed(1);
      case NodeKind::kList:
        return Fixed(node.count);
      case NodeKind::kMap:
        return Fixed(node.count / 2);
      default:
        return std::nullopt;
    }
  }

  bool IsScalar(TypeId type) const {
    switch (checked_.types.Kind(type)) {
      case TypeKind::kBool:
      case TypeKind::kInt:
      case TypeKind::kUint:
      case TypeKind::kDouble:
        return true;
      case TypeKind::kOptional:
        return IsScalar(checked_.types.At(type).first);
      default:
        return false;
    }
  }

  std::optional<Range> Size(NodeId id) {
    Facts& facts = facts_[id];
    if (facts.size.has_value()) return facts.size;
    const Node& node = ast_.nodes[id];
    if (const std::optional<Range> size = SizeOfForm(node); size.has_value()) return size;
    if (const std::optional<Range> size = SizeAt(PlaceOf(id)); size.has_value()) {
      facts.size = size;
      return size;
    }
    if (IsScalar(node.type)) return Fixed(1);
    if (node.kind == NodeKind::kIdent) {
      const Variable* variable = FindVariable(node.text);
      if (variable != nullptr) return variable->facts.size;
    }
    return std::nullopt;
  }

  Range SizeOrUnknown(NodeId id) { return Size(id).value_or(kUnknownSize); }

  std::optional<Entries> EntriesOf(NodeId id) const {
    if (facts_[id].entries.has_value()) return facts_[id].entries;
    if (ast_.nodes[id].kind != NodeKind::kIdent) return std::nullopt;
    const Variable* variable = FindVariable(ast_.nodes[id].text);
    return variable == nullptr ? std::nullopt : variable->facts.entries;
  }

  Range SelectCost(NodeId id, const Node& node) {
    const NodeId operand = ast_.ChildrenOf(node)[0];
    const Range cost = Cost(operand);
    if (node.test_only) return cost;
    facts_[id].place = FieldOf(PlaceOf(operand), node.text);
    switch (Kind(operand)) {
      case TypeKind::kMap:
      case TypeKind::kDevice:
      case TypeKind::kQuantity:
      case TypeKind::kSemver:
      case TypeKind::kVariable:
        return cost + Fixed(1);
      default:
        return cost;
    }
  }

  Range ListCost(NodeId id, const Node& node) {
    Range cost;
    Range items = {node.count == 0 ? 0 : kUnlimited, 0};
    for (const NodeId child : ast_.ChildrenOf(node)) {
      cost = cost + Cost(child);
      items = Union(items, SizeOrUnknown(child));
    }
    facts_[id].entries = Entries{true, Fixed(1), items};
    return cost + Fixed(kListCost);
  }

  Range MapCost(NodeId id, const Node& node) {
    Range cost;
    Range keys = {node.count == 0 ? 0 : kUnlimited, 0};
    Range values = keys;
    const absl::Span<const NodeId> children = ast_.ChildrenOf(node);
    for (size_t i = 0; i < children.size(); i += 2) {
      cost = cost + Cost(children[i]) + Cost(children[i + 1]);
      keys = Union(keys, SizeOrUnknown(children[i]));
      values = Union(values, SizeOrUnknown(children[i + 1]));
    }
    facts_[id].entries = Entries{false, keys, values};
    return cost + Fixed(kMapCost);
  }

  void PushAccumulator(const Node& node, NodeId initial) {
    variables_.push_back({node.accumulator, {PlaceOf(initial), Size(initial), EntriesOf(initial)}});
  }

  Range BindCost(NodeId id, const Node& node) {
    const absl::Span<const NodeId> children = ast_.ChildrenOf(node);
    Range cost = Cost(children[0]) + Cost(children[1]);
    PushAccumulator(node, children[1]);
    cost = cost + Cost(children[4]);
    variables_.pop_back();
    facts_[id].size = Size(children[4]);
    facts_[id].entries = EntriesOf(children[4]);
    return cost;
  }

  Range LoopCost(NodeId id, const Node& node) {
    const absl::Span<const NodeId> children = ast_.ChildrenOf(node);
    const NodeId range = children[0];
    Range cost = Cost(range) + Cost(children[1]);
    PushAccumulator(node, children[1]);
    const std::optional<Entries> entries = EntriesOf(range);
    const bool list = entries.has_value() ? entries->list : Kind(range) == TypeKind::kList;
    Variable item = {node.iteration, {}};
    item.facts.place = list ? ValueOf(PlaceOf(range)) : KeyOf(PlaceOf(range));
    if (entries.has_value()) item.facts.size = list ? entries->value : entries->key;
    variables_.push_back(item);
    const Range loop = Cost(children[2]) + Cost(children[3]);
    variables_.pop_back();
    cost = cost + Cost(children[4]);
    variables_.pop_back();
    const Range rounds = SizeOrUnknown(range);
    cost = cost + rounds * loop;
    const NodeKind initial = ast_.nodes[children[1]].kind;
    if (initial == NodeKind::kLiteral) {
      facts_[id].size = Size(children[1]);
    } else if (initial == NodeKind::kList || initial == NodeKind::kMap) {
      facts_[id].size = rounds;
      const std::optional<Entries> collected = EntriesOf(children[3]);
      if (collected.has_value()) facts_[id].entries = collected;
    }
    return cost;
  }

  Range CallCost(NodeId id, const Node& node) {
    const absl::Span<const NodeId> children = ast_.ChildrenOf(node);
    const CheckedCall& call = checked_.calls[id];
    if (call.function->function == Function::kToDyn) {
      const Range cost = Cost(children[0]) + Fixed(1);
      facts_[id].size = Size(children[0]);
      facts_[id].entries = EntriesOf(children[0]);
      return cost;
    }
    Range sum;
    absl::Span<const NodeId> arguments = children;
    NodeId target = id;
    if (node.member) {
      arguments.remove_prefix(1);
      if (!call.qualified) {
        sum = Cost(children[0]);
        target = children[0];
      }
    }
    Costs costs;
    for (const NodeId argument : arguments) costs.push_back(Cost(argument));
    Range price = {kUnlimited, 0};
    std::optional<Range> size;
    if (call.function->function == Function::kOptSelect) {
      price = Fixed(1);
      for (const Range& cost : costs) price = price + cost;
      facts_[id].place = FieldOf(PlaceOf(children[0]), ast_.nodes[children[1]].text);
    }
    const absl::Span<const Overload> overloads = call.function->overloads;
    for (size_t i = 0; i < overloads.size(); ++i) {
      if ((call.overloads >> i & 1U) == 0) continue;
      const CostRule rule = overloads[i].cost;
      const CallEstimate estimate =
          Price(id, rule, target, arguments, costs, call.function->function);
      price = Union(price, estimate.cost);
      if (estimate.size.has_value()) {
        size = size.has_value() ? Union(*size, *estimate.size) : *estimate.size;
      }
      if (rule == CostRule::kIndexList || rule == CostRule::kIndexMap) {
        const std::optional<Entries> entries = EntriesOf(children[0]);
        size = entries.has_value() ? std::optional<Range>(entries->value) : std::nullopt;
        facts_[id].place = ValueOf(PlaceOf(children[0]));
      }
      if (!size.has_value()) size = Size(id);
    }
    if (size.has_value()) facts_[id].size = size;
    return sum + price;
  }

  CallEstimate Price(NodeId id, CostRule rule, NodeId target, absl::Span<const NodeId> arguments,
                     const Costs& costs, Function function) {
    Range sum;
    for (const Range& cost : costs) sum = sum + cost;
    switch (rule) {
      case CostRule::kOne:
      case CostRule::kFixed:
      case CostRule::kIndexList:
      case CostRule::kIndexMap:
        return {sum + Fixed(1), std::nullopt};
      case CostRule::kArgument:
        return {Scaled(SizeOrUnknown(arguments[0]), kTraversalFactor) + sum, std::nullopt};
      case CostRule::kInList:
        return {SizeOrUnknown(arguments[1]) + sum, std::nullopt};
      case CostRule::kIncludes:
        return {SizeOrUnknown(target) + sum, std::nullopt};
      case CostRule::kShorter:
        return {Comparison(arguments, function) + sum, std::nullopt};
      case CostRule::kConcat:
      case CostRule::kConcatLists:
        return Concatenation(id, rule, arguments, sum);
      case CostRule::kLogic:
        return {{costs[0].min, Plus(costs[0].max, costs[1].max)}, std::nullopt};
      case CostRule::kConditional:
        return Conditional(id, arguments, costs);
      case CostRule::kProduct:
        return {Scaled(SizeOrUnknown(target), kTraversalFactor) *
                        Scaled(SizeOrUnknown(arguments[0]), kTraversalFactor) +
                    sum,
                std::nullopt};
      case CostRule::kRegex:
        // As upstream, matches(text, pattern) costs one; text.matches(pattern) its length.
        if (target == id) return {sum + Fixed(1), std::nullopt};
        return {RegexPrice(target, arguments[0]) + sum, std::nullopt};
      case CostRule::kFind:
        return {RegexPrice(target, arguments[0]) + sum, Range{0, SizeOrUnknown(target).max}};
      case CostRule::kScan:
        return {ScanPrice(target) + sum, std::nullopt};
      case CostRule::kTransform: {
        const Range size = SizeOrUnknown(target);
        return {Scaled(size, kTraversalFactor) + sum, size};
      }
      case CostRule::kReplace: {
        const Range price = Scaled(SizeOrUnknown(target), 2 * kTraversalFactor);
        return {price + sum, ReplacedSize(target, arguments)};
      }
      case CostRule::kSplit:
        return {Scaled(SizeOrUnknown(target), 2 * kTraversalFactor) + sum,
                Range{0, SplitSize(target, arguments)}};
      case CostRule::kJoin: {
        const Range size = JoinedSize(target, arguments);
        return {Scaled(size, kTraversalFactor) + sum, size};
      }
      case CostRule::kToBytes: {
        const Range size = SizeOrUnknown(arguments[0]);
        return {Scaled(size, kTraversalFactor) + sum, Range{size.min, size.max * 4}};
      }
      case CostRule::kToText: {
        const Range size = SizeOrUnknown(arguments[0]);
        return {Scaled(size, kTraversalFactor) + sum, Range{size.min / 4, size.max}};
      }
    }
    return {sum + Fixed(1), std::nullopt};
  }

  Range Comparison(absl::Span<const NodeId> arguments, Function function) {
    const TypeKind kind = Kind(arguments[0]);
    const bool object = kind == TypeKind::kQuantity || kind == TypeKind::kSemver;
    if (function == Function::kEqual && object && Kind(arguments[1]) == kind) return Fixed(1);
    const uint64_t shorter =
        std::min(SizeOrUnknown(arguments[0]).max, SizeOrUnknown(arguments[1]).max);
    return Scaled({shorter > 0 ? 1U : 0U, shorter}, kTraversalFactor);
  }

  CallEstimate Concatenation(NodeId id, CostRule rule, absl::Span<const NodeId> arguments,
                             Range sum) {
    const Range size = SizeOrUnknown(arguments[0]) + SizeOrUnknown(arguments[1]);
    const std::optional<Entries> left = EntriesOf(arguments[0]);
    const std::optional<Entries> right = EntriesOf(arguments[1]);
    if (left.has_value() && right.has_value()) {
      facts_[id].entries =
          Entries{left->list, Union(left->key, right->key), Union(left->value, right->value)};
    }
    const Range price = rule == CostRule::kConcatLists ? Fixed(1) : Scaled(size, kTraversalFactor);
    return {price + sum, size};
  }

  CallEstimate Conditional(NodeId id, absl::Span<const NodeId> arguments, const Costs& costs) {
    const Range size = Union(SizeOrUnknown(arguments[1]), SizeOrUnknown(arguments[2]));
    const std::optional<Entries> yes = EntriesOf(arguments[1]);
    const std::optional<Entries> no = EntriesOf(arguments[2]);
    if (yes.has_value() && no.has_value()) {
      facts_[id].entries =
          Entries{yes->list, Union(yes->key, no->key), Union(yes->value, no->value)};
    }
    return {costs[0] + Union(costs[1], costs[2]), size};
  }

  Range RegexPrice(NodeId text, NodeId pattern) {
    return Scaled(SizeOrUnknown(text) + Fixed(1), kTraversalFactor) *
           Scaled(SizeOrUnknown(pattern), kRegexFactor);
  }

  // Every item costs one, and a text its length, too.
  Range ScanPrice(NodeId target) {
    const Type& type = checked_.types.At(ast_.nodes[target].type);
    const Range size = SizeOrUnknown(target);
    if (type.kind != TypeKind::kList && type.kind != TypeKind::kMap) {
      return Scaled(size, kTraversalFactor);
    }
    Range item = Fixed(1);
    const TypeKind kind = checked_.types.Kind(type.first);
    if (kind == TypeKind::kString || kind == TypeKind::kBytes) {
      const Range text = SizeAt(ValueOf(PlaceOf(target))).value_or(kUnknownSize);
      item = item + Scaled(text, kTraversalFactor);
    }
    return size * item;
  }

  Range ReplacedSize(NodeId target, absl::Span<const NodeId> arguments) {
    const Range text = SizeOrUnknown(target);
    const Range old_text = SizeOrUnknown(arguments[0]);
    const Range new_text = SizeOrUnknown(arguments[1]);
    const auto quotient = [](uint64_t a, uint64_t b) {
      const double result = std::ceil(static_cast<double>(a) / static_cast<double>(b));
      return result >= 18446744073709551616.0 ? kUnlimited : static_cast<uint64_t>(result);
    };
    Range count;
    Range kept;
    if (old_text.min == 0) {
      // The empty text is found around every character.
      count.max = Plus(text.max, 1);
      kept.max = text.max;
    } else if (new_text.max <= old_text.min) {
      kept.max = text.max;
    } else {
      count.max = quotient(text.max, old_text.min);
    }
    if (old_text.max == 0) {
      count.min = Plus(text.min, 1);
      kept.min = text.min;
    } else if (old_text.max <= new_text.min) {
      kept.min = text.min;
    } else {
      count.min = quotient(text.min, old_text.max);
    }
    return count * new_text + kept;
  }

  uint64_t SplitSize(NodeId target, absl::Span<const NodeId> arguments) {
    if (arguments.size() > 1) {
      const Node& limit = ast_.nodes[arguments[1]];
      if (limit.kind == NodeKind::kLiteral && limit.literal == LiteralKind::kInt) {
        return static_cast<uint64_t>(limit.number);
      }
    }
    return SizeOrUnknown(target).max;
  }

  Range JoinedSize(NodeId target, absl::Span<const NodeId> arguments) {
    const Range items = SizeOrUnknown(target);
    Range size;
    if (Kind(target) == TypeKind::kList) {
      size = items * SizeAt(ValueOf(PlaceOf(target))).value_or(kUnknownSize);
    }
    if (!arguments.empty()) {
      const Range separators = {items.min > 0 ? items.min - 1 : 0,
                                items.max > 0 ? items.max - 1 : 0};
      size = size + SizeOrUnknown(arguments[0]) * separators;
    }
    return size;
  }

  const Ast& ast_;
  const CheckedAst& checked_;
  std::vector<Facts> facts_;
  std::vector<Variable> variables_;
};

}  // namespace

uint64_t ScaleCost(uint64_t units, double factor) {
  const double scaled = std::ceil(static_cast<double>(units) * factor);
  return scaled >= 18446744073709551616.0 ? kUnlimited : static_cast<uint64_t>(scaled);
}

uint64_t WorstCaseCost(const Ast& ast, const CheckedAst& checked) {
  return Estimator(ast, checked).Cost(ast.root).max;
}

}  // namespace drasim::cel
