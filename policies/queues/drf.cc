#include "policies/queues/drf.h"

#include <algorithm>
#include <limits>
#include <memory>

#include "absl/numeric/int128.h"
#include "policies/framework/registry.h"

namespace drasim {
namespace {

constexpr uint64_t kBillion = 1'000'000'000;

int64_t ShareInBillionths(int64_t held, int64_t capacity) {
  if (held <= 0 || capacity <= 0) return 0;
  const absl::uint128 share = absl::uint128(static_cast<uint64_t>(held)) * absl::uint128(kBillion) /
                              absl::uint128(static_cast<uint64_t>(capacity));
  // Nodes that leave may make a share larger than one, even absurdly so.
  const auto most = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  return static_cast<int64_t>(absl::Uint128Low64(std::min(share, absl::uint128(most))));
}

}  // namespace

JobKey DrfQueue::Key(const JobTable& jobs, JobId job) { return {jobs.row(job).submitted.ns(), 0}; }

int64_t DrfQueue::TenantKey(const JobTable& jobs, const ClusterState& cluster,
                            TenantId tenant) const {
  const ResourceAmounts& held = jobs.tenant_usage(tenant);
  const ClusterTotals& totals = cluster.totals();
  return std::max({ShareInBillionths(held.cpu_milli, totals.cpu_milli_capacity),
                   ShareInBillionths(held.memory_bytes, totals.memory_bytes_capacity),
                   ShareInBillionths(held.gpu_milli, totals.gpu_milli_capacity)});
}

void RegisterDrfQueue(Registry& registry) {
  registry.AddQueue({"drf", "dominant resource fairness between tenants (NSDI 2011)",
                     [](const QueueContext&) { return std::make_unique<DrfQueue>(); }});
}

}  // namespace drasim
