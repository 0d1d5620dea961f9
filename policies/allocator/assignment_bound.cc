#include "policies/allocator/assignment_bound.h"

namespace drasim {

size_t AssignmentBound::BinOf(uint32_t device) {
  const auto [at, added] = bin_ids_.try_emplace(device, bins_.size());
  if (added) bins_.emplace_back();
  return at->second;
}

void AssignmentBound::AddNeed(int64_t units, const std::vector<uint32_t>& devices) {
  const size_t need = bins_of_need_.size();
  bins_of_need_.emplace_back();
  for (const uint32_t device : devices) bins_of_need_.back().push_back(BinOf(device));
  for (int64_t i = 0; i < units; ++i) need_of_unit_.push_back(need);
}

bool AssignmentBound::Place(size_t unit) {
  const std::vector<size_t>& bins = bins_of_need_[need_of_unit_[unit]];
  for (const size_t bin : bins) {
    if (static_cast<int64_t>(bins_[bin].units.size()) >= bins_[bin].slots) continue;
    bins_[bin].units.push_back(unit);
    return true;
  }
  for (const size_t bin : bins) {
    if (visited_[bin]) continue;
    visited_[bin] = true;
    for (size_t i = 0; i < bins_[bin].units.size(); ++i) {
      if (!Place(bins_[bin].units[i])) continue;
      bins_[bin].units[i] = unit;
      return true;
    }
  }
  return false;
}

bool AssignmentBound::Fits() {
  for (size_t unit = 0; unit < need_of_unit_.size(); ++unit) {
    visited_.assign(bins_.size(), false);
    if (!Place(unit)) return false;
  }
  return true;
}

}  // namespace drasim
