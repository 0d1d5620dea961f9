#include "policies/dra/choice_score.h"

#include <algorithm>

#include "absl/numeric/int128.h"
#include "model/check.h"
#include "policies/allocator/choice.h"

namespace drasim {
namespace {

constexpr int kRankBits = 48;
static_assert(kWorstChoiceRank == (int64_t{1} << kRankBits) - 1);
constexpr int64_t kMostScore = 100;

int64_t ClaimsOf(int64_t raw) { return raw >> kRankBits; }
int64_t RankOf(int64_t raw) { return raw & kWorstChoiceRank; }

}  // namespace

int64_t RawChoiceScore(int64_t claims, int64_t rank) {
  DRASIM_CHECK(claims >= 0 && claims < int64_t{1} << 15);
  DRASIM_CHECK(rank >= 0 && rank <= kWorstChoiceRank);
  return claims << kRankBits | rank;
}

void NormalizeChoiceScores(int64_t lists_weight, int64_t policy_weight,
                           absl::Span<int64_t> scores) {
  DRASIM_CHECK(lists_weight + policy_weight > 0);
  int64_t most_claims = 0;
  int64_t best = kWorstChoiceRank;
  int64_t worst = 0;
  for (const int64_t raw : scores) {
    most_claims = std::max(most_claims, ClaimsOf(raw));
    best = std::min(best, RankOf(raw));
    worst = std::max(worst, RankOf(raw));
  }
  for (int64_t& score : scores) {
    const int64_t lists = most_claims == 0 ? 0 : ClaimsOf(score) * kMostScore / most_claims;
    const int64_t policy = best == worst
                               ? kMostScore
                               : static_cast<int64_t>(absl::int128(worst - RankOf(score)) *
                                                      kMostScore / (worst - best));
    score = (lists_weight * lists + policy_weight * policy) / (lists_weight + policy_weight);
  }
}

}  // namespace drasim
