#include "sim/core/engine.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/check.h"

namespace drasim {
namespace {

constexpr uint64_t kProgressEvery = 1024;
// Timers that repeat attempts, and controllers that look again and again, keep time going. When no
// job runs or starts, none is to come, this long nothing but failed attempts has happened (three
// times as long as a pod waits at most before it is tried without cause), and every job in line has
// had its turns, those that wait will wait for ever.
constexpr SimDuration kStandstill = SimDuration::Seconds(900);
constexpr uint32_t kRoundsInVain = 3;
constexpr uint64_t kRecordsPerInstantAndJob = 1000;
// Agents may be busy without end, with calls that always fail, say.
constexpr SimDuration kLongestBusy = SimDuration::Seconds(90'000);

}  // namespace

Engine::Engine(EngineParts parts, EngineOptions options)
    : parts_(std::move(parts)), options_(std::move(options)) {
  for (ExtensionPoint point : {kReserve, kPermit, kPreBind, kBind, kPostBind}) {
    for (Plugin* plugin : parts_.profile->plugins_at(point)) steps_.push_back({point, plugin});
  }
  dispatcher_ = parts_.make_dispatcher(this);
  troubles_.resize(parts_.cluster->node_count());
  for (size_t n = 0; n < troubles_.size(); ++n) {
    troubles_[n].absent = !parts_.cluster->node(NodeId(n)).available;
    troubles_[n].cordons = parts_.cluster->node(NodeId(n)).schedulable ? 0 : 1;
  }
  next_checkpoint_ = options_.checkpoint_every;
  if (parts_.node_agent != nullptr) {
    parts_.node_agent->Attach(this);
    parts_.node_agent->AttachClaims(this);
  }
}

PodContext Engine::ContextOf(PodId pod) const {
  return {parts_.cluster->pod_shape_id(pod), &parts_.cluster->pod_shape(pod), pod, now_};
}

void Engine::Emit(RecordKind kind, PodId pod, NodeId node, uint32_t devices, uint32_t detail) {
  Record record;
  record.time = now_;
  record.kind = kind;
  record.pod = pod;
  record.node = node;
  record.devices = devices;
  record.detail = detail;
  ++records_;
  // Attempts that come to nothing are no progress, whatever they held meanwhile.
  if (kind != RecordKind::kAttemptFailed && kind != RecordKind::kPodReserved &&
      kind != RecordKind::kPodUnreserved) {
    Progress();
  }
  for (RecordSink* sink : parts_.sinks) sink->OnRecord(record, *parts_.cluster);
}

absl::Status Engine::Run() {
  if (!started_) {
    started_ = true;
    if (absl::Status s = PullArrival(); !s.ok()) return s;
    PushNodeChange();
    for (SimTime at : parts_.quotas->ChangeTimes()) {
      if (at > now_) events_.Push(at, EventRank::kTimer, EventKind::kTimer, 0, kQuotaTimer, 0);
      last_quota_change_ = std::max(last_quota_change_, at);
    }
  }
  uint64_t handled = 0;
  while (!events_.empty()) {
    // When nothing but a timer is left, and what it would wake has failed in just this state, the
    // rest of time looks like this moment.
    if (events_.size() == 1 && timer_ != 0 && !dispatcher_->TimerMayHelp()) break;
    // Nor does it matter what becomes of nodes and quotas when no job is left.
    if (options_.mode == RunMode::kReplay && NothingLeft()) break;
    const Event event = events_.Pop();
    DRASIM_CHECK(event.time >= now_);
    if (AtStandstill(event.time)) break;
    const bool held_back = AttemptsSpent();
    if (event.time > now_) BeginInstant(event.time);
    if (absl::Status s = Handle(event); !s.ok()) return s;
    if (held_back) WakeScheduler();
    if (absl::Status s = AfterEvent(); !s.ok()) return s;
    ++handled;
    if (handled % kProgressEvery == 0) {
      if (parts_.on_progress) parts_.on_progress(parts_.jobs->size());
      for (RecordSink* sink : parts_.sinks) {
        if (absl::Status s = sink->status(); !s.ok()) return s;
      }
    }
    if (parts_.stop != nullptr && parts_.stop->load(std::memory_order_relaxed)) {
      return absl::CancelledError("stopped by a signal");
    }
    if (handled == options_.stop_after_events) return absl::OkStatus();
  }
  if (!finished_) {
    finished_ = true;
    for (const JobId job : running_) ChargeStart(job);
    Emit(RecordKind::kRunEnded, PodId(), NodeId(), 0, 0);
  }
  for (RecordSink* sink : parts_.sinks) {
    if (absl::Status s = sink->status(); !s.ok()) return s;
  }
  return absl::OkStatus();
}

void Engine::BeginInstant(SimTime time) {
  if (parts_.on_interval) parts_.on_interval(now_, time);
  now_ = time;
  failed_at_instant_ = 0;
  records_before_instant_ = records_;
}

void Engine::Progress() {
  last_progress_ = now_;
  failed_at_instant_ = 0;
  if (jobs_in_round_ == 0 && rounds_in_vain_ == 0) return;
  ++retry_round_;
  jobs_in_round_ = 0;
  rounds_in_vain_ = 0;
}

absl::Status Engine::AfterEvent() {
  if (!failure_.ok()) return failure_;
  const uint64_t at_instant = records_ - records_before_instant_;
  if (options_.mode == RunMode::kReplay && at_instant > options_.max_records_per_instant &&
      at_instant - options_.max_records_per_instant >
          kRecordsPerInstantAndJob * parts_.jobs->size()) {
    return absl::AbortedError(absl::StrCat(
        "time stands still: ", at_instant, " records at ", now_.ns(),
        " ns and no end; attempts, restarts or evictions that take no time repeat each other for "
        "ever"
        " (give them some: timing.schedule, preemption.grace_period, scheduler.kubernetes"
        ".initial_backoff, latencies of front_end.dra)"));
  }
  if (options_.check_invariants) {
    if (absl::Status s = parts_.cluster->CheckInvariants(); !s.ok()) return s;
    if (absl::Status s = parts_.jobs->CheckInvariants(); !s.ok()) return s;
    if (absl::Status s = CheckJobs(); !s.ok()) return s;
  }
  if (next_checkpoint_ == 0 || records_ < next_checkpoint_ || !parts_.on_checkpoint)
    return absl::OkStatus();
  // A checkpoint costs as much as the run is long, so they stand farther apart as it grows: all of
  // them together cost a few times the last.
  while (next_checkpoint_ <= records_) {
    next_checkpoint_ += std::max(options_.checkpoint_every, records_ / 4);
  }
  StateWriter out;
  Save(out);
  return parts_.on_checkpoint(out.bytes());
}

// Jobs and pods agree: a gang is placed as a whole or not at all.
absl::Status Engine::CheckJobs() const {
  for (size_t j = 0; j < parts_.jobs->size(); ++j) {
    const JobRow& row = parts_.jobs->row(JobId(j));
    const PodPhase first = parts_.cluster->pod_phase(row.first_pod);
    for (uint32_t i = 0; i < row.pods; ++i) {
      const PodPhase phase = parts_.cluster->pod_phase(PodOf(row, i));
      const bool agree = phase == first &&
                         (row.state == JobState::kRunning) == (phase == PodPhase::kBound) &&
                         (row.state == JobState::kStarting) == (phase == PodPhase::kAssumed) &&
                         (row.state == JobState::kWaiting) == (phase == PodPhase::kPending);
      if (agree) continue;
      return absl::InternalError(absl::StrCat("pod '", parts_.cluster->pod_name(PodOf(row, i)),
                                              "' is not where its job (", JobStateName(row.state),
                                              ") should have it"));
    }
  }
  return absl::OkStatus();
}

absl::Status Engine::PullArrival() {
  absl::StatusOr<bool> more = parts_.source->Next(&next_);
  if (!more.ok()) return more.status();
  arrival_due_ = *more;
  if (!*more) return absl::OkStatus();
  // Without a clock everything happens at time zero, in the source's order.
  const SimTime at = options_.mode == RunMode::kFill ? now_ : next_.time;
  if (at < now_) {
    return absl::InvalidArgumentError(absl::StrCat("job '", next_.name, "' arrives at ", at.ns(),
                                                   " ns, before the one ahead of it at ", now_.ns(),
                                                   " ns"));
  }
  events_.Push(at, EventRank::kArrival, EventKind::kPodArrival, 0, 0, 0);
  return absl::OkStatus();
}

// Lets the dispatcher try what it has. Attempts that take no time follow each other without an
// event for each, as long as nothing else is due first: the order is the same, and it is much
// faster.
void Engine::RunScheduler() {
  const bool one_by_one = options_.attempt_latency > SimDuration() ||
                          options_.stop_after_events != 0 || options_.check_invariants;
  while (dispatcher_->Ready() && scheduling_blocked_ == 0 && !AttemptsSpent()) {
    dispatcher_->Dispatch();
    if (one_by_one || !failure_.ok()) break;
    if (next_checkpoint_ != 0 && records_ >= next_checkpoint_) break;
    WakeTimer();
    if (events_.empty()) continue;
    const Event next = events_.Top();
    if (next.time == now_ && next.rank < EventRank::kScheduling) break;
  }
  WakeScheduler();
}

absl::Status Engine::Handle(const Event& event) {
  switch (event.kind) {
    case EventKind::kPodArrival:
      Arrive();
      return PullArrival();
    case EventKind::kPodFinish:
      EndWork(JobId(event.a));
      return absl::OkStatus();
    case EventKind::kIntentDone:
      bindings_[event.a].timer = 0;
      Advance(event.a);
      return absl::OkStatus();
    case EventKind::kDeletion:
      if (event.b == kOwnerByUser) {
        DeleteOwner(JobId(event.a));
      } else if (event.b == kPodsByUser) {
        DeletePods(JobId(event.a));
      } else {
        handles_[event.a].deletion = 0;
        Delete(JobId(event.a));
      }
      return absl::OkStatus();
    case EventKind::kEvictionDone:
      handles_[event.a].eviction = 0;
      if (handles_[event.a].pods_ending > 0) return absl::OkStatus();  // it has ended in time
      Interrupt(JobId(event.a), static_cast<EvictionCause>(event.b));
      return absl::OkStatus();
    case EventKind::kTimer:
      if (event.b == kDispatcherTimer) {
        timer_ = 0;
        dispatcher_->OnTimer();
      } else if (event.b == kQuotaTimer) {
        dispatcher_->OnQuotaChange();
      } else if (event.b == kNodeAgentTimer) {
        parts_.node_agent->OnTimer(event.c, now_);
      } else {
        handles_[event.a].eviction = 0;
        if (parts_.node_agent != nullptr) parts_.node_agent->PodsCreated(JobId(event.a), now_);
        dispatcher_->Add(JobId(event.a));
      }
      WakeScheduler();
      return absl::OkStatus();
    case EventKind::kScheduleNext:
      attempt_scheduled_ = false;
      RunScheduler();
      return absl::OkStatus();
    case EventKind::kNodeChange:
      ChangeNode(parts_.node_changes[next_node_change_++]);
      PushNodeChange();
      return absl::OkStatus();
    default:
      DRASIM_UNREACHABLE("an event of a kind that nobody pushes");
  }
  return absl::OkStatus();
}

void Engine::Arrive() {
  ClusterState& cluster = *parts_.cluster;
  next_.time = now_;
  const PodId first(cluster.pod_count());
  const JobId job = parts_.jobs->Add(next_, first, cluster.shapes());
  handles_.emplace_back();
  const JobRow& row = parts_.jobs->row(job);
  if (row.pods == 1) {
    cluster.AddPod(next_.name, next_.shape, next_.priority, now_);
  } else {
    uint32_t i = 0;
    const auto add = [&](ShapeId shape, int32_t pods) {
      for (int32_t k = 0; k < pods; ++k, ++i) {
        cluster.AddPod(absl::StrCat(next_.name, "-", i), shape, next_.priority, now_);
      }
    };
    add(next_.shape, next_.pods);
    for (const PodGroup& group : next_.more_pods) add(group.shape, group.pods);
  }
  for (uint32_t i = 0; i < row.pods; ++i) {
    const PodId pod = PodOf(row, i);
    Emit(RecordKind::kPodArrived, pod, NodeId(), 0, cluster.pod_shape_id(pod).value());
  }
  pods_waiting_ += row.pods;
  if (parts_.node_agent != nullptr) parts_.node_agent->PodsCreated(job, now_);
  if (options_.mode == RunMode::kFill) {
    dispatcher_->Add(job);
    dispatcher_->Dispatch();
    return;
  }
  ScheduleDeletions(job);
  if (IsHeld(row)) {
    // No dispatcher gets to see it: it would be tried again and again, or hold up a line. The
    // attempt that fails says why it waits.
    if (const auto why = parts_.placer->WhyNever(job, now_)) RecordFailure(job, *why);
    return;
  }
  const bool fits_quota =
      parts_.quotas->EverAllows(parts_.jobs->tenant_name(row.tenant), now_, row.request);
  if (!fits_quota || !parts_.placer->CouldEverFit(job)) {
    if (never_fitting_++ == 0) first_never_fitting_ = job;
    if (const auto why = parts_.placer->WhyNever(job, now_)) RecordFailure(job, *why);
    Drop(job);
    return;
  }
  dispatcher_->Add(job);
  if (parts_.node_agent != nullptr) parts_.node_agent->OnArrival(now_);
  WakeScheduler();
}

bool Engine::IsHeld(const JobRow& row) const {
  for (uint32_t i = 0; i < row.pods; ++i) {
    if (parts_.cluster->pod_shape(PodOf(row, i)).hold != PodHold::kNone) return true;
  }
  return false;
}

void Engine::ScheduleDeletions(JobId job) {
  const auto push = [this, job](SimTime at, DeletionKind kind) {
    return events_.Push(std::max(at, now_), EventRank::kDeparture, EventKind::kDeletion,
                        job.value(), kind, 0);
  };
  const JobRow& row = parts_.jobs->row(job);
  if (row.has_deletion) handles_[job.value()].deletion = push(row.deletion, kByTrace);
  const auto by_user = parts_.deletions.find(next_.name);
  if (by_user == parts_.deletions.end()) return;
  for (const JobDeletion& deletion : by_user->second) {
    push(deletion.at, deletion.owner ? kOwnerByUser : kPodsByUser);
  }
}

SimTime Engine::After(SimDuration d) {
  int64_t ns = 0;
  if (!__builtin_add_overflow(now_.ns(), d.ns(), &ns)) return SimTime(ns);
  failure_ = absl::InvalidArgumentError("the run lasts longer than the clock can count");
  return SimTime(std::numeric_limits<int64_t>::max());
}

bool Engine::AtStandstill(SimTime next) {
  const bool never_rests = parts_.node_agent != nullptr && parts_.node_agent->never_rests();
  if (options_.mode != RunMode::kReplay || next - last_progress_ <= kStandstill) return false;
  if (!never_rests) {
    // The event has been popped already.
    const size_t own = size_t{timer_ != 0} + size_t{attempt_scheduled_};
    return events_.size() + 1 == own && TriedInVain(kRoundsInVain);
  }
  if (arrival_due_ || free_slots_.size() != bindings_.size() ||
      next_node_change_ != parts_.node_changes.size() || next <= parts_.last_deletion) {
    return false;
  }
  // Pods that are bound, and whose work never begins, run no more than those that wait; and
  // services that nobody deletes change nothing any more.
  const bool ends = std::any_of(running_.begin(), running_.end(), [this](JobId job) {
    const JobHandles& handles = handles_[job.value()];
    return handles.finish != 0 || handles.deletion != 0;
  });
  if (ends) return false;
  // Still due: evictions and recreations; quotas that change; calls of the agent; jobs that
  // have not been tried since the last change, because attempts take their time.
  const bool due = last_quota_change_ >= next ||
                   std::any_of(handles_.begin(), handles_.end(),
                               [](const JobHandles& handles) { return handles.eviction != 0; }) ||
                   (scheduling_blocked_ == 0 && !TriedInVain(1));
  const bool busy = next - last_progress_ <= kLongestBusy && parts_.node_agent->IsBusy();
  if (due || busy) last_busy_ = next;
  return next - last_busy_ > kStandstill;
}

void Engine::CountRetry(JobId job) {
  ++failed_at_instant_;
  // While anything else is due, rounds mean nothing.
  const bool never_rests = parts_.node_agent != nullptr && parts_.node_agent->never_rests();
  if (!never_rests && !OnlyAttemptsLeft()) return;
  uint64_t& round = handles_[job.value()].retry_round;
  if (round == retry_round_) return;
  round = retry_round_;
  ++jobs_in_round_;
}

bool Engine::TriedInVain(uint32_t rounds) {
  if (jobs_in_round_ >= dispatcher_->in_line()) {
    ++rounds_in_vain_;
    ++retry_round_;
    jobs_in_round_ = 0;
  }
  return rounds_in_vain_ >= rounds;
}

bool Engine::NothingLeft() const {
  return !arrival_due_ && pods_waiting_ == 0 && running_.empty() &&
         free_slots_.size() == bindings_.size();
}

std::vector<JobId> Engine::starting() const {
  std::vector<JobId> jobs;
  if (free_slots_.size() == bindings_.size()) return jobs;
  for (size_t slot = 0; slot < bindings_.size(); ++slot) {
    const JobId job = bindings_[slot].job;
    if (job.valid() && handles_[job.value()].binding == slot) jobs.push_back(job);
  }
  return jobs;
}

void Engine::WakeScheduler() {
  if (!attempt_scheduled_ && scheduling_blocked_ == 0 && !AttemptsSpent() && dispatcher_->Ready()) {
    attempt_scheduled_ = true;
    events_.Push(After(options_.attempt_latency), EventRank::kScheduling, EventKind::kScheduleNext,
                 0, 0, 0);
  }
  WakeTimer();
}

void Engine::WakeTimer() {
  const absl::optional<SimTime> due = dispatcher_->NextTimer();
  if (timer_ != 0 && due.has_value() && timer_at_ == *due) return;
  Cancel(&timer_);
  if (!due.has_value()) return;
  timer_at_ = std::max(*due, now_);
  timer_ = events_.Push(timer_at_, EventRank::kTimer, EventKind::kTimer, 0, kDispatcherTimer, 0);
}

void Engine::Cancel(uint64_t* handle) {
  if (*handle != 0) events_.Cancel(*handle);
  *handle = 0;
}

void Engine::Notify(ClusterEvent event, NodeId node) {
  ++cluster_events_;
  if (event == kClaimChanged || event == kNodeAdded) ++claim_events_;
  dispatcher_->OnEvent(event, node);
}

void Engine::RecordFailure(JobId job, const Placer::Failure& failure) {
  ++parts_.jobs->mutable_row(job).attempts_failed;
  CountRetry(job);
  Emit(RecordKind::kAttemptFailed, failure.pod, NodeId(), 0, failure.why.value());
}

void Engine::EndFailedAttempt(const Placer::Failure& failure, NodeId nominated) {
  if (parts_.node_agent == nullptr) return;
  parts_.node_agent->AttemptFailed({failure.pod, failure.why, nominated}, now_);
}

void Engine::Drop(JobId job) {
  const JobRow& row = parts_.jobs->row(job);
  Cancel(&handles_[job.value()].deletion);
  for (uint32_t i = 0; i < row.pods; ++i) {
    if (parts_.node_agent != nullptr) parts_.node_agent->PodDeleted(PodOf(row, i), now_);
    parts_.cluster->Drop(PodOf(row, i));
    Emit(RecordKind::kPodDropped, PodOf(row, i), NodeId(), 0, 0);
  }
  pods_waiting_ -= row.pods;
  parts_.jobs->End(job, JobState::kDropped, now_);
}

void Engine::StartPlaced(JobId job) {
  parts_.jobs->Start(job);
  pods_waiting_ -= parts_.jobs->row(job).pods;
  const uint32_t slot = AllocateSlot();
  bindings_[slot].job = job;
  bindings_[slot].events_seen = cluster_events_;
  bindings_[slot].claim_events_seen = claim_events_;
  handles_[job.value()].binding = slot;
  Advance(slot);
}

uint32_t Engine::AllocateSlot() {
  if (free_slots_.empty()) {
    bindings_.emplace_back();
    return static_cast<uint32_t>(bindings_.size() - 1);
  }
  const uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  bindings_[slot] = Binding();
  return slot;
}

StepResult Engine::CallStep(const Step& step, const PodContext& pod, NodeId node) {
  const ClusterState& cluster = *parts_.cluster;
  switch (step.point) {
    case kReserve:
      return step.plugin->Reserve(pod, cluster, node);
    case kPermit:
      return step.plugin->Permit(pod, cluster, node);
    case kPreBind:
      return step.plugin->PreBind(pod, cluster, node);
    case kBind:
      return step.plugin->Bind(pod, cluster, node);
    default:
      step.plugin->PostBind(pod, cluster, node);
      return StepResult();
  }
}

// Calls one step for every pod. Intents of several pods are carried out side by side: what is left
// to wait for is the longest. Pods that wait or are pending do not keep the rest from beginning.
StepResult Engine::RunStep(const Step& step, JobId job) {
  const JobRow& row = parts_.jobs->row(job);
  StepResult all;
  SimDuration longest;
  for (uint32_t i = 0; i < row.pods; ++i) {
    const PodContext context = ContextOf(PodOf(row, i));
    StepResult result = CallStep(step, context, parts_.cluster->pod_node(context.pod));
    if (row.pods == 1) return result;
    if (result.code == StepCode::kWait || result.code == StepCode::kPending) {
      if (all.code != StepCode::kWait) all = std::move(result);
      continue;
    }
    if (result.code != StepCode::kSuccess) return result;
    SimDuration sum;
    for (const Intent& intent : result.intents) sum = sum + intent.latency;
    longest = std::max(longest, sum);
  }
  if (longest > SimDuration()) all.intents.push_back({IntentKind::kWait, longest});
  return all;
}

// Others see from now on that the job's pods hold something.
void Engine::Announce(uint32_t slot) {
  if (std::exchange(bindings_[slot].announced, true)) return;
  const JobRow& row = parts_.jobs->row(bindings_[slot].job);
  for (uint32_t i = 0; i < row.pods; ++i) {
    const PodId pod = PodOf(row, i);
    Emit(RecordKind::kPodReserved, pod, parts_.cluster->pod_node(pod),
         parts_.cluster->pod_devices(pod), 0);
  }
}

// Carries out what is pending, then calls the next steps until one asks for time, rejects, or all
// are done.
void Engine::Advance(uint32_t slot) {
  const JobId job = bindings_[slot].job;
  while (true) {
    Binding& binding = bindings_[slot];
    if (!binding.pending.empty()) {
      const Intent intent = binding.pending.front();
      binding.pending.erase(binding.pending.begin());
      if (intent.latency > SimDuration()) {
        Announce(slot);
        binding.timer = events_.Push(After(intent.latency), EventRank::kIntentDone,
                                     EventKind::kIntentDone, slot, 0, 0);
        return;
      }
      continue;
    }
    if (binding.step == steps_.size()) return CompleteBinding(slot);
    StepResult result = RunStep(steps_[binding.step], job);
    if (result.code == StepCode::kWait) {
      bindings_[slot].waiting = true;
      return Announce(slot);
    }
    if (result.code != StepCode::kSuccess) {
      return RejectBinding(slot, steps_[bindings_[slot].step].plugin, result);
    }
    ++binding.step;
    binding.pending = std::move(result.intents);
  }
}

void Engine::UndoBinding(uint32_t slot) {
  const Binding binding = bindings_[slot];
  const JobRow& row = parts_.jobs->row(binding.job);
  uint64_t timer = binding.timer;
  Cancel(&timer);
  // Unreserve goes through every plugin that has Reserve, in reverse, as upstream does.
  for (size_t s = steps_.size(); s-- > 0;) {
    if (steps_[s].point != kReserve) continue;
    for (uint32_t i = 0; i < row.pods; ++i) {
      const PodContext context = ContextOf(PodOf(row, i));
      steps_[s].plugin->Unreserve(context, *parts_.cluster, parts_.cluster->pod_node(context.pod));
    }
  }
  free_slots_.push_back(slot);
  handles_[binding.job.value()].binding = kNone;
  for (uint32_t i = 0; i < row.pods; ++i) {
    const PodId pod = PodOf(row, i);
    const NodeId node = parts_.cluster->pod_node(pod);
    const uint32_t devices = parts_.cluster->pod_devices(pod);
    parts_.cluster->Forget(pod);
    if (!binding.announced) continue;
    Emit(RecordKind::kPodUnreserved, pod, node, devices, 0);
    // Others may have failed because of the charge; upstream broadcasts a deleted assigned pod
    // here.
    Notify(kPodRemoved, node);
  }
  parts_.jobs->CancelStart(binding.job);
  pods_waiting_ += row.pods;
}

void Engine::RejectBinding(uint32_t slot, const Plugin* plugin, const StepResult& result) {
  const Binding binding = bindings_[slot];
  // Its own release is no news to the job itself, as upstream has it.
  Comeback comeback =
      cluster_events_ != binding.events_seen ? Comeback::kAfterBackoff : Comeback::kOnEvent;
  if ((plugin->points() & kNodeRestriction) != 0) {
    const bool moved = binding.woken || claim_events_ != binding.claim_events_seen;
    comeback = result.code == StepCode::kError ? Comeback::kError
               : binding.woken_at_once         ? Comeback::kAtOnce
               : moved                         ? Comeback::kAfterBackoff
                                               : Comeback::kOnEvent;
  }
  UndoBinding(slot);
  VerdictSummaryTable::Row why;
  why.nodes = static_cast<uint32_t>(parts_.cluster->available_nodes());
  const ReasonIndex index = parts_.profile->ReasonOf(plugin, result.reason);
  if (index != kFits) why.rejected.emplace_back(index, 1);
  Placer::Failure failure;
  failure.pod = parts_.jobs->row(binding.job).first_pod;
  failure.why = parts_.summaries->Intern(why);
  RecordFailure(binding.job, failure);
  if (options_.mode == RunMode::kFill) return Drop(binding.job);
  dispatcher_->Return(binding.job, failure.why, comeback);
  if (parts_.node_agent != nullptr) {
    const ExtensionPoint point = steps_[binding.step].point;
    parts_.node_agent->AttemptFailed(
        {failure.pod, failure.why, NodeId(), point != kReserve && point != kPermit}, now_);
  }
  WakeScheduler();
}

// MIG instances that are made for the pod of the job that gets most of them; the driver makes them
// one after the other.
int64_t Engine::InstancesOf(JobId job) const {
  if (!parts_.cluster->any_mig()) return 0;
  const JobRow& row = parts_.jobs->row(job);
  int64_t most = 0;
  for (uint32_t i = 0; i < row.pods; ++i) {
    const PodId pod = PodOf(row, i);
    if (parts_.cluster->pod_shape(pod).mig.empty()) continue;
    most = std::max(most, static_cast<int64_t>(parts_.cluster->pod_grants(pod).size()));
  }
  return most;
}

void Engine::CompleteBinding(uint32_t slot) {
  const JobId job = bindings_[slot].job;
  const JobRow& row = parts_.jobs->row(job);
  free_slots_.push_back(slot);
  handles_[job.value()].binding = kNone;
  for (uint32_t i = 0; i < row.pods; ++i) {
    const PodId pod = PodOf(row, i);
    parts_.cluster->Bind(pod);
    Emit(RecordKind::kPodBound, pod, parts_.cluster->pod_node(pod),
         parts_.cluster->pod_devices(pod), 0);
  }
  if (parts_.node_agent != nullptr && !Admit(job)) return;
  const int64_t instances = InstancesOf(job);
  parts_.jobs->mutable_row(job).overhead_left =
      row.overhead_left + SimDuration(options_.instance_creation.ns() * instances);
  parts_.jobs->Run(job, now_);
  if (options_.mode != RunMode::kReplay) return;
  handles_[job.value()].running_slot = static_cast<uint32_t>(running_.size());
  running_.push_back(job);
  if (handles_[job.value()].pods_starting == 0) BeginWork(job);
}

void Engine::BeginWork(JobId job) {
  const JobRow& row = parts_.jobs->row(job);
  if (!parts_.jobs->HasLength(job)) return;
  const int64_t instances = InstancesOf(job);
  int64_t end_ns = 0;
  if (__builtin_add_overflow(row.remaining.ns(), row.overhead_left.ns(), &end_ns) ||
      __builtin_add_overflow(end_ns, options_.release_delay.ns(), &end_ns) ||
      __builtin_add_overflow(end_ns, options_.instance_destruction.ns() * instances, &end_ns) ||
      // What passed since it was bound is part of the overhead.
      __builtin_add_overflow(end_ns, row.started.ns(), &end_ns)) {
    failure_ = absl::InvalidArgumentError(absl::StrCat(
        "pod '", parts_.cluster->pod_name(row.first_pod), "' ends later than the clock can count"));
    return;
  }
  handles_[job.value()].finish = events_.Push(SimTime(end_ns), EventRank::kDeparture,
                                              EventKind::kPodFinish, job.value(), 0, 0);
}

}  // namespace drasim
