// The direct front end's choice of devices for a pod on a node.
//
// An allocator only proposes a set of the node's devices; ClusterState alone commits it.
#ifndef DRASIM_POLICIES_FRAMEWORK_DEVICE_ALLOCATOR_H_
#define DRASIM_POLICIES_FRAMEWORK_DEVICE_ALLOCATOR_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/cluster_state.h"
#include "model/device_grant.h"
#include "model/device_set.h"
#include "model/resource_request.h"
#include "policies/framework/plugin.h"

namespace drasim {

struct DeviceProposal {
  DeviceSet devices;  // request.gpu_count of them
  int64_t score = 0;  // higher is better, within one allocator
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
  virtual void Propose(const ResourceRequest& request, const ClusterState& cluster, NodeId node,
                       DeviceProposals* out) = 0;
  // Placements of the pod's MIG instances, for a shape that wants some, on a node that passed
  // Filter. By default each instance takes the lowest GPU with room, and the first start there; on
  // a node with several models, all are of the first model with room.
  virtual DeviceGrants ProposeMig(const PodContext& pod, const ClusterState& cluster, NodeId node);

  // Propose and ProposeMig, counted. For decisions.
  void Ask(const ResourceRequest& request, const ClusterState& cluster, NodeId node,
           DeviceProposals* out) {
    ++calls_;
    Propose(request, cluster, node, out);
  }
  DeviceGrants AskMig(const PodContext& pod, const ClusterState& cluster, NodeId node) {
    ++calls_;
    return ProposeMig(pod, cluster, node);
  }
  uint64_t calls() const { return calls_; }

 private:
  uint64_t calls_ = 0;
};

// One instance per entry of `profiles`, on the lowest GPU of `usable` and at the first start in the
// catalogue's order; where that leaves no room for a later one, the first combination that fits.
// Empty when none does. Exponential in the number of instances at worst.
DeviceGrants FirstFittingInstances(const MigTable& table, absl::Span<const MigState> gpus,
                                   DeviceSet usable, absl::Span<const uint8_t> profiles);
// The devices that the grants name.
DeviceSet DevicesOf(absl::Span<const DeviceGrant> grants);
// The grant of one whole MIG instance.
DeviceGrant InstanceGrant(const MigTable& table, size_t gpu, size_t placement);

// The first gpu_count devices of `usable` by index with at least gpu_milli idle; what every policy
// does for whole GPUs. `usable`: of acceptable models (ClusterState::UsableGpus).
DeviceSet FirstFittingDevices(const ResourceRequest& request,
                              absl::Span<const int16_t> device_milli_idle,
                              DeviceSet usable = DeviceSet::All());

// Calls visit(model, gpus) for each model of the node that may serve the pod's MIG instances, in
// the order of the models' first GPUs, until it returns true; false if it never does. A model
// serves a pod when the pod accepts it and the model has every profile that the pod wants: the
// instances of a pod come from GPUs of one model. `gpus` are its GPUs that are open to instances.
// REQUIRES: cluster.any_mig(), and the shape of a pod that was added.
template <typename Visit>
bool VisitMigModels(const ClusterState& cluster, NodeId node, ShapeId shape, Visit visit) {
  const uint64_t accepted = cluster.shapes().row(shape).request.model_mask;
  for (const GpuModelGroup& group : cluster.GroupsOfModels(node)) {
    const bool serves = cluster.models().mig(ModelId(uint32_t{group.model})) != nullptr &&
                        (accepted >> group.model & 1) != 0 &&
                        !cluster.mig_profiles(shape, group.model).empty();
    if (serves && visit(group.model, cluster.mig_usable(node) & group.gpus)) return true;
  }
  return false;
}

}  // namespace drasim

#endif  // DRASIM_POLICIES_FRAMEWORK_DEVICE_ALLOCATOR_H_
