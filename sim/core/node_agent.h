// The port between the engine and what runs on nodes: whether a bound pod is let in, and which
// devices it gets there. With no agent every bound pod runs, on the devices the scheduler chose.
#ifndef DRASIM_SIM_CORE_NODE_AGENT_H_
#define DRASIM_SIM_CORE_NODE_AGENT_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "model/device_grant.h"
#include "model/ids.h"
#include "model/job_table.h"
#include "model/record.h"
#include "model/state_io.h"
#include "model/time.h"

namespace drasim {

struct Admission {
  // kNone: let in. Else the pod fails, terminally, for this reason.
  AdmissionFailure failure = AdmissionFailure::kNone;
  uint32_t devices = 0;      // bit per GPU of the node that the pod gets (a part of)
  DeviceGrants grants;       // what of them; one entry per GPU, MIG instance or replica
  SimDuration start_delay;   // before its work begins: a device is reprogrammed
  bool has_started = false;  // its work could begin already: kPodStarted is still to be recorded
  // Let in, but its work begins only when the agent says so (ClaimHost::PodStarted).
  bool starts_later = false;
};

// Something that happens to the devices of a node, as a scenario or trace says.
struct DeviceTransition {
  enum class Action : uint8_t {
    kUnhealthy,   // the GPUs in `devices` break; pods on them go on
    kHealthy,     // they work again
    kPluginGone,  // the device plugin of the node stops
    kPluginBack,  // and registers again
    kMigConfig,   // the named MIG layout number `config` is to be applied
  };
  NodeId node;
  Action action = Action::kUnhealthy;
  uint32_t devices = 0;  // bit per GPU
  uint32_t config = 0;
};

// An attempt to schedule a pod that has come to nothing.
struct FailedAttempt {
  PodId pod;             // of a gang, the first that found no place
  SummaryId why;         // of the record kAttemptFailed
  NodeId nominated;      // node on which preemption makes room for the pod; invalid: none
  bool binding = false;  // it failed in PreBind or later, beside the scheduling thread
};

// What an agent may ask of the engine.
class NodeHost {
 public:
  virtual ~NodeHost() = default;
  virtual const JobTable& jobs() const = 0;
  // Calls NodeAgent::OnTimer(token) at that time, or now if it has passed.
  virtual void ArmNodeTimer(SimTime at, uint64_t token) = 0;
  // Puts a kDevicesChanged record into the run.
  virtual void RecordDevices(NodeId node, uint32_t devices, DeviceChangeKind kind) = 0;
  // The API server learns what the node reports: an amount for each extended resource, in the order
  // of ClusterState::extended_names(). Recorded; pods that wait are told.
  virtual void PublishAllocatable(NodeId node, absl::Span<const int64_t> amounts) = 0;
  // Evicts the jobs of pods that hold (a part of) one of these GPUs.
  virtual void EvictHolders(NodeId node, uint32_t gpus) = 0;
};

// What an agent may ask besides, whose pods have claims that other components serve.
class ClaimHost {
 public:
  virtual ~ClaimHost() = default;
  // The step that a plugin answered with kWait for the pod is called again. Nothing if the pod's
  // start has been taken back meanwhile.
  virtual void ResumeStep(PodId pod) = 0;
  // No attempt begins while this has been said more often with true than with false.
  virtual void BlockScheduling(bool block) = 0;
  // PreEnqueue may have another answer for the pod now.
  virtual void RecheckPod(PodId pod) = 0;
  // Something happened that may help just this pod: it is tried again after its backoff, or
  // (`at_once`) without one.
  virtual void WakePod(PodId pod, bool at_once) = 0;
  // Something happened that may help every pod that a plugin rejected which asks for
  // kClaimChanged.
  virtual void ClaimsChanged() = 0;
  // Something has happened that may lead on, though nothing is recorded of it: the run is not at a
  // standstill.
  virtual void NoteProgress() = 0;
  // The work of a pod with Admission::starts_later begins.
  virtual void PodStarted(PodId pod) = 0;
  // A bound pod that holds no devices gets some, which are free (CHECKed).
  virtual void GiveDevices(PodId pod, uint32_t devices, absl::Span<const DeviceGrant> grants) = 0;
  // A pod of which EndPod was true is off its node.
  virtual void PodEnded(PodId pod) = 0;
};

class NodeAgent {
 public:
  virtual ~NodeAgent() = default;
  // Before anything else, once.
  virtual void Attach(NodeHost*) {}
  virtual void AttachClaims(ClaimHost*) {}
  // Its timers go on for ever, whether anything comes of them or not.
  virtual bool never_rests() const { return false; }
  // Something is due that is no mere look at what has been looked at: a component comes back, a
  // call returns. May be O(pods).
  virtual bool IsBusy() const { return false; }
  // The pods of the job have been created, or created anew after they were lost.
  virtual void PodsCreated(JobId, SimTime) {}
  // An attempt is over, PostFilter and Unreserve included; the pod is back in its queue.
  virtual void AttemptFailed(const FailedAttempt&, SimTime) {}
  // The pod's work is done; `failed`: not well. True when it leaves its node later, with PodEnded.
  virtual bool EndPod(PodId, bool /*failed*/, SimTime) { return false; }
  // The pod, waiting or bound, is deleted. Removed comes too if it was let in.
  virtual void PodDeleted(PodId, SimTime) {}
  virtual void OnTransition(const DeviceTransition&, SimTime) {}
  virtual void OnTimer(uint64_t, SimTime) {}
  // The node has failed, or been removed, with all that ran there. Before its pods are evicted.
  virtual void NodeLost(NodeId, SimTime) {}
  // A job has come to wait.
  virtual void OnArrival(SimTime) {}
  // The pod has been bound to the node. A pod that is let in holds what it got until Removed.
  virtual Admission Admit(PodId pod, NodeId node, SimTime now) = 0;
  // A pod that was let in is gone: the scheduler no longer counts it.
  virtual void Removed(PodId pod, NodeId node, SimTime now) = 0;
  virtual void Save(StateWriter& out) const = 0;
  virtual absl::Status Load(StateReader& in) = 0;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_NODE_AGENT_H_
