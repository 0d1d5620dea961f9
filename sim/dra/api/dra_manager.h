// The kubelets' DRA manager (pkg/kubelet/cm/dra, release 1.29) and pod workers, one actor for all
// nodes. It prepares claims before a pod's first container starts, and unprepares them after the
// last one has stopped and before the pod's end is reported.
//
// At the start, for every claim of the pod: GET claim. It must be reserved for the pod; otherwise
// the kubelet retries with the next pod sync, after one to one and a half minutes (1.26, which
// prepares when a container starts: after 10 to 15 s). A claim that another pod has prepared on the
// node only gets a reference. The remaining claims that a container uses are prepared, one driver
// after the other; until 1.27, claim after claim. Then PATCH pods/status (Running). At the end:
// unprepare the claims that no other pod on the node uses (on failure again after 10 to 15 s), then
// PATCH pods/status (Succeeded or Failed).
//
// A pod in deletion (deletionTimestamp) is stopped, after its grace period if it runs, unprepared,
// reported, and deleted with `force`.
// A pod deleted by force is stopped and unprepared. A call in progress is not cancelled: its effect
// is kept and then undone. When a node is lost, its pods are forgotten here and nothing is
// unprepared.
//
// A pod refers to a claim from the GET on, before preparation, so a claim that another pod prepares
// or needs is never unprepared in the meantime. A call that prepares a claim waits for a call that
// unprepares it. A restart loses only calls and timers: the checkpoint file and the container
// runtime remember the rest.
#ifndef DRASIM_SIM_DRA_API_DRA_MANAGER_H_
#define DRASIM_SIM_DRA_API_DRA_MANAGER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "model/distributions.h"
#include "model/ids.h"
#include "model/kube/name.h"
#include "model/kube/node_set.h"
#include "model/kube/objects.h"
#include "model/random.h"
#include "model/time.h"
#include "policies/framework/claim_driver.h"
#include "sim/dra/api/api_network.h"
#include "sim/dra/api/claim_journal.h"
#include "sim/dra/api/dra_release.h"

namespace drasim {

// Runs the containers of pods.
class PodRunner {
 public:
  virtual ~PodRunner() = default;
  // All claims are prepared and the containers start.
  virtual void PodStarted(const Pod& pod) = 0;
  // The pod's end has been reported, unless the pod is gone (deleted by force), and its devices are
  // unprepared. Called once for every pod bound to an existing node, whether or not it started.
  virtual void PodEnded(const Pod& pod) = 0;
};

struct DraManagerOptions {
  DraBehaviour behaviour;
  // Delay before a failed unprepare is retried; in 1.26 also before a failed prepare.
  SimDuration retry = SimDuration::Seconds(10);
  // Delay before a failed prepare is retried, from 1.27 on.
  SimDuration prepare_retry = SimDuration::Seconds(60);
  // Running pods work on for so long after their deletion.
  SimDuration grace_period;
  double retry_jitter = 0.5;  // largest addition to the delay, as a share of it
  // Seconds of one gRPC call to a plugin, in addition to the driver's own PrepareTime.
  std::optional<Distribution> grpc_latency;
  // Share of prepare and unprepare calls that fail and are retried.
  int64_t failures_per_mille = 0;
  uint64_t seed = 0;
  ClaimJournal* journal = nullptr;  // hears of prepared claims; null: nobody
};

class DraManager : public Actor {
 public:
  static constexpr uint32_t kWatches = WatchBit(ObjectKind::kPod);

  // Plugins by the names of their drivers; they must outlive it.
  DraManager(std::vector<NodePlugin*> drivers, const DraManagerOptions& options, PodRunner* runner);
  ~DraManager() override;
  void Start(ApiClient* client);

  // The containers of a started pod have ended on their own. May be called from within PodStarted.
  // Does nothing for a pod that is not running, for example one that is being stopped.
  void WorkDone(Uid pod, bool failed);
  // The node is gone with everything on it. Pods bound to it later start normally.
  void NodeLost(NodeId node);

  // Faults of a driver's plugins. Gone from these nodes until then: calls under way there fail, and
  // further ones find no plugin. O(pods).
  void PluginDown(absl::string_view driver, const NodeSet& nodes, SimTime until);
  // The next calls that prepare claims fail.
  void FailPrepares(absl::string_view driver, int64_t count);
  bool HasPlugin(absl::string_view driver) const;
  // True while some plugin is gone.
  bool AnyPluginDown() const;

  void OnWatch(const WatchEvent& event) override;
  void OnReply(uint64_t token, const ApiReply& reply) override { Continue(token, &reply); }
  void OnTimer(uint64_t token) override { Continue(token, nullptr); }
  void OnRestart() override;

  // True from the runner's PodStarted until the pod's end.
  bool IsRunning(Uid pod) const;
  // True while any call to a plugin is in progress. O(pods).
  bool CallsPlugins() const;
  // Claims prepared on the node. For checks. O(claims that pods of all nodes refer to).
  size_t prepared_claims(NodeId node) const;
  // Failed attempts to prepare a pod's claims, for any reason (events
  // FailedPrepareDynamicResources).
  uint64_t failed_prepares() const { return failed_prepares_; }
  // True when nothing is in progress or due for a retry. Pods may be running.
  bool idle() const { return operations_.empty(); }

  // For checkpoints (plane_archive.h).
  template <typename Archive, typename Self>
  static void Fields(Archive& archive, Self& self);

 private:
  struct PodState;
  // A claim used by pods of one node.
  struct NodeClaim {
    std::vector<Uid> users;  // in the order of their references
    bool prepared = false;
    bool touched = false;      // some plugin has worked on it
    bool unpreparing = false;  // a call is in progress
    SimTime unprepared_at;     // end of that call
    template <typename Archive, typename Self>
    static void Fields(Archive& a, Self& c) {
      a(c.users, c.prepared, c.touched, c.unpreparing, c.unprepared_at);
    }
  };
  using NodeClaimKey = std::pair<NodeId, Uid>;
  // A driver's plugins are gone from these nodes.
  struct Outage {
    std::string driver;
    NodeSet nodes;
    SimTime until;
    template <typename Archive, typename Self>
    static void Fields(Archive& a, Self& o) {
      a(o.driver, o.nodes, o.until);
    }
  };
  bool IsDown(absl::string_view driver, NodeId node) const;

  void Begin(const Ref<Pod>& pod);
  // The end of a call or a timer of the pod; null: a timer.
  void Continue(uint64_t token, const ApiReply* reply);
  void Stop(PodState& state);
  // Waits for the end of the grace period.
  void Terminate(PodState& state);
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
  // Ends the pod's work here; the state may be destroyed.
  void Retire(PodState& state);

  // The calls that prepare or unprepare these claims.
  void PlanCalls(const std::vector<Ref<ResourceClaim>>& claims, PodState& state) const;
  // False: no such plugin.
  bool StartCall(PodState& state);
  void TellFailedCall(const PodState& state, absl::string_view reason) const;
  void DropReference(PodState& state, Uid claim);
  // A claim that the pod refers to.
  NodeClaim& There(const PodState& state, Uid claim);
  std::optional<ApiReply> Call(PodState& state, ApiRequest request);
  std::optional<ApiReply> PatchPhase(PodState& state, KubePodPhase phase);
  void Arm(PodState& state, SimDuration after);
  // True when the pod has anything in progress.
  void Expect(PodState& state, uint64_t token);
  void Cancel(PodState& state);
  SimDuration Jittered(SimDuration delay);
  SimDuration PrepareRetryDelay();
  NodePlugin* FindDriver(Name name) const;
  PodState* FindState(Uid pod) const;

  std::vector<NodePlugin*> drivers_;
  DraManagerOptions options_;
  PodRunner* runner_;
  Random draws_;
  ApiClient* client_ = nullptr;
  absl::flat_hash_map<Uid, std::unique_ptr<PodState>> pods_;
  absl::flat_hash_map<NodeClaimKey, NodeClaim> claims_;
  // Calls and timers in progress, by token.
  absl::flat_hash_map<uint64_t, Uid> operations_;
  uint64_t next_token_ = 1;
  uint64_t failed_prepares_ = 0;
  std::vector<Outage> outages_;                              // some may be over
  absl::flat_hash_map<std::string, int64_t> failures_left_;  // calls to fail, by driver
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_API_DRA_MANAGER_H_
