// How jobs end, are interrupted, and lose their nodes.

#include <algorithm>
#include <vector>

#include "model/check.h"
#include "model/device_set.h"
#include "sim/core/engine.h"

namespace drasim {

// Takes every pod of a running job off its node, with a record of the kind.
void Engine::ReleasePods(JobId job, RecordKind kind, uint32_t detail) {
  const JobRow& row = parts_.jobs->row(job);
  ClusterState& cluster = *parts_.cluster;
  for (uint32_t i = 0; i < row.pods; ++i) {
    const PodId pod = PodOf(row, i);
    const NodeId node = cluster.pod_node(pod);
    const DeviceSet devices = cluster.pod_devices(pod);
    if (parts_.node_agent != nullptr) {
      if (cluster.pod_phase(pod) == PodPhase::kBound) parts_.node_agent->Removed(pod, node, now_);
      if (kind == RecordKind::kPodDeleted) parts_.node_agent->PodDeleted(pod, now_);
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
    Emit(kind, pod, node, devices, detail);
  }
}

// Forgets what belongs to the present run of the job.
void Engine::StopRunning(JobId job) {
  JobHandles& handles = handles_[job.value()];
  Cancel(&handles.finish);
  Cancel(&handles.eviction);
  handles.pods_starting = 0;
  handles.pods_ending = 0;
  running_[handles.running_slot] = running_.back();
  handles_[running_.back().value()].running_slot = handles.running_slot;
  running_.pop_back();
  handles.running_slot = kNone;
}

void Engine::EndWork(JobId job) {
  JobHandles& handles = handles_[job.value()];
  handles.finish = 0;
  last_progress_ = now_;
  const JobRow& row = parts_.jobs->row(job);
  // A pod may be off its node before EndPod returns, but not the last of what is counted here.
  handles.pods_ending = 1;
  for (uint32_t i = 0; i < row.pods && parts_.node_agent != nullptr; ++i) {
    const bool failed = row.fails || row.retry < row.retries;
    ++handles.pods_ending;
    if (!parts_.node_agent->EndPod(PodOf(row, i), failed, now_)) --handles.pods_ending;
  }
  if (--handles.pods_ending == 0) Finish(job);
}

void Engine::Finish(JobId job) {
  const JobRow& row = parts_.jobs->row(job);
  std::vector<NodeId> nodes;
  for (uint32_t i = 0; i < row.pods; ++i) nodes.push_back(parts_.cluster->pod_node(PodOf(row, i)));
  StopRunning(job);
  if (row.retry < row.retries) {
    ReleasePods(job, RecordKind::kPodEvicted, static_cast<uint32_t>(EvictionCause::kAttemptFailed));
    parts_.jobs->Retry(job, now_);
    Wait(job);
  } else {
    ReleasePods(job, row.fails ? RecordKind::kPodFailed : RecordKind::kPodFinished, 0);
    parts_.jobs->End(job, row.fails ? JobState::kFailed : JobState::kSucceeded, now_);
    Cancel(&handles_[job.value()].deletion);
    dispatcher_->OnEnd(job);
  }
  for (NodeId node : nodes) Notify(kPodRemoved, node);
  WakeScheduler();
}

// The job begins to wait again.
void Engine::Wait(JobId job) {
  pods_waiting_ += parts_.jobs->row(job).pods;
  if (parts_.node_agent != nullptr) parts_.node_agent->PodsCreated(job, now_);
  dispatcher_->Add(job);
}

void Engine::Delete(JobId job) {
  const JobRow& row = parts_.jobs->row(job);
  if (row.state == JobState::kStarting) UndoBinding(handles_[job.value()].binding);
  const bool ran = row.state == JobState::kRunning;
  std::vector<NodeId> nodes;
  if (ran) {
    for (uint32_t i = 0; i < row.pods; ++i) {
      nodes.push_back(parts_.cluster->pod_node(PodOf(row, i)));
    }
    ChargeStart(job);
    StopRunning(job);
  } else {
    dispatcher_->Remove(job);
    Cancel(&handles_[job.value()].eviction);
    pods_waiting_ -= row.pods;
  }
  ReleasePods(job, RecordKind::kPodDeleted, 0);
  parts_.jobs->End(job, JobState::kDeleted, now_);
  dispatcher_->OnEnd(job);
  for (NodeId node : nodes) Notify(kPodRemoved, node);
  WakeScheduler();
}

void Engine::DeleteOwner(JobId job) {
  const JobState state = parts_.jobs->row(job).state;
  if (IsEnded(state)) return;
  const SimDuration grace = options_.interruption.grace_period;
  Cancel(&handles_[job.value()].deletion);
  if (state != JobState::kRunning || grace <= SimDuration()) return Delete(job);
  handles_[job.value()].deletion = events_.Push(After(grace), EventRank::kDeparture,
                                                EventKind::kDeletion, job.value(), kByTrace, 0);
}

// The owner of pods that never ran makes new ones at once, which queue as new pods do.
void Engine::DeletePods(JobId job) {
  JobRow& row = parts_.jobs->mutable_row(job);
  if (IsEnded(row.state)) return;
  if (row.state == JobState::kRunning) return Evict(job, EvictionCause::kDeleted);
  if (row.state == JobState::kStarting) {
    UndoBinding(handles_[job.value()].binding);
  } else if (IsBeingEvicted(job)) {
    return;  // between two pods
  } else {
    dispatcher_->Remove(job);
  }
  pods_waiting_ -= row.pods;
  ++row.evictions;
  for (uint32_t i = 0; i < row.pods && parts_.node_agent != nullptr; ++i) {
    parts_.node_agent->PodDeleted(PodOf(row, i), now_);
  }
  Wait(job);
  WakeScheduler();
}

void Engine::Evict(JobId job, EvictionCause cause) {
  const SimDuration grace = options_.interruption.grace_period;
  const bool lost = cause == EvictionCause::kNodeLost;
  if (parts_.jobs->row(job).state == JobState::kStarting) {
    UndoBinding(handles_[job.value()].binding);
    dispatcher_->Add(job);
    return WakeScheduler();
  }
  // Its work is done: it is on its way, and has nothing to do again.
  if (handles_[job.value()].pods_ending > 0 && !lost) return;
  if (grace <= SimDuration() || lost) return Interrupt(job, cause);
  if (IsBeingEvicted(job)) return;
  handles_[job.value()].eviction =
      events_.Push(After(grace), EventRank::kDeparture, EventKind::kEvictionDone, job.value(),
                   static_cast<uint32_t>(cause), 0);
}

void Engine::ChargeStart(JobId job) {
  if (handles_[job.value()].pods_starting == 0) return;
  JobRow& row = parts_.jobs->mutable_row(job);
  row.overhead_left = row.overhead_left + (now_ - row.started);
}

void Engine::Interrupt(JobId job, EvictionCause cause) {
  JobTable& jobs = *parts_.jobs;
  JobRow& row = jobs.mutable_row(job);
  std::vector<NodeId> nodes;
  for (uint32_t i = 0; i < row.pods; ++i) nodes.push_back(parts_.cluster->pod_node(PodOf(row, i)));
  ChargeStart(job);
  StopRunning(job);
  const bool lost = cause == EvictionCause::kNodeLost;
  if (lost && !row.recreated) {
    // Nobody creates its pods anew.
    ReleasePods(job, RecordKind::kPodFailed, static_cast<uint32_t>(cause));
    jobs.End(job, JobState::kFailed, now_);
    Cancel(&handles_[job.value()].deletion);
    dispatcher_->OnEnd(job);
  } else {
    ReleasePods(job, RecordKind::kPodEvicted, static_cast<uint32_t>(cause));
    const SimDuration whole =
        row.retry < row.retries ? jobs.failed_attempts(job)[row.retry] : row.run_time;
    const SimDuration before = jobs.HasLength(job) ? whole - row.remaining : SimDuration();
    const SimDuration kept = options_.interruption.Kept(before, jobs.WorkDone(job, now_));
    ++(cause == EvictionCause::kPreempted ? row.preemptions : row.evictions);
    SimDuration overhead = options_.interruption.RestartDelay(row.request.gpu_milli);
    if (options_.interruption.restarts_add_up && now_ - row.started < row.overhead_left) {
      overhead = overhead + (row.overhead_left - (now_ - row.started));
    }
    jobs.Interrupt(job, now_, kept, overhead);
    Recreate(job, lost ? options_.recreation_delay : SimDuration());
  }
  for (NodeId node : nodes) Notify(kPodRemoved, node);
  WakeScheduler();
}

void Engine::Recreate(JobId job, SimDuration delay) {
  if (delay <= SimDuration()) return Wait(job);
  pods_waiting_ += parts_.jobs->row(job).pods;
  handles_[job.value()].eviction = events_.Push(After(delay), EventRank::kTimer, EventKind::kTimer,
                                                job.value(), kRecreationTimer, 0);
}

void Engine::EmptyNode(NodeId node, EvictionCause cause) {
  // A copy, because the list changes while jobs leave; a gang may have several pods here.
  const absl::Span<const PodId> pods = parts_.cluster->pods_on(node);
  std::vector<JobId> jobs;
  for (PodId pod : pods) {
    const JobId job = parts_.jobs->job_of(pod);
    if (std::find(jobs.begin(), jobs.end(), job) == jobs.end()) jobs.push_back(job);
  }
  for (JobId job : jobs) {
    Evict(job, cause);
  }
}

void Engine::PushNodeChange() {
  if (next_node_change_ == parts_.node_changes.size()) return;
  events_.Push(std::max(parts_.node_changes[next_node_change_].at, now_), EventRank::kNodeChange,
               EventKind::kNodeChange, 0, 0, 0);
}

// Brings a node in line with its troubles. Pods leave before the node does.
void Engine::UpdateNode(NodeId node) {
  ClusterState& cluster = *parts_.cluster;
  const NodeTroubles& t = troubles_[node.value()];
  const auto emit = [&](NodeChangeKind kind) {
    Emit(RecordKind::kNodeChanged, PodId(), node, DeviceSet(), static_cast<uint32_t>(kind));
  };
  const bool schedulable = t.cordons == 0;
  if (schedulable != cluster.node(node).schedulable) {
    cluster.SetSchedulable(node, schedulable);
    emit(schedulable ? NodeChangeKind::kUncordoned : NodeChangeKind::kCordoned);
    if (schedulable) {
      Notify(kNodeSchedulable, node);
    } else {
      dispatcher_->OnNodeLost(node);
    }
  }
  const bool available = !t.absent && t.failures == 0;
  if (available == cluster.node(node).available) return;
  if (!available) {
    if (parts_.node_agent != nullptr) parts_.node_agent->NodeLost(node, now_);
    EmptyNode(node, EvictionCause::kNodeLost);
  }
  cluster.SetAvailable(node, available);
  emit(available ? NodeChangeKind::kAvailable : NodeChangeKind::kUnavailable);
  if (available) {
    Notify(kNodeAdded, node);
  } else {
    dispatcher_->OnNodeLost(node);
  }
}

void Engine::ChangeNode(const NodeTransition& change) {
  using Action = NodeTransition::Action;
  if (change.action == Action::kDevices) {
    DRASIM_CHECK(parts_.node_agent != nullptr);
    parts_.node_agent->OnTransition(change.devices, now_);
    return WakeScheduler();
  }
  NodeTroubles& t = troubles_[change.node.value()];
  switch (change.action) {
    case Action::kAdd:
    case Action::kRemove:
      t.absent = change.action == Action::kRemove;
      break;
    case Action::kFail:
      ++t.failures;
      break;
    case Action::kRecover:
      t.failures -= t.failures > 0 ? 1 : 0;
      break;
    case Action::kCordon:
    case Action::kDrain:
      ++t.cordons;
      break;
    case Action::kUncordon:
      t.cordons -= t.cordons > 0 ? 1 : 0;
      break;
    case Action::kDevices:
      break;
  }
  UpdateNode(change.node);
  if (change.action == Action::kDrain) EmptyNode(change.node, EvictionCause::kDrained);
  WakeScheduler();
}

}  // namespace drasim
