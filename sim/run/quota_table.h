// Quotas of tenants by day, as Helios publishes them: GPUs per virtual cluster.
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

// Reads a CSV file (or .csv.gz) with the header "date,TENANT,TENANT,..." and one row per day; a
// last column "total" is left out. Each number is the tenant's quota in GPUs from the beginning of
// that day (UTC) on; days before the run's time zero give the quota at time zero. `origin_ns` is
// time zero, in nanoseconds from 1970. Errors: "FILE:LINE: found ..., expected ...".
absl::Status ReadQuotaTable(const std::string& path, int64_t origin_ns, Quotas* quotas);

// The quotas of the entries, with those of their tables. `origin_ns` as above.
absl::StatusOr<Quotas> MakeQuotas(absl::Span<const QuotaSpec> entries, int64_t origin_ns);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_QUOTA_TABLE_H_
