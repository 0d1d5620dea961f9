#include "policies/dra/in_flight_claims.h"

#include <vector>

#include "absl/status/statusor.h"
#include "model/check.h"
#include "model/kube/slice_facts_of.h"
#include "policies/dra/claim_rules.h"

namespace drasim {

void InFlightClaims::Add(const ClaimRef& claim, absl::string_view pod_uid,
                         absl::string_view group) {
  const absl::StatusOr<std::vector<HoldFacts>> devices = HoldFactsOf(*claim.allocation());
  DRASIM_CHECK(devices.ok());
  cluster_.HoldDevices(HolderOf(claim), /*pending=*/true, *devices);
  flights_[claim.uid()] = {claim, std::string(group), {std::string(pod_uid)}};
}

void InFlightClaims::Leave(absl::string_view uid, absl::string_view pod_uid) {
  const auto found = flights_.find(uid);
  if (found == flights_.end()) return;
  found->second.pods.erase(std::string(pod_uid));
  if (found->second.pods.empty()) Remove(uid);
}

void InFlightClaims::Remove(absl::string_view uid) {
  const auto found = flights_.find(uid);
  if (found == flights_.end()) return;
  cluster_.ReleaseDevices(HolderOf(found->second.claim), /*pending=*/true);
  flights_.erase(found);
}

void InFlightClaims::Clear() {
  while (!flights_.empty()) Remove(std::string(flights_.begin()->first));
}

}  // namespace drasim
