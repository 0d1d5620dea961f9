// Durations as Go writes them: "1h2m3s", "1.5s", "5ms", "10us", "7ns"; and with days of 24 hours in
// front: "1d", "1.5d", "2d12h". Used by every duration in a scenario.
#ifndef DRASIM_SIM_SCENARIO_DURATION_TEXT_H_
#define DRASIM_SIM_SCENARIO_DURATION_TEXT_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/time.h"

namespace drasim {

// No time of a scenario is longer: a hundred years.
inline constexpr int64_t kLongestNs = int64_t{100} * 365 * 86'400 * kSecondNs;

// Empty text is zero. Negative durations are refused.
absl::StatusOr<SimDuration> ParseDuration(absl::string_view text);
// The same into `*out`, which empty text leaves alone; errors begin with "KEY: ".
absl::Status ReadDuration(absl::string_view key, absl::string_view text, SimDuration* out);

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_DURATION_TEXT_H_
