// Types of CEL expressions, and their unification.
//
// A type is an index into a TypeTable. The indices of types without parameters are the values of
// TypeKind, the same in all tables.
#ifndef DRASIM_POLICIES_CEL_TYPES_H_
#define DRASIM_POLICIES_CEL_TYPES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace drasim::cel {

using TypeId = uint32_t;

enum class TypeKind : uint8_t {
  kError,  // of an expression with an error that is reported already
  kDyn,
  kAny,  // kDyn, except that it is no range of a comprehension
  kNull,
  kBool,
  kInt,
  kUint,
  kDouble,
  kString,
  kBytes,
  kDevice,
  kQuantity,
  kSemver,
  // With parameters:
  kType,
  kList,
  kMap,
  kOptional,
  kVariable,  // of a type that is still open, such as the elements of []
};

constexpr TypeId SimpleType(TypeKind kind) { return static_cast<TypeId>(kind); }

struct Type {
  TypeKind kind = TypeKind::kError;
  TypeId first =
      0;  // kList, kOptional, kType: element; kMap: key; kVariable: its binding or itself
  TypeId second = 0;  // kMap: value
};

class TypeTable {
 public:
  TypeTable();

  TypeId List(TypeId element) { return Add({TypeKind::kList, element, 0}); }
  TypeId Map(TypeId key, TypeId value) { return Add({TypeKind::kMap, key, value}); }
  TypeId Optional(TypeId value) { return Add({TypeKind::kOptional, value, 0}); }
  TypeId TypeOf(TypeId type) { return Add({TypeKind::kType, type, 0}); }
  TypeId Variable();  // a new one

  // The type itself, or what it is bound to.
  TypeId Resolve(TypeId type) const;
  const Type& At(TypeId type) const { return types_[Resolve(type)]; }
  TypeKind Kind(TypeId type) const { return At(type).kind; }
  bool IsDyn(TypeId type) const;  // or an error

  // Whether a value of type `from` may stand where `to` is wanted. May bind variables of both;
  // bindings of a failed attempt stay until Rollback.
  bool Assign(TypeId to, TypeId from);
  bool SameType(TypeId left, TypeId right) const;
  // The one of two types, one of which is assignable to the other, that is less specific.
  TypeId MoreGeneral(TypeId left, TypeId right) const;

  size_t Mark() const { return trail_.size(); }
  void Rollback(size_t mark);

  // As cel-go prints it: "map(string, dyn)". Open types are dyn.
  std::string Text(TypeId type) const;

 private:
  TypeId Add(Type type);
  bool Occurs(TypeId variable, TypeId type) const;
  bool Bind(TypeId variable, TypeId type);
  void SetBinding(TypeId variable, TypeId type);

  struct Change {
    TypeId variable;
    TypeId before;
  };
  std::vector<Type> types_;
  std::vector<Change> trail_;  // of bindings, in order
};

// The name of a type without parameters: "int", "kubernetes.Quantity".
absl::string_view TypeName(TypeKind kind);

}  // namespace drasim::cel

#endif  // DRASIM_POLICIES_CEL_TYPES_H_
