// Choice: figures of a policy's choice on one node (ChoicePolicy).
#ifndef DRASIM_POLICIES_ALLOCATOR_CHOICE_H_
#define DRASIM_POLICIES_ALLOCATOR_CHOICE_H_

#include <cstdint>

namespace drasim {

inline constexpr int64_t kWorstChoiceRank = (int64_t{1} << 48) - 1;

// A choice on one node.
struct Choice {
  // ChoiceMeasure::NodeRank of the best solution, at most kWorstChoiceRank.
  int64_t rank = 0;
  int64_t solutions = 0;   // that were looked at
  int64_t steps = 0;       // devices that were tried
  bool exhausted = false;  // the budget ended before the search: the best so far counts
};

// Choices that were asked for, also where equal nodes shared a search.
struct ChoiceCounts {
  int64_t choices = 0;
  int64_t solutions = 0;
  int64_t steps = 0;
  int64_t exhausted = 0;

  void Add(const Choice& choice) {
    ++choices;
    solutions += choice.solutions;
    steps += choice.steps;
    exhausted += choice.exhausted ? 1 : 0;
  }
  // For checkpoints (sim/dra/api/plane_archive.h).
  template <typename Archive, typename Self>
  static void Fields(Archive& a, Self& s) {
    a(s.choices, s.solutions, s.steps, s.exhausted);
  }
  friend bool operator==(const ChoiceCounts&, const ChoiceCounts&) = default;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_CHOICE_H_
