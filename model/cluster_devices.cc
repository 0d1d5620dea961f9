// Cluster state: the devices of nodes, whole, shared or partitioned by MIG.

#include <algorithm>
#include <bit>

#include "model/check.h"
#include "model/cluster_state.h"
#include "model/device_set.h"

namespace drasim {

void ClusterState::AddMig(NodeId id) {
  if (!models_->any_mig()) return;
  device_mig_.resize(device_idle_.size(), MigState{0});
  const NodeRow& row = rows_[id.value()];
  mig_usable_.resize(rows_.size() - 1);
  mig_usable_.push_back(row.is_mixed()
                            ? MixedMigGpus(id)
                            : DeviceSet::FirstN(mig_table(id) != nullptr ? row.gpu_count : 0));
}

DeviceSet ClusterState::MixedGpusOf(NodeId id, uint64_t model_mask) const {
  DeviceSet gpus;
  const absl::Span<const uint8_t> models = mixed_gpu_models(id);
  for (size_t gpu = 0; gpu < models.size(); ++gpu) {
    if ((model_mask >> models[gpu] & 1) != 0) gpus.Add(gpu);
  }
  return gpus;
}

DeviceSet ClusterState::MixedMigGpus(NodeId id) const {
  DeviceSet gpus;
  for (size_t gpu = 0; gpu < rows_[id.value()].gpu_count; ++gpu) {
    if (mig_table(id, gpu) != nullptr) gpus.Add(gpu);
  }
  return gpus;
}

GpuModelGroups ClusterState::GroupsOfModels(NodeId id) const {
  GpuModelGroups groups;
  const NodeRow& row = rows_[id.value()];
  if (!row.is_mixed()) {
    if (row.gpu_count > 0) groups.push_back({row.model, DeviceSet::FirstN(row.gpu_count)});
    return groups;
  }
  for (size_t gpu = 0; gpu < row.gpu_count; ++gpu) {
    const uint8_t model = gpu_model(id, gpu);
    const auto known =
        std::find_if(groups.begin(), groups.end(),
                     [model](const GpuModelGroup& group) { return group.model == model; });
    if (known == groups.end()) {
      groups.push_back({model, DeviceSet::Of(gpu)});
    } else {
      known->gpus.Add(gpu);
    }
  }
  return groups;
}

void ClusterState::ResolveMig(const ResourceRequest& request, CountedRequest* counted) const {
  if (request.mig.empty()) return;
  counted->mig.resize(models_->size());
  for (size_t m = 0; m < models_->size(); ++m) {
    const MigTable* const table = models_->mig(ModelId(m));
    if (table == nullptr) continue;
    absl::InlinedVector<uint8_t, 2>& profiles = counted->mig[m];
    for (const auto& [name, count] : request.mig) {
      const int profile = table->FindProfile(name);
      if (profile < 0) {
        profiles.clear();
        break;
      }
      profiles.insert(profiles.end(), static_cast<size_t>(count), static_cast<uint8_t>(profile));
    }
  }
}

absl::Span<const uint8_t> ClusterState::mig_profiles(ShapeId shape, uint8_t model) const {
  const auto& mig = counted_[shape.value()].mig;
  if (model >= mig.size()) return {};
  return mig[model];
}

void ClusterState::ChargeDevices(const ResourceRequest& request, NodeId node, DeviceSet devices,
                                 int sign) {
  NodeRow& row = rows_[node.value()];
  row.gpu_milli_idle -= sign * request.gpu_count * request.gpu_milli;
  for (const size_t device : devices) {
    DRASIM_CHECK_LT(device, row.gpu_count);
    int16_t& idle = device_idle_[row.device_begin + device];
    idle = static_cast<int16_t>(idle - sign * request.gpu_milli);
    DRASIM_CHECK(idle >= 0 && idle <= kDeviceMilli);
  }
  const auto tag = static_cast<size_t>(AffinityTag(request));
  uint16_t& count = tag_count_[size_t{node.value()} * kAffinityTags + tag];
  const int present_before = count > 0 ? 1 : 0;
  count = static_cast<uint16_t>(count + sign);
  row.resident_tags =
      static_cast<uint8_t>(row.resident_tags + (count > 0 ? 1 : 0) - present_before);
  row.resident_gpu_pods = static_cast<uint16_t>(row.resident_gpu_pods + sign);
  CountDevices(node);
}

void ClusterState::CountDevices(NodeId node) {
  NodeRow& row = rows_[node.value()];
  int16_t max_idle = 0;
  uint8_t full_idle = 0;
  for (int16_t idle : device_milli_idle(node)) {
    max_idle = std::max(max_idle, idle);
    full_idle = static_cast<uint8_t>(full_idle + (idle == kDeviceMilli ? 1 : 0));
  }
  row.gpu_milli_idle_max = max_idle;
  row.gpu_full_idle = full_idle;
  if (!any_mig() || !has_mig(node)) return;
  DeviceSet usable;
  for (size_t d = 0; d < row.gpu_count; ++d) {
    const bool free = device_mig_[row.device_begin + d] != 0 ||
                      device_idle_[row.device_begin + d] == kDeviceMilli;
    usable |= free ? DeviceSet::Of(d) : DeviceSet();
  }
  if (row.is_mixed()) usable &= MixedMigGpus(node);
  mig_usable_[node.value()] = usable;
}

void ClusterState::ChargeInstance(NodeId node, const DeviceGrant& grant, int sign) {
  NodeRow& row = rows_[node.value()];
  const MigTable* const table = mig_table(node, grant.device);
  DRASIM_CHECK(table != nullptr);
  const uint32_t device = row.device_begin + grant.device;
  MigState& state = device_mig_[device];
  const MigPlacement& placement = table->placements()[grant.placement];
  const int16_t whole = MilliOfUnits(std::popcount(placement.units), table->product().units);
  if (grant.milli < whole) {
    // Several pods share the instance: the first pod creates it, the last one removes it.
    const auto key = std::make_pair(device, grant.placement);
    int32_t& held = shared_instances_[key];
    const int32_t before = held;
    held += sign * grant.milli;
    DRASIM_CHECK(held >= 0 && held <= whole);
    const bool appears = sign > 0 && before == 0;
    const bool leaves = sign < 0 && held == 0;
    if (held == 0) shared_instances_.erase(key);
    if (!appears && !leaves) return;
  }
  const bool there = (table->set(state) >> grant.placement & 1) != 0;
  DRASIM_CHECK_EQ(there, sign < 0);
  DRASIM_CHECK(state != 0 || device_idle_[device] == kDeviceMilli);
  state = sign > 0 ? table->Place(state, grant.placement) : table->Remove(state, grant.placement);
  DRASIM_CHECK(state != kNoMigState);
  // A partitioned device is closed to everything but MIG instances.
  const auto idle = static_cast<int16_t>(state == 0 ? kDeviceMilli : 0);
  row.gpu_milli_idle += idle - device_idle_[device];
  device_idle_[device] = idle;
}

void ClusterState::ChargeGrants(NodeId node, absl::Span<const DeviceGrant> grants, int sign) {
  NodeRow& row = rows_[node.value()];
  for (const DeviceGrant& grant : grants) {
    DRASIM_CHECK_LT(grant.device, row.gpu_count);
    if (grant.placement != kNoPlacement) {
      ChargeInstance(node, grant, sign);
      continue;
    }
    int16_t& idle = device_idle_[row.device_begin + grant.device];
    idle = static_cast<int16_t>(idle - sign * grant.milli);
    row.gpu_milli_idle -= sign * grant.milli;
    DRASIM_CHECK(idle >= 0 && idle <= kDeviceMilli);
  }
  CountDevices(node);
}

void ClusterState::Grant(PodId pod, DeviceSet devices, absl::Span<const DeviceGrant> grants) {
  DRASIM_CHECK(pod_phase(pod) == PodPhase::kBound && pod_devices(pod).empty());
  if (grants.empty()) return;
  const NodeId node = pod_node(pod);
  const NodeRow& row = rows_[node.value()];
  const bool was_in_use = NodeInUse(row, node);
  const int busy_before = row.gpu_count - row.gpu_full_idle;
  ChargeGrants(node, grants, +1);
  CountUnasked(pod_shape(pod).request, grants, +1);
  SetPlacement(pod, PodPhase::kBound, node, devices, grants);
  CountUse(node, was_in_use, busy_before);
  Touch(node);
}

void ClusterState::CountUnasked(const ResourceRequest& request,
                                absl::Span<const DeviceGrant> grants, int sign) {
  if (request.total_gpu_milli() != 0) return;
  for (const DeviceGrant& grant : grants)
    totals_.gpu_milli_allocated += int64_t{sign} * grant.milli;
}

void ClusterState::TakeGrants(PodId pod) {
  const NodeId node = pod_node(pod);
  const NodeRow& row = rows_[node.value()];
  const bool was_in_use = NodeInUse(row, node);
  const int busy_before = row.gpu_count - row.gpu_full_idle;
  ChargeGrants(node, pod_grants(pod), -1);
  CountUnasked(pod_shape(pod).request, pod_grants(pod), -1);
  CountUse(node, was_in_use, busy_before);
  Touch(node);
}

bool ClusterState::CanGrant(NodeId node, DeviceSet devices,
                            absl::Span<const DeviceGrant> grants) const {
  const NodeRow& row = rows_[node.value()];
  std::vector<int16_t> idle(device_milli_idle(node).begin(), device_milli_idle(node).end());
  std::vector<MigState> states(row.gpu_count);
  if (any_mig() && has_mig(node)) {
    states.assign(device_mig(node).begin(), device_mig(node).end());
  }
  DeviceSet named;
  for (const DeviceGrant& g : grants) {
    if (g.device >= row.gpu_count || g.milli <= 0 || g.milli > kDeviceMilli) return false;
    named.Add(g.device);
    if (g.placement == kNoPlacement) {
      idle[g.device] = static_cast<int16_t>(idle[g.device] - g.milli);
      if (idle[g.device] < 0 || states[g.device] != 0) return false;
      continue;
    }
    const MigTable* const table = any_mig() ? mig_table(node, g.device) : nullptr;
    if (table == nullptr || g.placement >= table->placements().size()) return false;
    MigState& state = states[g.device];
    if (state == 0 && idle[g.device] != kDeviceMilli) return false;
    const int16_t whole =
        MilliOfUnits(std::popcount(table->placements()[g.placement].units), table->product().units);
    const auto shared = shared_instances_.find({row.device_begin + g.device, g.placement});
    int held = shared == shared_instances_.end() ? 0 : shared->second;
    for (const DeviceGrant* before = grants.data(); before != &g; ++before) {
      const bool same = before->device == g.device && before->placement == g.placement;
      held += same ? before->milli : 0;
    }
    if (held + g.milli > whole) return false;
    if (held > 0) continue;
    if ((table->set(state) >> g.placement & 1) != 0) return false;
    state = table->Place(state, g.placement);
    if (state == kNoMigState) return false;
    idle[g.device] = 0;
  }
  return named == devices;
}

bool ClusterState::CanPlace(ShapeId shape_id, NodeId node, DeviceSet devices,
                            absl::Span<const DeviceGrant> grants) const {
  if (!CanHold(shape_id, node, devices, grants)) return false;
  return shape_id.value() >= counted_.size() ||
         (LackingExtended(shape_id, node) == 0 && GroupHasRoom(shape_id, node));
}

bool ClusterState::CanHold(ShapeId shape_id, NodeId node, DeviceSet devices,
                           absl::Span<const DeviceGrant> grants) const {
  if (shape_id.value() >= shapes_->size() || node.value() >= rows_.size()) return false;
  const ResourceRequest& request = shapes_->row(shape_id).request;
  const NodeRow& row = rows_[node.value()];
  return row.available && HasRoom(request, row) && CanHoldDevices(request, node, devices, grants);
}

bool ClusterState::CanHoldDevices(const ResourceRequest& request, NodeId node, DeviceSet devices,
                                  absl::Span<const DeviceGrant> grants) const {
  if (!grants.empty()) return CanGrant(node, devices, grants);
  const NodeRow& row = rows_[node.value()];
  if (devices.size() != request.gpu_count) return false;
  for (const size_t device : devices) {
    if (device >= row.gpu_count || device_idle_[row.device_begin + device] < request.gpu_milli)
      return false;
  }
  return true;
}

void ClusterState::SetExtendedCapacity(NodeId node, size_t column, int64_t amount) {
  const size_t i = size_t{node.value()} * extended_names_.size() + column;
  if (extended_capacity_[i] == amount) return;
  nodes_with_extended_[column] -= extended_capacity_[i] > 0;
  nodes_with_extended_[column] += amount > 0;
  extended_idle_[i] += amount - extended_capacity_[i];
  extended_capacity_[i] = amount;
  Touch(node);
}

bool ClusterState::AnyNodeReports(absl::string_view resource) const {
  const auto name = std::find(extended_names_.begin(), extended_names_.end(), resource);
  if (name == extended_names_.end()) return false;
  return nodes_with_extended_[static_cast<size_t>(name - extended_names_.begin())] > 0;
}

void ClusterState::ServeByClaims(size_t column, bool served) {
  if (served_by_claims_.size() <= column) served_by_claims_.resize(column + 1);
  if (served_by_claims_[column] == served) return;
  served_by_claims_[column] = served;
  for (size_t n = 0; n < node_count(); ++n) Touch(NodeId(n));
}

}  // namespace drasim
