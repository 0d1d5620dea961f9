#include "policies/allocator/held_devices.h"

#include <algorithm>

namespace drasim {
namespace {

// As many as SharedAnswers remembers.
constexpr size_t kMaxOutcomes = 64;

}  // namespace

absl::Status HeldDevices::Sync(const DeviceInventory& inventory) {
  changed_.clear();
  std::optional<absl::Span<const InventoryRow>> rows;
  if (synced_.has_value()) rows = inventory.ChangedSince(*synced_);
  if (rows.has_value()) {
    for (const InventoryRow row : *rows) index_.Sync(inventory, row, &changed_);
  } else if (synced_.has_value()) {
    for (size_t i = 0; i < inventory.row_count(); ++i) {
      index_.Sync(inventory, InventoryRow(i), &changed_);
    }
  } else {
    for (const InventoryRow row : inventory.held()) index_.Sync(inventory, row, &changed_);
  }
  synced_ = inventory.use_changes();
  std::sort(changed_.begin(), changed_.end());
  changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
  states_.PoolsChanged(changed_);
  return index_.status();
}

void HeldDevices::SetNodes(std::vector<const NodeView*> nodes) {
  nodes_ = std::move(nodes);
  node_of_view_.clear();
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const size_t view = nodes_[i]->id;
    if (node_of_view_.size() <= view) node_of_view_.resize(view + 1);
    node_of_view_[view] = NodeId(i);
  }
  outcomes_.clear();
}

NodeOutcomes& HeldDevices::OutcomesFor(const std::shared_ptr<AnswersByState>& answers) {
  if (outcomes_.size() >= kMaxOutcomes && !outcomes_.contains(answers)) outcomes_.clear();
  return outcomes_[answers];
}

}  // namespace drasim
