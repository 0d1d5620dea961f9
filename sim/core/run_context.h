// The present instant of a run: virtual time, pending events, and records on their way out.
//
// The base on which the engine's roles work (docs/architecture.md, "Engine"): it knows none of
// them, each of them knows it.
#ifndef DRASIM_SIM_CORE_RUN_CONTEXT_H_
#define DRASIM_SIM_CORE_RUN_CONTEXT_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "model/claim_change.h"
#include "model/cluster_state.h"
#include "model/device_set.h"
#include "model/job_table.h"
#include "model/record.h"
#include "model/time.h"
#include "policies/framework/plugin.h"
#include "sim/core/engine_parts.h"
#include "sim/core/event_queue.h"
#include "sim/core/progress_watch.h"

namespace drasim {

// Word b of a kTimer event: the timer that went off.
enum TimerKind : uint32_t {
  kDispatcherTimer = 0,
  kQuotaTimer = 1,
  kRecreationTimer = 2,  // word a: the job whose pods are created again
  kNodeAgentTimer = 3,   // word c: the agent's token
};

class RunContext {
 public:
  RunContext(EngineParts parts, EngineOptions options);
  RunContext(const RunContext&) = delete;
  RunContext& operator=(const RunContext&) = delete;

  const EngineParts& parts() const { return parts_; }
  const EngineOptions& options() const { return options_; }
  bool is_replay() const { return options_.mode == RunMode::kReplay; }
  ClusterState& cluster() const { return *parts_.cluster; }
  JobTable& jobs() const { return *parts_.jobs; }
  NodeAgent* agent() const { return parts_.node_agent; }  // may be null
  // True when the agent's timers repeat without end.
  bool never_rests() const { return agent() != nullptr && agent()->never_rests(); }

  SimTime now() const { return now_; }
  // Moves the clock. REQUIRES: time > now().
  void BeginInstant(SimTime time);
  // now() + d. A sum beyond the clock fails the run after the present event.
  SimTime After(SimDuration d);
  // Ends the run with this status after the present event.
  void Fail(absl::Status status) { failure_ = std::move(status); }
  const absl::Status& failure() const { return failure_; }

  EventQueue& events() { return events_; }
  const EventQueue& events() const { return events_; }
  // Cancels the event, if there is one, and clears the handle; 0: none.
  void Cancel(uint64_t* handle) {
    if (*handle != 0) events_.Cancel(*handle);
    *handle = 0;
  }

  ProgressWatch& progress() { return progress_; }
  const ProgressWatch& progress() const { return progress_; }

  // Writes a record to every sink.
  void Emit(RecordKind kind, PodId pod, NodeId node, DeviceSet devices, uint32_t detail,
            PodId preemptor = PodId());
  // Whether some sink wants changes of claims, and such a change for those that do.
  bool wants_claim_changes() const { return wants_claim_changes_; }
  void EmitClaim(const ClaimChange& change);
  uint64_t records() const { return records_; }
  uint64_t records_at_instant() const { return records_ - records_before_instant_; }

  // Never where nobody takes checkpoints.
  bool checkpoint_is_due() const {
    return next_checkpoint_ != 0 && records_ >= next_checkpoint_ && parts_.on_checkpoint != nullptr;
  }
  // Sets the number of records at which the next checkpoint is due.
  void PassCheckpoint();

  PodContext ContextOf(PodId pod) const {
    return {cluster().pod_shape_id(pod), &cluster().pod_shape(pod), pod, now_};
  }
  static PodId PodOf(const JobRow& row, uint32_t i) { return PodId(row.first_pod.value() + i); }
  // The node of each pod of the job.
  std::vector<NodeId> NodesOf(const JobRow& row) const;

 private:
  friend class EngineCheckpoint;

  EngineParts parts_;
  EngineOptions options_;
  EventQueue events_;
  ProgressWatch progress_;
  SimTime now_;
  absl::Status failure_;
  uint64_t records_ = 0;
  uint64_t records_before_instant_ = 0;
  uint64_t next_checkpoint_ = 0;
  uint64_t checkpoints_ = 0;  // so far
  bool wants_claim_changes_ = false;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_RUN_CONTEXT_H_
