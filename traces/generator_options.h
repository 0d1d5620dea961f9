// Limits and options that the generators of jobs share.
#ifndef DRASIM_TRACES_GENERATOR_OPTIONS_H_
#define DRASIM_TRACES_GENERATOR_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "model/random.h"

namespace drasim {

// Weights are scaled so that the greatest is this, and rounded: sums of many fit 64 bits.
inline constexpr double kGreatestWeight = 0x1p40;

// "workload.generated.KEY: found FOUND, expected EXPECTED".
absl::Status RefusedOption(absl::string_view key, absl::string_view found,
                           absl::string_view expected);

// Digits of the numbers 0 to count - 1, at least `low`.
size_t NumberDigits(int64_t count, size_t low);
// "pod-0000007" for prefix "pod-", number 7 and 7 digits.
std::string NumberedName(absl::string_view prefix, int64_t number, size_t digits);

// A draw with whole weights, of which `sums` has the sum up to and including each: the index drawn.
size_t DrawIndex(const std::vector<uint64_t>& sums, Random* stream);

}  // namespace drasim

#endif  // DRASIM_TRACES_GENERATOR_OPTIONS_H_
