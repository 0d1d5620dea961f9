// UsedPorts: the host ports that are taken on each node.
//
// Source: kubernetes/kubernetes pkg/scheduler/framework/types.go (HostPortInfo), release 1.34. It
// is a set: where two pods of a node hold the same port, the first of them to leave frees it.
#ifndef DRASIM_MODEL_USED_PORTS_H_
#define DRASIM_MODEL_USED_PORTS_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "model/ids.h"
#include "model/pod_constraints.h"

namespace drasim {

// True when no two pods of a node can have both: the same protocol and port, and the same address
// or one that stands for all of them.
bool PortsConflict(const HostPort& a, const HostPort& b);
// True when some port of one list conflicts with one of the other. O(product of the sizes).
bool AnyPortConflicts(absl::Span<const HostPort> a, absl::Span<const HostPort> b);

class UsedPorts {
 public:
  void Add(NodeId node, absl::Span<const HostPort> ports);
  void Remove(NodeId node, absl::Span<const HostPort> ports);
  // Valid until the next change.
  absl::Span<const HostPort> On(NodeId node) const;

  // As ClusterState's: Rollback restores the sets of BeginWhatIf. What-ifs nest.
  void BeginWhatIf() { marks_.push_back(before_.size()); }
  void Rollback();
  void KeepWhatIf();

 private:
  void Remember(NodeId node);

  absl::flat_hash_map<NodeId, std::vector<HostPort>> used_;
  std::vector<std::pair<NodeId, std::vector<HostPort>>> before_;  // of changes within what-ifs
  std::vector<size_t> marks_;                                     // in before_
};

}  // namespace drasim

#endif  // DRASIM_MODEL_USED_PORTS_H_
