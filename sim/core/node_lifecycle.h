// The life of nodes: planned changes, and what node agents report of them (NodeControl).
#ifndef DRASIM_SIM_CORE_NODE_LIFECYCLE_H_
#define DRASIM_SIM_CORE_NODE_LIFECYCLE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "model/device_set.h"
#include "model/ids.h"
#include "model/record.h"
#include "sim/core/job_lifecycle.h"
#include "sim/core/node_agent.h"
#include "sim/core/run_context.h"
#include "sim/core/scheduling_loop.h"

namespace drasim {

class NodeLifecycle : public NodeControl {
 public:
  // All must outlive it.
  NodeLifecycle(RunContext* run, SchedulingLoop* scheduling, JobLifecycle* jobs);

  // Pushes the event of the next planned change, if there is one.
  void PushNextChange();
  // Handles that event.
  void OnChange();
  bool changes_are_over() const { return next_change_ == run_->parts().node_changes.size(); }

  // NodeControl
  const JobTable& jobs() const override { return run_->jobs(); }
  void ArmNodeTimer(SimTime at, uint64_t token) override;
  void RecordDevices(NodeId node, DeviceSet devices, DeviceChangeKind kind) override;
  void PublishAllocatable(NodeId node, absl::Span<const int64_t> amounts) override;
  void EvictHolders(NodeId node, DeviceSet gpus) override { jobs_->EvictHolders(node, gpus); }

 private:
  friend class EngineCheckpoint;

  // Reasons why a node takes no pods. They add up: it is back when the last is over.
  struct NodeTroubles {
    bool absent = false;
    uint32_t failures = 0;
    uint32_t cordons = 0;
  };

  void Change(const NodeTransition& change);
  NodePresence PresenceOf(NodeId node) const;
  // Brings a node in line with its troubles. Pods leave before the node does.
  void Update(NodeId node);

  RunContext* run_;
  SchedulingLoop* scheduling_;
  JobLifecycle* jobs_;
  std::vector<NodeTroubles> troubles_;  // by node
  size_t next_change_ = 0;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_NODE_LIFECYCLE_H_
