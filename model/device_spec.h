// A device of a node as it is described, before any front end hands it out.
#ifndef DRASIM_MODEL_DEVICE_SPEC_H_
#define DRASIM_MODEL_DEVICE_SPEC_H_

#include <cstdint>
#include <string>

#include "model/time.h"

namespace drasim {

struct DeviceSpec {
  std::string kind = "gpu";  // "nic", "fpga", or any other word
  std::string product;       // of a GPU: NodeSpec::gpu_model
  int32_t numa_node = -1;    // -1: not known, and so none that anything could be aligned with
  std::string pcie_root;     // "" : not known
  int32_t pcie_switch = -1;  // below the root; -1: not known
  // NVLink among GPUs of one node: "switch" (every pair), "pairs" (0-1, 2-3, ...), "none", or ""
  // for what the product has (model/gpu_topology.h).
  std::string nvlink;
  std::string resource;       // by which pods ask for it; empty for GPUs
  SimDuration reprogramming;  // until it does something else than before

  bool operator==(const DeviceSpec&) const = default;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_DEVICE_SPEC_H_
