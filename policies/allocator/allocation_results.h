// The solution of a search as status.allocation of the claims.
#ifndef DRASIM_POLICIES_ALLOCATOR_ALLOCATION_RESULTS_H_
#define DRASIM_POLICIES_ALLOCATOR_ALLOCATION_RESULTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/proto/kube.pb.h"
#include "model/proto/resource.pb.h"
#include "policies/allocator/allocation_search.h"
#include "policies/allocator/claim_plan.h"
#include "policies/allocator/node_pools.h"

namespace drasim {

// The identity that all shares have until somebody gives them others.
inline constexpr absl::string_view kShareId = "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa";

// One result for each claim of the plan, after a Run of `search` that found something.
// InvalidArgument, in upstream's words: a slice has a node selector with several terms. O(results).
absl::StatusOr<std::vector<proto::kube::AllocationResultV1>> AllocationResults(
    const NodePools& pools, ClaimPlan* plan, const AllocationSearch& search,
    const std::string& node_name);

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_ALLOCATION_RESULTS_H_
