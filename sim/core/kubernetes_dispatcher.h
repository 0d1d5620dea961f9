// kube-scheduler's way of queueing: one attempt at a time, from kube-scheduler's queue.
//
// A job of one pod is a pod in that queue; a gang is one entry, whose attempt places all its pods
// or none (as a workload's scheduling cycle does, KEP-4671). A rejected entry sleeps until an event
// for which one of its rejecting plugins is registered, then serves its backoff, then competes
// again in QueueSort order; it never blocks others.
//
// A preemptor waits outside the queue for its victims to end, and is tried first then. With
// KubeCycle it does as in Kubernetes: it goes back to the queue with a nominated node, and the
// victims' end is an event like others.
//
// A pod goes by the plugins of its own profile (profiles.h); one whose scheduler is not there stays
// outside the queue.
//
// Quotas are Kubernetes' ResourceQuota: they bind when pods are created. A job over its tenant's
// quota is outside the queue. When there is room, its jobs are admitted in order of submission,
// passing over those that are too large.
#ifndef DRASIM_SIM_CORE_KUBERNETES_DISPATCHER_H_
#define DRASIM_SIM_CORE_KUBERNETES_DISPATCHER_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/types/span.h"
#include "model/random.h"
#include "sim/core/attempt_result.h"
#include "sim/core/dispatcher.h"
#include "sim/core/kubernetes_queue.h"
#include "sim/core/profiles.h"

namespace drasim {

class KubernetesDispatcher : public Dispatcher {
 public:
  // Counts for a scheduler that shares the cluster with others (DispatchParts::room).
  struct Counts {
    uint64_t attempts = 0;   // that have ended
    uint64_t placed = 0;     // with a binding that the node admitted
    uint64_t conflicts = 0;  // with one that it turned away: another scheduler had been faster
  };

  // `seed` is for the random offset at which preemption begins to look at nodes.
  KubernetesDispatcher(DispatchParts parts, const KubernetesQueueOptions& options, uint64_t seed);

  void Add(JobId job) override;
  void Return(JobId job, SummaryId why, Comeback comeback) override;
  bool Remove(JobId job) override;
  void OnEvent(const ClusterChange& change) override;
  void OnQuotaChange() override;
  void OnEnd(JobId job) override;
  void Recheck(JobId job) override;
  void Wake(JobId job, bool at_once) override;
  // The object of the waiting job's pod was updated, in these ways. REQUIRES: a job of one pod.
  void OnPodUpdate(JobId job, absl::Span<const ClusterChange> changes);
  bool Ready() const override { return !decision_.has_value() && (queue_.CanPop() || room_made_); }
  void Dispatch() override;
  std::optional<SimTime> NextTimer() override;
  void OnTimer() override;
  bool TimerMayHelp() const override {
    return queue_.backoff() > 0 || !nominated_.empty() || decision_.has_value();
  }
  size_t waiting() const override {
    return in_line() + queue_.gated() + gated_jobs_ + held_.size();
  }
  size_t in_line() const override {
    return queue_.waiting() - queue_.gated() + nominated_.size() + (Decides() ? 1 : 0);
  }
  int64_t SmallestNeedMilli() const override;
  uint64_t queue_operations() const override { return queue_.operations(); }
  const Counts& counts() const { return counts_; }
  // The first profile's.
  const std::string& scheduler_name() const { return parts_.profile->scheduler_name(); }
  void Save(StateWriter& out) const override;
  absl::Status Load(StateReader& in) override;

 private:
  // A preemptor that waits for its victims to end; it is tried first when the last one has.
  struct Nomination {
    JobId job;
    std::vector<JobId> victims;
    std::vector<uint32_t> runs;  // of each victim, when it was chosen
    SimTime not_before;          // when the plugin's intents have been carried out
  };

  // An attempt in progress, with DispatchParts::room: what it has found, in its view.
  struct Decision {
    QueuedPod pod;
    JobId job;
    SimTime due;
    bool cancelled = false;    // the job has been removed: deleted, or sent back to waiting
    bool moved_since = false;  // a failure: an event that may help came since
    std::optional<Placer::Failure> failure;
    std::vector<NodeId> nodes;  // of the job's pods; without a failure
    AttemptResult attempt;
    std::vector<uint32_t> victim_runs;  // beside its victims
  };

  bool Decides() const { return decision_.has_value() && !decision_->cancelled; }
  void Decide(const QueuedPod& pod);
  void CarryOut();
  void BindDecided(const Decision& decision);
  uint64_t RejectorsOf(const AttemptResult& attempt, JobId job) const;
  void NoteConcerned(ClusterEvent event);
  bool Helps(const ClusterChange& change, ShapeId shape, uint64_t rejectors);
  void SaveDecision(StateWriter& out) const;
  void LoadDecision(StateReader& in);
  void Enqueue(JobId job);
  bool PassesPreEnqueue(JobId job);
  bool SkipsBackoff(ClusterEvent event, PodId pod);
  PodContext ContextOf(PodId pod) const;
  void Admit(TenantId tenant);
  void Attempt(const QueuedPod& pod);
  // True when a plugin did something for the job.
  bool RunPostFilter(const QueuedPod& pod, JobId job, const Placer::Failure& failure);
  // The end of a failed attempt of KubeCycle, which has asked PostFilter already.
  void EndKubeAttempt(const QueuedPod& pod, JobId job, const Placer::Failure& failure,
                      const AttemptResult& attempt, bool moved_since);
  void ClearNomination(JobId job);
  bool TryNominated();
  bool IsGone(JobId victim, uint32_t runs) const;
  void GiveBack(const QueuedPod& pod, const Placer::Failure& failure, bool moved_since);
  // The place of the job's profile. REQUIRES: it has one.
  size_t ProfileOf(JobId job);
  uint64_t RejectorsOf(JobId job, SummaryId why);
  void CountNeed(JobId job, int sign);
  QueuedPod EntryOf(JobId job) const;

  DispatchParts parts_;
  Profiles profiles_;
  KubernetesQueue queue_;
  // Events, by profile and beside its requeues().
  std::vector<std::vector<uint32_t>> registered_;
  std::vector<uint64_t> concerned_;  // by the event at hand, as bits; by profile
  bool hints_;                       // KubernetesQueueOptions::queueing_hints
  // Admitted, but PreEnqueue has not let them in yet, or no profile is theirs.
  absl::btree_set<JobId> held_;
  Random offsets_;
  std::vector<std::vector<uint64_t>> rejectors_;  // by profile and summary; 0: not looked up
  std::vector<std::deque<JobId>> gated_;          // by tenant: over quota, in order of submission
  size_t gated_jobs_ = 0;
  std::vector<ResourceAmounts> admitted_;  // by tenant: what its created pods ask for
  std::vector<bool> is_admitted_;          // by job
  std::vector<Nomination> nominated_;
  std::optional<Decision> decision_;
  Counts counts_;
  bool room_made_ = false;                   // a nominated job's victims may be gone
  absl::btree_map<int64_t, int64_t> needs_;  // GPU milli of waiting jobs -> how many
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_KUBERNETES_DISPATCHER_H_
