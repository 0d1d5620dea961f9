// NVIDIA's device plugin: the extended resources that it advertises for the GPUs of a node, by
// their exact names, with their devices; and the labels of GPU feature discovery.
//
// Sources: k8s-device-plugin (resource names, migStrategy, sharing), gpu-feature-discovery
// (labels). Pure functions of a node's GPUs and the plugin's configuration.
#ifndef DRASIM_SIM_CONTROL_DEVICE_PLUGIN_H_
#define DRASIM_SIM_CONTROL_DEVICE_PLUGIN_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/device_grant.h"
#include "model/mig_table.h"

namespace drasim {

enum class MigStrategy : uint8_t { kNone, kSingle, kMixed };
enum class SharingKind : uint8_t { kNone, kTimeSlicing, kMps };

struct DevicePluginConfig {
  struct Replicas {
    std::string name;  // "nvidia.com/gpu", "nvidia.com/mig-1g.5gb"
    int64_t replicas = 1;
  };
  MigStrategy mig_strategy = MigStrategy::kNone;
  SharingKind sharing = SharingKind::kNone;
  bool rename_by_default = false;
  bool fail_requests_greater_than_one = false;
  std::vector<Replicas> resources;
  bool packed = false;  // shared devices: the GPU with most replicas in use first, not with fewest
};

// InvalidArgument for replicas below 1 (0 has a message of its own), a resource that is named twice
// or is not nvidia.com/gpu or nvidia.com/mig-*, and MPS on MIG resources. `key` is the
// configuration's place in the scenario, and begins each message.
absl::Status CheckDevicePluginConfig(const DevicePluginConfig& config, absl::string_view key);

// One GPU of a node, as the plugin sees it.
struct PluginGpu {
  std::string product;              // the model's name, for labels
  const MigTable* table = nullptr;  // null: no MIG
  bool mig_enabled = false;
  MigState layout = 0;  // existing instances
  bool healthy = true;
  int32_t numa_node = -1;
  int32_t memory_mib = kUnknownAmount;
};

// A device that is advertised `replicas` times.
struct PluginDevice {
  uint8_t gpu = 0;
  uint8_t placement = kNoPlacement;  // of the MIG instance; kNoPlacement: the whole GPU
  int32_t replicas = 1;
  bool healthy = true;
  int32_t numa_node = -1;

  bool operator==(const PluginDevice&) const = default;
};

struct PluginResource {
  std::string name;
  std::vector<PluginDevice> devices;  // by GPU, then by the unit at which they begin
  bool shared = false;                // each device is advertised several times (time-slicing, MPS)

  int64_t capacity() const;     // every device times its replicas
  int64_t allocatable() const;  // healthy ones
};

// "nvidia.com/mig-" and the profile, each "+" replaced by ".".
std::string MigResourceName(absl::string_view profile);

// The resources of a node, sorted by name. With strategy single, the plugin fails when GPUs with
// and without MIG are mixed, a MIG GPU has no instance, or instances have different profiles:
// FailedPrecondition.
absl::StatusOr<std::vector<PluginResource>> AdvertisedResources(absl::Span<const PluginGpu> gpus,
                                                                const DevicePluginConfig& config);

// GPU feature discovery's labels that depend on products, MIG and sharing, sorted by key:
// nvidia.com/gpu.product, .count, .memory, .replicas, .sharing-strategy, .family,
// .compute.major/minor, nvidia.com/mig.capable, mig.strategy, mps.capable, and, by strategy, those
// of MIG devices. Empty without GPUs.
std::vector<std::pair<std::string, std::string>> GpuFeatureLabels(absl::Span<const PluginGpu> gpus,
                                                                  const DevicePluginConfig& config);

}  // namespace drasim

#endif  // DRASIM_SIM_CONTROL_DEVICE_PLUGIN_H_
