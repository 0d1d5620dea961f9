// The claims that a pod names, in either form of the API.
#ifndef DRASIM_MODEL_KUBE_POD_CLAIMS_H_
#define DRASIM_MODEL_KUBE_POD_CLAIMS_H_

#include <string>

#include "model/proto/kube.pb.h"

namespace drasim {

// The claim or the template that an entry of spec.resourceClaims names, in whichever of the two
// forms; empty when it names none.
inline const std::string& KubeClaimName(const proto::kube::PodResourceClaim& entry) {
  return entry.has_source() ? entry.source().resource_claim_name() : entry.resource_claim_name();
}
inline const std::string& KubeClaimTemplateName(const proto::kube::PodResourceClaim& entry) {
  return entry.has_source() ? entry.source().resource_claim_template_name()
                            : entry.resource_claim_template_name();
}

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_POD_CLAIMS_H_
