// Quotas: the amounts that each tenant's jobs may hold at once, as a function of time.
#ifndef DRASIM_SIM_CORE_QUOTAS_H_
#define DRASIM_SIM_CORE_QUOTAS_H_

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "model/job_table.h"
#include "model/time.h"

namespace drasim {

// Immutable once the run begins. Tenants without a quota have no limit.
class Quotas {
 public:
  static constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

  // From `since` on, until the tenant's next entry, `limit` holds. A later call for the same time
  // replaces the entry. Before its first entry a tenant has no limit.
  void Add(absl::string_view tenant, SimTime since, const ResourceAmounts& limit);

  bool empty() const { return steps_.empty(); }
  // Whether a tenant that holds `held` may hold `more` beside it at `now`. O(log steps).
  bool Allows(absl::string_view tenant, SimTime now, const ResourceAmounts& held,
              const ResourceAmounts& more) const;
  // Whether `request` alone is within the largest limit the tenant ever has from `now` on.
  bool EverAllows(absl::string_view tenant, SimTime now, const ResourceAmounts& request) const;
  // Times at which any limit changes, sorted, each once.
  std::vector<SimTime> ChangeTimes() const;

 private:
  struct Step {
    SimTime since;
    ResourceAmounts limit;
  };
  const std::vector<Step>* Find(absl::string_view tenant) const;

  absl::flat_hash_map<std::string, size_t> index_;
  std::vector<std::vector<Step>> steps_;  // by tenant
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_QUOTAS_H_
