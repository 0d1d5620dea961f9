// Opaque configurations of claims and classes for NVIDIA's driver (resource.nvidia.com/v1beta1).
//
//   apiVersion: resource.nvidia.com/v1beta1
//   kind: GpuConfig
//   sharing: {strategy: TimeSlicing, timeSlicingConfig: {interval: Long}}
//
// A configuration affects no allocation: the scheduler carries it from the claim or class into
// status.allocation, and the driver reads it when it prepares the claim for the first pod. It says
// how pods that use one claim share its devices: turns of a length (time-slicing), or at the same
// time with limits (MPS).
//
// Rules: api/nvidia.com/resource/v1beta1 of kubernetes-sigs/dra-driver-nvidia-gpu.
#ifndef DRASIM_POLICIES_DRIVERS_NVIDIA_CONFIG_H_
#define DRASIM_POLICIES_DRIVERS_NVIDIA_CONFIG_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace drasim {

// Feature gates of the driver; both are off by default.
struct NvidiaSharingGates {
  bool time_slicing = false;  // TimeSlicingSettings
  bool mps = false;           // MPSSupport
};

// Whether the driver accepts `json`, the text of an object.
//   GpuConfig        sharing.strategy TimeSlicing (interval Default, Short, Medium, Long) or MPS
//   MigDeviceConfig  sharing.strategy TimeSlicing (without settings) or MPS
//   VfioDeviceConfig is not looked into
// MPS: defaultActiveThreadPercentage 0 to 100; defaultPinnedDeviceMemoryLimit and the limits of
// defaultPerDevicePinnedMemoryLimit from 1Mi on.
//
// InvalidArgument, "sharing.mpsConfig.x: found ..., expected ...": other kinds and versions,
// unknown fields (the driver decodes strictly), wrong types and values, settings of the strategy
// that was not chosen, strategies whose gate is off. O(text).
absl::Status CheckNvidiaConfig(absl::string_view json, const NvidiaSharingGates& gates);

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRIVERS_NVIDIA_CONFIG_H_
