#include "policies/allocator/shared_answers.h"

#include <algorithm>

namespace drasim {
namespace {

// Long simulations see ever new states and claims; these bound what is remembered.
constexpr size_t kMaxStates = size_t{1} << 18;
constexpr size_t kMaxPlans = 64;

}  // namespace

void AnswersByState::Keep(uint32_t state, AllocationOutcome outcome, int64_t steps) {
  if (state >= outcomes_.size()) {
    outcomes_.resize(std::max<size_t>(state + 1, 2 * outcomes_.size()), kUnknown);
  }
  outcomes_[state] = static_cast<uint8_t>(outcome);
  if (steps == 0) return;
  if (state >= steps_.size()) steps_.resize(outcomes_.size());
  steps_[state] = steps;
}

std::shared_ptr<AnswersByState> SharedAnswers::For(
    const std::string& content, const std::shared_ptr<SelectorVerdicts>& verdicts) {
  const bool full = plans_.size() >= kMaxPlans && !plans_.contains(content);
  if (verdicts_ != verdicts || full) plans_.clear();
  verdicts_ = verdicts;
  std::shared_ptr<AnswersByState>& answers = plans_[content];
  if (answers == nullptr) answers = std::make_shared<AnswersByState>();
  return answers;
}

bool SharedAnswers::Trim(size_t nodes) {
  const size_t most = std::max(kMaxStates, 4 * nodes);
  if (node_contents_.size() <= most && pool_contents_.size() <= most) return false;
  node_contents_.Clear();
  pool_contents_.Clear();
  plans_.clear();
  ++generation_;
  return true;
}

}  // namespace drasim
