// Nominator: the pods that wait for room on a node that preemption chose for them
// (kubernetes/kubernetes pkg/scheduler/backend/queue/nominator.go, 1.34).
#ifndef DRASIM_SIM_CORE_NOMINATOR_H_
#define DRASIM_SIM_CORE_NOMINATOR_H_

#include <cstddef>
#include <map>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "model/ids.h"
#include "model/state_io.h"

namespace drasim {

class Nominator {
 public:
  // Moves the pod to the end of the node's list.
  void Nominate(PodId pod, NodeId node);
  // Does nothing for a pod without a nomination.
  void Clear(PodId pod);
  // Invalid: none.
  NodeId NodeOf(PodId pod) const;
  // In order of nomination. Valid until the next change.
  absl::Span<const PodId> On(NodeId node) const;
  bool empty() const { return node_of_.empty(); }

  // Equal nominations give equal bytes. O(nominations log nominations).
  void Save(StateWriter& out) const;
  // Pods and nodes must be below these numbers.
  absl::Status Load(StateReader& in, size_t pods, size_t nodes);

 private:
  absl::flat_hash_map<PodId, NodeId> node_of_;
  std::map<NodeId, std::vector<PodId>> pods_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_NOMINATOR_H_
