#include "sim/core/shared_cluster_dispatcher.h"

#include <algorithm>
#include <utility>

#include "model/status_macros.h"

namespace drasim {

SharedClusterDispatcher::SharedClusterDispatcher(
    std::vector<std::unique_ptr<KubernetesDispatcher>> schedulers, std::vector<size_t> scheduler_of,
    Profiles profiles, const ClusterState* cluster, const JobTable* jobs)
    : schedulers_(std::move(schedulers)),
      scheduler_of_(std::move(scheduler_of)),
      profiles_(std::move(profiles)),
      cluster_(cluster),
      jobs_(jobs) {}

KubernetesDispatcher& SharedClusterDispatcher::Of(JobId job) {
  const PodId pod = jobs_->row(job).first_pod;
  const std::optional<size_t> profile = profiles_.IndexOf(cluster_->pod_shape_id(pod));
  return *schedulers_[profile.has_value() ? scheduler_of_[*profile] : 0];
}

void SharedClusterDispatcher::OnEvent(const ClusterChange& change) {
  for (const auto& scheduler : schedulers_) scheduler->OnEvent(change);
}

void SharedClusterDispatcher::OnQuotaChange() {
  for (const auto& scheduler : schedulers_) scheduler->OnQuotaChange();
}

bool SharedClusterDispatcher::Ready() const {
  return std::any_of(schedulers_.begin(), schedulers_.end(),
                     [](const auto& scheduler) { return scheduler->Ready(); });
}

void SharedClusterDispatcher::Dispatch() {
  for (const auto& scheduler : schedulers_) {
    if (scheduler->Ready()) scheduler->Dispatch();
  }
}

std::optional<SimTime> SharedClusterDispatcher::NextTimer() {
  std::optional<SimTime> next;
  for (const auto& scheduler : schedulers_) {
    const std::optional<SimTime> due = scheduler->NextTimer();
    if (!next.has_value() || (due.has_value() && *due < *next)) next = due;
  }
  return next;
}

void SharedClusterDispatcher::OnTimer() {
  for (const auto& scheduler : schedulers_) scheduler->OnTimer();
}

bool SharedClusterDispatcher::TimerMayHelp() const {
  return std::any_of(schedulers_.begin(), schedulers_.end(),
                     [](const auto& scheduler) { return scheduler->TimerMayHelp(); });
}

size_t SharedClusterDispatcher::waiting() const {
  size_t sum = 0;
  for (const auto& scheduler : schedulers_) sum += scheduler->waiting();
  return sum;
}

size_t SharedClusterDispatcher::in_line() const {
  size_t sum = 0;
  for (const auto& scheduler : schedulers_) sum += scheduler->in_line();
  return sum;
}

int64_t SharedClusterDispatcher::SmallestNeedMilli() const {
  int64_t smallest = 0;
  for (const auto& scheduler : schedulers_) {
    const int64_t need = scheduler->SmallestNeedMilli();
    if (need > 0 && (smallest == 0 || need < smallest)) smallest = need;
  }
  return smallest;
}

uint64_t SharedClusterDispatcher::queue_operations() const {
  uint64_t sum = 0;
  for (const auto& scheduler : schedulers_) sum += scheduler->queue_operations();
  return sum;
}

void SharedClusterDispatcher::Save(StateWriter& out) const {
  out.Section("schedulers");
  for (const auto& scheduler : schedulers_) scheduler->Save(out);
}

absl::Status SharedClusterDispatcher::Load(StateReader& in) {
  in.Section("schedulers");
  for (const auto& scheduler : schedulers_) RETURN_IF_ERROR(scheduler->Load(in));
  return in.status();
}

}  // namespace drasim
