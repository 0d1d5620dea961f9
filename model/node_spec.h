// NodeSpec: a node as read from input, before it becomes a row of ClusterState.
#ifndef DRASIM_MODEL_NODE_SPEC_H_
#define DRASIM_MODEL_NODE_SPEC_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/device_spec.h"

namespace drasim {

// core/v1 Taint. Effects: NoSchedule, PreferNoSchedule, NoExecute.
struct Taint {
  std::string key;
  std::string value;
  std::string effect;
  bool operator==(const Taint&) const = default;
};

// An entry of core/v1 NodeStatus.images.
struct NodeImage {
  std::vector<std::string> names;  // with tags or digests
  int64_t bytes = 0;
  bool operator==(const NodeImage&) const = default;
};

struct NodeSpec {
  std::string name;
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  int64_t pods = 110;     // pod slots; the kubelet's default
  int32_t gpu_count = 0;  // whole devices, each of 1000 milli; 0..kMaxDevicesPerNode
  std::string gpu_model;  // empty when gpu_count is 0 or the model is unknown
  // A node with several models: the model of each GPU, gpu_count of them; gpu_model is empty then.
  std::vector<std::string> gpu_models;
  std::vector<std::pair<std::string, std::string>> labels;  // sorted by key
  std::vector<Taint> taints;
  // Capacities of extended resources, by name (sorted, unique).
  std::vector<std::pair<std::string, int64_t>> extended;
  // Known details of single devices: GPUs in order of index (gpu_count of them, or none), then
  // other devices.
  std::vector<DeviceSpec> devices;
  std::vector<NodeImage> images;
  bool absent = false;         // outside the cluster until an event adds it
  bool unschedulable = false;  // spec.unschedulable (cordoned)
};

// The model of one GPU. REQUIRES: gpu < gpu_count.
inline const std::string& GpuModelOf(const NodeSpec& node, size_t gpu) {
  return node.gpu_models.empty() ? node.gpu_model : node.gpu_models[gpu];
}

// The node's models for people: "A30", or "4 A100-SXM4-40GB + 2 A30" in the order of the GPUs.
std::string GpuModelText(const NodeSpec& node);

}  // namespace drasim

#endif  // DRASIM_MODEL_NODE_SPEC_H_
