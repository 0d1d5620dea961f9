// Hardware of a node as its DRA driver finds it: GPUs, their places, and what has happened to them.
#ifndef DRASIM_POLICIES_DRIVERS_NODE_HARDWARE_H_
#define DRASIM_POLICIES_DRIVERS_NODE_HARDWARE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "model/node_spec.h"
#include "model/proto/resource.pb.h"

namespace drasim {

struct GpuHardware {
  std::string model;       // as the node list has it: "A100-SXM4-40GB"; empty: unknown
  int32_t numa_node = -1;  // -1: unknown
  std::string pcie_root;   // "pci0000:10"; empty: unknown
  std::string pci_bus_id;  // "0000:11:00.0"; empty: unknown
};

// State of a device that is not as usual.
struct DeviceCondition {
  bool withdrawn = false;  // not published
  std::vector<proto::kube::DeviceTaint> taints;
};

struct NodeHardware {
  std::string name;
  std::vector<std::pair<std::string, std::string>> labels;  // sorted by key
  std::vector<GpuHardware> gpus;                            // by minor number, in PCI order
  // By number of the GPU; a GPU's state is that of all its partitions. Numbers are those of
  // SlicePublisher::DeviceCount.
  std::map<size_t, DeviceCondition> conditions;
  // Layout of static MIG, in place of the driver's `layout`; empty: that.
  std::string layout;
};

// Whether device number `index` is not to be published. O(log conditions).
bool IsWithdrawn(const NodeHardware& node, size_t index);
// Gives the device the taints of number `index`.
void AddTaints(const NodeHardware& node, size_t index, proto::kube::Device* device);

// The node's GPUs, with the places that `spec` knows. O(GPUs).
NodeHardware HardwareOf(const NodeSpec& spec);

// A server with `count` equal GPUs: two NUMA nodes with half of the GPUs each, and a PCIe root for
// every GPU. O(count).
NodeHardware MadeHardware(absl::string_view name, absl::string_view model, size_t count);

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRIVERS_NODE_HARDWARE_H_
