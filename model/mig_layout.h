// Layouts of a MIG GPU: counting them, finding one, saying why there is none, drawing them.
#ifndef DRASIM_MODEL_MIG_LAYOUT_H_
#define DRASIM_MODEL_MIG_LAYOUT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/mig_table.h"

namespace drasim {

struct MigCounts {
  int64_t sets = 0;          // legal sets of placements, the empty one included
  int64_t maximal_sets = 0;  // those to which nothing can be added
  int64_t multisets = 0;     // different non-empty multisets of profiles
};
MigCounts CountLayouts(const MigTable& table);  // O(states log states)

// Instances by profile: counts[p] of table.profiles()[p].
using MigMultiset = std::vector<int32_t>;
MigMultiset MultisetOf(const MigTable& table, MigState state);
// "1g.10gb x2, 3g.40gb"; "empty". In the table's order of profiles.
std::string MultisetText(const MigTable& table, const MigMultiset& counts);
// Multisets that no other legal multiset contains, largest profile first. O(multisets^2).
std::vector<MigMultiset> MaximalMultisets(const MigTable& table);

// The order in which a driver that is not told a start tries the starts of a profile. For 1g of
// seven-slice GPUs 6, 4, 5, 0, 1, 2, 3, as was seen; for the rest the listed order, which is an
// assumption. Returns placement indices.
std::vector<uint8_t> DriverOrder(const MigTable& table, size_t profile);

// mig-parted's way: on an empty GPU, create the instances one after the other without naming
// starts (DriverOrder decides); when one does not fit, clear, and try the next distinct
// permutation. `counts` has one entry per profile.
struct PermutationSearch {
  MigState state = kNoMigState;  // the layout; kNoMigState when no permutation succeeds
  int32_t attempts = 0;          // permutations tried
  int32_t created = 0;           // instances created over all attempts
  int32_t destroyed = 0;         // of these, destroyed again
};
PermutationSearch ApplyByPermutations(const MigTable& table, const MigMultiset& counts);

// Any layout of these instances, wherever they must sit; kNoMigState when there is none. The first
// in the order of states, so the same in every run.
MigState FindLayout(const MigTable& table, const MigMultiset& counts);

// Why there is no layout of these instances: "no room for 4g.40gb beside 3g.40gb, 2g.20gb; a
// 1g.10gb would fit": the largest prefix (in descending size) that fits, the first
// instance that does not, and what would. Empty when there is a layout.
std::string ExplainMisfit(const MigTable& table, const MigMultiset& counts);

// "3g.40gb:2,1g.10gb" (also "3g.40gb@4" for one at a start; a count and a start exclude each
// other) to the instances. InvalidArgument names what is wrong: an unknown profile with the nearest
// names of the product, one that belongs to another product (`others`, tried in order, names it), a
// count below 1, a start that the profile does not have.
struct MigRequest {
  MigMultiset counts;               // without starts
  std::vector<uint8_t> placements;  // with a start
};
absl::StatusOr<MigRequest> ParseLayout(const MigTable& table, absl::string_view text,
                                       absl::Span<const MigProduct> others);
// The layout that the request describes, if there is one: placements first, then FindLayout around
// them. kNoMigState when there is none.
MigState FindLayout(const MigTable& table, const MigRequest& request);

// A drawing for a terminal: a line of units, and a box per instance, ASCII only.
std::string DrawLayout(const MigTable& table, MigState state);

// NVIDIA's partitionable-device model (KEP-4815): one counter per kind of engine, for
// multiprocessors and for memory, as large as the largest profile's, and one per unit. Unknown
// amounts count as 0.
class MigCounterModel {
 public:
  explicit MigCounterModel(const MigTable& table);
  bool Admits(uint64_t set) const;

 private:
  struct Amounts {
    int64_t value[7] = {};
  };
  std::vector<Amounts> of_placement_;
  std::vector<uint16_t> units_;
  Amounts total_;
};

// "2g.10gb@0"
std::string PlacementText(const MigTable& table, const MigPlacement& placement);
// "2g.10gb@0,3g.20gb@4", by starts, as ParseLayout takes it. `set`: bits of table.placements().
std::string PlacementsText(const MigTable& table, uint64_t set);
// The same of the instances of a state.
std::string MigLayoutText(const MigTable& table, MigState state);

}  // namespace drasim

#endif  // DRASIM_MODEL_MIG_LAYOUT_H_
