// Dominant resource fairness: the tenant with the smallest dominant share goes next.
// Source: Ghodsi et al., "Dominant Resource Fairness: Fair Allocation of Multiple Resource Types",
// NSDI 2011 (without weights).
#ifndef DRASIM_POLICIES_QUEUES_DRF_H_
#define DRASIM_POLICIES_QUEUES_DRF_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "policies/framework/queue_policy.h"

namespace drasim {

// First in, first out within a tenant. Jobs without a tenant form one more tenant.
class DrfQueue : public QueuePolicy {
 public:
  absl::string_view name() const override { return "drf"; }
  JobKey Key(const JobTable& jobs, JobId job) override;
  bool per_tenant() const override { return true; }
  // The tenant's dominant share: the largest share that its starting and running jobs hold of the
  // cluster's CPU, memory or GPUs, in parts per billion, rounded down. Resources that no available
  // node has do not count.
  int64_t TenantKey(const JobTable& jobs, const ClusterState& cluster,
                    TenantId tenant) const override;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_QUEUES_DRF_H_
