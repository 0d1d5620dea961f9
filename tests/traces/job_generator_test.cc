#include "traces/job_generator.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "model/distributions.h"
#include "tests/traces/generator_rig.h"
#include "traces/shaping.h"

namespace drasim {
namespace job_generator_test {

using generator_rig::ExpectGoesOnFromEveryPosition;
using generator_rig::ExpectOwnStreams;
using generator_rig::ExpectRefusesPositionOf;
using generator_rig::ExpectTimeLimits;
using generator_rig::GeneratedBy;

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kDay = 86'400 * kSecond;

JobGeneratorOptions Options(int64_t jobs, std::vector<GangWeight> gangs) {
  JobGeneratorOptions options;
  options.jobs = jobs;
  options.gangs = std::move(gangs);
  return options;
}

struct Generated : GeneratedBy<JobGenerator> {
  explicit Generated(const JobGeneratorOptions& options) {
    Take(JobGenerator::Create(options, &shapes));
  }

  int32_t GpusOf(const JobArrival& job) const {
    int32_t gpus = job.pods * shapes.row(job.shape).request.gpu_count;
    for (const PodGroup& group : job.more_pods) {
      gpus += group.pods * shapes.row(group.shape).request.gpu_count;
    }
    return gpus;
  }
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
    EXPECT_EQ(shape.request.gpu_count, std::min(gpus, 8));
    EXPECT_EQ(shape.request.gpu_milli, 1000);
    EXPECT_EQ(shape.request.cpu_milli, 3000 * shape.request.gpu_count);
    EXPECT_EQ(shape.request.memory_bytes, 1000 * shape.request.gpu_count);
    EXPECT_EQ(job.pods, std::max(1, gpus / 8));
    if (gpus == 12 || gpus == 19) {
      ASSERT_EQ(job.more_pods.size(), 1u);
      EXPECT_EQ(job.more_pods[0].pods, 1);
      const PodShape& rest = generated.shapes.row(job.more_pods[0].shape);
      EXPECT_EQ(rest.request.gpu_count, gpus % 8);
      EXPECT_EQ(rest.request.cpu_milli, 3000 * rest.request.gpu_count);
      EXPECT_EQ(rest.request.memory_bytes, 1000 * rest.request.gpu_count);
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
  ExpectOwnStreams(jobs, 11, Distribution::Exponential(30), Distribution::LogNormal(600, 2));

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
  // The first half of a day has (1/2 + swing / pi) of its 1440 jobs, starting with the one at
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
  ExpectTimeLimits(Options(5, {{1, 1}}), "job",
                   [](const JobGeneratorOptions& options) { return Generated(options); });
}

TEST(JobGeneratorTest, GoesOnFromASavedPosition) {
  JobGeneratorOptions options = Options(25, {{1, 3}, {12, 2}, {16, 1}});
  options.seed = 3;
  options.interarrival = "exponential(mean=9000)";
  options.run_time = "normal(mean=100,stddev=50)";
  options.daily_swing = 0.7;
  EXPECT_EQ(All(options).size(), 25u);
  ExpectGoesOnFromEveryPosition([&] { return Generated(options); });
}

TEST(JobGeneratorTest, RefusesAPositionOfAnotherWorkload) {
  ExpectRefusesPositionOf(Generated(Options(10, StandardGangs())),
                          Generated(Options(11, StandardGangs())), "has 11 jobs, the saved one 10");
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
