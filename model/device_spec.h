// DeviceSpec: a physical device of a node, before a device plugin or a driver advertises it.
#ifndef DRASIM_MODEL_DEVICE_SPEC_H_
#define DRASIM_MODEL_DEVICE_SPEC_H_

#include <cstdint>
#include <string>

#include "model/time.h"

namespace drasim {

struct DeviceSpec {
  std::string kind = "gpu";  // "nic", "fpga", or any other word
  std::string product;       // for a GPU the same as NodeSpec::gpu_model
  int32_t numa_node = -1;    // -1: unknown, so the device aligns with nothing
  std::string pcie_root;     // empty: unknown
  int32_t pcie_switch = -1;  // below the root; -1: unknown
  // NVLink among the GPUs of a node: "switch" (every pair), "pairs" (0-1, 2-3, ...), "none"; ""
  // takes the product's default (model/gpu_topology.h).
  std::string nvlink;
  std::string resource;       // the extended resource's name; empty for GPUs
  SimDuration reprogramming;  // time to load another function

  bool operator==(const DeviceSpec&) const = default;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_DEVICE_SPEC_H_
