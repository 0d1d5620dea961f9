// The cluster as the scheduler knows it: nodes, their devices, and the pods on them, in columns.
//
// Truth and the scheduler's own pending writes are held together: Assume() charges a node at once
// (kube-scheduler's "assumed" pod), Bind() confirms it when the API write is done. With zero
// latency the two coincide.
//
// Contract: every change goes through a named mutator; one that changes what a node has idle (so
// not Bind or Drop) bumps the node's epoch and appends the
// node to the change log. Readers see consistent columns between mutators. Not thread-safe; one
// engine owns one state. References from columns stay valid until the next AddNode or AddPod.
#ifndef DRASIM_MODEL_CLUSTER_STATE_H_
#define DRASIM_MODEL_CLUSTER_STATE_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/device_grant.h"
#include "model/ids.h"
#include "model/node_spec.h"
#include "model/pod_shape.h"
#include "model/state_io.h"
#include "model/time.h"

namespace drasim {

// core/v1 PodPhase, with Pending split by what the scheduler knows.
enum class PodPhase : uint8_t {
  kPending = 0,    // arrived, holds nothing
  kAssumed = 1,    // charged to a node, Bind not yet confirmed
  kBound = 2,      // runs
  kSucceeded = 3,  // ended, holds nothing
  kDropped = 4,    // given up: it cannot be placed; holds nothing
  kFailed = 5,     // ended with an error, or was lost with its node; holds nothing
  kDeleted = 6,    // by its owner, before or while it ran; holds nothing
};
inline constexpr uint64_t kLastPodPhase = static_cast<uint64_t>(PodPhase::kDeleted);

// Kinds of GPU use that GpuClustering tells apart (fgd.md 5.3): a share, or N whole devices.
inline constexpr int kAffinityTags = kMaxDevicesPerNode + 2;  // 0 none, 1 share, 1 + N for "N-gpu"
constexpr int AffinityTag(const PodShape& shape) {
  if (shape.gpu_count == 0) return 0;
  // No node holds a pod of more devices, so their tags need not be told apart.
  return shape.is_share() ? 1 : 1 + std::min(shape.gpu_count, kMaxDevicesPerNode);
}

// One row of the node table. Idle amounts are capacity minus what resident (assumed or bound) pods
// request.
struct NodeRow {
  int64_t cpu_milli_idle = 0;
  int64_t memory_bytes_idle = 0;
  int32_t pods_idle = 0;
  int32_t gpu_milli_idle = 0;      // over all devices
  uint32_t device_begin = 0;       // first device in device_milli_idle()
  int16_t gpu_milli_idle_max = 0;  // largest idle amount of one device
  uint8_t gpu_count = 0;
  uint8_t gpu_full_idle = 0;  // devices with nothing on them
  uint8_t model = 0xff;       // ModelId, 0xff when there is no GPU
  bool schedulable = true;
  bool has_taints = false;
  bool available = true;  // part of the cluster and healthy; others count for nothing
  uint16_t resident_gpu_pods = 0;
  uint64_t resident_tags = 0;  // bit t set when a pod with AffinityTag t is resident
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
  int64_t gpus_in_use = 0;         // devices with anything on them
  int64_t nodes_in_use = 0;        // nodes with any CPU or GPU allocated
  int64_t gpus_on_used_nodes = 0;  // all devices of those nodes
  int64_t pods_resident = 0;
  bool operator==(const ClusterTotals&) const = default;
};

// Different extended resources in one cluster.
inline constexpr size_t kMaxExtendedNames = 100;

class ClusterState {
 public:
  // Both tables must outlive the state. The model table is filled by AddNode; shapes are interned
  // by sources.
  ClusterState(GpuModelTable* models, const ShapeTable* shapes)
      : models_(models), shapes_(shapes) {}
  ClusterState(const ClusterState&) = delete;
  ClusterState& operator=(const ClusterState&) = delete;

  // --- nodes ---
  // InvalidArgument for a duplicate name, negative amounts, or more than kMaxDevicesPerNode
  // devices.
  absl::StatusOr<NodeId> AddNode(const NodeSpec& spec);
  void SetSchedulable(NodeId node, bool schedulable);
  // A node that is not available has no pods (CHECKed), and its capacity is not in the totals.
  void SetAvailable(NodeId node, bool available);
  size_t available_nodes() const { return available_nodes_; }
  size_t cordoned_nodes() const { return cordoned_nodes_; }
  size_t node_count() const { return rows_.size(); }
  const NodeRow& node(NodeId id) const { return rows_[id.value()]; }
  absl::Span<const NodeRow> nodes() const { return rows_; }
  const NodeSpec& node_spec(NodeId id) const { return specs_[id.value()]; }
  // Idle milli of each device of the node, by device index.
  absl::Span<const int16_t> device_milli_idle(NodeId id) const {
    const NodeRow& row = rows_[id.value()];
    return absl::MakeConstSpan(device_idle_.data() + row.device_begin, row.gpu_count);
  }

  // --- MIG ---
  // Idle milli of a device that has MIG instances reads 0 above: nothing but MIG may use it.
  bool any_mig() const { return !device_mig_.empty(); }
  // Null when the node's GPUs have no MIG.
  const MigTable* mig_table(NodeId id) const {
    const uint8_t model = rows_[id.value()].model;
    return model == 0xff ? nullptr : models_->mig(ModelId(uint32_t{model}));
  }
  // Instances that pods hold, by device index. REQUIRES: mig_table.
  absl::Span<const MigState> device_mig(NodeId id) const {
    const NodeRow& row = rows_[id.value()];
    return absl::MakeConstSpan(device_mig_.data() + row.device_begin, row.gpu_count);
  }
  // Bit per device on which MIG instances may be: nothing else is on it. REQUIRES: any_mig.
  uint32_t mig_usable(NodeId id) const { return mig_usable_[id.value()]; }
  // The profiles of the shape's instances, one entry each, in the table of that model; empty when
  // it wants none or the model has no such profile. The shape must belong to a pod that was added.
  absl::Span<const uint8_t> mig_profiles(ShapeId shape, uint8_t model) const;

  // --- extended resources: columns over the names that nodes have ---
  const std::vector<std::string>& extended_names() const { return extended_names_; }
  int64_t extended_idle(NodeId id, size_t column) const {
    return extended_idle_[size_t{id.value()} * extended_names_.size() + column];
  }
  // As the API server shows it (status.allocatable); may be below what pods hold.
  int64_t extended_capacity(NodeId id, size_t column) const {
    return extended_capacity_[size_t{id.value()} * extended_names_.size() + column];
  }
  // Changes what a node reports. REQUIRES: column < extended_names().size().
  void SetExtendedCapacity(NodeId node, size_t column, int64_t amount);
  // Resident pods that ask for no CPU, and for no memory; kube-scheduler's scores count them as
  // asking for a little.
  int32_t pods_without_cpu(NodeId id) const { return without_cpu_[id.value()]; }
  int32_t pods_without_memory(NodeId id) const { return without_memory_[id.value()]; }
  // The first extended resource of the shape that the node lacks, as 1 + its column, or
  // 1 + extended_names().size() for one that no node has; 0 when all are there. The shape must
  // belong to a pod that was added. O(resources of the shape).
  size_t LackingExtended(ShapeId shape, NodeId id) const;
  // False when the node holds as many pods of the shape's group as it may. O(1).
  bool GroupHasRoom(ShapeId shape, NodeId id) const;

  // --- pods ---
  PodId AddPod(absl::string_view name, ShapeId shape, int32_t priority, SimTime arrival);
  size_t pod_count() const { return pod_shape_.size(); }
  absl::string_view pod_name(PodId id) const;
  ShapeId pod_shape_id(PodId id) const { return pod_shape_[id.value()]; }
  const PodShape& pod_shape(PodId id) const { return shapes_->row(pod_shape_[id.value()]); }
  PodPhase pod_phase(PodId id) const { return pod_phase_[id.value()]; }
  NodeId pod_node(PodId id) const {
    return pod_node_[id.value()];
  }  // invalid when it holds nothing
  uint32_t pod_devices(PodId id) const {
    return pod_devices_[id.value()];
  }  // bit per device of the node
  // What of its devices; empty when it holds them whole, or in equal shares as its shape says.
  absl::Span<const DeviceGrant> pod_grants(PodId id) const {
    if (id.value() >= pod_grants_.size()) return {};
    return pod_grants_[id.value()];
  }
  int32_t pod_priority(PodId id) const { return pod_priority_[id.value()]; }
  SimTime pod_arrival(PodId id) const { return pod_arrival_[id.value()]; }
  // Assumed and bound pods of a node, in kube-scheduler's order: a new one goes last, and the last
  // takes the place of one that leaves.
  absl::Span<const PodId> pods_on(NodeId id) const { return node_pods_[id.value()]; }

  // --- transitions; O(devices of the node). They CHECK that the pod is in the phase the name
  // implies --- kPending -> kAssumed. `devices` has exactly gpu_count bits for a shape that uses
  // GPUs, else 0, and every named device has gpu_milli idle. May overcommit nothing: CPU, memory,
  // pod slots and devices are CHECKed.
  // A shape with MIG instances names them in `grants`, each legal in turn, and their devices in
  // `devices`.
  void Assume(PodId pod, NodeId node, uint32_t devices, absl::Span<const DeviceGrant> grants = {});
  // A kBound pod that holds no devices is given some by its node; they are free (CHECKed). It keeps
  // them until it leaves the node.
  void Grant(PodId pod, uint32_t devices, absl::Span<const DeviceGrant> grants);
  // Puts a pod back where it was taken from, with what it held, whoever had given it.
  // kPending -> kAssumed or kBound.
  void PutBack(PodId pod, NodeId node, uint32_t devices, absl::Span<const DeviceGrant> grants,
               bool bound);
  void Bind(PodId pod);    // kAssumed -> kBound
  void Forget(PodId pod);  // kAssumed -> kPending (Unreserve)
  void Finish(PodId pod);  // kBound -> kSucceeded
  void Fail(PodId pod);    // kBound -> kFailed
  void Evict(PodId pod);   // kBound -> kPending; whoever owns it will have it run again
  void Drop(PodId pod);    // kPending -> kDropped
  void Delete(PodId pod);  // kPending or kBound -> kDeleted

  // --- change tracking ---
  // Number of node changes so far; the k-th change touched changed_node(k). Only the last
  // change_window() are kept: a reader whose cursor is older must look at every node.
  uint64_t change_count() const { return change_count_; }
  uint64_t change_window() const {
    return std::min<uint64_t>(change_log_.size(), change_count_ - change_log_begin_);
  }
  NodeId changed_node(uint64_t k) const {
    return NodeId(change_log_[k & (change_log_.size() - 1)]);
  }
  uint32_t node_epoch(NodeId id) const { return epoch_[id.value()]; }
  // Names the present content of all nodes: equal versions, equal nodes. A Rollback brings the
  // version back, too. Nothing that was seen at one version needs to be looked at again.
  uint64_t version() const { return version_; }

  const ClusterTotals& totals() const { return totals_; }
  // Largest capacities of any single node, for scores whose range depends on them.
  int64_t node_cpu_milli_max() const { return node_cpu_milli_max_; }
  int64_t node_gpu_count_max() const { return node_gpu_count_max_; }
  // True when the placement would pass every CHECK of Assume; for readers of untrusted records.
  bool CanPlace(ShapeId shape, NodeId node, uint32_t devices,
                absl::Span<const DeviceGrant> grants = {}) const;
  // The same for Grant.
  bool CanGrant(NodeId node, uint32_t devices, absl::Span<const DeviceGrant> grants) const;
  const ShapeTable& shapes() const { return *shapes_; }
  const GpuModelTable& models() const { return *models_; }

  // --- what-ifs ---
  // From BeginWhatIf on every transition is remembered; Rollback undoes them in reverse, leaving
  // every column and pods_on() as they were (epochs and the change log move on, so caches notice
  // both ways). KeepWhatIf lets them stand. They nest, each pair closing the innermost.
  // Not covered: AddNode, AddPod, SetSchedulable, SetAvailable, SetExtendedCapacity.
  void BeginWhatIf();
  void Rollback();
  void KeepWhatIf();

  // Recomputes every derived column from the pods and compares. Internal error that names the first
  // difference. O(nodes + pods).
  absl::Status CheckInvariants() const;

  // Nodes are not saved: Load expects a state with the same nodes added and no pods.
  void Save(StateWriter& out) const;
  absl::Status Load(StateReader& in);

 private:
  struct Undo {
    PodId pod;
    NodeId node;
    uint32_t devices;
    PodPhase phase;
    uint32_t slot;  // in pods_on() of the node
    DeviceGrants grants;
  };

  // What ShapeTable keeps by name, resolved once per shape.
  struct CountedRequest {
    std::vector<std::pair<uint32_t, int64_t>> extended;  // column, amount
    uint32_t group = 0;                                  // 1 + row of group_pods_; 0: none
    int32_t max_per_node = 0;
    bool lacks_resource = false;                       // asks for something that no node has
    std::vector<absl::InlinedVector<uint8_t, 2>> mig;  // by model
    bool any() const { return group != 0 || lacks_resource || !extended.empty(); }
  };

  void Touch(NodeId node);
  void ResolveMig(const PodShape& shape, CountedRequest* counted) const;
  absl::Status CheckSpec(const NodeSpec& spec);
  void AddExtended(const NodeSpec& spec);
  void AddMig(NodeId id);
  absl::Status LoadPods(StateReader& in);
  void Charge(PodId pod, NodeId node, uint32_t devices, absl::Span<const DeviceGrant> grants,
              int sign);
  void ChargeDevices(const PodShape& shape, NodeId node, uint32_t devices, int sign);
  void ChargeGrants(NodeId node, absl::Span<const DeviceGrant> grants, int sign);
  void ChargeInstance(NodeId node, const DeviceGrant& grant, int sign);
  // What a pod was given whose request says nothing of GPUs (its claims may): the totals count it.
  void CountUnasked(const PodShape& shape, absl::Span<const DeviceGrant> grants, int sign);
  // Undoes Grant.
  void TakeGrants(PodId pod);
  void CountDevices(NodeId node);
  void CountUse(NodeId node, bool was_in_use, int busy_before);
  void ChargeCounted(PodId pod, NodeId node, int sign);
  void Release(PodId pod, PodPhase to);
  void CountCapacity(const NodeRow& row, const NodeSpec& spec, int sign);
  void ResolveShapes();
  // CanPlace but for extended resources and groups, which a node may have come to lack meanwhile.
  bool CanHold(ShapeId shape, NodeId node, uint32_t devices,
               absl::Span<const DeviceGrant> grants) const;
  void SetPlacement(PodId pod, PodPhase phase, NodeId node, uint32_t devices,
                    absl::Span<const DeviceGrant> grants = {});
  void SavePods(StateWriter& out) const;
  bool NodeInUse(const NodeRow& row, NodeId id) const;

  GpuModelTable* models_;
  const ShapeTable* shapes_;

  std::vector<NodeRow> rows_;
  std::vector<NodeSpec> specs_;
  std::vector<int16_t> device_idle_;
  std::vector<MigState> device_mig_;  // beside device_idle_; empty while no node has MIG
  std::vector<uint32_t> mig_usable_;  // by node; empty while no node has MIG
  // Milli in use of instances that several pods share, by device (in device_idle_) and placement.
  absl::btree_map<std::pair<uint32_t, uint8_t>, int32_t> shared_instances_;
  std::vector<uint16_t> tag_count_;  // kAffinityTags per node
  std::vector<uint32_t> epoch_;
  absl::flat_hash_map<std::string, uint32_t> node_index_;

  std::vector<std::string> extended_names_;
  std::vector<int64_t> extended_idle_;      // nodes x names
  std::vector<int64_t> extended_capacity_;  // nodes x names
  std::vector<int32_t> without_cpu_;
  std::vector<int32_t> without_memory_;
  std::vector<CountedRequest> counted_;  // by shape
  absl::flat_hash_map<std::string, uint32_t> group_index_;
  std::vector<std::vector<uint16_t>> group_pods_;  // group, node
  std::vector<std::vector<PodId>> node_pods_;
  size_t available_nodes_ = 0;
  size_t cordoned_nodes_ = 0;

  std::string pod_names_;  // all names, one after the other
  std::vector<uint64_t> pod_name_begin_;
  std::vector<ShapeId> pod_shape_;
  std::vector<PodPhase> pod_phase_;
  std::vector<NodeId> pod_node_;
  std::vector<uint32_t> pod_devices_;
  std::vector<int32_t> pod_priority_;
  std::vector<SimTime> pod_arrival_;
  std::vector<uint32_t> pod_slot_;        // place in node_pods_
  std::vector<DeviceGrants> pod_grants_;  // as far as any pod has some

  std::vector<uint32_t> change_log_ = std::vector<uint32_t>(1024);
  uint64_t change_count_ = 0;
  uint64_t change_log_begin_ = 0;  // older changes were overwritten before the log last grew
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
  uint64_t version_ = 0;
  uint64_t versions_ = 0;  // handed out so far
};

}  // namespace drasim

#endif  // DRASIM_MODEL_CLUSTER_STATE_H_
