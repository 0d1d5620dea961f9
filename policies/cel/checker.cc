#include "policies/cel/checker.h"

#include <cstddef>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"

namespace drasim::cel {
namespace {

using Types = absl::InlinedVector<TypeId, 4>;

constexpr TypeId kErrorType = SimpleType(TypeKind::kError);
constexpr TypeId kBoolType = SimpleType(TypeKind::kBool);
constexpr TypeId kStringType = SimpleType(TypeKind::kString);
constexpr TypeId kDynType = SimpleType(TypeKind::kDyn);

// Reads the types of a signature; see Overload.
class SignatureReader {
 public:
  SignatureReader(const char* text, TypeTable* types) : text_(text), types_(types) {}

  bool AtColon() const { return *text_ == ':'; }
  void SkipColon() { ++text_; }

  TypeId Next() {
    switch (*text_++) {
      case 'b':
        return kBoolType;
      case 'i':
        return SimpleType(TypeKind::kInt);
      case 'u':
        return SimpleType(TypeKind::kUint);
      case 'd':
        return SimpleType(TypeKind::kDouble);
      case 's':
        return kStringType;
      case 'y':
        return SimpleType(TypeKind::kBytes);
      case 'q':
        return SimpleType(TypeKind::kQuantity);
      case 'v':
        return SimpleType(TypeKind::kSemver);
      case 'L':
        return types_->List(Next());
      case 'O':
        return types_->Optional(Next());
      case 'T':
        return types_->TypeOf(Next());
      case 'M': {
        const TypeId key = Next();
        return types_->Map(key, Next());
      }
      case 'A':
        return Parameter(0);
      case 'B':
        return Parameter(1);
      default:
        return kDynType;
    }
  }

 private:
  TypeId Parameter(size_t index) {
    if (parameters_[index] == 0) parameters_[index] = types_->Variable();
    return parameters_[index];
  }

  const char* text_;
  TypeTable* types_;
  TypeId parameters_[2] = {0, 0};
};

class Checker {
 public:
  Checker(const DeviceDeclaration& device, Ast* ast, CheckedAst* checked)
      : device_(device), ast_(*ast), checked_(*checked), types_(checked->types) {
    checked_.calls.resize(ast_.nodes.size());
    attribute_ = device.list_attributes ? kDynType : SimpleType(TypeKind::kAny);
  }

  std::vector<SourceError> Run() {
    Visit(ast_.root);
    for (Node& node : ast_.nodes) node.type = types_.Resolve(node.type);
    return std::move(errors_);
  }

 private:
  struct Variable {
    absl::string_view name;
    TypeId type;
  };

  TypeId Fail(uint32_t position, std::string message) {
    errors_.push_back({position, std::move(message)});
    return kErrorType;
  }

  TypeId Visit(NodeId id) {
    const TypeId type = TypeOf(id);
    ast_.nodes[id].type = type;
    return type;
  }

  TypeId TypeOf(NodeId id) {
    const Node& node = ast_.nodes[id];
    switch (node.kind) {
      case NodeKind::kLiteral:
        return LiteralType(node.literal);
      case NodeKind::kIdent:
        return IdentType(node);
      case NodeKind::kSelect:
        return SelectType(node);
      case NodeKind::kCall:
        return CallType(id);
      case NodeKind::kList:
        return ListType(node);
      case NodeKind::kMap:
        return MapType(node);
      case NodeKind::kComprehension:
        return ComprehensionType(node);
    }
    return kErrorType;
  }

  static TypeId LiteralType(LiteralKind kind) {
    switch (kind) {
      case LiteralKind::kNull:
        return SimpleType(TypeKind::kNull);
      case LiteralKind::kBool:
        return kBoolType;
      case LiteralKind::kInt:
        return SimpleType(TypeKind::kInt);
      case LiteralKind::kUint:
        return SimpleType(TypeKind::kUint);
      case LiteralKind::kDouble:
        return SimpleType(TypeKind::kDouble);
      case LiteralKind::kString:
        return kStringType;
      case LiteralKind::kBytes:
        return SimpleType(TypeKind::kBytes);
    }
    return kErrorType;
  }

  // The type that a type's name means; kErrorType for other names.
  TypeId NamedType(absl::string_view name) {
    for (const TypeKind kind : {TypeKind::kBool, TypeKind::kInt, TypeKind::kUint, TypeKind::kDouble,
                                TypeKind::kString, TypeKind::kBytes, TypeKind::kDyn}) {
      if (name == TypeName(kind)) return SimpleType(kind);
    }
    if (name == "null_type") return SimpleType(TypeKind::kNull);
    if (name == "list") return types_.List(kDynType);
    if (name == "map") return types_.Map(kDynType, kDynType);
    if (name == "type") return types_.TypeOf(kDynType);
    return kErrorType;
  }

  TypeId IdentType(const Node& node) {
    for (size_t i = variables_.size(); i > 0; --i) {
      if (variables_[i - 1].name == node.text) return variables_[i - 1].type;
    }
    if (node.text == "device") return SimpleType(TypeKind::kDevice);
    const TypeId named = NamedType(node.text);
    if (named != kErrorType) return types_.TypeOf(named);
    return Fail(node.position,
                absl::StrCat("undeclared reference to '", node.text, "' (in container '')"));
  }

  TypeId DeviceField(absl::string_view field) {
    if (field == "driver") return kStringType;
    if (field == "attributes") {
      return types_.Map(kStringType, types_.Map(kStringType, attribute_));
    }
    if (field == "capacity") {
      const TypeId quantity = SimpleType(TypeKind::kQuantity);
      return types_.Map(kStringType, types_.Map(kStringType, quantity));
    }
    if (field == "allowMultipleAllocations" && device_.multiple_allocations) return kBoolType;
    return kErrorType;
  }

  // The type of operand.field; `optional` for operand.?field.
  TypeId FieldType(const Node& node, TypeId operand, absl::string_view field, bool optional) {
    bool wrapped = optional;
    operand = types_.Resolve(operand);
    Type of = types_.At(operand);
    if (of.kind == TypeKind::kOptional) {
      wrapped = true;
      of = types_.At(of.first);
    }
    TypeId result = kDynType;
    switch (of.kind) {
      case TypeKind::kError:
        return kErrorType;
      case TypeKind::kDyn:
      case TypeKind::kAny:
        break;
      case TypeKind::kVariable:
        types_.Assign(operand, kDynType);
        break;
      case TypeKind::kMap:
        result = of.second;
        break;
      case TypeKind::kDevice:
        result = DeviceField(field);
        if (result != kErrorType) break;
        return Fail(node.position, absl::StrCat("undefined field '", field, "'"));
      case TypeKind::kQuantity:
      case TypeKind::kSemver:
        return Fail(node.position, absl::StrCat("undefined field '", field, "'"));
      default:
        return Fail(node.position, absl::StrCat("type '", types_.Text(operand),
                                                "' does not support field selection"));
    }
    return wrapped ? types_.Optional(result) : result;
  }

  TypeId SelectType(const Node& node) {
    const TypeId operand = Visit(ast_.ChildrenOf(node)[0]);
    const TypeId type = FieldType(node, operand, node.text, /*optional=*/false);
    return node.test_only && type != kErrorType ? kBoolType : type;
  }

  TypeId CallType(NodeId id) {
    const Node& node = ast_.nodes[id];
    const absl::Span<const NodeId> children = ast_.ChildrenOf(node);
    CheckedCall& call = checked_.calls[id];
    size_t first = 0;
    if (node.member) {
      call.function = QualifiedFunction(node, children[0]);
      call.qualified = call.function != nullptr;
      if (call.qualified) first = 1;
    }
    const std::string unsupported = UnsupportedName(node, children);
    if (!unsupported.empty()) {
      return Fail(node.position, absl::StrCat("unsupported: function '", unsupported, "'"));
    }
    if (call.function == nullptr) call.function = FindFunction(node.text);
    const bool hidden = call.function != nullptr && !device_.list_attributes &&
                        call.function->function == Function::kIncludes;
    if (call.function == nullptr || hidden) return UnknownFunction(node, children);
    Types arguments;
    for (size_t i = first; i < children.size(); ++i) arguments.push_back(Visit(children[i]));
    if (call.function->function == Function::kOptSelect) {
      return FieldType(node, arguments[0], ast_.nodes[children[1]].text, /*optional=*/true);
    }
    return ResolveOverloads(node, arguments, node.member && !call.qualified, &call);
  }

  // The function of a call such as optional.of(x).
  const FunctionInfo* QualifiedFunction(const Node& node, NodeId target) {
    const Node& name = ast_.nodes[target];
    if (name.kind != NodeKind::kIdent || name.text != "optional") return nullptr;
    return FindFunction(absl::StrCat(name.text, ".", node.text));
  }

  // The name of a call to a function that drasim lacks, such as sets.contains; else empty.
  std::string UnsupportedName(const Node& node, absl::Span<const NodeId> children) {
    if (!node.member || ast_.nodes[children[0]].kind != NodeKind::kIdent) return "";
    const absl::string_view space = ast_.nodes[children[0]].text;
    if (!IsUnsupportedNamespace(space)) return "";
    std::string name = absl::StrCat(space, ".", node.text);
    return IsUnsupportedFunction(name) ? name : "";
  }

  TypeId UnknownFunction(const Node& node, absl::Span<const NodeId> children) {
    for (const NodeId child : children) Visit(child);
    if (IsUnsupportedFunction(node.text)) {
      return Fail(node.position, absl::StrCat("unsupported: function '", node.text, "'"));
    }
    return Fail(node.position,
                absl::StrCat("undeclared reference to '", node.text, "' (in container '')"));
  }

  TypeId ResolveOverloads(const Node& node, const Types& arguments, bool member,
                          CheckedCall* call) {
    TypeId result = kErrorType;
    const absl::Span<const Overload> overloads = call->function->overloads;
    for (size_t i = 0; i < overloads.size(); ++i) {
      if (overloads[i].member != member) continue;
      const TypeId matched = Match(overloads[i], arguments);
      if (matched == kErrorType) continue;
      call->overloads |= 1U << i;
      if (result == kErrorType) {
        result = matched;
      } else if (!types_.IsDyn(result) && !types_.SameType(result, matched)) {
        result = kDynType;
      }
    }
    if (result != kErrorType) return result;
    for (const TypeId argument : arguments) {
      // The mistake below is reported already.
      if (types_.Kind(argument) == TypeKind::kError) return kErrorType;
    }
    return Fail(node.position, NoOverload(node, arguments, member));
  }

  // The result of an overload, or kErrorType if the arguments do not fit.
  TypeId Match(const Overload& overload, const Types& arguments) {
    const size_t mark = types_.Mark();
    SignatureReader signature(overload.signature, &types_);
    for (const TypeId argument : arguments) {
      if (signature.AtColon() || !types_.Assign(signature.Next(), argument)) {
        types_.Rollback(mark);
        return kErrorType;
      }
    }
    if (!signature.AtColon()) {
      types_.Rollback(mark);
      return kErrorType;
    }
    signature.SkipColon();
    return types_.Resolve(signature.Next());
  }

  std::string NoOverload(const Node& node, const Types& arguments, bool member) {
    std::vector<std::string> texts;
    for (const TypeId argument : arguments) texts.push_back(types_.Text(argument));
    std::string applied;
    if (member) {
      applied =
          absl::StrCat(texts[0], ".(", absl::StrJoin(texts.begin() + 1, texts.end(), ", "), ")");
    } else {
      applied = absl::StrCat("(", absl::StrJoin(texts, ", "), ")");
    }
    return absl::StrCat("found no matching overload for '", node.text, "' applied to '", applied,
                        "'");
  }

  // The common type of elements; `so_far` is kErrorType before the first.
  TypeId Join(NodeId element, TypeId so_far, TypeId type) {
    if (so_far == kErrorType) return type;
    if (types_.Assign(so_far, type)) return types_.MoreGeneral(so_far, type);
    Fail(ast_.nodes[element].position, absl::StrCat("expected type '", types_.Text(so_far),
                                                    "' but found '", types_.Text(type), "'"));
    return so_far;
  }

  TypeId ListType(const Node& node) {
    TypeId element = kErrorType;
    for (const NodeId child : ast_.ChildrenOf(node)) {
      const TypeId type = Visit(child);
      element = Join(child, element, type);
    }
    if (node.count == 0) element = types_.Variable();
    return types_.List(element);
  }

  TypeId MapType(const Node& node) {
    const absl::Span<const NodeId> children = ast_.ChildrenOf(node);
    TypeId key = kErrorType;
    TypeId value = kErrorType;
    for (size_t i = 0; i < children.size(); i += 2) {
      const TypeId key_type = Visit(children[i]);
      key = Join(children[i], key, key_type);
      const TypeId value_type = Visit(children[i + 1]);
      value = Join(children[i + 1], value, value_type);
    }
    if (children.empty()) {
      key = types_.Variable();
      value = types_.Variable();
    }
    return types_.Map(key, value);
  }

  TypeId ItemType(NodeId range, TypeId type) {
    const Type& of = types_.At(type);
    switch (of.kind) {
      case TypeKind::kList:
      case TypeKind::kMap:
        return of.first;
      case TypeKind::kVariable:
        types_.Assign(type, kDynType);
        return kDynType;
      case TypeKind::kDyn:
        return kDynType;
      case TypeKind::kError:
        return kErrorType;
      default:
        return Fail(ast_.nodes[range].position,
                    absl::StrCat("expression of type '", types_.Text(type),
                                 "' cannot be range of a comprehension (must be list, map, or "
                                 "dynamic)"));
    }
  }

  void Want(NodeId id, TypeId wanted, TypeId type) {
    if (types_.Assign(wanted, type)) return;
    Fail(ast_.nodes[id].position, absl::StrCat("expected type '", types_.Text(wanted),
                                               "' but found '", types_.Text(type), "'"));
  }

  TypeId ComprehensionType(const Node& node) {
    const absl::Span<const NodeId> children = ast_.ChildrenOf(node);
    const TypeId range = Visit(children[0]);
    const TypeId accumulator = Visit(children[1]);
    const TypeId item = ItemType(children[0], range);
    variables_.push_back({node.accumulator, accumulator});
    variables_.push_back({node.iteration, item});
    Want(children[2], kBoolType, Visit(children[2]));
    Want(children[3], accumulator, Visit(children[3]));
    variables_.pop_back();
    const TypeId result = Visit(children[4]);
    variables_.pop_back();
    return result;
  }

  const DeviceDeclaration& device_;
  Ast& ast_;
  CheckedAst& checked_;
  TypeTable& types_;
  TypeId attribute_ = kDynType;
  std::vector<Variable> variables_;
  std::vector<SourceError> errors_;
};

}  // namespace

std::vector<SourceError> Check(const DeviceDeclaration& device, Ast* ast, CheckedAst* checked) {
  return Checker(device, ast, checked).Run();
}

}  // namespace drasim::cel
