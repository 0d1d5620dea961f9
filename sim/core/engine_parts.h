// Inputs of an engine: the parts it works on, its options, and the changes planned for a run.
#ifndef DRASIM_SIM_CORE_ENGINE_PARTS_H_
#define DRASIM_SIM_CORE_ENGINE_PARTS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "model/cluster_state.h"
#include "model/event_source.h"
#include "model/job_table.h"
#include "model/record.h"
#include "model/saved_state.h"
#include "policies/framework/profile.h"
#include "sim/core/dispatcher.h"
#include "sim/core/interruption.h"
#include "sim/core/node_agent.h"
#include "sim/core/placer.h"
#include "sim/core/profiles.h"
#include "sim/core/scheduling_cycle.h"

namespace drasim {

enum class RunMode : uint8_t { kFill, kReplay };

// A planned change of a node.
struct NodeTransition {
  enum class Action : uint8_t {
    kAdd,       // it is part of the cluster from now on
    kRemove,    // it is gone; its pods are lost
    kFail,      // it is broken; its pods are lost
    kRecover,   // one failure is over; others may last
    kCordon,    // no new pods
    kUncordon,  // one cordon, or drain, is over
    kDrain,     // cordoned, and its pods are evicted
    kDevices,   // see `devices`
  };
  SimTime at;
  NodeId node;
  Action action = Action::kAdd;
  DeviceTransition devices;
};

// Controller that recreates pods rejected at admission.
struct OwnerOptions {
  enum class Kind : uint8_t {
    kJob,         // after a backoff that doubles, up to backoff_limit times
    kReplicaSet,  // a tenth of a second later, without a limit
    kNone,        // never: a rejected pod has failed
  };
  Kind kind = Kind::kJob;
  uint32_t backoff_limit = 6;  // batch/v1 Job: failures before the job is given up
  SimDuration backoff = SimDuration(10'000'000'000);
  SimDuration max_backoff = SimDuration(360'000'000'000);
};

struct EngineOptions {
  RunMode mode = RunMode::kFill;
  SimDuration attempt_latency;   // virtual time of one scheduling attempt or pass (replay)
  SimDuration release_delay;     // a job holds its nodes for this long after its work is done
  SimDuration recreation_delay;  // from the loss of a node to the new pods of its jobs
  InterruptionCosts interruption;
  // Per MIG instance that the scheduler creates for a pod: delay before the pod's work begins, and
  // delay after its end until the slots are free.
  SimDuration instance_creation;
  SimDuration instance_destruction;
  OwnerOptions owner;
  bool check_invariants = false;  // after every event; O(nodes + pods) each
  uint64_t checkpoint_every = 0;  // least number of records between checkpoints; 0: none
  // Limit on the records at one instant of a replay. A run that exceeds it fails, because time does
  // not move. Each job that has arrived allows for a thousand more.
  uint64_t max_records_per_instant = 10'000'000;
  // For tests and tools: pause after this many more events; 0: run to the end.
  uint64_t stop_after_events = 0;
};

// A user's deletion of a job or of its pods.
struct JobDeletion {
  SimTime at;
  bool owner = false;  // true: the job with its pods; false: the pods, which the job replaces
  bool operator==(const JobDeletion&) const = default;
};

// Everything the engine works on. All pointers must outlive the engine.
struct EngineParts {
  ClusterState* cluster = nullptr;
  JobTable* jobs = nullptr;
  EventSource* source = nullptr;
  Profile* profile = nullptr;
  const Profiles* profiles = nullptr;  // null: `profile` alone, which is the first else
  SchedulingCycle* cycle = nullptr;
  Placer* placer = nullptr;
  VerdictSummaryTable* summaries = nullptr;
  const Quotas* quotas = nullptr;
  NodeAgent* node_agent = nullptr;  // null: bound pods run on the devices the scheduler chose
  // By JobId, of the first jobs of the source: the node that the job's only pod is on when it
  // arrives; invalid: it waits.
  std::vector<NodeId> standing_on;
  std::vector<DeviceSet> standing_devices;   // beside it: GPUs that it holds there; empty: any
  std::vector<NodeTransition> node_changes;  // in order of time
  // By the name of the job. A deletion that is due before its job arrives happens at the arrival.
  absl::flat_hash_map<std::string, std::vector<JobDeletion>> deletions;
  SimTime last_deletion;  // the latest planned deletion of any object; no standstill before it
  // Makes the dispatcher, which controls jobs through its argument.
  std::function<std::unique_ptr<Dispatcher>(JobControl*)> make_dispatcher;
  std::vector<RecordSink*> sinks;
  // Called before the clock moves: nothing changed between `from` and `to`.
  std::function<void(SimTime from, SimTime to)> on_interval;
  // Called with the state when a checkpoint is due, which builds on those before it, and on the one
  // that was loaded; empty: no checkpoints.
  std::function<absl::Status(const SavedState& state)> on_checkpoint;
  // Called from time to time with the number of jobs that have arrived.
  std::function<void(uint64_t)> on_progress;
  // Set from outside (a signal) to end the run early with Cancelled.
  const std::atomic<bool>* stop = nullptr;
  // Further state to save and load with the engine's own (random streams).
  std::function<void(StateWriter&)> save_extra;
  std::function<absl::Status(StateReader&)> load_extra;
};

inline Profiles ProfilesOf(const EngineParts& parts) {
  return parts.profiles == nullptr ? Profiles(parts.profile) : *parts.profiles;
}

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_ENGINE_PARTS_H_
