// NodeStates: the states of nodes as numbers, kept while the use of devices changes.
//
// Two nodes are in the same state if their pools are equal but for the names of nodes, pools,
// slices and devices: in the order of the search, devices of the same kinds with the same places,
// counters and groups, held in the same way. Any claims then get the same answer on both.
//
//   NodeStates states(pools.get(), &use);
//   if (states.StateOf(pools->ViewOf(a)) == states.StateOf(pools->ViewOf(b))) ...
#ifndef DRASIM_POLICIES_ALLOCATOR_NODE_STATES_H_
#define DRASIM_POLICIES_ALLOCATOR_NODE_STATES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "policies/allocator/node_pools.h"
#include "policies/allocator/use_index.h"

namespace drasim {

class NodeStates {
 public:
  // Both outlive it.
  NodeStates(NodePools* pools, const UseIndex* use) : pools_(*pools), use_(*use) {}

  // O(1) while the use of the node's pools stays the same, else O(their devices).
  uint32_t StateOf(const NodeView& node) {
    if (node.id < states_.size() && states_[node.id] != kUnknown) return states_[node.id];
    return Find(node);
  }

  // Must be told of pools of the catalog whose use has changed. O(nodes that see them).
  void PoolsChanged(absl::Span<const uint32_t> pools);

  // Calls of PoolsChanged and Refresh that have forgotten known states, and the nodes concerned,
  // counted from the beginning.
  uint64_t changes() const { return first_change_ + changes_.size(); }
  // The nodes, by NodeView::id, of the changes after the first `since`, some perhaps several times;
  // none if that is too long ago. Valid until the next change.
  std::optional<absl::Span<const uint32_t>> ChangedSince(uint64_t since) const {
    if (since < first_change_) return std::nullopt;
    return absl::MakeConstSpan(changes_).subspan(since - first_change_);
  }

  // Must be called before the states of a decision are asked for: numbers that have lost their
  // meaning are forgotten. O(1) otherwise.
  void Refresh();

 private:
  static constexpr uint32_t kUnknown = ~uint32_t{0};

  void Forget(uint32_t node);
  uint32_t Find(const NodeView& node);
  uint32_t FreeStateOf(const NodeView& node);
  uint32_t PoolStateOf(const PoolView& pool);
  uint32_t ShapeOf(const PoolView& pool);
  std::vector<uint64_t> ShapeContent(const PoolView& pool) const;
  std::vector<uint64_t> NodeContent(const NodeView& node, bool free);

  NodePools& pools_;
  const UseIndex& use_;
  uint64_t generation_ = 0;
  std::vector<uint32_t> states_;       // by NodeView::id
  std::vector<uint32_t> pool_states_;  // by PoolView::id
  std::vector<uint32_t> changes_;      // the latest
  uint64_t first_change_ = 0;          // its number
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_NODE_STATES_H_
