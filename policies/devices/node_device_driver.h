// NodeDeviceDriver: the common part of classic DRA drivers for the GPUs of nodes. It keeps the
// holders, chooses devices and writes allocations; a derived driver only reads parameters.
//
// The claims of one pod must fit on a node together (device_planner.h): UnsuitableNodes lists a
// node for every claim, or for none. Allocate plans in the same way. It serves all claims on a
// suitable node; on an unsuitable one, those that fit one after the other. Without a node, each
// claim goes to the first node of ImmediateOrder() with room, unless the kind refuses such claims
// (ClaimDriverInfo::immediate_refusal). A claim's devices on a node count as its own there; a claim
// with devices on another node would need new ones here.
//
// Classic drivers record proposals in an object per node (NodeAllocationState): UnsuitableNodes
// decides, and Allocate writes the decision down later. `keeps_node_objects` models this: Propose
// reserves devices on each proposed node until the claim is allocated on one of them, and Allocate
// accepts no other nodes. Without it Allocate decides again; both give the same result unless
// another claim took devices in between.
//
// The format of an allocation is in device_handles.h. Restore reads the handle's data and falls
// back on the grants. A claim for which both fail, or whose node or devices do not exist, holds
// nothing.
//
// Cost of UnsuitableNodes: per node a few look-ups for a claim of whole GPUs, one look-up per GPU
// for a MIG instance; more for several claims. One claim allocates no memory per node.
#ifndef DRASIM_POLICIES_DEVICES_NODE_DEVICE_DRIVER_H_
#define DRASIM_POLICIES_DEVICES_NODE_DEVICE_DRIVER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
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
  // `rule`: places instances when the options name no placement.
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
  // Claims with reserved devices that are not allocated yet.
  size_t proposed_claims() const { return proposed_.size(); }
  // The claim's devices; null when it has none.
  const HeldDevices* held(Uid claim) const;

 protected:
  // Fills the request, one KindRequest per kind (`kinds` has its size and empty entries, count is 1
  // and shareable is the options' value). The error is that of CheckParameters.
  virtual absl::Status ReadRequest(const ClaimToAllocate& claim, DeviceRequest* request) const = 0;
  // The nodes to try, in order, for a claim without a node. Nodes that are absent from the cluster
  // at the time are skipped.
  virtual absl::Span<const NodeId> ImmediateOrder() const { return options_.nodes; }

  absl::Span<const GpuKind> kinds() const {
    return absl::MakeConstSpan(kinds_).first(plain_kinds_);
  }
  const ClaimDriverInfo& info() const { return info_; }

 private:
  // A claim's allocation.
  struct Held {
    NodeId node;
    bool shareable = false;
    HeldDevices devices;
    std::string sharing;  // JSON object, or empty
    // The names by which other claims may refer to it.
    Uid owner = 0;
    std::string entry;
    std::string name;  // "namespace/name"
  };
  struct Parsed {
    absl::Status status;
    DeviceRequest request;
  };
  // The distinct claims of a call.
  struct Call {
    absl::InlinedVector<size_t, 2> first;  // by want: index of its claim
    absl::InlinedVector<std::shared_ptr<const Parsed>, 2> parsed;
    absl::InlinedVector<ClaimWant, 2> wants;
  };
  // GPUs of one kind, on a node with several models.
  struct KindPart {
    uint32_t kind;
    DeviceSet gpus;
    bool operator==(const KindPart&) const = default;
  };
  static constexpr uint32_t kNoPlace = UINT32_MAX;

  void MakeKinds(MigRule rule);
  // Adds the kinds of the nodes with several models, given by place.
  void AddMixedKinds(absl::Span<const std::pair<size_t, std::vector<KindPart>>> places);
  // Fills the entries of the kinds of such nodes from those of their GPUs.
  void MergeKinds(DeviceRequest* request) const;
  std::shared_ptr<const Parsed> Read(const ClaimToAllocate& claim) const;
  // Devices reserved for proposals on `node` count as taken there.
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
  // Null when the claim has no proposal there.
  const HeldDevices* ProposedOn(Uid claim, NodeId node) const;
  void KeepProposed(Uid claim, NodeId node, const HeldDevices& devices);
  // Recomputes the node's taken devices.
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
  std::optional<Held> ReadAllocation(const Allocation& allocation) const;
  int64_t InstancesOf(const ResourceClaim& claim) const;
  bool LoadHeld(StateReader& in, Held* held) const;

  ClaimDriverInfo info_;
  ClaimDriverOptions options_;
  std::vector<std::unique_ptr<MigRuleTable>> rules_;
  // Kinds of GPUs, and then kinds of nodes with several models.
  std::vector<GpuKind> kinds_;
  size_t plain_kinds_ = 0;                       // of GPUs
  std::vector<std::vector<KindPart>> parts_of_;  // by kind, from plain_kinds_ on
  std::vector<uint32_t> place_of_;               // by node
  // By position in options_.nodes.
  std::vector<uint32_t> kind_of_;
  std::vector<NodeDevices> devices_;
  std::vector<std::vector<Uid>> claims_on_;    // ascending
  std::vector<std::vector<Uid>> proposed_on_;  // claims with proposals there, ascending

  absl::btree_map<Uid, Held> given_;
  // Devices reserved for proposals until the claims are allocated; taken on their nodes.
  absl::btree_map<Uid, absl::btree_map<NodeId, HeldDevices>> proposed_;
  // Round robin: the GPU of the latest instance.
  NodeId last_node_;
  int32_t last_gpu_ = -1;

  // Uid and version of the claim's parameters and of its class's.
  using ParametersKey = std::array<uint64_t, 4>;
  mutable absl::flat_hash_map<ParametersKey, std::shared_ptr<const Parsed>> parsed_;
  mutable DevicePlanner planner_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_DEVICES_NODE_DEVICE_DRIVER_H_
