// Claims whose devices are chosen but not written yet: upstream's pending allocations. Their
// devices count as allocated, and other pods that want such a claim wait.
#ifndef DRASIM_POLICIES_DRA_IN_FLIGHT_CLAIMS_H_
#define DRASIM_POLICIES_DRA_IN_FLIGHT_CLAIMS_H_

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "policies/dra/claim_port.h"

namespace drasim {

class InFlightClaims {
 public:
  // `claim` has its allocation, and finalizer.
  void Add(ClaimRef claim) {
    std::string uid = claim->metadata().uid();
    claims_.insert_or_assign(std::move(uid), std::move(claim));
  }
  void Remove(absl::string_view uid) {
    const auto found = claims_.find(uid);
    if (found != claims_.end()) claims_.erase(found);
  }
  bool Has(absl::string_view uid) const { return claims_.find(uid) != claims_.end(); }
  // In the order of their UIDs.
  void ForEach(absl::FunctionRef<void(const ClaimRef&)> visit) const {
    for (const auto& [uid, claim] : claims_) visit(claim);
  }

 private:
  std::map<std::string, ClaimRef, std::less<>> claims_;  // by UID
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRA_IN_FLIGHT_CLAIMS_H_
