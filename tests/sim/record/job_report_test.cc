// Every figure of a small run by hand, and random runs against a count of every second.
#include "sim/record/job_report.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/job_table.h"
#include "model/number_text.h"
#include "model/random.h"
#include "tests/sim/record/job_rig.h"

namespace drasim {
namespace job_report_test {

Spread MakeSpread(double mean, double p50, double p90, double p95, double p99, double max) {
  Spread spread;
  spread.mean = mean;
  spread.p50 = p50;
  spread.p90 = p90;
  spread.p95 = p95;
  spread.p99 = p99;
  spread.max = max;
  return spread;
}

TEST(JobReportTest, TimesOfFinishedJobs) {
  JobRig rig;
  PlayEveryState(&rig);
  const JobReport report = EveryStateReport(rig);
  const JobFigures& f = report.figures();
  EXPECT_EQ(f.submitted, 8);
  EXPECT_EQ(f.by_state, (std::array<int64_t, kJobStates>{1, 0, 1, 3, 1, 1, 1}));
  // a, gang, c and d: 20, 40, 4 and 80 s, of which 0, 20, 2 and 40 s in the queue.
  EXPECT_EQ(f.all.count, 4);
  EXPECT_EQ(f.all.jct_seconds, MakeSpread(36, 20, 80, 80, 80, 80));
  EXPECT_EQ(f.all.queueing_seconds, MakeSpread(15.5, 2, 40, 40, 40, 40));
  // c took 4 s, which is less than the threshold of 10 s.
  EXPECT_EQ(f.all.slowdown, MakeSpread(1.5, 1, 2, 2, 2, 2));
  EXPECT_EQ(f.makespan_seconds, 100.0);
  EXPECT_EQ(f.deadlines.jobs, 1);
  EXPECT_EQ(f.deadlines.met, 0);
  EXPECT_EQ(f.deadlines.missed, 0);
}

TEST(JobReportTest, BySize) {
  JobRig rig;
  PlayEveryState(&rig);
  const JobReport report = EveryStateReport(rig);
  std::vector<int64_t> counts;
  for (const JobGroup& group : report.figures().by_size) counts.push_back(group.count);
  EXPECT_EQ(counts, (std::vector<int64_t>{1, 1, 1, 0, 1, 0, 0, 0}));
  EXPECT_EQ(report.figures().by_size[4].jct_seconds, MakeSpread(40, 40, 40, 40, 40, 40));
  EXPECT_EQ(report.figures().by_size[4].slowdown, MakeSpread(2, 2, 2, 2, 2, 2));
  EXPECT_EQ(report.figures().by_size[7], JobGroup());
}

TEST(JobReportTest, SizeClasses) {
  const std::vector<std::pair<int64_t, std::string>> rows = {
      {0, "0"},        {1, "<1"},        {999, "<1"},      {1000, "1"},    {1001, "2-4"},
      {1500, "2-4"},   {4000, "2-4"},    {4001, "5-8"},    {8000, "5-8"},  {8500, "9-16"},
      {16000, "9-16"}, {16001, "17-32"}, {32000, "17-32"}, {32001, ">32"}, {1'000'000, ">32"}};
  for (const auto& [gpu_milli, name] : rows) {
    EXPECT_EQ(SizeClassName(SizeClassOf(gpu_milli)), name) << gpu_milli;
  }
}

TEST(JobReportTest, Tenants) {
  JobRig rig;
  PlayEveryState(&rig);
  const JobReport report = EveryStateReport(rig);
  const std::vector<TenantFigures>& tenants = report.figures().tenants;
  ASSERT_EQ(tenants.size(), 4u);
  // 160 GPU-seconds of the gang; asked: 8 x 40 and, for e, 1 x 50.
  EXPECT_EQ(tenants[0].name, "blue");
  EXPECT_EQ(tenants[0].tenants, 1);
  EXPECT_EQ(tenants[0].submitted, 2);
  EXPECT_EQ(tenants[0].jobs.count, 1);
  EXPECT_EQ(tenants[0].gpu_hours, 0.044444);
  EXPECT_EQ(tenants[0].gpu_hours_asked, 0.102778);
  EXPECT_EQ(tenants[0].dominant_share, 0.1);  // 160 of 16 x 100
  EXPECT_EQ(tenants[0].dominant_resource, "gpu");
  // 20 of a, 1 of c, 40 of g so far; asked: 20, 2 and 60.
  EXPECT_EQ(tenants[1].name, "red");
  EXPECT_EQ(tenants[1].submitted, 3);
  EXPECT_EQ(tenants[1].jobs.jct_seconds, MakeSpread(12, 4, 20, 20, 20, 20));
  EXPECT_EQ(tenants[1].gpu_hours, 0.016944);
  EXPECT_EQ(tenants[1].gpu_hours_asked, 0.022778);
  EXPECT_EQ(tenants[1].dominant_share, 0.038125);
  // No GPUs: in order of appearance, where those without a tenant come first.
  EXPECT_EQ(tenants[2].name, "");
  EXPECT_EQ(tenants[2].gpu_hours, 0.0);
  EXPECT_EQ(tenants[2].dominant_share, 0.2);  // 50 x 40 of 100 x 100 core-seconds
  EXPECT_EQ(tenants[2].dominant_resource, "cpu");
  EXPECT_EQ(tenants[3].name, "green");
  EXPECT_EQ(tenants[3].jobs, JobGroup());
  EXPECT_EQ(tenants[3].gpu_hours_asked, 0.502778);  // 40 x 45 + 1 x 10
  EXPECT_EQ(tenants[3].dominant_share, 0.0);
  // 160/370, 61/82 and 0; the tenant without a name asked for no GPU.
  EXPECT_EQ(report.figures().jain_gpu_time, 0.62299);
  // 2, 1 and 2; no job of green finished.
  EXPECT_EQ(report.figures().jain_slowdown, 0.925926);
}

TEST(JobReportTest, TenantsBeyondTheFirstAreMerged) {
  JobRig rig;
  PlayEveryState(&rig);
  JobReportOptions options;
  options.end = At(100);
  options.capacity.gpu_milli = 16'000;
  options.top_tenants = 1;
  const JobReport report(rig.jobs(), options);
  const std::vector<TenantFigures>& tenants = report.figures().tenants;
  ASSERT_EQ(tenants.size(), 2u);
  EXPECT_EQ(tenants[0].name, "blue");
  EXPECT_EQ(tenants[1].name, "others");
  EXPECT_EQ(tenants[1].tenants, 3);
  EXPECT_EQ(tenants[1].submitted, 6);
  EXPECT_EQ(tenants[1].jobs.count, 3);
  EXPECT_EQ(tenants[1].jobs.jct_seconds, MakeSpread(34.666667, 20, 80, 80, 80, 80));
  EXPECT_EQ(tenants[1].gpu_hours, 0.016944);
  EXPECT_EQ(tenants[1].gpu_hours_asked, 0.525556);
  EXPECT_EQ(tenants[1].dominant_share, 0.038125);
  // Fairness is over all four, merged or not.
  EXPECT_EQ(report.figures().jain_gpu_time, 0.62299);
}

// --- What interruptions cost; 36 GPUs for 100 s are one GPU-hour ---

void ExpectHours(const JobReport& report, const std::vector<double>& hours) {
  const PreemptionFigures& p = report.figures().preemption;
  EXPECT_EQ((std::vector<double>{p.held_gpu_hours, p.useful_gpu_hours, p.work_lost_gpu_hours,
                                 p.overhead_gpu_hours, p.failed_gpu_hours}),
            hours);
}

TEST(JobReportTest, WorkLostAndOverhead) {
  JobRig rig;
  const JobId job = rig.Add("job", "", rig.Shape(0, 4), 0, 9);
  rig.Run(job, 0);
  rig.jobs().Interrupt(job, At(100), Sec(60), Sec(30));
  rig.jobs().mutable_row(job).preemptions = 2;
  rig.jobs().mutable_row(job).evictions = 3;
  rig.Run(job, 150);
  ExpectHours(rig.Report(150), {1, 0.6, 0.4, 0, 0});
  // The restart is still under way, and then it is not.
  ExpectHours(rig.Report(170), {1.2, 0.6, 0.4, 0.2, 0});
  ExpectHours(rig.Report(200), {1.5, 0.8, 0.4, 0.3, 0});
  rig.End(job, JobState::kSucceeded, 320);
  const JobReport report = rig.Report(400);
  ExpectHours(report, {2.7, 2, 0.4, 0.3, 0});
  EXPECT_EQ(report.figures().preemption.goodput, 0.740741);
  EXPECT_EQ(report.figures().preemption.preemptions, 2);
  EXPECT_EQ(report.figures().preemption.evictions, 3);
  EXPECT_EQ(report.figures().all.queueing_seconds.mean, 50.0);
}

TEST(JobReportTest, FailedAttemptsAndFailedJobs) {
  JobRig rig;
  JobArrival arrival = JobRig::Arrival("retried", "", rig.Shape(0, 4), 0, 9);
  arrival.failed_attempts = {Sec(50), Sec(70)};
  const JobId retried = rig.Add(arrival);
  rig.Run(retried, 0);
  rig.jobs().Retry(retried, At(50));
  EXPECT_EQ(rig.Report(60).figures().preemption.retries, 1);
  ExpectHours(rig.Report(60), {0.5, 0, 0, 0, 0.5});
  rig.Run(retried, 100);
  rig.jobs().Retry(retried, At(170));
  rig.Run(retried, 170);
  rig.End(retried, JobState::kSucceeded, 270);
  ExpectHours(rig.Report(300), {2.2, 1, 0, 0, 1.2});
  EXPECT_EQ(rig.Report(300).figures().preemption.retries, 2);

  // Whatever a job that fails in the end had kept is in vain.
  const JobId failed = rig.Add("failed", "", rig.Shape(0, 4), 300, 9);
  rig.Run(failed, 300);
  rig.jobs().Interrupt(failed, At(400), Sec(60), Sec(10));
  rig.Run(failed, 400);
  rig.End(failed, JobState::kFailed, 500);
  ExpectHours(rig.Report(500), {4.2, 1, 0.4, 0.1, 2.7});
  // What a deleted job had done was of use to its owner.
  const JobId deleted = rig.Add("deleted", "", rig.Shape(0, 4), 500, 9);
  rig.Run(deleted, 500);
  rig.End(deleted, JobState::kDeleted, 600);
  ExpectHours(rig.Report(600), {5.2, 2, 0.4, 0.1, 2.7});
}

TEST(JobReportTest, Deadlines) {
  JobRig rig;
  const ShapeId shape = rig.Shape(0, 1);
  const auto add = [&](int64_t deadline_s) {
    JobArrival arrival = JobRig::Arrival(absl::StrCat("job-", rig.jobs().size()), "", shape, 0);
    arrival.has_deadline = true;
    arrival.deadline = At(deadline_s);
    return rig.Add(arrival);
  };
  const auto count = [&rig] {
    const DeadlineFigures deadlines = rig.Report(100).figures().deadlines;
    return std::vector<int64_t>{deadlines.jobs, deadlines.met, deadlines.missed};
  };
  const JobId in_time = add(50);
  rig.Run(in_time, 0);
  rig.End(in_time, JobState::kSucceeded, 50);
  EXPECT_EQ(count(), (std::vector<int64_t>{1, 1, 0}));
  const JobId failed_in_time = add(50);
  rig.Run(failed_in_time, 0);
  rig.End(failed_in_time, JobState::kFailed, 10);
  EXPECT_EQ(count(), (std::vector<int64_t>{2, 2, 0}));
  const JobId late = add(50);
  rig.Run(late, 0);
  rig.jobs().End(late, JobState::kSucceeded, At(50) + SimDuration(1));
  EXPECT_EQ(count(), (std::vector<int64_t>{3, 2, 1}));
  rig.End(add(50), JobState::kDeleted, 40);
  EXPECT_EQ(count(), (std::vector<int64_t>{4, 2, 1}));
  rig.End(add(50), JobState::kDeleted, 60);
  EXPECT_EQ(count(), (std::vector<int64_t>{5, 2, 2}));
  rig.End(add(50), JobState::kDropped, 40);
  EXPECT_EQ(count(), (std::vector<int64_t>{6, 2, 3}));
  add(100);  // comes with the end of the run
  EXPECT_EQ(count(), (std::vector<int64_t>{7, 2, 3}));
  add(99);
  EXPECT_EQ(count(), (std::vector<int64_t>{8, 2, 4}));
}

TEST(JobReportTest, MeansCanBeTruncated) {
  JobRig rig;
  rig.AddFinished("", 0, 0, 1);
  rig.AddFinished("", 0, 1, 2);
  rig.AddFinished("", 0, 1, 31);
  JobReportOptions options;
  options.end = At(31);
  EXPECT_EQ(JobReport(rig.jobs(), options).figures().all.jct_seconds.mean, 11.333333);
  EXPECT_EQ(JobReport(rig.jobs(), options).figures().all.queueing_seconds.mean, 0.666667);
  options.truncate_means = true;
  const JobReport report(rig.jobs(), options);
  EXPECT_EQ(report.figures().all.jct_seconds, MakeSpread(11, 2, 31, 31, 31, 31));
  EXPECT_EQ(report.figures().all.queueing_seconds, MakeSpread(0, 1, 1, 1, 1, 1));
  // 31/30, and 1 for the two below the threshold; not truncated.
  EXPECT_EQ(report.figures().all.slowdown.mean, 1.011111);
  EXPECT_EQ(report.figures().tenants[0].jobs.queueing_seconds.mean, 0.0);
}

TEST(JobReportTest, SlowdownThreshold) {
  JobRig rig;
  rig.AddFinished("", 0, 6, 8);  // waits 6 s for a run of 2 s
  JobReportOptions options;
  options.end = At(8);
  EXPECT_EQ(JobReport(rig.jobs(), options).figures().all.slowdown.mean, 1.0);
  options.slowdown_threshold = Sec(4);
  EXPECT_EQ(JobReport(rig.jobs(), options).figures().all.slowdown.mean, 2.0);
  options.slowdown_threshold = Sec(1);
  EXPECT_EQ(JobReport(rig.jobs(), options).figures().all.slowdown.mean, 4.0);
}

// The smallest value that at least `percent` of all are not larger than.
int64_t NearestRank(const std::vector<int64_t>& values, int64_t percent) {
  int64_t best = *std::max_element(values.begin(), values.end());
  for (const int64_t candidate : values) {
    const auto below = std::count_if(values.begin(), values.end(),
                                     [candidate](int64_t v) { return v <= candidate; });
    if (below * 100 >= percent * static_cast<int64_t>(values.size())) {
      best = std::min(best, candidate);
    }
  }
  return best;
}

TEST(JobReportTest, PercentilesAreNearestRank) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed, "percentiles");
    const auto jobs = static_cast<size_t>(1 + random.Below(230));
    JobRig rig;
    std::vector<int64_t> times;
    for (size_t i = 0; i < jobs; ++i) {
      times.push_back(static_cast<int64_t>(random.Below(150)));
      rig.AddFinished("", 0, 0, times.back());
    }
    const JobReport report = rig.Report(150);
    const Spread& spread = report.figures().all.jct_seconds;
    EXPECT_EQ(spread.p50, static_cast<double>(NearestRank(times, 50))) << seed;
    EXPECT_EQ(spread.p90, static_cast<double>(NearestRank(times, 90))) << seed;
    EXPECT_EQ(spread.p95, static_cast<double>(NearestRank(times, 95))) << seed;
    EXPECT_EQ(spread.p99, static_cast<double>(NearestRank(times, 99))) << seed;
    EXPECT_EQ(spread.max, static_cast<double>(NearestRank(times, 100))) << seed;
  }
}

// --- Random runs, counted second by second ---

struct CountedJob {
  JobId id;
  int64_t gpu_milli = 0;
  JobState state = JobState::kWaiting;
  int64_t waited = 0;
  int64_t held = 0;
  int64_t overhead_left = 0;
  int64_t done_in_run = 0;
  int64_t useful = 0;
};

class RandomRun {
 public:
  explicit RandomRun(uint64_t seed) : random_(seed, "job-report") {}

  void Play(int64_t seconds) {
    for (now_ = 0; now_ < seconds; ++now_) {
      if (random_.Below(3) == 0) Submit();
      for (CountedJob& job : counted_) Act(job);
      for (CountedJob& job : counted_) PassOneSecond(job);
    }
  }
  const JobRig& rig() const { return rig_; }
  const std::vector<CountedJob>& counted() const { return counted_; }

 private:
  void Submit() {
    CountedJob job;
    const auto gpus = static_cast<int32_t>(random_.Below(4));
    const auto pods = static_cast<int32_t>(1 + random_.Below(3));
    const uint64_t tenant = random_.Below(4);
    job.gpu_milli = int64_t{gpus} * pods * 1000;
    job.id = rig_.Add(absl::StrCat("job-", counted_.size()), absl::StrCat("tenant-", tenant),
                      rig_.Shape(1000, gpus), now_, pods);
    counted_.push_back(job);
  }

  void End(CountedJob& job, JobState state) {
    if (job.state == JobState::kRunning) job.useful += job.done_in_run;
    job.state = state;
    if (state == JobState::kFailed || state == JobState::kDropped) job.useful = 0;
    rig_.End(job.id, state, now_);
  }

  void Act(CountedJob& job) {
    const uint64_t dice = random_.Below(20);
    if (job.state == JobState::kWaiting && dice < 5) {
      rig_.jobs().Start(job.id);
      job.state = JobState::kStarting;
    } else if (job.state == JobState::kStarting && dice < 8) {
      rig_.jobs().Run(job.id, At(now_));
      job.state = JobState::kRunning;
      job.done_in_run = 0;
    } else if (job.state == JobState::kStarting && dice < 10) {
      rig_.jobs().CancelStart(job.id);
      job.state = JobState::kWaiting;
    } else if (job.state == JobState::kRunning && dice < 4) {
      const auto kept =
          static_cast<int64_t>(random_.Below(static_cast<uint64_t>(job.done_in_run) + 1));
      job.overhead_left = static_cast<int64_t>(random_.Below(6));
      rig_.jobs().Interrupt(job.id, At(now_), Sec(kept), Sec(job.overhead_left));
      job.useful += kept;
      job.state = JobState::kWaiting;
    } else if (job.state == JobState::kRunning && dice < 8) {
      End(job, dice < 6 ? JobState::kSucceeded : JobState::kFailed);
    } else if (!IsEnded(job.state) && dice == 19) {
      End(job, random_.Below(2) == 0 ? JobState::kDeleted : JobState::kDropped);
    }
  }

  static void PassOneSecond(CountedJob& job) {
    if (job.state == JobState::kWaiting || job.state == JobState::kStarting) ++job.waited;
    if (job.state != JobState::kRunning) return;
    ++job.held;
    if (job.overhead_left > 0) {
      --job.overhead_left;
    } else {
      ++job.done_in_run;
    }
  }

  Random random_;
  JobRig rig_;
  std::vector<CountedJob> counted_;
  int64_t now_ = 0;
};

TEST(JobReportTest, RandomRunsEqualACountOfEverySecond) {
  int64_t finished_jobs = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    RandomRun run(seed);
    run.Play(90);
    int64_t finished = 0;
    int64_t jct = 0;
    int64_t waited = 0;
    int64_t held_milli_seconds = 0;
    int64_t useful_milli_seconds = 0;
    std::string rows;
    for (const CountedJob& job : run.counted()) {
      held_milli_seconds += job.gpu_milli * job.held;
      const int64_t running = job.state == JobState::kRunning ? job.done_in_run : 0;
      useful_milli_seconds += job.gpu_milli * (job.useful + running);
      absl::StrAppend(&rows, job.waited, " ", job.held, "\n");
      if (job.state != JobState::kSucceeded && job.state != JobState::kFailed) continue;
      ++finished;
      jct += job.waited + job.held;
      waited += job.waited;
    }
    finished_jobs += finished;
    const JobReport report = run.rig().Report(90);
    const JobFigures& f = report.figures();
    ASSERT_EQ(f.all.count, finished) << seed;
    ASSERT_GT(finished, 0) << seed;
    const auto n = static_cast<double>(finished);
    EXPECT_EQ(f.all.jct_seconds.mean, RoundDecimals(static_cast<double>(jct) / n, 6)) << seed;
    EXPECT_EQ(f.all.queueing_seconds.mean, RoundDecimals(static_cast<double>(waited) / n, 6));
    const auto hours = [](int64_t milli_seconds) {
      return RoundDecimals(static_cast<double>(milli_seconds) / 3.6e6, 6);
    };
    EXPECT_EQ(f.preemption.held_gpu_hours, hours(held_milli_seconds)) << seed;
    EXPECT_EQ(f.preemption.useful_gpu_hours, hours(useful_milli_seconds)) << seed;
    // Column 10 is waited_seconds, column 11 run_seconds.
    std::string csv;
    report.AppendCsv(run.rig().cluster(), 0, run.counted().size(), &csv);
    std::string seen;
    for (const absl::string_view line : absl::StrSplit(csv, '\n', absl::SkipEmpty())) {
      const std::vector<std::string> cells = absl::StrSplit(line, ',');
      ASSERT_EQ(cells.size(), 17u) << line;
      absl::StrAppend(&seen, cells[9], " ", cells[10], "\n");
    }
    EXPECT_EQ(seen, rows) << seed;
  }
  EXPECT_GT(finished_jobs, 300);
}

}  // namespace job_report_test
}  // namespace drasim
