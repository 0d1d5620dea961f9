// NVIDIA's mig-manager on every node: carries out a wish for a MIG layout in steps that take time.
//
//   idle -> pausing -> draining -> resetting -> making -> restarting -> idle
//
// A wish is compared with the present layout GPU by GPU, by the number of instances of each
// profile, not by their positions. GPUs that already have their target are left alone; when all do,
// nothing happens. The pause concerns the whole node. Draining waits for the GPUs that change, or
// evicts the pods on them, once the clients are gone. Resetting is skipped when no GPU changes its
// MIG mode, and GPUs are reset together. A wish that comes during a change replaces one that was
// noted before, and is carried out after the change. Sources: mig-parted (cmd/nvidia-mig-manager,
// pkg/mig/reconfigure, cmd/nvidia-mig-parted/apply).
#ifndef DRASIM_SIM_CONTROL_MIG_MANAGER_H_
#define DRASIM_SIM_CONTROL_MIG_MANAGER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "model/device_set.h"
#include "model/ids.h"
#include "model/mig_table.h"
#include "model/state_io.h"
#include "model/time.h"
#include "sim/control/device_plugin.h"
#include "sim/control/mig_planner.h"
#include "sim/core/node_agent.h"

namespace drasim {

struct MigManagerOptions {
  SimDuration pause_clients;
  SimDuration reset;
  SimDuration create_instance;
  SimDuration destroy_instance;
  SimDuration restart_clients;
  bool evict = false;
};

// The layout of one GPU; a node has one entry per GPU.
struct GpuLayout {
  bool mig_enabled = false;
  MigState state = 0;
  int32_t created = 0;  // instances created on the way to it, failed permutations included
  int32_t destroyed = 0;

  bool operator==(const GpuLayout&) const = default;
};

// A timer of the front end, and the token under which the engine keeps it. A timer whose generation
// is not the present one of its purpose is stale.
struct FrontEndTimer {
  // Values are part of the checkpoint's format.
  enum class Purpose : uint8_t { kNodeStatus = 0, kMigManager = 1, kRepartitioning = 2 };
  Purpose purpose = Purpose::kNodeStatus;
  NodeId node = NodeId(uint32_t{0});
  uint32_t generation = 0;

  static constexpr size_t kMostNodes = size_t{1} << 24;
  uint64_t Token() const;
  static FrontEndTimer Of(uint64_t token);
};

class MigManager {
 public:
  // The clients of the node's GPUs.
  class Clients {
   public:
    virtual ~Clients() = default;
    // A change begins: the device plugin stops.
    virtual void Pause(NodeId node, SimTime now) = 0;
    // The change is over: the plugin registers the GPUs as they are now.
    virtual void Resume(NodeId node, SimTime now) = 0;
    // Whether a pod holds (or still blocks) a device of that GPU.
    virtual bool InUse(NodeId node, uint32_t gpu, SimTime now) const = 0;
  };

  // `device_release`: time for which a pod's devices stay in use after Removed. `clients` must
  // outlive the manager.
  MigManager(const MigManagerOptions& options, SimDuration device_release, Clients* clients);
  // Adds the next node in the order of ids.
  void AddNode(std::vector<PluginGpu> gpus);
  void Attach(NodeControl* control) { control_ = control; }

  // One entry per GPU; ignored for a node without GPUs.
  void Wish(NodeId node, const std::vector<GpuLayout>& layout, SimTime now);
  void Removed(NodeId node, SimTime now);
  // A timer that the manager has armed is due.
  void OnTimer(NodeId node, uint32_t generation, SimTime now);
  void SetHealthy(NodeId node, uint32_t gpu, bool healthy);

  const std::vector<PluginGpu>& gpus(NodeId node) const { return nodes_[node.value()].gpus; }
  // The GPUs as they will be when all wishes have been carried out.
  std::vector<PluginGpu> FutureGpus(NodeId node) const;
  bool changing(NodeId node) const { return nodes_[node.value()].phase != Phase::kIdle; }
  // True while a change proceeds on its own, without waiting for pods. O(nodes).
  bool AnyAtWork() const;
  int64_t finished() const { return finished_; }
  // Sum over finished changes: GPUs of the node times the time from the pause to the end.
  double gpu_seconds() const;

  void Save(StateWriter& out) const;
  // Expects the same nodes. After an error the state is unspecified.
  absl::Status Load(StateReader& in);

 private:
  // Values are part of the checkpoint's format.
  enum class Phase : uint8_t {
    kIdle = 0,
    kPausing = 1,
    kDraining = 2,
    kResetting = 3,
    kMaking = 4,
    kRestarting = 5
  };
  static constexpr uint64_t kLastPhase = static_cast<uint64_t>(Phase::kRestarting);
  struct Node {
    std::vector<PluginGpu> gpus;
    Phase phase = Phase::kIdle;
    uint32_t generation = 0;  // grows with every step; timers of an earlier one are stale
    DeviceSet changing;       // GPUs whose layout is being changed
    SimTime begun;
    std::vector<GpuLayout> target;  // empty when idle
    std::vector<GpuLayout> wish;    // noted; empty: none
    std::vector<SimTime> releases;  // ascending: when devices of pods that are gone become free
  };

  void Enter(NodeId id, Phase phase);
  void Arm(NodeId id, SimTime at);
  void Drain(NodeId id, SimTime now);
  void ResetIfIdle(NodeId id, SimTime now);
  void Make(NodeId id, SimTime now);
  void Made(NodeId id, SimTime now);
  void Finish(NodeId id, SimTime now);
  void LoadNode(StateReader& in, Node* node);

  MigManagerOptions options_;
  SimDuration device_release_;
  Clients* clients_;
  NodeControl* control_ = nullptr;
  std::vector<Node> nodes_;
  int64_t finished_ = 0;
  absl::uint128 gpu_ns_ = 0;
};

// Finds layouts that serve more of a demand than the present ones. Answers are cached, because many
// nodes are alike; use one chooser for one moment, not for a run.
class LayoutChooser {
 public:
  // One entry per GPU, or nothing when the present layout serves as many units of `pending`. All
  // GPUs have this table, which must outlive the chooser. Broken GPUs serve nothing, and stay as
  // they are. GpuLayout::created and destroyed are counted in mig-parted's way.
  std::vector<GpuLayout> Better(const MigTable& table, const std::vector<PluginGpu>& gpus,
                                const MigDemand& pending);

 private:
  struct Answer {
    const MigTable* table = nullptr;
    int32_t gpus = 0;
    MigDemand pending;
    BestLayout best;
  };
  const BestLayout& Best(const MigTable& table, int32_t gpus, const MigDemand& pending);

  std::vector<Answer> answers_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CONTROL_MIG_MANAGER_H_
