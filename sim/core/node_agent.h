// The port between the engine and the nodes: an agent admits bound pods and gives them devices.
//
// Without an agent every bound pod runs, on the devices the scheduler chose. The engine calls the
// NodeAgent; the agent calls back through NodeControl and, if its pods have claims, PodControl.
#ifndef DRASIM_SIM_CORE_NODE_AGENT_H_
#define DRASIM_SIM_CORE_NODE_AGENT_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "model/claim_change.h"
#include "model/device_grant.h"
#include "model/device_set.h"
#include "model/ids.h"
#include "model/job_table.h"
#include "model/record.h"
#include "model/state_io.h"
#include "model/time.h"

namespace drasim {

struct Admission {
  // kNone: admitted. Else the pod fails, terminally, for this reason.
  AdmissionFailure failure = AdmissionFailure::kNone;
  DeviceSet devices;         // GPUs of the node that the pod gets (a part of)
  DeviceGrants grants;       // the parts; one entry per GPU, MIG instance or replica
  SimDuration start_delay;   // before its work begins: a device is reprogrammed
  bool has_started = false;  // its work could begin already: kPodStarted is still to be recorded
  // Admitted, but its work begins only with PodControl::PodStarted.
  bool starts_later = false;
};

// A change of a node's devices from a scenario or trace.
struct DeviceTransition {
  enum class Action : uint8_t {
    kUnhealthy,   // the GPUs in `devices` break; pods on them continue
    kHealthy,     // they work again
    kPluginGone,  // the device plugin of the node, or the kubelet plugin of its driver, stops
    kPluginBack,  // and registers again
    kMigConfig,   // apply the named MIG layout number `config`
    kTainted,     // the driver taints `devices` (none: all) with taint number `config`
    kUntainted,   // that is over
  };
  static constexpr uint32_t kEveryDriver = UINT32_MAX;
  NodeId node;
  Action action = Action::kUnhealthy;
  DeviceSet devices;
  uint32_t config = 0;
  uint32_t driver = kEveryDriver;  // of structured DRA, by number
};

enum class NodePresence : uint8_t {
  kThere,
  kFailed,  // its object is still there
  kAbsent,  // it is not part of the cluster
};

// A failed attempt to schedule a pod.
struct FailedAttempt {
  PodId pod;             // of a gang, the first that found no place
  SummaryId why;         // of the record kAttemptFailed
  NodeId nominated;      // node on which preemption makes room for the pod; invalid: none
  bool binding = false;  // it failed in PreBind or later, off the scheduling thread
};

// The engine's side of the port for every agent: timers, records, and reports about nodes.
class NodeControl {
 public:
  virtual ~NodeControl() = default;
  virtual const JobTable& jobs() const = 0;
  // Calls NodeAgent::OnTimer(token) at that time, or now if it has passed.
  virtual void ArmNodeTimer(SimTime at, uint64_t token) = 0;
  // Puts a kDevicesChanged record into the run.
  virtual void RecordDevices(NodeId node, DeviceSet devices, DeviceChangeKind kind) = 0;
  // The node's report reaches the API server: an amount for each extended resource, in the order of
  // ClusterState::extended_names(). It is recorded, and waiting pods may be tried again.
  virtual void PublishAllocatable(NodeId node, absl::Span<const int64_t> amounts) = 0;
  // Evicts the jobs of pods that hold (a part of) one of these GPUs.
  virtual void EvictHolders(NodeId node, DeviceSet gpus) = 0;
};

// The engine's side of the port for agents of pods with claims, which other components serve.
class PodControl {
 public:
  virtual ~PodControl() = default;
  // Repeats the step that a plugin answered with kWait for the pod. Does nothing if the pod's start
  // has been cancelled in the meantime.
  virtual void ResumeStep(PodId pod) = 0;
  // Nests: scheduling stays blocked until every Block(true) has its Block(false).
  virtual void BlockScheduling(bool block) = 0;
  // The answer of PreEnqueue for the pod may have changed.
  virtual void RecheckPod(PodId pod) = 0;
  // An event may help only this pod: it is tried again after its backoff, or (`at_once`) without
  // one.
  virtual void WakePod(PodId pod, bool at_once) = 0;
  // An event may help every pod rejected by a plugin that registers for kClaimChanged.
  virtual void ClaimsChanged() = 0;
  // A component has made progress that leaves no record: the run is not at a standstill.
  virtual void NoteProgress() = 0;
  // The work of a pod with Admission::starts_later begins.
  virtual void PodStarted(PodId pod) = 0;
  // A bound pod that holds no devices gets some, which are free (CHECKed).
  virtual void GiveDevices(PodId pod, DeviceSet devices, absl::Span<const DeviceGrant> grants) = 0;
  // A controller has deleted the pod because of its devices: it leaves its node after the grace
  // period of evictions, and its owner replaces it.
  virtual void EvictPod(PodId pod) = 0;
  // A pod for which EndPod returned true is off its node.
  virtual void PodEnded(PodId pod) = 0;
  // Passes a change of a claim to the sinks of the run; superfluous if none wants it.
  virtual bool wants_claim_changes() const = 0;
  virtual void RecordClaim(const ClaimChange& change) = 0;
};

class NodeAgent {
 public:
  virtual ~NodeAgent() = default;
  // Call once, before anything else.
  virtual void Attach(NodeControl*) {}
  virtual void AttachClaims(PodControl*) {}
  // A run begins; not called for one that goes on from a checkpoint.
  virtual void RunBegins(SimTime) {}
  // True when its timers repeat without end, with or without work.
  virtual bool never_rests() const { return false; }
  // Work other than periodic rechecks is pending: a component restarts, a call returns. May be
  // O(pods).
  virtual bool IsBusy() const { return false; }
  // A waiting pod may be placed by its next attempt though nothing has woken it: the last one
  // changed the cluster in a way that wakes no pod. May be O(pods).
  virtual bool RetryMayHelp() const { return false; }
  // The pods of the job have been created, or recreated after they were lost.
  virtual void PodsCreated(JobId, SimTime) {}
  // An attempt has ended, PostFilter and Unreserve included; the pod is back in its queue.
  virtual void AttemptFailed(const FailedAttempt&, SimTime) {}
  // The pod's work has ended, with an error if `failed`. True when the pod leaves its node later,
  // with PodEnded.
  virtual bool EndPod(PodId, bool /*failed*/, SimTime) { return false; }
  // The pod, waiting or bound, is deleted. If it was admitted, Removed follows.
  virtual void PodDeleted(PodId, SimTime) {}
  virtual void OnTransition(const DeviceTransition&, SimTime) {}
  virtual void OnTimer(uint64_t, SimTime) {}
  // The node has failed or been removed, with everything on it. Called before its pods are evicted.
  virtual void NodeLost(NodeId, SimTime) {}
  // The node's presence may have changed. Called after NodeLost.
  virtual void NodeChanged(NodeId, NodePresence, SimTime) {}
  // A job starts to wait.
  virtual void OnArrival(SimTime) {}
  // The pod has been bound to the node. An admitted pod keeps its devices until Removed.
  virtual Admission Admit(PodId pod, NodeId node, SimTime now) = 0;
  // An admitted pod is gone: the scheduler no longer counts it.
  virtual void Removed(PodId pod, NodeId node, SimTime now) = 0;
  virtual void Save(StateWriter& out) const = 0;
  virtual absl::Status Load(StateReader& in) = 0;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_NODE_AGENT_H_
