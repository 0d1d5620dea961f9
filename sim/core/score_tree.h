// A tournament tree over nodes in tie-break order: the best score, and the first node that has it.
//
// The arg-max structure of a decision: one changed node costs O(log nodes) at worst and usually a
// step or two, because a climb ends where the winner stays the same.
#ifndef DRASIM_SIM_CORE_SCORE_TREE_H_
#define DRASIM_SIM_CORE_SCORE_TREE_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace drasim {

class ScoreTree {
 public:
  // Below every score; marks a node that does not fit.
  static constexpr int32_t kInfeasible = std::numeric_limits<int32_t>::min();

  // All places infeasible. O(places).
  void Reset(size_t places) {
    leaves_ = std::bit_ceil(std::max<size_t>(places, 2));
    best_.assign(2 * leaves_, kInfeasible);
  }
  size_t leaves() const { return leaves_; }

  // Sets one place and repairs the way to the root.
  void Set(size_t place, int32_t score) {
    size_t i = leaves_ + place;
    if (best_[i] == score) return;
    best_[i] = score;
    while (i > 1) {
      const int32_t winner = std::max(best_[i], best_[i ^ 1]);
      i >>= 1;
      if (best_[i] == winner) return;
      best_[i] = winner;
    }
  }

  // Sets one place and leaves the rest to Rebuild: cheaper when most places change.
  void SetLeaf(size_t place, int32_t score) { best_[leaves_ + place] = score; }
  void Rebuild() {
    for (size_t i = leaves_ - 1; i > 0; --i) best_[i] = std::max(best_[2 * i], best_[2 * i + 1]);
  }

  int32_t best() const { return best_[1]; }
  int32_t at(size_t place) const { return best_[leaves_ + place]; }

  // The first place with the best score. Requires best() != kInfeasible.
  size_t FirstBest() const {
    size_t i = 1;
    while (i < leaves_) {
      i *= 2;
      if (best_[i] != best_[1]) ++i;
    }
    return i - leaves_;
  }

 private:
  size_t leaves_ = 0;
  std::vector<int32_t> best_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_SCORE_TREE_H_
