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
      // All profiles have the same order (kube-scheduler refuses others).
      queue_(QueueSortOf(profiles_.first()), options),
      registered_(profiles_.size()),
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
  if (queue_.unschedulable() == 0) return;
  const ClusterState& cluster = *parts_.cluster;
  const SimTime now = parts_.control->now();
  ClusterChange known = change;
  // Nothing else is to be known about these: the node is new to the queue, or the pod has left.
  known.detailed =
      parts_.nominator != nullptr &&
      (change.event == kNodeAdded || (change.event == kPodRemoved && change.pod != nullptr));
  concerned_.assign(profiles_.size(), 0);
  for (size_t p = 0; p < profiles_.size(); ++p) {
    for (size_t i = 0; i < registered_[p].size(); ++i) {
      concerned_[p] |= static_cast<uint64_t>((registered_[p][i] & change.event) != 0) << i;
    }
  }
  queue_.OnEvent(
      [&](ShapeId shape, uint64_t rejectors) {
        if ((rejectors & kOtherPlugin) != 0) return true;
        const PodContext pod = {shape, &cluster.shapes().row(shape), PodId(), now};
        const size_t p = *profiles_.IndexOf(shape);
        const std::vector<RequeuePlugin*>& requeues = profiles_.at(p).requeues();
        for (uint64_t left = rejectors & concerned_[p]; left != 0; left &= left - 1) {
          const auto i = static_cast<size_t>(std::countr_zero(left));
          if (Requeues(*requeues[i], known, pod, cluster)) return true;
        }
        return false;
      },
      [&](PodId pod) { return SkipsBackoff(change.event, pod); }, now);
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
  const JobId job = parts_.jobs->job_of(pod.pod);
  const auto failure = parts_.placer->Place(job, parts_.control->now());
  if (!failure.has_value()) {
    CountNeed(job, -1);
    ClearNomination(job);
    return parts_.control->StartPlaced(job);
  }
  parts_.control->RecordFailure(job, *failure);
  if (parts_.nominator != nullptr) return EndKubeAttempt(pod, job, *failure);
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

void KubernetesDispatcher::EndKubeAttempt(const QueuedPod& pod, JobId job,
                                          const Placer::Failure& failure) {
  // A copy, because evictions may lead to other attempts.
  const AttemptResult attempt = parts_.placer->kube_attempt();
  const bool error = attempt.outcome == AttemptResult::Outcome::kError;
  const bool gang = parts_.jobs->row(job).pods > 1;
  uint64_t rejectors = attempt.rejectors;
  // An event for any pod of a gang may help; and any event if there were no nodes at all.
  if (gang || rejectors == 0) rejectors = kOtherPlugin;
  queue_.Return(pod, parts_.cluster->pod_shape_id(failure.pod), error ? 0 : rejectors,
                /*moved_since=*/false, parts_.control->now());
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
  for (const Nomination& n : nominated_) {
    if (n.not_before <= now) continue;
    next = next.has_value() ? std::min(*next, n.not_before) : n.not_before;
  }
  return next;
}

void KubernetesDispatcher::OnTimer() {
  const SimTime now = parts_.control->now();
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
  return in.status();
}

}  // namespace drasim
