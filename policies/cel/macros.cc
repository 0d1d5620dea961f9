#include "policies/cel/macros.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "policies/cel/operators.h"

namespace drasim::cel {
namespace {

enum class Macro : uint8_t { kNone, kAll, kExists, kExistsOne, kMap, kFilter, kBind, kUnsupported };

Macro MacroOf(const TreeBuilder& build, NodeId target, absl::string_view name, size_t count) {
  const bool pair = count == 2;
  if (name == "all") return pair ? Macro::kAll : count == 3 ? Macro::kUnsupported : Macro::kNone;
  if (name == "exists") {
    return pair ? Macro::kExists : count == 3 ? Macro::kUnsupported : Macro::kNone;
  }
  if (name == "exists_one" || name == "existsOne") {
    return pair ? Macro::kExistsOne : count == 3 ? Macro::kUnsupported : Macro::kNone;
  }
  if (name == "map" && (pair || count == 3)) return Macro::kMap;
  if (name == "filter" && pair) return Macro::kFilter;
  if (name == "bind" && count == 3) {
    const Node& node = build.at(target);
    return node.kind == NodeKind::kIdent && node.text == "cel" ? Macro::kBind : Macro::kNone;
  }
  if ((name == "optMap" || name == "optFlatMap") && pair) return Macro::kUnsupported;
  const bool transforms =
      name == "transformList" || name == "transformMap" || name == "transformMapEntry";
  return transforms && (count == 3 || count == 4) ? Macro::kUnsupported : Macro::kNone;
}

NodeId ExpandBind(TreeBuilder* build, uint32_t position, absl::Span<const NodeId> arguments) {
  TreeBuilder::Loop loop;
  loop.iteration = "#unused";
  loop.accumulator = build->at(arguments[0]).text;
  loop.range = build->List(position, {});
  loop.initial = arguments[1];
  loop.condition = build->Bool(position, false);
  loop.step = build->Ident(position, loop.accumulator);
  loop.result = arguments[2];
  loop.bind = true;
  return build->Comprehension(position, loop);
}

NodeId ExpandLoop(TreeBuilder* build, Macro macro, uint32_t position, NodeId target,
                  absl::Span<const NodeId> arguments) {
  const auto result = [&] { return build->Ident(position, kResultVariable); };
  const auto call = [&](absl::string_view function, absl::Span<const NodeId> children) {
    return build->Call(position, function, children);
  };
  TreeBuilder::Loop loop;
  loop.iteration = build->at(arguments[0]).text;
  loop.accumulator = kResultVariable;
  loop.range = target;
  const NodeId body = arguments.back();
  switch (macro) {
    case Macro::kAll:
      loop.initial = build->Bool(position, true);
      loop.condition = call(ops::kNotStrictlyFalse, {result()});
      loop.step = call(ops::kAnd, {result(), body});
      loop.result = result();
      break;
    case Macro::kExists:
      loop.initial = build->Bool(position, false);
      loop.condition = call(ops::kNotStrictlyFalse, {call(ops::kNot, {result()})});
      loop.step = call(ops::kOr, {result(), body});
      loop.result = result();
      break;
    case Macro::kExistsOne:
      loop.initial = build->Int(position, 0);
      loop.condition = build->Bool(position, true);
      loop.step = call(ops::kConditional,
                       {body, call(ops::kAdd, {result(), build->Int(position, 1)}), result()});
      loop.result = call(ops::kEqual, {result(), build->Int(position, 1)});
      break;
    default: {  // map and filter collect a list
      loop.initial = build->List(position, {});
      loop.condition = build->Bool(position, true);
      const NodeId item = macro == Macro::kFilter ? arguments[0] : body;
      loop.step = call(ops::kAdd, {result(), build->List(position, {item})});
      const bool filtered = macro == Macro::kFilter || arguments.size() == 3;
      if (filtered) loop.step = call(ops::kConditional, {arguments[1], loop.step, result()});
      loop.result = result();
      break;
    }
  }
  return build->Comprehension(position, loop);
}

}  // namespace

MacroResult ExpandMemberMacro(TreeBuilder* build, uint32_t position, NodeId target,
                              absl::string_view name, absl::Span<const NodeId> arguments,
                              NodeId* expanded, std::string* problem) {
  const Macro macro = MacroOf(*build, target, name, arguments.size());
  if (macro == Macro::kNone) return MacroResult::kNoMacro;
  if (macro == Macro::kUnsupported) {
    *problem = absl::StrCat("unsupported: macro ", name, " with ", arguments.size(), " arguments");
    return MacroResult::kError;
  }
  const Node& variable = build->at(arguments[0]);
  if (variable.kind != NodeKind::kIdent) {
    *problem = macro == Macro::kBind ? "cel.bind() variable names must be simple identifiers"
                                     : "argument must be a simple name";
    return MacroResult::kError;
  }
  *expanded = macro == Macro::kBind ? ExpandBind(build, position, arguments)
                                    : ExpandLoop(build, macro, position, target, arguments);
  return MacroResult::kExpanded;
}

}  // namespace drasim::cel
