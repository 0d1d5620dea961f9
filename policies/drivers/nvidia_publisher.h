// NVIDIA's driver, gpu.nvidia.com: one pool per node (kubernetes-sigs/dra-driver-nvidia-gpu,
// driver.go, nvlib.go and deviceinfo.go of August 2026).
//
//   mig: none     one slice: gpu-0, gpu-1, ...
//   mig: static   one slice; a GPU with instances is not in it, its instances are:
//                 gpu-0-mig-1g5gb-19-3 (profile, profile's id, start)
//   mig: dynamic  a slice with a counter set per GPU, then a slice per GPU: the whole GPU and every
//                 possible instance, by name. Before release 1.35 one slice per GPU has both. On a
//                 node without MIG a slice per GPU.
//
// A GPU that breaks gets the taint gpu.nvidia.com/gpu-lost (NVMLDeviceHealthCheck since release 0.4
// of the driver; before, it was withdrawn), and keeps it until the kubelet plugin restarts. One
// that is withdrawn leaves nothing behind, no counter set and no slice.
//
// Different from the driver: without `mig: dynamic` it lists devices in the random order of a Go
// map; here GPUs follow their index and instances their name. VFIO devices and attributes of
// NVSwitch fabrics are not published.
#ifndef DRASIM_POLICIES_DRIVERS_NVIDIA_PUBLISHER_H_
#define DRASIM_POLICIES_DRIVERS_NVIDIA_PUBLISHER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/mig_table.h"
#include "model/proto/slice_driver.pb.h"
#include "model/text/mig_parted.h"
#include "policies/drivers/consumable_shares.h"
#include "policies/drivers/mig_partitions.h"
#include "policies/drivers/nvidia_config.h"
#include "policies/drivers/nvidia_gpu.h"
#include "policies/drivers/publisher_basics.h"
#include "policies/drivers/slice_pool.h"
#include "policies/drivers/slice_publisher.h"

namespace drasim {

class NvidiaPublisher : public SlicePublisher {
 public:
  // KeyError with the key of an option that is wrong.
  static absl::StatusOr<std::unique_ptr<SlicePublisher>> Make(const proto::SliceDriver& options);

  absl::StatusOr<std::vector<proto::kube::ResourceSlice>> Publish(const NodeHardware& node,
                                                                  int64_t generation) override;
  const UnhealthyDevices& unhealthy() const override { return basics_.unhealthy; }
  absl::Status CheckConfig(absl::string_view parameters) const override;

 private:
  enum class Mig : uint8_t { kNone, kStatic, kDynamic };
  enum class AmpereMode : uint8_t { kAny, kOn, kOff };

  // Facts of a GPU model. Tables and partitions are made when they are needed first.
  struct Model {
    NvidiaGpu gpu;
    std::unique_ptr<MigTable> table;
    std::optional<MigPartitions> partitions;
  };

  NvidiaPublisher() = default;
  absl::Status ReadMigOptions(const proto::SliceDriver& options);
  absl::Status ReadVersions(const proto::SliceDriver& options);
  absl::Status ReadLayout(const std::string& layout);
  // The configuration of mig-parted with that name; none for a list of instances.
  absl::StatusOr<const std::optional<MigPartedConfig>*> LayoutOf(const std::string& layout);

  Model* ModelOf(const std::string& name);
  // Whether the driver would cut this GPU when a claim needs it.
  bool Partitions(const NvidiaGpu& gpu) const;
  absl::Status AddStatic(const NodeHardware& node, SlicePool* pool);
  absl::Status AddDynamic(const NodeHardware& node, SlicePool* pool);
  absl::StatusOr<std::vector<MigState>> StatesOf(const NodeHardware& node);
  proto::kube::Device GpuDevice(const NodeHardware& node, size_t index, const NvidiaGpu& gpu) const;
  // Attributes that a GPU and its instances have in common.
  void SetAttributes(const GpuHardware& hardware, const NvidiaGpu& gpu,
                     proto::kube::Device* device) const;
  void AddInstances(const NodeHardware& node, size_t index, const NvidiaGpu& gpu,
                    const MigPartitions& partitions, proto::kube::ResourceSliceSpec* spec) const;

  PublisherBasics basics_;
  Mig mig_ = Mig::kNone;
  AmpereMode ampere_ = AmpereMode::kAny;
  std::string layout_;  // of static MIG
  std::map<std::string, std::optional<MigPartedConfig>> layouts_;
  ConsumableShares shares_;
  std::string driver_version_;
  std::string cuda_version_;
  std::string addressing_mode_;
  NvidiaSharingGates gates_;
  std::map<std::string, Model> models_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRIVERS_NVIDIA_PUBLISHER_H_
