// Cluster state: invariant checks, saving and loading.

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "model/claim_devices_log.h"
#include "model/cluster_state.h"
#include "model/device_set.h"
#include "model/status_macros.h"

namespace drasim {

namespace {

// Marks beside a pod's phase in checkpoints.
constexpr uint64_t kCrowded = 8;   // on an overcommitted node
constexpr uint64_t kStarted = 16;  // its start time follows
static_assert(kLastPodPhase < kCrowded);

}  // namespace

absl::Status ClusterState::CheckInvariants() const {
  GpuModelTable models = *models_;
  ClusterState fresh(&models, shapes_);
  fresh.extended_names_ = extended_names_;  // in this order
  for (const NodeSpec& spec : specs_) {
    ASSIGN_OR_RETURN(NodeId added, fresh.AddNode(spec));
    fresh.SetAvailable(added, rows_[added.value()].available);
  }
  for (size_t n = 0; n < rows_.size(); ++n) {
    for (size_t e = 0; e < extended_names_.size(); ++e) {
      fresh.SetExtendedCapacity(NodeId(n), e, extended_capacity(NodeId(n), e));
    }
  }
  for (size_t i = 0; i < pod_count(); ++i) {
    const PodId pod(i);
    fresh.AddPod("", pod_shape_[i], 0, SimTime());
    const bool holds = pod_phase_[i] == PodPhase::kAssumed || pod_phase_[i] == PodPhase::kBound;
    if (holds != pod_node_[i].valid()) {
      return absl::InternalError(
          absl::StrCat("pod '", pod_name(pod), "': phase and node disagree"));
    }
    if (!holds) continue;
    fresh.PutBack(pod, pod_node_[i], pod_devices_[i], pod_grants(pod),
                  pod_phase_[i] == PodPhase::kBound);
  }
  RETURN_IF_ERROR(claims_->inventory.Check());
  for (const InventoryRow row : claims_->inventory.held()) {
    if (!claims_->inventory.use(row).charged) continue;
    fresh.ChargeGpus(claims_->inventory.node_of(row), *claims_->inventory.published(row)->part, +1);
  }
  for (size_t n = 0; n < rows_.size(); ++n) {
    const NodeRow& a = rows_[n];
    const NodeRow& b = fresh.rows_[n];
    const bool same =
        a.cpu_milli_idle == b.cpu_milli_idle && a.memory_bytes_idle == b.memory_bytes_idle &&
        a.pods_idle == b.pods_idle && a.gpu_milli_idle == b.gpu_milli_idle &&
        a.gpu_milli_idle_max == b.gpu_milli_idle_max && a.gpu_full_idle == b.gpu_full_idle &&
        a.resident_tags == b.resident_tags && a.resident_gpu_pods == b.resident_gpu_pods &&
        node_pods_[n].size() == fresh.node_pods_[n].size() &&
        device_milli_idle(NodeId(n)) == fresh.device_milli_idle(NodeId(n));
    if (!same) {
      return absl::InternalError(
          absl::StrCat("node '", specs_[n].name, "': columns differ from what its pods request"));
    }
  }
  if (tag_count_ != fresh.tag_count_) {
    return absl::InternalError("kinds of GPU use differ from those of the resident pods");
  }
  if (device_mig_ != fresh.device_mig_ || mig_usable_ != fresh.mig_usable_ ||
      shared_instances_ != fresh.shared_instances_) {
    return absl::InternalError("MIG instances differ from what pods hold");
  }
  if (scored_cpu_ != fresh.scored_cpu_ || scored_memory_ != fresh.scored_memory_ ||
      extended_idle_ != fresh.extended_idle_ || group_pods_ != fresh.group_pods_)
    return absl::InternalError("extended resources or groups differ from what pods request");
  std::vector<size_t> reporting(extended_names_.size());
  for (size_t i = 0; i < extended_capacity_.size(); ++i) {
    reporting[i % extended_names_.size()] += extended_capacity_[i] > 0;
  }
  if (reporting != nodes_with_extended_) {
    return absl::InternalError("nodes that report a resource were miscounted");
  }
  std::vector<NodeId> ordered = order_.by_zone();
  std::vector<NodeId> available = fresh.order_.by_zone();
  std::sort(ordered.begin(), ordered.end());
  std::sort(available.begin(), available.end());
  if (ordered != available) {
    return absl::InternalError("the order of nodes differs from the nodes that are available");
  }
  RETURN_IF_ERROR(counts_.Check());
  if (!(totals_ == fresh.totals_))
    return absl::InternalError("totals differ from the sum over nodes");
  return absl::OkStatus();
}

void ClusterState::Save(StateWriter& out) const {
  out.Section("cluster");
  out.U64(node_count());
  const std::vector<uint64_t> places = PlacesInOrder();
  for (size_t n = 0; n < node_count(); ++n) {
    out.Bool(rows_[n].schedulable);
    out.U64((rows_[n].available ? 1 : 0) | (places.empty() ? 0 : places[n] << 1));
  }
  for (int64_t amount : extended_capacity_) out.I64(amount);
  SavePods(out);
  out.U64(version_);
  out.U64(versions_);
  // The order of pods on a node breaks ties between preemption victims.
  for (const std::vector<PodId>& pods : node_pods_) {
    for (PodId pod : pods) out.U64(pod.value());
  }
  const bool any_claims = !claims_->inventory.holders().empty();
  out.Bool(any_claims);
  if (any_claims) claims_->inventory.Save(out);
}

// 1 + the place of each node in node_order(), zone by zone; 0 for those that are not available.
// Empty if nobody reads the order, or it follows from the nodes.
std::vector<uint64_t> ClusterState::PlacesInOrder() const {
  if (!order_matters_) return {};
  NodeOrder plain;
  for (size_t n = 0; n < node_count(); ++n) {
    if (rows_[n].available) plain.Add(NodeId(n), specs_[n]);
  }
  const std::vector<NodeId> nodes = order_.by_zone();
  if (plain.by_zone() == nodes) return {};
  std::vector<uint64_t> places(node_count());
  for (size_t i = 0; i < nodes.size(); ++i) places[nodes[i].value()] = i + 1;
  return places;
}

bool ClusterState::IsOvercommitted(NodeId node) const {
  const NodeRow& row = rows_[node.value()];
  return row.cpu_milli_idle < 0 || row.memory_bytes_idle < 0 || row.pods_idle < 0;
}

void ClusterState::SavePods(StateWriter& out) const {
  out.Rows(RowKind::kPod, pod_count(), [&](size_t i) {
    out.Str(pod_name(PodId(i)));
    out.U64(pod_shape_[i].value());
    const bool crowded = pod_node_[i].valid() && IsOvercommitted(pod_node_[i]);
    const bool started = pod_start(PodId(i)) != SimTime::Max();
    out.U64(static_cast<uint64_t>(pod_phase_[i]) | (crowded ? kCrowded : 0) |
            (started ? kStarted : 0));
    if (started) out.I64(pod_start(PodId(i)).ns());
    out.U64(pod_node_[i].valid() ? pod_node_[i].value() + uint64_t{1} : 0);
    out.U64(pod_devices_[i].bits());
    out.I64(pod_priority_[i]);
    out.I64(pod_arrival_[i].ns());
    out.U64(pod_grants(PodId(i)).size());
    for (const DeviceGrant& g : pod_grants(PodId(i))) {
      out.U64(uint64_t{g.device} << 32 | uint64_t{g.placement} << 16 |
              static_cast<uint16_t>(g.milli));
    }
  });
}

absl::Status ClusterState::Load(StateReader& in) {
  in.Section("cluster");
  // Those of the start.
  claims_->charged.clear();
  while (!claims_->inventory.holders().empty()) {
    SetHolding(DeviceHolder(claims_->inventory.holders().begin()->first), DeviceHolding());
  }
  if (in.U64() != node_count()) in.Fail("the number of nodes differs from the scenario's");
  std::vector<std::pair<uint64_t, NodeId>> ordered;
  for (size_t n = 0; n < node_count() && in.status().ok(); ++n) {
    const bool schedulable = in.Bool();
    if (schedulable != rows_[n].schedulable) SetSchedulable(NodeId(n), schedulable);
    const uint64_t word = in.U64();
    SetAvailable(NodeId(n), (word & 1) != 0);
    if (word >> 1 != 0) ordered.emplace_back(word >> 1, NodeId(n));
  }
  if (!ordered.empty() && in.status().ok()) LoadOrder(std::move(ordered), in);
  for (size_t i = 0; i < extended_capacity_.size() && in.status().ok(); ++i) {
    SetExtendedCapacity(NodeId(i / extended_names_.size()), i % extended_names_.size(), in.I64());
  }
  RETURN_IF_ERROR(LoadPods(in));
  version_ = in.U64();
  versions_ = in.U64();
  for (size_t n = 0; n < node_count() && in.status().ok(); ++n) {
    std::vector<PodId> order;
    for (size_t i = 0; i < node_pods_[n].size(); ++i) {
      const PodId pod(static_cast<size_t>(in.U64()));
      if (pod.value() >= pod_count() || pod_node(pod) != NodeId(n)) {
        in.Fail("the list of a node names a pod that is not there");
        break;
      }
      pod_slot_[pod.value()] = static_cast<uint32_t>(i);
      order.push_back(pod);
    }
    if (in.status().ok()) node_pods_[n] = std::move(order);
  }
  if (in.Bool()) LoadClaims(in);
  return in.status();
}

void ClusterState::LoadClaims(StateReader& in) {
  claims_->inventory.Load(in, &claims_->charged);
  if (in.status().ok()) ChargeParts(claims_->charged);
}

void ClusterState::LoadOrder(std::vector<std::pair<uint64_t, NodeId>> ordered, StateReader& in) {
  std::sort(ordered.begin(), ordered.end());
  order_ = NodeOrder();
  order_matters_ = true;
  ++nodes_version_;
  for (size_t i = 0; i < ordered.size(); ++i) {
    const auto& [place, node] = ordered[i];
    if (place != i + 1 || !rows_[node.value()].available) break;
    order_.Add(node, specs_[node.value()]);
  }
  if (order_.by_zone().size() != available_nodes_) {
    in.Fail("the order of nodes does not list the nodes that are available");
  }
}

absl::Status ClusterState::LoadPods(StateReader& in) {
  const size_t pods = in.Count();
  for (size_t i = 0; i < pods && in.status().ok(); ++i) {
    const std::string name = in.Str();
    const uint64_t shape = in.U64();
    const uint64_t word_of_phase = in.U64();
    const uint64_t phase = word_of_phase & ~(kCrowded | kStarted);
    const bool crowded = (word_of_phase & kCrowded) != 0;
    const bool started = (word_of_phase & kStarted) != 0;
    const SimTime start = started ? SimTime(in.I64()) : SimTime::Max();
    const uint64_t node = in.U64();
    const DeviceSet devices = DeviceSet::FromBits(in.U64());
    const auto priority = static_cast<int32_t>(in.I64());
    const SimTime arrival(in.I64());
    DeviceGrants grants;
    const size_t parts = in.Count();
    for (size_t g = 0; g < parts && in.status().ok(); ++g) {
      const uint64_t word = in.U64();
      if (word >> 40 != 0 || (word >> 24 & 0xff) != 0)
        in.Fail("a part of a device is out of range");
      grants.push_back({static_cast<uint8_t>(word >> 32), static_cast<uint8_t>(word >> 16),
                        static_cast<int16_t>(static_cast<uint16_t>(word))});
    }
    if (shape >= shapes_->size() || phase > kLastPodPhase || node > node_count()) {
      in.Fail("a pod names a shape, phase or node that does not exist");
      break;
    }
    const ShapeId shape_id(static_cast<size_t>(shape));
    const NodeId node_id = node > 0 ? NodeId(static_cast<size_t>(node - 1)) : NodeId();
    const auto to = static_cast<PodPhase>(phase);
    const PodId pod = AddPod(name, shape_id, priority, arrival);
    if (started) SetPodStart(pod, start);
    const bool holds = to == PodPhase::kAssumed || to == PodPhase::kBound;
    const bool given = shapes_->row(shape_id).request.gets_devices_from_node() && !grants.empty();
    const DeviceSet held = given ? DeviceSet() : devices;
    const absl::Span<const DeviceGrant> held_parts =
        given ? absl::Span<const DeviceGrant>() : absl::MakeConstSpan(grants);
    const bool fits =
        !holds || !node_id.valid() ||
        (crowded ? rows_[node_id.value()].available &&
                       CanHoldDevices(shapes_->row(shape_id).request, node_id, held, held_parts)
                 : CanHold(shape_id, node_id, held, held_parts));
    if (node_id.valid() != holds || (given && to != PodPhase::kBound) || !fits ||
        (given && !CanGrant(node_id, devices, grants))) {
      in.Fail(absl::StrCat("pod '", name, "' cannot be where the checkpoint puts it"));
      break;
    }
    if (!holds) {
      SetPlacement(pod, to, NodeId(), DeviceSet());
    } else {
      Charge(pod, node_id, held, held_parts, +1);
      SetPlacement(pod, to, node_id, held, held_parts);
      if (given) Grant(pod, devices, grants);
    }
  }
  return in.status();
}

}  // namespace drasim
