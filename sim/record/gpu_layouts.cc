#include "sim/record/gpu_layouts.h"

namespace drasim {

uint64_t InstancesOf(const ClusterState& cluster, const LayoutLookup& layouts, NodeId node,
                     size_t gpu) {
  const MigTable* const table = cluster.mig_table(node, gpu);
  const StaticLayout layout = layouts(node, gpu);
  return layout.enabled && table != nullptr ? table->set(layout.state) : 0;
}

void GpuLayouts::Begin(const ClusterState& cluster) {
  size_t gpus = 0;
  for (const NodeRow& node : cluster.nodes()) gpus += node.gpu_count;
  instances_.assign(gpus, 0);
}

bool GpuLayouts::Set(const ClusterState& cluster, NodeId node, size_t gpu, uint64_t instances) {
  if (instances != 0) {
    const MigTable* const table = cluster.mig_table(node, gpu);
    if (table == nullptr || table->Find(instances) == kNoMigState) return false;
  }
  instances_[cluster.node(node).device_begin + gpu] = instances;
  return true;
}

std::optional<uint64_t> GpuLayouts::Of(const ClusterState& cluster, NodeId node, size_t gpu) const {
  if (instances_.empty()) return std::nullopt;
  return instances_[cluster.node(node).device_begin + gpu];
}

}  // namespace drasim
