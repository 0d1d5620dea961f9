#include "sim/core/kubernetes_dispatcher.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "model/check.h"
#include "model/status_macros.h"
#include "model/time.h"
#include "policies/framework/requeue_hints.h"
#include "sim/core/post_filter.h"

namespace drasim {
namespace {

// Stands for plugins that are not filters; any event may help against them.
constexpr uint64_t kOtherPlugin = uint64_t{1} << 63;

const QueueSortPlugin* QueueSortOf(const Profile& profile) {
  DRASIM_CHECK_EQ(profile.queue_sorts().size(), 1u);
  return profile.queue_sorts()[0];
}

}  // namespace

KubernetesDispatcher::KubernetesDispatcher(DispatchParts parts,
                                           const KubernetesQueueOptions& options, uint64_t seed)
    : parts_(parts),
      profiles_(parts.profiles == nullptr ? Profiles(parts.profile) : *parts.profiles),
      // All profiles of a scheduler have the same order (kube-scheduler refuses others).
      queue_(QueueSortOf(*parts.profile), options),
      registered_(profiles_.size()),
      hints_(options.queueing_hints),
      offsets_(seed, "preemption/offset"),
      rejectors_(profiles_.size()) {
  bool any_gate = false;
  for (size_t i = 0; i < profiles_.size(); ++i) {
    for (const RequeuePlugin* plugin : profiles_.at(i).requeues()) {
      registered_[i].push_back(RegisteredEvents(*plugin));
    }
    any_gate |= !profiles_.at(i).pre_enqueues().empty();
  }
  if (!any_gate) return;
  queue_.set_gate([this](PodId pod) { return PassesPreEnqueue(parts_.jobs->job_of(pod)); });
}

QueuedPod KubernetesDispatcher::EntryOf(JobId job) const {
  const JobRow& row = parts_.jobs->row(job);
  QueuedPod pod;
  pod.pod = row.first_pod;
  pod.priority = row.priority;
  return pod;
}

void KubernetesDispatcher::CountNeed(JobId job, int sign) {
  const int64_t need = parts_.jobs->row(job).request.gpu_milli;
  if (need == 0) return;
  const auto it = needs_.try_emplace(need, 0).first;
  it->second += sign;
  if (it->second == 0) needs_.erase(it);
}

int64_t KubernetesDispatcher::SmallestNeedMilli() const {
  return needs_.empty() ? 0 : needs_.begin()->first;
}

void KubernetesDispatcher::Add(JobId job) {
  CountNeed(job, +1);
  if (is_admitted_.size() <= job.value()) is_admitted_.resize(parts_.jobs->size());
  if (parts_.quotas->empty() || is_admitted_[job.value()]) return Enqueue(job);
  const TenantId tenant = parts_.jobs->row(job).tenant;
  if (gated_.size() <= tenant.value()) {
    gated_.resize(parts_.jobs->tenant_count());
    admitted_.resize(parts_.jobs->tenant_count());
  }
  gated_[tenant.value()].push_back(job);
  ++gated_jobs_;
  Admit(tenant);
}

PodContext KubernetesDispatcher::ContextOf(PodId pod) const {
  return {parts_.cluster->pod_shape_id(pod), &parts_.cluster->pod_shape(pod), pod,
          parts_.control->now()};
}

size_t KubernetesDispatcher::ProfileOf(JobId job) {
  const PodId pod = parts_.jobs->row(job).first_pod;
  const std::optional<size_t> profile = profiles_.IndexOf(parts_.cluster->pod_shape_id(pod));
  DRASIM_CHECK(profile.has_value());
  return *profile;
}

bool KubernetesDispatcher::PassesPreEnqueue(JobId job) {
  const JobRow& row = parts_.jobs->row(job);
  for (uint32_t i = 0; i < row.pods; ++i) {
    const PodId pod(row.first_pod.value() + i);
    if (profiles_.Of(parts_.cluster->pod_shape_id(pod)) == nullptr) return false;
  }
  for (PreEnqueuePlugin* plugin : profiles_.at(ProfileOf(job)).pre_enqueues()) {
    for (uint32_t i = 0; i < row.pods; ++i) {
      const PodContext pod = ContextOf(PodId(row.first_pod.value() + i));
      if (plugin->PreEnqueue(pod).code != StepCode::kSuccess) return false;
    }
  }
  return true;
}

void KubernetesDispatcher::Recheck(JobId job) {
  if (held_.erase(job) > 0) return Enqueue(job);
  queue_.Recheck(parts_.jobs->row(job).first_pod, parts_.control->now());
}

void KubernetesDispatcher::Wake(JobId job, bool at_once) {
  const PodId pod = parts_.jobs->row(job).first_pod;
  if (at_once) {
    queue_.Activate(pod, parts_.control->now());
  } else {
    queue_.OnPodEvent(pod, parts_.control->now());
  }
}

void KubernetesDispatcher::Enqueue(JobId job) {
  const JobRow& row = parts_.jobs->row(job);
  if (!PassesPreEnqueue(job)) {
    held_.insert(job);
    return;
  }
  // Recreated pods are new pods, without a history.
  queue_.Forget(row.first_pod);
  ClearNomination(job);
  queue_.Add(row.first_pod, parts_.cluster->pod_shape_id(row.first_pod), row.priority,
             parts_.control->now());
}

// Admits the tenant's pods within its quota, in order of submission.
void KubernetesDispatcher::Admit(TenantId tenant) {
  if (gated_.size() <= tenant.value()) return;
  std::deque<JobId>& line = gated_[tenant.value()];
  ResourceAmounts& held = admitted_[tenant.value()];
  std::deque<JobId> still;
  for (JobId job : line) {
    const JobRow& row = parts_.jobs->row(job);
    if (!parts_.quotas->Allows(parts_.jobs->tenant_name(tenant), parts_.control->now(), held,
                               row.request)) {
      still.push_back(job);
      continue;
    }
    held.Add(row.request, 1);
    is_admitted_[job.value()] = true;
    --gated_jobs_;
    Enqueue(job);
  }
  line = std::move(still);
}

void KubernetesDispatcher::OnQuotaChange() {
  for (size_t t = 0; t < gated_.size(); ++t) Admit(TenantId(t));
}

void KubernetesDispatcher::OnEnd(JobId job) {
  const JobRow& row = parts_.jobs->row(job);
  queue_.Forget(row.first_pod);
  ClearNomination(job);
  if (job.value() < is_admitted_.size() && is_admitted_[job.value()]) {
    is_admitted_[job.value()] = false;
    admitted_[row.tenant.value()].Add(row.request, -1);
  }
  if (gated_jobs_ > 0) Admit(row.tenant);
}

bool KubernetesDispatcher::Remove(JobId job) {
  const TenantId tenant = parts_.jobs->row(job).tenant;
  const auto nominated = std::find_if(nominated_.begin(), nominated_.end(),
                                      [job](const Nomination& n) { return n.job == job; });
  bool found = true;
  if (gated_jobs_ > 0 && tenant.value() < gated_.size() &&
      std::erase(gated_[tenant.value()], job) > 0) {
    --gated_jobs_;
  } else if (nominated != nominated_.end()) {
    nominated_.erase(nominated);
  } else if (Decides() && decision_->job == job) {
    decision_->cancelled = true;
  } else if (held_.erase(job) == 0) {
    found = queue_.Remove(parts_.jobs->row(job).first_pod);
  }
  if (found) {
    CountNeed(job, -1);
    ClearNomination(job);
  }
  return found;
}

void KubernetesDispatcher::ClearNomination(JobId job) {
  if (parts_.nominator != nullptr) parts_.nominator->Clear(parts_.jobs->row(job).first_pod);
}

uint64_t KubernetesDispatcher::RejectorsOf(JobId job, SummaryId why) {
  const size_t profile = ProfileOf(job);
  std::vector<uint64_t>& known = rejectors_[profile];
  if (known.size() <= why.value()) known.resize(parts_.summaries->size());
  uint64_t& rejectors = known[why.value()];
  if (rejectors == 0) {
    rejectors = profiles_.RejectorsOf(profile, parts_.summaries->row(why));
    if (rejectors == 0) rejectors = kOtherPlugin;
  }
  return rejectors;
}

void KubernetesDispatcher::GiveBack(const QueuedPod& pod, const Placer::Failure& failure,
                                    bool moved_since) {
  // An event for any pod of a gang may help, not only for the one that failed.
  const JobId job = parts_.jobs->job_of(pod.pod);
  const bool gang = parts_.jobs->row(job).pods > 1;
  queue_.Return(pod, parts_.cluster->pod_shape_id(failure.pod),
                gang ? kOtherPlugin : RejectorsOf(job, failure.why), moved_since,
                parts_.control->now());
}

void KubernetesDispatcher::Return(JobId job, SummaryId why, Comeback comeback) {
  CountNeed(job, +1);
  const QueuedPod pod = EntryOf(job);
  const SimTime now = parts_.control->now();
  if (comeback == Comeback::kAtOnce) {
    return queue_.ReturnToActive(pod, parts_.cluster->pod_shape_id(pod.pod), RejectorsOf(job, why),
                                 now);
  }
  if (comeback == Comeback::kError) {
    return queue_.Return(pod, parts_.cluster->pod_shape_id(pod.pod), 0, false, now);
  }
  Placer::Failure failure;
  failure.pod = pod.pod;
  failure.why = why;
  GiveBack(pod, failure, comeback == Comeback::kAfterBackoff);
}

void KubernetesDispatcher::OnEvent(const ClusterChange& change) {
  room_made_ |= !nominated_.empty();
  const bool failing = Decides() && decision_->failure.has_value();
  if (queue_.unschedulable() == 0 && !failing) return;
  const SimTime now = parts_.control->now();
  ClusterChange known = change;
  // Nothing else is to be known about these: the node is new to the queue, or the pod has left.
  known.detailed |=
      parts_.nominator != nullptr &&
      (change.event == kNodeAdded || (change.event == kPodRemoved && change.pod != nullptr));
  NoteConcerned(change.event);
  const auto helps = [&](ShapeId shape, uint64_t rejectors) {
    return Helps(known, shape, rejectors);
  };
  if (failing) {
    decision_->moved_since |= helps(parts_.cluster->pod_shape_id(decision_->failure->pod),
                                    RejectorsOf(decision_->attempt, decision_->job));
  }
  queue_.OnEvent(
      helps, [&](PodId pod) { return SkipsBackoff(change.event, pod); }, now);
}

// Which plugins of each profile are registered for the event.
void KubernetesDispatcher::NoteConcerned(ClusterEvent event) {
  concerned_.assign(profiles_.size(), 0);
  for (size_t p = 0; p < profiles_.size(); ++p) {
    for (size_t i = 0; i < registered_[p].size(); ++i) {
      concerned_[p] |= static_cast<uint64_t>((registered_[p][i] & event) != 0) << i;
    }
  }
}

// Whether the change moves pods of the shape with these rejectors. REQUIRES: NoteConcerned of it.
bool KubernetesDispatcher::Helps(const ClusterChange& change, ShapeId shape, uint64_t rejectors) {
  if ((rejectors & kOtherPlugin) != 0) return true;
  const ClusterState& cluster = *parts_.cluster;
  const PodContext pod = {shape, &cluster.shapes().row(shape), PodId(), parts_.control->now()};
  const size_t p = *profiles_.IndexOf(shape);
  const uint64_t concerned = rejectors & concerned_[p];
  if (!hints_) return concerned != 0;
  const std::vector<RequeuePlugin*>& requeues = profiles_.at(p).requeues();
  for (uint64_t left = concerned; left != 0; left &= left - 1) {
    const auto i = static_cast<size_t>(std::countr_zero(left));
    if (Requeues(*requeues[i], change, pod, cluster)) return true;
  }
  return false;
}

void KubernetesDispatcher::OnPodUpdate(JobId job, absl::Span<const ClusterChange> changes) {
  Recheck(job);
  const PodId pod = parts_.jobs->row(job).first_pod;
  const ShapeId shape = parts_.cluster->pod_shape_id(pod);
  const auto helps = [&](uint64_t rejectors) {
    return std::any_of(changes.begin(), changes.end(), [&](const ClusterChange& change) {
      NoteConcerned(change.event);
      return Helps(change, shape, rejectors);
    });
  };
  queue_.OnUpdate(pod, shape, helps, parts_.control->now());
}

// A gang depends on more than its first pod.
bool KubernetesDispatcher::SkipsBackoff(ClusterEvent event, PodId pod) {
  const JobId job = parts_.jobs->job_of(pod);
  if (parts_.jobs->row(job).pods > 1) return false;
  for (NodeRestrictionPlugin* plugin : profiles_.at(ProfileOf(job)).restrictions()) {
    if ((plugin->requeue_events() & event) != 0 &&
        plugin->SkipsBackoff(pod, parts_.control->now())) {
      return true;
    }
  }
  return false;
}

void KubernetesDispatcher::Dispatch() {
  if (room_made_ && TryNominated()) return;
  if (queue_.CanPop()) Attempt(queue_.Pop(parts_.control->now()));
}

void KubernetesDispatcher::Attempt(const QueuedPod& pod) {
  if (parts_.room != nullptr) return Decide(pod);
  const JobId job = parts_.jobs->job_of(pod.pod);
  const auto failure = parts_.placer->Place(job, parts_.control->now());
  if (const int64_t waits = parts_.placer->extender_waits(); waits > 0) {
    parts_.control->AttemptWaited(SimDuration(parts_.extender_latency.ns() * waits));
  }
  if (!failure.has_value()) {
    CountNeed(job, -1);
    ClearNomination(job);
    return parts_.control->StartPlaced(job);
  }
  parts_.control->RecordFailure(job, *failure);
  if (parts_.nominator != nullptr) {
    // A copy, because evictions may lead to other attempts.
    const AttemptResult attempt = parts_.placer->kube_attempt();
    return EndKubeAttempt(pod, job, *failure, attempt, /*moved_since=*/false);
  }
  if (!parts_.profile->post_filters().empty() && RunPostFilter(pod, job, *failure)) return;
  GiveBack(pod, *failure, false);
  parts_.control->EndFailedAttempt(*failure, NodeId());
}

bool KubernetesDispatcher::RunPostFilter(const QueuedPod& pod, JobId job,
                                         const Placer::Failure& failure) {
  const std::vector<PostFilterPlugin*>& plugins = parts_.profile->post_filters();
  const auto may_help = [&](const PostFilterPlugin* plugin) {
    return plugin->PostFilterMayHelp(pod.priority, *parts_.jobs);
  };
  if (std::none_of(plugins.begin(), plugins.end(), may_help)) return false;
  // A gang's pods would need room on several nodes at once, which no upstream plugin looks for.
  if (parts_.jobs->row(job).pods > 1 || !failure.nodes_looked_at) return false;
  const PodContext context = ContextOf(pod.pod);
  for (PostFilterPlugin* plugin : plugins) {
    if (!may_help(plugin)) continue;
    PostFilterResult result;
    {
      PostFilterTrial trial(context, *parts_.profile, parts_.cycle, *parts_.jobs, parts_.cluster,
                            parts_.control, &offsets_);
      result = plugin->PostFilter(context, trial);
    }
    if (result.code == StepCode::kPending) {
      GiveBack(pod, failure, false);
      parts_.control->EndFailedAttempt(failure, NodeId());
      return true;
    }
    if (result.code == StepCode::kUnresolvable || result.code == StepCode::kError) break;
    if (result.code != StepCode::kSuccess) continue;
    Nomination nomination;
    nomination.job = job;
    nomination.not_before = parts_.control->now();
    for (const Intent& intent : result.intents) {
      nomination.not_before = nomination.not_before + intent.latency;
    }
    for (PodId victim : result.victims) {
      const JobId owner = parts_.jobs->job_of(victim);
      const auto& known = nomination.victims;
      if (std::find(known.begin(), known.end(), owner) != known.end()) continue;
      nomination.victims.push_back(owner);
      nomination.runs.push_back(parts_.jobs->row(owner).runs);
    }
    // There is nothing to wait for: the next attempt would fail in the same way.
    if (nomination.victims.empty() && nomination.not_before <= parts_.control->now()) continue;
    nominated_.push_back(nomination);
    room_made_ = true;
    const std::vector<JobId> victims = nomination.victims;
    for (JobId victim : victims) {
      parts_.control->Evict(victim, EvictionCause::kPreempted, job);
    }
    parts_.control->EndFailedAttempt(failure, result.nominated);
    // Without a grace period the victims are gone already.
    TryNominated();
    return true;
  }
  return false;
}

// --- Several schedulers ---

void KubernetesDispatcher::Decide(const QueuedPod& pod) {
  const SimTime now = parts_.control->now();
  Decision decision;
  decision.pod = pod;
  decision.job = parts_.jobs->job_of(pod.pod);
  decision.due = now + parts_.decision_latency;
  const JobRow& row = parts_.jobs->row(decision.job);
  // The choice must not be visible before the pods are bound.
  parts_.cluster->BeginWhatIf();
  decision.failure = parts_.placer->Place(decision.job, now);
  for (uint32_t i = 0; i < row.pods && !decision.failure.has_value(); ++i) {
    decision.nodes.push_back(parts_.cluster->pod_node(PodId(row.first_pod.value() + i)));
  }
  parts_.cluster->Rollback();
  decision.attempt = parts_.placer->kube_attempt();
  for (const PodId victim : decision.attempt.post_filter.victims) {
    decision.victim_runs.push_back(parts_.jobs->row(parts_.jobs->job_of(victim)).runs);
  }
  decision_ = std::move(decision);
  if (parts_.decision_latency <= SimDuration()) CarryOut();
}

void KubernetesDispatcher::CarryOut() {
  Decision decision = *std::move(decision_);
  decision_.reset();
  ++counts_.attempts;
  if (decision.cancelled) return;
  if (!decision.failure.has_value()) return BindDecided(decision);
  std::vector<PodId> there;
  const std::vector<PodId>& victims = decision.attempt.post_filter.victims;
  for (size_t i = 0; i < victims.size(); ++i) {
    const JobRow& row = parts_.jobs->row(parts_.jobs->job_of(victims[i]));
    const bool runs = row.state == JobState::kRunning || row.state == JobState::kStarting;
    if (runs && row.runs == decision.victim_runs[i]) there.push_back(victims[i]);
  }
  decision.attempt.post_filter.victims = std::move(there);
  parts_.control->RecordFailure(decision.job, *decision.failure);
  EndKubeAttempt(decision.pod, decision.job, *decision.failure, decision.attempt,
                 decision.moved_since);
}

void KubernetesDispatcher::BindDecided(const Decision& decision) {
  ClusterState& cluster = *parts_.cluster;
  const JobId job = decision.job;
  const PodId first = parts_.jobs->row(job).first_pod;
  const bool lost = std::any_of(decision.nodes.begin(), decision.nodes.end(),
                                [&](NodeId node) { return !cluster.node(node).available; });
  if (lost) {
    const Placer::Failure failure = parts_.placer->WithoutVerdict(first);
    parts_.control->RecordFailure(job, failure);
    queue_.Return(decision.pod, cluster.pod_shape_id(first), 0, false, parts_.control->now());
    return parts_.control->EndFailedAttempt(failure, NodeId());
  }
  AdmissionFailure conflict = AdmissionFailure::kNone;
  cluster.BeginWhatIf();
  for (size_t i = 0; i < decision.nodes.size(); ++i) {
    const PodContext pod = ContextOf(PodId(first.value() + i));
    conflict = parts_.room->Ask(pod, *profiles_.Of(pod.shape_id), cluster, decision.nodes[i]);
    if (conflict != AdmissionFailure::kNone) break;
    parts_.placer->AssumeOn(pod, decision.nodes[i]);
  }
  CountNeed(job, -1);
  ClearNomination(job);
  if (conflict == AdmissionFailure::kNone) {
    cluster.KeepWhatIf();
    ++counts_.placed;
    return parts_.control->StartPlaced(job);
  }
  cluster.Rollback();
  ++counts_.conflicts;
  parts_.control->TurnAway(job, decision.nodes, conflict);
}

uint64_t KubernetesDispatcher::RejectorsOf(const AttemptResult& attempt, JobId job) const {
  // An event for any pod of a gang may help; and any event after extenders rejected nodes, or if
  // there were none at all.
  const bool gang = parts_.jobs->row(job).pods > 1;
  if (gang || attempt.rejectors == 0 || attempt.by_extender) return kOtherPlugin;
  return attempt.rejectors;
}

void KubernetesDispatcher::EndKubeAttempt(const QueuedPod& pod, JobId job,
                                          const Placer::Failure& failure,
                                          const AttemptResult& attempt, bool moved_since) {
  const bool error = attempt.outcome == AttemptResult::Outcome::kError;
  queue_.Return(pod, parts_.cluster->pod_shape_id(failure.pod),
                error ? 0 : RejectorsOf(attempt, job), moved_since, parts_.control->now());
  const PostFilterResult& result = attempt.post_filter;
  if (result.code != StepCode::kSuccess || !result.nominated.valid()) {
    if (error || !result.keeps_nomination) ClearNomination(job);
    return parts_.control->EndFailedAttempt(failure, NodeId());
  }
  for (const PodId nominee : result.cleared_nominations) parts_.nominator->Clear(nominee);
  parts_.nominator->Nominate(pod.pod, result.nominated);
  std::vector<JobId> victims;
  for (const PodId victim : result.victims) {
    const JobId owner = parts_.jobs->job_of(victim);
    if (std::find(victims.begin(), victims.end(), owner) == victims.end()) victims.push_back(owner);
  }
  for (const JobId victim : victims) {
    parts_.control->Evict(victim, EvictionCause::kPreempted, job);
  }
  parts_.control->EndFailedAttempt(failure, result.nominated);
}

bool KubernetesDispatcher::IsGone(JobId victim, uint32_t runs) const {
  const JobRow& row = parts_.jobs->row(victim);
  // A cancelled start may have been followed by another one, which is a different start.
  return row.state != JobState::kRunning || row.runs != runs;
}

// Tries the first preemptor whose victims have all ended. False when there is none.
bool KubernetesDispatcher::TryNominated() {
  for (size_t i = 0; i < nominated_.size(); ++i) {
    bool gone = nominated_[i].not_before <= parts_.control->now();
    for (size_t v = 0; v < nominated_[i].victims.size(); ++v) {
      gone = gone && IsGone(nominated_[i].victims[v], nominated_[i].runs[v]);
    }
    if (!gone) continue;
    const JobId job = nominated_[i].job;
    nominated_.erase(nominated_.begin() + static_cast<std::ptrdiff_t>(i));
    Attempt(EntryOf(job));
    return true;
  }
  room_made_ = false;
  return false;
}

std::optional<SimTime> KubernetesDispatcher::NextTimer() {
  std::optional<SimTime> next;
  const SimTime now = parts_.control->now();
  if (queue_.NeedsBackoffTimer()) next = queue_.NextBackoffTick(now);
  if (queue_.NeedsFlushTimer()) {
    const SimTime flush = queue_.NextFlushTick(now);
    next = next.has_value() ? std::min(*next, flush) : flush;
  }
  if (decision_.has_value())
    next = next.has_value() ? std::min(*next, decision_->due) : decision_->due;
  for (const Nomination& n : nominated_) {
    if (n.not_before <= now) continue;
    next = next.has_value() ? std::min(*next, n.not_before) : n.not_before;
  }
  return next;
}

void KubernetesDispatcher::OnTimer() {
  const SimTime now = parts_.control->now();
  if (decision_.has_value() && decision_->due <= now) CarryOut();
  room_made_ |= !nominated_.empty();
  if (now.ns() % kSecondNs == 0) queue_.FlushBackoff(now);
  if (now.ns() % (30 * kSecondNs) == 0) queue_.FlushUnschedulable(now);
}

void KubernetesDispatcher::Save(StateWriter& out) const {
  out.Section("kubernetes");
  queue_.Save(out);
  offsets_.Save(out);
  out.U64(gated_.size());
  for (size_t t = 0; t < gated_.size(); ++t) {
    out.U64(gated_[t].size());
    for (JobId job : gated_[t]) out.U64(job.value());
    out.I64(admitted_[t].cpu_milli);
    out.I64(admitted_[t].memory_bytes);
    out.I64(admitted_[t].gpu_milli);
  }
  out.U64(is_admitted_.size());
  for (bool admitted : is_admitted_) out.Bool(admitted);
  out.U64(nominated_.size());
  for (const Nomination& n : nominated_) {
    out.U64(n.job.value());
    out.I64(n.not_before.ns());
    out.U64(n.victims.size());
    for (size_t i = 0; i < n.victims.size(); ++i) {
      out.U64(n.victims[i].value());
      out.U64(n.runs[i]);
    }
  }
  out.Bool(room_made_);
  if (parts_.nominator != nullptr) parts_.nominator->Save(out);
  out.U64(held_.size());
  for (JobId job : held_) out.U64(job.value());
  out.U64(needs_.size());
  for (const auto& [need, jobs] : needs_) {
    out.I64(need);
    out.I64(jobs);
  }
  if (parts_.room != nullptr) SaveDecision(out);
}

void KubernetesDispatcher::SaveDecision(StateWriter& out) const {
  out.U64(counts_.attempts);
  out.U64(counts_.placed);
  out.U64(counts_.conflicts);
  out.Bool(decision_.has_value());
  if (!decision_.has_value()) return;
  const Decision& d = *decision_;
  const auto put_pods = [&out](const std::vector<PodId>& pods) {
    out.U64(pods.size());
    for (const PodId pod : pods) out.U64(pod.value());
  };
  out.U64(d.pod.pod.value());
  out.I64(d.pod.priority);
  out.I64(d.pod.queued_at.ns());
  out.U64(d.pod.sequence);
  out.I64(d.due.ns());
  out.Bool(d.cancelled);
  out.Bool(d.moved_since);
  out.U64(d.nodes.size());
  for (const NodeId node : d.nodes) out.U64(node.value());
  out.Bool(d.failure.has_value());
  if (!d.failure.has_value()) return;
  out.U64(d.failure->pod.value());
  out.U64(d.failure->why.value());
  out.Bool(d.attempt.outcome == AttemptResult::Outcome::kError);
  out.U64(d.attempt.rejectors);
  const PostFilterResult& post = d.attempt.post_filter;
  out.U64(static_cast<uint64_t>(post.code));
  out.Bool(post.keeps_nomination);
  out.U64(post.nominated.value());
  put_pods(post.victims);
  put_pods(post.cleared_nominations);
  for (const uint32_t runs : d.victim_runs) out.U64(runs);
}

// Summaries are loaded later, so the number of one is not checked.
void KubernetesDispatcher::LoadDecision(StateReader& in) {
  counts_.attempts = in.U64();
  counts_.placed = in.U64();
  counts_.conflicts = in.U64();
  if (!in.Bool()) return;
  Decision d;
  const auto pod_of = [&in, this] {
    const PodId pod(static_cast<size_t>(in.U64()));
    if (pod.value() >= parts_.cluster->pod_count()) in.Fail("a pod of an attempt does not exist");
    return pod;
  };
  const auto get_pods = [&](std::vector<PodId>* pods) {
    const size_t n = in.Count();
    for (size_t i = 0; i < n && in.status().ok(); ++i) pods->push_back(pod_of());
  };
  d.pod.pod = pod_of();
  d.pod.priority = static_cast<int32_t>(in.I64());
  d.pod.queued_at = SimTime(in.I64());
  d.pod.sequence = in.U64();
  d.due = SimTime(in.I64());
  d.cancelled = in.Bool();
  d.moved_since = in.Bool();
  const size_t nodes = in.Count();
  for (size_t i = 0; i < nodes && in.status().ok(); ++i) {
    d.nodes.emplace_back(static_cast<size_t>(in.U64()));
    if (d.nodes.back().value() >= parts_.cluster->node_count()) {
      in.Fail("a node of an attempt does not exist");
    }
  }
  const bool failed = in.Bool();
  if (failed) {
    Placer::Failure& failure = d.failure.emplace();
    failure.pod = pod_of();
    failure.why = SummaryId(static_cast<size_t>(in.U64()));
    if (in.Bool()) d.attempt.outcome = AttemptResult::Outcome::kError;
    d.attempt.rejectors = in.U64();
    PostFilterResult& post = d.attempt.post_filter;
    post.code = static_cast<StepCode>(in.U64());
    post.keeps_nomination = in.Bool();
    post.nominated = NodeId(static_cast<uint32_t>(in.U64()));
    get_pods(&post.victims);
    get_pods(&post.cleared_nominations);
    for (size_t i = 0; i < post.victims.size(); ++i) {
      d.victim_runs.push_back(static_cast<uint32_t>(in.U64()));
    }
  }
  if (!in.status().ok()) return;
  d.job = parts_.jobs->job_of(d.pod.pod);
  if (!failed && !d.cancelled && d.nodes.size() != parts_.jobs->row(d.job).pods) {
    return in.Fail("an attempt has a node too many or too few");
  }
  if (d.failure.has_value()) d.failure->first_pod = parts_.jobs->row(d.job).first_pod;
  decision_ = std::move(d);
}

absl::Status KubernetesDispatcher::Load(StateReader& in) {
  in.Section("kubernetes");
  RETURN_IF_ERROR(queue_.Load(in));
  RETURN_IF_ERROR(offsets_.Load(in));
  const auto job_of = [&in, this] {
    const JobId job(static_cast<size_t>(in.U64()));
    if (job.value() >= parts_.jobs->size()) in.Fail("a waiting job does not exist");
    return job;
  };
  const size_t tenants = in.Count();
  for (size_t t = 0; t < tenants && in.status().ok(); ++t) {
    gated_.emplace_back();
    const size_t gated = in.Count();
    for (size_t i = 0; i < gated && in.status().ok(); ++i) gated_[t].push_back(job_of());
    gated_jobs_ += gated;
    ResourceAmounts a;
    a.cpu_milli = in.I64();
    a.memory_bytes = in.I64();
    a.gpu_milli = in.I64();
    admitted_.push_back(a);
  }
  const size_t jobs = in.Count();
  for (size_t i = 0; i < jobs && in.status().ok(); ++i) is_admitted_.push_back(in.Bool());
  const size_t nominated = in.Count();
  for (size_t i = 0; i < nominated && in.status().ok(); ++i) {
    Nomination n;
    n.job = job_of();
    n.not_before = SimTime(in.I64());
    const size_t victims = in.Count();
    for (size_t v = 0; v < victims && in.status().ok(); ++v) {
      n.victims.push_back(job_of());
      n.runs.push_back(static_cast<uint32_t>(in.U64()));
    }
    nominated_.push_back(std::move(n));
  }
  room_made_ = in.Bool();
  if (parts_.nominator != nullptr) {
    RETURN_IF_ERROR(
        parts_.nominator->Load(in, parts_.cluster->pod_count(), parts_.cluster->node_count()));
  }
  const size_t held = in.Count();
  for (size_t i = 0; i < held && in.status().ok(); ++i) held_.insert(job_of());
  const size_t needs = in.Count();
  for (size_t i = 0; i < needs && in.status().ok(); ++i) {
    const int64_t need = in.I64();
    needs_[need] = in.I64();
  }
  if (parts_.room != nullptr) LoadDecision(in);
  return in.status();
}

}  // namespace drasim
