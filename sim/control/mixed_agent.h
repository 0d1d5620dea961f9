// MixedAgent: nodes whose kubelets serve device plugins and claims of DRA at once, as one agent of
// the engine. Two agents share the work: one hands out the devices of device plugins, the other
// drives the control plane of DRA, on all nodes.
//
// Changes of devices go to the one that has the node.
//
// A pod is admitted by the device managers first. One that they reject is gone from the API server
// with that: its owner creates another.
#ifndef DRASIM_SIM_CONTROL_MIXED_AGENT_H_
#define DRASIM_SIM_CONTROL_MIXED_AGENT_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "sim/core/node_agent.h"

namespace drasim {

class MixedAgent : public NodeAgent {
 public:
  // Both must outlive it. Tokens of their timers must be below 2^63. `has_plugin`, by node: a
  // device plugin has its GPUs.
  MixedAgent(NodeAgent* devices, NodeAgent* claims, std::vector<bool> has_plugin)
      : devices_(*devices), claims_(*claims), has_plugin_(std::move(has_plugin)) {}

  void Attach(NodeControl* engine) override;
  void AttachClaims(PodControl* engine) override { claims_.AttachClaims(engine); }
  void RunBegins(SimTime now) override { claims_.RunBegins(now); }
  bool never_rests() const override { return claims_.never_rests(); }
  bool IsBusy() const override { return claims_.IsBusy() || devices_.IsBusy(); }
  bool RetryMayHelp() const override { return claims_.RetryMayHelp(); }
  void PodsCreated(JobId job, SimTime now) override { claims_.PodsCreated(job, now); }
  void AttemptFailed(const FailedAttempt& attempt, SimTime now) override {
    claims_.AttemptFailed(attempt, now);
  }
  bool EndPod(PodId pod, bool failed, SimTime now) override {
    return claims_.EndPod(pod, failed, now);
  }
  void PodDeleted(PodId pod, SimTime now) override { claims_.PodDeleted(pod, now); }
  void OnTransition(const DeviceTransition& change, SimTime now) override;
  void OnTimer(uint64_t token, SimTime now) override;
  void NodeChanged(NodeId node, NodePresence presence, SimTime now) override;
  void NodeLost(NodeId node, SimTime now) override;
  void OnArrival(SimTime now) override { devices_.OnArrival(now); }
  Admission Admit(PodId pod, NodeId node, SimTime now) override;
  void Removed(PodId pod, NodeId node, SimTime now) override;
  void Save(StateWriter& out) const override;
  absl::Status Load(StateReader& in) override;

 private:
  // The engine as `devices_` sees it: its timers are marked.
  class DeviceControl : public NodeControl {
   public:
    void set_engine(NodeControl* engine) { engine_ = engine; }
    const JobTable& jobs() const override { return engine_->jobs(); }
    void ArmNodeTimer(SimTime at, uint64_t token) override;
    void RecordDevices(NodeId node, DeviceSet devices, DeviceChangeKind kind) override {
      engine_->RecordDevices(node, devices, kind);
    }
    void PublishAllocatable(NodeId node, absl::Span<const int64_t> amounts) override {
      engine_->PublishAllocatable(node, amounts);
    }
    void EvictHolders(NodeId node, DeviceSet gpus) override { engine_->EvictHolders(node, gpus); }

   private:
    NodeControl* engine_ = nullptr;
  };

  NodeAgent& devices_;
  NodeAgent& claims_;
  std::vector<bool> has_plugin_;
  DeviceControl device_control_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CONTROL_MIXED_AGENT_H_
