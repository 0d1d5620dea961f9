// NodeOrder: the order in which kube-scheduler looks at nodes: zones take turns, each in the order
// in which its nodes were added.
//
// Source: kubernetes/kubernetes pkg/scheduler/backend/cache/{node_tree,snapshot,cache}.go, 1.34.
// The zone of a node is its region and zone label (the beta labels first); zones stand in the order
// of their first node, and one that loses its last node loses its place. A changed zone label alone
// does not reorder the list until a node is added or removed.
#ifndef DRASIM_MODEL_NODE_ORDER_H_
#define DRASIM_MODEL_NODE_ORDER_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "model/ids.h"
#include "model/node_spec.h"

namespace drasim {

class NodeOrder {
 public:
  // The node is last in its zone. REQUIRES: it is not there.
  void Add(NodeId node, const NodeSpec& spec);
  // REQUIRES: it is there.
  void Remove(NodeId node);
  // The node's labels changed: in another zone, it goes to the end of that one.
  void Update(NodeId node, const NodeSpec& spec);

  // Valid until the next change. O(nodes) after Add and Remove, else O(1).
  absl::Span<const NodeId> list() const;
  // Zone by zone: nodes that are added in that order give the same order again.
  std::vector<NodeId> by_zone() const;

 private:
  struct Zone {
    std::string key;
    std::vector<NodeId> nodes;
  };

  void Append(NodeId node, std::string zone);
  void Take(NodeId node);

  std::vector<Zone> zones_;
  absl::flat_hash_map<NodeId, std::string> zone_of_;
  mutable std::vector<NodeId> list_;
  mutable bool stale_ = false;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_NODE_ORDER_H_
