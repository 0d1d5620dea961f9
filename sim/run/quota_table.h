// Daily quotas of tenants in the format of Helios: GPUs per virtual cluster.
#ifndef DRASIM_SIM_RUN_QUOTA_TABLE_H_
#define DRASIM_SIM_RUN_QUOTA_TABLE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "sim/core/quotas.h"
#include "sim/scenario/run_options.h"

namespace drasim {

// Adds the quotas of a CSV file (or .csv.gz) with the header "date,TENANT,TENANT,..." and one row
// per day; a last column "total" is ignored. Each number is the tenant's quota in GPUs from the
// start of that day (UTC); days before the run's time zero count from time zero.
// `origin_ns`: time zero, in nanoseconds since 1970. InvalidArgument: "FILE:LINE: found ...,
// expected ...".
absl::Status ReadQuotaTable(const std::string& path, int64_t origin_ns, Quotas* quotas);

// The quotas of the entries and of their tables. `origin_ns` as above.
absl::StatusOr<Quotas> MakeQuotas(absl::Span<const QuotaSpec> entries, int64_t origin_ns);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_QUOTA_TABLE_H_
