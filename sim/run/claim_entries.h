// Names of entries and templates of claims that are made for a pod's request.
#ifndef DRASIM_SIM_RUN_CLAIM_ENTRIES_H_
#define DRASIM_SIM_RUN_CLAIM_ENTRIES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "model/claim_entry.h"
#include "model/pod_shape.h"

namespace drasim {

// A valid part of an object's name: "1g.5gb" is one, "1g.5gb+me" is not.
std::string AsObjectName(absl::string_view text);

// `wanted`, or the first unused name among wanted-2, wanted-3, ... in the pod.
std::string FreeEntryName(const std::vector<ClaimEntry>& claims, const std::string& wanted);

// The pod's whole GPUs, or shares of some, are in claims from now on; what it wants of GPUs stays
// known for reports.
void MoveGpusToClaims(PodShape* shape);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_CLAIM_ENTRIES_H_
