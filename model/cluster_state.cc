#include "model/cluster_state.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/status_macros.h"

namespace drasim {

// Also adds the node to the totals over all nodes, which must stay within 64 bits.
absl::Status ClusterState::CheckSpec(const NodeSpec& spec) {
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
  if (__builtin_add_overflow(all_cpu_milli_, spec.cpu_milli, &all_cpu_milli_) ||
      __builtin_add_overflow(all_memory_bytes_, spec.memory_bytes, &all_memory_bytes_)) {
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
  return absl::OkStatus();
}

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
  RETURN_IF_ERROR(CheckSpec(spec));
  ASSIGN_OR_RETURN(const std::vector<uint8_t> models, InternModels(spec));
  const NodeId id(rows_.size());
  if (!node_index_.emplace(spec.name, id.value()).second) {
    return absl::InvalidArgumentError(absl::StrCat("node '", spec.name, "' appears twice"));
  }
  NodeRow row;
  row.cpu_milli_idle = spec.cpu_milli;
  row.memory_bytes_idle = spec.memory_bytes;
  row.pods_idle = static_cast<int32_t>(std::min<int64_t>(spec.pods, INT32_MAX));
  row.gpu_count = static_cast<uint8_t>(spec.gpu_count);
  row.gpu_full_idle = row.gpu_count;
  row.gpu_milli_idle = spec.gpu_count * kDeviceMilli;
  row.gpu_milli_idle_max = spec.gpu_count > 0 ? kDeviceMilli : 0;
  row.device_begin = static_cast<uint32_t>(device_idle_.size());
  row.schedulable = !spec.unschedulable;
  cordoned_nodes_ += spec.unschedulable ? 1 : 0;
  row.available = !spec.absent;
  row.has_taints = !spec.taints.empty();
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
  without_cpu_.push_back(0);
  without_memory_.push_back(0);
  rows_.push_back(row);
  specs_.push_back(spec);
  epoch_.push_back(0);
  node_pods_.emplace_back();
  AddExtended(spec);
  AddMig(id);
  ++nodes_version_;
  if (row.available) CountCapacity(row, spec, +1);
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

void ClusterState::AddExtended(const NodeSpec& spec) {
  const size_t nodes = rows_.size();
  for (const auto& [name, amount] : spec.extended) {
    if (std::find(extended_names_.begin(), extended_names_.end(), name) != extended_names_.end()) {
      continue;
    }
    // A new column, 0 for the nodes so far.
    const size_t before = extended_names_.size();
    for (std::vector<int64_t>* column : {&extended_idle_, &extended_capacity_}) {
      std::vector<int64_t> wider((nodes - 1) * (before + 1));
      for (size_t n = 0; n + 1 < nodes; ++n) {
        std::copy_n(column->begin() + static_cast<std::ptrdiff_t>(n * before), before,
                    wider.begin() + static_cast<std::ptrdiff_t>(n * (before + 1)));
      }
      *column = std::move(wider);
    }
    extended_names_.push_back(name);
  }
  for (const std::string& name : extended_names_) {
    int64_t capacity = 0;
    for (const auto& [key, amount] : spec.extended) capacity = key == name ? amount : capacity;
    extended_idle_.push_back(capacity);
    extended_capacity_.push_back(capacity);
  }
  counted_.clear();
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
  row.available = available;
  CountCapacity(row, specs_[node.value()], available ? +1 : -1);
  ++nodes_version_;
  Touch(node);
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
    ResolveMig(shape.request, &counted);
    counted_.push_back(std::move(counted));
  }
}

size_t ClusterState::LackingExtended(ShapeId shape, NodeId id) const {
  const CountedRequest& counted = counted_[shape.value()];
  if (counted.lacks_resource) return 1 + extended_names_.size();
  for (const auto& [column, amount] : counted.extended) {
    if (extended_idle(id, column) < amount) return size_t{1} + column;
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
  const PodShape& shape = pod_shape(pod);
  if (sign > 0) {
    used_ports_.Add(node, shape.constraints.host_ports);
  } else {
    used_ports_.Remove(node, shape.constraints.host_ports);
  }
  const ResourceRequest& request = shape.request;
  without_cpu_[node.value()] += request.cpu_milli == 0 ? sign : 0;
  without_memory_[node.value()] += request.memory_bytes == 0 ? sign : 0;
  const CountedRequest& counted = counted_[pod_shape_[pod.value()].value()];
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

// Adds (sign +1) or removes (sign -1) the pod's requests and devices. Besides Grant, the only place
// that changes idle columns.
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
  DRASIM_CHECK(row.cpu_milli_idle >= 0 && row.memory_bytes_idle >= 0 && row.pods_idle >= 0);
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

void ClusterState::Assume(PodId pod, NodeId node, DeviceSet devices,
                          absl::Span<const DeviceGrant> grants) {
  DRASIM_CHECK(pod_phase(pod) == PodPhase::kPending);
  Charge(pod, node, devices, grants, +1);
  SetPlacement(pod, PodPhase::kAssumed, node, devices, grants);
}

void ClusterState::PutBack(PodId pod, NodeId node, DeviceSet devices,
                           absl::Span<const DeviceGrant> grants, bool bound) {
  const bool given = pod_shape(pod).request.gets_devices_from_node() && !grants.empty();
  Assume(pod, node, given ? DeviceSet() : devices,
         given ? absl::Span<const DeviceGrant>() : grants);
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
  if (what_ifs_.empty()) undo_.clear();
}

void ClusterState::Rollback() {
  DRASIM_CHECK(!what_ifs_.empty());
  const Mark mark = what_ifs_.back();
  what_ifs_.pop_back();
  // Set aside, so that undoing records no new changes.
  const std::vector<Mark> outer = std::exchange(what_ifs_, {});
  for (size_t i = undo_.size(); i-- > mark.undo;) {
    const Undo& u = undo_[i];
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
