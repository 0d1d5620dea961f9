#include "policies/plugins/default_normalize.h"

#include <algorithm>

#include "policies/framework/plugin.h"

namespace drasim {

void DefaultNormalizeScore(bool reverse, absl::Span<int64_t> scores) {
  int64_t largest = 0;
  for (const int64_t score : scores) largest = std::max(largest, score);
  for (int64_t& score : scores) {
    if (largest > 0) score = kMaxNodeScore * score / largest;
    if (reverse) score = kMaxNodeScore - score;
  }
}

}  // namespace drasim
