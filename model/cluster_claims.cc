// Cluster state: the devices that drivers publish and claims hold.

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "absl/container/btree_map.h"
#include "model/check.h"
#include "model/claim_devices_log.h"
#include "model/cluster_state.h"
#include "model/slice_facts.h"

namespace drasim {

const DeviceInventory& ClusterState::inventory() const { return claims_->inventory; }

DeviceColumns& ClusterState::device_columns() { return claims_->inventory.columns(); }

// --- parts of GPUs ---

void ClusterState::LeavePartsToPods() { claims_->parts_are_pods = true; }

void ClusterState::ChargeGpus(NodeId node, const DeviceGrant& part, int sign) {
  const NodeRow& row = rows_[node.value()];
  const bool was_in_use = NodeInUse(row, node);
  const int busy_before = row.gpu_count - row.gpu_full_idle;
  ChargeGrants(node, absl::MakeConstSpan(&part, 1), sign);
  totals_.gpu_milli_allocated += int64_t{sign} * part.milli;
  CountUse(node, was_in_use, busy_before);
}

void ClusterState::ChargePart(InventoryRow row, int sign) {
  DeviceInventory& inventory = claims_->inventory;
  ChargeGpus(inventory.node_of(row), *inventory.published(row)->part, sign);
  inventory.SetCharged(row, sign > 0);
}

ClusterState::InventoryRows ClusterState::UnchargeParts(const InventoryRows& rows) {
  InventoryRows charged;
  for (const InventoryRow row : rows) {
    if (!claims_->inventory.use(row).charged) continue;
    ChargePart(row, -1);
    charged.push_back(row);
  }
  return charged;
}

void ClusterState::ChargeParts(const InventoryRows& rows) {
  if (claims_->parts_are_pods) return;
  const DeviceInventory& inventory = claims_->inventory;
  for (const InventoryRow row : rows) {
    const SliceDevice* const device = inventory.published(row);
    const bool has_part = device != nullptr && device->part.has_value();
    const bool wants = has_part && inventory.use(row).is_held() && !inventory.use(row).charged;
    if (wants && PartsFit({row})) ChargePart(row, +1);
  }
}

bool ClusterState::PartsFit(const InventoryRows& rows) const {
  if (claims_->parts_are_pods) return true;
  const DeviceInventory& inventory = claims_->inventory;
  absl::btree_map<NodeId, DeviceGrants> wanted;
  for (const InventoryRow row : rows) {
    const SliceDevice* const device = inventory.published(row);
    if (device == nullptr || !device->part.has_value()) continue;
    wanted[inventory.node_of(row)].push_back(*device->part);
  }
  return std::all_of(wanted.begin(), wanted.end(), [this](const auto& of_node) {
    const auto& [node, grants] = of_node;
    DeviceSet devices;
    for (const DeviceGrant& grant : grants) devices.Add(grant.device);
    return rows_[node.value()].available && CanGrant(node, devices, grants);
  });
}

ClusterState::InventoryRows ClusterState::HeldOn(NodeId node) const {
  InventoryRows rows;
  for (const InventoryRow row : claims_->inventory.held()) {
    if (claims_->inventory.node_of(row) == node) rows.push_back(row);
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

// --- transitions ---

void ClusterState::TouchAll(std::vector<NodeId> nodes) {
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  for (const NodeId node : nodes) {
    if (node.valid()) Touch(node);
  }
  version_ = ++versions_;
}

void ClusterState::FindNodeAndParts(const SliceFacts& facts, InventorySlice* slice) const {
  const auto found = node_index_.find(facts.node_name);
  if (found == node_index_.end()) return;
  slice->node = NodeId(found->second);
  for (size_t i = 0; i < facts.devices.size(); ++i) {
    const GpuFacts& gpu = facts.devices[i].gpu;
    if (gpu.gpu < 0 || gpu.gpu >= rows_[found->second].gpu_count) continue;
    DeviceGrant part;
    part.device = static_cast<uint8_t>(gpu.gpu);
    part.milli = kDeviceMilli;
    if (!gpu.profile.empty()) {
      const MigTable* const table =
          any_mig() ? mig_table(slice->node, static_cast<size_t>(gpu.gpu)) : nullptr;
      const int profile = table == nullptr ? -1 : table->FindProfile(gpu.profile);
      if (profile < 0) continue;
      const int placement = table->FindPlacement(static_cast<size_t>(profile), gpu.start);
      if (placement < 0) continue;
      const MigPlacement& of = table->placements()[static_cast<size_t>(placement)];
      part.placement = static_cast<uint8_t>(placement);
      part.milli = MilliOfUnits(std::popcount(of.units), table->product().units);
    }
    slice->devices[i].part = part;
  }
}

void ClusterState::ChangeSlice(SliceId id, std::shared_ptr<const InventorySlice> slice) {
  DeviceInventory& inventory = claims_->inventory;
  std::vector<std::pair<PoolId, int64_t>> generations;
  ClaimDevicesChange change;
  for (const SliceRef& each : {inventory.slice(id), slice}) {
    if (each == nullptr) continue;
    change.nodes.push_back(each->node);
    const bool known = !generations.empty() && generations[0].first == each->pool;
    if (known) continue;
    const DevicePool& pool = inventory.pools()[each->pool.value()];
    generations.emplace_back(each->pool, pool.generation);
    if (pool.held == 0) continue;
    for (const InventoryRow row : pool.rows) {
      if (inventory.use(row).is_held()) change.rows.push_back(row);
    }
  }
  change.charged = UnchargeParts(change.rows);
  change.undo = inventory.SetSlice(id, std::move(slice));
  ChargeParts(change.rows);
  // Another generation replaces the pool as a whole.
  for (const auto& [pool, before] : generations) {
    const DevicePool& now = inventory.pools()[pool.value()];
    if (now.generation == before) continue;
    for (const SliceId other : now.slices) change.nodes.push_back(inventory.slice(other)->node);
  }
  TouchAll(change.nodes);
  Remember(std::move(change));
}

SliceId ClusterState::PublishSlice(const SliceFacts& facts) {
  const SliceId id = claims_->inventory.AddSlice();
  ReplaceSlice(id, facts);
  return id;
}

void ClusterState::ReplaceSlice(SliceId slice, const SliceFacts& facts) {
  InventorySlice read = claims_->inventory.InternSlice(facts);
  FindNodeAndParts(facts, &read);
  ChangeSlice(slice, std::make_shared<const InventorySlice>(std::move(read)));
}

void ClusterState::WithdrawSlice(SliceId slice) { ChangeSlice(slice, nullptr); }

// Versions stay, since those of the state that was loaded count the publication already.
std::vector<SliceId> ClusterState::RestoreSlices(absl::Span<const SliceFacts> slices) {
  DeviceInventory& inventory = claims_->inventory;
  const InventoryRows held(inventory.held().begin(), inventory.held().end());
  UnchargeParts(held);
  for (size_t i = 0; i < inventory.slice_count(); ++i) {
    if (inventory.slice(SliceId(i)) != nullptr) inventory.SetSlice(SliceId(i), nullptr);
  }
  std::vector<SliceId> ids;
  for (const SliceFacts& facts : slices) {
    InventorySlice read = inventory.InternSlice(facts);
    FindNodeAndParts(facts, &read);
    ids.push_back(inventory.AddSlice());
    inventory.SetSlice(ids.back(), std::make_shared<const InventorySlice>(std::move(read)));
  }
  ChargeParts(std::exchange(claims_->charged, {}));
  return ids;
}

void ClusterState::SetHolding(const DeviceHolder& holder, DeviceHolding holding) {
  DeviceInventory& inventory = claims_->inventory;
  ClaimDevicesChange change;
  const auto found = inventory.holders().find(holder);
  const bool leaves = found != inventory.holders().end();
  for (const DeviceHold& hold : leaves ? found->second.holds : holding.holds) {
    change.rows.push_back(hold.row);
    change.nodes.push_back(inventory.node_of(hold.row));
  }
  change.charged = UnchargeParts(change.rows);
  const bool may_be_undone = !what_ifs_.empty();
  inventory.SetHolder(holder, std::move(holding), may_be_undone ? &change.undo : nullptr);
  ChargeParts(change.rows);
  if (!may_be_undone) return TouchAll(std::move(change.nodes));
  TouchAll(change.nodes);
  Remember(std::move(change));
}

bool ClusterState::HoldDevices(absl::string_view claim, bool pending,
                               absl::Span<const HoldFacts> devices) {
  ReleaseDevices(claim, pending);
  DeviceInventory& inventory = claims_->inventory;
  const DeviceHolder holder = {inventory.columns().texts().Intern(claim), pending};
  DeviceHolding holding;
  holding.holds = inventory.InternHolds(devices);
  if (holding.holds.empty()) return true;
  InventoryRows parts;
  for (const DeviceHold& hold : holding.holds) {
    if (!inventory.use(hold.row).charged) parts.push_back(hold.row);
  }
  holding.fits = inventory.CanHold(holder, holding.holds) && PartsFit(parts);
  const bool fits = holding.fits;
  SetHolding(holder, std::move(holding));
  return fits;
}

void ClusterState::ReleaseDevices(absl::string_view claim, bool pending) {
  const DeviceHolder holder = {claims_->inventory.columns().texts().Find(claim), pending};
  if (claims_->inventory.holders().contains(holder)) SetHolding(holder, DeviceHolding());
}

void ClusterState::Remember(ClaimDevicesChange change) {
  if (what_ifs_.empty()) return;
  undo_.emplace_back();  // of no pod
  claims_->undo.push_back(std::move(change));
}

void ClusterState::UndoDevices() {
  DRASIM_CHECK(!claims_->undo.empty());
  const ClaimDevicesChange change = std::move(claims_->undo.back());
  claims_->undo.pop_back();
  UnchargeParts(change.rows);
  claims_->inventory.Undo(change.undo);
  ChargeParts(change.charged);
  TouchAll(change.nodes);
}

}  // namespace drasim
