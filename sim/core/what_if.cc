#include "sim/core/what_if.h"

#include "model/check.h"

namespace drasim {

size_t WhatIf::Remove(PodId pod) {
  if (!open_) cluster_->BeginWhatIf();
  open_ = true;
  const bool bound = cluster_->pod_phase(pod) == PodPhase::kBound;
  const absl::Span<const DeviceGrant> grants = cluster_->pod_grants(pod);
  removed_.push_back({pod, cluster_->pod_node(pod), cluster_->pod_devices(pod),
                      DeviceGrants(grants.begin(), grants.end()), bound});
  if (bound) {
    cluster_->Evict(pod);
  } else {
    cluster_->Forget(pod);
  }
  return removed_.size() - 1;
}

void WhatIf::Restore(size_t removal) {
  DRASIM_CHECK_LT(removal, removed_.size());
  const Removed& r = removed_[removal];
  cluster_->PutBack(r.pod, r.node, r.devices, r.grants, r.bound);
}

size_t WhatIf::RemoveJob(const JobRow& row) {
  const size_t first = removed_.size();
  for (uint32_t i = 0; i < row.pods; ++i) Remove(PodId(row.first_pod.value() + i));
  return first;
}

void WhatIf::RestoreJob(const JobRow& row, size_t first_removal) {
  for (uint32_t i = 0; i < row.pods; ++i) Restore(first_removal + i);
}

void WhatIf::End() {
  if (open_) cluster_->Rollback();
  open_ = false;
  removed_.clear();
}

}  // namespace drasim
