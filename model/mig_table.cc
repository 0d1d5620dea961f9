#include "model/mig_table.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/check.h"
#include "model/status_macros.h"
#include "model/text/did_you_mean.h"

namespace drasim {
namespace {

constexpr int32_t kMaxUnits = 16;           // a bit each in MigPlacement::units
constexpr int32_t kMaxComputeSlices = 16;   // far above any GPU's; sums fit int8_t
constexpr size_t kMaxProfiles = 32;         // a bit each in MigTable::fitting
constexpr size_t kMaxStates = kNoMigState;  // 0 to kNoMigState - 1

constexpr int32_t MigProfile::*kMediaEngines[] = {&MigProfile::decoders, &MigProfile::encoders,
                                                  &MigProfile::jpeg_engines,
                                                  &MigProfile::ofa_engines};

// A profile's own name takes precedence over other drivers' names.
int IndexOf(absl::Span<const MigProfile> profiles, absl::string_view name) {
  for (size_t p = 0; p < profiles.size(); ++p) {
    if (absl::EqualsIgnoreCase(profiles[p].name, name)) return static_cast<int>(p);
  }
  for (size_t p = 0; p < profiles.size(); ++p) {
    for (const std::string& other : profiles[p].names) {
      if (absl::EqualsIgnoreCase(other, name)) return static_cast<int>(p);
    }
  }
  return -1;
}

absl::Status UnknownProfile(const MigProduct& product, const std::string& name) {
  std::vector<std::string> known;
  for (const MigProfile& profile : product.profiles) known.push_back(profile.name);
  return absl::InvalidArgumentError(absl::StrCat("unknown profile '", name, "' of ", product.group,
                                                 "; it has ", absl::StrJoin(known, ", "),
                                                 Suggest(name, known)));
}

absl::Status OutOfRange(absl::string_view what, int64_t found, int64_t least, int64_t most) {
  return absl::InvalidArgumentError(
      absl::StrCat(what, ": found '", found, "', expected ", least, " to ", most));
}

absl::Status CheckGeometry(const MigProduct& product) {
  if (product.units < 1 || product.units > kMaxUnits) {
    return OutOfRange(absl::StrCat("units of ", product.group), product.units, 1, kMaxUnits);
  }
  if (product.compute_slices < 1 || product.compute_slices > kMaxComputeSlices) {
    return OutOfRange(absl::StrCat("compute slices of ", product.group), product.compute_slices, 1,
                      kMaxComputeSlices);
  }
  for (const MigProfile& profile : product.profiles) {
    const std::string of = absl::StrCat(" of ", profile.name, " of ", product.group);
    if (profile.size < 1 || profile.size > product.units) {
      return OutOfRange(absl::StrCat("size", of), profile.size, 1, product.units);
    }
    if (profile.compute_slices < 0 || profile.compute_slices > product.compute_slices) {
      return OutOfRange(absl::StrCat("compute slices", of), profile.compute_slices, 0,
                        product.compute_slices);
    }
    for (const int32_t start : profile.starts) {
      if (start < 0 || start > product.units - profile.size) {
        return OutOfRange(absl::StrCat("a start", of), start, 0, product.units - profile.size);
      }
    }
  }
  return absl::OkStatus();
}

int32_t ComputeOf(const MigTable& table, uint64_t set) {
  int32_t sum = 0;
  for (uint64_t rest = set; rest != 0; rest &= rest - 1) {
    const auto placement = static_cast<size_t>(std::countr_zero(rest));
    sum += table.profiles()[table.placements()[placement].profile].compute_slices;
  }
  return sum;
}

// An engine with an unknown number in some profile limits nothing, because the largest known number
// may be below the GPU's.
bool EngineSuffices(const MigTable& table, uint64_t set, int32_t MigProfile::*engine) {
  int32_t left = 0;
  for (const MigProfile& profile : table.product().profiles) {
    if (profile.*engine < 0) return true;
    left = std::max(left, profile.*engine);
  }
  for (uint64_t rest = set; rest != 0; rest &= rest - 1) {
    const auto placement = static_cast<size_t>(std::countr_zero(rest));
    left -= table.profiles()[table.placements()[placement].profile].*engine;
  }
  return left >= 0;
}

}  // namespace

absl::StatusOr<MigTable> MigTable::Make(const MigProduct& product, const MigRules& rules) {
  RETURN_IF_ERROR(CheckGeometry(product));
  MigTable table;
  table.product_ = product;
  RETURN_IF_ERROR(table.ChooseProfiles(rules));
  RETURN_IF_ERROR(table.Enumerate(rules));
  table.Derive();
  return table;
}

absl::Status MigTable::ChooseProfiles(const MigRules& rules) {
  const std::vector<MigProfile>& all = product_.profiles;
  std::vector<bool> chosen(all.size(), rules.profiles.empty());
  for (const std::string& name : rules.profiles) {
    const int found = IndexOf(all, name);
    if (found < 0) return UnknownProfile(product_, name);
    if (chosen[static_cast<size_t>(found)]) {
      return absl::InvalidArgumentError(absl::StrCat("profiles of ", product_.group, ": found '",
                                                     name, "' twice, expected it once"));
    }
    chosen[static_cast<size_t>(found)] = true;
  }
  std::vector<int> index(all.size(), -1);  // into profiles_
  for (size_t p = 0; p < all.size(); ++p) {
    if (!chosen[p]) continue;
    index[p] = static_cast<int>(profiles_.size());
    profiles_.push_back(all[p]);
  }
  if (profiles_.size() > kMaxProfiles) {
    return absl::InvalidArgumentError(absl::StrCat("profiles of ", product_.group, ": found '",
                                                   profiles_.size(), "', expected at most ",
                                                   kMaxProfiles));
  }
  for (const auto& [one, other] : rules.forbidden) {
    const int a = IndexOf(all, one);
    if (a < 0) return UnknownProfile(product_, one);
    const int b = IndexOf(all, other);
    if (b < 0) return UnknownProfile(product_, other);
    const int left_a = index[static_cast<size_t>(a)];
    const int left_b = index[static_cast<size_t>(b)];
    // A pair with an excluded profile cannot occur anyway.
    if (left_a >= 0 && left_b >= 0) forbidden_.emplace_back(left_a, left_b);
  }
  return absl::OkStatus();
}

bool MigTable::MayAdd(uint64_t set, size_t placement, const MigRules& rules) const {
  const MigPlacement& added = placements_[placement];
  const MigProfile& profile = profiles_[added.profile];
  if (std::popcount(set & of_profile_[added.profile]) >= profile.max_instances) return false;
  const bool has_extension = profile.has_media_extension();
  for (uint64_t rest = set; rest != 0; rest &= rest - 1) {
    const MigPlacement& other = placements_[static_cast<size_t>(std::countr_zero(rest))];
    if ((other.units & added.units) != 0) return false;
    if (has_extension && profiles_[other.profile].has_media_extension()) return false;
    for (const auto& [a, b] : forbidden_) {
      if ((a == added.profile && b == other.profile) || (b == added.profile && a == other.profile))
        return false;
    }
  }
  if (!rules.media_engines) return true;
  for (int32_t MigProfile::*engine : kMediaEngines) {
    if (!EngineSuffices(*this, set | PlacementBit(placement), engine)) return false;
  }
  return true;
}

// States are numbered by the number of instances, then by set. Every rule that holds for a set also
// holds for its subsets, so adding instances finds all legal sets.
absl::Status MigTable::Enumerate(const MigRules& rules) {
  for (size_t p = 0; p < profiles_.size(); ++p) {
    const uint32_t window = (uint32_t{1} << profiles_[p].size) - 1;
    uint64_t own = 0;
    for (const int32_t start : profiles_[p].starts) {
      if (placements_.size() == kMaxMigPlacements) {
        return absl::InvalidArgumentError(
            absl::StrCat("placements of ", product_.group, ": found more than ", kMaxMigPlacements,
                         ", which is the most that a table holds; choose fewer profiles"));
      }
      own |= PlacementBit(placements_.size());
      MigPlacement placement;
      placement.profile = static_cast<uint8_t>(p);
      placement.start = static_cast<uint8_t>(start);
      placement.units = static_cast<uint16_t>(window << start);
      placements_.push_back(placement);
    }
    of_profile_.push_back(own);
  }
  sets_.push_back(0);
  for (size_t begin = 0; begin < sets_.size();) {
    const size_t end = sets_.size();
    for (size_t i = begin; i < end; ++i) {
      const uint64_t set = sets_[i];
      // Only placements after the set's last one, so each set occurs once.
      for (auto p = static_cast<size_t>(std::bit_width(set)); p < placements_.size(); ++p) {
        if (!MayAdd(set, p, rules)) continue;
        if (sets_.size() == kMaxStates) {
          return absl::InvalidArgumentError(
              absl::StrCat("states of ", product_.group, ": found more than ", kMaxStates,
                           ", which is the most that a table holds; choose fewer profiles"));
        }
        sets_.push_back(set | PlacementBit(p));
        const int32_t compute = ComputeOf(*this, sets_.back());
        if (compute > product_.compute_slices) {
          return absl::InvalidArgumentError(
              absl::StrCat("placements of ", product_.group, ": found instances of '", compute,
                           "' compute slices side by side, expected at most ",
                           product_.compute_slices, ", which is what the GPU has"));
        }
      }
    }
    std::sort(sets_.begin() + static_cast<std::ptrdiff_t>(end), sets_.end());
    begin = end;
  }
  return absl::OkStatus();
}

void MigTable::Derive() {
  const size_t width = placements_.size();
  for (size_t s = 0; s < sets_.size(); ++s) index_.emplace_back(sets_[s], static_cast<MigState>(s));
  std::sort(index_.begin(), index_.end());
  legal_.assign(sets_.size(), 0);
  next_.assign(sets_.size() * width, kNoMigState);
  fitting_.assign(sets_.size(), 0);
  units_used_.assign(sets_.size(), 0);
  for (size_t s = 0; s < sets_.size(); ++s) {
    for (size_t p = 0; p < width; ++p) {
      const MigPlacement& placement = placements_[p];
      const MigState to = Find(sets_[s] ^ PlacementBit(p));
      next_[s * width + p] = to;
      if ((sets_[s] & PlacementBit(p)) != 0) {
        DRASIM_CHECK_NE(to, kNoMigState);
        units_used_[s] = static_cast<uint16_t>(units_used_[s] | placement.units);
      } else if (to != kNoMigState) {
        legal_[s] |= PlacementBit(p);
        fitting_[s] |= uint32_t{1} << placement.profile;
      }
    }
    free_units_.push_back(static_cast<int8_t>(product_.units - std::popcount(units_used_[s])));
    free_compute_.push_back(
        static_cast<int8_t>(product_.compute_slices - ComputeOf(*this, sets_[s])));
  }
  more_.assign(sets_.size() * profiles_.size(), 0);
  usable_units_.assign(sets_.size(), 0);
  usable_compute_.assign(sets_.size(), 0);
  // Larger sets have larger numbers: the values of a state with one more instance are known
  // already.
  const auto raise = [](int8_t& most, int candidate) {
    most = static_cast<int8_t>(std::max<int>(most, candidate));
  };
  for (size_t s = sets_.size(); s-- > 0;) {
    for (uint64_t rest = legal_[s]; rest != 0; rest &= rest - 1) {
      const auto p = static_cast<size_t>(std::countr_zero(rest));
      const size_t owner = placements_[p].profile;
      const size_t to = next_[s * width + p];
      raise(more_[s * profiles_.size() + owner], more_[to * profiles_.size() + owner] + 1);
      raise(usable_units_[s], usable_units_[to] + profiles_[owner].size);
      raise(usable_compute_[s], usable_compute_[to] + profiles_[owner].compute_slices);
    }
  }
}

int MigTable::FindProfile(absl::string_view name) const { return IndexOf(profiles_, name); }

int MigTable::FindPlacement(size_t profile, int32_t start) const {
  for (uint64_t rest = of_profile_[profile]; rest != 0; rest &= rest - 1) {
    const int p = std::countr_zero(rest);
    if (placements_[static_cast<size_t>(p)].start == start) return p;
  }
  return -1;
}

MigState MigTable::Find(uint64_t set) const {
  const auto at = std::lower_bound(
      index_.begin(), index_.end(), set,
      [](const std::pair<uint64_t, MigState>& entry, uint64_t key) { return entry.first < key; });
  return at != index_.end() && at->first == set ? at->second : kNoMigState;
}

}  // namespace drasim
