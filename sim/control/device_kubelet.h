// The kubelets of all nodes, with their device managers: the device-plugin front end below the
// scheduler.
//
// The scheduler has counted extended resources; here a bound pod gets devices, or is turned away.
// Per container, init containers first: devices of init containers that have ended are reused;
// candidates are healthy devices that nobody uses; TopologyManager may narrow them or refuse the
// pod; the plugin's preference decides among them. Sources: kubernetes
// pkg/kubelet/cm/devicemanager, KEP-3063's comparison of the two worlds, k8s-device-plugin.
//
// What a node's devices are may change (health, a restarted plugin, a new MIG layout): SetResources
// and the setters below. A pod that runs keeps what it has.
#ifndef DRASIM_SIM_CONTROL_DEVICE_KUBELET_H_
#define DRASIM_SIM_CONTROL_DEVICE_KUBELET_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/cluster_state.h"
#include "model/device_spec.h"
#include "model/gpu_topology.h"
#include "sim/control/device_plugin.h"
#include "sim/control/topology_manager.h"
#include "sim/core/node_agent.h"

namespace drasim {

struct KubeletOptions {
  TopologyPolicy topology_policy = TopologyPolicy::kNone;
  bool topology_scope_pod = false;  // false: container by container
  bool cpu_manager_static = false;  // whole-core requests get cores of their own, by NUMA node
  // A pod's devices may be given out again so long after the scheduler saw it end. Found out only
  // when the next pod asks, as the kubelet does it.
  SimDuration device_release;
  bool fail_requests_greater_than_one = false;  // of shared resources
  bool packed = false;                          // see DevicePluginConfig
};

// A node as its kubelet knows it.
struct KubeletNode {
  std::vector<DeviceSpec> gpus;             // by index; may be empty: nothing known about them
  std::vector<const MigTable*> mig_tables;  // by GPU; null: no MIG
  std::vector<DeviceSpec> others;           // devices that are not GPUs
  std::vector<PluginResource> resources;    // of GPUs
  int32_t numa_nodes = 1;
};

class Kubelets : public NodeAgent {
 public:
  // `cluster` must outlive it; nodes are numbered alike.
  Kubelets(const ClusterState* cluster, KubeletOptions options, std::vector<KubeletNode> nodes);
  ~Kubelets() override;

  // NodeAgent. A resource of the pod's shape (or its containers) that is neither one of the node's
  // plugin resources nor of its other devices is counted only, and nothing is handed out for it.
  Admission Admit(PodId pod, NodeId node, SimTime now) override;
  void Removed(PodId pod, NodeId node, SimTime now) override;

  // The plugin registers anew with these devices, or is gone (registered = false): its resources
  // are then unknown to the kubelet. Pods that run keep theirs.
  void SetResources(NodeId node, std::vector<PluginResource> resources);
  void SetRegistered(NodeId node, bool registered);
  // Of all devices on that GPU.
  void SetHealthy(NodeId node, uint32_t gpu, bool healthy);

  // What the node reports: name and amount per plugin resource, sorted by name; 0 while the plugin
  // is not registered.
  std::vector<std::pair<std::string, int64_t>> Allocatable(NodeId node) const;
  const std::vector<PluginResource>& resources(NodeId node) const;
  // Whether any pod holds (or still blocks) a device of that GPU at `now`.
  bool InUse(NodeId node, uint32_t gpu, SimTime now) const;

  void Save(StateWriter& out) const override;
  absl::Status Load(StateReader& in) override;

 private:
  struct Node;
  const ClusterState* cluster_;
  KubeletOptions options_;
  std::vector<std::unique_ptr<Node>> nodes_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CONTROL_DEVICE_KUBELET_H_
