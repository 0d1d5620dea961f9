// A set of nodes, to which the NodeSelector of a ResourceClass or an allocation is resolved when
// the object is read: labels of nodes do not change within a run.
#ifndef DRASIM_MODEL_KUBE_NODE_SET_H_
#define DRASIM_MODEL_KUBE_NODE_SET_H_

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "model/ids.h"

namespace drasim {

// A value; copies share the list.
class NodeSet {
 public:
  // Every node (a nil selector).
  NodeSet() = default;
  // Exactly these, in any order.
  static NodeSet Of(std::vector<NodeId> nodes) {
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    NodeSet set;
    set.nodes_ = std::make_shared<const std::vector<NodeId>>(std::move(nodes));
    return set;
  }

  bool everywhere() const { return nodes_ == nullptr; }
  // Ascending. REQUIRES: !everywhere().
  absl::Span<const NodeId> nodes() const { return *nodes_; }
  // O(log size).
  bool Contains(NodeId node) const {
    return everywhere() || std::binary_search(nodes_->begin(), nodes_->end(), node);
  }
  friend bool operator==(const NodeSet& a, const NodeSet& b) {
    if (a.everywhere() || b.everywhere()) return a.everywhere() && b.everywhere();
    return *a.nodes_ == *b.nodes_;
  }

 private:
  std::shared_ptr<const std::vector<NodeId>> nodes_;  // null: every node
};

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_NODE_SET_H_
