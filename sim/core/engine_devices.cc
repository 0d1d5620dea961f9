// What happens below the scheduler: admission by nodes, and changes of their devices.

#include <algorithm>
#include <vector>

#include "model/check.h"
#include "model/device_set.h"
#include "sim/core/engine.h"

namespace drasim {
namespace {

// What a controller needs at least to see that a pod has failed and to make another.
constexpr SimDuration kShortestRecreation(100'000'000);
// A replica set would go on for ever; a run has to end.
constexpr uint32_t kMostRecreations = 1000;

}  // namespace

bool Engine::Admit(JobId job) {
  ClusterState& cluster = *parts_.cluster;
  JobRow& row = parts_.jobs->mutable_row(job);
  SimDuration delay;
  for (uint32_t i = 0; i < row.pods; ++i) {
    const PodId pod = PodOf(row, i);
    const NodeId node = cluster.pod_node(pod);
    const Admission admission = parts_.node_agent->Admit(pod, node, now_);
    if (admission.failure != AdmissionFailure::kNone) {
      TurnAway(job, pod, i, admission.failure);
      return false;
    }
    delay = std::max(delay, admission.start_delay);
    if (admission.starts_later) ++handles_[job.value()].pods_starting;
    if (!admission.grants.empty()) {
      cluster.Grant(pod, admission.devices, admission.grants);
      Emit(RecordKind::kPodAdmitted, pod, node, admission.devices, 0);
    }
    if (admission.has_started) {
      Emit(RecordKind::kPodStarted, pod, node, cluster.pod_devices(pod), 0);
    }
  }
  // Devices are made ready before the work begins.
  row.overhead_left = row.overhead_left + delay;
  return true;
}

// The pods before `pod` were let in, those behind it were not asked.
void Engine::TurnAway(JobId job, PodId pod, uint32_t admitted, AdmissionFailure failure) {
  ClusterState& cluster = *parts_.cluster;
  JobRow& row = parts_.jobs->mutable_row(job);
  const OwnerOptions& owner = options_.owner;
  ++row.admission_failures;
  const bool for_good =
      options_.mode == RunMode::kFill || owner.kind == OwnerOptions::Kind::kNone ||
      row.admission_failures > kMostRecreations ||
      (owner.kind == OwnerOptions::Kind::kJob && row.admission_failures > owner.backoff_limit);
  std::vector<NodeId> nodes;
  for (uint32_t i = 0; i < row.pods; ++i) {
    const PodId each = PodOf(row, i);
    const NodeId node = cluster.pod_node(each);
    const DeviceSet devices = cluster.pod_devices(each);
    nodes.push_back(node);
    if (i < admitted) parts_.node_agent->Removed(each, node, now_);
    if (for_good) {
      cluster.Fail(each);
    } else {
      cluster.Evict(each);
    }
    if (each == pod) {
      Emit(RecordKind::kPodRejected, each, node, devices,
           static_cast<uint32_t>(failure) | (for_good ? kGivenUp : 0));
    } else {
      Emit(for_good ? RecordKind::kPodFailed : RecordKind::kPodEvicted, each, node, devices,
           static_cast<uint32_t>(EvictionCause::kTurnedAway));
    }
  }
  if (for_good) {
    parts_.jobs->End(job, JobState::kFailed, now_);
    Cancel(&handles_[job.value()].deletion);
    dispatcher_->OnEnd(job);
  } else {
    parts_.jobs->CancelStart(job);
    // Never at once: the scheduler may be in the middle of a pass, and time has to go on.
    SimDuration delay = kShortestRecreation;
    if (owner.kind == OwnerOptions::Kind::kJob) {
      delay = owner.backoff;
      for (uint32_t n = 1; n < row.admission_failures && delay < owner.max_backoff; ++n) {
        delay = delay + delay;
      }
      delay = std::max(std::min(delay, owner.max_backoff), kShortestRecreation);
    }
    Recreate(job, delay);
  }
  for (NodeId node : nodes) Notify(kPodRemoved, node);
  WakeScheduler();
}

void Engine::ArmNodeTimer(SimTime at, uint64_t token) {
  events_.Push(std::max(at, now_), EventRank::kTimer, EventKind::kTimer, 0, kNodeAgentTimer, token);
}

void Engine::RecordDevices(NodeId node, DeviceSet devices, DeviceChangeKind kind) {
  Emit(RecordKind::kDevicesChanged, PodId(), node, devices, static_cast<uint32_t>(kind));
}

void Engine::PublishAllocatable(NodeId node, absl::Span<const int64_t> amounts) {
  ClusterState& cluster = *parts_.cluster;
  DRASIM_CHECK_EQ(amounts.size(), cluster.extended_names().size());
  bool changed = false;
  bool more = false;
  for (size_t e = 0; e < amounts.size(); ++e) {
    const int64_t before = cluster.extended_capacity(node, e);
    changed |= amounts[e] != before;
    more |= amounts[e] > before;
    cluster.SetExtendedCapacity(node, e, amounts[e]);
  }
  if (!changed) return;
  RecordDevices(node, DeviceSet(), DeviceChangeKind::kAllocatable);
  if (more) Notify(kNodeAllocatable, node);
  WakeScheduler();
}

void Engine::EvictHolders(NodeId node, DeviceSet gpus) {
  std::vector<JobId> jobs;
  for (PodId pod : parts_.cluster->pods_on(node)) {
    if (!parts_.cluster->pod_devices(pod).Intersects(gpus)) continue;
    const JobId job = parts_.jobs->job_of(pod);
    if (std::find(jobs.begin(), jobs.end(), job) == jobs.end()) jobs.push_back(job);
  }
  for (JobId job : jobs) Evict(job, EvictionCause::kRepartitioned);
}

}  // namespace drasim
