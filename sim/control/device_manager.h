// The device manager of one node's kubelet: the devices and cores that each pod holds.
//
// GPU devices come from the plugin and may change under running pods; other devices and cores are
// fixed. A holding lasts until its pod is removed and the time of release has come; it is freed
// when the next pod asks, never by itself. Sources: kubernetes pkg/kubelet/cm/devicemanager (reuse
// by container, candidates by NUMA class, preferred allocation), pkg/kubelet/cm/ topologymanager
// (scopes).
//
// Two things are simpler than upstream: the plugin is asked class by class also when the aligned
// devices do not suffice, and a lack of cores alone never fails a pod.
#ifndef DRASIM_SIM_CONTROL_DEVICE_MANAGER_H_
#define DRASIM_SIM_CONTROL_DEVICE_MANAGER_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "model/device_set.h"
#include "model/device_spec.h"
#include "model/gpu_topology.h"
#include "model/ids.h"
#include "model/pod_shape.h"
#include "model/state_io.h"
#include "model/time.h"
#include "sim/control/device_plugin.h"
#include "sim/control/preferred_allocation.h"
#include "sim/control/topology_manager.h"
#include "sim/core/node_agent.h"

namespace drasim {

struct KubeletOptions {
  TopologyPolicy topology_policy = TopologyPolicy::kNone;
  bool topology_scope_pod = false;  // false: container by container
  bool cpu_manager_static = false;  // whole-core requests get cores of their own, by NUMA node
  // Delay from the end of a pod, as the scheduler sees it, until its devices may be given out
  // again. As in the kubelet, they are freed when the next pod asks.
  SimDuration device_release;
  bool fail_requests_greater_than_one = false;  // of shared resources
  bool packed = false;                          // see DevicePluginConfig
};

// The devices of a node as its kubelet knows them.
struct KubeletDevices {
  std::vector<DeviceSpec> gpus;             // by index; empty: nothing known about them
  std::vector<const MigTable*> mig_tables;  // by GPU; null: no MIG
  std::vector<DeviceSpec> others;           // devices that are not GPUs
  std::vector<PluginResource> resources;    // of GPUs
  int32_t numa_nodes = 1;
};

class DeviceManager {
 public:
  // `cores` are spread evenly over the NUMA nodes, the first ones getting the rest; there are at
  // least the NUMA nodes that the devices name. CHECKs that GPU indices and placements exist.
  DeviceManager(KubeletDevices node, int64_t cores);

  // NodeAgent's functions for this node. O(devices x resources asked for) without a topology
  // policy, plus the cost of the plugin's preference.
  Admission Admit(PodId pod, const PodShape& shape, const KubeletOptions& options, SimTime now);
  // The pod's devices are free from `free_at` on.
  void Removed(PodId pod, SimTime free_at);

  // The plugin registers with these resources. A pod keeps its device when one on the same GPU with
  // the same placement is in the list, in proportion when the number of replicas differs (rounded
  // up). Any other device of a pod has no name any more, and nothing on its GPU is handed out until
  // it is free. A name that is no longer in the list stays known as one that is not registered.
  // CHECKs as the constructor does.
  void SetResources(std::vector<PluginResource> resources);
  void SetRegistered(bool registered) { registered_ = registered; }
  void SetHealthy(uint32_t gpu, bool healthy);

  std::vector<std::pair<std::string, int64_t>> Allocatable() const;
  const std::vector<PluginResource>& resources() const { return node_.resources; }
  bool InUse(uint32_t gpu, SimTime now) const;

  void Save(StateWriter& out) const;
  // After an error the state is unspecified.
  absl::Status Load(StateReader& in);

 private:
  static constexpr uint32_t kNowhere = std::numeric_limits<uint32_t>::max();
  static constexpr SimTime kRuns = SimTime(std::numeric_limits<int64_t>::max());

  // Values are part of the checkpoint's format.
  enum class What : uint8_t { kGpu = 0, kOther = 1, kCores = 2 };

  struct Device {
    uint32_t row = 0;  // GPU, or row of KubeletDevices::others
    uint8_t placement = kNoPlacement;
    bool healthy = true;
    int16_t milli = 0;     // of a GPU that one unit is
    int32_t replicas = 1;  // units
    int32_t numa_node = -1;
    int64_t in_use = 0;  // units; may exceed replicas after a change of resources
  };
  // A resource that is handed out. Plugin resources come first, as node_.resources has them.
  struct Pool {
    std::string name;
    What what = What::kGpu;
    bool shared = false;
    bool whole_gpus = false;  // nothing but whole GPUs of one unit each
    std::vector<Device> devices;
  };
  struct Place {
    uint32_t pool = kNowhere;
    uint32_t device = 0;
  };
  struct Holding {
    PodId pod;
    SimTime free_at = kRuns;
    What what = What::kGpu;
    uint8_t placement = kNoPlacement;
    uint32_t row = 0;      // GPU, other device or NUMA node
    int32_t replicas = 1;  // of the device when it was handed out
    int64_t units = 0;     // replicas held
    Place place;           // among pools_ now; nowhere: cores, or no longer advertised
  };
  // A part of what the pod under admission has got so far. For cores, `device` is the NUMA node.
  struct Taken {
    What what = What::kGpu;
    Place place;
    int64_t units = 0;
    int64_t reusable = 0;  // units that only init containers that end have used
  };
  struct Want {
    uint32_t pool = kNowhere;  // nowhere: the plugin once had this resource
    int64_t amount = 0;
  };
  // One request of one container.
  struct Request {
    Want want;
    bool ended = false;  // of an init container that ends before others start
    const std::string* function = nullptr;
    TopologyHint hint;
  };
  using Extended = std::vector<std::pair<std::string, int64_t>>;

  bool Valid(const PluginDevice& device) const;
  Pool PoolOf(const PluginResource& resource) const;
  void AddOtherPools();
  void Remember();
  void Rebuild();
  Place Find(const Holding& holding) const;
  void Count(const Holding& holding, int sign);
  void FindBlocked();
  void Free(SimTime now);
  int64_t FreeUnits(const Pool& pool, const Device& device) const;

  AdmissionFailure Allocate(const PodShape& shape, const KubeletOptions& options);
  AdmissionFailure AllocateContainer(const Extended& extended, bool ended, int64_t cores,
                                     const std::string& function, const KubeletOptions& options,
                                     TopologyHint hint);
  void Resolve(const Extended& extended);
  void ResolvePod(const PodShape& shape);
  bool Align(int64_t cores, const KubeletOptions& options, TopologyHint* hint);
  ResourceHints HintsOf(const Want& want) const;
  bool Registered(const Want& want) const;
  AdmissionFailure Take(const Request& request, const KubeletOptions& options);
  int64_t Reuse(const Request& request);
  int64_t TakeClass(const Request& request, int numa_class, int64_t needed, bool packed);
  void TakePreferredGpus(const Request& request, int64_t needed);
  void TakePreferredUnits(const Request& request, int64_t needed, bool packed);
  void TakeOthers(const Request& request, int64_t needed);
  void TakeCores(int64_t cores, const TopologyHint& hint);
  void Hand(const Request& request, uint32_t device, int64_t units);
  bool Reprogrammable(uint32_t other) const;
  void Commit(PodId pod, const std::string& function, Admission* admission);
  void GiveBack();

  void LoadResources(StateReader& in);
  void LoadHoldings(StateReader& in);

  KubeletDevices node_;
  std::optional<GpuTopology> topology_;  // none: nothing known about the GPUs
  std::vector<int64_t> cores_;           // by NUMA node
  bool registered_ = true;
  std::vector<std::string> names_;      // of resources that the plugin ever had; sorted
  std::vector<std::string> functions_;  // of each other device
  std::vector<Holding> holdings_;

  // Follow from the above.
  std::vector<Pool> pools_;
  std::vector<int64_t> free_cores_;
  DeviceSet blocked_;          // GPUs with a pod whose resource is no longer advertised
  SimTime next_free_ = kRuns;  // the earliest free_at

  // Scratch of Admit, kept for its memory.
  std::vector<Taken> taken_;
  std::vector<Want> wants_;
  std::vector<ResourceHints> hints_;
  std::vector<uint32_t> used_;        // devices of the request so far
  std::vector<uint32_t> candidates_;  // devices of one NUMA class
  std::vector<size_t> available_;
  std::vector<size_t> required_;
  std::vector<ReplicaCandidate> units_;
  std::vector<int64_t> unit_counts_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CONTROL_DEVICE_MANAGER_H_
