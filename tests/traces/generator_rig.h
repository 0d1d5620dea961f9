// Generators of workloads under test, with the checks that hold of all of them.
#ifndef DRASIM_TESTS_TRACES_GENERATOR_RIG_H_
#define DRASIM_TESTS_TRACES_GENERATOR_RIG_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/distributions.h"
#include "model/event_source.h"
#include "model/gpu_model_table.h"
#include "model/random.h"
#include "model/shape_table.h"
#include "model/state_io.h"

namespace drasim::generator_rig {

// A source together with the tables that it needs.
template <typename Source>
struct GeneratedBy {
  GeneratedBy() : shapes(&models) {}

  void Take(absl::StatusOr<std::unique_ptr<Source>> created) {
    EXPECT_TRUE(created.ok()) << created.status();
    if (created.ok()) source = *std::move(created);
  }

  // The rest of the source.
  std::vector<JobArrival> All() const {
    std::vector<JobArrival> jobs;
    JobArrival job;
    for (;;) {
      const absl::StatusOr<bool> more = source->Next(&job);
      EXPECT_TRUE(more.ok()) << more.status();
      if (!more.ok() || !*more) return jobs;
      jobs.push_back(job);
    }
  }
  std::string Saved() const {
    StateWriter out;
    source->Save(out);
    return std::string(out.bytes());
  }

  GpuModelTable models;
  ShapeTable shapes;
  std::unique_ptr<Source> source;
};

// Arrivals and run times are the samples of the streams named for them.
inline void ExpectOwnStreams(const std::vector<JobArrival>& jobs, uint64_t seed,
                             const absl::StatusOr<Distribution>& gaps,
                             const absl::StatusOr<Distribution>& lengths) {
  ASSERT_TRUE(gaps.ok() && lengths.ok());
  Random gap_stream(seed, "workload/interarrival");
  Random length_stream(seed, "workload/run_time");
  EXPECT_EQ(jobs[0].time.ns(), 0);
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (i > 0) {
      const int64_t gap_ns = std::llround(gaps->Sample(gap_stream) * 1e9);
      EXPECT_EQ(jobs[i].time.ns() - jobs[i - 1].time.ns(), gap_ns) << i;
    }
    EXPECT_TRUE(jobs[i].has_run_time);
    EXPECT_EQ(jobs[i].run_time.ns(), std::llround(lengths->Sample(length_stream) * 1e9)) << i;
  }
}

// Times beyond the limit are errors that stick. `make` generates from options; `what` is "pod" or
// "job".
template <typename Options, typename Make>
void ExpectTimeLimits(Options options, absl::string_view what, const Make& make) {
  JobArrival job;
  options.run_time = "constant(4000000001)";
  const auto long_runs = make(options);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(
        long_runs.source->Next(&job).status(),
        absl::InvalidArgumentError(absl::StrCat(
            "generated ", what, " 0: a run time of 4000000001 s, expected at most 4000000000 s")));
  }
  options.run_time = "constant(4000000000)";
  options.interarrival = "constant(3000000000)";
  const auto late = make(options);
  for (int i = 0; i < 2; ++i) {
    const absl::StatusOr<bool> more = late.source->Next(&job);
    ASSERT_TRUE(more.ok()) << more.status();
    EXPECT_EQ(job.time.ns(), 3'000'000'000'000'000'000 * i);
    EXPECT_EQ(job.run_time.ns(), 4'000'000'000'000'000'000);
  }
  const absl::Status expected = absl::InvalidArgumentError(
      absl::StrCat("generated ", what,
                   " 2: found an arrival after more than 4000000000 s, expected an earlier one"));
  EXPECT_EQ(late.source->Next(&job).status(), expected);
  EXPECT_EQ(late.source->Next(&job).status(), expected);

  const std::string saved = late.Saved();
  const auto loaded = make(options);
  StateReader in(saved);
  ASSERT_EQ(loaded.source->Load(in), absl::OkStatus());
  EXPECT_EQ(loaded.source->Next(&job).status(), expected);
}

// Saved after any number of jobs and loaded, a generator goes on alike; `make` generates afresh.
template <typename Make>
void ExpectGoesOnFromEveryPosition(const Make& make) {
  const std::vector<JobArrival> whole = make().All();
  for (size_t position = 0; position <= whole.size(); ++position) {
    const auto first = make();
    JobArrival job;
    for (size_t i = 0; i < position; ++i) ASSERT_TRUE(first.source->Next(&job).ok());
    const std::string saved = first.Saved();
    const auto second = make();
    StateReader in(saved);
    ASSERT_EQ(second.source->Load(in), absl::OkStatus());
    EXPECT_TRUE(in.AtEnd());
    const std::vector<JobArrival> rest = second.All();
    ASSERT_EQ(rest.size(), whole.size() - position);
    EXPECT_TRUE(
        std::equal(rest.begin(), rest.end(), whole.begin() + static_cast<std::ptrdiff_t>(position)))
        << "from " << position;
  }
}

// The place of one workload cannot be loaded into another, with this message, nor a part of it
// anywhere.
template <typename Generated>
void ExpectRefusesPositionOf(const Generated& one, const Generated& other,
                             absl::string_view message) {
  const std::string saved = one.Saved();
  StateReader in(saved);
  const absl::Status status = other.source->Load(in);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_TRUE(absl::StrContains(status.message(), message)) << status;
  StateReader cut(absl::string_view(saved).substr(0, saved.size() - 1));
  EXPECT_FALSE(one.source->Load(cut).ok());
}

}  // namespace drasim::generator_rig

#endif  // DRASIM_TESTS_TRACES_GENERATOR_RIG_H_
