#include "sim/core/pod_signals.h"

#include "model/device_set.h"

namespace drasim {

void PodSignals::ResumeStep(PodId pod) {
  if (jobs_->bindings().Resume(run_->jobs().job_of(pod))) scheduling_->Wake();
}

void PodSignals::RecheckPod(PodId pod) {
  scheduling_->dispatcher().Recheck(run_->jobs().job_of(pod));
  scheduling_->Wake();
}

void PodSignals::WakePod(PodId pod, bool at_once) {
  const JobId job = run_->jobs().job_of(pod);
  if (jobs_->bindings().NoteWake(job, at_once)) return;
  scheduling_->dispatcher().Wake(job, at_once);
  scheduling_->Wake();
}

void PodSignals::ClaimsChanged() {
  scheduling_->Notify(ClusterChange{.event = kClaimChanged});
  scheduling_->Wake();
}

void PodSignals::GiveDevices(PodId pod, DeviceSet devices, absl::Span<const DeviceGrant> grants) {
  run_->cluster().Grant(pod, devices, grants);
  run_->Emit(RecordKind::kPodAdmitted, pod, run_->cluster().pod_node(pod), devices, 0);
}

}  // namespace drasim
