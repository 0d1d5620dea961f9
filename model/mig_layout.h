// Layouts of a MIG GPU: counting, finding, explaining failure, drawing.
#ifndef DRASIM_MODEL_MIG_LAYOUT_H_
#define DRASIM_MODEL_MIG_LAYOUT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/mig_table.h"

namespace drasim {

struct MigCounts {
  int64_t sets = 0;          // legal sets of placements, the empty one included
  int64_t maximal_sets = 0;  // sets that admit no further instance
  int64_t multisets = 0;     // different non-empty multisets of profiles
};
MigCounts CountLayouts(const MigTable& table);  // O(states log states)

// Instances by profile, counts[p] of table.profiles()[p].
using MigMultiset = std::vector<int32_t>;
MigMultiset MultisetOf(const MigTable& table, MigState state);
// "1g.10gb x2, 3g.40gb"; "empty". In the table's order of profiles.
std::string MultisetText(const MigTable& table, const MigMultiset& counts);
// Multisets that are contained in no other legal multiset, largest profile first. O(multisets^2).
std::vector<MigMultiset> MaximalMultisets(const MigTable& table);

// The order in which the driver tries the starts of a profile when the request names none. For 1g
// of seven-slice GPUs 6, 4, 5, 0, 1, 2, 3, as observed; for others the listed order, an assumption.
// Returns placement indices.
std::vector<uint8_t> DriverOrder(const MigTable& table, size_t profile);

// mig-parted's method: on an empty GPU, creates the instances one after the other without naming
// starts (DriverOrder decides). If one does not fit, clears the GPU and tries the next distinct
// permutation. `counts` has one entry per profile.
struct PermutationSearch {
  MigState state = kNoMigState;  // the layout; kNoMigState when no permutation succeeds
  int32_t attempts = 0;          // permutations tried
  int32_t created = 0;           // instances created over all attempts
  int32_t destroyed = 0;         // created instances that were destroyed again
};
PermutationSearch ApplyByPermutations(const MigTable& table, const MigMultiset& counts);

// Some layout of these instances, in any placement; kNoMigState when there is none. The first in
// the order of states, so the same in every run.
MigState FindLayout(const MigTable& table, const MigMultiset& counts);

// Explains why there is no layout of these instances: "no room for 4g.40gb beside 3g.40gb, 2g.20gb;
// a 1g.10gb would fit". Names the largest prefix (in descending size) that fits, the first instance
// that does not, and the profiles that would. Empty when there is a layout.
std::string ExplainMisfit(const MigTable& table, const MigMultiset& counts);

// Parses "3g.40gb:2,1g.10gb" (also "3g.40gb@4" for an instance at a start; a count and a start
// exclude each other). InvalidArgument names the fault: an unknown profile, with the nearest names
// of the product; a profile of another product, found in `others` in order; a count below 1; a
// start that the profile lacks.
struct MigRequest {
  MigMultiset counts;               // without starts
  std::vector<uint8_t> placements;  // with a start
};
absl::StatusOr<MigRequest> ParseLayout(const MigTable& table, absl::string_view text,
                                       absl::Span<const MigProduct> others);
// The layout for the request, if there is one: placements first, then FindLayout around them.
// kNoMigState when there is none.
MigState FindLayout(const MigTable& table, const MigRequest& request);

// A drawing for a terminal: a line of units and a box per instance, in ASCII.
std::string DrawLayout(const MigTable& table, MigState state);

// "2g.10gb@0"
std::string PlacementText(const MigTable& table, const MigPlacement& placement);
// "2g.10gb@0,3g.20gb@4", ordered by start, in ParseLayout's syntax. `set`: bits of
// table.placements().
std::string PlacementsText(const MigTable& table, uint64_t set);
// The same for the instances of a state.
std::string MigLayoutText(const MigTable& table, MigState state);

}  // namespace drasim

#endif  // DRASIM_MODEL_MIG_LAYOUT_H_
