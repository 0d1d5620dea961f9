#include "policies/allocator/device_use.h"

#include "absl/strings/str_cat.h"
#include "model/kube/rules.h"
#include "model/status_macros.h"

namespace drasim {

std::string DeviceId::Text() const { return absl::StrCat(driver, "/", pool, "/", device); }

absl::Status DeviceUse::Add(const proto::kube::ResourceClaimV1& claim) {
  for (const auto& result : claim.status().allocation().devices().results()) {
    if (result.admin_access()) continue;
    const DeviceId id = {result.driver(), result.pool(), result.device()};
    if (!result.has_share_id()) {
      dedicated.push_back(id);
      continue;
    }
    shared.push_back(id);
    for (const auto& [name, text] : SortedTexts(result.consumed_capacity())) {
      ASSIGN_OR_RETURN(const Quantity amount, Quantity::Parse(text));
      Quantity& sum = consumed[id][name];
      sum = sum + amount;
    }
  }
  return absl::OkStatus();
}

}  // namespace drasim
