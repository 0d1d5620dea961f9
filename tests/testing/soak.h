// The length of randomised tests: a few seeds in `make test`, many more in `make soak`.
#ifndef DRASIM_TESTS_TESTING_SOAK_H_
#define DRASIM_TESTS_TESTING_SOAK_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>

namespace drasim {

// `quick` seeds, times DRASIM_SOAK if it is set (a number from 1 to 1000), but `most` at most.
inline uint64_t SoakSeeds(uint64_t quick, uint64_t most = std::numeric_limits<uint64_t>::max()) {
  const char* text = std::getenv("DRASIM_SOAK");
  const int64_t factor = text == nullptr ? 1 : std::strtoll(text, nullptr, 10);
  return std::min(most, quick * static_cast<uint64_t>(std::clamp<int64_t>(factor, 1, 1000)));
}

// DRASIM_SEED: the one seed to run, with all that is known of its run; 0 if it is not set.
inline uint64_t OnlySeed() {
  const char* text = std::getenv("DRASIM_SEED");
  return text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
}

}  // namespace drasim

#endif  // DRASIM_TESTS_TESTING_SOAK_H_
