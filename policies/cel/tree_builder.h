// Makes the nodes of a syntax tree.
#ifndef DRASIM_POLICIES_CEL_TREE_BUILDER_H_
#define DRASIM_POLICIES_CEL_TREE_BUILDER_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "policies/cel/ast.h"

namespace drasim::cel {

// Each function adds one node and returns its index. Texts must outlive the tree.
class TreeBuilder {
 public:
  explicit TreeBuilder(Ast* ast) : ast_(ast) {}

  NodeId Null(uint32_t position) { return Literal(position, LiteralKind::kNull); }
  NodeId Bool(uint32_t position, bool value);
  NodeId Int(uint32_t position, int64_t value);
  NodeId Uint(uint32_t position, uint64_t value);
  NodeId Double(uint32_t position, double value);
  NodeId Text(uint32_t position, absl::string_view text);
  NodeId Bytes(uint32_t position, absl::string_view bytes);

  NodeId Ident(uint32_t position, absl::string_view name);
  NodeId Select(uint32_t position, NodeId operand, absl::string_view field);
  NodeId Call(uint32_t position, absl::string_view function, absl::Span<const NodeId> arguments);
  // The first child is the target.
  NodeId MemberCall(uint32_t position, absl::string_view function,
                    absl::Span<const NodeId> children);
  NodeId List(uint32_t position, absl::Span<const NodeId> elements);
  NodeId Map(uint32_t position, absl::Span<const NodeId> entries);

  struct Loop {
    absl::string_view iteration;
    absl::string_view accumulator;
    NodeId range = 0;
    NodeId initial = 0;
    NodeId condition = 0;
    NodeId step = 0;
    NodeId result = 0;
    bool bind = false;
  };
  NodeId Comprehension(uint32_t position, const Loop& loop);

  const Node& at(NodeId node) const { return ast_->nodes[node]; }

 private:
  NodeId Literal(uint32_t position, LiteralKind kind);
  NodeId WithChildren(NodeKind kind, uint32_t position, absl::Span<const NodeId> children);

  Ast* ast_;
};

}  // namespace drasim::cel

#endif  // DRASIM_POLICIES_CEL_TREE_BUILDER_H_
