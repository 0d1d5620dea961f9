// The device side of the kubelet, for all nodes: gives bound pods their devices, or rejects them.
//
// The scheduler has counted extended resources; the kubelet picks the devices. Per container, init
// containers first: devices of init containers that have ended are reused; candidates are healthy
// devices that no pod uses; TopologyManager may narrow them or reject the pod; the plugin's
// preference decides among them. The DeviceManager of each node does the work. Sources: kubernetes
// pkg/kubelet/cm/devicemanager, KEP-3063's comparison of the two worlds, k8s-device-plugin.
//
// The devices of a node may change (health, a restarted plugin, a new MIG layout): SetResources and
// the setters below. A pod that runs keeps its devices.
#ifndef DRASIM_SIM_CONTROL_DEVICE_KUBELET_H_
#define DRASIM_SIM_CONTROL_DEVICE_KUBELET_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/state_io.h"
#include "model/time.h"
#include "sim/control/device_manager.h"
#include "sim/control/device_plugin.h"
#include "sim/core/node_agent.h"

namespace drasim {

class DeviceKubelet : public NodeAgent {
 public:
  // `cluster` must outlive it; nodes are numbered alike.
  DeviceKubelet(const ClusterState* cluster, KubeletOptions options,
                std::vector<KubeletDevices> nodes);

  // NodeAgent. A resource of the pod's shape (or its containers) that is neither one of the node's
  // plugin resources nor one of its other devices is only counted: no device is handed out for it.
  Admission Admit(PodId pod, NodeId node, SimTime now) override;
  void Removed(PodId pod, NodeId node, SimTime now) override;

  // The plugin registers again with these devices, or is gone (registered = false): its resources
  // are then unknown to the kubelet. Pods that run keep theirs.
  void SetResources(NodeId node, std::vector<PluginResource> resources);
  void SetRegistered(NodeId node, bool registered);
  // Sets the health of all devices on that GPU.
  void SetHealthy(NodeId node, uint32_t gpu, bool healthy);

  // The node's report: name and amount per plugin resource, sorted by name; 0 while the plugin is
  // not registered.
  std::vector<std::pair<std::string, int64_t>> Allocatable(NodeId node) const;
  const std::vector<PluginResource>& resources(NodeId node) const;
  // Whether any pod holds (or still blocks) a device of that GPU at `now`.
  bool InUse(NodeId node, uint32_t gpu, SimTime now) const;

  void Save(StateWriter& out) const override;
  absl::Status Load(StateReader& in) override;

 private:
  const ClusterState* cluster_;
  KubeletOptions options_;
  std::vector<std::unique_ptr<DeviceManager>> nodes_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CONTROL_DEVICE_KUBELET_H_
