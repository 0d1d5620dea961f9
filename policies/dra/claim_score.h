// DynamicResources' Score: nodes whose devices answer earlier subrequests of prioritised lists
// (KEP 4816) are better.
//
// Source: kubernetes/kubernetes pkg/scheduler/framework/plugins/dynamicresources, release 1.37.2.
#ifndef DRASIM_POLICIES_DRA_CLAIM_SCORE_H_
#define DRASIM_POLICIES_DRA_CLAIM_SCORE_H_

#include <cstdint>

#include "model/proto/resource.pb.h"

namespace drasim {

// The weight of the plugin's scores by default, since 1.35; 1 before.
inline constexpr int64_t kClaimScoreWeight = 2;

// The sum over the claim's lists of 8 less the place of the subrequest that `allocation` answers: 8
// for the first, 1 for the last of eight. O(subrequests x results).
int64_t ClaimScore(const proto::kube::ResourceClaimV1& claim,
                   const proto::kube::AllocationResultV1& allocation);

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRA_CLAIM_SCORE_H_
