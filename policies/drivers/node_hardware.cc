#include "policies/drivers/node_hardware.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace drasim {

bool IsWithdrawn(const NodeHardware& node, size_t index) {
  const auto found = node.conditions.find(index);
  return found != node.conditions.end() && found->second.withdrawn;
}

void AddTaints(const NodeHardware& node, size_t index, proto::kube::Device* device) {
  const auto found = node.conditions.find(index);
  if (found == node.conditions.end()) return;
  for (const proto::kube::DeviceTaint& taint : found->second.taints) *device->add_taints() = taint;
}

NodeHardware HardwareOf(const NodeSpec& spec) {
  NodeHardware node;
  node.name = spec.name;
  node.labels = spec.labels;
  for (size_t i = 0; i < static_cast<size_t>(spec.gpu_count); ++i) {
    GpuHardware gpu;
    gpu.model = GpuModelOf(spec, i);
    if (i < spec.devices.size()) {
      gpu.numa_node = spec.devices[i].numa_node;
      gpu.pcie_root = spec.devices[i].pcie_root;
    }
    node.gpus.push_back(std::move(gpu));
  }
  return node;
}

NodeHardware MadeHardware(absl::string_view name, absl::string_view model, size_t count) {
  // A PCI domain has 256 buses: 16 roots with 16 buses each.
  constexpr size_t kRoots = 16;
  NodeHardware node;
  node.name = std::string(name);
  for (size_t i = 0; i < count; ++i) {
    GpuHardware gpu;
    gpu.model = std::string(model);
    gpu.numa_node = count > 1 && i >= count / 2 ? 1 : 0;
    const size_t domain = i / kRoots;
    const size_t bus = i % kRoots * kRoots;
    gpu.pcie_root = absl::StrFormat("pci%04x:%02x", domain, bus);
    gpu.pci_bus_id = absl::StrFormat("%04x:%02x:00.0", domain, bus + 1);
    node.gpus.push_back(std::move(gpu));
  }
  return node;
}

}  // namespace drasim
