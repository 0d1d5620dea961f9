// ControlPlane: DRA's control plane around one run of the engine. It builds the API server and its
// clients, and acts as the engine's agent of all nodes.
//
// Without further words it is classic DRA's: drivers have controllers, with which the scheduler
// negotiates. Given other rules of the scheduler (structured DRA), there are no such controllers;
// API server, claim controller, garbage collector and kubelets are the same.
//
// The engine knows it as the agent of all nodes (NodeAgent) and, through its plugin, as a part of
// the scheduler. Everything between these two passes through the API server's network: a client
// "user" creates the engine's pods there (PodObjects); a pod enters the queue when the scheduler's
// watch reports it (SchedulerActor); a bound pod's work begins when its kubelet has prepared its
// claims (DraManager); the scheduler sees the pod's end when the kubelet has reported it.
// NetworkClock couples the network to the engine. PlaneFaults breaks components, CheckControlPlane
// (plane_checks.h) tests invariants, ClaimExplainer (claim_explainer.h) explains why a pod waits.
//
// Checkpoints hold all of it: objects, caches, messages under way, and what each actor is doing.
#ifndef DRASIM_SIM_DRA_CLASSIC_CONTROL_PLANE_H_
#define DRASIM_SIM_DRA_CLASSIC_CONTROL_PLANE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "model/cluster_state.h"
#include "sim/core/node_agent.h"
#include "sim/dra/api/api_network.h"
#include "sim/dra/api/claim_controller.h"
#include "sim/dra/api/claim_devices.h"
#include "sim/dra/api/claim_journal.h"
#include "sim/dra/api/dra_manager.h"
#include "sim/dra/api/dra_release.h"
#include "sim/dra/api/dra_rules.h"
#include "sim/dra/api/event_recorder.h"
#include "sim/dra/api/garbage_collector.h"
#include "sim/dra/api/network_clock.h"
#include "sim/dra/api/pinned_pods.h"
#include "sim/dra/api/plane_part.h"
#include "sim/dra/api/pod_objects.h"
#include "sim/dra/api/scheduler_actor.h"
#include "sim/dra/api/scheduler_reports.h"
#include "sim/dra/classic/control_plane_options.h"
#include "sim/dra/classic/driver_controller.h"
#include "sim/dra/classic/plane_faults.h"

namespace drasim {

// Calls by one client.
struct ApiCounts {
  uint64_t reads = 0;
  uint64_t writes = 0;
  uint64_t refused = 0;  // reads and writes
  template <typename Archive, typename Self>
  static void Fields(Archive& a, Self& c) {
    a(c.reads, c.writes, c.refused);
  }
};

// The rules of a scheduler that allocates by itself, the drivers' plugins of the kubelets, and
// components that come with them.
struct OtherRules {
  std::unique_ptr<DraRules> rules;
  std::vector<NodePlugin*> plugins;
  std::vector<PlanePart*> parts;  // further components, in the order in which they connect
};

class ControlPlane : public NodeAgent, private PodRunner {
 public:
  // Create receives the templates and claims that the pods' entries name. `cluster` and the drivers
  // must outlive it.
  ControlPlane(const ClusterState* cluster, std::vector<ClaimDriver*> drivers,
               PodObjects::ClaimsOf claims_of, const ControlPlaneOptions& options);
  // The same without classic DRA. The plugins and parts must outlive it.
  ControlPlane(const ClusterState* cluster, OtherRules other, PodObjects::ClaimsOf claims_of,
               const ControlPlaneOptions& options);
  ~ControlPlane() override;

  // Creates an object before the run begins (classes, templates, shared claims, parameters).
  absl::Status Create(ObjectRef object);
  // The scheduler's plugin for the profile, which takes ownership. Call once, before Attach.
  std::unique_ptr<SchedulerActor> TakePlugin() { return std::move(owned_scheduler_); }
  // Containers of pods that request extended resources. Call before Attach.
  void set_containers_of(PodObjects::ContainersOf containers_of) {
    pods_.set_containers_of(std::move(containers_of));
  }
  // True for the name of a component that can fail.
  bool HasComponent(absl::string_view name) const;
  // Whether there is what the fault concerns.
  bool CanHappen(const PlaneFault& fault) const;
  // Called with every completed call, in addition to the counts.
  void set_on_message(std::function<void(const ApiMessage&)> hear) { hear_ = std::move(hear); }
  // After the run: continues until only periodic rechecks are left, or to the limit.
  void Settle(SimDuration limit) { clock_.Settle(limit); }

  // NodeAgent
  void Attach(NodeControl* engine) override { clock_.Attach(engine); }
  void AttachClaims(PodControl* engine) override;
  bool never_rests() const override { return true; }
  bool IsBusy() const override;
  bool RetryMayHelp() const override { return scheduler_->RetryMayHelp(); }
  void OnTimer(uint64_t token, SimTime now) override;
  void PodsCreated(JobId job, SimTime now) override;
  void AttemptFailed(const FailedAttempt& attempt, SimTime now) override;
  Admission Admit(PodId pod, NodeId node, SimTime now) override;
  bool EndPod(PodId pod, bool failed, SimTime now) override;
  void Removed(PodId pod, NodeId node, SimTime now) override;
  void PodDeleted(PodId pod, SimTime now) override;
  // The node's kubelet forgets its prepared claims; nothing there is unprepared any more.
  void NodeLost(NodeId node, SimTime now) override;
  void NodeChanged(NodeId node, NodePresence presence, SimTime now) override;
  void OnTransition(const DeviceTransition& change, SimTime now) override;
  void RunBegins(SimTime now) override { journal_.Begin(now); }
  void Save(StateWriter& out) const override;
  absl::Status Load(StateReader& in) override;

  // The parts.
  NamePool& names() { return names_; }
  const ClusterState& cluster() const { return *cluster_; }
  ClaimNames claim_names() const { return claim_names_; }
  const ApiNetwork& network() const { return network_; }
  ApiNetwork& network() { return network_; }
  const PodObjects& pods() const { return pods_; }
  PlaneFaults& faults() { return faults_; }
  const SchedulerActor& scheduler() const { return *scheduler_; }
  const ClaimController& claim_controller() const { return claim_controller_; }
  const DraManager& dra_manager() const { return *dra_manager_; }
  size_t drivers() const { return driver_controllers_.size(); }
  const ClaimDriver& driver(size_t i) const { return *drivers_[i]; }
  const DriverController& driver_controller(size_t i) const { return *driver_controllers_[i]; }
  // Those of OtherRules, in their order.
  const std::vector<PlanePart*>& parts() const { return parts_; }
  // Pods that overfull nodes keep waiting.
  const PinnedPods& pinned() const { return pinned_; }
  const ApiCounts& counts(ClientId client) const { return counts_[client]; }

 private:
  ControlPlane(const ClusterState* cluster, std::vector<ClaimDriver*> drivers, OtherRules other,
               PodObjects::ClaimsOf claims_of, const ControlPlaneOptions& options);
  // PodRunner
  void PodStarted(const Pod& pod) override;
  void PodEnded(const Pod& pod) override;

  // All that checkpoints hold, except the drivers, which have archives of their own.
  template <typename Archive, typename Self>
  static void Fields(Archive& archive, Self& self);
  template <typename Archive>
  void KnowStart(Archive& archive) const;
  uint64_t StartDigest() const;
  void Count(const ApiMessage& message);
  void EvictStopped();
  void CreateNodeObjects(const ClaimDriver& driver);

  const ClusterState* cluster_;
  std::vector<ClaimDriver*> drivers_;
  ControlPlaneOptions options_;
  NamePool names_;
  ClaimNames claim_names_;
  ApiNetwork network_;
  NetworkClock clock_;
  PodObjects pods_;
  ClaimDevices devices_;
  ClaimJournal journal_;
  std::unique_ptr<SchedulerActor> owned_scheduler_;  // until TakePlugin
  SchedulerActor* scheduler_;
  EventRecorder scheduler_events_;
  std::optional<SchedulerReports> reports_;
  ClaimController claim_controller_;
  GarbageCollector garbage_collector_;
  std::vector<std::unique_ptr<DriverController>> driver_controllers_;
  std::unique_ptr<DraManager> dra_manager_;
  std::vector<PlanePart*> parts_;
  PinnedPods pinned_;
  PlaneFaults faults_;
  PodControl* engine_ = nullptr;
  std::vector<ApiCounts> counts_;
  // Objects before the run.
  std::vector<Ref<DeviceClassObject>> start_classes_;
  std::vector<Ref<ResourceSliceObject>> start_slices_;
  mutable std::optional<uint64_t> start_digest_;  // of their contents
  std::function<void(const ApiMessage&)> hear_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_CLASSIC_CONTROL_PLANE_H_
