// The control plane of classic DRA around one run of the engine: the API server, its clients, and
// how pods of the run become objects there.
//
// To the engine it is the agent of all nodes (NodeAgent) and, by its plugin, a part of the
// scheduler. Everything between the two goes over the network of the API server: the engine's pods
// are created there by a client "user"; the scheduler learns of them by its watch, and a pod enters
// the queue when it has; a bound pod's work begins when its kubelet has prepared its claims; its
// end is seen by the scheduler when the kubelet has reported it.
//
// Pods that are created anew get a new object, "<name>-r<n>". Pods that have ended are deleted by
// the user some time later, as a Job's ttlSecondsAfterFinished does, so that a long run does not
// keep them all.
//
// Not saved in checkpoints.
#ifndef DRASIM_SIM_DRA_CONTROL_PLANE_H_
#define DRASIM_SIM_DRA_CONTROL_PLANE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "model/cluster_state.h"
#include "model/device_grant.h"
#include "model/job_table.h"
#include "sim/core/node_agent.h"
#include "sim/dra/api_network.h"
#include "sim/dra/claim_controller.h"
#include "sim/dra/claim_kubelet.h"
#include "sim/dra/dra_plugin.h"
#include "sim/dra/dra_release.h"
#include "sim/dra/driver_controller.h"
#include "sim/dra/event_recorder.h"
#include "sim/dra/garbage_collector.h"
#include "sim/dra/pinned_pods.h"
#include "sim/dra/scheduler_reports.h"

namespace drasim {

// How a component reaches the API server; names and watches are the control plane's business.
struct ConnectionOptions {
  double qps = 0;  // 0: no limit
  int64_t burst = 0;
  absl::optional<Distribution> read_latency;  // seconds; absent: none
  absl::optional<Distribution> write_latency;
  absl::optional<Distribution> watch_latency;
};

// Something that happens to the control plane at a time of the run.
struct PlaneFault {
  enum class Action : uint8_t { kRestart, kBreakWatch, kDeleteClaim };
  SimTime at;
  Action action = Action::kRestart;
  std::string component;  // as RestartComponent takes it
  SimDuration duration;
  std::string ns, claim;  // of kDeleteClaim
};

struct ControlPlaneOptions {
  DraBehaviour behaviour;
  ConnectionOptions scheduler;
  ConnectionOptions controller_manager;  // claim controller and garbage collector, one client each
  ConnectionOptions drivers;
  ConnectionOptions kubelets;
  ConnectionOptions users;
  ClaimControllerOptions claim_controller;
  DriverControllerOptions driver_controller;
  ClaimKubeletOptions kubelet;
  SimDuration finished_ttl = SimDuration::Seconds(60);  // of pods that have ended
  // A gang of which some pods have their claims, and others wait for theirs, gives all back after
  // so long.
  SimDuration gang_timeout = SimDuration::Seconds(600);
  std::vector<PlaneFault> faults;
  // The scheduler reports its attempts to users (SchedulerReports): conditions through its client,
  // events through a client "scheduler-events" with the same limits.
  bool scheduler_reports = false;
  uint64_t seed = 0;
};

// Calls of one kind by one client.
struct ApiCounts {
  uint64_t reads = 0;
  uint64_t writes = 0;
  uint64_t refused = 0;  // of both
};

// The claims that hold devices of a driver on one node.
struct NodeHolders {
  struct Claim {
    std::string name;       // "default/train-0-gpu-x1"
    std::string consumers;  // "default/train-0"; empty: reserved for nobody
    DeviceGrants grants;    // which devices, where that is known
  };
  std::string driver;
  NodeId node;                // invalid: reached by network from every node
  std::vector<Claim> claims;  // the oldest first
};

class ControlPlane : public NodeAgent, private KubeletHost, private DraPlugin::Host {
 public:
  // The entries of pod.spec.resourceClaims of a pod of the run; templates and claims that they name
  // are given to Create. `cluster` and the drivers outlive it.
  using ClaimsOf = std::function<std::vector<PodClaim>(const PodShape& shape, PodId pod)>;
  ControlPlane(const ClusterState* cluster, std::vector<ClaimDriver*> drivers, ClaimsOf claims_of,
               const ControlPlaneOptions& options);
  ~ControlPlane() override;

  NamePool& names() { return names_; }
  // Creates an object before the run begins (classes, templates, shared claims, parameters).
  absl::Status Create(ObjectRef object);
  // The plugin, for the profile, which owns it from then on. Once, before Attach.
  std::unique_ptr<Plugin> TakePlugin();

  // NodeAgent
  void Attach(NodeControl* host) override { host_ = host; }
  void AttachClaims(PodControl* engine) override;
  bool never_rests() const override { return true; }
  bool IsBusy() const override;
  void OnTimer(uint64_t token, SimTime now) override;
  void PodsCreated(JobId job, SimTime now) override;
  Admission Admit(PodId pod, NodeId node, SimTime now) override;
  void AttemptFailed(const FailedAttempt& attempt, SimTime now) override {
    plugin_->AttemptFailed(attempt, now);
  }
  bool EndPod(PodId pod, bool failed, SimTime now) override;
  void Removed(PodId pod, NodeId node, SimTime now) override;
  void PodDeleted(PodId pod, SimTime now) override;
  // Its kubelet forgets what it has prepared; nothing is unprepared there any more.
  void NodeLost(NodeId node, SimTime now) override;
  // Checkpoints are refused where runs are set up.
  void Save(StateWriter& out) const override;
  absl::Status Load(StateReader& in) override;

  // Faults, of the component that is called so ("scheduler", "claim-controller", a driver's name,
  // ...): see ApiNetwork. And a user who deletes an object, claims first of all.
  void RestartComponent(absl::string_view name, SimDuration down);
  void BreakWatchOf(absl::string_view name, SimDuration length);
  void DeleteClaim(Uid uid);

  // What nodes that have become too full keep waiting.
  const PinnedPods& pinned() const { return pinned_; }

  // Whether a component is called so.
  bool HasComponent(absl::string_view name) const;

  // How the pod stands with its claims: for each of them what state it is in, whom it waits for and
  // who holds it, as the API server has it now; a line each. For people. O(objects of the pod).
  std::vector<std::string> ExplainPod(PodId pod) const;
  // Holders of what the pod's claims wait for, where a driver refuses every node (or, of Immediate
  // claims, has allocated none): for each such driver the first `most_nodes` nodes of which claims
  // hold something, as the API server has them. O(claims + nodes).
  std::vector<NodeHolders> HoldersAgainst(PodId pod, size_t most_nodes) const;

  // After the run: until nothing is under way but periodic rechecks, or the limit.
  void Settle(SimDuration limit);

  // Every call, in order of its answer, beside the counts.
  void set_on_message(std::function<void(const ApiMessage&)> hear) { hear_ = std::move(hear); }
  const ApiCounts& counts(ClientId client) const { return counts_[client]; }
  const ApiNetwork& network() const { return *network_; }
  ApiNetwork& network() { return *network_; }
  const DraPlugin& plugin() const { return *plugin_; }
  const ClaimController& claim_controller() const { return claim_controller_; }
  const ClaimKubelet& kubelet() const { return *kubelet_; }
  size_t drivers() const { return driver_controllers_.size(); }
  const DriverController& driver_controller(size_t i) const { return *driver_controllers_[i]; }

  // No device to two claims that may not share it, consumers within limits and alive, claims of
  // living pods only, finalizers where they belong. `at_rest`: also that nothing has leaked.
  // O(objects).
  absl::Status CheckInvariants(bool at_rest) const;

 private:
  class User;

  // KubeletHost
  void PodStarted(const Pod& pod) override;
  void PodEnded(const Pod& pod) override;
  // DraPlugin::Host
  Uid UidOf(PodId pod) const override;
  std::vector<PodId> GangOf(PodId pod) const override;
  void BeforeCalls(SimTime now) override;
  void AfterCalls() override { Arm(); }
  void BoundInVain(PodId pod, Uid uid) override;

  void Happen(const PlaneFault& fault);
  // What the claims of the pod's object, which is bound to the node, make it hold.
  Admission DevicesOfPod(const Pod& object, NodeId node) const;
  // A pod that shared a claim is gone: another of its consumers is charged for it.
  void PassOn(const Pod& gone);
  std::string ExplainClaim(const Pod& pod, const PodClaim& entry) const;
  // The nodes that the driver refuses for the unallocated claim, ascending, if it refuses all that
  // it was asked about; else none.
  std::vector<NodeId> NodesRefused(const Pod& pod, const PodClaim& entry,
                                   const ResourceClaim& claim) const;
  std::string ExplainNegotiation(const Pod& pod, const PodClaim& entry,
                                 const ResourceClaim& claim) const;
  void CreatePod(PodId pod);
  void CreateNodeObjects(const ClaimDriver& driver);
  void DeletePod(Uid uid, bool force);
  void Arm();
  ClientId ClientNamed(absl::string_view name) const;
  ClientOptions Client(const std::string& name, const ConnectionOptions& connection,
                       uint32_t watches) const;
  absl::Status CheckDevices() const;
  absl::Status CheckClaim(const ResourceClaim& claim) const;
  absl::Status CheckRest() const;
  absl::Status CheckPrepared() const;
  absl::Status CheckPinned() const;

  struct PodState {
    Uid uid = 0;  // of the object at present; 0: none
    uint32_t incarnation = 0;
    bool ending = false;    // EndPod was asked for
    bool ended = false;     // and reported
    bool unwanted = false;  // to be deleted as soon as it is known
  };

  const ClusterState* cluster_;
  std::vector<ClaimDriver*> drivers_;
  ClaimsOf claims_of_;
  ControlPlaneOptions options_;
  NamePool names_;
  std::unique_ptr<ApiNetwork> network_;
  std::unique_ptr<DraPlugin> owned_plugin_;  // until it is taken
  DraPlugin* plugin_ = nullptr;
  ClaimController claim_controller_;
  EventRecorder scheduler_events_;
  std::optional<SchedulerReports> reports_;
  GarbageCollector garbage_collector_;
  std::vector<std::unique_ptr<DriverController>> driver_controllers_;
  std::unique_ptr<ClaimKubelet> kubelet_;
  std::unique_ptr<User> user_;
  PinnedPods pinned_;
  ApiClient* user_client_ = nullptr;
  NodeControl* host_ = nullptr;
  PodControl* engine_ = nullptr;
  std::vector<PodState> pods_;  // by PodId
  std::vector<Ref<Pod>> gone_;  // at this moment
  size_t faults_ahead_ = 0;
  std::vector<ApiCounts> counts_;
  std::function<void(const ApiMessage&)> hear_;
  absl::optional<SimTime> armed_;
  bool handling_ = false;  // within the network's handlers: Arm when they are through
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_CONTROL_PLANE_H_
