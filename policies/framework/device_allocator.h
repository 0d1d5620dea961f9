// The direct front end's choice of devices for a pod on a node.
//
// An allocator proposes; ClusterState commits. A proposal is a mask over the node's devices.
#ifndef DRASIM_POLICIES_FRAMEWORK_DEVICE_ALLOCATOR_H_
#define DRASIM_POLICIES_FRAMEWORK_DEVICE_ALLOCATOR_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/cluster_state.h"
#include "model/device_grant.h"
#include "policies/framework/plugin.h"

namespace drasim {

struct DeviceProposal {
  uint32_t devices = 0;  // exactly shape.gpu_count bits
  int64_t score = 0;     // higher is better, within one allocator
};
// Best first.
using DeviceProposals = absl::InlinedVector<DeviceProposal, 8>;

class DeviceAllocator {
 public:
  virtual ~DeviceAllocator() = default;
  virtual absl::string_view name() const = 0;
  // Whether Propose draws random numbers of the run.
  virtual bool draws() const { return false; }
  // At least one candidate, best first, for a shape that wants devices on a node that passed
  // Filter. Not const, because randomised choosers draw.
  virtual void Propose(const PodShape& shape, const ClusterState& cluster, NodeId node,
                       DeviceProposals* out) = 0;
  // Placements of the pod's MIG instances, for a shape that wants some, on a node that passed
  // Filter. By default each instance takes the lowest GPU with room, and the first start there.
  virtual DeviceGrants ProposeMig(const PodContext& pod, const ClusterState& cluster, NodeId node);
};

// One instance per entry of `profiles`, each on the lowest usable GPU (bit per GPU in `usable`) and
// at the first start in the catalogue's order. If that leaves no room for a later instance, the
// first combination that fits; empty if none does. Exponential in the number of instances at worst.
DeviceGrants FirstFittingInstances(const MigTable& table, absl::Span<const MigState> gpus,
                                   uint32_t usable, absl::Span<const uint8_t> profiles);
// The GPUs of the grants, as a mask.
uint32_t DevicesOf(absl::Span<const DeviceGrant> grants);
// The grant of one whole MIG instance.
DeviceGrant InstanceGrant(const MigTable& table, size_t gpu, size_t placement);

// The first gpu_count devices by index with at least gpu_milli idle. Every policy places whole GPUs
// this way.
uint32_t FirstFittingDevices(const PodShape& shape, absl::Span<const int16_t> device_milli_idle);

}  // namespace drasim

#endif  // DRASIM_POLICIES_FRAMEWORK_DEVICE_ALLOCATOR_H_
