// Every figure of a small run by hand, and random runs against a count of every second.
#include "sim/record/job_report.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/event_source.h"
#include "model/job_table.h"
#include "model/number_text.h"
#include "model/random.h"
#include "model/text/json_writer.h"
#include "model/time.h"
#include "sim/record/time_integrals.h"
#include "tests/testing/cluster_builder.h"

namespace drasim {
namespace job_report_test {

SimDuration Sec(int64_t seconds) { return SimDuration::Seconds(seconds); }
SimTime At(int64_t seconds) { return SimTime() + Sec(seconds); }

// The table, and the pods that give the jobs their names.
class JobRig {
 public:
  ShapeId Shape(int64_t cpu_milli, int32_t gpu_count, int32_t gpu_milli = kDeviceMilli) {
    return builder_.AddShape(TestShape(cpu_milli, gpu_count, gpu_milli));
  }

  JobId Add(const JobArrival& arrival) {
    const PodId first(builder_.cluster().pod_count());
    for (int32_t i = 0; i < arrival.pods; ++i) {
      const std::string name =
          arrival.pods == 1 ? arrival.name : absl::StrCat(arrival.name, "-", i);
      builder_.cluster().AddPod(name, arrival.shape, arrival.priority, arrival.time);
    }
    return jobs_.Add(arrival, first, builder_.shapes());
  }
  JobId Add(absl::string_view name, absl::string_view tenant, ShapeId shape, int64_t submitted_s,
            int32_t pods = 1) {
    return Add(Arrival(name, tenant, shape, submitted_s, pods));
  }
  static JobArrival Arrival(absl::string_view name, absl::string_view tenant, ShapeId shape,
                            int64_t submitted_s, int32_t pods = 1) {
    JobArrival arrival;
    arrival.name = std::string(name);
    arrival.tenant = std::string(tenant);
    arrival.shape = shape;
    arrival.pods = pods;
    arrival.time = At(submitted_s);
    arrival.has_run_time = true;
    arrival.run_time = Sec(1000);
    return arrival;
  }

  void Run(JobId job, int64_t at_s) {
    jobs_.Start(job);
    jobs_.Run(job, At(at_s));
  }
  void End(JobId job, JobState state, int64_t at_s) { jobs_.End(job, state, At(at_s)); }
  // A job of one GPU that runs from `started_s` to `ended_s`.
  void AddFinished(absl::string_view tenant, int64_t submitted_s, int64_t started_s,
                   int64_t ended_s) {
    const JobId job = Add(absl::StrCat("job-", jobs_.size()), tenant, Shape(0, 1), submitted_s);
    Run(job, started_s);
    End(job, JobState::kSucceeded, ended_s);
  }

  JobReport Report(int64_t end_s) const {
    JobReportOptions options;
    options.end = At(end_s);
    return JobReport(jobs_, options);
  }

  JobTable& jobs() { return jobs_; }
  const JobTable& jobs() const { return jobs_; }
  const ClusterState& cluster() const { return builder_.cluster(); }

 private:
  ClusterBuilder builder_;
  JobTable jobs_;
};

// One job in each state but Starting, until 100 s.
void PlayEveryState(JobRig* rig) {
  const JobId a = rig->Add("a,1", "red", rig->Shape(1000, 1), 0);
  rig->Run(a, 0);
  JobArrival gang = JobRig::Arrival("gang", "blue", rig->Shape(2000, 2), 10, 4);
  gang.priority = 5;
  const JobId b = rig->Add(gang);
  const JobId c = rig->Add("c", "red", rig->Shape(500, 1, 500), 10);
  rig->Run(c, 12);
  rig->End(c, JobState::kFailed, 14);
  rig->End(a, JobState::kSucceeded, 20);
  const JobId d = rig->Add("d", "", rig->Shape(50'000, 0), 20);
  rig->Run(b, 30);
  const JobId e = rig->Add("e", "blue", rig->Shape(1000, 1), 40);
  rig->End(b, JobState::kSucceeded, 50);
  const JobId f = rig->Add("f", "green", rig->Shape(0, 8), 50, 5);
  rig->Run(d, 60);
  JobArrival with_deadline = JobRig::Arrival("g", "red", rig->Shape(1000, 2), 70);
  with_deadline.has_deadline = true;
  with_deadline.deadline = At(150);
  const JobId g = rig->Add(with_deadline);
  rig->Run(g, 80);
  const JobId h = rig->Add("h", "green", rig->Shape(0, 1), 90);
  rig->jobs().mutable_row(h).attempts_failed = 3;
  rig->End(e, JobState::kDeleted, 90);
  rig->End(f, JobState::kDropped, 95);
  rig->End(d, JobState::kSucceeded, 100);
}

JobReport EveryStateReport(const JobRig& rig) {
  JobReportOptions options;
  options.end = At(100);
  options.capacity.gpu_milli = 16'000;
  options.capacity.cpu_milli = 100'000;
  return JobReport(rig.jobs(), options);
}

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

// --- Costs of interruptions; 36 GPUs for 100 s are one GPU-hour ---

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

  // All kept work of a job that fails in the end is in vain.
  const JobId failed = rig.Add("failed", "", rig.Shape(0, 4), 300, 9);
  rig.Run(failed, 300);
  rig.jobs().Interrupt(failed, At(400), Sec(60), Sec(10));
  rig.Run(failed, 400);
  rig.End(failed, JobState::kFailed, 500);
  ExpectHours(rig.Report(500), {4.2, 1, 0.4, 0.1, 2.7});
  // The work of a deleted job was of use to its owner.
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

// ---- Output of a report: jobs.csv, its part of summary.json, and the lines for people. ----

TEST(JobReportTest, Csv) {
  JobRig rig;
  PlayEveryState(&rig);
  const JobReport report = EveryStateReport(rig);
  EXPECT_EQ(JobReport::CsvHeader(),
            "job,tenant,priority,pods,gpus,state,submitted_seconds,first_start_seconds,"
            "ended_seconds,waited_seconds,run_seconds,jct_seconds,preemptions,evictions,retries,"
            "attempts_failed,deadline_seconds\n");
  std::string csv;
  report.AppendCsv(rig.cluster(), 0, 3, &csv);
  report.AppendCsv(rig.cluster(), 3, 8, &csv);
  EXPECT_EQ(csv,
            "\"a,1\",red,0,1,1,Succeeded,0,0,20,0,20,20,0,0,0,0,\n"
            "gang,blue,5,4,8,Succeeded,10,30,50,20,20,40,0,0,0,0,\n"
            "c,red,0,1,0.5,Failed,10,12,14,2,2,4,0,0,0,0,\n"
            "d,,0,1,0,Succeeded,20,60,100,40,40,80,0,0,0,0,\n"
            "e,blue,0,1,1,Deleted,40,,90,50,0,50,0,0,0,0,\n"
            "f,green,0,5,40,Dropped,50,,95,45,0,45,0,0,0,0,\n"
            "g,red,0,1,2,Running,70,80,,10,20,,0,0,0,0,150\n"
            "h,green,0,1,1,Waiting,90,,,10,0,,0,0,0,3,\n");
}

std::string Json(const JobReport& report) {
  JsonWriter json;
  json.BeginObject();
  report.WriteJson(json);
  json.EndObject();
  return json.text();
}

constexpr char kJsonStart[] = R"({
  "jobs": {
    "submitted": 8,
    "count": 4,
    "jct_seconds": {
      "count": 4,
      "mean": 36,
      "p50": 20,
      "p90": 80,
      "p95": 80,
      "p99": 80,
      "max": 80
    },
    "queueing_seconds": {
      "count": 4,
      "mean": 15.5,)";

// In their order.
constexpr const char* kJsonParts[] = {
    R"(
    "by_state": {
      "waiting": 1,
      "starting": 0,
      "running": 1,
      "succeeded": 3,
      "failed": 1,
      "deleted": 1,
      "dropped": 1
    },
    "by_size": [
      {
        "gpus": "0",
        "submitted": 1,
        "count": 1,
        "jct_seconds": {
          "count": 1,
          "mean": 80,)",
    R"(
        "gpus": "1",
        "submitted": 3,
        "count": 1,)",
    R"(
        "gpus": "2-4",
        "submitted": 1,
        "count": 0,
        "jct_seconds": {
          "count": 0,
          "mean": null,)",
    R"(
    "deadlines": {
      "jobs": 1,
      "met": 0,
      "missed": 0
    },
    "fairness": {
      "jain_gpu_time": 0.62299,
      "jain_slowdown": 0.925926
    }
  },
  "makespan_seconds": 100,
  "tenants": [
    {
      "tenant": "blue",
      "tenants": 1,
      "submitted": 2,
      "count": 1,)",
    R"(
      "gpu_hours": 0.044444,
      "gpu_hours_asked": 0.102778,
      "dominant_share": 0.1,
      "dominant_resource": "gpu"
    },)",
    R"(
  "preemption": {
    "preemptions": 0,
    "evictions": 0,
    "retries": 0,
    "held_gpu_hours": 0.061389,
    "useful_gpu_hours": 0.061111,
    "work_lost_gpu_hours": 0,
    "overhead_gpu_hours": 0,
    "failed_gpu_hours": 0.000278,
    "goodput": 0.995475
  },
  "utilisation": null
})"};

TEST(JobReportTest, Json) {
  JobRig rig;
  PlayEveryState(&rig);
  const std::string text = Json(EveryStateReport(rig));
  EXPECT_TRUE(absl::StartsWith(text, kJsonStart)) << text;
  size_t at = 0;
  for (const char* part : kJsonParts) {
    const size_t found = text.find(part, at);
    ASSERT_NE(found, std::string::npos) << part << "\n" << text;
    at = found;
  }
}

TEST(JobReportTest, JsonTakesTheUtilisationOver) {
  JobRig rig;
  JobReportOptions options;
  options.utilisation = WindowIntegrals();
  EXPECT_TRUE(absl::StrContains(Json(JobReport(rig.jobs(), options)),
                                "  \"utilisation\": {\n    \"from_seconds\": 0,"));
}

TEST(JobReportTest, NoJobs) {
  JobRig rig;
  const JobReport report = rig.Report(0);
  EXPECT_EQ(report.figures().all, JobGroup());
  EXPECT_TRUE(report.figures().tenants.empty());
  EXPECT_EQ(report.figures().makespan_seconds, std::nullopt);
  EXPECT_EQ(report.figures().jain_gpu_time, std::nullopt);
  EXPECT_EQ(report.figures().preemption.goodput, std::nullopt);
  EXPECT_TRUE(absl::StrContains(Json(report), "\"makespan_seconds\": null,\n  \"tenants\": []"));
  EXPECT_EQ(report.JobsTable(),
            "jobs: 0 submitted\n"
            "GPU-hours: 0.0 held, 0.0 useful; 0 preemptions, 0 evictions, 0 retries\n");
}

TEST(JobReportTest, Table) {
  JobRig rig;
  PlayEveryState(&rig);
  EXPECT_EQ(
      EveryStateReport(rig).JobsTable(),
      "jobs: 8 submitted, 1 waiting, 1 running, 3 succeeded, 1 failed, 1 deleted, 1 dropped\n"
      "                     mean          p50          p90          p95          p99          max\n"
      "JCT s                36.0         20.0         80.0         80.0         80.0         80.0\n"
      "queueing s           15.5          2.0         40.0         40.0         40.0         40.0\n"
      "slowdown             1.50         1.00         2.00         2.00         2.00         2.00\n"
      "over 4 of 8 jobs: those that succeeded or failed\n"
      "GPUs                 jobs        JCT s   queueing s     slowdown\n"
      "0                       1         80.0         40.0         2.00\n"
      "<1                      1          4.0          2.0         1.00\n"
      "1                  1 of 3         20.0          0.0         1.00\n"
      "5-8                     1         40.0         20.0         2.00\n"
      "tenant               jobs        JCT s   queueing s    queue p95    queue max    GPU-hours\n"
      "blue               1 of 2         40.0         20.0         20.0         20.0          0.0\n"
      "red                2 of 3         12.0          1.0          2.0          2.0          0.0\n"
      "(none)                  1         80.0         40.0         40.0         40.0          0.0\n"
      "green              0 of 2            -            -            -            -          0.0\n"
      "GPU-hours: 0.1 held, 0.1 useful; 0 preemptions, 0 evictions, 0 retries\n"
      "deadlines: 0 met, 0 missed of 1\n"
      "makespan: 100.0 s\n");
}

// A table for people stays one page, however many tenants there are and whatever they are called.
TEST(JobReportTest, TableShowsTenTenants) {
  JobRig rig;
  for (int i = 0; i < 1000; ++i) {
    const std::string name = i == 0 ? std::string(5000, 'x') : absl::StrCat("t", i);
    rig.AddFinished(name, 0, i == 0 ? 0 : 1, i == 0 ? 5000 : 10);
  }
  const std::string table = rig.Report(5000).JobsTable();
  EXPECT_TRUE(absl::StrContains(table, absl::StrCat("\n", std::string(24, 'x'), "...")));
  EXPECT_TRUE(absl::StrContains(table, "\nt9 "));
  EXPECT_FALSE(absl::StrContains(table, "\nt10 "));
  EXPECT_TRUE(absl::StrContains(table, "\nand 990 more tenants\n")) << table;
}

}  // namespace job_report_test
}  // namespace drasim
