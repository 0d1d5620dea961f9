// The counters by which NVIDIA's DRA driver describes MIG, against which layouts are tested.
#ifndef DRASIM_TESTS_MODEL_MIG_COUNTER_MODEL_H_
#define DRASIM_TESTS_MODEL_MIG_COUNTER_MODEL_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "model/mig_product.h"
#include "model/mig_table.h"

namespace drasim {

// In the order of MigCounterModel::Amounts.
inline constexpr int32_t MigProfile::*kMigCounters[] = {
    &MigProfile::memory_mib, &MigProfile::multiprocessors, &MigProfile::copy_engines,
    &MigProfile::decoders,   &MigProfile::encoders,        &MigProfile::jpeg_engines,
    &MigProfile::ofa_engines};

// NVIDIA's partitionable-device model (KEP-4815): one counter per kind of engine, for
// multiprocessors and for memory, with the capacity of the largest profile, and one per unit.
// Unknown amounts count as 0.
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

// The GPU's amounts are the maxima over all its profiles, including those left out by the table's
// rules. A kind with an unknown amount in some profile gets no counter: the largest known amount
// may belong to a small profile, and a GPU of that size would refuse legal sets.
inline MigCounterModel::MigCounterModel(const MigTable& table) {
  static_assert(std::size(kMigCounters) == std::size(Amounts{}.value));
  of_placement_.resize(table.placements().size());
  for (const MigPlacement& placement : table.placements()) units_.push_back(placement.units);
  for (size_t kind = 0; kind < std::size(kMigCounters); ++kind) {
    bool known = true;
    int64_t most = 0;
    for (const MigProfile& profile : table.product().profiles) {
      known = known && profile.*kMigCounters[kind] >= 0;
      most = std::max<int64_t>(most, profile.*kMigCounters[kind]);
    }
    if (!known) continue;
    total_.value[kind] = most;
    for (size_t p = 0; p < of_placement_.size(); ++p) {
      of_placement_[p].value[kind] =
          table.profiles()[table.placements()[p].profile].*kMigCounters[kind];
    }
  }
}

inline bool MigCounterModel::Admits(uint64_t set) const {
  Amounts left = total_;
  uint16_t used = 0;
  for (uint64_t rest = set; rest != 0; rest &= rest - 1) {
    const auto placement = static_cast<size_t>(std::countr_zero(rest));
    if ((used & units_[placement]) != 0) return false;
    used = static_cast<uint16_t>(used | units_[placement]);
    for (size_t kind = 0; kind < std::size(kMigCounters); ++kind) {
      left.value[kind] -= of_placement_[placement].value[kind];
      if (left.value[kind] < 0) return false;
    }
  }
  return true;
}

}  // namespace drasim

#endif  // DRASIM_TESTS_MODEL_MIG_COUNTER_MODEL_H_
