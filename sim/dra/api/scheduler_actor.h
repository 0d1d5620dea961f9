// SchedulerActor: the scheduler as a component of the control plane, with its API client, and the
// engine's plugin DynamicResources.
//
// The verdicts and API calls of a cycle come from DraRules (dra_rules.h), those of classic or of
// structured DRA. This class connects them to the engine as a plugin of the profile, and to the
// network as the actor of the client "scheduler". It keeps the cycle in progress of each pod. A
// step whose calls take time returns kWait, and the engine calls it again on the last reply
// (PodControl::ResumeStep). PostFilter, and with some rules Reserve and Unreserve, block the single
// scheduling thread in the meantime.
//
// Binding uses the same client (POST pods/binding), so the default binder must cost nothing.
#ifndef DRASIM_SIM_DRA_API_SCHEDULER_ACTOR_H_
#define DRASIM_SIM_DRA_API_SCHEDULER_ACTOR_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "policies/framework/plugin.h"
#include "sim/core/node_agent.h"
#include "sim/dra/api/api_network.h"
#include "sim/dra/api/dra_release.h"
#include "sim/dra/api/dra_rules.h"
#include "sim/dra/api/gang_claims.h"
#include "sim/dra/api/network_clock.h"
#include "sim/dra/api/pod_objects.h"
#include "sim/dra/api/scheduler_reports.h"

namespace drasim {

class SchedulerActor : public PreEnqueuePlugin,
                       public PreFilterPlugin,
                       public FilterPlugin,
                       public NodeRestrictionPlugin,
                       public PostFilterPlugin,
                       public ReservePlugin,
                       public PreBindPlugin,
                       public BindPlugin,
                       public PostBindPlugin,
                       public ScorePlugin,
                       public Actor {
 public:
  // `behaviour`: of the names of claims. `gang_timeout`: see ControlPlaneOptions.
  SchedulerActor(std::unique_ptr<DraRules> rules, const DraBehaviour& behaviour,
                 SimDuration gang_timeout, uint64_t seed, PodObjects* pods, NetworkClock* clock);
  // The kinds that its client watches.
  uint32_t watches() const {
    return WatchBit(ObjectKind::kPod) | WatchBit(ObjectKind::kResourceClaim) | rules_->watches();
  }
  // Call once, before anything else. `engine` is notified of findings by the network's handlers.
  void Start(ApiClient* client, PodControl* engine);
  // Turns on reports of attempts to users.
  void set_reports(SchedulerReports* reports) { reports_ = reports; }
  const SchedulerReports* reports() const { return reports_; }
  // Reports it when the calls of its PostFilter or Unreserve have been answered.
  void AttemptFailed(const FailedAttempt& attempt, SimTime now);

  // Plugin
  absl::string_view name() const override { return "DynamicResources"; }
  std::vector<Reason> reasons() const override;
  void Filter(const PodContext&, const ClusterState&, absl::Span<const NodeId>,
              absl::Span<ReasonIndex>) const override {}
  uint32_t requeue_events() const override { return kNodeAdded | kClaimChanged; }
  bool SkipsBackoff(PodId pod, SimTime now) override;
  StepResult PreEnqueue(const PodContext& pod) override;
  StepResult PreFilter(const PodContext& pod, const ClusterState& cluster) override;
  NodeRestriction Restriction(const PodContext& pod) override;
  ReasonIndex WhyRestricted(const PodContext& pod, NodeId node) override;
  PostFilterResult PostFilter(const PodContext& pod, PostFilterHandle& handle) override;
  void ListFeasible(const PodContext& pod, absl::Span<const NodeId> feasible) override;
  Reach score_reach() const override { return Reach::kCluster; }
  Normalize normalize(const ClusterState&) const override { return Normalize::kGeneral; }
  void Score(const PodContext& pod, const ClusterState&, absl::Span<const NodeId> nodes,
             absl::Span<int64_t> scores) override;
  void NormalizeScore(absl::Span<const NodeId>, absl::Span<int64_t> scores) const override {
    rules_->NormalizeScore(scores);
  }
  StepResult Reserve(const PodContext& pod, const ClusterState& cluster, NodeId node) override;
  void Unreserve(const PodContext& pod, const ClusterState& cluster, NodeId node) override;
  StepResult PreBind(const PodContext& pod, const ClusterState& cluster, NodeId node) override;
  StepResult Bind(const PodContext& pod, const ClusterState& cluster, NodeId node) override;
  void PostBind(const PodContext& pod, const ClusterState& cluster, NodeId node) override;

  // Actor
  void OnWatch(const WatchEvent& event) override;
  void OnReply(uint64_t token, const ApiReply& reply) override;
  void OnTimer(uint64_t token) override;
  // Its process is down until OnRestart: no attempt begins.
  void GoDown();
  const GangClaims& gangs() const { return gangs_; }
  ClientId client() const { return client_->id(); }
  // Calls in progress and their replies are lost; all waiting pods are tried again.
  void OnRestart() override;

  const DraRules& rules() const { return *rules_; }
  // Whether it takes part in Score; otherwise all of its scores are 0.
  bool scores() const { return traits_.scores; }
  int64_t score_weight() const { return traits_.score_weight; }
  std::optional<DraRules::PolicyCounts> policy_counts() const { return rules_->policy_counts(); }
  // Cycles with a step that waits for a reply, or between PreFilter and PostBind.
  size_t cycles() const { return cycles_.size(); }
  uint64_t attempts() const { return attempts_; }  // started cycles
  // See NodeAgent. O(cleared_).
  bool RetryMayHelp() const;

  // For checkpoints (plane_archive.h).
  template <typename Archive, typename Self>
  static void Fields(Archive& archive, Self& self);

 private:
  struct Attempt {
    std::unique_ptr<DraRules::Cycle> cycle;
    PodId pod;
    DraRules::Status result;  // of the latest step, with `done`
    bool waits = false;       // for a reply or a timer
    bool done = false;        // the step has ended: `result` is its result
    bool blocks = false;      // the scheduling thread
    bool abandoned = false;   // its result is not awaited
    bool binding = false;     // the reply is to POST pods/binding
    bool sent_again = false;  // that call was repeated, after a restart
    bool lost = false;        // forgotten in a restart
    NodeId node;              // Bind's argument
    // To be reported when its calls have been answered.
    std::optional<FailedAttempt> report;
    // The start was cancelled: its reservations are being released, and the pod is not tried until
    // then.
    bool undoes = false;
    // Results of Reserve, PreBind and Bind. A reply for one pod of a gang makes the engine call the
    // step again for all of its pods.
    std::array<std::optional<StepResult>, 3> answers;
    template <typename Archive, typename Self>
    static void Fields(Archive& a, Self& x) {
      a(x.pod, x.result, x.waits, x.done, x.blocks, x.abandoned, x.binding, x.sent_again, x.lost,
        x.node, x.report, x.undoes, x.answers);
    }
  };

  Attempt* Find(PodId pod);
  // The attempt of a pod that needs devices; null: it has none, or needs none.
  Attempt* FindWithClaims(PodId pod);
  void Forget(PodId pod);
  // Translates a step's status for the engine.
  StepResult Answer(PodId pod, Attempt* attempt, DraRules::Status status, bool blocks,
                    std::optional<StepResult>* keep);
  // The answer to a step of the attempt that began earlier; absent if the step has yet to begin.
  std::optional<StepResult> EarlierAnswer(PodId pod, Attempt* attempt,
                                          std::optional<StepResult>* keep);
  // The attempt waits for a reply, and with `blocks` the scheduling thread with it.
  void Await(Attempt* attempt, bool blocks);
  void Background(Attempt* attempt, const DraRules::Status& status, bool blocks);
  ApiRequest BindingOf(const Attempt& attempt) const;
  DraRules::Status AfterBinding(const Attempt& attempt, const ApiReply& reply) const;
  // The step in progress goes on: a reply, or (null) a timer.
  void Continue(uint64_t token, const ApiReply* reply);
  // The step in progress has ended.
  void EndStep(uint64_t token, DraRules::Status status);
  void Report(const FailedAttempt& attempt);
  void ReportBinding(const PodContext& pod);
  void HoldBack(Attempt* attempt);
  void LetGo(PodId pod);
  void IndexUser(const Pod& pod, bool uses);
  void OnClaim(const WatchEvent& event);
  void OnContext(const WatchEvent& event);
  void OnPod(const WatchEvent& event);
  void Hint(PodId pod, DraRules::Hint hint);
  // True when, as in upstream, a pod is woken by a change of its own reservation. Without a rate
  // limit nothing would slow down the resulting loop.
  bool WakesItself() const;
  bool IsPending(PodId pod) const;
  // The parts of Fields that concern the rules and their cycles.
  template <typename Archive, typename Self>
  static void RuleFields(Archive& archive, Self& self);
  // The part of Fields that concerns wakes_: those of the present instant, others count as none.
  template <typename Archive, typename Self>
  static void WakeFields(Archive& archive, Self& self);
  // Counts a wake without backoff; false after too many at this instant.
  bool CountWake(PodId pod, SimTime now);
  DraRules::Status CallFailed() const;

  DraBehaviour behaviour_;
  PodObjects* pods_;
  NetworkClock* clock_;
  GangClaims gangs_;
  ApiClient* client_ = nullptr;
  PodControl* engine_ = nullptr;
  SchedulerReports* reports_ = nullptr;
  std::unique_ptr<DraRules> rules_;
  DraRules::Traits traits_;
  uint64_t next_token_ = 1;
  absl::btree_map<uint64_t, std::unique_ptr<Attempt>> cycles_;  // by token
  absl::flat_hash_map<PodId, uint64_t> token_of_;               // the pod's present attempt
  std::vector<bool> pending_;  // by pod: its last rejection was kPending
  // Pods whose latest attempt cleared a claim in PostFilter (DraRules::HasCleared).
  absl::btree_set<PodId> cleared_;
  // Pods whose cancelled attempt still has calls in progress. As in upstream, such a pod is in no
  // queue until its Unreserve is complete.
  struct HeldBack {
    uint32_t attempts = 0;
    bool turned_away = false;  // has been tried in the meantime
    template <typename Archive, typename Self>
    static void Fields(Archive& a, Self& h) {
      a(h.attempts, h.turned_away);
    }
  };
  absl::flat_hash_map<PodId, HeldBack> held_back_;
  struct Wakes {
    SimTime at;
    uint32_t count = 0;
  };
  std::vector<Wakes> wakes_;  // by pod: wakes without backoff within one instant
  // Pods whose own reservation the present event concerns, and that it does not wake at once.
  std::vector<PodId> reservers_;
  // Pods that name a claim: (namespace, claim) -> pods in order of uid.
  absl::flat_hash_map<std::pair<Name, Name>, absl::btree_set<std::pair<Uid, PodId>>> users_;
  uint64_t attempts_ = 0;
  bool down_ = false;
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_API_SCHEDULER_ACTOR_H_
