// NodeOutcomes: the outcomes of some claims on all nodes of a cluster, by number, kept while the
// use of devices changes.
#ifndef DRASIM_POLICIES_ALLOCATOR_NODE_OUTCOMES_H_
#define DRASIM_POLICIES_ALLOCATOR_NODE_OUTCOMES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "model/ids.h"
#include "policies/allocator/allocation_outcome.h"

namespace drasim {

class NodeOutcomes {
 public:
  size_t size() const { return outcomes_.size(); }
  AllocationOutcome Of(NodeId node) const { return outcomes_[node.value()]; }
  // Ascending; valid until the next change.
  absl::Span<const NodeId> fitting() const { return fitting_; }
  absl::Span<const NodeId> others() const { return others_; }
  // Nodes with kError, which ends an attempt.
  size_t errors() const { return errors_; }

  // O(nodes).
  void SetAll(std::vector<AllocationOutcome> outcomes) {
    outcomes_ = std::move(outcomes);
    fitting_.clear();
    others_.clear();
    errors_ = 0;
    for (size_t i = 0; i < outcomes_.size(); ++i) {
      ListOf(outcomes_[i])->push_back(NodeId(i));
      errors_ += outcomes_[i] == AllocationOutcome::kError ? size_t{1} : size_t{0};
    }
  }
  // O(1) if the node goes on to fit, or not to fit; else O(nodes), at the speed of memmove.
  void Set(NodeId node, AllocationOutcome outcome) {
    AllocationOutcome& known = outcomes_[node.value()];
    errors_ -= known == AllocationOutcome::kError ? 1 : 0;
    errors_ += outcome == AllocationOutcome::kError ? 1 : 0;
    std::vector<NodeId>* const from = ListOf(known);
    std::vector<NodeId>* const to = ListOf(outcome);
    known = outcome;
    if (from == to) return;
    from->erase(std::lower_bound(from->begin(), from->end(), node));
    to->insert(std::lower_bound(to->begin(), to->end(), node), node);
  }

  // Changes of states (NodeStates::changes) taken into account so far; none: never.
  std::optional<uint64_t> seen;

 private:
  std::vector<NodeId>* ListOf(AllocationOutcome outcome) {
    return outcome == AllocationOutcome::kAllocated ? &fitting_ : &others_;
  }

  std::vector<AllocationOutcome> outcomes_;  // by node
  std::vector<NodeId> fitting_;
  std::vector<NodeId> others_;
  size_t errors_ = 0;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_NODE_OUTCOMES_H_
