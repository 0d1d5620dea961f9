// Times that generators draw: one sample of a distribution of seconds, in nanoseconds.
#ifndef DRASIM_TRACES_SAMPLE_TIME_H_
#define DRASIM_TRACES_SAMPLE_TIME_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/distributions.h"
#include "model/random.h"

namespace drasim {

// The longest interarrival and run time, and the latest arrival: sums of two fit 64 bits of
// nanoseconds.
inline constexpr int64_t kMaxGeneratedSeconds = 4'000'000'000;

// At least 0, rounded to the nearest nanosecond, halves up. Too large a sample is 0 and an
// InvalidArgument in `*status`: "generated pod 7: a run time of ... s, expected at most ... s" for
// subject "pod", number 7 and what "a run time". O(1).
int64_t SampleNs(const Distribution& distribution, absl::string_view subject, int64_t number,
                 absl::string_view what, Random* stream, absl::Status* status);

// The distribution of an option; none when its text is empty. Errors begin with "KEY: ".
absl::StatusOr<std::optional<Distribution>> ParseTimeOption(absl::string_view key,
                                                            absl::string_view text);

}  // namespace drasim

#endif  // DRASIM_TRACES_SAMPLE_TIME_H_
