// The syntax tree of a CEL expression, as the parser makes it: macros are expanded already.
//
// Nodes stand in one array, children before parents, and refer to each other by index. Texts point
// into the expression or into the tree's own store of unescaped literals, so a tree must outlive
// its users.
#ifndef DRASIM_POLICIES_CEL_AST_H_
#define DRASIM_POLICIES_CEL_AST_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "policies/cel/types.h"

namespace drasim::cel {

using NodeId = uint32_t;

enum class NodeKind : uint8_t {
  kLiteral,
  kIdent,          // text: the name
  kSelect,         // text: the field; children: operand
  kCall,           // text: the function; children: target if `member`, then arguments
  kList,           // children: elements
  kMap,            // children: key, value, key, value, ...
  kComprehension,  // children: range, initial value, condition, step, result
};

enum class LiteralKind : uint8_t { kNull, kBool, kInt, kUint, kDouble, kString, kBytes };

struct Node {
  NodeKind kind = NodeKind::kLiteral;
  LiteralKind literal = LiteralKind::kNull;
  bool member = false;     // kCall: the first child is the target
  bool test_only = false;  // kSelect: has()
  bool bind = false;       // kComprehension: cel.bind, whose loop never runs
  uint32_t position = 0;   // byte of the expression
  uint32_t first = 0;      // of the children, in Ast::children
  uint32_t count = 0;
  absl::string_view text;
  absl::string_view iteration;    // kComprehension: the variable of the loop
  absl::string_view accumulator;  // kComprehension: the variable of the result
  int64_t number = 0;             // kBool, kInt; kUint: its bits
  double real = 0;                // kDouble
  TypeId type = 0;                // set by the checker
};

struct Ast {
  absl::string_view source;
  std::vector<Node> nodes;
  std::vector<NodeId> children;
  NodeId root = 0;

  absl::Span<const NodeId> ChildrenOf(const Node& node) const {
    return absl::MakeConstSpan(children.data() + node.first, node.count);
  }
};

}  // namespace drasim::cel

#endif  // DRASIM_POLICIES_CEL_AST_H_
