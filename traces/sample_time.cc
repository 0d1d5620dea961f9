#include "traces/sample_time.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "model/number_text.h"

namespace drasim {

int64_t SampleNs(const Distribution& distribution, absl::string_view subject, int64_t number,
                 absl::string_view what, Random* stream, absl::Status* status) {
  const double seconds = distribution.Sample(*stream);
  if (seconds > static_cast<double>(kMaxGeneratedSeconds)) {
    *status = absl::InvalidArgumentError(
        absl::StrCat("generated ", subject, " ", number, ": ", what, " of ", DoubleText(seconds),
                     " s, expected at most ", kMaxGeneratedSeconds, " s"));
    return 0;
  }
  return seconds <= 0 ? 0 : std::llround(seconds * 1e9);
}

absl::StatusOr<std::optional<Distribution>> ParseTimeOption(absl::string_view key,
                                                            absl::string_view text) {
  if (text.empty()) return std::optional<Distribution>();
  absl::StatusOr<Distribution> parsed = Distribution::Parse(text);
  if (!parsed.ok()) {
    return absl::Status(parsed.status().code(), absl::StrCat(key, ": ", parsed.status().message()));
  }
  return std::optional<Distribution>(*std::move(parsed));
}

}  // namespace drasim
