// Every knob of ShapeJobs on small exact cases, their order, and their statistics.
#include "traces/shaping.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/distributions.h"
#include "model/event_source.h"
#include "model/gpu_model_table.h"
#include "model/node_spec.h"
#include "model/pod_shape.h"
#include "model/random.h"
#include "model/shape_table.h"
#include "model/time.h"

namespace drasim {
namespace shaping_test {

constexpr int64_t kSecond = 1'000'000'000;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

JobArrival Job(absl::string_view name, int64_t ns, absl::string_view tenant = "") {
  JobArrival job;
  job.name = std::string(name);
  job.shape = ShapeId(size_t{0});
  job.tenant = std::string(tenant);
  job.time = SimTime(ns);
  return job;
}

// Jobs "j0", "j1", ... at the given times.
std::vector<JobArrival> JobsAt(const std::vector<int64_t>& times_ns) {
  std::vector<JobArrival> jobs;
  for (const int64_t ns : times_ns) jobs.push_back(Job(absl::StrCat("j", jobs.size()), ns));
  return jobs;
}

// "a@0 b@10": names and arrivals in nanoseconds.
std::string Text(const std::vector<JobArrival>& jobs) {
  return absl::StrJoin(jobs, " ", [](std::string* out, const JobArrival& job) {
    absl::StrAppend(out, job.name, "@", job.time.ns());
  });
}

struct Result {
  std::vector<JobArrival> jobs;
  int64_t origin_ns = -1;
};

Result Shaped(const ShapingOptions& options, std::vector<JobArrival> jobs) {
  Result result;
  result.jobs = std::move(jobs);
  const absl::Status status = ShapeJobs(options, &result.jobs, &result.origin_ns);
  EXPECT_TRUE(status.ok()) << status;
  return result;
}

std::string ShapedText(const ShapingOptions& options, std::vector<JobArrival> jobs) {
  return Text(Shaped(options, std::move(jobs)).jobs);
}

std::string Error(const ShapingOptions& options, std::vector<JobArrival> jobs) {
  int64_t origin_ns = 0;
  const absl::Status status = ShapeJobs(options, &jobs, &origin_ns);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  return std::string(status.message());
}

Distribution Parsed(absl::string_view text) {
  absl::StatusOr<Distribution> parsed = Distribution::Parse(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return parsed.ok() ? *std::move(parsed) : Distribution();
}

using Timed = std::vector<std::pair<int64_t, std::string>>;

// Stably, by time.
Timed Sorted(Timed timed) {
  std::stable_sort(timed.begin(), timed.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  return timed;
}

Timed TimedOf(const std::vector<JobArrival>& jobs) {
  Timed timed;
  for (const JobArrival& job : jobs) timed.emplace_back(job.time.ns(), job.name);
  return timed;
}

// Names instances as the header says, for names that no copy can meet.
class NaiveNames {
 public:
  std::string Next(const std::string& name) {
    const int before = count_[name]++;
    return before == 0 ? name : absl::StrCat(name, "-copy-", before);
  }

 private:
  std::map<std::string, int> count_;
};

TEST(ShapeJobsTest, ByDefaultOnlySortsStably) {
  const Result result =
      Shaped({}, {Job("b", 20), Job("a", 10), Job("d", 20), Job("c", 10), Job("z", 0)});
  EXPECT_EQ(Text(result.jobs), "z@0 a@10 c@10 b@20 d@20");
  EXPECT_EQ(result.origin_ns, 0);
  EXPECT_EQ(ShapedText({}, {}), "");
}

TEST(ShapeJobsTest, KeepsTheJobsOfTenants) {
  const std::vector<JobArrival> jobs = {Job("a", 1, "alpha"), Job("b", 2, "beta"), Job("c", 3),
                                        Job("d", 4, "alpha"), Job("e", 5, "gamma")};
  ShapingOptions options;
  options.tenants = {"gamma", "alpha"};
  EXPECT_EQ(ShapedText(options, jobs), "a@1 d@4 e@5");
  options.tenants = {""};
  EXPECT_EQ(ShapedText(options, jobs), "c@3");
  options.tenants = {"beta", "alpa"};
  EXPECT_EQ(Error(options, jobs),
            "workload.tenants: no job of the trace has the tenant 'alpa' (did you mean 'alpha'?)");
  EXPECT_EQ(Error(options, {}), "workload.tenants: no job of the trace has the tenant 'alpa'");
}

TEST(ShapeJobsTest, WindowIsInclusiveAndItsStartBecomesZero) {
  std::vector<JobArrival> jobs = JobsAt({9, 10, 15, 20, 21});
  jobs[2].has_deadline = true;
  jobs[2].deadline = SimTime(40);
  jobs[3].has_deletion = true;
  jobs[3].deletion = SimTime(8);
  jobs[4].deadline = SimTime(7);  // means nothing: has_deadline is not set
  ShapingOptions options;
  options.window_start_ns = 10;
  options.window_end_ns = 20;
  const Result result = Shaped(options, jobs);
  EXPECT_EQ(Text(result.jobs), "j1@0 j2@5 j3@10");
  EXPECT_EQ(result.origin_ns, 10);
  EXPECT_EQ(result.jobs[1].deadline.ns(), 30);
  EXPECT_EQ(result.jobs[2].deletion.ns(), -2);

  options.window_end_ns.reset();
  const Result from = Shaped(options, jobs);
  EXPECT_EQ(Text(from.jobs), "j1@0 j2@5 j3@10 j4@11");
  EXPECT_EQ(from.jobs[3].deadline.ns(), 7);
  options.window_start_ns.reset();
  options.window_end_ns = 15;
  const Result until = Shaped(options, jobs);
  EXPECT_EQ(Text(until.jobs), "j0@9 j1@10 j2@15");
  EXPECT_EQ(until.origin_ns, 0);
  options.window_start_ns = -5;
  EXPECT_EQ(ShapedText(options, jobs), "j0@14 j1@15 j2@20");
}

TEST(ShapeJobsTest, AbsoluteClocksBeginAtTheFirstJobKept) {
  ShapingOptions options;
  const int64_t epoch_ns = 1'500'000'000 * kSecond;
  const std::vector<JobArrival> jobs = {Job("a", epoch_ns, "x"), Job("b", epoch_ns + 7, "y"),
                                        Job("c", epoch_ns + 9, "y")};
  const Result all = Shaped(options, jobs);
  EXPECT_EQ(Text(all.jobs), "a@0 b@7 c@9");
  EXPECT_EQ(all.origin_ns, epoch_ns);
  options.tenants = {"y"};
  const Result some = Shaped(options, jobs);
  EXPECT_EQ(Text(some.jobs), "b@0 c@2");
  EXPECT_EQ(some.origin_ns, epoch_ns + 7);
  options.window_start_ns = epoch_ns + 1;
  EXPECT_EQ(ShapedText(options, jobs), "b@6 c@8");

  EXPECT_EQ(Shaped({}, JobsAt({kAbsoluteClockNs})).origin_ns, kAbsoluteClockNs);
  EXPECT_EQ(Shaped({}, JobsAt({kAbsoluteClockNs - 1})).origin_ns, 0);
}

TEST(ShapeJobsTest, AWindowWithoutJobsIsAnError) {
  const std::vector<JobArrival> jobs = JobsAt({0, kSecond});
  ShapingOptions options;
  options.window_start_ns = 5 * kSecond;
  EXPECT_EQ(Error(options, jobs),
            "workload.window: found no job from 5.000 s to ever, expected a part of 0.000 s to "
            "1.000 s, when the trace's jobs arrive");
  options.window_end_ns = 6 * kSecond;
  EXPECT_EQ(Error(options, jobs),
            "workload.window: found no job from 5.000 s to 6.000 s, expected a part of 0.000 s to "
            "1.000 s, when the trace's jobs arrive");
  options.window_end_ns = 4 * kSecond;
  EXPECT_EQ(Error(options, jobs),
            "workload.window: found an end before the start, expected start <= end");
}

TEST(ShapeJobsTest, BootstrapKeepsTheProcessAndDrawsTheJobs) {
  std::vector<JobArrival> jobs = JobsAt({5, 10, 20});
  for (size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].has_run_time = true;
    jobs[i].run_time = SimDuration(static_cast<int64_t>(i) + 100);
    jobs[i].has_deadline = true;
    jobs[i].deadline = jobs[i].time + SimDuration(static_cast<int64_t>(i) + 1000);
  }
  for (uint64_t seed = 0; seed < 10; ++seed) {
    ShapingOptions options;
    options.bootstrap_jobs = 7;
    options.seed = seed;
    const Result result = Shaped(options, jobs);
    // Shifted by the span of 15 for each round of the three.
    const std::vector<int64_t> times_ns = {5, 10, 20, 20, 25, 35, 35};
    ASSERT_EQ(result.jobs.size(), times_ns.size());
    Random oracle(seed, "workload/bootstrap");
    NaiveNames names;
    for (size_t i = 0; i < times_ns.size(); ++i) {
      const JobArrival& from = jobs[static_cast<size_t>(oracle.Below(3))];
      EXPECT_EQ(result.jobs[i].name, names.Next(from.name)) << i;
      EXPECT_EQ(result.jobs[i].time.ns(), times_ns[i]) << i;
      EXPECT_EQ(result.jobs[i].run_time, from.run_time) << i;
      EXPECT_EQ(result.jobs[i].deadline - result.jobs[i].time, from.deadline - from.time) << i;
    }
  }
}

TEST(ShapeJobsTest, BootstrapOfOneJobAndOfAWindow) {
  ShapingOptions options;
  options.bootstrap_jobs = 3;
  EXPECT_EQ(ShapedText(options, {Job("a", 4)}), "a@4 a-copy-1@4 a-copy-2@4");
  options.bootstrap_block_ns = 10;
  EXPECT_EQ(ShapedText(options, {Job("a", 4)}), "a@4 a-copy-1@4 a-copy-2@4");
  EXPECT_EQ(ShapedText(options, {}), "");
  // The window, not its one job, is the span.
  options.window_start_ns = 0;
  options.window_end_ns = 10;
  EXPECT_EQ(ShapedText(options, {Job("a", 4), Job("b", 11)}), "a@4 a-copy-1@14 a-copy-2@24");
  options.bootstrap_block_ns = 0;
  EXPECT_EQ(ShapedText(options, {Job("a", 4), Job("b", 11)}), "a@4 a-copy-1@14 a-copy-2@24");
}

TEST(ShapeJobsTest, BootstrapDrawsEveryJobAlikeOften) {
  ShapingOptions options;
  options.bootstrap_jobs = 100'000;
  options.seed = 5;
  for (const int64_t block_ns : {0, 10}) {
    options.bootstrap_block_ns = block_ns;
    std::map<std::string, int> counts;
    const Result result = Shaped(options, JobsAt({0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100}));
    for (const JobArrival& job : result.jobs) {
      ++counts[job.name.substr(0, job.name.find('-'))];
    }
    ASSERT_EQ(counts.size(), 11u);
    // The last of ten blocks holds two jobs. The margin is more than four standard deviations.
    for (const auto& [name, count] : counts) EXPECT_NEAR(count, 100'000 / 11, 450) << name;
  }
}

TEST(ShapeJobsTest, ABlockAsLongAsTheTraceRepeatsIt) {
  ShapingOptions options;
  options.bootstrap_jobs = 7;
  for (const int64_t block_ns : {int64_t{15}, int64_t{16}, kMaxShapedNs * 2}) {
    options.bootstrap_block_ns = block_ns;
    EXPECT_EQ(ShapedText(options, JobsAt({5, 10, 20})),
              "j0@5 j1@10 j2@20 j0-copy-1@20 j1-copy-1@25 j2-copy-1@35 j0-copy-2@35");
  }
}

// The blocks drawn, laid out job by job over a list of all jobs.
std::string NaiveBlocks(const std::vector<JobArrival>& jobs, int64_t begin_ns, int64_t end_ns,
                        const ShapingOptions& options) {
  int64_t blocks = 1;
  while (blocks * options.bootstrap_block_ns < end_ns - begin_ns) ++blocks;
  Random random(options.seed, "workload/bootstrap");
  NaiveNames names;
  std::vector<std::string> laid;
  int64_t laid_ns = begin_ns;
  while (static_cast<int64_t>(laid.size()) < options.bootstrap_jobs) {
    const auto block = static_cast<int64_t>(random.Below(static_cast<uint64_t>(blocks)));
    const int64_t from_ns = begin_ns + block * options.bootstrap_block_ns;
    for (const JobArrival& job : jobs) {
      const int64_t into_ns = job.time.ns() - begin_ns;
      if (std::min(into_ns / options.bootstrap_block_ns, blocks - 1) != block) continue;
      if (static_cast<int64_t>(laid.size()) == options.bootstrap_jobs) break;
      laid.push_back(absl::StrCat(names.Next(job.name), "@", laid_ns + job.time.ns() - from_ns));
    }
    laid_ns += std::min(options.bootstrap_block_ns, end_ns - from_ns);
  }
  return absl::StrJoin(laid, " ");
}

TEST(ShapeJobsTest, BlocksAreLaidEndToEnd) {
  Random random(17, "test");
  for (int round = 0; round < 300; ++round) {
    std::vector<int64_t> times_ns;
    const uint64_t count = 1 + random.Below(12);
    for (uint64_t i = 0; i < count; ++i) times_ns.push_back(static_cast<int64_t>(random.Below(60)));
    std::sort(times_ns.begin(), times_ns.end());
    const std::vector<JobArrival> jobs = JobsAt(times_ns);
    ShapingOptions options;
    options.seed = random.U64();
    options.bootstrap_jobs = static_cast<int64_t>(1 + random.Below(30));
    options.bootstrap_block_ns = static_cast<int64_t>(1 + random.Below(40));
    EXPECT_EQ(ShapedText(options, jobs),
              NaiveBlocks(jobs, times_ns.front(), times_ns.back(), options));
    options.window_start_ns = 0;
    options.window_end_ns = 70;
    EXPECT_EQ(ShapedText(options, jobs), NaiveBlocks(jobs, 0, 70, options));
  }
}

TEST(ShapeJobsTest, BlocksThatAreNearlyAllEmptyAreRefused) {
  ShapingOptions options;
  options.bootstrap_jobs = 10;
  options.bootstrap_block_ns = 1;
  EXPECT_EQ(Error(options, JobsAt({0, 1'000'000'000})),
            "workload.bootstrap.block: found 1 ns, expected a longer one: the trace would fall "
            "into 1000000000 blocks, nearly all of them empty");
}

TEST(ShapeJobsTest, AFactorBelowOneKeepsJobsAtRandom) {
  std::vector<int64_t> times_ns(100'000);
  for (size_t i = 0; i < times_ns.size(); ++i) times_ns[i] = static_cast<int64_t>(i);
  const std::vector<JobArrival> jobs = JobsAt(times_ns);
  ShapingOptions options;
  options.load_factor = 0.3;
  options.seed = 8;
  const std::vector<JobArrival> kept = Shaped(options, jobs).jobs;
  EXPECT_NEAR(static_cast<double>(kept.size()), 30'000, 600);
  Random oracle(8, "workload/load_factor");
  std::vector<JobArrival> expected;
  for (const JobArrival& job : jobs) {
    if (oracle.Unit() < 0.3) expected.push_back(job);
  }
  EXPECT_TRUE(kept == expected);
}

TEST(ShapeJobsTest, AFactorAboveOneClonesWithinAnInterarrivalTime) {
  std::vector<JobArrival> jobs = JobsAt({0, 50, 51, 100});  // 33 on average, rounded down
  jobs[1].has_deletion = true;
  jobs[1].deletion = SimTime(60);
  ShapingOptions options;
  options.load_factor = 3;
  options.seed = 21;
  const Result result = Shaped(options, jobs);
  Random oracle(21, "workload/load_factor");
  Timed expected;
  for (const JobArrival& job : jobs) {
    oracle.Unit();
    expected.emplace_back(job.time.ns(), job.name);
    for (int clone = 1; clone <= 2; ++clone) {
      expected.emplace_back(job.time.ns() + static_cast<int64_t>(oracle.Below(34)),
                            absl::StrCat(job.name, "-copy-", clone));
    }
  }
  EXPECT_EQ(TimedOf(result.jobs), Sorted(expected));
  for (const JobArrival& job : result.jobs) {
    EXPECT_TRUE(!absl::StartsWith(job.name, "j1") || (job.deletion - job.time).ns() == 10);
  }
  options.load_factor = 1;
  EXPECT_EQ(ShapedText(options, jobs), "j0@0 j1@50 j2@51 j3@100");
  options.load_factor = 2;
  EXPECT_EQ(ShapedText(options, {Job("a", 4)}), "a@4 a-copy-1@4");
}

TEST(ShapeJobsTest, TheFractionOfAFactorIsAProbability) {
  std::vector<int64_t> times_ns(100'000);
  for (size_t i = 0; i < times_ns.size(); ++i) times_ns[i] = 1000 * static_cast<int64_t>(i);
  ShapingOptions options;
  options.load_factor = 2.25;
  options.seed = 3;
  const std::vector<JobArrival> jobs = Shaped(options, JobsAt(times_ns)).jobs;
  // All jobs twice, and a quarter of them once more: five standard deviations are 685.
  EXPECT_NEAR(static_cast<double>(jobs.size()), 225'000, 700);
  int64_t third = 0;
  double offset_sum = 0;
  for (const JobArrival& job : jobs) {
    if (absl::EndsWith(job.name, "-copy-2")) ++third;
    offset_sum += static_cast<double>(job.time.ns() % 1000);
  }
  EXPECT_EQ(third, static_cast<int64_t>(jobs.size()) - 200'000);
  // Clones are 500 late on average, originals not at all (and few clones are 1000 late).
  EXPECT_NEAR(offset_sum / static_cast<double>(jobs.size() - 100'000), 500, 10);
}

TEST(ShapeJobsTest, NamesOfCopiesAreUnique) {
  ShapingOptions options;
  options.load_factor = 3;
  // Without a span all clones come at once, each behind its original.
  EXPECT_EQ(ShapedText(options, {Job("a", 0), Job("a-copy-1", 0)}),
            "a@0 a-copy-2@0 a-copy-3@0 a-copy-1@0 a-copy-1-copy-1@0 a-copy-1-copy-2@0");
  // A copy of a copy counts on with its original.
  options.bootstrap_jobs = 2;
  options.load_factor = 2;
  EXPECT_EQ(ShapedText(options, {Job("a", 0)}), "a@0 a-copy-2@0 a-copy-1@0 a-copy-3@0");
  // Names that are not in the run are free.
  options.bootstrap_jobs = 0;
  options.tenants = {"x"};
  EXPECT_EQ(ShapedText(options, {Job("a", 0, "x"), Job("a-copy-1", 0, "y")}), "a@0 a-copy-1@0");
}

TEST(ShapeJobsTest, JitterMovesJobsButNotBeforeZero) {
  std::vector<JobArrival> jobs = JobsAt({100, 250, 300});
  jobs[0].has_deadline = true;
  jobs[0].deadline = SimTime(500);
  ShapingOptions options;
  options.jitter = Parsed("constant(0.00000001)");
  EXPECT_EQ(ShapedText(options, jobs), "j0@110 j1@260 j2@310");
  options.jitter = Parsed("constant(-0.00000026)");
  EXPECT_EQ(ShapedText(options, jobs), "j0@0 j1@0 j2@40");
  EXPECT_EQ(Shaped(options, jobs).jobs[0].deadline.ns(), 400);

  options.jitter = Parsed("normal(mean=0,stddev=0.0000002)");
  for (uint64_t seed = 0; seed < 20; ++seed) {
    options.seed = seed;
    Random oracle(seed, "workload/jitter");
    Timed expected;
    for (const JobArrival& job : jobs) {
      const auto shift_ns =
          static_cast<int64_t>(std::llround(options.jitter->Sample(oracle) * 1e9));
      expected.emplace_back(std::max<int64_t>(0, job.time.ns() + shift_ns), job.name);
    }
    EXPECT_EQ(TimedOf(Shaped(options, jobs).jobs), Sorted(expected)) << seed;
  }
}

TEST(ShapeJobsTest, SpeedUpDividesExactly) {
  // The expected values are those of exact fractions.
  const std::vector<std::pair<double, std::string>> cases = {
      {2, "j0@0 j1@2 j2@3 j3@150000000000000 j4@500000000000000 j5@1999999999999999998"},
      {3, "j0@0 j1@1 j2@2 j3@100000000000000 j4@333333333333333 j5@1333333333333333332"},
      {1e6, "j0@0 j1@0 j2@0 j3@300000000 j4@1000000000 j5@4000000000000"},
  };
  const std::vector<JobArrival> jobs =
      JobsAt({0, 3, 5, 300'000'000'000'000, 1'000'000'000'000'000, 3'999'999'999'999'999'996});
  ShapingOptions options;
  for (const auto& [factor, expected] : cases) {
    options.speed_up = factor;
    EXPECT_EQ(ShapedText(options, jobs), expected) << factor;
  }
  // 0.1 and 0.001 are a little more than they seem, and 0.7 a little less.
  options.speed_up = 0.1;
  EXPECT_EQ(ShapedText(options, JobsAt({0, 10, 1'000'000'000'000'000})),
            "j0@0 j1@100 j2@9999999999999999");
  options.speed_up = 0.001;
  EXPECT_EQ(ShapedText(options, JobsAt({1, 1'000'000'000'000'000})),
            "j0@1000 j1@999999999999999979");
  options.speed_up = 0.7;
  EXPECT_EQ(ShapedText(options, JobsAt({300'000'000'000'000})), "j0@428571428571429");
  options.speed_up = 0.5;
  EXPECT_EQ(Error(options, JobsAt({0, kMaxShapedNs})),
            "workload.speed_up: found a job, 'j1', that would arrive later, expected arrivals up "
            "to 4000000000000000000 ns");
}

TEST(ShapeJobsTest, SpeedUpKeepsRunTimesAndMovesDeadlines) {
  std::vector<JobArrival> jobs = JobsAt({90});
  jobs[0].run_time = SimDuration(7);
  jobs[0].has_deadline = true;
  jobs[0].deadline = SimTime(100);
  ShapingOptions options;
  options.speed_up = 3;
  jobs = Shaped(options, jobs).jobs;
  EXPECT_EQ(Text(jobs), "j0@30");
  EXPECT_EQ(jobs[0].run_time.ns(), 7);
  EXPECT_EQ(jobs[0].deadline.ns(), 40);
}

TEST(ShapeJobsTest, LimitTakesTheFirst) {
  ShapingOptions options;
  options.limit = 2;
  EXPECT_EQ(ShapedText(options, {Job("c", 30), Job("b", 20), Job("a", 10)}), "a@10 b@20");
  options.limit = 4;
  EXPECT_EQ(ShapedText(options, JobsAt({1, 2, 3})), "j0@1 j1@2 j2@3");
}

TEST(ShapeJobsTest, StepsComeInTheDocumentedOrder) {
  const std::vector<JobArrival> jobs = {Job("early", 99, "x"), Job("a", 100, "x"),
                                        Job("other", 105, "y"), Job("b", 110, "x"),
                                        Job("late", 200, "x")};
  ShapingOptions options;
  options.tenants = {"x"};
  options.window_start_ns = 100;
  options.window_end_ns = 110;
  options.bootstrap_jobs = 2;
  options.bootstrap_block_ns = 10;  // the window as a whole, once
  options.load_factor = 2;
  options.jitter = Parsed("constant(0.000000005)");
  options.speed_up = 2;
  options.limit = 3;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    options.seed = seed;
    Random oracle(seed, "workload/load_factor");
    Timed expected;
    for (const JobArrival& job : {Job("a", 0), Job("b", 10)}) {
      oracle.Unit();
      expected.emplace_back(job.time.ns(), job.name);
      expected.emplace_back(job.time.ns() + static_cast<int64_t>(oracle.Below(11)),
                            absl::StrCat(job.name, "-copy-1"));
    }
    expected = Sorted(expected);
    expected.resize(3);
    for (auto& [ns, name] : expected) ns = (ns + 5 + 1) / 2;
    const Result result = Shaped(options, jobs);
    EXPECT_EQ(TimedOf(result.jobs), expected) << seed;
    EXPECT_EQ(result.origin_ns, 100);
  }
}

TEST(ShapeJobsTest, TruncatesBeforeTheWindow) {
  JobArrival job = Job("a", 1'999'999'999);
  job.has_run_time = true;
  job.run_time = SimDuration(2'500'000'000);
  job.failed_attempts = {SimDuration(999'999'999), SimDuration(3 * kSecond)};
  job.has_estimate = true;
  job.estimate = SimDuration(2'700'000'000);
  job.has_deadline = true;
  job.deadline = SimTime(5 * kSecond);
  ShapingOptions options;
  options.truncate_to_seconds = true;
  options.window_end_ns = kSecond;
  // In the same second the list's order holds.
  const Result result = Shaped(options, {job, Job("b", 1'000'000'001), Job("c", 2 * kSecond)});
  EXPECT_EQ(Text(result.jobs), "a@1000000000 b@1000000000");
  const JobArrival& a = result.jobs[0];
  EXPECT_EQ(a.run_time.ns(), 2 * kSecond);
  EXPECT_EQ(a.failed_attempts, (std::vector<SimDuration>{SimDuration(), SimDuration(3 * kSecond)}));
  EXPECT_EQ(a.estimate.ns(), 2'700'000'000);
  EXPECT_EQ(a.deadline.ns(), 4'000'000'001);
}

TEST(ShapeJobsTest, DrawsAreAFunctionOfTheSeedAndOfOneKnobEach) {
  std::vector<int64_t> times_ns;
  for (int64_t i = 0; i < 50; ++i) times_ns.push_back(i * kSecond);
  ShapingOptions options;
  options.bootstrap_jobs = 80;
  options.load_factor = 1.5;
  options.jitter = Parsed("exponential(mean=100)");
  options.seed = 1;
  const std::string first = ShapedText(options, JobsAt(times_ns));
  EXPECT_EQ(ShapedText(options, JobsAt(times_ns)), first);
  options.seed = 2;
  EXPECT_NE(ShapedText(options, JobsAt(times_ns)), first);

  ShapingOptions only_jitter;
  only_jitter.jitter = options.jitter;
  const std::string alone = ShapedText(only_jitter, JobsAt(times_ns));
  only_jitter.load_factor = 1;
  EXPECT_EQ(ShapedText(only_jitter, JobsAt(times_ns)), alone);
}

TEST(ShapeJobsTest, RefusesOptionsByTheirKeys) {
  const auto error = [](auto set) {
    ShapingOptions options;
    set(options);
    return Error(options, {Job("a", 0)});
  };
  EXPECT_EQ(error([](ShapingOptions& o) { o.limit = -1; }),
            "workload.limit: found -1, expected 0 (all jobs) or more");
  EXPECT_EQ(error([](ShapingOptions& o) { o.bootstrap_jobs = -1; }),
            "workload.bootstrap.jobs: found -1, expected 0 to 100000000");
  EXPECT_EQ(error([](ShapingOptions& o) { o.bootstrap_block_ns = -1; }),
            "workload.bootstrap.block: found -1 ns, expected 0 or longer");
  for (const double factor : {0.0, -1.0, 1000001.0, kNaN}) {
    EXPECT_TRUE(absl::StartsWith(error([factor](ShapingOptions& o) { o.load_factor = factor; }),
                                 "workload.load_factor: found "));
  }
  for (const double factor : {0.0, 0.00099, -1.0, 1000001.0, kNaN}) {
    EXPECT_TRUE(absl::StartsWith(error([factor](ShapingOptions& o) { o.speed_up = factor; }),
                                 "workload.speed_up: found "));
  }
  EXPECT_TRUE(
      absl::StartsWith(error([](ShapingOptions& o) { o.window_start_ns = -kMaxShapedNs - 1; }),
                       "workload.window.start: found -4000000000000000001 ns, expected "));
  EXPECT_TRUE(absl::StartsWith(error([](ShapingOptions& o) { o.window_end_ns = kMaxShapedNs + 1; }),
                               "workload.window.end: found 4000000000000000001 ns, expected "));
  EXPECT_EQ(error([](ShapingOptions& o) { o.jitter = Parsed("constant(4000000001)"); }),
            "workload.jitter: found a sample of 4000000001 s for job 'a', expected at most "
            "4e+09 s");
}

TEST(ShapeJobsTest, RefusesTimesThatLeaveTheRange) {
  EXPECT_EQ(Error({}, {Job("a", -1)}),
            "workload.trace: found the time -1 ns in job 'a', expected 0 to 4000000000000000000 "
            "ns");
  JobArrival late = Job("b", 0);
  late.has_deadline = true;
  late.deadline = SimTime(kMaxShapedNs + 1);
  EXPECT_TRUE(absl::StartsWith(Error({}, {late}), "workload.trace: found the time 4000000000000"));
  ShapingOptions options;
  options.bootstrap_jobs = 5;
  EXPECT_TRUE(absl::StartsWith(Error(options, JobsAt({0, kMaxShapedNs})),
                               "workload.bootstrap: found a job, "));
  options = ShapingOptions();
  options.window_start_ns = -kMaxShapedNs;
  EXPECT_TRUE(absl::StartsWith(Error(options, JobsAt({1})), "workload.window.start: found a job"));
}

// ---- Mean loads, and clusters of a size to match. ----

class ShapingLoadTest : public testing::Test {
 protected:
  ShapingLoadTest()
      : shapes_(&models_),
        two_gpus_(Intern(2, 1000, 4000)),
        half_gpu_(Intern(1, 500, 1000)),
        no_gpu_(Intern(0, 0, 8000)) {}

  ShapeId Intern(int32_t gpus, int32_t gpu_milli, int64_t cpu_milli) {
    PodShape shape;
    shape.request.gpu_count = gpus;
    shape.request.gpu_milli = gpu_milli;
    shape.request.cpu_milli = cpu_milli;
    return shapes_.Intern(shape);
  }

  GpuModelTable models_;
  ShapeTable shapes_;
  ShapeId two_gpus_;
  ShapeId half_gpu_;
  ShapeId no_gpu_;
};

JobArrival Job(ShapeId shape, int64_t arrival_s) {
  JobArrival job;
  job.shape = shape;
  job.time = SimTime(arrival_s * kSecond);
  return job;
}

JobArrival TimedJob(ShapeId shape, int64_t arrival_s, int64_t run_time_s) {
  JobArrival job = Job(shape, arrival_s);
  job.has_run_time = true;
  job.run_time = SimDuration::Seconds(run_time_s);
  return job;
}

JobArrival DeletedAt(JobArrival job, int64_t deletion_s) {
  job.has_deletion = true;
  job.deletion = SimTime(deletion_s * kSecond);
  return job;
}

NodeSpec Node(absl::string_view name, int32_t gpus, int64_t cpu_milli) {
  NodeSpec node;
  node.name = std::string(name);
  node.gpu_count = gpus;
  node.cpu_milli = cpu_milli;
  return node;
}

LoadEstimate GpuLoad(double mean_gpu_milli) {
  LoadEstimate load;
  load.mean_gpu_milli = mean_gpu_milli;
  load.mean_cpu_milli = 1e9;
  load.gpu_jobs = 1;
  return load;
}

int64_t Count(const std::vector<NodeSpec>& nodes, const LoadEstimate& load, double percent) {
  const absl::StatusOr<int64_t> count = NodesForLoad(nodes, load, percent);
  EXPECT_TRUE(count.ok()) << count.status();
  return count.ok() ? *count : -1;
}

std::string Error(const std::vector<NodeSpec>& nodes, const LoadEstimate& load, double percent) {
  const absl::StatusOr<int64_t> count = NodesForLoad(nodes, load, percent);
  EXPECT_EQ(count.status().code(), absl::StatusCode::kInvalidArgument) << count.status();
  EXPECT_EQ(ScaleCluster(nodes, load, percent).status(), count.status());
  return std::string(count.status().message());
}

std::string ScaledNames(const std::vector<NodeSpec>& nodes, const LoadEstimate& load,
                        double percent) {
  const absl::StatusOr<std::vector<NodeSpec>> scaled = ScaleCluster(nodes, load, percent);
  EXPECT_TRUE(scaled.ok()) << scaled.status();
  if (!scaled.ok()) return "";
  return absl::StrJoin(*scaled, " ",
                       [](std::string* out, const NodeSpec& node) { out->append(node.name); });
}

TEST_F(ShapingLoadTest, MeanLoadCountsEveryPodForAsLongAsItHolds) {
  // 3 x 2 + 2 x half a GPU, 14 cores, 10 s.
  JobArrival gang = TimedJob(two_gpus_, 10, 10);
  gang.pods = 3;
  gang.more_pods = {PodGroup{half_gpu_, 2}};
  // 8 cores for 5 s, after attempts of 3 s and 2 s that failed.
  JobArrival retried = TimedJob(no_gpu_, 0, 5);
  retried.failed_attempts = {SimDuration::Seconds(3), SimDuration::Seconds(2)};
  const std::vector<JobArrival> jobs = {
      gang,
      retried,
      DeletedAt(Job(two_gpus_, 20), 24),          // 2 GPUs and 4 cores, 4 s
      Job(two_gpus_, 20),                         // a service without an end
      DeletedAt(TimedJob(half_gpu_, 5, 100), 7),  // half a GPU and 1 core, 2 s
      DeletedAt(TimedJob(half_gpu_, 5, 100), 5),  // deleted at once,
      DeletedAt(TimedJob(half_gpu_, 5, 100), 4),  // or even before
  };
  const LoadEstimate load = MeanLoad(jobs, shapes_);
  EXPECT_EQ(load.span_ns, 20 * kSecond);
  EXPECT_EQ(load.mean_gpu_milli, (70000 + 8000 + 1000) / 20.0);
  EXPECT_EQ(load.mean_cpu_milli, (140000 + 80000 + 16000 + 2000) / 20.0);
  EXPECT_EQ(load.gpu_jobs, 6);
  EXPECT_EQ(load.endless_jobs, 1);
}

TEST_F(ShapingLoadTest, MeanLoadWithoutASpanIsZero) {
  EXPECT_EQ(MeanLoad({}, shapes_).span_ns, 0);
  const LoadEstimate load =
      MeanLoad({TimedJob(two_gpus_, 3, 5), TimedJob(two_gpus_, 3, 5)}, shapes_);
  EXPECT_EQ(load.span_ns, 0);
  EXPECT_EQ(load.mean_gpu_milli, 0);
  EXPECT_EQ(load.mean_cpu_milli, 0);
  EXPECT_EQ(load.gpu_jobs, 2);
}

TEST_F(ShapingLoadTest, MeanLoadIsExactBeyond64Bits) {
  // 2 GPUs for 126 years, 4000 times within a nanosecond.
  std::vector<JobArrival> jobs(4000, TimedJob(two_gpus_, 0, 4'000'000'000));
  jobs.back().time = SimTime(1);
  EXPECT_EQ(MeanLoad(jobs, shapes_).mean_gpu_milli, 2000.0 * 4e18 * 4000.0);
  // Sums stay at 2^128.
  jobs[0].shape = Intern(0, 0, 1'000'000'000'000);
  jobs[0].pods = std::numeric_limits<int32_t>::max();
  EXPECT_EQ(MeanLoad(jobs, shapes_).mean_cpu_milli, 0x1p128);
}

TEST_F(ShapingLoadTest, TheNearestNumberOfNodes) {
  const std::vector<NodeSpec> one = {Node("n", 8, 1000)};
  EXPECT_EQ(Count(one, GpuLoad(8000), 100), 1);
  EXPECT_EQ(Count(one, GpuLoad(1), 100), 1);  // never none
  EXPECT_EQ(Count(one, GpuLoad(8000), 10), 10);
  EXPECT_EQ(Count(one, GpuLoad(3950), 10), 5);  // 39.5 GPUs
  EXPECT_EQ(Count(one, GpuLoad(3950), 12), 4);  // 32.9 GPUs
  EXPECT_EQ(Count(one, GpuLoad(3600), 10), 5);  // 36 GPUs: half-way
  EXPECT_EQ(Count(one, GpuLoad(80000), 200), 5);

  const std::vector<NodeSpec> mixed = {Node("cpu", 0, 64000), Node("g8", 8, 1000),
                                       Node("g4", 4, 1000)};
  EXPECT_EQ(Count(mixed, GpuLoad(100), 100), 2);  // the first with GPUs
  EXPECT_EQ(Count(mixed, GpuLoad(8000), 100), 2);
  EXPECT_EQ(Count(mixed, GpuLoad(10500), 100), 3);
  EXPECT_EQ(Count(mixed, GpuLoad(12000), 100), 3);
  EXPECT_EQ(Count(mixed, GpuLoad(17000), 100), 5);
  EXPECT_EQ(Count(mixed, GpuLoad(120000), 100), 30);
  LoadEstimate cpus;
  cpus.mean_cpu_milli = 130000;
  EXPECT_EQ(Count(mixed, cpus, 100), 4);
}

TEST_F(ShapingLoadTest, AbsentNodesHoldNothing) {
  std::vector<NodeSpec> nodes = {Node("a", 8, 0), Node("b", 8, 0)};
  nodes[0].absent = true;
  EXPECT_EQ(Count(nodes, GpuLoad(16000), 100), 4);
  nodes[1].absent = true;
  EXPECT_EQ(Error(nodes, GpuLoad(16000), 100),
            "workload.target_load_percent: found no node with a GPU, expected at least one, since "
            "the workload asks for them");
}

TEST_F(ShapingLoadTest, RepeatedNodesGetNewNames) {
  const std::vector<NodeSpec> plain = {Node("a", 8, 0), Node("b", 8, 0), Node("c", 8, 0)};
  EXPECT_EQ(ScaledNames(plain, GpuLoad(16000), 100), "a b");
  EXPECT_EQ(ScaledNames(plain, GpuLoad(24000), 100), "a b c");
  EXPECT_EQ(ScaledNames(plain, GpuLoad(56000), 100), "a b c a-2 b-2 c-2 a-3");
  // Some are taken.
  const std::vector<NodeSpec> taken = {Node("a", 8, 0), Node("a-2", 8, 0), Node("a-4", 8, 0)};
  EXPECT_EQ(ScaledNames(taken, GpuLoad(64000), 100), "a a-2 a-4 a-3 a-2-2 a-4-2 a-5 a-2-3");

  std::vector<NodeSpec> nodes = {Node("a", 8, 64000)};
  nodes[0].gpu_model = "T4";
  nodes[0].labels.emplace_back("zone", "z");
  const absl::StatusOr<std::vector<NodeSpec>> scaled = ScaleCluster(nodes, GpuLoad(16000), 100);
  ASSERT_TRUE(scaled.ok()) << scaled.status();
  ASSERT_EQ(scaled->size(), 2u);
  const NodeSpec& copy = (*scaled)[1];
  EXPECT_EQ(copy.name, "a-2");
  EXPECT_EQ(copy.gpu_count, 8);
  EXPECT_EQ(copy.cpu_milli, 64000);
  EXPECT_EQ(copy.gpu_model, "T4");
  EXPECT_EQ(copy.labels, nodes[0].labels);
}

TEST_F(ShapingLoadTest, TheScaledClusterHasTheLoad) {
  std::vector<JobArrival> jobs;
  for (int64_t i = 0; i <= 1000; ++i) jobs.push_back(TimedJob(two_gpus_, i * 10, 1000));
  // 1001 x 2 GPUs x 1000 s over 10000 s: 200.2 GPUs.
  const LoadEstimate load = MeanLoad(jobs, shapes_);
  EXPECT_EQ(load.mean_gpu_milli, 200200);
  EXPECT_EQ(Count({Node("n", 8, 0)}, load, 80), 31);  // of 31.28
}

TEST_F(ShapingLoadTest, RefusesWhatCannotBeReached) {
  const std::vector<NodeSpec> nodes = {Node("n", 8, 1000)};
  for (const double percent : {0.0, -1.0, 1000001.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_TRUE(absl::StartsWith(Error(nodes, GpuLoad(1000), percent),
                                 "workload.target_load_percent: found "));
  }
  EXPECT_EQ(Error(nodes, LoadEstimate(), 80),
            "workload.target_load_percent: found a workload without a mean load, expected jobs "
            "that arrive at different times, have run times and ask for something");
  LoadEstimate cpus;
  cpus.mean_cpu_milli = 5;
  EXPECT_EQ(Error({Node("n", 8, 0)}, cpus, 80),
            "workload.target_load_percent: found no node with a CPU, expected at least one, since "
            "the workload asks for them");
  EXPECT_EQ(Error({}, GpuLoad(1000), 80),
            "workload.target_load_percent: found no node with a GPU, expected at least one, since "
            "the workload asks for them");
  EXPECT_EQ(Error(nodes, GpuLoad(4000), 1e-6),
            "workload.target_load_percent: found a load that needs 4e+11 milli-GPUs, expected at "
            "most 16777216 nodes");
  EXPECT_TRUE(absl::StrContains(Error(nodes, GpuLoad(1e30), 1), "16777216 nodes"));
  EXPECT_EQ(Count(nodes, GpuLoad(8000.0 * 16777216), 100), 16777216);
}

}  // namespace shaping_test
}  // namespace drasim
