// What the drivers of classic DRA have in common that hand out the GPUs of nodes: who holds what,
// where a claim goes, what an allocation says. A driver of its own only reads parameters.
//
// The claims of one pod must fit on a node together (device_planner.h); UnsuitableNodes lists a
// node for every claim, or for none. Allocate plans in the same way, so it serves all claims of a
// node that is suitable; on one that is not, those that fit one after the other. Without a node,
// each claim goes to the first node of ImmediateOrder() with room, unless the kind refuses such
// claims (ClaimDriverInfo::immediate_refusal). What a claim has on a node
// already counts as its own there; a claim that has devices elsewhere would have to come too.
//
// Classic drivers keep what they promise in an object per node (NodeAllocationState), and decide in
// UnsuitableNodes what Allocate writes down later. With `keeps_node_objects` it is so here: Propose
// takes the places that it finds on a node, for each claim until it is allocated on one node or
// another, and Allocate knows no other places. Without, Allocate decides anew; the two agree unless
// something was taken in between.
//
// What an allocation says: device_handles.h. Restore reads the handle's data, or the grants where
// it cannot; a claim for which neither works, or whose node or devices are not there, holds
// nothing.
//
// Cost of UnsuitableNodes: per node a few look-ups for a claim of whole GPUs, one look-up per GPU
// for a MIG instance; more for several claims. Nothing is allocated per node for one claim.
#ifndef DRASIM_POLICIES_DEVICES_NODE_DEVICE_DRIVER_H_
#define DRASIM_POLICIES_DEVICES_NODE_DEVICE_DRIVER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "model/ids.h"
#include "model/kube/name.h"
#include "model/kube/objects.h"
#include "model/state_io.h"
#include "model/time.h"
#include "policies/devices/claim_driver_options.h"
#include "policies/devices/device_planner.h"
#include "policies/devices/gpu_kinds.h"
#include "policies/devices/mig_rules.h"
#include "policies/devices/node_devices.h"
#include "policies/framework/claim_driver.h"

namespace drasim {

class NodeDeviceDriver : public ClaimDriver {
 public:
  // `rule`: of instances, when the options name no placement.
  NodeDeviceDriver(const ClaimDriverInfo& info, MigRule rule, ClaimDriverOptions options);
  ~NodeDeviceDriver() override;

  absl::string_view name() const override { return options_.name; }
  absl::Status CheckParameters(const ClaimToAllocate& claim) const override;
  std::vector<ClaimAllocation> Allocate(absl::Span<const ClaimToAllocate> claims,
                                        NodeId node) override;
  std::vector<std::vector<NodeId>> UnsuitableNodes(
      absl::Span<const ClaimToAllocate> claims, absl::Span<const NodeId> potential) const override;
  bool keeps_node_objects() const override { return options_.keeps_node_objects; }
  bool Propose(absl::Span<const ClaimToAllocate> claims, NodeId node) override;
  void Forget(Uid claim) override;
  std::string WhyUnsuitable(absl::Span<const ClaimToAllocate> claims, NodeId node) const override;
  absl::Status Deallocate(Uid claim) override;
  void Restore(absl::Span<const Ref<ResourceClaim>> allocated) override;
  SimDuration PrepareTime(const ResourceClaim& claim) const override;
  SimDuration UnprepareTime(const ResourceClaim& claim) const override;
  void Save(StateWriter& out) const override;
  absl::Status Load(StateReader& in) override;

  // For tests and invariants. Null for a node that it does not serve.
  const NodeDevices* devices(NodeId node) const;
  size_t allocated_claims() const { return given_.size(); }
  // Claims with places that they may come to have.
  size_t proposed_claims() const { return proposed_.size(); }
  // What the claim has; null when it has nothing.
  const HeldDevices* held(Uid claim) const;

 protected:
  // Fills the request, one KindRequest per kind (`kinds` is of the right size and empty, count is 1
  // and shareable as the options say). The error is that of CheckParameters.
  virtual absl::Status ReadRequest(const ClaimToAllocate& claim, DeviceRequest* request) const = 0;
  // The nodes to try for a claim without a node, in this order; those that are not part of the
  // cluster at the time are passed over.
  virtual absl::Span<const NodeId> ImmediateOrder() const { return options_.nodes; }

  absl::Span<const GpuKind> kinds() const { return kinds_; }
  const ClaimDriverInfo& info() const { return info_; }

 private:
  // A claim's.
  struct Held {
    NodeId node;
    bool shareable = false;
    HeldDevices devices;
    std::string sharing;  // JSON object, or empty
    // By which other claims may name it.
    Uid owner = 0;
    std::string entry;
    std::string name;  // "namespace/name"
  };
  struct Parsed {
    absl::Status status;
    DeviceRequest request;
  };
  // The claims of a call, each once.
  struct Call {
    absl::InlinedVector<size_t, 2> first;  // of each want: its claim
    absl::InlinedVector<std::shared_ptr<const Parsed>, 2> parsed;
    absl::InlinedVector<ClaimWant, 2> wants;
  };
  static constexpr uint32_t kNoPlace = UINT32_MAX;

  void MakeKinds(MigRule rule);
  std::shared_ptr<const Parsed> Read(const ClaimToAllocate& claim) const;
  // Proposed devices on `node` count as taken there.
  Call MakeCall(absl::Span<const ClaimToAllocate> claims, NodeId node = NodeId()) const;
  void Tie(absl::Span<const ClaimToAllocate> claims, const Call& call, size_t want,
           ClaimWant* out) const;
  uint32_t PlaceOf(NodeId node) const {
    return node.value() < place_of_.size() ? place_of_[node.value()] : kNoPlace;
  }
  bool PlanOn(uint32_t place, absl::Span<const ClaimWant> wants) const;
  bool FitsAlone(const NodeDevices& node, const DeviceRequest& request,
                 const KindRequest& kind) const;
  bool Suits(const Call& call, NodeId node) const;
  void AllocateOn(absl::Span<const ClaimToAllocate> claims, NodeId node,
                  std::vector<ClaimAllocation>* results);
  void AllocateProposed(absl::Span<const ClaimToAllocate> claims, NodeId node,
                        std::vector<ClaimAllocation>* results);
  absl::Status AllocateAnywhere(const ClaimToAllocate& claim);
  // Null when nothing is proposed for the claim there.
  const HeldDevices* ProposedOn(Uid claim, NodeId node) const;
  void KeepProposed(Uid claim, NodeId node, const HeldDevices& devices);
  // Adds up what is taken on the node.
  void Recount(uint32_t place);

  std::string WhyNot(const ClaimWant& want, uint32_t place) const;
  Held HeldFrom(const ClaimToAllocate& claim, const DeviceRequest& request, NodeId node,
                const HeldDevices& devices) const;
  static void SetNames(const ResourceClaim& claim, Held* held);
  void Take(Uid claim, Held held);
  void Reset();
  static void SaveDevices(const HeldDevices& devices, StateWriter& out);
  bool LoadDevices(StateReader& in, uint32_t place, HeldDevices* devices) const;
  Ref<Allocation> AllocationOf(const Held& held, Name driver) const;
  absl::optional<Held> ReadAllocation(const Allocation& allocation) const;
  int64_t InstancesOf(const ResourceClaim& claim) const;
  bool LoadHeld(StateReader& in, Held* held) const;

  ClaimDriverInfo info_;
  ClaimDriverOptions options_;
  std::vector<std::unique_ptr<MigRuleTable>> rules_;
  std::vector<GpuKind> kinds_;
  std::vector<uint32_t> place_of_;  // by node
  // By place in options_.nodes.
  std::vector<uint32_t> kind_of_;
  std::vector<NodeDevices> devices_;
  std::vector<std::vector<Uid>> claims_on_;    // ascending
  std::vector<std::vector<Uid>> proposed_on_;  // claims with places there, ascending

  absl::btree_map<Uid, Held> given_;
  // Places that are kept for claims until they are allocated. They are taken on their nodes.
  absl::btree_map<Uid, absl::btree_map<NodeId, HeldDevices>> proposed_;
  // Round robin: where the last instance went.
  NodeId last_node_;
  int32_t last_gpu_ = -1;

  // Uid and version of the claim's parameters and of the class's.
  using ParametersKey = std::array<uint64_t, 4>;
  mutable absl::flat_hash_map<ParametersKey, std::shared_ptr<const Parsed>> parsed_;
  mutable DevicePlanner planner_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_DEVICES_NODE_DEVICE_DRIVER_H_
