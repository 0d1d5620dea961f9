// Arrivals and run times of generated workloads, drawn from distributions of seconds.
#ifndef DRASIM_TRACES_GENERATED_TIMES_H_
#define DRASIM_TRACES_GENERATED_TIMES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/distributions.h"
#include "model/event_source.h"
#include "model/random.h"
#include "model/state_io.h"

namespace drasim {

// The longest interarrival and run time, and the latest arrival: sums of two fit 64 bits of
// nanoseconds.
inline constexpr int64_t kMaxGeneratedSeconds = 4'000'000'000;

// Samples are rounded to the nearest nanosecond, halves up; those below 0 count as 0. They come
// from the streams "workload/interarrival" and "workload/run_time".
class GeneratedTimes {
 public:
  // `noun`: "pod" or "job", for messages.
  GeneratedTimes(absl::string_view noun, uint64_t seed);

  // Reads the distributions; an empty text leaves one absent. Errors begin with the key:
  // `prefix` and "interarrival" or "run_time".
  absl::Status Parse(absl::string_view prefix, absl::string_view interarrival,
                     absl::string_view run_time);
  void set_interarrival(Distribution interarrival) { interarrival_ = std::move(interarrival); }
  const std::optional<Distribution>& interarrival() const { return interarrival_; }
  const std::optional<Distribution>& run_time() const { return run_time_; }

  // Moves `*time_ns` on from the arrival before to that of the given number (number 0 does not
  // move), and sets the run time of `*out`. InvalidArgument beyond kMaxGeneratedSeconds. O(1).
  absl::Status Draw(int64_t number, int64_t* time_ns, JobArrival* out);

  void Save(StateWriter& out) const;
  absl::Status Load(StateReader& in);

 private:
  absl::StatusOr<int64_t> SampleNs(const Distribution& distribution, int64_t number,
                                   absl::string_view what, Random* stream) const;

  std::string noun_;
  std::optional<Distribution> interarrival_;
  std::optional<Distribution> run_time_;
  Random interarrival_stream_;
  Random run_time_stream_;
};

}  // namespace drasim

#endif  // DRASIM_TRACES_GENERATED_TIMES_H_
