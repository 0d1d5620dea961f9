// The kubelets' DRA manager (pkg/kubelet/cm/dra, release 1.29) and pod workers, for all nodes in
// one actor: prepares claims before a pod's first container starts, unprepares them after its last
// has stopped and before the pod's end is reported.
//
// At the start, for every claim of the pod: GET claim; it must be reserved for the pod, else the
// kubelet tries again with the next pod sync: after a minute and up to a half more, in 1.26, which
// prepares when a container starts, after 10 s and up to a half more. A claim that is prepared on
// the node already (another pod there uses it) only gets a reference. Of the rest, those that a
// container uses are prepared, one driver after the other; until 1.27 claim after claim. Then PATCH
// pods/status (Running). At the end: unprepare what no other pod on the node uses (again after 10 s
// and up to a half more if that fails), then PATCH pods/status (Succeeded or Failed).
//
// A pod that is being deleted (deletionTimestamp) is stopped, unprepared, reported, and deleted
// with `force`. One that is deleted by force is stopped and unprepared. A call that is under way is
// not broken off: what it brings about is there, and undone. When its node is lost a pod is
// forgotten here and nothing is unprepared.
//
// A pod refers to a claim from the GET on, before it is prepared, so that a claim that another pod
// prepares or needs is never unprepared meanwhile; while a claim is being unprepared, a call that
// prepares it again waits for that. A restart loses calls and timers only: the checkpoint file and
// the container runtime remember the rest.
#ifndef DRASIM_SIM_DRA_DRA_MANAGER_H_
#define DRASIM_SIM_DRA_DRA_MANAGER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/optional.h"
#include "model/distributions.h"
#include "model/ids.h"
#include "model/kube/name.h"
#include "model/kube/objects.h"
#include "model/random.h"
#include "model/time.h"
#include "policies/framework/claim_driver.h"
#include "sim/dra/api_network.h"
#include "sim/dra/dra_release.h"

namespace drasim {

// Runs the containers of pods.
class PodRunner {
 public:
  virtual ~PodRunner() = default;
  // All claims are prepared, and the containers start.
  virtual void PodStarted(const Pod& pod) = 0;
  // The pod's end has been reported, unless it is no longer there (deleted by force); its devices
  // are unprepared. Once for every pod that is bound to a node that is there, also if it never
  // started.
  virtual void PodEnded(const Pod& pod) = 0;
};

struct DraManagerOptions {
  DraBehaviour behaviour;
  // Until a failed attempt to unprepare is repeated; in 1.26 to prepare, too.
  SimDuration retry = SimDuration::Seconds(10);
  // Until a failed attempt to prepare is repeated, from 1.27 on.
  SimDuration prepare_retry = SimDuration::Seconds(60);
  double retry_jitter = 0.5;  // at most this share of the delay is added to it
  // Seconds of one gRPC call to a plugin, beside the driver's own PrepareTime.
  absl::optional<Distribution> grpc_latency;
  // Share of prepare and unprepare calls that fail, and are retried.
  int64_t failures_per_mille = 0;
  uint64_t seed = 0;
};

class DraManager : public Actor {
 public:
  static constexpr uint32_t kWatches = WatchBit(ObjectKind::kPod);

  // Drivers by name; they outlive it.
  DraManager(std::vector<ClaimDriver*> drivers, const DraManagerOptions& options,
             PodRunner* runner);
  ~DraManager() override;
  void Start(ApiClient* client);

  // The containers of a started pod have ended by themselves. May be called from within PodStarted.
  // Does nothing for a pod that is not running, because it is being stopped already, for example.
  void WorkDone(Uid pod, bool failed);
  // The node is gone, with all that ran there. Pods that are bound to it later start normally.
  void NodeLost(NodeId node);

  void OnWatch(const WatchEvent& event) override;
  void OnReply(uint64_t token, const ApiReply& reply) override { Continue(token, &reply); }
  void OnTimer(uint64_t token) override { Continue(token, nullptr); }
  void OnRestart() override;

  // Whether the runner has been told that the pod has started, and nothing has ended it since.
  bool IsRunning(Uid pod) const;
  // Whether a call to a plugin is under way somewhere. O(pods).
  bool CallsPlugins() const;
  // Claims prepared on the node. For checks. O(claims that pods of all nodes refer to).
  size_t prepared_claims(NodeId node) const;
  // Attempts to prepare a pod's claims that failed, for any reason (events
  // FailedPrepareDynamicResources).
  uint64_t failed_prepares() const { return failed_prepares_; }
  // Nothing is under way, nor waits for another try. Pods may be running.
  bool idle() const { return operations_.empty(); }

 private:
  struct PodState;
  // A claim that pods of one node refer to.
  struct NodeClaim {
    std::vector<Uid> users;  // in the order of their references
    bool prepared = false;
    bool touched = false;      // a plugin has done something for it
    bool unpreparing = false;  // a call is under way
    SimTime unprepared_at;     // then it returns
  };
  using NodeClaimKey = std::pair<NodeId, Uid>;

  void Begin(const Ref<Pod>& pod);
  // A call or a timer of the pod has come to its end; null: a timer.
  void Continue(uint64_t token, const ApiReply* reply);
  void Stop(PodState& state);
  static bool IsToEnd(PodState& state);
  void Resume(PodState& state);

  void StartAttempt(PodState& state);
  void Fetch(PodState& state, const ApiReply* reply);
  bool Accept(PodState& state, const ApiReply& reply);
  void FailPrepare(PodState& state);
  void FinishPrepareCall(PodState& state);
  void ReportRunning(PodState& state);
  void FinishReportRunning(PodState& state, const ApiReply& reply);

  void End(PodState& state);
  void NextUnprepareCall(PodState& state);
  void FinishUnprepareCall(PodState& state);
  void RetryUnprepare(PodState& state);
  void ReportEnd(PodState& state);
  void FinishReportEnd(PodState& state, const ApiReply& reply);
  void Delete(PodState& state);
  // Nothing is left to do; the state may be gone afterwards.
  void Retire(PodState& state);

  // The calls that prepare or unprepare these claims.
  void PlanCalls(const std::vector<Ref<ResourceClaim>>& claims, PodState& state) const;
  // False: there is no such plugin.
  bool StartCall(PodState& state);
  void DropReference(PodState& state, Uid claim);
  // A claim that the pod refers to.
  NodeClaim& There(const PodState& state, Uid claim);
  absl::optional<ApiReply> Call(PodState& state, ApiRequest request);
  absl::optional<ApiReply> PatchPhase(PodState& state, KubePodPhase phase);
  void Arm(PodState& state, SimDuration after);
  // Something under way is the pod's.
  void Expect(PodState& state, uint64_t token);
  void Cancel(PodState& state);
  SimDuration Jittered(SimDuration delay);
  SimDuration PrepareRetryDelay();
  ClaimDriver* FindDriver(Name name) const;
  PodState* FindState(Uid pod) const;

  std::vector<ClaimDriver*> drivers_;
  DraManagerOptions options_;
  PodRunner* runner_;
  Random draws_;
  ApiClient* client_ = nullptr;
  absl::flat_hash_map<Uid, std::unique_ptr<PodState>> pods_;
  absl::flat_hash_map<NodeClaimKey, NodeClaim> claims_;
  // Calls and timers under way, by token.
  absl::flat_hash_map<uint64_t, Uid> operations_;
  uint64_t next_token_ = 1;
  uint64_t failed_prepares_ = 0;
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_DRA_MANAGER_H_
