// Validation of claims of resource.k8s.io/v1: ResourceClaim with its status, ResourceClaimTemplate.
// Rules, paths, texts and what is left to other code: as in validate_device.h. Defaults
// (api_defaults.h) need not be set.
//
// The status is checked as the API server checks one that is written for the first time.
#ifndef DRASIM_MODEL_KUBE_VALIDATE_CLAIM_H_
#define DRASIM_MODEL_KUBE_VALIDATE_CLAIM_H_

#include "model/kube/api_check.h"
#include "model/proto/kube.pb.h"

namespace drasim {

// O(object x log); lists over their limit are not looked into.
void CheckResourceClaimV1(const proto::kube::ResourceClaimV1& claim, ApiCheck* check);
void CheckResourceClaimTemplateV1(const proto::kube::ResourceClaimTemplateV1& claim_template,
                                  ApiCheck* check);

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_VALIDATE_CLAIM_H_
