// Limits and options that the generators of jobs share.
#ifndef DRASIM_TRACES_GENERATOR_OPTIONS_H_
#define DRASIM_TRACES_GENERATOR_OPTIONS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace drasim {

// Weights are scaled so that the greatest is this, and rounded: sums of many fit 64 bits.
inline constexpr double kGreatestWeight = 0x1p40;

// "workload.generated.KEY: found FOUND, expected EXPECTED".
absl::Status RefusedOption(absl::string_view key, absl::string_view found,
                           absl::string_view expected);

}  // namespace drasim

#endif  // DRASIM_TRACES_GENERATOR_OPTIONS_H_
