// SharedAnswers: decisions that nodes in the same state share.
//
// A node's state is a number (NodeStates). Everything that a search on the node depends on is part
// of the state's content, so the answer for one node holds for all nodes of its state. What errors
// say is not kept, for they name devices and pools.
#ifndef DRASIM_POLICIES_ALLOCATOR_SHARED_ANSWERS_H_
#define DRASIM_POLICIES_ALLOCATOR_SHARED_ANSWERS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "policies/allocator/allocation_outcome.h"
#include "policies/allocator/choice.h"
#include "policies/allocator/selector_verdicts.h"

namespace drasim {

// Dense numbers for contents: equal numbers mean equal contents.
class ContentIds {
 public:
  // O(length).
  uint32_t IdOf(std::vector<uint64_t> content) {
    return ids_.try_emplace(std::move(content), static_cast<uint32_t>(ids_.size())).first->second;
  }
  size_t size() const { return ids_.size(); }
  void Clear() { ids_.clear(); }

 private:
  absl::flat_hash_map<std::vector<uint64_t>, uint32_t> ids_;
};

// The answers for some claims, by state.
class AnswersByState {
 public:
  // O(1).
  std::optional<AllocationOutcome> Of(uint32_t state) const {
    if (state >= outcomes_.size() || outcomes_[state] == kUnknown) return std::nullopt;
    return static_cast<AllocationOutcome>(outcomes_[state]);
  }
  // Steps of the search behind a known answer; 0 unless they are counted.
  int64_t StepsOf(uint32_t state) const { return state < steps_.size() ? steps_[state] : 0; }
  void Keep(uint32_t state, AllocationOutcome outcome, int64_t steps);

  // The choice of the policy; null: not yet known. O(1).
  const Choice* ChoiceOf(uint32_t state) const {
    const auto known = choices_.find(state);
    return known == choices_.end() ? nullptr : &known->second;
  }
  void KeepChoice(uint32_t state, const Choice& choice) { choices_[state] = choice; }

 private:
  static constexpr uint8_t kUnknown = 255;

  std::vector<uint8_t> outcomes_;
  std::vector<int64_t> steps_;
  absl::flat_hash_map<uint32_t, Choice> choices_;
};

// The answers for all claims that were asked for, with the numbers of states: as long as the slices
// stay the same.
class SharedAnswers {
 public:
  // The answers for claims whose plans have the same content (ClaimPlan::Content), decided with
  // these verdicts. Valid until Trim returns true.
  std::shared_ptr<AnswersByState> For(const std::string& content,
                                      const std::shared_ptr<SelectorVerdicts>& verdicts);

  // Forgets everything if it is too much for a cluster of `nodes` nodes. True if it did: numbers of
  // states have lost their meaning, and generation() has grown.
  bool Trim(size_t nodes);
  uint64_t generation() const { return generation_; }

  ContentIds& node_contents() { return node_contents_; }
  ContentIds& pool_contents() { return pool_contents_; }

 private:
  ContentIds node_contents_;
  ContentIds pool_contents_;
  // Ids of selectors are part of a plan's content, and they belong to the verdicts.
  std::shared_ptr<SelectorVerdicts> verdicts_;
  absl::flat_hash_map<std::string, std::shared_ptr<AnswersByState>> plans_;
  uint64_t generation_ = 0;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_SHARED_ANSWERS_H_
