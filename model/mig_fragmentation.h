// Fragmentation measures over the slots of one MIG GPU.
#ifndef DRASIM_MODEL_MIG_FRAGMENTATION_H_
#define DRASIM_MODEL_MIG_FRAGMENTATION_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "model/mig_table.h"

namespace drasim {

// The reading of "blocked", for the window of an absent instance.
enum class MfiReading : uint8_t {
  kAny,   // any unit of it is occupied
  kPart,  // some of its units are occupied, but not all
};

// "MFI-like", after the idea of online fragmentation-aware MIG scheduling (arXiv 2511.18906; the
// exact published formula was not available). For occupied units O and f free ones: the sum over
// plain profiles of size r <= f, and over their starts, of r if the window is blocked. With
// weights, each profile's term is multiplied by its weight.
//
// Immutable; O(1) look-ups. Scores are integers: weights are in parts per kMfiScale.
inline constexpr int64_t kMfiScale = 1000;

class MfiScore {
 public:
  // `weights`: per profile of the table, in parts per kMfiScale. Empty means kMfiScale each, so
  // scores are F times kMfiScale. Profiles with a suffix (+me, ...) have no term of their own.
  MfiScore(const MigTable& table, MfiReading reading, absl::Span<const int64_t> weights = {});
  int64_t value(MigState state) const { return value_[state]; }

 private:
  std::vector<int64_t> value_;
};

// F of an arbitrary occupation (bit per unit), for tools and tests; in units, unweighted.
int64_t MfiOf(const MigTable& table, uint16_t occupied, MfiReading reading);

}  // namespace drasim

#endif  // DRASIM_MODEL_MIG_FRAGMENTATION_H_
