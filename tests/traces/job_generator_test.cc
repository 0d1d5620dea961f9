#include "traces/job_generator.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/distributions.h"
#include "model/random.h"
#include "model/state_io.h"
#include "traces/shaping.h"

namespace drasim {
namespace job_generator_test {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kDay = 86'400 * kSecond;

JobGeneratorOptions Options(int64_t jobs, std::vector<GangWeight> gangs) {
  JobGeneratorOptions options;
  options.jobs = jobs;
  options.gangs = std::move(gangs);
  return options;
}

// A source together with the tables that it needs.
struct Generated {
  explicit Generated(const JobGeneratorOptions& options) : shapes(&models) {
    absl::StatusOr<std::unique_ptr<JobGenerator>> created = JobGenerator::Create(options, &shapes);
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

  int32_t GpusOf(const JobArrival& job) const {
    int32_t gpus = job.pods * shapes.row(job.shape).gpu_count;
    for (const PodGroup& group : job.more_pods) {
      gpus += group.pods * shapes.row(group.shape).gpu_count;
    }
    return gpus;
  }

  GpuModelTable models;
  ShapeTable shapes;
  std::unique_ptr<JobGenerator> source;
};

std::vector<JobArrival> All(const JobGeneratorOptions& options) { return Generated(options).All(); }

std::vector<int64_t> TimesNs(const JobGeneratorOptions& options) {
  std::vector<int64_t> times_ns;
  for (const JobArrival& job : All(options)) times_ns.push_back(job.time.ns());
  return times_ns;
}

std::string Sizes(const JobGeneratorOptions& options) {
  const Generated generated(options);
  std::vector<int32_t> sizes;
  for (const JobArrival& job : generated.All()) sizes.push_back(generated.GpusOf(job));
  return absl::StrJoin(sizes, ",");
}

// Computed by a second implementation of the generator and the rounding of weights.
TEST(JobGeneratorTest, SizesArePinned) {
  JobGeneratorOptions options = Options(30, StandardGangs());
  options.seed = 42;
  EXPECT_EQ(Sizes(options), "1,1,4,4,1,2,1,1,1,1,1,16,1,1,1,1,1,1,1,1,2,1,1,1,1,8,1,2,1,1");
  options.seed = 43;
  EXPECT_EQ(Sizes(options), "1,1,1,1,4,1,1,1,2,1,8,1,4,1,1,1,1,1,8,1,1,1,1,1,1,2,1,2,1,1");
}

TEST(JobGeneratorTest, TheStandardMixHasItsShares) {
  JobGeneratorOptions options = Options(100'000, StandardGangs());
  options.seed = 3;
  const Generated generated(options);
  EXPECT_NEAR(generated.source->mean_gpus(), 2.42, 1e-9);
  std::map<int32_t, int> counts;
  for (const JobArrival& job : generated.All()) ++counts[generated.GpusOf(job)];
  const std::map<int32_t, double> shares = {{1, .7}, {2, .1},    {4, .08},
                                            {8, .1}, {16, .015}, {32, .005}};
  ASSERT_EQ(counts.size(), shares.size());
  for (const auto& [gpus, share] : shares) {
    const double margin = 4 * std::sqrt(100'000 * share * (1 - share));
    EXPECT_NEAR(counts[gpus], 100'000 * share, margin) << gpus;
  }
}

TEST(JobGeneratorTest, JobsAreSplitIntoEqualPodsAndARest) {
  JobGeneratorOptions options = Options(400, {{4, 1}, {8, 1}, {12, 1}, {32, 1}, {19, 1}});
  options.cpu_milli_per_gpu = 3000;
  options.memory_bytes_per_gpu = 1000;
  const Generated generated(options);
  std::map<int32_t, int> seen;
  for (const JobArrival& job : generated.All()) {
    const int32_t gpus = generated.GpusOf(job);
    ++seen[gpus];
    const PodShape& shape = generated.shapes.row(job.shape);
    EXPECT_EQ(shape.gpu_count, std::min(gpus, 8));
    EXPECT_EQ(shape.gpu_milli, 1000);
    EXPECT_EQ(shape.cpu_milli, 3000 * shape.gpu_count);
    EXPECT_EQ(shape.memory_bytes, 1000 * shape.gpu_count);
    EXPECT_EQ(job.pods, std::max(1, gpus / 8));
    if (gpus == 12 || gpus == 19) {
      ASSERT_EQ(job.more_pods.size(), 1u);
      EXPECT_EQ(job.more_pods[0].pods, 1);
      const PodShape& rest = generated.shapes.row(job.more_pods[0].shape);
      EXPECT_EQ(rest.gpu_count, gpus % 8);
      EXPECT_EQ(rest.cpu_milli, 3000 * rest.gpu_count);
      EXPECT_EQ(rest.memory_bytes, 1000 * rest.gpu_count);
    } else {
      EXPECT_TRUE(job.more_pods.empty());
    }
  }
  for (const int32_t gpus : {4, 8, 12, 32, 19}) EXPECT_GT(seen[gpus], 40) << gpus;
}

TEST(JobGeneratorTest, TheRestIsMarked) {
  JobGeneratorOptions options = Options(1, {{7, 1}});
  options.gpus_per_pod = 3;
  const Generated generated(options);
  const std::vector<JobArrival> jobs = generated.All();
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].pods, 2);
  EXPECT_FALSE(generated.shapes.row(jobs[0].shape).gang_remainder);
  ASSERT_EQ(jobs[0].more_pods.size(), 1u);
  EXPECT_TRUE(generated.shapes.row(jobs[0].more_pods[0].shape).gang_remainder);
}

TEST(JobGeneratorTest, WeightsOfZeroAreNeverDrawnAndTinyOnesNearlyNever) {
  const Generated generated(Options(10'000, {{1, 0}, {2, 5}, {3, 0}, {4, 1e-200}, {5, 0}}));
  for (const JobArrival& job : generated.All()) ASSERT_EQ(generated.GpusOf(job), 2);
  EXPECT_NEAR(generated.source->mean_gpus(), 2, 1e-11);
}

TEST(JobGeneratorTest, EveryFieldIsSet) {
  JobGeneratorOptions options = Options(2, {{16, 1}});
  const Generated generated(options);
  JobArrival job;
  job.more_pods = {PodGroup{}};
  job.tenant = "someone";
  job.priority = 5;
  job.has_deadline = true;
  job.failed_attempts = {SimDuration(1)};
  job.preemptible = false;
  ASSERT_TRUE(generated.source->Next(&job).ok());
  JobArrival expected;
  expected.name = "job-0000000";
  expected.shape = ShapeId(size_t{0});
  expected.pods = 2;
  EXPECT_TRUE(job == expected);
  ASSERT_TRUE(generated.source->Next(&job).ok());
  EXPECT_EQ(job.name, "job-0000001");
  EXPECT_EQ(generated.source->jobs(), 2);
  for (int i = 0; i < 2; ++i) {
    const absl::StatusOr<bool> more = generated.source->Next(&job);
    ASSERT_TRUE(more.ok());
    EXPECT_FALSE(*more);
  }
  options.jobs = 10'000'001;
  const Generated many(options);
  ASSERT_TRUE(many.source->Next(&job).ok());
  EXPECT_EQ(job.name, "job-00000000");
}

TEST(JobGeneratorTest, TimesComeFromTheirOwnStreams) {
  JobGeneratorOptions options = Options(200, StandardGangs());
  options.seed = 11;
  options.interarrival = "exponential(mean=30)";
  options.run_time = "lognormal(median=600,sigma=2)";
  const std::vector<JobArrival> jobs = All(options);
  const absl::StatusOr<Distribution> gaps = Distribution::Exponential(30);
  const absl::StatusOr<Distribution> lengths = Distribution::LogNormal(600, 2);
  ASSERT_TRUE(gaps.ok() && lengths.ok());
  Random gap_stream(11, "workload/interarrival");
  Random length_stream(11, "workload/run_time");
  EXPECT_EQ(jobs[0].time.ns(), 0);
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (i > 0) {
      const int64_t gap_ns = std::llround(gaps->Sample(gap_stream) * 1e9);
      EXPECT_EQ(jobs[i].time.ns() - jobs[i - 1].time.ns(), gap_ns) << i;
    }
    EXPECT_TRUE(jobs[i].has_run_time);
    EXPECT_EQ(jobs[i].run_time.ns(), std::llround(lengths->Sample(length_stream) * 1e9)) << i;
  }

  // Other run times leave sizes and arrivals alone.
  const std::string sizes = Sizes(options);
  options.run_time = "";
  EXPECT_EQ(Sizes(options), sizes);
  const std::vector<JobArrival> others = All(options);
  for (size_t i = 0; i < jobs.size(); ++i) EXPECT_EQ(others[i].time, jobs[i].time) << i;
  EXPECT_FALSE(others[0].has_run_time);
}

TEST(JobGeneratorTest, NegativeSamplesCountAsZero) {
  JobGeneratorOptions options = Options(50, {{1, 1}});
  options.interarrival = "constant(-1)";
  options.run_time = "constant(-5)";
  for (const JobArrival& job : All(options)) {
    EXPECT_EQ(job.time.ns(), 0);
    EXPECT_EQ(job.run_time.ns(), 0);
  }
}

TEST(JobGeneratorTest, LoadPercentGivesTheMeanGap) {
  // 3 GPUs on average for 100 s, on 75 % of 10 GPUs: one job in 40 s.
  JobGeneratorOptions options = Options(10, {{2, 1}, {4, 1}});
  options.run_time = "uniform(low=50,high=150)";
  options.load_percent = 75;
  options.capacity_gpus = 10;
  options.seed = 4;
  const Generated generated(options);
  EXPECT_EQ(generated.source->mean_gpus(), 3);
  ASSERT_TRUE(generated.source->interarrival().has_value());
  EXPECT_EQ(generated.source->interarrival()->ToString(), "exponential(mean=40)");
  const std::vector<JobArrival> by_load = generated.All();
  options.load_percent.reset();
  options.interarrival = "exponential(mean=40)";
  EXPECT_TRUE(All(options) == by_load);
}

TEST(JobGeneratorTest, TheLoadIsNearItsTarget) {
  JobGeneratorOptions options = Options(100'000, StandardGangs());
  options.cpu_milli_per_gpu = 6000;
  options.run_time = "lognormal(median=600,sigma=1)";
  options.load_percent = 80;
  options.capacity_gpus = 1000;
  for (const uint64_t seed : {1u, 2u, 3u}) {
    options.seed = seed;
    const Generated generated(options);
    const LoadEstimate load = MeanLoad(generated.All(), generated.shapes);
    EXPECT_NEAR(load.mean_gpu_milli, 800'000, 800'000 * 0.05) << seed;
    EXPECT_NEAR(load.mean_cpu_milli, load.mean_gpu_milli * 6, 1) << seed;
    EXPECT_EQ(load.endless_jobs, 0);
  }
}

// The integral of the rate, by libm.
double EvenClock(double ns, double swing) {
  const double day = static_cast<double>(kDay);
  const double turn = 2 * std::acos(-1.0);
  return ns + swing * day / turn * (1 - std::cos(turn * ns / day));
}

TEST(JobGeneratorTest, TheSwingIsTheInverseOfTheIntegratedRate) {
  JobGeneratorOptions options = Options(3000, {{1, 1}});
  options.interarrival = "exponential(mean=100)";  // three and a half days
  options.seed = 6;
  const std::vector<int64_t> even_ns = TimesNs(options);
  for (const double swing : {0.1, 0.5, 1.0}) {
    options.daily_swing = swing;
    const std::vector<int64_t> swung_ns = TimesNs(options);
    EXPECT_TRUE(std::is_sorted(swung_ns.begin(), swung_ns.end()));
    for (size_t i = 0; i < even_ns.size(); ++i) {
      const int64_t day = even_ns[i] / kDay;
      const double shown = EvenClock(static_cast<double>(swung_ns[i] - day * kDay), swing) +
                           static_cast<double>(day * kDay) - static_cast<double>(even_ns[i]);
      // The first nanosecond that is not too early; a nanosecond is up to 1 + swing on the other
      // clock. The margin is for libm and for times of days on end, whose doubles are 1/16 apart.
      EXPECT_GE(shown, -0.2) << i;
      EXPECT_LE(shown, 1 + swing + 0.2) << i;
    }
  }
}

TEST(JobGeneratorTest, TheSwingMovesArrivalsIntoTheFirstHalfOfTheDay) {
  JobGeneratorOptions options = Options(3 * 1440, {{1, 1}});
  options.interarrival = "constant(60)";
  // Of the 1440 jobs of a day the first half has (1/2 + swing / pi), starting with the one at
  // midnight: 720 for none, 949.2 for a half, 1178.4 for one.
  const std::vector<std::pair<double, int>> cases = {{0, 720}, {0.5, 950}, {1, 1179}};
  for (const auto& [swing, expected] : cases) {
    options.daily_swing = swing;
    std::vector<int> morning(3);
    std::vector<int> whole(3);
    for (const int64_t ns : TimesNs(options)) {
      const auto day = static_cast<size_t>(ns / kDay);
      ASSERT_LT(day, 3u);
      ++whole[day];
      if (ns % kDay < kDay / 2) ++morning[day];
    }
    EXPECT_EQ(morning, std::vector<int>(3, expected)) << swing;
    EXPECT_EQ(whole, std::vector<int>(3, 1440)) << swing;
  }
  // Whole days pass alike, so midnights stay.
  EXPECT_EQ(TimesNs(options)[1440], kDay);
  EXPECT_EQ(TimesNs(options)[2880], 2 * kDay);
}

TEST(JobGeneratorTest, AFullSwingNearlyStopsAtItsLowestPoint) {
  JobGeneratorOptions options = Options(86'400, {{1, 1}});
  options.interarrival = "exponential(mean=1)";
  options.daily_swing = 1;
  int64_t around_low = 0;
  int64_t around_high = 0;
  for (const int64_t ns : TimesNs(options)) {
    const int64_t hour = ns / (3600 * kSecond);
    if (hour == 17 || hour == 18) ++around_low;
    if (hour == 5 || hour == 6) ++around_high;
  }
  // Two hours at 1 + sin: the integral gives 81.9 and 14318 jobs.
  EXPECT_NEAR(static_cast<double>(around_low), 82, 40);
  EXPECT_NEAR(static_cast<double>(around_high), 14318, 600);
}

TEST(JobGeneratorTest, TimesBeyondTheLimitAreErrorsThatStick) {
  JobArrival job;
  JobGeneratorOptions options = Options(5, {{1, 1}});
  options.run_time = "constant(4000000001)";
  const Generated long_runs(options);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(long_runs.source->Next(&job).status(),
              absl::InvalidArgumentError("generated job 0: a run time of 4000000001 s, expected at "
                                         "most 4000000000 s"));
  }
  options.run_time = "constant(4000000000)";
  options.interarrival = "constant(3000000000)";
  const Generated late(options);
  ASSERT_TRUE(late.source->Next(&job).ok());
  ASSERT_TRUE(late.source->Next(&job).ok());
  EXPECT_EQ(job.time.ns(), 3'000'000'000'000'000'000);
  const absl::Status expected = absl::InvalidArgumentError(
      "generated job 2: found an arrival after more than 4000000000 s, expected an earlier one");
  EXPECT_EQ(late.source->Next(&job).status(), expected);
  EXPECT_EQ(late.source->Next(&job).status(), expected);

  StateWriter out;
  late.source->Save(out);
  const Generated loaded(options);
  StateReader in(out.bytes());
  const absl::Status status = loaded.source->Load(in);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(loaded.source->Next(&job).status(), expected);
}

TEST(JobGeneratorTest, GoesOnFromASavedPosition) {
  JobGeneratorOptions options = Options(25, {{1, 3}, {12, 2}, {16, 1}});
  options.seed = 3;
  options.interarrival = "exponential(mean=9000)";
  options.run_time = "normal(mean=100,stddev=50)";
  options.daily_swing = 0.7;
  const std::vector<JobArrival> whole = All(options);
  ASSERT_EQ(whole.size(), 25u);
  for (size_t position = 0; position <= whole.size(); ++position) {
    const Generated first(options);
    JobArrival job;
    for (size_t i = 0; i < position; ++i) ASSERT_TRUE(first.source->Next(&job).ok());
    StateWriter out;
    first.source->Save(out);
    const Generated second(options);
    StateReader in(out.bytes());
    const absl::Status status = second.source->Load(in);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_TRUE(in.AtEnd());
    const std::vector<JobArrival> rest = second.All();
    ASSERT_EQ(rest.size(), whole.size() - position);
    EXPECT_TRUE(
        std::equal(rest.begin(), rest.end(), whole.begin() + static_cast<std::ptrdiff_t>(position)))
        << "from " << position;
  }
}

TEST(JobGeneratorTest, RefusesAPositionOfAnotherWorkload) {
  const Generated ten(Options(10, StandardGangs()));
  StateWriter out;
  ten.source->Save(out);
  const Generated eleven(Options(11, StandardGangs()));
  StateReader in(out.bytes());
  const absl::Status status = eleven.source->Load(in);
  EXPECT_FALSE(status.ok());
  EXPECT_TRUE(absl::StrContains(status.message(), "has 11 jobs, the saved one 10")) << status;
  StateReader cut(absl::string_view(out.bytes()).substr(0, out.bytes().size() - 1));
  EXPECT_FALSE(ten.source->Load(cut).ok());
}

struct BadOptions {
  std::function<void(JobGeneratorOptions&)> set;
  std::string message;  // its begin
};
using O = JobGeneratorOptions;

void ExpectRefused(const std::vector<BadOptions>& rows) {
  GpuModelTable models;
  ShapeTable shapes(&models);
  for (const BadOptions& row : rows) {
    JobGeneratorOptions options = Options(10, StandardGangs());
    row.set(options);
    const absl::Status status = JobGenerator::Create(options, &shapes).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << row.message;
    EXPECT_TRUE(absl::StartsWith(status.message(), "workload.generated." + row.message)) << status;
  }
}

TEST(JobGeneratorTest, RefusesBadOptionsByTheirKeys) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<BadOptions> rows = {
      {[](O& o) { o.jobs = 0; }, "pods: found 0, expected 1 to 4294967295 jobs"},
      {[](O& o) { o.jobs = int64_t{1} << 32; }, "pods: found 4294967296, expected"},
      {[](O& o) { o.gangs.clear(); }, "gangs: found 0 entries, expected 1 to 1000"},
      {[](O& o) {
         o.gangs.resize(1001, GangWeight{1, 1});
       },
       "gangs: found 1001 entries, "},
      {[](O& o) {
         o.gangs = {{0, 1}};
       },
       "gangs: found 0 GPUs, expected 1 to 100000"},
      {[](O& o) {
         o.gangs = {{100001, 1}};
       },
       "gangs: found 100001 GPUs, "},
      {[](O& o) {
         o.gangs = {{1, -1}};
       },
       "gangs: found the weight -1, expected"},
      {[nan](O& o) {
         o.gangs = {{1, nan}};
       },
       "gangs: found the weight nan, expected"},
      {[](O& o) {
         o.gangs = {{1, 0}, {2, 0}};
       },
       "gangs: found no weight above 0, "},
      {[](O& o) { o.gpus_per_pod = 0; }, "gangs: found 0 GPUs per pod, expected 1 to 64"},
      {[](O& o) { o.gpus_per_pod = 65; }, "gangs: found 65 GPUs per pod, "},
      {[](O& o) { o.cpu_milli_per_gpu = -1; }, "gangs: found -1 milli-CPUs per GPU, "},
      {[](O& o) { o.memory_bytes_per_gpu = -1; }, "gangs: found -1 bytes per GPU, "},
      {[](O& o) { o.daily_swing = 1.01; }, "daily_swing: found 1.01, expected a number from 0 to "},
      {[nan](O& o) { o.daily_swing = nan; }, "daily_swing: found nan, "},
      {[](O& o) { o.daily_swing = 0.5; }, "daily_swing: found no rate of arrivals that could "},
      {[](O& o) { o.interarrival = "exponential(30"; }, "interarrival: "},
      {[](O& o) { o.run_time = "sometimes"; }, "run_time: "},
  };
  ExpectRefused(rows);
}

TEST(JobGeneratorTest, RefusesLoadsThatCannotBe) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<BadOptions> rows = {
      {[](O& o) { o.load_percent = 0; }, "load_percent: found 0, expected a number above 0, "},
      {[nan](O& o) { o.load_percent = nan; }, "load_percent: found nan, "},
      {[](O& o) { o.load_percent = 80; }, "load_percent: found a cluster without GPUs, expected "},
      {[](O& o) {
         o.load_percent = 80;
         o.capacity_gpus = 8;
       },
       "load_percent: found no run_time, expected one"},
      {[](O& o) {
         o.load_percent = 80;
         o.interarrival = "constant(1)";
       },
       "load_percent: found interarrival, too, expected one of them"},
      {[](O& o) {
         o.load_percent = 80;
         o.capacity_gpus = 8;
         o.run_time = "pareto(min=1,alpha=1)";
       },
       "load_percent: found run_time pareto(min=1,alpha=1), whose mean is infinite, expected a "
       "mean above 0, at most 4000000000 s"},
      {[](O& o) {
         o.load_percent = 80;
         o.capacity_gpus = 8;
         o.run_time = "constant(0)";
       },
       "load_percent: found run_time constant(0), whose mean is 0, expected "},
  };
  ExpectRefused(rows);
}

}  // namespace job_generator_test
}  // namespace drasim
