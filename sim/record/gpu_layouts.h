// Static MIG layouts: instances that exist ahead of pods, held or not.
#ifndef DRASIM_SIM_RECORD_GPU_LAYOUTS_H_
#define DRASIM_SIM_RECORD_GPU_LAYOUTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/mig_table.h"

namespace drasim {

// The static layout of a GPU, made ahead of pods. Without `enabled` the GPU has none.
struct StaticLayout {
  bool enabled = false;
  MigState state = 0;
};
// Looks up a GPU's layout as it is now.
using LayoutLookup = std::function<StaticLayout(NodeId node, size_t gpu)>;

// Bit per placement of the GPU's instances; 0 without a layout.
uint64_t InstancesOf(const ClusterState& cluster, const LayoutLookup& layouts, NodeId node,
                     size_t gpu);

// The layouts of a reader's GPUs.
class GpuLayouts {
 public:
  // From now on nothing is known.
  void Clear() { instances_.clear(); }
  // From now on every GPU of the cluster is known; none has instances yet.
  void Begin(const ClusterState& cluster);
  bool known() const { return !instances_.empty(); }

  // False if the GPU cannot have these placements at once. REQUIRES: known, and the GPU exists.
  bool Set(const ClusterState& cluster, NodeId node, size_t gpu, uint64_t instances);
  // None if nothing is known. REQUIRES: the GPU exists.
  std::optional<uint64_t> Of(const ClusterState& cluster, NodeId node, size_t gpu) const;

 private:
  std::vector<uint64_t> instances_;  // by device of the cluster
};

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_GPU_LAYOUTS_H_
