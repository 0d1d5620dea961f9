// Dispatcher: decides which waiting job is tried next. The port between the engine and the ways of
// queueing.
//
// The engine keeps time and carries out decisions. A dispatcher keeps the waiting jobs and tries
// some of them on the engine's request. There are five: fill (each job once, on arrival), loss (the
// same, in time), kubernetes (one attempt at a time, in kube-scheduler's queue), batch (passes over
// jobs in the order of a QueuePolicy) and decided (what another scheduler decided).
#ifndef DRASIM_SIM_CORE_DISPATCHER_H_
#define DRASIM_SIM_CORE_DISPATCHER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "model/cluster_state.h"
#include "model/job_table.h"
#include "model/record.h"
#include "model/state_io.h"
#include "policies/framework/profile.h"
#include "sim/core/job_control.h"
#include "sim/core/nominator.h"
#include "sim/core/placer.h"
#include "sim/core/profiles.h"
#include "sim/core/quotas.h"
#include "sim/core/room_check.h"

namespace drasim {

// Everything a dispatcher works on. All pointers must outlive the dispatcher.
struct DispatchParts {
  ClusterState* cluster = nullptr;
  JobTable* jobs = nullptr;
  Placer* placer = nullptr;
  SchedulingCycle* cycle = nullptr;
  // The nominations that the placer's KubeCycle heeds; null: SchedulingCycle decides.
  Nominator* nominator = nullptr;
  SimDuration extender_latency;  // virtual time of each wait for extenders
  Profile* profile = nullptr;    // the first, or, of several schedulers, the first of this one
  const Profiles* profiles = nullptr;  // of all schedulers; null: `profile` alone
  // Others schedule, too: an attempt sees the cluster as it is when it begins, and its pod is bound
  // that much later, if there is still room. Null: the only scheduler. Both with KubeCycle alone.
  const RoomCheck* room = nullptr;
  SimDuration decision_latency;
  const VerdictSummaryTable* summaries = nullptr;
  const Quotas* quotas = nullptr;
  JobControl* control = nullptr;
};

// The way back to the queue after a rejected start.
enum class Comeback : uint8_t {
  kOnEvent,       // it waits for an event that may help
  kAfterBackoff,  // such an event has happened since
  kAtOnce,        // the event that it waited for has happened
  kError,         // an error, not a verdict: after a backoff, whatever happens
};

class Dispatcher {
 public:
  virtual ~Dispatcher() = default;

  // The job begins to wait: it arrived, was interrupted, or failed and tries again.
  virtual void Add(JobId job) = 0;
  // The job came with its node, and runs there: nobody decides about it.
  virtual void OnSettled(JobId /*job*/) {}
  // A start in progress was rejected; `why` has been recorded.
  virtual void Return(JobId job, SummaryId why, Comeback comeback) = 0;
  // The waiting job is deleted. False when it is not here (its start is in progress).
  virtual bool Remove(JobId job) = 0;

  // Something happened that may let waiting jobs fit.
  virtual void OnEvent(const ClusterChange& change) = 0;
  virtual void OnQuotaChange() = 0;
  // A node was cordoned or is gone. That makes no room, but plans may change.
  virtual void OnNodeLost(NodeId) {}
  // A job ended for good.
  virtual void OnEnd(JobId job) = 0;

  // The answer of PreEnqueue for the waiting job's pods may have changed.
  virtual void Recheck(JobId) {}
  // An event may help just this waiting job; `at_once`: without any backoff.
  virtual void Wake(JobId, bool /*at_once*/) {}

  // True when Dispatch would try something.
  virtual bool Ready() const = 0;
  // Tries one job, or all that the order lets be tried.
  virtual void Dispatch() = 0;

  // The next time at which OnTimer has something to do; nothing if never.
  virtual std::optional<SimTime> NextTimer() { return std::nullopt; }
  virtual void OnTimer() {}
  // False when OnTimer would only repeat attempts that have failed in the present state of the
  // cluster.
  virtual bool TimerMayHelp() const { return false; }

  virtual size_t waiting() const = 0;
  // Waiting jobs that are attempted: without those that quotas or PreEnqueue keep back.
  virtual size_t in_line() const { return waiting(); }
  // GPU milli of the smallest job that would be tried if there were room; 0 when none waits.
  virtual int64_t SmallestNeedMilli() const = 0;
  // Entries put into the queue, taken out or moved between its parts so far: a count of work, the
  // same in every run. 0 for a dispatcher that keeps no order.
  virtual uint64_t queue_operations() const { return 0; }

  virtual void Save(StateWriter& out) const = 0;
  virtual absl::Status Load(StateReader& in) = 0;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_DISPATCHER_H_
