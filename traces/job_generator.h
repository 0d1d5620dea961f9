// Synthetic jobs of whole GPUs, small and large, at a chosen mean load, with day and night.
//
// These are the keys gangs, load_percent and daily_swing of the message Generated in
// model/proto/scenario.proto; for pods drawn from a table see traces/generator.h. Everything is a
// function of (options, seed), on every machine.
#ifndef DRASIM_TRACES_JOB_GENERATOR_H_
#define DRASIM_TRACES_JOB_GENERATOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/distributions.h"
#include "model/event_source.h"
#include "model/ids.h"
#include "model/pod_shape.h"
#include "model/random.h"
#include "model/shape_table.h"
#include "model/state_io.h"
#include "traces/generated_times.h"

namespace drasim {

// Jobs of `gpus` GPUs come with the probability weight / sum of all weights.
struct GangWeight {
  int32_t gpus = 0;   // 1..JobGenerator::kMaxGpus
  double weight = 0;  // finite, not negative
};

// The mix of the standard benchmark: 1, 2, 4, 8, 16 and 32 GPUs with the weights .70, .10, .08,
// .10, .015 and .005.
std::vector<GangWeight> StandardGangs();

// The fields of proto::Generated, as text where that is text, and what they mean for the cluster.
struct JobGeneratorOptions {
  int64_t jobs = 0;               // 1..JobGenerator::kMaxJobs; the key `pods`
  std::vector<GangWeight> gangs;  // 1 to 1000, one weight at least above 0
  int32_t gpus_per_pod = 8;       // 1..kMaxDevicesPerNode: larger jobs are gangs of pods
  int64_t cpu_milli_per_gpu = 0;  // a pod's request with each GPU
  int64_t memory_bytes_per_gpu = 0;
  // Between two arrivals; the first job arrives at time 0. A Distribution of seconds.
  std::string interarrival;
  // In place of interarrival, in percent of capacity_gpus: arrivals are a Poisson process with the
  // mean gap (mean GPUs of a job) * (mean run time) / (capacity_gpus * load_percent / 100). With
  // neither, all jobs arrive at time 0.
  std::optional<double> load_percent;
  int64_t capacity_gpus = 0;
  std::string run_time;  // a Distribution of seconds; empty: jobs have no run time
  // 0..1: the rate of arrivals is 1 + daily_swing * sin(2 pi t / 24 h) times its mean, t being the
  // time of the run.
  double daily_swing = 0;
  uint64_t seed = 0;
};

// Jobs "job-0000000", "job-0000001", ... (more digits when needed: byte order is order of
// creation), of priority 0 and without a tenant.
//
// A job of more than gpus_per_pod GPUs is a gang: pods of gpus_per_pod GPUs, and one with
// the rest (PodShape::gang_remainder) where there is a rest.
//
// Swing: the process of arrivals is the one without a swing, on a clock that runs as fast as the
// rate is high. That is the integral of the rate,
//   t + swing * (24 h / pi) * sin(pi t / 24 h)^2,
// inverted by bisection. So the mean rate stays over whole days, a Poisson process stays one, and
// any other process is stretched and squeezed, not redrawn.
//
// Mean run time, for load_percent: Distribution::Mean, which must be above 0 and finite. Samples
// below 0 count as 0, so the load comes out higher than asked for when there are many of them. A
// distribution with a heavy tail needs many jobs to come near its mean.
//
// Weights are rounded to 2^-40 of the greatest. Samples are rounded to the nanosecond. Draws come
// from the streams "workload/gang", "workload/interarrival" and "workload/run_time", so that
// changing one option leaves the others' draws alone.
class JobGenerator : public EventSource {
 public:
  static constexpr int64_t kMaxJobs = (int64_t{1} << 32) - 1;   // as many as there are JobIds
  static constexpr int64_t kMaxSeconds = kMaxGeneratedSeconds;  // of an arrival, and of a run time
  static constexpr int32_t kMaxGpus = 100'000;                  // of a job

  // Interns the shapes of the gangs, in their order, into `shapes`. Neither argument is kept.
  // InvalidArgument, beginning with the scenario's key, when an option is out of range, not a
  // distribution, missing, or at odds with another.
  static absl::StatusOr<std::unique_ptr<JobGenerator>> Create(const JobGeneratorOptions& options,
                                                              ShapeTable* shapes);

  // InvalidArgument, which sticks, when an arrival or a run time is beyond kMaxSeconds.
  // O(log gangs), and some 45 evaluations of the integral with a swing. Memory is constant.
  absl::StatusOr<bool> Next(JobArrival* out) override;
  void Save(StateWriter& out) const override;
  // After an error the source must not be used.
  absl::Status Load(StateReader& in) override;

  int64_t jobs() const { return jobs_; }  // in all, whether delivered or not
  double mean_gpus() const { return mean_gpus_; }
  // Before the swing, in seconds; the one made of load_percent, too.
  const std::optional<Distribution>& interarrival() const { return times_.interarrival(); }

 private:
  // The shapes of jobs of one size.
  struct Kind {
    ShapeId shape;
    int32_t pods = 1;
    std::vector<PodGroup> more_pods;
  };

  explicit JobGenerator(const JobGeneratorOptions& options);

  void AddKind(const JobGeneratorOptions& options, int32_t gpus, ShapeTable* shapes);

  const int64_t jobs_;
  const double daily_swing_;
  const size_t name_digits_;
  std::vector<Kind> kinds_;           // by number in the options
  std::vector<uint64_t> cumulative_;  // sums of the whole weights up to and including each kind
  double mean_gpus_ = 0;
  GeneratedTimes times_;

  Random gang_stream_;
  int64_t next_ = 0;     // number of the job that comes next
  int64_t even_ns_ = 0;  // of the last arrival, on the clock without a swing
  int64_t time_ns_ = 0;  // of the last arrival
  absl::Status status_;  // the error that ended the source
};

}  // namespace drasim

#endif  // DRASIM_TRACES_JOB_GENERATOR_H_
