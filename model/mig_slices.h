// The memory slices of MIG GPUs in numbers: how many are held, and how many nothing can use.
#ifndef DRASIM_MODEL_MIG_SLICES_H_
#define DRASIM_MODEL_MIG_SLICES_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/functional/function_ref.h"
#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/mig_table.h"

namespace drasim {

// The instances of a GPU with a static MIG layout, held or not: bit per placement of its table.
// None, or no bit, where pods make their instances.
using LayoutOfGpu = absl::FunctionRef<std::optional<uint64_t>(NodeId, size_t)>;

// Memory slices (units of the MigTable) of the GPUs that MIG can partition. A GPU that is in use
// without instances holds all of its slices.
struct SliceCounts {
  int64_t slices = 0;
  int64_t held = 0;
  // Free, but no further instance can cover them; under a static layout those in no instance of it.
  // A GPU that holds an instance outside its present layout strands none (docs/device_metrics.md).
  int64_t stranded = 0;
  bool operator==(const SliceCounts&) const = default;

  // Adds (sign +1) or removes (-1) other counts.
  void Add(const SliceCounts& other, int64_t sign);
};

// The slices of one GPU with these instances. `in_use`: something of it is held.
SliceCounts SlicesOfGpu(const MigTable& table, MigState state, bool in_use,
                        std::optional<uint64_t> layout = std::nullopt);

// The slices of a node; zero without MIG. `layouts`: absent if none is static. O(devices).
SliceCounts SlicesOf(const ClusterState& cluster, NodeId node,
                     std::optional<LayoutOfGpu> layouts = std::nullopt);

}  // namespace drasim

#endif  // DRASIM_MODEL_MIG_SLICES_H_
