// What is known of the GPUs of a node: the same for all of them.
#ifndef DRASIM_POLICIES_DEVICES_GPU_KINDS_H_
#define DRASIM_POLICIES_DEVICES_GPU_KINDS_H_

#include <cstdint>
#include <string>

#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/mig_table.h"
#include "policies/devices/mig_rules.h"

namespace drasim {

// Nodes whose GPUs are described alike have one kind. Empty texts and 0: not known.
//
// Sources, the first that says something: the node's labels as NVIDIA's GPU feature discovery sets
// them (nvidia.com/gpu.product, gpu.memory, gpu.family, gpu.compute.major and minor,
// cuda.driver-version.full, cuda.runtime-version.full), the MIG catalogue, and a short list of
// products by name.
struct GpuKind {
  std::string model;    // as the cluster names it
  std::string product;  // of the label; else the same
  std::string brand;
  std::string architecture;        // "ampere"
  std::string compute_capability;  // "8.0"
  std::string driver_version;
  std::string cuda_version;
  int64_t memory_mib = 0;               // of one GPU
  const MigTable* table = nullptr;      // null: cannot be partitioned
  const MigRuleTable* rules = nullptr;  // over `table`; the driver sets it
  bool operator==(const GpuKind&) const = default;
};

GpuKind KindOfGpus(const ClusterState& cluster, NodeId node);

}  // namespace drasim

#endif  // DRASIM_POLICIES_DEVICES_GPU_KINDS_H_
