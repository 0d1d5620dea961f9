#include "sim/control/device_kubelet.h"

#include <utility>

#include "model/check.h"
#include "model/status_macros.h"

namespace drasim {

DeviceKubelet::DeviceKubelet(const ClusterState* cluster, KubeletOptions options,
                             std::vector<KubeletDevices> nodes)
    : cluster_(cluster), options_(options) {
  DRASIM_CHECK_LE(nodes.size(), cluster->node_count());
  nodes_.reserve(nodes.size());
  for (KubeletDevices& node : nodes) {
    DRASIM_CHECK(options_.topology_policy == TopologyPolicy::kNone ||
                 node.numa_nodes <= kMaxNumaNodes);
    const int64_t cores = cluster->node_spec(NodeId(nodes_.size())).cpu_milli / 1000;
    nodes_.push_back(std::make_unique<DeviceManager>(std::move(node), cores));
  }
}

Admission DeviceKubelet::Admit(PodId pod, NodeId node, SimTime now) {
  return nodes_[node.value()]->Admit(pod, cluster_->pod_shape(pod), options_, now);
}

void DeviceKubelet::Removed(PodId pod, NodeId node, SimTime now) {
  nodes_[node.value()]->Removed(pod, now + options_.device_release);
}

void DeviceKubelet::SetResources(NodeId node, std::vector<PluginResource> resources) {
  nodes_[node.value()]->SetResources(std::move(resources));
}

void DeviceKubelet::SetRegistered(NodeId node, bool registered) {
  nodes_[node.value()]->SetRegistered(registered);
}

void DeviceKubelet::SetHealthy(NodeId node, uint32_t gpu, bool healthy) {
  nodes_[node.value()]->SetHealthy(gpu, healthy);
}

std::vector<std::pair<std::string, int64_t>> DeviceKubelet::Allocatable(NodeId node) const {
  return nodes_[node.value()]->Allocatable();
}

const std::vector<PluginResource>& DeviceKubelet::resources(NodeId node) const {
  return nodes_[node.value()]->resources();
}

bool DeviceKubelet::InUse(NodeId node, uint32_t gpu, SimTime now) const {
  return nodes_[node.value()]->InUse(gpu, now);
}

void DeviceKubelet::Save(StateWriter& out) const {
  out.Section("kubelets");
  out.U64(nodes_.size());
  for (const std::unique_ptr<DeviceManager>& node : nodes_) node->Save(out);
}

absl::Status DeviceKubelet::Load(StateReader& in) {
  in.Section("kubelets");
  if (in.U64() != nodes_.size()) in.Fail("the number of kubelets is another");
  for (const std::unique_ptr<DeviceManager>& node : nodes_) {
    if (!in.status().ok()) break;
    RETURN_IF_ERROR(node->Load(in));
  }
  return in.status();
}

}  // namespace drasim
