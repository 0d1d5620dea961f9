// Durations in Go's notation ("1h2m3s", "1.5s", "5ms", "10us", "7ns"), optionally with leading days
// of 24 hours ("1d", "1.5d", "2d12h"). Every duration of a scenario is parsed here.
#ifndef DRASIM_SIM_SCENARIO_DURATION_TEXT_H_
#define DRASIM_SIM_SCENARIO_DURATION_TEXT_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/time.h"

namespace drasim {

// The limit on times and durations of a scenario: a hundred years.
inline constexpr int64_t kLongestNs = int64_t{100} * 365 * 86'400 * kSecondNs;

// Empty text is zero. InvalidArgument for negative durations and other texts.
absl::StatusOr<SimDuration> ParseDuration(absl::string_view text);
// The same into `*out`, which an empty text leaves unchanged; errors begin with "KEY: ".
absl::Status ReadDuration(absl::string_view key, absl::string_view text, SimDuration* out);

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_DURATION_TEXT_H_
