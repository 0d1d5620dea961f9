// DriverPlugins: the kubelet plugins of one driver that publishes ResourceSlices, one plugin a
// node.
//
// Each plugin keeps its node's pools as its driver wants them (SlicePublisher), by the rules of
// PoolCalls, one call at a time and under a rate limit of its own:
//
//  * At the beginning of a run the slices are there, or the plugins start and publish them.
//  * A change of the node's devices is published at once. When somebody else changes or deletes a
//    slice, the plugin puts it right `sync_delay` after it has heard of it; it looks once more
//    `recheck` after it has created slices. A call that fails is repeated after 5 ms, 10 ms, ...
//  * A plugin that is away publishes nothing; its slices stay. After `wiping_delay` its kubelet
//    deletes them. When it is back it looks at its devices anew, and publishes what differs.
//  * The slices of a node that is removed are deleted by the garbage collector. A node that has
//    failed keeps them. When a node is back, its kubelet starts and deletes what is left; the
//    plugin starts a while later.
//  * A new layout of static MIG waits until no claim holds a device of the node; until then the
//    devices have a taint, NAME/reconfiguring with effect NoSchedule.
//
// Rules: package resourceslice of k8s.io/dynamic-resource-allocation and the kubelet's
// cm/dra/plugin, release 1.37; for devices that break, UnhealthyDevices. Approximated: all plugins
// share one connection's latencies, and one cache.
//
// A node costs memory only once something has happened to it. A change costs O(devices of the
// node).
#ifndef DRASIM_SIM_DRA_STRUCTURED_DRIVER_PLUGINS_H_
#define DRASIM_SIM_DRA_STRUCTURED_DRIVER_PLUGINS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "model/cluster_state.h"
#include "model/device_set.h"
#include "model/distributions.h"
#include "model/ids.h"
#include "model/kube/name.h"
#include "model/kube/objects.h"
#include "model/proto/resource.pb.h"
#include "model/random.h"
#include "model/time.h"
#include "policies/drivers/node_hardware.h"
#include "policies/drivers/slice_publisher.h"
#include "sim/dra/api/api_types.h"
#include "sim/dra/api/plane_part.h"
#include "sim/dra/api/rate_limiter.h"
#include "sim/dra/structured/slice_remover.h"

namespace drasim {

struct DriverPluginsOptions {
  std::string driver;        // empty: those of a file, under several names
  ClientOptions connection;  // with the component's name; its rate limit is each plugin's own
  uint32_t number = 0;       // for DeviceTransition::driver
  std::vector<NodeId> nodes;
  bool start_up = false;                    // nothing is published yet
  std::optional<Distribution> start_delay;  // seconds, after a node's kubelet; absent: none
  SimDuration sync_delay = SimDuration::Seconds(30);
  SimDuration recheck = SimDuration::Seconds(60);
  SimDuration wiping_delay = SimDuration::Seconds(30);
  // By DeviceTransition::config, of kTainted and of kMigConfig.
  std::vector<proto::kube::DeviceTaint> taints;
  std::vector<std::string> layouts;
  uint64_t seed = 0;
};

class DriverPlugins : public PlanePart {
 public:
  // All must outlive it. The publisher can publish every node, with every taint and layout of the
  // options.
  DriverPlugins(DriverPluginsOptions options, SlicePublisher* publisher,
                const ClusterState* cluster, SliceRemover* garbage_collector,
                SliceRemover* kubelets);
  ~DriverPlugins() override;

  // The slices that the node's plugin wants to publish at present, of the first generation.
  std::vector<proto::kube::ResourceSlice> Wanted(NodeId node);

  // --- PlanePart ---
  ClientOptions connection() const override;
  void Start(ApiClient* client) override;
  void OnTransition(const DeviceTransition& change) override;
  void OnNode(NodeId node, NodePresence presence) override;
  bool IsBusy() const override;
  void Save(PlaneWriter& archive) const override;
  void Load(PlaneReader& archive) override;

  // --- Actor ---
  void OnWatch(const WatchEvent& event) override;
  void OnReply(uint64_t token, const ApiReply& reply) override;
  void OnTimer(uint64_t token) override;
  void OnRestart() override;

 private:
  enum class Timer : uint8_t { kSync, kCall, kStart, kWipe, kLayout };
  struct Plugin;

  static uint64_t Token(NodeId node, const Plugin& plugin, Timer timer);
  // The plugin that a token is for; null if it has restarted since.
  Plugin* PluginOf(uint64_t token);
  // Null for a node that the driver does not serve.
  Plugin* PluginOf(NodeId node);
  NodeHardware HardwareNow(NodeId node, const Plugin& plugin);
  // The node's slices in the cache.
  std::vector<Ref<ResourceSliceObject>> Present(const Plugin& plugin) const;
  std::string TimeText() const;

  void Arm(NodeId node, Plugin& plugin, Timer timer, SimDuration after);
  void GoDown(Plugin& plugin);
  // The node's kubelet has started, and its plugin will.
  void Boot(NodeId node, Plugin& plugin);
  void StartPlugin(NodeId node, Plugin& plugin);
  void Break(Plugin& plugin, const DeviceTransition& change);
  void Sync(NodeId node, Plugin& plugin);
  // Makes the calls that are left, until one takes time.
  void CallOn(NodeId node, Plugin& plugin, bool has_token);
  // False when the rest is given up.
  bool Take(NodeId node, Plugin& plugin, const ApiReply& reply);
  void TryLayout(NodeId node, Plugin& plugin);
  bool IsHeld(NodeId node) const;
  void OnClaim(const WatchEvent& event);
  template <typename Archive, typename Self>
  static void Fields(Archive& archive, Self& self);

  DriverPluginsOptions options_;
  SlicePublisher* publisher_;
  const ClusterState* cluster_;
  SliceRemover* garbage_collector_;
  SliceRemover* kubelets_;
  ApiClient* client_ = nullptr;
  absl::flat_hash_map<absl::string_view, NodeId> served_;  // by name
  Random delays_;
  // States of nodes to which something has happened, by NodeId. Others are as at the beginning.
  std::map<uint32_t, Plugin> plugins_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_STRUCTURED_DRIVER_PLUGINS_H_
