#include "sim/control/device_kubelet.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "model/check.h"
#include "model/device_grant.h"
#include "sim/control/device_manager.h"

namespace drasim {

struct Kubelets::Node : DeviceManager {
  using DeviceManager::DeviceManager;
};

Kubelets::Kubelets(const ClusterState* cluster, KubeletOptions options,
                   std::vector<KubeletNode> nodes)
    : cluster_(cluster), options_(options) {
  DRASIM_CHECK_LE(nodes.size(), cluster->node_count());
  nodes_.reserve(nodes.size());
  for (KubeletNode& node : nodes) {
    DRASIM_CHECK(options_.topology_policy == TopologyPolicy::kNone ||
                 node.numa_nodes <= kMaxNumaNodes);
    const int64_t cores = cluster->node_spec(NodeId(nodes_.size())).cpu_milli / 1000;
    nodes_.push_back(std::make_unique<Node>(std::move(node), cores));
  }
}

Kubelets::~Kubelets() = default;

Admission Kubelets::Admit(PodId pod, NodeId node, SimTime now) {
  return nodes_[node.value()]->Admit(pod, cluster_->pod_shape(pod), options_, now);
}

void Kubelets::Removed(PodId pod, NodeId node, SimTime now) {
  nodes_[node.value()]->Removed(pod, now + options_.device_release);
}

void Kubelets::SetResources(NodeId node, std::vector<PluginResource> resources) {
  nodes_[node.value()]->SetResources(std::move(resources));
}

void Kubelets::SetRegistered(NodeId node, bool registered) {
  nodes_[node.value()]->SetRegistered(registered);
}

void Kubelets::SetHealthy(NodeId node, uint32_t gpu, bool healthy) {
  nodes_[node.value()]->SetHealthy(gpu, healthy);
}

std::vector<std::pair<std::string, int64_t>> Kubelets::Allocatable(NodeId node) const {
  return nodes_[node.value()]->Allocatable();
}

const std::vector<PluginResource>& Kubelets::resources(NodeId node) const {
  return nodes_[node.value()]->resources();
}

bool Kubelets::InUse(NodeId node, uint32_t gpu, SimTime now) const {
  return nodes_[node.value()]->InUse(gpu, now);
}

void Kubelets::Save(StateWriter& out) const {
  out.Section("kubelets");
  out.U64(nodes_.size());
  for (const std::unique_ptr<Node>& node : nodes_) node->Save(out);
}

absl::Status Kubelets::Load(StateReader& in) {
  in.Section("kubelets");
  if (in.U64() != nodes_.size()) in.Fail("the number of kubelets is another");
  for (const std::unique_ptr<Node>& node : nodes_) {
    if (!in.status().ok()) break;
    const absl::Status status = node->Load(in);
    if (!status.ok()) return status;
  }
  return in.status();
}

// --- one node's part of a checkpoint ---

void DeviceManager::Save(StateWriter& out) const {
  out.Section("device manager");
  out.Bool(registered_);
  out.U64(node_.resources.size());
  for (const PluginResource& resource : node_.resources) {
    out.Str(resource.name);
    out.Bool(resource.shared);
    out.U64(resource.devices.size());
    for (const PluginDevice& device : resource.devices) {
      out.U64(device.gpu);
      out.U64(device.placement);
      out.I64(device.replicas);
      out.Bool(device.healthy);
      out.I64(device.numa_node);
    }
  }
  out.U64(names_.size());
  for (const std::string& name : names_) out.Str(name);
  out.U64(functions_.size());
  for (const std::string& function : functions_) out.Str(function);
  out.U64(holdings_.size());
  for (const Holding& holding : holdings_) {
    out.U64(holding.pod.value());
    out.I64(holding.free_at.ns());
    out.U64(static_cast<uint64_t>(holding.what));
    out.U64(holding.placement);
    out.U64(holding.row);
    out.I64(holding.replicas);
    out.I64(holding.units);
  }
}

absl::Status DeviceManager::Load(StateReader& in) {
  in.Section("device manager");
  registered_ = in.Bool();
  LoadResources(in);
  names_.resize(in.Count());
  for (std::string& name : names_) name = in.Str();
  if (!std::is_sorted(names_.begin(), names_.end())) in.Fail("names are not sorted");
  if (in.Count() != functions_.size()) in.Fail("the number of other devices is not the node's");
  for (std::string& function : functions_) function = in.Str();
  LoadHoldings(in);
  if (!in.status().ok()) return in.status();
  Rebuild();
  for (const int64_t cores : free_cores_) {
    if (cores < 0) in.Fail("more cores are held than the node has");
  }
  return in.status();
}

void DeviceManager::LoadResources(StateReader& in) {
  std::vector<PluginResource> resources(in.Count());
  for (PluginResource& resource : resources) {
    resource.name = in.Str();
    resource.shared = in.Bool();
    resource.devices.resize(in.Count());
    for (PluginDevice& device : resource.devices) {
      const uint64_t gpu = in.U64();
      const uint64_t placement = in.U64();
      const int64_t replicas = in.I64();
      device.healthy = in.Bool();
      const int64_t numa_node = in.I64();
      if (gpu >= kMaxDevicesPerNode || placement > kNoPlacement || replicas < 1 ||
          replicas > std::numeric_limits<int32_t>::max() || numa_node < -1 ||
          numa_node >= node_.numa_nodes) {
        in.Fail("a device of the plugin is out of range");
      }
      if (!in.status().ok()) return;
      device.gpu = static_cast<uint8_t>(gpu);
      device.placement = static_cast<uint8_t>(placement);
      device.replicas = static_cast<int32_t>(replicas);
      device.numa_node = static_cast<int32_t>(numa_node);
      if (!Valid(device)) in.Fail("the node does not have a device of the plugin");
    }
  }
  if (in.status().ok()) node_.resources = std::move(resources);
}

void DeviceManager::LoadHoldings(StateReader& in) {
  holdings_.resize(in.Count());
  for (Holding& holding : holdings_) {
    const uint64_t pod = in.U64();
    holding.free_at = SimTime(in.I64());
    const uint64_t what = in.U64();
    const uint64_t placement = in.U64();
    const uint64_t row = in.U64();
    const int64_t replicas = in.I64();
    holding.units = in.I64();
    const size_t rows[] = {kMaxDevicesPerNode, node_.others.size(), cores_.size()};
    const bool known = what <= static_cast<uint64_t>(What::kCores);
    // Cores have no replicas: their number is checked when all are counted.
    const bool cores = what == static_cast<uint64_t>(What::kCores);
    if (pod >= PodId::kInvalid || !known || row >= rows[known ? what : 0] ||
        placement > kNoPlacement || replicas < 1 ||
        replicas > std::numeric_limits<int32_t>::max() || holding.units < 1 ||
        holding.units > (cores ? cores_[row] : replicas)) {
      in.Fail("what a pod holds is out of range");
    }
    if (!in.status().ok()) return;
    holding.pod = PodId(static_cast<uint32_t>(pod));
    holding.what = static_cast<What>(what);
    holding.placement = static_cast<uint8_t>(placement);
    holding.row = static_cast<uint32_t>(row);
    holding.replicas = static_cast<int32_t>(replicas);
  }
}

}  // namespace drasim
