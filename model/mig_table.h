// MigTable: all states of a MIG GPU and the legal steps between them, as look-up tables.
//
// A state is a set of placements (profiles at starts). A placement is legal in a state when its
// units are free, its profile has instances left (max_instances), at most one instance has media
// extensions ("+me"), no forbidden pair of profiles results, and, if requested, the media engines
// suffice. Sources: `nvidia-smi mig -lgipp` and the MIG user guide, through the catalogue.
//
// Immutable after construction; safe to share between threads. All look-ups are O(1). An A100 with
// all seven profiles has 2,319 states.
//
// Usage:
//
//   ASSIGN_OR_RETURN(const MigTable table, MigTable::Make(product));
//   const size_t placement = static_cast<size_t>(table.FindPlacement(profile, /*start=*/4));
//   MigState state = 0;                       // an empty GPU
//   state = table.Place(state, placement);    // kNoMigState if illegal
//   state = table.Remove(state, placement);   // empty again
#ifndef DRASIM_MODEL_MIG_TABLE_H_
#define DRASIM_MODEL_MIG_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/mig_product.h"

namespace drasim {

// A set of placements of one GPU, as bits.
inline uint64_t PlacementBit(size_t placement) { return uint64_t{1} << placement; }

// Row of a MigTable. State 0 has no instance.
using MigState = uint16_t;
inline constexpr MigState kNoMigState = 0xffff;  // result of an illegal step
inline constexpr int kMaxMigPlacements = 64;     // a set of placements is one machine word
inline constexpr uint8_t kNoPlacement = 0xff;

struct MigPlacement {
  uint8_t profile = 0;  // index into MigTable::profiles()
  uint8_t start = 0;
  uint16_t units = 0;  // bit per covered unit

  bool operator==(const MigPlacement&) const = default;
};

struct MigRules {
  std::vector<std::string> profiles;  // only these, by name; empty: all of the product's
  // Pairs of profiles that exclude each other (4g and 3g before driver R510).
  std::vector<std::pair<std::string, std::string>> forbidden;
  // Also enforces the GPU's media engines (its largest profile's); matters only on RTX PRO.
  bool media_engines = false;
};

class MigTable {
 public:
  // InvalidArgument for an unknown profile name (with the nearest ones of the product), a profile
  // listed twice, more than kMaxMigPlacements placements, or more states than MigState can number.
  // O(states x placements).
  static absl::StatusOr<MigTable> Make(const MigProduct& product, const MigRules& rules = {});

  const MigProduct& product() const { return product_; }
  // In the catalogue's order, without those that the rules exclude.
  absl::Span<const MigProfile> profiles() const { return profiles_; }
  // The profile with that name in any driver's naming, case ignored; -1 if there is none.
  int FindProfile(absl::string_view name) const;
  // By profile, then in the order of the profile's starts: "the catalogue's order".
  absl::Span<const MigPlacement> placements() const { return placements_; }
  // The placement of that profile at that start; -1 if there is none.
  int FindPlacement(size_t profile, int32_t start) const;
  // Bit per placement of the profile.
  uint64_t placements_of(size_t profile) const { return of_profile_[profile]; }

  size_t states() const { return sets_.size(); }
  // Bit per placement in the state.
  uint64_t set(MigState state) const { return sets_[state]; }
  // The state with this set of placements; kNoMigState when the set is illegal. O(log states).
  MigState Find(uint64_t set) const;
  // Bit per placement that may be added.
  uint64_t legal(MigState state) const { return legal_[state]; }
  // REQUIRES: the placement is not in the state. kNoMigState when it is illegal.
  MigState Place(MigState state, size_t placement) const {
    return next_[size_t{state} * placements_.size() + placement];
  }
  // REQUIRES: the placement is in the state.
  MigState Remove(MigState state, size_t placement) const {
    return next_[size_t{state} * placements_.size() + placement];
  }
  // Bit per profile with room for one more instance.
  uint32_t fitting(MigState state) const { return fitting_[state]; }

  uint16_t units_used(MigState state) const { return units_used_[state]; }  // bit per unit
  int free_units(MigState state) const { return free_units_[state]; }
  int free_compute(MigState state) const { return free_compute_[state]; }
  // The largest number of further instances of the profile.
  int more(MigState state, size_t profile) const {
    return more_[size_t{state} * profiles_.size() + profile];
  }
  // The most units, and the most compute slices, that further legal placements can cover; the rest
  // of the free part is lost to geometry. The two maxima may belong to different fillings.
  int usable_units(MigState state) const { return usable_units_[state]; }
  int usable_compute(MigState state) const { return usable_compute_[state]; }

 private:
  MigTable() = default;
  absl::Status ChooseProfiles(const MigRules& rules);
  absl::Status Enumerate(const MigRules& rules);
  void Derive();
  bool MayAdd(uint64_t set, size_t placement, const MigRules& rules) const;

  MigProduct product_;
  std::vector<MigProfile> profiles_;
  std::vector<MigPlacement> placements_;
  std::vector<uint64_t> of_profile_;
  std::vector<std::pair<int, int>> forbidden_;        // pairs of profiles
  std::vector<uint64_t> sets_;                        // by state
  std::vector<std::pair<uint64_t, MigState>> index_;  // sorted by set
  std::vector<uint64_t> legal_;
  // Indexed by state and placement: the state after adding an absent placement or removing a
  // present one.
  std::vector<MigState> next_;
  std::vector<uint32_t> fitting_;
  std::vector<uint16_t> units_used_;
  std::vector<int8_t> free_units_;
  std::vector<int8_t> free_compute_;
  std::vector<int8_t> more_;
  std::vector<int8_t> usable_units_;
  std::vector<int8_t> usable_compute_;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_MIG_TABLE_H_
