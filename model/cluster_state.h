// The cluster as the scheduler knows it: nodes, their devices, and the pods on them, in columns.
//
// The state includes the scheduler's pending writes: Assume() charges a node at once
// (kube-scheduler's "assumed" pod), and Bind() confirms the charge when the API write is done.
//
// Every change goes through a named mutator. A mutator that changes the idle amounts of a node (all
// but Bind and Drop) also bumps the node's epoch and appends the node to the change log. Readers
// see consistent columns between mutators. Spans and references stay valid until the next AddNode
// or AddPod. Not thread-safe: one engine owns one state.
//
// Usage:
//
//   GpuModelTable models;
//   ShapeTable shapes(&models);
//   ClusterState cluster(&models, &shapes);
//
//   ASSIGN_OR_RETURN(const NodeId node, cluster.AddNode(spec));  // before the shapes
//   const ShapeId shape_id = shapes.Intern(shape);
//   const PodId pod = cluster.AddPod("train-0", shape_id, /*priority=*/0, SimTime());
//
//   cluster.Assume(pod, node, DeviceSet::FirstN(2));  // charges the node with two GPUs
//   cluster.Bind(pod);                                // the pod runs
//   cluster.Finish(pod);                              // its resources are idle again
//
//   cluster.BeginWhatIf();  // would the pod fit if `victim` were gone?
//   cluster.Evict(victim);
//   const bool fits = cluster.CanPlace(shape_id, node, devices);
//   cluster.Rollback();  // every column is as before
#ifndef DRASIM_MODEL_CLUSTER_STATE_H_
#define DRASIM_MODEL_CLUSTER_STATE_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/cluster_objects.h"
#include "model/device_grant.h"
#include "model/device_set.h"
#include "model/gpu_model_table.h"
#include "model/ids.h"
#include "model/node_order.h"
#include "model/node_spec.h"
#include "model/pod_counts.h"
#include "model/pod_shape.h"
#include "model/resource_request.h"
#include "model/served_resources.h"
#include "model/shape_table.h"
#include "model/state_io.h"
#include "model/time.h"
#include "model/used_ports.h"

namespace drasim {

class DeviceColumns;
class DeviceInventory;
struct ClaimDevicesChange;
struct ClaimDevicesLog;
struct DeviceHolder;
struct DeviceHolding;
struct HoldFacts;
struct InventorySlice;
struct SliceFacts;

// core/v1 PodPhase, with Pending split by what the scheduler knows.
enum class PodPhase : uint8_t {
  kPending = 0,    // arrived, holds nothing
  kAssumed = 1,    // charged to a node, Bind not yet confirmed
  kBound = 2,      // runs
  kSucceeded = 3,  // ended, holds nothing
  kDropped = 4,    // given up: it cannot be placed; holds nothing
  kFailed = 5,     // ended with an error, or was lost with its node; holds nothing
  kDeleted = 6,    // deleted by its owner, before or while it ran; holds nothing
};
inline constexpr uint64_t kLastPodPhase = static_cast<uint64_t>(PodPhase::kDeleted);

// The kinds of GPU use that GpuClustering distinguishes (fgd.md 5.3): 0 for none, 1 for a share,
// 1 + N for N whole devices.
inline constexpr int kAffinityTags = kMaxDevicesPerNode + 2;
constexpr int AffinityTag(const ResourceRequest& request) {
  if (request.gpu_count == 0) return 0;
  // Larger pods fit on no node, so one tag serves all of them.
  return request.is_share() ? 1 : 1 + std::min(request.gpu_count, kMaxDevicesPerNode);
}

// NodeRow::model of a node whose GPUs are of several models.
inline constexpr uint8_t kMixedModels = 0xfe;
// NodeRow::model of a node without GPUs.
inline constexpr uint8_t kNoModel = 0xff;
static_assert(GpuModelTable::kMaxModels <= kMixedModels, "a ModelId fits below");

// The GPUs of one model on a node.
struct GpuModelGroup {
  uint8_t model = kNoModel;  // ModelId
  DeviceSet gpus;

  bool operator==(const GpuModelGroup&) const = default;
};
// Ascending by the first GPU; no model twice.
using GpuModelGroups = absl::InlinedVector<GpuModelGroup, 2>;

// One row of the node table. An idle amount is the capacity minus the requests of the resident
// (assumed or bound) pods.
struct NodeRow {
  int64_t cpu_milli_idle = 0;
  int64_t memory_bytes_idle = 0;
  int32_t pods_idle = 0;
  int32_t gpu_milli_idle = 0;      // over all devices
  uint32_t device_begin = 0;       // first device in device_milli_idle()
  int16_t gpu_milli_idle_max = 0;  // largest idle amount of one device
  uint8_t gpu_count = 0;
  uint8_t gpu_full_idle = 0;  // unused devices
  // ModelId of all GPUs; kMixedModels or kNoModel. A single test covers both: they are the largest.
  uint8_t model = kNoModel;
  bool schedulable = true;
  bool has_taints = false;
  bool available = true;      // healthy and part of the cluster; other nodes take no pods
  uint8_t resident_tags = 0;  // distinct AffinityTags of the resident pods that use GPUs
  uint16_t resident_gpu_pods = 0;

  bool is_mixed() const { return model == kMixedModels; }
};

// Sums over available nodes.
struct ClusterTotals {
  int64_t cpu_milli_capacity = 0;
  int64_t memory_bytes_capacity = 0;
  int64_t gpu_milli_capacity = 0;
  int64_t gpu_count = 0;
  int64_t cpu_milli_allocated = 0;
  int64_t memory_bytes_allocated = 0;
  int64_t gpu_milli_allocated = 0;
  int64_t gpus_in_use = 0;         // devices of which anything is allocated
  int64_t nodes_in_use = 0;        // nodes of which any CPU or GPU is allocated
  int64_t gpus_on_used_nodes = 0;  // all devices of these nodes
  int64_t pods_resident = 0;
  bool operator==(const ClusterTotals&) const = default;
};

// Limit on the distinct extended resources of a cluster.
inline constexpr size_t kMaxExtendedNames = 500;

class ClusterState {
 public:
  // Both tables must outlive the state. AddNode adds the models of nodes; callers intern the shapes
  // of pods before they add them.
  ClusterState(GpuModelTable* models, const ShapeTable* shapes);
  ClusterState(const ClusterState&) = delete;
  ClusterState& operator=(const ClusterState&) = delete;
  ~ClusterState();

  // --- nodes ---
  // InvalidArgument for a duplicate name, negative amounts, more than kMaxDevicesPerNode devices,
  // more than kMaxExtendedNames resources, or totals beyond 2^63.
  absl::StatusOr<NodeId> AddNode(const NodeSpec& spec);
  void SetSchedulable(NodeId node, bool schedulable);
  // Replaces what the node's object says (labels, taints, images, amounts, cordon); its name, GPUs
  // and devices stay as they are (CHECKed). Amounts may fall below what its pods hold.
  absl::Status UpdateNode(NodeId node, const NodeSpec& spec);
  // An unavailable node has no pods (CHECKed), and the totals leave its capacity out.
  void SetAvailable(NodeId node, bool available);
  // The available nodes in kube-scheduler's order: zones in turn, each in order of addition.
  // Without zone labels, in order of addition. Amortised O(1); O(nodes) after a node was added or
  // left.
  absl::Span<const NodeId> node_order() const {
    order_matters_ = true;
    return order_.list();
  }
  // Invalid for an unknown name, or a node that is unavailable.
  NodeId FindNode(absl::string_view name) const;
  // Changes whenever a node is added, leaves or is updated: what depends only on node_spec() of the
  // available nodes holds as long as it stays.
  uint64_t nodes_version() const { return nodes_version_; }
  size_t available_nodes() const { return available_nodes_; }
  size_t cordoned_nodes() const { return cordoned_nodes_; }
  size_t tainted_nodes() const { return tainted_nodes_; }  // available or not
  size_t node_count() const { return rows_.size(); }
  const NodeRow& node(NodeId id) const { return rows_[id.value()]; }
  absl::Span<const NodeRow> nodes() const { return rows_; }
  const NodeSpec& node_spec(NodeId id) const { return specs_[id.value()]; }
  // Idle milli of each device of the node, by index. 0 for a device with MIG instances: nothing but
  // MIG may use it.
  absl::Span<const int16_t> device_milli_idle(NodeId id) const {
    const NodeRow& row = rows_[id.value()];
    return absl::MakeConstSpan(device_idle_.data() + row.device_begin, row.gpu_count);
  }

  // --- GPU models ---
  // Most nodes have GPUs of one model, NodeRow::model. The functions below also serve nodes with
  // several; they cost such a node O(GPUs), and others O(1).
  // ModelId of one GPU. REQUIRES: gpu < gpu_count.
  uint8_t gpu_model(NodeId id, size_t gpu) const {
    const NodeRow& row = rows_[id.value()];
    return row.is_mixed() ? device_model_[row.device_begin + gpu] : row.model;
  }
  // The ModelIds of a mixed node's GPUs, by index; empty for other nodes.
  absl::Span<const uint8_t> mixed_gpu_models(NodeId id) const {
    const NodeRow& row = rows_[id.value()];
    if (!row.is_mixed()) return {};
    return absl::MakeConstSpan(device_model_.data() + row.device_begin, row.gpu_count);
  }
  // The GPUs that a pod with this ResourceRequest::model_mask may use: on a node with several
  // models those of models in the mask, else DeviceSet::All(), because filters judge such a node as
  // a whole.
  DeviceSet UsableGpus(NodeId id, uint64_t model_mask) const {
    return rows_[id.value()].is_mixed() ? MixedGpusOf(id, model_mask) : DeviceSet::All();
  }
  // The node's GPUs by model; empty without GPUs.
  GpuModelGroups GroupsOfModels(NodeId id) const;

  // True when a resident pod has the tag. REQUIRES: 0 < tag < kAffinityTags.
  bool HasResidentTag(NodeId id, int tag) const {
    return tag_count_[size_t{id.value()} * kAffinityTags + static_cast<size_t>(tag)] > 0;
  }

  // --- MIG ---
  bool any_mig() const { return !device_mig_.empty(); }
  // The table of all GPUs of the node. Null without MIG, and for a node with several models, whose
  // GPUs have a table each.
  const MigTable* mig_table(NodeId id) const {
    const uint8_t model = rows_[id.value()].model;
    return model >= kMixedModels ? nullptr : models_->mig(ModelId(uint32_t{model}));
  }
  // The table of one GPU, null without MIG. REQUIRES: gpu < gpu_count.
  const MigTable* mig_table(NodeId id, size_t gpu) const {
    return models_->mig(ModelId(uint32_t{gpu_model(id, gpu)}));
  }
  // True when some GPU of the node has a table.
  bool has_mig(NodeId id) const {
    return rows_[id.value()].is_mixed() ? !MixedMigGpus(id).empty() : mig_table(id) != nullptr;
  }
  // The instances that pods hold, by device index; 0 for a GPU without MIG. REQUIRES: has_mig(id).
  absl::Span<const MigState> device_mig(NodeId id) const {
    const NodeRow& row = rows_[id.value()];
    return absl::MakeConstSpan(device_mig_.data() + row.device_begin, row.gpu_count);
  }
  // The devices open to MIG instances: idle, or partitioned already. REQUIRES: any_mig().
  DeviceSet mig_usable(NodeId id) const { return mig_usable_[id.value()]; }
  // The profiles of the shape's instances in the table of that model, one entry per instance; empty
  // when the shape wants none or the model lacks a profile. REQUIRES: the shape of a pod that was
  // added.
  absl::Span<const uint8_t> mig_profiles(ShapeId shape, uint8_t model) const;

  // --- extended resources: a column for each name that a node offers ---
  const std::vector<std::string>& extended_names() const { return extended_names_; }
  int64_t extended_idle(NodeId id, size_t column) const {
    return extended_idle_[size_t{id.value()} * extended_names_.size() + column];
  }
  // The node's status.allocatable; may be below what its pods hold.
  int64_t extended_capacity(NodeId id, size_t column) const {
    return extended_capacity_[size_t{id.value()} * extended_names_.size() + column];
  }
  // Whether any node, available or not, reports some of the resource. O(names).
  bool AnyNodeReports(absl::string_view resource) const;
  // Whether claims of structured DRA serve the resource on nodes that report none of it (KEP 5004):
  // its amount is then no limit. Set for all nodes at once; O(nodes) if it changes.
  void ServeByClaims(size_t column, bool served);
  bool served_by_claims(size_t column) const {
    return column < served_by_claims_.size() && served_by_claims_[column];
  }
  bool IsServedByClaims(NodeId id, size_t column) const {
    return served_by_claims(column) && extended_capacity(id, column) == 0;
  }
  // Counts the devices behind such resources, for scores; null: nobody does. It must outlive all
  // decisions. REQUIRES of served_devices: IsServedByClaims.
  void set_served_resources(const ServedResources* served) { served_resources_ = served; }
  ServedDevices served_devices(NodeId id, size_t column) const {
    if (served_resources_ == nullptr) return {};
    return served_resources_->DevicesOn(id, column);
  }
  // Changes what a node reports. REQUIRES: column < extended_names().size().
  void SetExtendedCapacity(NodeId node, size_t column, int64_t amount);
  // The sum of the residents' requests as kube-scheduler's scores count them (ScoredRequest).
  int64_t scored_cpu_milli(NodeId id) const { return scored_cpu_[id.value()]; }
  int64_t scored_memory_bytes(NodeId id) const { return scored_memory_[id.value()]; }
  // 1 + the column of the first extended resource of the shape that the node lacks;
  // 1 + extended_names().size() for a resource that no node offers; 0 when the node lacks none.
  // REQUIRES: the shape of a pod that was added. O(resources of the shape).
  size_t LackingExtended(ShapeId shape, NodeId id) const;
  // The host ports taken on the node. Valid until the next change.
  absl::Span<const HostPort> used_ports(NodeId id) const { return used_ports_.On(id); }
  // False when the node holds its limit of pods of the shape's group. O(1).
  bool GroupHasRoom(ShapeId shape, NodeId id) const;

  // --- pods ---
  PodId AddPod(absl::string_view name, ShapeId shape, int32_t priority, SimTime arrival);
  size_t pod_count() const { return pod_shape_.size(); }
  absl::string_view pod_name(PodId id) const;
  ShapeId pod_shape_id(PodId id) const { return pod_shape_[id.value()]; }
  const PodShape& pod_shape(PodId id) const { return shapes_->row(pod_shape_[id.value()]); }
  PodPhase pod_phase(PodId id) const { return pod_phase_[id.value()]; }
  // Invalid when the pod holds nothing.
  NodeId pod_node(PodId id) const { return pod_node_[id.value()]; }
  // The devices of its node that the pod holds, in whole or in part.
  DeviceSet pod_devices(PodId id) const { return pod_devices_[id.value()]; }
  // The parts of these devices; empty when the pod holds gpu_milli of each, as its shape says.
  absl::Span<const DeviceGrant> pod_grants(PodId id) const {
    if (id.value() >= pod_grants_.size()) return {};
    return pod_grants_[id.value()];
  }
  // status.startTime; when the pod has none (SimTime::Max()), it counts as started last.
  SimTime pod_start(PodId id) const {
    return id.value() < pod_start_.size() ? pod_start_[id.value()] : SimTime::Max();
  }
  void SetPodStart(PodId id, SimTime start);
  int32_t pod_priority(PodId id) const { return pod_priority_[id.value()]; }
  SimTime pod_arrival(PodId id) const { return pod_arrival_[id.value()]; }
  // The assumed and bound pods of a node, in kube-scheduler's order: a new pod goes last, and the
  // last pod takes the place of one that leaves.
  absl::Span<const PodId> pods_on(NodeId id) const { return node_pods_[id.value()]; }

  // --- transitions ---
  // Each CHECKs that the pod is in the phase on the left of its arrow. O(devices of the node).

  // kPending -> kAssumed. `devices` has gpu_count devices, each with gpu_milli idle; a shape with
  // MIG instances names them in `grants` instead, each legal after the ones before it, and their
  // devices in `devices`. CHECKs that the node has the CPU, memory, pod slot and devices.
  void Assume(PodId pod, NodeId node, DeviceSet devices, absl::Span<const DeviceGrant> grants = {});
  // Gives a kBound pod without devices the ones that its node or its claims chose. They are free
  // (CHECKed), and stay with the pod until it leaves the node.
  void Grant(PodId pod, DeviceSet devices, absl::Span<const DeviceGrant> grants);
  // kPending -> kAssumed or kBound. Returns a pod to the node that it was taken from, with all that
  // it held, whether the scheduler or the node had chosen it.
  void PutBack(PodId pod, NodeId node, DeviceSet devices, absl::Span<const DeviceGrant> grants,
               bool bound);
  // kPending -> kBound: a pod that is on the node already when the cluster is read. Unlike Assume,
  // whatever room the node has: idle amounts may become negative. REQUIRES: a shape without
  // devices.
  void Adopt(PodId pod, NodeId node);
  // A new shape for a pod in any phase: its object was updated (labels, requests, tolerations).
  void SetPodShape(PodId pod, ShapeId shape);
  void Bind(PodId pod);    // kAssumed -> kBound
  void Forget(PodId pod);  // kAssumed -> kPending (Unreserve)
  void Finish(PodId pod);  // kBound -> kSucceeded
  void Fail(PodId pod);    // kBound, or kPending -> kFailed
  void Evict(PodId pod);   // kBound -> kPending: its job waits again
  void Drop(PodId pod);    // kPending -> kDropped
  void Delete(PodId pod);  // kPending or kBound -> kDeleted

  // --- devices that drivers publish and claims hold (model/device_inventory.h) ---
  // Devices of any kind, beside the columns of GPUs above. A device that is a GPU of its node, or a
  // MIG instance on one, is a part of it: while a claim holds the device, the part is taken from
  // the columns, as if a pod had been granted it. If a pod has the part already, nothing more is
  // taken.
  // Changes concern the node of the devices. Devices of no single node change no node's epoch, but
  // version().
  const DeviceInventory& inventory() const;
  // From now on claims take no parts of GPUs from the columns: the pods that use them are granted
  // the parts. Call before claims hold devices.
  void LeavePartsToPods();
  // For selectors and searches, which intern what they ask for.
  DeviceColumns& device_columns();
  // O(content), and O(pool) while claims hold devices of the pool.
  SliceId PublishSlice(const SliceFacts& facts);
  void ReplaceSlice(SliceId slice, const SliceFacts& facts);
  void WithdrawSlice(SliceId slice);
  // Completes Load, which knows what claims hold: these slices, in this order, replace all others.
  // O(devices).
  std::vector<SliceId> RestoreSlices(absl::Span<const SliceFacts> slices);
  // The claim holds these devices, and no others, from now on; `pending`: they are chosen, but not
  // written yet, which is a holding of its own. Whoever decided so is right: false only says that
  // somebody else was in the way, or that a counter does not suffice. O(devices).
  bool HoldDevices(absl::string_view claim, bool pending, absl::Span<const HoldFacts> devices);
  // Does nothing for a claim that holds none.
  void ReleaseDevices(absl::string_view claim, bool pending);

  // --- other objects ---
  // Services, PodDisruptionBudgets, volumes, ...: a change of them changes objects_version(), and
  // no node's epoch.
  const ClusterObjects& objects() const { return objects_; }
  uint64_t objects_version() const { return objects_version_; }
  void SetObjects(ClusterObjects objects);
  // For changes in place, such as the claim that a pod's Reserve binds.
  ClusterObjects& ChangeObjects();

  // --- counts of pods by domain (model/pod_counts.h) ---
  // Counts of the resident pods by node, of those that meet a rule about their shape. Kept by all
  // mutators, what-ifs included.
  const PodCounts& pod_counts() const { return counts_; }
  // These add a column, or find it. O(size of the rule); O(nodes + pods + shapes) for a new one.
  PodCountId CountPods(const PodCountRule& rule) const { return counts_.CountPods(rule); }
  DomainCountId CountDomains(PodCountId column, absl::string_view key,
                             const DomainNodes& nodes) const {
    return counts_.CountDomains(column, key, nodes);
  }
  // The pod affinity terms of all shapes so far, and which pods carry them. The list only grows; it
  // is valid until the next AddPod or SetPodShape. O(1), but the first call is O(nodes + pods).
  absl::Span<const CarriedTerm> CarriedTerms() const {
    counts_.CarryTerms();
    return counts_.carried();
  }

  // --- change tracking ---
  // The number of node changes so far; change k touched changed_node(k). The log keeps the last
  // change_window() of them: a reader with an older cursor must look at every node.
  uint64_t change_count() const { return change_count_; }
  uint64_t change_window() const {
    return std::min<uint64_t>(change_log_.size(), change_count_ - change_log_begin_);
  }
  NodeId changed_node(uint64_t k) const {
    return NodeId(change_log_[k & (change_log_.size() - 1)]);
  }
  uint32_t node_epoch(NodeId id) const { return epoch_[id.value()]; }
  // Identifies the content of all nodes: equal versions mean equal nodes, so what a reader computed
  // at one version holds whenever that version returns. Rollback restores the version, too.
  uint64_t version() const { return version_; }

  const ClusterTotals& totals() const { return totals_; }
  // The largest capacity of any node, for scores whose range depends on it.
  int64_t node_cpu_milli_max() const { return node_cpu_milli_max_; }
  int64_t node_gpu_count_max() const { return node_gpu_count_max_; }
  // True when the placement would pass every CHECK of Assume, for readers of untrusted records.
  bool CanPlace(ShapeId shape, NodeId node, DeviceSet devices,
                absl::Span<const DeviceGrant> grants = {}) const;
  // The same for Grant: the grants fit one after the other, and `devices` are their devices.
  bool CanGrant(NodeId node, DeviceSet devices, absl::Span<const DeviceGrant> grants) const;
  const ShapeTable& shapes() const { return *shapes_; }
  const GpuModelTable& models() const { return *models_; }

  // --- what-ifs ---
  // BeginWhatIf starts to remember transitions. Rollback undoes them in reverse and restores every
  // column and pods_on(); epochs and the change log move on, so that caches notice both directions.
  // KeepWhatIf lets the transitions stand. What-ifs nest: each call closes the innermost.
  // Not covered: AddNode, UpdateNode, AddPod, SetPodShape, SetPodStart, SetSchedulable,
  // SetAvailable, SetExtendedCapacity, SetObjects, ChangeObjects.
  void BeginWhatIf();
  void Rollback();
  void KeepWhatIf();

  // Recomputes every derived column from the pods; the Internal error names the first difference.
  // O(nodes + pods).
  absl::Status CheckInvariants() const;

  // Save leaves out the nodes' specifications and the other objects: Load expects a state with the
  // same ones, and without pods and claims. It also leaves out slices: their devices are found
  // again when they are published, before Load or after it.
  void Save(StateWriter& out) const;
  absl::Status Load(StateReader& in);

 private:
  struct Undo {
    PodId pod;  // invalid: the latest change of claims_
    NodeId node;
    DeviceSet devices;
    PodPhase phase;
    uint32_t slot;  // in pods_on() of the node
    DeviceGrants grants;
  };

  // The requests that a shape makes by name, resolved once per shape.
  struct CountedRequest {
    std::vector<std::pair<uint32_t, int64_t>> extended;  // column, amount
    uint32_t group = 0;                                  // 1 + row of group_pods_; 0: none
    int32_t max_per_node = 0;
    bool lacks_resource = false;   // asks for a resource that no node has
    int64_t scored_cpu_milli = 0;  // of a pod on a node
    int64_t scored_memory_bytes = 0;
    std::vector<absl::InlinedVector<uint8_t, 2>> mig;  // by model
    bool any() const { return group != 0 || lacks_resource || !extended.empty(); }
  };

  using InventoryRows = std::vector<InventoryRow>;

  void Touch(NodeId node);
  void TouchAll(std::vector<NodeId> nodes);
  void FindNodeAndParts(const SliceFacts& facts, InventorySlice* slice) const;
  void ChangeSlice(SliceId id, std::shared_ptr<const InventorySlice> slice);
  // Either of the holder's old holding and the new one is empty.
  void SetHolding(const DeviceHolder& holder, DeviceHolding holding);
  void Remember(ClaimDevicesChange change);
  // The parts of the rows, some of which may have none, could be taken together.
  bool PartsFit(const InventoryRows& rows) const;
  void ChargePart(InventoryRow row, int sign);
  void ChargeGpus(NodeId node, const DeviceGrant& part, int sign);
  // Gives back the parts of the rows, and returns those that had been taken.
  InventoryRows UnchargeParts(const InventoryRows& rows);
  // Takes the parts of the rows that are held, as far as nobody has them.
  void ChargeParts(const InventoryRows& rows);
  InventoryRows HeldOn(NodeId node) const;
  void UndoDevices();
  void ResolveMig(const ResourceRequest& request, CountedRequest* counted) const;
  // `before`: what the node had so far, if it is not new.
  absl::Status CheckSpec(const NodeSpec& spec, const NodeSpec& before);
  bool AddExtendedNames(const NodeSpec& spec);
  void ResolveShapesAgain(bool new_names);
  void AddMig(NodeId id);
  absl::StatusOr<std::vector<uint8_t>> InternModels(const NodeSpec& spec);
  DeviceSet MixedGpusOf(NodeId id, uint64_t model_mask) const;
  DeviceSet MixedMigGpus(NodeId id) const;
  absl::Status LoadPods(StateReader& in);
  void LoadClaims(StateReader& in);
  // Charges the pod even if the node lacks room.
  void Charge(PodId pod, NodeId node, DeviceSet devices, absl::Span<const DeviceGrant> grants,
              int sign);
  bool HasRoom(const ResourceRequest& request, const NodeRow& row) const;
  void ChargeDevices(const ResourceRequest& request, NodeId node, DeviceSet devices, int sign);
  void ChargeGrants(NodeId node, absl::Span<const DeviceGrant> grants, int sign);
  void ChargeInstance(NodeId node, const DeviceGrant& grant, int sign);
  // Adds the grants of a pod without a GPU request (its claims made one) to the totals.
  void CountUnasked(const ResourceRequest& request, absl::Span<const DeviceGrant> grants, int sign);
  // Undoes Grant.
  void TakeGrants(PodId pod);
  void CountDevices(NodeId node);
  void CountUse(NodeId node, bool was_in_use, int busy_before);
  void ChargeCounted(PodId pod, NodeId node, int sign);
  void Release(PodId pod, PodPhase to);
  void CountCapacity(const NodeRow& row, const NodeSpec& spec, int sign);
  void ResolveShapes();
  // CanPlace without extended resources and groups, of which a node may hold more than it may take.
  bool CanHold(ShapeId shape, NodeId node, DeviceSet devices,
               absl::Span<const DeviceGrant> grants) const;
  // Its part about devices.
  bool CanHoldDevices(const ResourceRequest& request, NodeId node, DeviceSet devices,
                      absl::Span<const DeviceGrant> grants) const;
  // True when the node's pods hold more than it has: some of them were adopted.
  bool IsOvercommitted(NodeId node) const;
  void SetPlacement(PodId pod, PodPhase phase, NodeId node, DeviceSet devices,
                    absl::Span<const DeviceGrant> grants = {});
  void SavePods(StateWriter& out) const;
  std::vector<uint64_t> PlacesInOrder() const;
  void LoadOrder(std::vector<std::pair<uint64_t, NodeId>> ordered, StateReader& in);
  bool NodeInUse(const NodeRow& row, NodeId id) const;

  GpuModelTable* models_;
  const ShapeTable* shapes_;

  std::vector<NodeRow> rows_;
  std::vector<NodeSpec> specs_;
  std::vector<int16_t> device_idle_;
  // ModelIds beside device_idle_, up to the last mixed node; what it has for others is not read.
  std::vector<uint8_t> device_model_;
  std::vector<MigState> device_mig_;   // beside device_idle_; empty while no node has MIG
  std::vector<DeviceSet> mig_usable_;  // by node; empty while no node has MIG
  // Milli in use of instances that several pods share, by device (in device_idle_) and placement.
  absl::btree_map<std::pair<uint32_t, uint8_t>, int32_t> shared_instances_;
  std::vector<uint16_t> tag_count_;  // kAffinityTags per node
  std::vector<uint32_t> epoch_;
  absl::flat_hash_map<std::string, uint32_t> node_index_;

  std::vector<std::string> extended_names_;
  std::vector<bool> served_by_claims_;  // by name; shorter: not served
  const ServedResources* served_resources_ = nullptr;
  std::vector<int64_t> extended_idle_;       // nodes x names
  std::vector<int64_t> extended_capacity_;   // nodes x names
  std::vector<size_t> nodes_with_extended_;  // by name
  std::vector<int64_t> scored_cpu_;
  std::vector<int64_t> scored_memory_;
  NodeOrder order_;
  mutable bool order_matters_ = false;  // it was read, so a checkpoint has to keep it
  ClusterObjects objects_;
  uint64_t objects_version_ = 0;
  mutable PodCounts counts_;
  std::vector<CountedRequest> counted_;  // by shape
  absl::flat_hash_map<std::string, uint32_t> group_index_;
  std::vector<std::vector<uint16_t>> group_pods_;  // group, node
  std::vector<std::vector<PodId>> node_pods_;
  UsedPorts used_ports_;
  uint64_t nodes_version_ = 0;
  size_t available_nodes_ = 0;
  size_t cordoned_nodes_ = 0;
  size_t tainted_nodes_ = 0;

  std::string pod_names_;  // all names, one after the other
  std::vector<uint64_t> pod_name_begin_;
  std::vector<ShapeId> pod_shape_;
  std::vector<PodPhase> pod_phase_;
  std::vector<NodeId> pod_node_;
  std::vector<DeviceSet> pod_devices_;
  std::vector<int32_t> pod_priority_;
  std::vector<SimTime> pod_arrival_;
  std::vector<uint32_t> pod_slot_;        // place in node_pods_
  std::vector<DeviceGrants> pod_grants_;  // up to the last pod that had some
  std::vector<SimTime> pod_start_;        // up to the last pod that has one

  std::vector<uint32_t> change_log_ = std::vector<uint32_t>(1024);
  uint64_t change_count_ = 0;
  uint64_t change_log_begin_ = 0;  // changes before it were overwritten when the log last grew
  ClusterTotals totals_;
  int64_t all_cpu_milli_ = 0;  // of all nodes, available or not
  int64_t all_memory_bytes_ = 0;
  int64_t node_cpu_milli_max_ = 0;
  int64_t node_gpu_count_max_ = 0;
  struct Mark {
    size_t undo;
    uint64_t version;
  };
  std::vector<Mark> what_ifs_;
  std::vector<Undo> undo_;
  std::unique_ptr<ClaimDevicesLog> claims_;
  uint64_t version_ = 0;
  uint64_t versions_ = 0;  // handed out so far
};

}  // namespace drasim

#endif  // DRASIM_MODEL_CLUSTER_STATE_H_
