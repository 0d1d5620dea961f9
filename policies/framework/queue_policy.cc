#include "policies/framework/queue_policy.h"

namespace drasim {

int64_t QueuePolicy::TenantKey(const JobTable&, const ClusterState&, TenantId) const { return 0; }

bool QueuePolicy::MayPreempt(const JobTable&, JobId, JobId, SimTime) const { return false; }

JobKey QueuePolicy::VictimKey(const JobTable&, JobId, SimTime) const { return {}; }

void QueuePolicy::OnEnd(const JobTable&, JobId) {}

}  // namespace drasim
