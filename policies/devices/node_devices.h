// NodeDevices: the GPUs of one node as classic DRA allocates them, whole, in parts or as MIG
// instances.
#ifndef DRASIM_POLICIES_DEVICES_NODE_DEVICES_H_
#define DRASIM_POLICIES_DEVICES_NODE_DEVICES_H_

#include <array>
#include <cstdint>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/device_grant.h"
#include "model/device_set.h"
#include "model/mig_table.h"
#include "policies/devices/gpu_kinds.h"

namespace drasim {

// A claim's use of a GPU, with the uses that it tolerates beside itself.
enum class GpuUse : uint8_t {
  kWhole,     // only kInside
  kInstance,  // a MIG instance; other instances
  kPart,      // an amount of compute and memory; other parts
  kFunction,  // a virtual function of a fixed size; other functions
  kInside,    // a MIG instance on a GPU that another claim has whole
  kCompute,   // compute slices of a MIG instance that another claim has
};

struct HeldDevice {
  GpuUse use = GpuUse::kWhole;
  uint8_t gpu = 0;
  uint8_t placement = kNoPlacement;  // kInstance, kInside, kCompute
  uint8_t slices = 0;                // kCompute
  int16_t milli = 0;                 // kPart, kFunction
  int32_t memory_mib = 0;            // kPart, kFunction

  bool is_instance() const { return use == GpuUse::kInstance || use == GpuUse::kInside; }
  bool operator==(const HeldDevice&) const = default;
};
using HeldDevices = absl::InlinedVector<HeldDevice, 2>;

inline constexpr uint8_t kAnyProfile = 0xff;

// One way to serve a unit of a claim.
struct DeviceOption {
  GpuUse use = GpuUse::kWhole;
  // kInstance, kInside, kCompute (also kAnyProfile): in the table of `gpus`, which is the same.
  uint8_t profile = 0;
  uint8_t slices = 0;      // kCompute; 0: the whole instance
  int16_t milli = 0;       // kPart, kFunction
  int32_t memory_mib = 0;  // kPart, kFunction
  // GPUs that may serve in this way: on a node with several models, those of some of them.
  DeviceSet gpus = DeviceSet::All();
  bool operator==(const DeviceOption&) const = default;
};

// The taken part of a node. Restored claims may overlap: taking tolerates that, and a GPU with
// contradicting instances is out of use.
struct NodeDevices {
  const GpuKind* kind = nullptr;  // null: no GPUs
  DeviceSet all;
  DeviceSet whole;      // held whole
  DeviceSet parted;     // with parts
  DeviceSet functions;  // with virtual functions
  DeviceSet cut;        // with MIG instances
  std::array<MigState, kMaxDevicesPerNode> states{};
  std::array<int16_t, kMaxDevicesPerNode> milli_used{};
  std::array<int32_t, kMaxDevicesPerNode> memory_used{};  // MiB
  struct Compute {
    uint8_t gpu;
    uint8_t placement;
    int16_t slices;
    bool operator==(const Compute&) const = default;
  };
  absl::InlinedVector<Compute, 2> compute;  // one per instance with compute instances

  // Unused GPUs.
  DeviceSet free() const { return all - (whole | parted | functions | cut); }
  // GPUs open to MIG instances.
  DeviceSet cuttable() const { return all - (whole | parted | functions); }
  absl::Span<const MigState> gpu_states() const;
  // Slices of the instance that compute instances take.
  int slices_used(size_t gpu, uint8_t placement) const;

  void Take(const HeldDevice& device);
  // Releases everything.
  void Clear();
  bool operator==(const NodeDevices&) const = default;
};

// "gpu-0", "gpu-0-mig-4-3g.40gb" (start, profile; also for "inside" devices),
// "gpu-0-mig-4-3g.40gb-ci-2", "gpu-0-part-250-4096" (milli, MiB), "gpu-0-vf-250-4096". REQUIRES:
// the GPU's kind has a table if the device is an instance.
std::string DeviceName(const GpuKind& kind, const HeldDevice& device);
// The reverse; an instance is kInstance. False when no device of the kind has the name.
bool ReadDeviceName(const GpuKind& kind, absl::string_view name, HeldDevice* device);

// The first `count` GPUs of the set, or all of a smaller set. `packed` takes them from the smallest
// aligned block with `count` GPUs, and among such blocks the fullest, to keep free neighbours
// together: from GPUs 1 to 7, one GPU is 1, and two are 2 and 3.
DeviceSet PickGpus(DeviceSet gpus, int count, bool packed);

}  // namespace drasim

#endif  // DRASIM_POLICIES_DEVICES_NODE_DEVICES_H_
