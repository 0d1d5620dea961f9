#include "sim/core/job_arrivals.h"

#include "absl/strings/str_cat.h"
#include "model/device_set.h"
#include "model/status_macros.h"
#include "sim/core/quotas.h"

namespace drasim {

absl::Status JobArrivals::Pull() {
  ASSIGN_OR_RETURN(due_, run_->parts().source->Next(&next_));
  if (!due_) return absl::OkStatus();
  // Without a clock everything happens at time zero, in the source's order.
  const SimTime now = run_->now();
  const SimTime at = run_->is_replay() ? next_.time : now;
  if (at < now) {
    return absl::InvalidArgumentError(absl::StrCat("job '", next_.name, "' arrives at ", at.ns(),
                                                   " ns, before the one ahead of it at ", now.ns(),
                                                   " ns"));
  }
  run_->events().Push(at, EventRank::kArrival, EventKind::kPodArrival, 0, 0, 0);
  return absl::OkStatus();
}

absl::Status JobArrivals::OnArrival() {
  Arrive();
  return Pull();
}

JobId JobArrivals::AddNext() {
  ClusterState& cluster = run_->cluster();
  const SimTime now = run_->now();
  next_.time = now;
  const PodId first(cluster.pod_count());
  const JobId job = run_->jobs().Add(next_, first, cluster.shapes());
  jobs_->AddJob(job);
  const JobRow& row = run_->jobs().row(job);
  if (row.pods == 1) {
    cluster.AddPod(next_.name, next_.shape, next_.priority, now);
  } else {
    uint32_t i = 0;
    const auto add = [&](ShapeId shape, int32_t pods) {
      for (int32_t k = 0; k < pods; ++k, ++i) {
        cluster.AddPod(absl::StrCat(next_.name, "-", i), shape, next_.priority, now);
      }
    };
    add(next_.shape, next_.pods);
    for (const PodGroup& group : next_.more_pods) add(group.shape, group.pods);
  }
  for (uint32_t i = 0; i < row.pods; ++i) {
    const PodId pod = RunContext::PodOf(row, i);
    run_->Emit(RecordKind::kPodArrived, pod, NodeId(), DeviceSet(),
               cluster.pod_shape_id(pod).value());
  }
  if (run_->agent() != nullptr) run_->agent()->PodsCreated(job, now);
  return job;
}

void JobArrivals::Arrive() {
  const JobId job = AddNext();
  const JobRow& row = run_->jobs().row(job);
  if (const std::vector<NodeId>& homes = run_->parts().standing_on;
      job.value() < homes.size() && homes[job.value()].valid()) {
    return Settle(job, homes[job.value()], run_->parts().standing_devices[job.value()]);
  }
  Dispatcher& dispatcher = scheduling_->dispatcher();
  if (!run_->is_replay()) {
    dispatcher.Add(job);
    dispatcher.Dispatch();
    return;
  }
  const SimTime now = run_->now();
  Placer& placer = *run_->parts().placer;
  jobs_->ScheduleDeletions(job, next_.name);
  if (IsHeld(row)) {
    // No dispatcher receives the job, which would be tried again and again or block a line. The
    // failed attempt records why it waits.
    if (const auto why = placer.WhyNever(job, now)) jobs_->RecordFailure(job, *why);
    return;
  }
  const bool fits_quota =
      run_->parts().quotas->EverAllows(run_->jobs().tenant_name(row.tenant), now, row.request);
  if (!fits_quota || !placer.CouldEverFit(job)) {
    if (never_fitting_++ == 0) first_never_fitting_ = job;
    if (const auto why = placer.WhyNever(job, now)) jobs_->RecordFailure(job, *why);
    jobs_->Drop(job);
    return;
  }
  dispatcher.Add(job);
  if (run_->agent() != nullptr) run_->agent()->OnArrival(now);
  scheduling_->Wake();
}

void JobArrivals::Settle(JobId job, NodeId node, DeviceSet devices) {
  if (run_->is_replay()) jobs_->ScheduleDeletions(job, next_.name);
  if (jobs_->StartOn(job, node, devices)) {
    scheduling_->dispatcher().OnSettled(job);
    return scheduling_->Wake();
  }
  if (never_fitting_++ == 0) first_never_fitting_ = job;
  jobs_->Drop(job);
}

bool JobArrivals::IsHeld(const JobRow& row) const {
  for (uint32_t i = 0; i < row.pods; ++i) {
    const PodId pod = RunContext::PodOf(row, i);
    if (run_->cluster().pod_shape(pod).constraints.hold != PodHold::kNone) return true;
  }
  return false;
}

}  // namespace drasim
