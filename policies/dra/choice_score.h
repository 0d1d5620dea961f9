// Scores of nodes where the allocator has a policy: prioritised lists and the policy's ranks in one
// column, so that a raw score still belongs to its node alone.
#ifndef DRASIM_POLICIES_DRA_CHOICE_SCORE_H_
#define DRASIM_POLICIES_DRA_CHOICE_SCORE_H_

#include <cstdint>

#include "absl/types/span.h"

namespace drasim {

// Ranks are at most kWorstChoiceRank (policies/allocator/choice.h). A raw score holds both.
// REQUIRES: 0 <= claims < 2^15, 0 <= rank <= kWorstChoiceRank.
int64_t RawChoiceScore(int64_t claims, int64_t rank);

// Turns raw scores into scores from 0 to 100: those of the lists as upstream normalises them, those
// of the policy from 100 for the best rank among the nodes to 0 for the worst, in proportion; then
// the mean by weight. REQUIRES: a weight is positive. O(nodes).
void NormalizeChoiceScores(int64_t lists_weight, int64_t policy_weight, absl::Span<int64_t> scores);

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRA_CHOICE_SCORE_H_
