#include "model/cluster_state.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/claim_devices_log.h"
#include "model/status_macros.h"

namespace drasim {

// Also adds the node to the totals over all nodes, which must stay within 64 bits.
absl::Status ClusterState::CheckSpec(const NodeSpec& spec, const NodeSpec& before) {
  if (spec.name.empty()) return absl::InvalidArgumentError("a node has no name");
  if (spec.cpu_milli < 0 || spec.memory_bytes < 0 || spec.pods < 0 || spec.gpu_count < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("node '", spec.name, "' has a negative capacity"));
  }
  if (spec.gpu_count > kMaxDevicesPerNode) {
    return absl::InvalidArgumentError(absl::StrCat("node '", spec.name, "' has ", spec.gpu_count,
                                                   " GPUs; at most ", kMaxDevicesPerNode,
                                                   " are supported"));
  }
  if (!spec.gpu_models.empty() && spec.gpu_models.size() != static_cast<size_t>(spec.gpu_count)) {
    return absl::InvalidArgumentError(absl::StrCat("node '", spec.name, "' has ", spec.gpu_count,
                                                   " GPUs and the models of ",
                                                   spec.gpu_models.size()));
  }
  // Absent nodes count as well, because all of them may be added later.
  int64_t cpu = all_cpu_milli_ - before.cpu_milli;
  int64_t memory = all_memory_bytes_ - before.memory_bytes;
  if (__builtin_add_overflow(cpu, spec.cpu_milli, &cpu) ||
      __builtin_add_overflow(memory, spec.memory_bytes, &memory)) {
    return absl::InvalidArgumentError(
        absl::StrCat("node '", spec.name, "': the cluster's CPU or memory adds up beyond 2^63"));
  }
  if (spec.extended.size() > kMaxExtendedNames) {
    return absl::InvalidArgumentError(absl::StrCat("node '", spec.name, "' has ",
                                                   spec.extended.size(),
                                                   " extended resources; at "
                                                   "most ",
                                                   kMaxExtendedNames, " are supported"));
  }
  size_t new_names = 0;
  for (const auto& [name, amount] : spec.extended) {
    new_names += std::count(extended_names_.begin(), extended_names_.end(), name) == 0 ? 1u : 0u;
  }
  if (extended_names_.size() + new_names > kMaxExtendedNames) {
    return absl::InvalidArgumentError(
        absl::StrCat("node '", spec.name, "': the nodes have more than ", kMaxExtendedNames,
                     " different extended resources"));
  }
  all_cpu_milli_ = cpu;
  all_memory_bytes_ = memory;
  return absl::OkStatus();
}

namespace {

int64_t ExtendedOf(const NodeSpec& spec, const std::string& name) {
  for (const auto& [key, amount] : spec.extended) {
    if (key == name) return amount;
  }
  return 0;
}

// Requests that kube-scheduler's scores assume for a container without any (GetNonzeroRequests).
constexpr int64_t kScoredCpuMilli = 100;
constexpr int64_t kScoredMemoryBytes = int64_t{200} << 20;

int32_t PodSlots(const NodeSpec& spec) {
  return static_cast<int32_t>(std::min<int64_t>(spec.pods, INT32_MAX));
}

// The cluster that its own pod counts are about.
class CountedState final : public CountedCluster {
 public:
  explicit CountedState(const ClusterState* state) : state_(*state) {}
  const ShapeTable& shapes() const override { return state_.shapes(); }
  size_t node_count() const override { return state_.node_count(); }
  bool available(NodeId node) const override { return state_.node(node).available; }
  const NodeSpec& node_spec(NodeId node) const override { return state_.node_spec(node); }
  absl::Span<const PodId> pods_on(NodeId node) const override { return state_.pods_on(node); }
  ShapeId pod_shape_id(PodId pod) const override { return state_.pod_shape_id(pod); }

 private:
  const ClusterState& state_;
};

}  // namespace

ClusterState::ClusterState(GpuModelTable* models, const ShapeTable* shapes)
    : models_(models),
      shapes_(shapes),
      counts_(std::make_unique<CountedState>(this)),
      claims_(std::make_unique<ClaimDevicesLog>()) {}

ClusterState::~ClusterState() = default;

// The ModelIds of the node's GPUs: one per GPU if the node names several models, else one for all.
absl::StatusOr<std::vector<uint8_t>> ClusterState::InternModels(const NodeSpec& spec) {
  std::vector<uint8_t> models;
  if (spec.gpu_count == 0) return models;
  for (size_t gpu = 0; gpu < std::max(spec.gpu_models.size(), size_t{1}); ++gpu) {
    ASSIGN_OR_RETURN(const ModelId model, models_->Intern(GpuModelOf(spec, gpu)));
    models.push_back(static_cast<uint8_t>(model.value()));
  }
  return models;
}

absl::StatusOr<NodeId> ClusterState::AddNode(const NodeSpec& spec) {
  RETURN_IF_ERROR(CheckSpec(spec, NodeSpec()));
  ASSIGN_OR_RETURN(const std::vector<uint8_t> models, InternModels(spec));
  const NodeId id(rows_.size());
  if (!node_index_.emplace(spec.name, id.value()).second) {
    return absl::InvalidArgumentError(absl::StrCat("node '", spec.name, "' appears twice"));
  }
  NodeRow row;
  row.cpu_milli_idle = spec.cpu_milli;
  row.memory_bytes_idle = spec.memory_bytes;
  row.pods_idle = PodSlots(spec);
  row.gpu_count = static_cast<uint8_t>(spec.gpu_count);
  row.gpu_full_idle = row.gpu_count;
  row.gpu_milli_idle = spec.gpu_count * kDeviceMilli;
  row.gpu_milli_idle_max = spec.gpu_count > 0 ? kDeviceMilli : 0;
  row.device_begin = static_cast<uint32_t>(device_idle_.size());
  row.schedulable = !spec.unschedulable;
  cordoned_nodes_ += spec.unschedulable ? 1 : 0;
  row.available = !spec.absent;
  row.has_taints = !spec.taints.empty();
  tainted_nodes_ += row.has_taints ? 1 : 0;
  if (!models.empty()) {
    const bool alike = std::count(models.begin(), models.end(), models[0]) ==
                       static_cast<std::ptrdiff_t>(models.size());
    row.model = alike ? models[0] : kMixedModels;
    if (!alike) {
      device_model_.resize(device_idle_.size(), kNoModel);
      device_model_.insert(device_model_.end(), models.begin(), models.end());
    }
  }
  device_idle_.insert(device_idle_.end(), static_cast<size_t>(spec.gpu_count), kDeviceMilli);
  tag_count_.insert(tag_count_.end(), kAffinityTags, 0);
  scored_cpu_.push_back(0);
  scored_memory_.push_back(0);
  const bool new_names = AddExtendedNames(spec);
  rows_.push_back(row);
  specs_.push_back(spec);
  epoch_.push_back(0);
  node_pods_.emplace_back();
  for (size_t e = 0; e < extended_names_.size(); ++e) {
    const int64_t capacity = ExtendedOf(spec, extended_names_[e]);
    extended_idle_.push_back(capacity);
    extended_capacity_.push_back(capacity);
    nodes_with_extended_[e] += capacity > 0;
  }
  ResolveShapesAgain(new_names);
  for (std::vector<uint16_t>& pods : group_pods_) pods.push_back(0);
  AddMig(id);
  if (row.available) {
    CountCapacity(row, spec, +1);
    order_.Add(id, spec);
  }
  if (counts_.active()) counts_.SetNode(id);
  ++nodes_version_;
  node_cpu_milli_max_ = std::max(node_cpu_milli_max_, spec.cpu_milli);
  node_gpu_count_max_ = std::max<int64_t>(node_gpu_count_max_, spec.gpu_count);
  if (change_log_.size() < 2 * rows_.size()) {
    // A reader that lags by more than twice the number of nodes is better served by a look at every
    // node. Entries move to their positions under the larger mask.
    std::vector<uint32_t> larger(change_log_.size() * 2);
    const uint64_t kept = change_window();
    for (uint64_t k = change_count_ - kept; k < change_count_; ++k) {
      larger[k & (larger.size() - 1)] = change_log_[k & (change_log_.size() - 1)];
    }
    change_log_ = std::move(larger);
    change_log_begin_ = change_count_ - kept;
  }
  Touch(id);
  return id;
}

// Adds columns for new names, 0 for the nodes so far; true if there were any.
bool ClusterState::AddExtendedNames(const NodeSpec& spec) {
  const size_t before = extended_names_.size();
  for (const auto& [name, amount] : spec.extended) {
    if (std::find(extended_names_.begin(), extended_names_.end(), name) == extended_names_.end()) {
      extended_names_.push_back(name);
    }
  }
  const size_t after = extended_names_.size();
  nodes_with_extended_.resize(after);
  if (after == before) return false;
  for (std::vector<int64_t>* column : {&extended_idle_, &extended_capacity_}) {
    std::vector<int64_t> wider(rows_.size() * after);
    for (size_t n = 0; n < rows_.size(); ++n) {
      std::copy_n(column->begin() + static_cast<std::ptrdiff_t>(n * before), before,
                  wider.begin() + static_cast<std::ptrdiff_t>(n * after));
    }
    *column = std::move(wider);
  }
  return true;
}

// Resolves shapes again after nodes brought new names or models. Pods may hold amounts of a
// resource that no node offered so far.
void ClusterState::ResolveShapesAgain(bool new_names) {
  if (counted_.empty()) return;
  counted_.clear();
  ResolveShapes();
  if (!new_names) return;
  extended_idle_ = extended_capacity_;
  for (size_t n = 0; n < rows_.size(); ++n) {
    for (const PodId pod : node_pods_[n]) {
      for (const auto& [column, amount] : counted_[pod_shape_[pod.value()].value()].extended) {
        extended_idle_[n * extended_names_.size() + column] -= amount;
      }
    }
  }
}

void ClusterState::CountCapacity(const NodeRow& row, const NodeSpec& spec, int sign) {
  totals_.cpu_milli_capacity += sign * spec.cpu_milli;
  totals_.memory_bytes_capacity += sign * spec.memory_bytes;
  totals_.gpu_milli_capacity += int64_t{sign} * row.gpu_count * int64_t{kDeviceMilli};
  totals_.gpu_count += int64_t{sign} * row.gpu_count;
  available_nodes_ = sign > 0 ? available_nodes_ + 1 : available_nodes_ - 1;
}

void ClusterState::SetAvailable(NodeId node, bool available) {
  NodeRow& row = rows_[node.value()];
  if (row.available == available) return;
  DRASIM_CHECK(node_pods_[node.value()].empty());
  const InventoryRows held = HeldOn(node);
  if (!available) UnchargeParts(held);
  row.available = available;
  CountCapacity(row, specs_[node.value()], available ? +1 : -1);
  if (available) ChargeParts(held);
  available ? order_.Add(node, specs_[node.value()]) : order_.Remove(node);
  if (counts_.active()) counts_.SetNode(node);
  ++nodes_version_;
  Touch(node);
}

absl::Status ClusterState::UpdateNode(NodeId node, const NodeSpec& spec) {
  DRASIM_CHECK(what_ifs_.empty());
  NodeSpec& before = specs_[node.value()];
  DRASIM_CHECK(spec.name == before.name && spec.gpu_count == before.gpu_count &&
               spec.gpu_model == before.gpu_model && spec.gpu_models == before.gpu_models &&
               spec.devices == before.devices);
  RETURN_IF_ERROR(CheckSpec(spec, before));
  NodeRow& row = rows_[node.value()];
  row.cpu_milli_idle += spec.cpu_milli - before.cpu_milli;
  row.memory_bytes_idle += spec.memory_bytes - before.memory_bytes;
  row.pods_idle += PodSlots(spec) - PodSlots(before);
  tainted_nodes_ -= row.has_taints ? 1 : 0;
  row.has_taints = !spec.taints.empty();
  tainted_nodes_ += row.has_taints ? 1 : 0;
  if (row.available) CountCapacity(row, before, -1);
  const bool absent = before.absent;
  before = spec;
  before.absent = absent;
  if (row.available) {
    CountCapacity(row, spec, +1);
    order_.Update(node, spec);
  }
  node_cpu_milli_max_ = 0;
  for (const NodeSpec& each : specs_) {
    node_cpu_milli_max_ = std::max(node_cpu_milli_max_, each.cpu_milli);
  }
  if (AddExtendedNames(spec)) ResolveShapesAgain(/*new_names=*/true);
  for (size_t e = 0; e < extended_names_.size(); ++e) {
    SetExtendedCapacity(node, e, ExtendedOf(spec, extended_names_[e]));
  }
  if (counts_.active()) counts_.SetNode(node);
  SetSchedulable(node, !spec.unschedulable);
  ++nodes_version_;
  return absl::OkStatus();
}

NodeId ClusterState::FindNode(absl::string_view name) const {
  const auto it = node_index_.find(name);
  if (it == node_index_.end() || !rows_[it->second].available) return NodeId();
  return NodeId(it->second);
}

void ClusterState::SetObjects(ClusterObjects objects) {
  objects_ = std::move(objects);
  ++objects_version_;
}

ClusterObjects& ClusterState::ChangeObjects() {
  ++objects_version_;
  return objects_;
}

// Shapes are interned while the run goes on; each shape's names are resolved once.
void ClusterState::ResolveShapes() {
  for (size_t s = counted_.size(); s < shapes_->size(); ++s) {
    const PodShape& shape = shapes_->row(ShapeId(s));
    CountedRequest counted;
    for (const auto& [name, amount] : shape.request.extended) {
      const auto it = std::find(extended_names_.begin(), extended_names_.end(), name);
      if (it == extended_names_.end()) {
        counted.lacks_resource = true;
        continue;
      }
      counted.extended.emplace_back(static_cast<uint32_t>(it - extended_names_.begin()), amount);
    }
    if (!shape.constraints.group.empty() && shape.constraints.max_per_node > 0) {
      const auto [it, inserted] = group_index_.try_emplace(
          shape.constraints.group, static_cast<uint32_t>(group_index_.size() + 1));
      if (inserted) group_pods_.emplace_back(rows_.size());
      counted.group = it->second;
      counted.max_per_node = shape.constraints.max_per_node;
    }
    const ScoredRequest& scored = shape.scored;
    const ResourceRequest& request = shape.request;
    counted.scored_cpu_milli = scored.given             ? scored.resident_cpu_milli
                               : request.cpu_milli == 0 ? kScoredCpuMilli
                                                        : request.cpu_milli;
    counted.scored_memory_bytes = scored.given                ? scored.resident_memory_bytes
                                  : request.memory_bytes == 0 ? kScoredMemoryBytes
                                                              : request.memory_bytes;
    ResolveMig(request, &counted);
    counted_.push_back(std::move(counted));
  }
  if (counts_.active()) counts_.ResolveShapes();
}

size_t ClusterState::LackingExtended(ShapeId shape, NodeId id) const {
  const CountedRequest& counted = counted_[shape.value()];
  if (counted.lacks_resource) return 1 + extended_names_.size();
  for (const auto& [column, amount] : counted.extended) {
    if (extended_idle(id, column) < amount && !IsServedByClaims(id, column)) {
      return size_t{1} + column;
    }
  }
  return 0;
}

bool ClusterState::GroupHasRoom(ShapeId shape, NodeId id) const {
  const CountedRequest& counted = counted_[shape.value()];
  return counted.group == 0 || group_pods_[counted.group - 1][id.value()] < counted.max_per_node;
}

void ClusterState::SetSchedulable(NodeId node, bool schedulable) {
  bool& now = rows_[node.value()].schedulable;
  if (now != schedulable) cordoned_nodes_ = schedulable ? cordoned_nodes_ - 1 : cordoned_nodes_ + 1;
  now = schedulable;
  Touch(node);
}

PodId ClusterState::AddPod(absl::string_view name, ShapeId shape, int32_t priority,
                           SimTime arrival) {
  const PodId id(pod_shape_.size());
  if (shape.value() >= counted_.size()) ResolveShapes();
  pod_name_begin_.push_back(pod_names_.size());
  pod_names_.append(name.data(), name.size());
  pod_shape_.push_back(shape);
  pod_phase_.push_back(PodPhase::kPending);
  pod_node_.push_back(NodeId());
  pod_devices_.push_back(DeviceSet());
  pod_priority_.push_back(priority);
  pod_arrival_.push_back(arrival);
  pod_slot_.push_back(0);
  return id;
}

absl::string_view ClusterState::pod_name(PodId id) const {
  const size_t begin = pod_name_begin_[id.value()];
  const size_t next =
      id.value() + 1 < pod_name_begin_.size() ? pod_name_begin_[id.value() + 1] : pod_names_.size();
  return absl::string_view(pod_names_).substr(begin, next - begin);
}

void ClusterState::Touch(NodeId node) {
  ++epoch_[node.value()];
  change_log_[change_count_ & (change_log_.size() - 1)] = node.value();
  ++change_count_;
  version_ = ++versions_;
}

bool ClusterState::NodeInUse(const NodeRow& row, NodeId id) const {
  const NodeSpec& spec = specs_[id.value()];
  return row.cpu_milli_idle != spec.cpu_milli ||
         row.gpu_milli_idle != spec.gpu_count * kDeviceMilli;
}

// Extended resources, group counts and the node's list of pods.
void ClusterState::ChargeCounted(PodId pod, NodeId node, int sign) {
  std::vector<PodId>& pods = node_pods_[node.value()];
  if (sign > 0) {
    pod_slot_[pod.value()] = static_cast<uint32_t>(pods.size());
    pods.push_back(pod);
  } else {
    const uint32_t slot = pod_slot_[pod.value()];
    pods[slot] = pods.back();
    pod_slot_[pods[slot].value()] = slot;
    pods.pop_back();
  }
  const ShapeId shape = pod_shape_[pod.value()];
  const std::vector<HostPort>& ports = shapes_->row(shape).constraints.host_ports;
  if (sign > 0) {
    used_ports_.Add(node, ports);
  } else {
    used_ports_.Remove(node, ports);
  }
  if (counts_.active()) counts_.Charge(shape, node, sign);
  const CountedRequest& counted = counted_[shape.value()];
  scored_cpu_[node.value()] += sign * counted.scored_cpu_milli;
  scored_memory_[node.value()] += sign * counted.scored_memory_bytes;
  if (!counted.any()) return;
  for (const auto& [column, amount] : counted.extended) {
    // May fall below 0: a node can report less capacity than its pods hold.
    extended_idle_[size_t{node.value()} * extended_names_.size() + column] -= sign * amount;
  }
  if (counted.group != 0) {
    uint16_t& count = group_pods_[counted.group - 1][node.value()];
    // The pods of a group may have different limits, so the count can exceed this pod's limit.
    count = static_cast<uint16_t>(count + sign);
  }
}

// Besides Grant and UpdateNode, the only place that changes idle columns.
void ClusterState::Charge(PodId pod, NodeId node, DeviceSet devices,
                          absl::Span<const DeviceGrant> grants, int sign) {
  const ResourceRequest& request = pod_shape(pod).request;
  NodeRow& row = rows_[node.value()];
  DRASIM_CHECK(row.available);
  const bool was_in_use = NodeInUse(row, node);
  const int busy_before = row.gpu_count - row.gpu_full_idle;
  row.cpu_milli_idle -= sign * request.cpu_milli;
  row.memory_bytes_idle -= sign * request.memory_bytes;
  row.pods_idle -= sign;
  if (!grants.empty()) {
    ChargeGrants(node, grants, sign);
    CountUnasked(request, grants, sign);
  } else {
    DRASIM_CHECK_EQ(devices.size(), request.gpu_count);
    if (!devices.empty()) ChargeDevices(request, node, devices, sign);
  }
  ChargeCounted(pod, node, sign);
  totals_.cpu_milli_allocated += sign * request.cpu_milli;
  totals_.memory_bytes_allocated += sign * request.memory_bytes;
  totals_.gpu_milli_allocated += sign * request.total_gpu_milli();
  totals_.pods_resident += sign;
  CountUse(node, was_in_use, busy_before);
  Touch(node);
}

void ClusterState::CountUse(NodeId node, bool was_in_use, int busy_before) {
  const NodeRow& row = rows_[node.value()];
  totals_.gpus_in_use += (row.gpu_count - row.gpu_full_idle) - busy_before;
  const bool in_use = NodeInUse(row, node);
  if (in_use == was_in_use) return;
  totals_.nodes_in_use += in_use ? 1 : -1;
  totals_.gpus_on_used_nodes += in_use ? row.gpu_count : -row.gpu_count;
}

void ClusterState::SetPlacement(PodId pod, PodPhase phase, NodeId node, DeviceSet devices,
                                absl::Span<const DeviceGrant> grants) {
  const size_t i = pod.value();
  if (!what_ifs_.empty()) {
    const absl::Span<const DeviceGrant> held = pod_grants(pod);
    undo_.push_back({pod, pod_node_[i], pod_devices_[i], pod_phase_[i], pod_slot_[i],
                     DeviceGrants(held.begin(), held.end())});
  }
  pod_phase_[i] = phase;
  pod_node_[i] = node;
  pod_devices_[i] = devices;
  if (i >= pod_grants_.size()) {
    if (grants.empty()) return;
    pod_grants_.resize(pod_shape_.size());
  }
  pod_grants_[i].assign(grants.begin(), grants.end());
}

// A node whose pods were adopted may lack a resource already; a pod without a request for it fits.
bool ClusterState::HasRoom(const ResourceRequest& request, const NodeRow& row) const {
  return (row.cpu_milli_idle >= request.cpu_milli || request.cpu_milli == 0) &&
         (row.memory_bytes_idle >= request.memory_bytes || request.memory_bytes == 0) &&
         row.pods_idle >= 1;
}

void ClusterState::Assume(PodId pod, NodeId node, DeviceSet devices,
                          absl::Span<const DeviceGrant> grants) {
  DRASIM_CHECK(pod_phase(pod) == PodPhase::kPending);
  DRASIM_CHECK(HasRoom(pod_shape(pod).request, rows_[node.value()]));
  Charge(pod, node, devices, grants, +1);
  SetPlacement(pod, PodPhase::kAssumed, node, devices, grants);
}

void ClusterState::Adopt(PodId pod, NodeId node) {
  DRASIM_CHECK(pod_phase(pod) == PodPhase::kPending);
  Charge(pod, node, DeviceSet(), {}, +1);
  SetPlacement(pod, PodPhase::kBound, node, DeviceSet());
}

void ClusterState::SetPodShape(PodId pod, ShapeId shape) {
  DRASIM_CHECK(what_ifs_.empty());
  if (shape.value() >= counted_.size()) ResolveShapes();
  const NodeId node = pod_node(pod);
  if (node.valid()) Charge(pod, node, pod_devices(pod), pod_grants(pod), -1);
  pod_shape_[pod.value()] = shape;
  if (node.valid()) Charge(pod, node, pod_devices(pod), pod_grants(pod), +1);
}

void ClusterState::SetPodStart(PodId id, SimTime start) {
  if (id.value() >= pod_start_.size()) pod_start_.resize(pod_shape_.size(), SimTime::Max());
  pod_start_[id.value()] = start;
}

void ClusterState::PutBack(PodId pod, NodeId node, DeviceSet devices,
                           absl::Span<const DeviceGrant> grants, bool bound) {
  DRASIM_CHECK(pod_phase(pod) == PodPhase::kPending);
  const bool given = pod_shape(pod).request.gets_devices_from_node() && !grants.empty();
  const DeviceSet held = given ? DeviceSet() : devices;
  const absl::Span<const DeviceGrant> parts = given ? absl::Span<const DeviceGrant>() : grants;
  Charge(pod, node, held, parts, +1);
  SetPlacement(pod, PodPhase::kAssumed, node, held, parts);
  if (bound) Bind(pod);
  if (given) Grant(pod, devices, grants);
}

void ClusterState::Bind(PodId pod) {
  DRASIM_CHECK(pod_phase(pod) == PodPhase::kAssumed);
  const absl::Span<const DeviceGrant> held = pod_grants(pod);
  const DeviceGrants kept(held.begin(), held.end());
  SetPlacement(pod, PodPhase::kBound, pod_node(pod), pod_devices(pod), kept);
}

void ClusterState::Release(PodId pod, PodPhase to) {
  Charge(pod, pod_node(pod), pod_devices(pod), pod_grants(pod), -1);
  SetPlacement(pod, to, NodeId(), DeviceSet());
}

void ClusterState::Forget(PodId pod) {
  DRASIM_CHECK(pod_phase(pod) == PodPhase::kAssumed);
  Release(pod, PodPhase::kPending);
}

void ClusterState::Finish(PodId pod) {
  DRASIM_CHECK(pod_phase(pod) == PodPhase::kBound);
  Release(pod, PodPhase::kSucceeded);
}

void ClusterState::Fail(PodId pod) {
  if (pod_phase(pod) == PodPhase::kPending) {
    return SetPlacement(pod, PodPhase::kFailed, NodeId(), DeviceSet());
  }
  DRASIM_CHECK(pod_phase(pod) == PodPhase::kBound);
  Release(pod, PodPhase::kFailed);
}

void ClusterState::Evict(PodId pod) {
  DRASIM_CHECK(pod_phase(pod) == PodPhase::kBound);
  Release(pod, PodPhase::kPending);
}

void ClusterState::Drop(PodId pod) {
  DRASIM_CHECK(pod_phase(pod) == PodPhase::kPending);
  SetPlacement(pod, PodPhase::kDropped, NodeId(), DeviceSet());
}

void ClusterState::Delete(PodId pod) {
  if (pod_phase(pod) == PodPhase::kBound) return Release(pod, PodPhase::kDeleted);
  DRASIM_CHECK(pod_phase(pod) == PodPhase::kPending);
  SetPlacement(pod, PodPhase::kDeleted, NodeId(), DeviceSet());
}

void ClusterState::BeginWhatIf() {
  what_ifs_.push_back({undo_.size(), version_});
  used_ports_.BeginWhatIf();
}

void ClusterState::KeepWhatIf() {
  DRASIM_CHECK(!what_ifs_.empty());
  what_ifs_.pop_back();
  used_ports_.KeepWhatIf();
  if (!what_ifs_.empty()) return;
  undo_.clear();
  claims_->undo.clear();
}

void ClusterState::Rollback() {
  DRASIM_CHECK(!what_ifs_.empty());
  const Mark mark = what_ifs_.back();
  what_ifs_.pop_back();
  // Set aside, so that undoing records no new changes.
  const std::vector<Mark> outer = std::exchange(what_ifs_, {});
  for (size_t i = undo_.size(); i-- > mark.undo;) {
    const Undo& u = undo_[i];
    if (!u.pod.valid()) {
      UndoDevices();
      continue;
    }
    const NodeId now = pod_node(u.pod);
    if (now != u.node) {
      if (now.valid()) Charge(u.pod, now, pod_devices(u.pod), pod_grants(u.pod), -1);
      if (u.node.valid()) {
        Charge(u.pod, u.node, u.devices, u.grants, +1);
        // Back to its own slot, where the pod that was last has been since.
        std::vector<PodId>& pods = node_pods_[u.node.value()];
        std::swap(pods[u.slot], pods.back());
        pod_slot_[pods.back().value()] = static_cast<uint32_t>(pods.size() - 1);
        pod_slot_[u.pod.value()] = u.slot;
      }
    } else if (now.valid() && u.grants.empty() && !pod_grants(u.pod).empty()) {
      TakeGrants(u.pod);
    }
    SetPlacement(u.pod, u.phase, u.node, u.devices, u.grants);
  }
  what_ifs_ = outer;
  undo_.resize(mark.undo);
  used_ports_.Rollback();
  version_ = mark.version;
}

}  // namespace drasim
