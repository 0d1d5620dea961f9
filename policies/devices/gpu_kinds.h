// GpuKind: properties shared by all GPUs of a node.
#ifndef DRASIM_POLICIES_DEVICES_GPU_KINDS_H_
#define DRASIM_POLICIES_DEVICES_GPU_KINDS_H_

#include <cstdint>
#include <string>

#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/mig_table.h"
#include "policies/devices/mig_rules.h"

namespace drasim {

// Nodes with equally described GPUs share a kind. Empty texts and 0: unknown.
//
// Sources, in order of precedence: the node's labels from NVIDIA's GPU feature discovery
// (nvidia.com/gpu.product, gpu.memory, gpu.family, gpu.compute.major and minor,
// cuda.driver-version.full, cuda.runtime-version.full), the MIG catalogue, and a short list of
// products by name.
struct GpuKind {
  std::string model;    // in the cluster's naming
  std::string product;  // from the label; else the model
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
