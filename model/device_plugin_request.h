// DevicePluginRequest: the part of a pod that the kubelet's device manager reads at admission.
#ifndef DRASIM_MODEL_DEVICE_PLUGIN_REQUEST_H_
#define DRASIM_MODEL_DEVICE_PLUGIN_REQUEST_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace drasim {

// The device plugins' resources that one container requests.
struct ContainerRequest {
  bool init = false;         // an init container: ends before the others start
  bool restartable = false;  // an init container that keeps running (a sidecar)
  std::vector<std::pair<std::string, int64_t>> extended;  // by name (sorted, unique)
  bool operator==(const ContainerRequest&) const = default;
};

struct DevicePluginRequest {
  // Empty: a single container that requests the pod's ResourceRequest::extended.
  std::vector<ContainerRequest> containers;
  // The function that a reprogrammable device must have; empty: any.
  std::string function;
  bool operator==(const DevicePluginRequest&) const = default;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_DEVICE_PLUGIN_REQUEST_H_
