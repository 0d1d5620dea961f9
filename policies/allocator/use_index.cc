#include "policies/allocator/use_index.h"

#include <cstddef>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace drasim {

absl::StatusOr<UseIndex> UseIndex::Make(const DeviceCatalog& catalog, const DeviceUse& use) {
  UseIndex index;
  index.dedicated_.resize(catalog.devices().size());
  for (const DeviceId& id : use.dedicated) {
    for (const uint32_t device : catalog.Find(id)) index.dedicated_[device] = true;
  }
  for (const DeviceId& id : use.shared) {
    for (const uint32_t device : catalog.Find(id)) index.shares_[device];
  }
  for (const auto& [id, consumed] : use.consumed) {
    for (const uint32_t device : catalog.Find(id)) {
      const DeviceKind& kind = catalog.kinds()[catalog.devices()[device].kind];
      const DeviceCapacities& capacities = catalog.capacities(kind.capacities);
      std::vector<ExactAmount>& amounts = index.shares_[device];
      amounts.resize(capacities.size());
      for (size_t i = 0; i < capacities.size(); ++i) {
        const auto found = consumed.find(capacities[i].name);
        if (found == consumed.end()) continue;
        const std::optional<ExactAmount> nanos = found->second.Nanos();
        if (!nanos.has_value()) {
          return absl::OutOfRangeError(
              absl::StrCat("device ", id.Text(), ": consumed capacity ", found->first, ": found ",
                           found->second.ToString(), ", expected at most 10^24"));
        }
        amounts[i] = *nanos;
      }
    }
  }
  return index;
}

const std::vector<ExactAmount>* UseIndex::ConsumedOf(uint32_t device) const {
  if (shares_.empty()) return nullptr;
  const auto found = shares_.find(device);
  return found == shares_.end() || found->second.empty() ? nullptr : &found->second;
}

}  // namespace drasim
