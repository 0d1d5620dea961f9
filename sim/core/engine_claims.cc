// What an agent whose pods have claims asks of the engine.

#include <utility>

#include "model/check.h"
#include "model/device_set.h"
#include "sim/core/engine.h"

namespace drasim {

void Engine::ResumeStep(PodId pod) {
  const uint32_t slot = handles_[parts_.jobs->job_of(pod).value()].binding;
  if (slot == kNone || !std::exchange(bindings_[slot].waiting, false)) return;
  Advance(slot);
  WakeScheduler();
}

void Engine::BlockScheduling(bool block) {
  DRASIM_CHECK(block || scheduling_blocked_ > 0);
  scheduling_blocked_ += block ? 1 : -1u;
  WakeScheduler();
}

void Engine::RecheckPod(PodId pod) {
  dispatcher_->Recheck(parts_.jobs->job_of(pod));
  WakeScheduler();
}

void Engine::WakePod(PodId pod, bool at_once) {
  const JobId job = parts_.jobs->job_of(pod);
  const uint32_t slot = handles_[job.value()].binding;
  if (slot != kNone) {
    bindings_[slot].woken = true;
    bindings_[slot].woken_at_once |= at_once;
    return;
  }
  dispatcher_->Wake(job, at_once);
  WakeScheduler();
}

void Engine::ClaimsChanged() {
  Notify(kClaimChanged, NodeId());
  WakeScheduler();
}

void Engine::PodStarted(PodId pod) {
  const JobId job = parts_.jobs->job_of(pod);
  JobHandles& handles = handles_[job.value()];
  // Bound on the server, but not, or no longer, here.
  if (handles.pods_starting == 0) return;
  Emit(RecordKind::kPodStarted, pod, parts_.cluster->pod_node(pod),
       parts_.cluster->pod_devices(pod), 0);
  if (--handles.pods_starting > 0) return;
  JobRow& row = parts_.jobs->mutable_row(job);
  row.overhead_left = row.overhead_left + (now_ - row.started);
  BeginWork(job);
}

void Engine::GiveDevices(PodId pod, DeviceSet devices, absl::Span<const DeviceGrant> grants) {
  parts_.cluster->Grant(pod, devices, grants);
  Emit(RecordKind::kPodAdmitted, pod, parts_.cluster->pod_node(pod), devices, 0);
}

void Engine::PodEnded(PodId pod) {
  const JobId job = parts_.jobs->job_of(pod);
  JobHandles& handles = handles_[job.value()];
  if (handles.pods_ending == 0 || --handles.pods_ending > 0) return;
  Finish(job);
}

}  // namespace drasim
