// The device plugin's preference among available devices (GetPreferredAllocation).
//
// Sources: go-gpuallocator (best-effort policy), k8s-device-plugin (distributed and packed).
#ifndef DRASIM_SIM_CONTROL_PREFERRED_ALLOCATION_H_
#define DRASIM_SIM_CONTROL_PREFERRED_ALLOCATION_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "model/gpu_topology.h"

namespace drasim {

// Whole GPUs. Looks at all ways to cut the available GPUs (padded to a multiple of `size`) into
// sets of that size, and takes the one with the greatest sum of pair scores; the answer is its best
// set that has no padding and holds all `required`; the first on ties. Arguments are GPU indices,
// ascending, and so is the answer. Empty when size exceeds the number of available GPUs, or a
// required one is not available. Size 1: the first set that holds the required one. Exponential in
// the worst case: more than kBestEffortExact `available` GPUs are cut by a greedy rule instead
// (docs/fidelity.md describes it).
inline constexpr size_t kBestEffortExact = 8;
std::vector<size_t> PreferBestEffort(const GpuTopology& topology,
                                     absl::Span<const size_t> available,
                                     absl::Span<const size_t> required, size_t size);

// For replicas and MIG devices. One candidate is a unit that can be given out once.
struct ReplicaCandidate {
  size_t parent = 0;  // the physical device (a GPU, or a MIG instance) that it is a replica of
};
// Takes `size` of the candidates, `required` (indices into candidates) first: each time one whose
// parent has the fewest (packed: most) replicas in use, which `allocated` counts by parent;
// ties: the parent picked least often in this call, then the first candidate. Returns indices into
// candidates; empty when there are too few. O(size x candidates).
std::vector<size_t> PreferReplicas(absl::Span<const ReplicaCandidate> candidates,
                                   absl::Span<const int64_t> allocated,
                                   absl::Span<const size_t> required, size_t size, bool packed);

}  // namespace drasim

#endif  // DRASIM_SIM_CONTROL_PREFERRED_ALLOCATION_H_
