// The memory slices of MIG GPUs in numbers: how many are held, and how many nothing can use.
#ifndef DRASIM_MODEL_MIG_SLICES_H_
#define DRASIM_MODEL_MIG_SLICES_H_

#include <cstdint>

#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/mig_table.h"

namespace drasim {

// Memory slices (units of the MigTable) of the GPUs that MIG can partition. A GPU that is in use
// without instances holds all of its slices; instances of a fixed layout that no pod holds count as
// free slices.
struct SliceCounts {
  int64_t slices = 0;
  int64_t held = 0;
  int64_t stranded = 0;  // free, but no further instance can cover them
  bool operator==(const SliceCounts&) const = default;

  // Adds (sign +1) or removes (-1) other counts.
  void Add(const SliceCounts& other, int64_t sign);
};

// Those of one GPU with these instances. `in_use`: something of it is held.
SliceCounts SlicesOfGpu(const MigTable& table, MigState state, bool in_use);

// Those of a node; zero without MIG. O(devices).
SliceCounts SlicesOf(const ClusterState& cluster, NodeId node);

}  // namespace drasim

#endif  // DRASIM_MODEL_MIG_SLICES_H_
