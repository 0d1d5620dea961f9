// Dominant resource fairness: the tenant goes next that holds least of what it holds most of.
// Source: Ghodsi et al., "Dominant Resource Fairness: Fair Allocation of Multiple Resource Types",
// NSDI 2011 (without weights).
#ifndef DRASIM_POLICIES_QUEUES_DRF_H_
#define DRASIM_POLICIES_QUEUES_DRF_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "policies/framework/queue_policy.h"

namespace drasim {

// Within a tenant first in, first out. Jobs without a tenant are those of one more tenant.
class DrfQueue : public QueuePolicy {
 public:
  absl::string_view name() const override { return "drf"; }
  JobKey Key(const JobTable& jobs, JobId job) override;
  bool per_tenant() const override { return true; }
  // The tenant's dominant share: the largest of what its starting and running jobs hold of the
  // cluster's CPU, memory and GPUs, in parts per billion, rounded down. A resource that no
  // available node has does not count.
  int64_t TenantKey(const JobTable& jobs, const ClusterState& cluster,
                    TenantId tenant) const override;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_QUEUES_DRF_H_
