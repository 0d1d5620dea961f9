// The device-plugin front end as a whole: kubelets, device plugins and mig-manager.
//
// It is the engine's NodeAgent. The kubelets (device_kubelet.h) admit pods; this class adds the
// changes of devices over time:
//  * health: a GPU breaks or works again. Its devices leave or rejoin the healthy ones at once; the
//    node's allocatable follows `node_status` later.
//  * a restart of the device plugin: while it is gone its resources are unknown to the kubelet, and
//    allocatable drops to 0 (again `node_status` later).
//  * a new MIG layout, in mig-manager's steps: the wish (label) is noted; the plugin and other
//    clients are paused (`pause_clients`); pods on the node's GPUs are waited for, or evicted
//    (`evict`); GPUs whose MIG mode changes are reset (`reset`); instances are destroyed and
//    created, one after the other, by mig-parted's permutations (`destroy_instance`,
//    `create_instance`); clients start again (`restart_clients`) and the plugin registers. From the
//    pause to the end the node's GPU resources are 0, and the GPU-seconds are counted as lost.
//  * re-partitioning by demand: every `every`, if anything has happened since, up to
//    `nodes_at_once` nodes get the layout that serves most of the waiting demand (mig_planner.h):
//    nodes whose GPUs no pod uses and whose present layout serves less of it.
// Sources: k8s-device-plugin, mig-parted (cmd/nvidia-mig-manager, reconfigure), kubelet.
#ifndef DRASIM_SIM_CONTROL_DEVICE_FRONT_END_H_
#define DRASIM_SIM_CONTROL_DEVICE_FRONT_END_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "model/cluster_state.h"
#include "model/time.h"
#include "sim/control/device_kubelet.h"
#include "sim/control/device_plugin.h"
#include "sim/control/mig_manager.h"
#include "sim/core/node_agent.h"

namespace drasim {

struct RepartitioningOptions {
  SimDuration every;  // 0: never
  int32_t nodes_at_once = 1;
};

struct DeviceFrontEndOptions {
  KubeletOptions kubelet;
  DevicePluginConfig plugin;
  MigManagerOptions manager;
  RepartitioningOptions repartitioning;
  SimDuration node_status;
};

// A node at the start of a run: its GPUs with their layouts, and its other devices.
struct FrontEndNode {
  std::vector<DeviceSpec> gpu_specs;  // by index, as many as `gpus`
  std::vector<PluginGpu> gpus;
  std::vector<DeviceSpec> others;
  int32_t numa_nodes = 1;
};

class DeviceFrontEnd : public NodeAgent {
 public:
  // `layouts[c][node]`: the layout that configuration c has for that node; DeviceTransition::config
  // is c.
  // `cluster` must outlive it; its nodes have every resource name that may ever be reported. CHECKs
  // that AdvertisedResources succeeds for each node (the caller has tried it).
  DeviceFrontEnd(const ClusterState* cluster, DeviceFrontEndOptions options,
                 std::vector<FrontEndNode> nodes,
                 std::vector<std::vector<std::vector<GpuLayout>>> layouts);
  ~DeviceFrontEnd() override;

  // NodeAgent
  void Attach(NodeControl* control) override;
  Admission Admit(PodId pod, NodeId node, SimTime now) override;
  void Removed(PodId pod, NodeId node, SimTime now) override;
  void OnTransition(const DeviceTransition& change, SimTime now) override;
  void OnTimer(uint64_t token, SimTime now) override;
  void OnArrival(SimTime now) override;
  void Save(StateWriter& out) const override;
  absl::Status Load(StateReader& in) override;

  // --- for reports ---
  // The GPUs of a node as they are now.
  const std::vector<PluginGpu>& gpus(NodeId node) const;
  int64_t repartitions() const;            // finished
  double repartition_gpu_seconds() const;  // GPUs of the node, from pause to the end, summed
  // True during a change of layout on the node.
  bool changing(NodeId node) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CONTROL_DEVICE_FRONT_END_H_
