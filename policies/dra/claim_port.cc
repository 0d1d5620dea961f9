#include "policies/dra/claim_port.h"

#include <algorithm>

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

bool IsOwnedBy(const kube::ResourceClaimV1& claim, const ClaimingPod& pod) {
  const auto& owners = claim.metadata().owner_references();
  return std::any_of(owners.begin(), owners.end(), [&](const kube::OwnerReference& owner) {
    return owner.controller() && owner.name() == pod.name && owner.uid() == pod.uid;
  });
}

}  // namespace

bool IsExtendedResourceClaim(const kube::ResourceClaimV1& claim) {
  const auto& annotations = claim.metadata().annotations();
  const auto found = annotations.find(kExtendedResourceClaimAnnotation);
  return found != annotations.end() && found->second == "true";
}

ClaimRef ClaimCache::FindExtendedClaim(const ClaimingPod& pod) const {
  ClaimRef found;
  ForEachClaim([&](const ClaimRef& claim) {
    if (found == nullptr && IsExtendedResourceClaim(*claim) && IsOwnedBy(*claim, pod)) {
      found = claim;
    }
  });
  return found;
}

}  // namespace drasim
