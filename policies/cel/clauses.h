// The clauses of a device selector: the operands of its outermost && operators, each an expression
// of its own, and the parts of the device that an expression reads. For explanations.
//
//   const std::vector<Clause> clauses = SplitClauses("device.driver == 'a' && has(device.x)");
//   clauses[0].text;   // "device.driver == 'a'"
//
// A selector is true if every clause is. It is false if one of them is false, whatever errors the
// others give; otherwise an error in one of them is its error.
#ifndef DRASIM_POLICIES_CEL_CLAUSES_H_
#define DRASIM_POLICIES_CEL_CLAUSES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "policies/cel/ast.h"

namespace drasim::cel {

struct Clause {
  std::string text;        // as it stands in the selector
  std::string expression;  // the same with the variables of cel.bind around it
};

// In the order of the text; brackets around a chain do not count, and a chain within cel.bind is
// split, too. One clause, the whole, for a text that is no expression. O(length).
std::vector<Clause> SplitClauses(absl::string_view expression);

// A part of the device that an expression names by constants.
struct DeviceLookup {
  enum class Kind : uint8_t { kDriver, kMultiple, kAttribute, kCapacity };
  Kind kind = Kind::kDriver;
  std::string domain;  // kAttribute, kCapacity
  std::string id;
  bool guarded = false;                 // by has(), .? or [?]: the expression expects it to lack
  std::optional<LiteralKind> compared;  // the constant that an operator compares it with

  // device.attributes["gpu.example.com"].model
  std::string Text() const;
  friend bool operator==(const DeviceLookup&, const DeviceLookup&) = default;
};

// In the order of the text, each once. Empty for a text that is no expression. O(length).
std::vector<DeviceLookup> LookupsOf(absl::string_view expression);

}  // namespace drasim::cel

#endif  // DRASIM_POLICIES_CEL_CLAUSES_H_
