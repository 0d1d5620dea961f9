#include "policies/dra/claim_score.h"

#include <set>
#include <string>

#include "absl/strings/str_cat.h"

namespace drasim {

namespace kube = ::drasim::proto::kube;

int64_t ClaimScore(const kube::ResourceClaimV1& claim, const kube::AllocationResultV1& allocation) {
  constexpr int64_t kMostSubrequests = 8;
  std::set<std::string> answered;
  for (const auto& result : allocation.devices().results()) answered.insert(result.request());
  int64_t score = 0;
  for (const kube::DeviceRequest& request : claim.spec().devices().requests()) {
    int64_t place = 0;
    for (const kube::DeviceSubRequest& subrequest : request.first_available()) {
      const std::string name = absl::StrCat(request.name(), "/", subrequest.name());
      if (answered.count(name) > 0) score += kMostSubrequests - place;
      ++place;
    }
  }
  return score;
}

}  // namespace drasim
