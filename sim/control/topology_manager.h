// The kubelet's TopologyManager: picks the NUMA nodes for the devices and CPUs of a pod, or rejects
// the pod.
//
// Source: kubernetes pkg/kubelet/cm/topologymanager. A provider gives hints per resource: sets of
// NUMA nodes that could serve the request, each preferred or not. One hint of every resource is
// merged by bitwise AND, over the cross product; the policy picks the best merged hint and says
// whether the pod is admitted.
#ifndef DRASIM_SIM_CONTROL_TOPOLOGY_MANAGER_H_
#define DRASIM_SIM_CONTROL_TOPOLOGY_MANAGER_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace drasim {

enum class TopologyPolicy : uint8_t { kNone, kBestEffort, kRestricted, kSingleNumaNode };

// The kubelet refuses to start a policy other than none on nodes with more.
inline constexpr int kMaxNumaNodes = 8;

struct TopologyHint {
  uint32_t numa_nodes = 0;  // bit per NUMA node
  bool any = false;         // no preference about NUMA nodes ("nil affinity")
  bool preferred = false;

  bool operator==(const TopologyHint&) const = default;
};

// Hints of one resource. `no_preference` (upstream: no hints at all): any NUMA node will do. An
// empty list: no set of NUMA nodes can serve the request.
struct ResourceHints {
  bool no_preference = false;
  std::vector<TopologyHint> hints;
};

struct TopologyVerdict {
  bool admit = true;
  TopologyHint best;
};

// Merges one hint per resource. The machine has `numa_nodes` NUMA nodes, at most kMaxNumaNodes.
// O(product of the numbers of hints).
TopologyVerdict MergeHints(TopologyPolicy policy, int numa_nodes,
                           absl::Span<const ResourceHints> resources);

// The device manager's hints for `request` devices of a resource: every set of NUMA nodes on which
// enough *available* devices sit, preferred when it is as narrow as the narrowest that would hold
// the request if all devices were available. `numa_of_all`, `numa_of_available`: NUMA node by
// device, -1 for none. `numa_of_reusable`: devices that the pod already holds and that must be part
// of the answer. No device with a NUMA node: no preference. O(2^numa_nodes x devices).
ResourceHints DeviceHints(absl::Span<const int32_t> numa_of_all,
                          absl::Span<const int32_t> numa_of_available,
                          absl::Span<const int32_t> numa_of_reusable, int64_t request,
                          int numa_nodes);

// The static CPU manager's hints for whole cores: like DeviceHints over free and all cores per NUMA
// node. O(2^numa_nodes).
ResourceHints CpuHints(absl::Span<const int64_t> cores, absl::Span<const int64_t> free_cores,
                       int64_t request);

}  // namespace drasim

#endif  // DRASIM_SIM_CONTROL_TOPOLOGY_MANAGER_H_
