#include "policies/dra/claiming_pod.h"

namespace drasim {

namespace kube = ::drasim::proto::kube;

ClaimingPod ClaimingPodOf(const std::shared_ptr<const kube::Pod>& pod) {
  ClaimingPod made;
  made.ns = pod->metadata().namespace_();
  made.name = pod->metadata().name();
  made.uid = pod->metadata().uid();
  for (const kube::PodResourceClaim& entry : pod->spec().resource_claims()) {
    made.claims.push_back(
        {entry.name(), entry.resource_claim_name(), entry.resource_claim_template_name()});
  }
  for (const kube::PodResourceClaimStatus& status : pod->status().resource_claim_statuses()) {
    made.generated.push_back({status.name(), status.resource_claim_name()});
  }
  made.containers = {pod, &pod->spec()};
  return made;
}

}  // namespace drasim
