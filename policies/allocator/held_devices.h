// HeldDevices: the devices that claims hold, kept from one scheduling cycle to the next.
//
//   HeldDevices held(pools);
//   RETURN_IF_ERROR(held.Add(use_of_claim));   // a claim is allocated
//   held.Remove(use_of_claim);                 // and deallocated
//
// It lives as long as the pools, which is until a slice changes.
#ifndef DRASIM_POLICIES_ALLOCATOR_HELD_DEVICES_H_
#define DRASIM_POLICIES_ALLOCATOR_HELD_DEVICES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "model/device_inventory.h"
#include "model/ids.h"
#include "model/status_macros.h"
#include "policies/allocator/device_use.h"
#include "policies/allocator/node_outcomes.h"
#include "policies/allocator/node_pools.h"
#include "policies/allocator/node_states.h"
#include "policies/allocator/shared_answers.h"
#include "policies/allocator/use_index.h"

namespace drasim {

class HeldDevices {
 public:
  explicit HeldDevices(std::shared_ptr<NodePools> pools)
      : pools_(std::move(pools)),
        index_(pools_->shared_catalog()),
        states_(pools_.get(), &index_) {}
  HeldDevices(const HeldDevices&) = delete;
  HeldDevices& operator=(const HeldDevices&) = delete;

  // OutOfRange for consumed capacities beyond 10^24; nothing has changed then. O(use + nodes that
  // see the devices).
  absl::Status Add(const DeviceUse& use) {
    ASSIGN_OR_RETURN(const std::vector<uint32_t> pools, index_.Add(use));
    states_.PoolsChanged(pools);
    return absl::OkStatus();
  }
  // REQUIRES: was added before, be it together with others.
  void Remove(const DeviceUse& use) { states_.PoolsChanged(index_.Remove(use)); }

  // Takes over what the claims of an inventory hold, which is that of the catalog: all at first,
  // later what has changed since. OutOfRange while a device has more consumed than 10^24. The
  // alternative to Add and Remove. O(changes).
  absl::Status Sync(const DeviceInventory& inventory);
  // Changes of the inventory that the latest Sync knew (DeviceInventory::use_changes).
  uint64_t synced() const { return synced_.value_or(0); }

  // All nodes of a cluster, by number, as views of the pools: for StructuredAllocator::DecideNodes.
  void SetNodes(std::vector<const NodeView*> nodes);
  absl::Span<const NodeView* const> nodes() const { return nodes_; }
  // Invalid for a view that is not among them.
  NodeId NodeOf(uint32_t view) const {
    return view < node_of_view_.size() ? node_of_view_[view] : NodeId();
  }
  // Outcomes of the nodes for claims with these answers (SharedAnswers); no longer valid after
  // the next call with others.
  NodeOutcomes& OutcomesFor(const std::shared_ptr<AnswersByState>& answers);

  NodePools& pools() const { return *pools_; }
  const UseIndex& index() const { return index_; }
  NodeStates& states() { return states_; }

 private:
  std::shared_ptr<NodePools> pools_;
  UseIndex index_;
  NodeStates states_;
  std::optional<uint64_t> synced_;  // changes of the inventory
  std::vector<uint32_t> changed_;   // scratch
  std::vector<const NodeView*> nodes_;
  std::vector<NodeId> node_of_view_;  // by NodeView::id
  absl::flat_hash_map<std::shared_ptr<AnswersByState>, NodeOutcomes> outcomes_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_HELD_DEVICES_H_
