// GpuKind: properties shared by all GPUs of a node, or by those of one model.
#ifndef DRASIM_POLICIES_DEVICES_GPU_KINDS_H_
#define DRASIM_POLICIES_DEVICES_GPU_KINDS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/mig_table.h"
#include "policies/devices/mig_rules.h"

namespace drasim {

// Nodes with equally described GPUs share a kind. Empty texts and 0: unknown. A node whose GPUs are
// of several models has a kind of its own, which names the kind of each GPU and leaves the other
// fields empty but `model`.
//
// Sources, in order of precedence: the node's labels from NVIDIA's GPU feature discovery
// (nvidia.com/gpu.product, gpu.memory, gpu.family, gpu.compute.major and minor,
// cuda.driver-version.full, cuda.runtime-version.full), the MIG catalogue, and a short list of
// products by name. On a node with several models, only the labels on the driver and CUDA count:
// the others do not say which GPU they describe.
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
  // A node with several models: by GPU. Else empty.
  std::vector<const GpuKind*> by_gpu;

  // The kind of one GPU.
  const GpuKind& of(size_t gpu) const { return gpu < by_gpu.size() ? *by_gpu[gpu] : *this; }
  bool operator==(const GpuKind&) const = default;
};

// The kind of one GPU, and of all GPUs of its model on the node. REQUIRES: the node has it.
GpuKind KindOfGpus(const ClusterState& cluster, NodeId node, size_t gpu = 0);

}  // namespace drasim

#endif  // DRASIM_POLICIES_DEVICES_GPU_KINDS_H_
