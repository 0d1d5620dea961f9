// ResourceSlices, and what claims hold, as the inventory of devices takes them.
#ifndef DRASIM_MODEL_KUBE_SLICE_FACTS_OF_H_
#define DRASIM_MODEL_KUBE_SLICE_FACTS_OF_H_

#include <vector>

#include "absl/status/statusor.h"
#include "model/proto/resource.pb.h"
#include "model/slice_facts.h"

namespace drasim {

// The facts refer to `slice`. Devices of NVIDIA's driver say which GPU of their node they are, or
// on which placement of it, by their names: "gpu-MINOR" and "gpu-MINOR-mig-...-START".
// InvalidArgument for amounts that are no quantities, or of counters beyond 10^24. O(slice).
absl::StatusOr<SliceFacts> SliceFactsOf(const proto::kube::ResourceSlice& slice);

// The devices of a claim's allocation; the facts refer to it. Those with admin access are
// left out: they are not held. InvalidArgument for a consumed capacity that is no quantity.
absl::StatusOr<std::vector<HoldFacts>> HoldFactsOf(
    const proto::kube::AllocationResultV1& allocation);

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_SLICE_FACTS_OF_H_
