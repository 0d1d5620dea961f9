#include "policies/cel/tree_builder.h"

namespace drasim::cel {

NodeId TreeBuilder::Literal(uint32_t position, LiteralKind kind) {
  Node& node = ast_->nodes.emplace_back();
  node.kind = NodeKind::kLiteral;
  node.literal = kind;
  node.position = position;
  return static_cast<NodeId>(ast_->nodes.size() - 1);
}

NodeId TreeBuilder::WithChildren(NodeKind kind, uint32_t position,
                                 absl::Span<const NodeId> children) {
  Node& node = ast_->nodes.emplace_back();
  node.kind = kind;
  node.position = position;
  node.first = static_cast<uint32_t>(ast_->children.size());
  node.count = static_cast<uint32_t>(children.size());
  ast_->children.insert(ast_->children.end(), children.begin(), children.end());
  return static_cast<NodeId>(ast_->nodes.size() - 1);
}

NodeId TreeBuilder::Bool(uint32_t position, bool value) {
  const NodeId node = Literal(position, LiteralKind::kBool);
  ast_->nodes[node].number = value ? 1 : 0;
  return node;
}

NodeId TreeBuilder::Int(uint32_t position, int64_t value) {
  const NodeId node = Literal(position, LiteralKind::kInt);
  ast_->nodes[node].number = value;
  return node;
}

NodeId TreeBuilder::Uint(uint32_t position, uint64_t value) {
  const NodeId node = Literal(position, LiteralKind::kUint);
  ast_->nodes[node].number = static_cast<int64_t>(value);
  return node;
}

NodeId TreeBuilder::Double(uint32_t position, double value) {
  const NodeId node = Literal(position, LiteralKind::kDouble);
  ast_->nodes[node].real = value;
  return node;
}

NodeId TreeBuilder::Text(uint32_t position, absl::string_view text) {
  const NodeId node = Literal(position, LiteralKind::kString);
  ast_->nodes[node].text = text;
  return node;
}

NodeId TreeBuilder::Bytes(uint32_t position, absl::string_view bytes) {
  const NodeId node = Literal(position, LiteralKind::kBytes);
  ast_->nodes[node].text = bytes;
  return node;
}

NodeId TreeBuilder::Ident(uint32_t position, absl::string_view name) {
  const NodeId node = WithChildren(NodeKind::kIdent, position, {});
  ast_->nodes[node].text = name;
  return node;
}

NodeId TreeBuilder::Select(uint32_t position, NodeId operand, absl::string_view field) {
  const NodeId node = WithChildren(NodeKind::kSelect, position, {operand});
  ast_->nodes[node].text = field;
  return node;
}

NodeId TreeBuilder::Call(uint32_t position, absl::string_view function,
                         absl::Span<const NodeId> arguments) {
  const NodeId node = WithChildren(NodeKind::kCall, position, arguments);
  ast_->nodes[node].text = function;
  return node;
}

NodeId TreeBuilder::MemberCall(uint32_t position, absl::string_view function,
                               absl::Span<const NodeId> children) {
  const NodeId node = Call(position, function, children);
  ast_->nodes[node].member = true;
  return node;
}

NodeId TreeBuilder::List(uint32_t position, absl::Span<const NodeId> elements) {
  return WithChildren(NodeKind::kList, position, elements);
}

NodeId TreeBuilder::Map(uint32_t position, absl::Span<const NodeId> entries) {
  return WithChildren(NodeKind::kMap, position, entries);
}

NodeId TreeBuilder::Comprehension(uint32_t position, const Loop& loop) {
  const NodeId node =
      WithChildren(NodeKind::kComprehension, position,
                   {loop.range, loop.initial, loop.condition, loop.step, loop.result});
  ast_->nodes[node].iteration = loop.iteration;
  ast_->nodes[node].accumulator = loop.accumulator;
  ast_->nodes[node].bind = loop.bind;
  return node;
}

}  // namespace drasim::cel
