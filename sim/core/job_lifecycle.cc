#include "sim/core/job_lifecycle.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/device_set.h"

namespace drasim {
namespace {

// The wanted GPUs of the node, if they are as many as the pod's and have room, or the first that
// have; nothing if there are too few.
std::optional<DeviceSet> FreeDevices(const ClusterState& cluster, PodId pod, NodeId node,
                                     DeviceSet wanted) {
  const ResourceRequest& request = cluster.pod_shape(pod).request;
  const absl::Span<const int16_t> idle = cluster.device_milli_idle(node);
  const bool all_free = std::all_of(wanted.begin(), wanted.end(), [&](size_t gpu) {
    return gpu < idle.size() && idle[gpu] >= request.gpu_milli;
  });
  if (all_free && wanted.size() == request.gpu_count) return wanted;
  DeviceSet devices;
  for (size_t gpu = 0; gpu < idle.size() && devices.size() < request.gpu_count; ++gpu) {
    if (idle[gpu] >= request.gpu_milli) devices.Add(gpu);
  }
  if (devices.size() < request.gpu_count) return std::nullopt;
  return devices;
}

}  // namespace

JobLifecycle::JobLifecycle(RunContext* run, SchedulingLoop* scheduling)
    : run_(run), scheduling_(scheduling), bindings_(run, scheduling, this), admission_(run) {}

// ---- Waiting ----

void JobLifecycle::AddJob(JobId job) {
  handles_.emplace_back();
  bindings_.AddJob();
  run_->progress().AddJob();
  pods_waiting_ += run_->jobs().row(job).pods;
}

void JobLifecycle::RecordFailure(JobId job, const Placer::Failure& failure) {
  ++run_->jobs().mutable_row(job).attempts_failed;
  run_->progress().CountFailure();
  // While anything but attempts is due, rounds mean nothing.
  if (run_->never_rests() || run_->events().size() == scheduling_->pending_events()) {
    run_->progress().CountInRound(job);
  }
  run_->Emit(RecordKind::kAttemptFailed, failure.pod, NodeId(), DeviceSet(), failure.why.value());
}

void JobLifecycle::EndFailedAttempt(const Placer::Failure& failure, NodeId nominated) {
  if (run_->agent() == nullptr) return;
  run_->agent()->AttemptFailed({failure.pod, failure.why, nominated}, run_->now());
}

void JobLifecycle::TurnAway(JobId job, absl::Span<const NodeId> nodes, AdmissionFailure failure) {
  pods_waiting_ -= run_->jobs().row(job).pods;
  const JobAdmission answer = admission_.TurnAway(job, nodes, failure);
  if (answer.given_up) return End(job, JobState::kFailed);
  Recreate(job, answer.recreated_after);
}

void JobLifecycle::Drop(JobId job) {
  const JobRow& row = run_->jobs().row(job);
  run_->Cancel(&handles_[job.value()].deletion);
  for (uint32_t i = 0; i < row.pods; ++i) {
    const PodId pod = RunContext::PodOf(row, i);
    if (run_->agent() != nullptr) run_->agent()->PodDeleted(pod, run_->now());
    run_->cluster().Drop(pod);
    run_->Emit(RecordKind::kPodDropped, pod, NodeId(), DeviceSet(), 0);
  }
  pods_waiting_ -= row.pods;
  run_->jobs().End(job, JobState::kDropped, run_->now());
}

void JobLifecycle::Wait(JobId job) {
  pods_waiting_ += run_->jobs().row(job).pods;
  if (run_->agent() != nullptr) run_->agent()->PodsCreated(job, run_->now());
  scheduling_->dispatcher().Add(job);
}

void JobLifecycle::Recreate(JobId job, SimDuration delay) {
  if (delay <= SimDuration()) return Wait(job);
  pods_waiting_ += run_->jobs().row(job).pods;
  handles_[job.value()].eviction = run_->events().Push(
      run_->After(delay), EventRank::kTimer, EventKind::kTimer, job.value(), kRecreationTimer, 0);
}

void JobLifecycle::OnEvent(const Event& event) {
  const JobId job(event.a);
  if (event.kind == EventKind::kPodFinish) return OnFinish(job);
  if (event.kind == EventKind::kIntentDone) return bindings_.OnIntentDone(event.a);
  if (event.kind == EventKind::kDeletion) return OnDeletion(event);
  if (event.kind == EventKind::kTimer) return OnRecreated(job);
  DRASIM_CHECK(event.kind == EventKind::kEvictionDone);
  const PodId preemptor = event.c == 0 ? PodId() : PodId(static_cast<size_t>(event.c - 1));
  OnEvictionDone(job, static_cast<EvictionCause>(event.b), preemptor);
}

void JobLifecycle::OnRecreated(JobId job) {
  handles_[job.value()].eviction = 0;
  if (run_->agent() != nullptr) run_->agent()->PodsCreated(job, run_->now());
  scheduling_->dispatcher().Add(job);
}

// ---- Starting ----

bool JobLifecycle::StartOn(JobId job, NodeId node, DeviceSet wanted) {
  ClusterState& cluster = run_->cluster();
  const PodId pod = run_->jobs().row(job).first_pod;
  const std::optional<DeviceSet> devices = FreeDevices(cluster, pod, node, wanted);
  if (!devices.has_value() || !cluster.CanPlace(cluster.pod_shape_id(pod), node, *devices)) {
    return false;
  }
  cluster.Assume(pod, node, *devices);
  cluster.Bind(pod);
  run_->jobs().Start(job);
  pods_waiting_ -= run_->jobs().row(job).pods;
  run_->Emit(RecordKind::kPodBound, pod, node, *devices, 0);
  Bound(job);
  return true;
}

void JobLifecycle::StartPlaced(JobId job) {
  run_->jobs().Start(job);
  pods_waiting_ -= run_->jobs().row(job).pods;
  bindings_.Begin(job);
}

void JobLifecycle::UndoStart(JobId job) {
  bindings_.Undo(job);
  run_->jobs().CancelStart(job);
  pods_waiting_ += run_->jobs().row(job).pods;
}

void JobLifecycle::Rejected(JobId job, const Placer::Failure& failure, Comeback comeback) {
  run_->jobs().CancelStart(job);
  pods_waiting_ += run_->jobs().row(job).pods;
  RecordFailure(job, failure);
  if (!run_->is_replay()) return Drop(job);
  scheduling_->dispatcher().Return(job, failure.why, comeback);
  scheduling_->Wake();
}

void JobLifecycle::Bound(JobId job) {
  if (run_->agent() != nullptr && !Admit(job)) return;
  const int64_t instances = InstancesOf(job);
  JobRow& row = run_->jobs().mutable_row(job);
  row.overhead_left =
      row.overhead_left + SimDuration(run_->options().instance_creation.ns() * instances);
  run_->jobs().Run(job, run_->now());
  if (!run_->is_replay()) return;
  handles_[job.value()].running_slot = static_cast<uint32_t>(running_.size());
  running_.push_back(job);
  if (handles_[job.value()].pods_starting == 0) BeginWork(job);
}

bool JobLifecycle::Admit(JobId job) {
  const JobAdmission admission = admission_.Admit(job, &handles_[job.value()].pods_starting);
  if (admission.admitted) {
    JobRow& row = run_->jobs().mutable_row(job);
    row.overhead_left = row.overhead_left + admission.start_delay;
    return true;
  }
  if (admission.given_up) {
    End(job, JobState::kFailed);
  } else {
    run_->jobs().CancelStart(job);
    Recreate(job, admission.recreated_after);
  }
  NotifyVacated(job, admission.vacated);
  return false;
}

void JobLifecycle::PodStarted(PodId pod) {
  const JobId job = run_->jobs().job_of(pod);
  JobHandles& handles = handles_[job.value()];
  // Bound on the server, but not here (any more).
  if (handles.pods_starting == 0) return;
  run_->Emit(RecordKind::kPodStarted, pod, run_->cluster().pod_node(pod),
             run_->cluster().pod_devices(pod), 0);
  if (--handles.pods_starting > 0) return;
  JobRow& row = run_->jobs().mutable_row(job);
  row.overhead_left = row.overhead_left + (run_->now() - row.started);
  BeginWork(job);
}

int64_t JobLifecycle::InstancesOf(JobId job) const {
  const ClusterState& cluster = run_->cluster();
  if (!cluster.any_mig()) return 0;
  const JobRow& row = run_->jobs().row(job);
  int64_t most = 0;
  for (uint32_t i = 0; i < row.pods; ++i) {
    const PodId pod = RunContext::PodOf(row, i);
    if (cluster.pod_shape(pod).request.mig.empty()) continue;
    most = std::max(most, static_cast<int64_t>(cluster.pod_grants(pod).size()));
  }
  return most;
}

// ---- Running ----

void JobLifecycle::BeginWork(JobId job) {
  const JobRow& row = run_->jobs().row(job);
  if (!run_->jobs().HasLength(job)) return;
  const EngineOptions& options = run_->options();
  const int64_t instances = InstancesOf(job);
  int64_t end_ns = 0;
  if (__builtin_add_overflow(row.remaining.ns(), row.overhead_left.ns(), &end_ns) ||
      __builtin_add_overflow(end_ns, options.release_delay.ns(), &end_ns) ||
      __builtin_add_overflow(end_ns, options.instance_destruction.ns() * instances, &end_ns) ||
      // The time since it was bound is part of the overhead.
      __builtin_add_overflow(end_ns, row.started.ns(), &end_ns)) {
    run_->Fail(
        absl::InvalidArgumentError(absl::StrCat("pod '", run_->cluster().pod_name(row.first_pod),
                                                "' ends later than the clock can count")));
    return;
  }
  handles_[job.value()].finish = run_->events().Push(SimTime(end_ns), EventRank::kDeparture,
                                                     EventKind::kPodFinish, job.value(), 0, 0);
}

void JobLifecycle::OnFinish(JobId job) {
  JobHandles& handles = handles_[job.value()];
  handles.finish = 0;
  run_->progress().NoteEndOfWork(run_->now());
  const JobRow& row = run_->jobs().row(job);
  // One more than the pods: a pod may be off its node before EndPod returns.
  handles.pods_ending = 1;
  for (uint32_t i = 0; i < row.pods && run_->agent() != nullptr; ++i) {
    const bool failed = row.fails || row.retry < row.retries;
    ++handles.pods_ending;
    if (!run_->agent()->EndPod(RunContext::PodOf(row, i), failed, run_->now())) {
      --handles.pods_ending;
    }
  }
  if (--handles.pods_ending == 0) Finish(job);
}

void JobLifecycle::PodEnded(PodId pod) {
  const JobId job = run_->jobs().job_of(pod);
  JobHandles& handles = handles_[job.value()];
  if (handles.pods_ending == 0 || --handles.pods_ending > 0) return;
  Finish(job);
}

void JobLifecycle::Finish(JobId job) {
  JobTable& jobs = run_->jobs();
  const JobRow& row = jobs.row(job);
  const std::vector<NodeId> nodes = run_->NodesOf(row);
  StopRunning(job);
  if (row.retry < row.retries) {
    ReleasePods(job, RecordKind::kPodEvicted, static_cast<uint32_t>(EvictionCause::kAttemptFailed));
    jobs.Retry(job, run_->now());
    Wait(job);
  } else {
    ReleasePods(job, row.fails ? RecordKind::kPodFailed : RecordKind::kPodFinished, 0);
    End(job, row.fails ? JobState::kFailed : JobState::kSucceeded);
  }
  NotifyVacated(job, nodes);
}

void JobLifecycle::ReleasePods(JobId job, RecordKind kind, uint32_t detail, PodId preemptor) {
  const JobRow& row = run_->jobs().row(job);
  ClusterState& cluster = run_->cluster();
  for (uint32_t i = 0; i < row.pods; ++i) {
    const PodId pod = RunContext::PodOf(row, i);
    const NodeId node = cluster.pod_node(pod);
    const DeviceSet devices = cluster.pod_devices(pod);
    if (NodeAgent* agent = run_->agent(); agent != nullptr) {
      if (cluster.pod_phase(pod) == PodPhase::kBound) agent->Removed(pod, node, run_->now());
      if (kind == RecordKind::kPodDeleted) agent->PodDeleted(pod, run_->now());
    }
    switch (kind) {
      case RecordKind::kPodFinished:
        cluster.Finish(pod);
        break;
      case RecordKind::kPodFailed:
        cluster.Fail(pod);
        break;
      case RecordKind::kPodEvicted:
        cluster.Evict(pod);
        break;
      default:
        cluster.Delete(pod);
        break;
    }
    run_->Emit(kind, pod, node, devices, detail, preemptor);
  }
}

void JobLifecycle::StopRunning(JobId job) {
  JobHandles& handles = handles_[job.value()];
  run_->Cancel(&handles.finish);
  run_->Cancel(&handles.eviction);
  handles.pods_starting = 0;
  handles.pods_ending = 0;
  running_[handles.running_slot] = running_.back();
  handles_[running_.back().value()].running_slot = handles.running_slot;
  running_.pop_back();
  handles.running_slot = kNone;
}

void JobLifecycle::ChargeStart(JobId job) {
  if (handles_[job.value()].pods_starting == 0) return;
  JobRow& row = run_->jobs().mutable_row(job);
  row.overhead_left = row.overhead_left + (run_->now() - row.started);
}

void JobLifecycle::ChargeRunning() {
  for (const JobId job : running_) ChargeStart(job);
}

void JobLifecycle::End(JobId job, JobState state) {
  run_->jobs().End(job, state, run_->now());
  run_->Cancel(&handles_[job.value()].deletion);
  scheduling_->dispatcher().OnEnd(job);
}

void JobLifecycle::NotifyVacated(JobId job, const std::vector<NodeId>& nodes) {
  const JobRow& row = run_->jobs().row(job);
  ClusterChange change;
  change.event = kPodRemoved;
  // A gang has pods of other shapes, too.
  if (row.pods == 1) {
    change.pod = &run_->cluster().pod_shape(row.first_pod);
    change.pod_id = row.first_pod;
  }
  for (NodeId node : nodes) {
    change.node = node;
    scheduling_->Notify(change);
  }
  scheduling_->Wake();
}

// ---- Interrupted ----

void JobLifecycle::Evict(JobId job, EvictionCause cause, JobId preemptor) {
  const PodId for_pod = preemptor.valid() ? run_->jobs().row(preemptor).first_pod : PodId();
  const SimDuration grace = run_->options().interruption.grace_period;
  const bool lost = cause == EvictionCause::kNodeLost;
  if (run_->jobs().row(job).state == JobState::kStarting) {
    UndoStart(job);
    scheduling_->dispatcher().Add(job);
    return scheduling_->Wake();
  }
  // Its work is done and its pods are leaving: it must not be rerun.
  if (handles_[job.value()].pods_ending > 0 && !lost) return;
  if (grace <= SimDuration() || lost) return Interrupt(job, cause, for_pod);
  if (IsBeingEvicted(job)) return;
  handles_[job.value()].eviction = run_->events().Push(
      run_->After(grace), EventRank::kDeparture, EventKind::kEvictionDone, job.value(),
      static_cast<uint32_t>(cause), for_pod.valid() ? for_pod.value() + uint64_t{1} : 0);
}

void JobLifecycle::OnEvictionDone(JobId job, EvictionCause cause, PodId preemptor) {
  handles_[job.value()].eviction = 0;
  if (handles_[job.value()].pods_ending > 0) return;  // it has ended in time
  Interrupt(job, cause, preemptor);
}

void JobLifecycle::Interrupt(JobId job, EvictionCause cause, PodId preemptor) {
  JobTable& jobs = run_->jobs();
  JobRow& row = jobs.mutable_row(job);
  const std::vector<NodeId> nodes = run_->NodesOf(row);
  const SimTime now = run_->now();
  ChargeStart(job);
  StopRunning(job);
  const bool lost = cause == EvictionCause::kNodeLost;
  if ((lost || cause == EvictionCause::kTainted) && !row.recreated) {
    // No controller recreates its pods.
    ReleasePods(job, RecordKind::kPodFailed, static_cast<uint32_t>(cause));
    End(job, JobState::kFailed);
  } else {
    ReleasePods(job, RecordKind::kPodEvicted, static_cast<uint32_t>(cause), preemptor);
    const InterruptionCosts& costs = run_->options().interruption;
    const SimDuration whole =
        row.retry < row.retries ? jobs.failed_attempts(job)[row.retry] : row.run_time;
    const SimDuration before = jobs.HasLength(job) ? whole - row.remaining : SimDuration();
    const SimDuration kept = costs.Kept(before, jobs.WorkDone(job, now));
    ++(cause == EvictionCause::kPreempted ? row.preemptions : row.evictions);
    SimDuration overhead = costs.RestartDelay(row.request.gpu_milli);
    if (costs.restarts_add_up && now - row.started < row.overhead_left) {
      overhead = overhead + (row.overhead_left - (now - row.started));
    }
    jobs.Interrupt(job, now, kept, overhead);
    Recreate(job, lost ? run_->options().recreation_delay : SimDuration());
  }
  NotifyVacated(job, nodes);
}

void JobLifecycle::EvictFrom(NodeId node, EvictionCause cause) {
  EvictIf(node, cause, [](PodId) { return true; });
}

void JobLifecycle::EvictHolders(NodeId node, DeviceSet gpus) {
  EvictIf(node, EvictionCause::kRepartitioned,
          [&](PodId pod) { return run_->cluster().pod_devices(pod).Intersects(gpus); });
}

void JobLifecycle::EvictIf(NodeId node, EvictionCause cause,
                           absl::FunctionRef<bool(PodId)> leaves) {
  // A copy, because the node's list changes while jobs leave; a gang may have several pods here.
  std::vector<JobId> jobs;
  for (PodId pod : run_->cluster().pods_on(node)) {
    if (!leaves(pod)) continue;
    const JobId job = run_->jobs().job_of(pod);
    if (std::find(jobs.begin(), jobs.end(), job) == jobs.end()) jobs.push_back(job);
  }
  for (JobId job : jobs) Evict(job, cause, JobId());
}

void JobLifecycle::EvictTainted(PodId pod) {
  const JobId job = run_->jobs().job_of(pod);
  const JobRow& row = run_->jobs().row(job);
  const bool has_run = row.state == JobState::kRunning;
  if (!row.recreated && !has_run && !IsEnded(row.state)) return Delete(job);
  DeletePods(job, EvictionCause::kTainted);
}

// ---- Deleted ----

void JobLifecycle::ScheduleDeletions(JobId job, const std::string& name) {
  const auto push = [this, job](SimTime at, DeletionKind kind) {
    return run_->events().Push(std::max(at, run_->now()), EventRank::kDeparture,
                               EventKind::kDeletion, job.value(), kind, 0);
  };
  const JobRow& row = run_->jobs().row(job);
  if (row.has_deletion) handles_[job.value()].deletion = push(row.deletion, kByTrace);
  const auto by_user = run_->parts().deletions.find(name);
  if (by_user == run_->parts().deletions.end()) return;
  for (const JobDeletion& deletion : by_user->second) {
    push(deletion.at, deletion.owner ? kOwnerByUser : kPodsByUser);
  }
}

void JobLifecycle::OnDeletion(const Event& event) {
  const JobId job(event.a);
  if (event.b == kOwnerByUser) {
    DeleteOwner(job);
  } else if (event.b == kPodsByUser) {
    DeletePods(job, EvictionCause::kDeleted);
  } else {
    handles_[event.a].deletion = 0;
    Delete(job);
  }
}

void JobLifecycle::Delete(JobId job) {
  const JobRow& row = run_->jobs().row(job);
  if (row.state == JobState::kStarting) UndoStart(job);
  std::vector<NodeId> nodes;
  if (row.state == JobState::kRunning) {
    nodes = run_->NodesOf(row);
    ChargeStart(job);
    StopRunning(job);
  } else {
    scheduling_->dispatcher().Remove(job);
    run_->Cancel(&handles_[job.value()].eviction);
    pods_waiting_ -= row.pods;
  }
  ReleasePods(job, RecordKind::kPodDeleted, 0);
  End(job, JobState::kDeleted);
  NotifyVacated(job, nodes);
}

void JobLifecycle::DeleteOwner(JobId job) {
  const JobState state = run_->jobs().row(job).state;
  if (IsEnded(state)) return;
  const SimDuration grace = run_->options().interruption.grace_period;
  run_->Cancel(&handles_[job.value()].deletion);
  if (state != JobState::kRunning || grace <= SimDuration()) return Delete(job);
  handles_[job.value()].deletion = run_->events().Push(
      run_->After(grace), EventRank::kDeparture, EventKind::kDeletion, job.value(), kByTrace, 0);
}

void JobLifecycle::DeletePods(JobId job, EvictionCause cause) {
  JobRow& row = run_->jobs().mutable_row(job);
  if (IsEnded(row.state)) return;
  if (row.state == JobState::kRunning) return Evict(job, cause, JobId());
  if (row.state == JobState::kStarting) {
    UndoStart(job);
  } else if (IsBeingEvicted(job)) {
    return;  // between two pods
  } else {
    scheduling_->dispatcher().Remove(job);
  }
  pods_waiting_ -= row.pods;
  ++row.evictions;
  for (uint32_t i = 0; i < row.pods && run_->agent() != nullptr; ++i) {
    run_->agent()->PodDeleted(RunContext::PodOf(row, i), run_->now());
  }
  Wait(job);
  scheduling_->Wake();
}

// ---- End of the run ----

bool JobLifecycle::AnyEnds() const {
  return std::any_of(running_.begin(), running_.end(), [this](JobId job) {
    const JobHandles& handles = handles_[job.value()];
    return handles.finish != 0 || handles.deletion != 0;
  });
}

bool JobLifecycle::AnyBetweenRuns() const {
  return std::any_of(handles_.begin(), handles_.end(),
                     [](const JobHandles& handles) { return handles.eviction != 0; });
}

}  // namespace drasim
