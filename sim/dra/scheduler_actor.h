// The scheduler as a component of the control plane: its client of the API server, and the engine's
// plugin DynamicResources.
//
// The verdicts and API calls of a cycle are those of DynamicResources (dynamic_resources.h),
// upstream's plugin. This class connects it: to the engine as a plugin of the profile, to the
// network as the actor behind the client "scheduler". For each pod it keeps the cycle under way; a
// step whose calls take time answers kWait, and the engine calls it again when the last reply has
// come (PodControl::ResumeStep). Until release 1.29 PostFilter, Reserve and Unreserve block the one
// scheduling thread meanwhile.
//
// Binding uses the same client (POST pods/binding), so the default binder must cost nothing.
#ifndef DRASIM_SIM_DRA_SCHEDULER_ACTOR_H_
#define DRASIM_SIM_DRA_SCHEDULER_ACTOR_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/types/optional.h"
#include "policies/framework/plugin.h"
#include "sim/core/node_agent.h"
#include "sim/dra/api_network.h"
#include "sim/dra/dynamic_resources.h"
#include "sim/dra/gang_claims.h"
#include "sim/dra/network_clock.h"
#include "sim/dra/pod_objects.h"
#include "sim/dra/scheduler_reports.h"

namespace drasim {

class SchedulerActor : public Plugin, public Actor {
 public:
  static constexpr uint32_t kWatches =
      WatchBit(ObjectKind::kPod) | WatchBit(ObjectKind::kResourceClass) |
      WatchBit(ObjectKind::kResourceClaim) | WatchBit(ObjectKind::kPodSchedulingContext);

  // `gang_timeout`: see ControlPlaneOptions.
  SchedulerActor(const DraBehaviour& behaviour, SimDuration gang_timeout, uint64_t seed,
                 PodObjects* pods, NetworkClock* clock);
  // Before anything else, once. `engine` is told when the network's handlers find something.
  void Start(ApiClient* client, PodControl* engine);
  // Attempts are reported to users from now on.
  void set_reports(SchedulerReports* reports) { reports_ = reports; }
  const SchedulerReports* reports() const { return reports_; }
  // Reports it, as soon as the calls of its PostFilter or Unreserve have been answered.
  void AttemptFailed(const FailedAttempt& attempt, SimTime now);

  // Plugin
  absl::string_view name() const override { return "DynamicResources"; }
  uint32_t points() const override;
  std::vector<Reason> reasons() const override;
  void Filter(const PodContext&, const ClusterState&, absl::Span<const NodeId>,
              absl::Span<ReasonIndex>) const override {}
  uint32_t requeue_events() const override { return kNodeAdded | kClaimChanged; }
  bool SkipsBackoff(PodId pod, SimTime now) override;
  bool PreEnqueue(const PodContext& pod) override;
  StepResult PreFilter(const PodContext& pod, const ClusterState& cluster) override;
  NodeRestriction Restriction(const PodContext& pod) override;
  ReasonIndex WhyRestricted(const PodContext& pod, NodeId node) override;
  PostFilterResult PostFilter(const PodContext& pod, PostFilterHandle& handle) override;
  void PreScore(const PodContext& pod, absl::Span<const NodeId> feasible) override;
  StepResult Reserve(const PodContext& pod, const ClusterState& cluster, NodeId node) override;
  void Unreserve(const PodContext& pod, const ClusterState& cluster, NodeId node) override;
  StepResult PreBind(const PodContext& pod, const ClusterState& cluster, NodeId node) override;
  StepResult Bind(const PodContext& pod, const ClusterState& cluster, NodeId node) override;
  void PostBind(const PodContext& pod, const ClusterState& cluster, NodeId node) override;

  // Actor
  void OnWatch(const WatchEvent& event) override;
  void OnReply(uint64_t token, const ApiReply& reply) override;
  void OnTimer(uint64_t token) override { gangs_.OnTimer(token); }
  // Its process is gone until OnRestart: no attempt begins.
  void GoDown();
  const GangClaims& gangs() const { return gangs_; }
  ClientId client() const { return client_->id(); }
  // Calls under way are lost with their replies; all pods that wait are tried again.
  void OnRestart() override;

  const DynamicResources& rules() const { return *rules_; }
  // Cycles of which a step waits for a reply, or that are between PreFilter and PostBind.
  size_t cycles() const { return cycles_.size(); }
  uint64_t attempts() const { return attempts_; }  // cycles begun

 private:
  struct Attempt {
    DynamicResources::Cycle cycle;
    PodId pod;
    bool waits = false;       // for a reply
    bool done = false;        // the reply was there: `cycle.result` is the step's answer
    bool blocks = false;      // the scheduling thread
    bool abandoned = false;   // nobody will ask for the answer
    bool binding = false;     // the reply is that of POST pods/binding
    bool sent_again = false;  // that call, after a restart
    bool lost = false;        // in a restart, with what it knew
    NodeId node;              // that Bind was called with
    // To be reported when its calls have been answered.
    std::optional<FailedAttempt> report;
    // The start was taken back: what is reserved is given back, and until that is done the pod is
    // not tried again.
    bool undoes = false;
    // Results of Reserve, PreBind and Bind. A gang's steps are called for all its pods again when
    // one of them has got its reply.
    std::array<absl::optional<StepResult>, 3> answers;
  };

  Attempt* Find(PodId pod);
  void Forget(PodId pod);
  // Translates a step's status for the engine.
  StepResult Answer(PodId pod, Attempt* attempt, DynamicResources::Status status, bool blocks,
                    absl::optional<StepResult>* keep);
  void Background(Attempt* attempt, DynamicResources::Status status, bool blocks);
  ApiRequest BindingOf(const Attempt& attempt) const;
  static DynamicResources::Status AfterBinding(const Attempt& attempt, const ApiReply& reply);
  // The step under way has ended.
  void EndStep(uint64_t token, DynamicResources::Status status);
  void Report(const FailedAttempt& attempt);
  void ReportBinding(const PodContext& pod);
  void HoldBack(Attempt* attempt);
  void LetGo(PodId pod);
  void IndexUser(const Pod& pod, bool uses);
  void OnClaim(const WatchEvent& event);
  void OnContext(const WatchEvent& event);
  void OnPod(const WatchEvent& event);
  void Hint(PodId pod, DynamicResources::Hint hint);
  // Whether a pod is woken by a change of its own reservation, as upstream has it. Without a rate
  // limit nothing would slow down the loop that comes of it.
  bool WakesItself() const;
  bool IsPending(PodId pod) const;
  // One more wake without backoff; false when there have been too many at this instant.
  bool CountWake(PodId pod, SimTime now);
  ReasonIndex LocalReason(DynamicResources::Reason reason) const;

  DraBehaviour behaviour_;
  uint64_t seed_;
  PodObjects* pods_;
  NetworkClock* clock_;
  GangClaims gangs_;
  ApiClient* client_ = nullptr;
  PodControl* engine_ = nullptr;
  SchedulerReports* reports_ = nullptr;
  std::unique_ptr<DynamicResources> rules_;
  uint64_t next_token_ = 1;
  absl::btree_map<uint64_t, std::unique_ptr<Attempt>> cycles_;  // by token
  absl::flat_hash_map<PodId, uint64_t> token_of_;               // the pod's present attempt
  std::vector<bool> pending_;  // by pod: its last rejection was kPending
  // Pods of which an attempt that was taken back still has calls under way. As upstream has it, a
  // pod is in no queue until its Unreserve is through.
  struct HeldBack {
    uint32_t attempts = 0;
    bool turned_away = false;  // it has been tried meanwhile
  };
  absl::flat_hash_map<PodId, HeldBack> held_back_;
  struct Wakes {
    SimTime at;
    uint32_t count = 0;
  };
  std::vector<Wakes> wakes_;  // by pod: without backoff, within one instant
  // Pods whose own reservation the present event is about, and that it does not wake at once.
  std::vector<PodId> reservers_;
  // Pods that name a claim: (namespace, claim) -> pods in order of uid.
  absl::flat_hash_map<std::pair<Name, Name>, absl::btree_set<std::pair<Uid, PodId>>> users_;
  DynamicResources::Restriction restriction_;
  uint64_t attempts_ = 0;
  bool down_ = false;
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_SCHEDULER_ACTOR_H_
