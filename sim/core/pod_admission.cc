#include "sim/core/pod_admission.h"

#include <algorithm>

#include "model/device_set.h"

namespace drasim {
namespace {

// The minimum time for a controller to notice a failed pod and create another.
constexpr SimDuration kShortestRecreation(100'000'000);
// A replica set would retry without limit; a run must terminate.
constexpr uint32_t kMostRecreations = 1000;

}  // namespace

JobAdmission PodAdmission::Admit(JobId job, uint32_t* pods_starting) {
  ClusterState& cluster = run_->cluster();
  const JobRow& row = run_->jobs().row(job);
  JobAdmission all;
  for (uint32_t i = 0; i < row.pods; ++i) {
    const PodId pod = RunContext::PodOf(row, i);
    const NodeId node = cluster.pod_node(pod);
    const Admission admission = run_->agent()->Admit(pod, node, run_->now());
    if (admission.failure != AdmissionFailure::kNone) {
      return Reject(job, pod, i, admission.failure);
    }
    all.start_delay = std::max(all.start_delay, admission.start_delay);
    if (admission.starts_later) ++*pods_starting;
    if (!admission.grants.empty()) {
      cluster.Grant(pod, admission.devices, admission.grants);
      run_->Emit(RecordKind::kPodAdmitted, pod, node, admission.devices, 0);
    }
    if (admission.has_started) {
      run_->Emit(RecordKind::kPodStarted, pod, node, cluster.pod_devices(pod), 0);
    }
  }
  return all;
}

JobAdmission PodAdmission::AnswerOfOwner(JobId job) {
  JobRow& row = run_->jobs().mutable_row(job);
  const OwnerOptions& owner = run_->options().owner;
  ++row.admission_failures;
  JobAdmission result;
  result.admitted = false;
  result.given_up =
      !run_->is_replay() || owner.kind == OwnerOptions::Kind::kNone ||
      row.admission_failures > kMostRecreations ||
      (owner.kind == OwnerOptions::Kind::kJob && row.admission_failures > owner.backoff_limit);
  // Never at once: the scheduler may be in the middle of a pass, and time has to go on.
  result.recreated_after = kShortestRecreation;
  if (owner.kind == OwnerOptions::Kind::kJob) {
    SimDuration delay = owner.backoff;
    for (uint32_t n = 1; n < row.admission_failures && delay < owner.max_backoff; ++n) {
      delay = delay + delay;
    }
    result.recreated_after = std::max(std::min(delay, owner.max_backoff), kShortestRecreation);
  }
  return result;
}

JobAdmission PodAdmission::Reject(JobId job, PodId pod, uint32_t admitted,
                                  AdmissionFailure failure) {
  ClusterState& cluster = run_->cluster();
  JobAdmission result = AnswerOfOwner(job);
  const JobRow& row = run_->jobs().row(job);
  for (uint32_t i = 0; i < row.pods; ++i) {
    const PodId each = RunContext::PodOf(row, i);
    const NodeId node = cluster.pod_node(each);
    const DeviceSet devices = cluster.pod_devices(each);
    result.vacated.push_back(node);
    if (i < admitted) run_->agent()->Removed(each, node, run_->now());
    if (result.given_up) {
      cluster.Fail(each);
    } else {
      cluster.Evict(each);
    }
    if (each == pod) {
      run_->Emit(RecordKind::kPodRejected, each, node, devices,
                 static_cast<uint32_t>(failure) | (result.given_up ? kGivenUp : 0));
    } else {
      run_->Emit(result.given_up ? RecordKind::kPodFailed : RecordKind::kPodEvicted, each, node,
                 devices, static_cast<uint32_t>(EvictionCause::kTurnedAway));
    }
  }
  return result;
}

JobAdmission PodAdmission::TurnAway(JobId job, absl::Span<const NodeId> nodes,
                                    AdmissionFailure failure) {
  JobAdmission result = AnswerOfOwner(job);
  const JobRow& row = run_->jobs().row(job);
  // Pods without a controller are not replaced.
  result.given_up |= !row.recreated;
  for (uint32_t i = 0; i < row.pods; ++i) {
    const PodId pod = RunContext::PodOf(row, i);
    if (result.given_up) run_->cluster().Fail(pod);
    run_->Emit(RecordKind::kPodRejected, pod, nodes[i], DeviceSet(),
               static_cast<uint32_t>(failure) | (result.given_up ? kGivenUp : 0));
  }
  return result;
}

}  // namespace drasim
