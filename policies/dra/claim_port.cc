#include "policies/dra/claim_port.h"

#include <algorithm>

namespace drasim {
namespace kube = ::drasim::proto::kube;

bool IsExtendedResourceClaim(const kube::ResourceClaimV1& claim) {
  const auto& annotations = claim.metadata().annotations();
  const auto found = annotations.find(kExtendedResourceClaimAnnotation);
  return found != annotations.end() && found->second == "true";
}

bool IsExtendedClaimOf(const kube::ResourceClaimV1& claim, const kube::Pod& pod) {
  if (!IsExtendedResourceClaim(claim)) return false;
  const auto& owners = claim.metadata().owner_references();
  return std::any_of(owners.begin(), owners.end(), [&](const kube::OwnerReference& owner) {
    return owner.controller() && owner.name() == pod.metadata().name() &&
           owner.uid() == pod.metadata().uid();
  });
}

ClaimRef ClaimCache::FindExtendedClaim(const kube::Pod& pod) const {
  ClaimRef found;
  ForEachClaim([&](const ClaimRef& claim) {
    if (found == nullptr && IsExtendedClaimOf(*claim, pod)) found = claim;
  });
  return found;
}

}  // namespace drasim
