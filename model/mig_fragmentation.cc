#include "model/mig_fragmentation.h"

#include <bit>
#include <cstddef>

#include "model/check.h"

namespace drasim {
namespace {

// The profile's term of F: its size, once for each of its starts that is blocked.
int64_t TermOf(const MigTable& table, size_t profile, uint16_t occupied, MfiReading reading) {
  const MigProfile& absent = table.profiles()[profile];
  if (!absent.is_plain()) return 0;
  const auto gpu = static_cast<uint16_t>((uint32_t{1} << table.product().units) - 1);
  if (absent.size > std::popcount(static_cast<uint16_t>(gpu & ~occupied))) return 0;
  int64_t term = 0;
  for (uint64_t rest = table.placements_of(profile); rest != 0; rest &= rest - 1) {
    const uint16_t window = table.placements()[static_cast<size_t>(std::countr_zero(rest))].units;
    const int taken = window & occupied;
    if (taken != 0 && (reading == MfiReading::kAny || taken != window)) term += absent.size;
  }
  return term;
}

}  // namespace

MfiScore::MfiScore(const MigTable& table, MfiReading reading, absl::Span<const int64_t> weights) {
  DRASIM_CHECK(weights.empty() || weights.size() == table.profiles().size());
  for (size_t s = 0; s < table.states(); ++s) {
    const uint16_t occupied = table.units_used(static_cast<MigState>(s));
    int64_t sum = 0;
    for (size_t p = 0; p < table.profiles().size(); ++p) {
      sum += (weights.empty() ? kMfiScale : weights[p]) * TermOf(table, p, occupied, reading);
    }
    value_.push_back(sum);
  }
}

int64_t MfiOf(const MigTable& table, uint16_t occupied, MfiReading reading) {
  int64_t sum = 0;
  for (size_t p = 0; p < table.profiles().size(); ++p) sum += TermOf(table, p, occupied, reading);
  return sum;
}

}  // namespace drasim
