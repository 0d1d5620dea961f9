#include "policies/cel/types.h"

#include "absl/strings/str_cat.h"

namespace drasim::cel {

TypeTable::TypeTable() {
  types_.reserve(64);
  for (int kind = 0; kind <= static_cast<int>(TypeKind::kSemver); ++kind) {
    types_.push_back({static_cast<TypeKind>(kind), 0, 0});
  }
}

TypeId TypeTable::Add(Type type) {
  types_.push_back(type);
  return static_cast<TypeId>(types_.size() - 1);
}

TypeId TypeTable::Variable() {
  const TypeId self = static_cast<TypeId>(types_.size());
  return Add({TypeKind::kVariable, self, 0});
}

TypeId TypeTable::Resolve(TypeId type) const {
  while (types_[type].kind == TypeKind::kVariable && types_[type].first != type) {
    type = types_[type].first;
  }
  return type;
}

bool TypeTable::IsDyn(TypeId type) const {
  const TypeKind kind = Kind(type);
  return kind == TypeKind::kDyn || kind == TypeKind::kAny || kind == TypeKind::kError;
}

bool TypeTable::Occurs(TypeId variable, TypeId type) const {
  type = Resolve(type);
  const Type& of = types_[type];
  switch (of.kind) {
    case TypeKind::kVariable:
      return type == variable;
    case TypeKind::kList:
    case TypeKind::kOptional:
    case TypeKind::kType:
      return Occurs(variable, of.first);
    case TypeKind::kMap:
      return Occurs(variable, of.first) || Occurs(variable, of.second);
    default:
      return false;
  }
}

bool TypeTable::Bind(TypeId variable, TypeId type) {
  type = Resolve(type);
  if (type == variable) return true;
  if (Occurs(variable, type)) return false;
  SetBinding(variable, type);
  return true;
}

void TypeTable::SetBinding(TypeId variable, TypeId type) {
  trail_.push_back({variable, types_[variable].first});
  types_[variable].first = type;
}

void TypeTable::Rollback(size_t mark) {
  while (trail_.size() > mark) {
    types_[trail_.back().variable].first = trail_.back().before;
    trail_.pop_back();
  }
}

bool TypeTable::Assign(TypeId to, TypeId from) {
  const TypeId variable = to;
  to = Resolve(to);
  if (variable != to && types_[to].kind != TypeKind::kVariable) {
    // A bound variable becomes the more general of its types.
    if (!Assign(to, from)) return false;
    const TypeId general = Resolve(MoreGeneral(from, to));
    if (general != to && !Occurs(variable, general)) SetBinding(variable, general);
    return true;
  }
  from = Resolve(from);
  if (to == from) return true;
  const Type left = types_[to];
  const Type right = types_[from];
  if (right.kind == TypeKind::kVariable) return Bind(from, to);
  if (left.kind == TypeKind::kVariable) return Bind(to, from);
  if (IsDyn(to) || IsDyn(from)) return true;
  if (left.kind != right.kind) {
    // Null stands for an absent value of the types that hold objects.
    const TypeKind other = left.kind == TypeKind::kNull ? right.kind : left.kind;
    const bool has_null = left.kind == TypeKind::kNull || right.kind == TypeKind::kNull;
    return has_null && (other == TypeKind::kDevice || other == TypeKind::kQuantity ||
                        other == TypeKind::kSemver);
  }
  switch (left.kind) {
    case TypeKind::kList:
    case TypeKind::kOptional:
      return Assign(left.first, right.first);
    case TypeKind::kMap:
      return Assign(left.first, right.first) && Assign(left.second, right.second);
    default:
      return true;
  }
}

bool TypeTable::SameType(TypeId left, TypeId right) const {
  left = Resolve(left);
  right = Resolve(right);
  if (left == right) return true;
  const Type& a = types_[left];
  const Type& b = types_[right];
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case TypeKind::kVariable:
      return false;
    case TypeKind::kList:
    case TypeKind::kOptional:
    case TypeKind::kType:
      return SameType(a.first, b.first);
    case TypeKind::kMap:
      return SameType(a.first, b.first) && SameType(a.second, b.second);
    default:
      return true;
  }
}

TypeId TypeTable::MoreGeneral(TypeId left, TypeId right) const {
  if (IsDyn(left)) return left;
  if (IsDyn(right)) return right;
  const Type& a = At(left);
  const Type& b = At(right);
  if (a.kind == TypeKind::kVariable) return right;
  if (a.kind != b.kind) return a.kind == TypeKind::kNull ? right : left;
  if (a.kind == TypeKind::kList || a.kind == TypeKind::kOptional) {
    return SameType(MoreGeneral(a.first, b.first), a.first) ? left : right;
  }
  if (a.kind == TypeKind::kMap) {
    return SameType(MoreGeneral(a.second, b.second), a.second) ? left : right;
  }
  return left;
}

absl::string_view TypeName(TypeKind kind) {
  switch (kind) {
    case TypeKind::kError:
      return "!error!";
    case TypeKind::kDyn:
    case TypeKind::kVariable:
      return "dyn";
    case TypeKind::kAny:
      return "any";
    case TypeKind::kNull:
      return "null";
    case TypeKind::kBool:
      return "bool";
    case TypeKind::kInt:
      return "int";
    case TypeKind::kUint:
      return "uint";
    case TypeKind::kDouble:
      return "double";
    case TypeKind::kString:
      return "string";
    case TypeKind::kBytes:
      return "bytes";
    case TypeKind::kDevice:
      return "kubernetes.DRADevice";
    case TypeKind::kQuantity:
      return "kubernetes.Quantity";
    case TypeKind::kSemver:
      return "kubernetes.Semver";
    case TypeKind::kType:
      return "type";
    case TypeKind::kList:
      return "list";
    case TypeKind::kMap:
      return "map";
    case TypeKind::kOptional:
      return "optional_type";
  }
  return "";
}

std::string TypeTable::Text(TypeId type) const {
  const Type& of = At(type);
  const absl::string_view name = TypeName(of.kind);
  switch (of.kind) {
    case TypeKind::kList:
    case TypeKind::kOptional:
    case TypeKind::kType:
      return absl::StrCat(name, "(", Text(of.first), ")");
    case TypeKind::kMap:
      return absl::StrCat(name, "(", Text(of.first), ", ", Text(of.second), ")");
    default:
      return std::string(name);
  }
}

}  // namespace drasim::cel
