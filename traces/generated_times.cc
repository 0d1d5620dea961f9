#include "traces/generated_times.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "model/number_text.h"
#include "model/status_macros.h"
#include "model/time.h"

namespace drasim {
namespace {

absl::StatusOr<std::optional<Distribution>> ParseTimeOption(absl::string_view key,
                                                            absl::string_view text) {
  if (text.empty()) return std::optional<Distribution>();
  absl::StatusOr<Distribution> parsed = Distribution::Parse(text);
  if (!parsed.ok()) {
    return absl::Status(parsed.status().code(), absl::StrCat(key, ": ", parsed.status().message()));
  }
  return std::optional<Distribution>(*std::move(parsed));
}

}  // namespace

GeneratedTimes::GeneratedTimes(absl::string_view noun, uint64_t seed)
    : noun_(noun),
      interarrival_stream_(seed, "workload/interarrival"),
      run_time_stream_(seed, "workload/run_time") {}

absl::Status GeneratedTimes::Parse(absl::string_view prefix, absl::string_view interarrival,
                                   absl::string_view run_time) {
  ASSIGN_OR_RETURN(interarrival_,
                   ParseTimeOption(absl::StrCat(prefix, "interarrival"), interarrival));
  ASSIGN_OR_RETURN(run_time_, ParseTimeOption(absl::StrCat(prefix, "run_time"), run_time));
  return absl::OkStatus();
}

absl::StatusOr<int64_t> GeneratedTimes::SampleNs(const Distribution& distribution, int64_t number,
                                                 absl::string_view what, Random* stream) const {
  const double seconds = distribution.Sample(*stream);
  if (seconds > static_cast<double>(kMaxGeneratedSeconds)) {
    return absl::InvalidArgumentError(
        absl::StrCat("generated ", noun_, " ", number, ": ", what, " of ", DoubleText(seconds),
                     " s, expected at most ", kMaxGeneratedSeconds, " s"));
  }
  const int64_t ns = seconds <= 0 ? 0 : std::llround(seconds * 1e9);
  return ns;
}

absl::Status GeneratedTimes::Draw(int64_t number, int64_t* time_ns, JobArrival* out) {
  if (interarrival_.has_value() && number > 0) {
    // Both terms are at most the limit: the sum fits 64 bits, and so does any arrival + run time.
    ASSIGN_OR_RETURN(const int64_t gap_ns, SampleNs(*interarrival_, number, "an interarrival time",
                                                    &interarrival_stream_));
    if (*time_ns + gap_ns > kMaxGeneratedSeconds * kSecondNs) {
      return absl::InvalidArgumentError(
          absl::StrCat("generated ", noun_, " ", number, ": found an arrival after more than ",
                       kMaxGeneratedSeconds, " s, expected an earlier one"));
    }
    *time_ns += gap_ns;
  }
  out->has_run_time = run_time_.has_value();
  out->run_time = SimDuration();
  if (run_time_.has_value()) {
    ASSIGN_OR_RETURN(const int64_t run_time_ns,
                     SampleNs(*run_time_, number, "a run time", &run_time_stream_));
    out->run_time = SimDuration(run_time_ns);
  }
  return absl::OkStatus();
}

void GeneratedTimes::Save(StateWriter& out) const {
  interarrival_stream_.Save(out);
  run_time_stream_.Save(out);
}

absl::Status GeneratedTimes::Load(StateReader& in) {
  RETURN_IF_ERROR(interarrival_stream_.Load(in));
  return run_time_stream_.Load(in);
}

}  // namespace drasim
