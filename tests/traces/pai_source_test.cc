#include "traces/pai_source.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/event_source.h"
#include "model/pod_shape.h"
#include "model/time.h"
#include "tests/testing/data_text.h"
#include "tests/traces/format_rig.h"
#include "tests/traces/gzip_text.h"

namespace drasim {
namespace pai_source_test {

using Lines = std::vector<std::string>;

constexpr absl::string_view kName = "pai-2020";

constexpr absl::string_view kJobs =
    "j1,i1,ann,Terminated,1000.0,5000.0\n"
    "j2,i2,,Failed,900,2000.5\n"
    "j3,i3,cem,Terminated,1000.0,1400.0\n";
constexpr absl::string_view kTasks =
    "j1,ps,2.0,Terminated,1100.0,4000.0,600.0,29.296875,,\n"
    "j3,tensorflow,1.0,Terminated,1200.0,1400.0,50.0,1,25.0,MISC\n"
    "j1,worker,3.0,Terminated,1050.0,4990.0,400,1,50.0,T4\n"
    "j2,tensorflow,1,Failed,1500,2000,100,0.5,200,V100\n";

// A rig over two tables.
class PaiRig : public FormatRig {
 public:
  PaiRig(absl::string_view jobs, absl::string_view tasks) : FormatRig(kName, jobs) {
    AddTable("task", tasks);
  }
};

TEST(PaiSourceTest, AJobIsTheGangOfItsTasks) {
  PaiRig rig(kJobs, kTasks);
  const std::vector<JobArrival> jobs = rig.All();
  ASSERT_TRUE(rig.status().ok()) << rig.status();
  ASSERT_EQ(jobs.size(), 3u);
  EXPECT_EQ(jobs[0].name, "j2");
  EXPECT_EQ(jobs[0].tenant, "");
  EXPECT_EQ(jobs[0].time, SimTime(900'000'000'000));
  EXPECT_TRUE(jobs[0].has_run_time);
  EXPECT_EQ(jobs[0].run_time, SimDuration(500'500'000'000));
  EXPECT_TRUE(jobs[0].fails);
  EXPECT_EQ(jobs[0].pods, 1);
  EXPECT_TRUE(jobs[0].more_pods.empty());
  const PodShape& whole = rig.shape(jobs[0].shape);
  EXPECT_EQ(whole.request.cpu_milli, 1000);
  EXPECT_EQ(whole.request.memory_bytes, int64_t{512} << 20);
  EXPECT_EQ(whole.request.gpu_count, 2);
  EXPECT_EQ(whole.request.gpu_milli, 1000);
  EXPECT_EQ(whole.request.gpu_spec, "V100");

  EXPECT_EQ(jobs[1].name, "j1");
  EXPECT_EQ(jobs[1].tenant, "ann");
  EXPECT_EQ(jobs[1].time, SimTime(1'000'000'000'000));
  EXPECT_EQ(jobs[1].run_time, SimDuration::Seconds(3950));
  EXPECT_FALSE(jobs[1].fails);
  EXPECT_EQ(jobs[1].pods, 2);
  const PodShape& server = rig.shape(jobs[1].shape);
  EXPECT_EQ(server.request.cpu_milli, 6000);
  EXPECT_EQ(server.request.memory_bytes, int64_t{30'000} << 20);
  EXPECT_EQ(server.request.gpu_count, 0);
  EXPECT_EQ(server.request.gpu_milli, 0);
  EXPECT_EQ(server.request.gpu_spec, "");
  ASSERT_EQ(jobs[1].more_pods.size(), 1u);
  EXPECT_EQ(jobs[1].more_pods[0].pods, 3);
  const PodShape& worker = rig.shape(jobs[1].more_pods[0].shape);
  EXPECT_EQ(worker.request.cpu_milli, 4000);
  EXPECT_EQ(worker.request.memory_bytes, int64_t{1} << 30);
  EXPECT_EQ(worker.request.gpu_count, 1);
  EXPECT_EQ(worker.request.gpu_milli, 500);
  EXPECT_EQ(worker.request.gpu_spec, "T4");

  // Submitted with j1 and behind it in the file.
  EXPECT_EQ(jobs[2].name, "j3");
  EXPECT_EQ(jobs[2].run_time, SimDuration::Seconds(200));
  EXPECT_EQ(rig.warnings(), Lines());
}

TEST(PaiSourceTest, AddsTheOffset) {
  PaiRig rig(kJobs, kTasks);
  rig.input.time_offset_ns = -900'000'000'000;
  const std::vector<JobArrival> jobs = rig.All();
  ASSERT_EQ(jobs.size(), 3u);
  EXPECT_EQ(jobs[0].time, SimTime(0));
  EXPECT_EQ(jobs[0].run_time, SimDuration(500'500'000'000));
  rig.input.time_offset_ns = -900'000'000'001;
  EXPECT_EQ(rig.Error(),
            "main:2:15: start_time: found '900', expected a time that the offset leaves between 0 "
            "and 126 years");
}

TEST(PaiSourceTest, ReadsGzipTables) {
  PaiRig rig(GzipText(kJobs), GzipText(kTasks));
  EXPECT_EQ(rig.All().size(), 3u);
  EXPECT_TRUE(rig.status().ok()) << rig.status();
}

TEST(PaiSourceTest, UpToAHundredPercentIsAShareAndMoreIsWholeGpus) {
  struct Row {
    const char* percent;
    int32_t count;
    int32_t milli;
  };
  const Row kRows[] = {{"", 0, 0},       {"0", 0, 0},        {"0.01", 1, 1},   {"12.5", 1, 125},
                       {"100", 1, 1000}, {"100.1", 2, 1000}, {"250", 3, 1000}, {"800.0", 8, 1000}};
  std::string jobs;
  std::string tasks;
  for (size_t i = 0; i < std::size(kRows); ++i) {
    absl::StrAppend(&jobs, "j", i, ",i,u,Terminated,", i, ",100\n");
    absl::StrAppend(&tasks, "j", i, ",t,1,Terminated,50,99,,,", kRows[i].percent, ",T4\n");
  }
  PaiRig rig(jobs, tasks);
  const std::vector<JobArrival> read = rig.All();
  ASSERT_TRUE(rig.status().ok()) << rig.status();
  ASSERT_EQ(read.size(), std::size(kRows));
  for (size_t i = 0; i < std::size(kRows); ++i) {
    SCOPED_TRACE(kRows[i].percent);
    const PodShape& shape = rig.shape(read[i].shape);
    EXPECT_EQ(shape.request.gpu_count, kRows[i].count);
    EXPECT_EQ(shape.request.gpu_milli, kRows[i].milli);
    EXPECT_EQ(shape.request.gpu_spec, kRows[i].count > 0 ? "T4" : "");
    EXPECT_EQ(shape.request.cpu_milli, 0);
    EXPECT_EQ(shape.request.memory_bytes, 0);
  }
  EXPECT_EQ(rig.warnings(), (Lines{"2 time(s): more than one GPU, but not whole ones; the first: "
                                   "task:6:27: plan_gpu: rounded up"}));
}

TEST(PaiSourceTest, UnfinishedAndUnstartedJobsAreLeftOut) {
  PaiRig rig(
      "run,i,u,Running,10,\nwait,i,u,Waiting,,\nnone,i,u,Terminated,30,40\nnever,i,u,Failed,30,40\n"
      "done,i,u,Running,30,90\n",
      "never,t,1,Failed,,,100,1,,\ndone,t,1,Terminated,50,60,100,1,,\n"
      "done,ps,,Terminated,40,60,100,1,,\nghost,t,1,Terminated,50,60,100,1,,\n"
      "run,t,1,Running,11,,100,1,,\n");
  const std::vector<JobArrival> jobs = rig.All();
  ASSERT_TRUE(rig.status().ok()) << rig.status();
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].name, "done");
  EXPECT_EQ(jobs[0].pods, 1);
  EXPECT_TRUE(jobs[0].more_pods.empty());
  EXPECT_EQ(jobs[0].run_time, SimDuration::Seconds(40));
  const Lines expected = {
      "1 time(s): left out: has no tasks; the first: main:3:1: job 'none'",
      "1 time(s): left out: its tasks never started; the first: main:4:1: job 'never'",
      "2 time(s): left out: runs or waits when the trace ends; the first: main:1:1: job 'run'",
      "1 time(s): row of a job that the job table does not have; the first: task:4:1: job_name: "
      "left out",
      "1 time(s): task without instances; the first: task:3:9: inst_num: left out"};
  EXPECT_EQ(rig.warnings(), expected);
}

TEST(PaiSourceTest, WithInstancesTheLongestCounts) {
  PaiRig rig(kJobs, kTasks);
  rig.AddTable("instance",
               "j1,worker,n0,w0,i1,Terminated,1050,1080,m\n"
               "j1,worker,n1,w1,i1,Terminated,1060.0,1110.5,m\n"
               "j1,worker,n2,w2,i1,Running,1000,,m\n"
               "ghost,worker,n2,w2,i1,Running,1000,1001,m\n");
  const std::vector<JobArrival> jobs = rig.All();
  ASSERT_EQ(jobs.size(), 3u);
  EXPECT_EQ(jobs[0].run_time, SimDuration(500'500'000'000));
  EXPECT_EQ(jobs[1].run_time, SimDuration(50'500'000'000));
  EXPECT_EQ(jobs[2].run_time, SimDuration::Seconds(200));
  EXPECT_EQ(rig.warnings(),
            (Lines{"1 time(s): row of a job that the job table does not have; the first: "
                   "instance:4:1: job_name: left out"}));
  rig.AddTable("instance", "j1,worker,n0,w0,i1,Terminated,1050,1049,m\n");
  EXPECT_EQ(rig.Error(),
            "instance:1:36: end_time: found '1049', expected a time not before start_time");
}

TEST(PaiSourceTest, WithGroupTagsTheGpuModelIsTheOneAskedFor) {
  PaiRig rig(kJobs, kTasks);
  rig.AddTable("group", "i1,ann,V100M32,g,nmt\ni2,bob,,g,\ni1,ann,P100,g,\n");
  const std::vector<JobArrival> jobs = rig.All();
  ASSERT_TRUE(rig.status().ok()) << rig.status();
  ASSERT_EQ(jobs.size(), 3u);
  EXPECT_EQ(jobs[0].name, "j2");
  EXPECT_EQ(jobs[0].tenant, "bob");
  EXPECT_EQ(rig.shape(jobs[0].shape).request.gpu_spec, "");
  EXPECT_EQ(jobs[1].tenant, "ann");
  EXPECT_EQ(rig.shape(jobs[1].shape).request.gpu_spec, "");
  EXPECT_EQ(rig.shape(jobs[1].more_pods[0].shape).request.gpu_spec, "V100M32");
  EXPECT_EQ(rig.shape(jobs[2].shape).request.gpu_spec, "MISC");
  EXPECT_EQ(rig.warnings(),
            (Lines{"1 time(s): second tag of a job; the first: group:3:1: inst_id: left out"}));
}

std::string ErrorOf(absl::string_view jobs, absl::string_view tasks) {
  return PaiRig(jobs, tasks).Error();
}

TEST(PaiSourceTest, ExplainsBadRows) {
  constexpr absl::string_view kJob = "j,i,u,Terminated,5,9\n";
  constexpr absl::string_view kTask = "j,t,1,Terminated,5,9,100,1,,\n";
  EXPECT_EQ(ErrorOf(kJob, kTask), "");
  for (const auto& [input, expected] : TestRows<2>("ExplainsBadRows")) {
    EXPECT_EQ(ErrorOf(input, kTask), expected) << input;
  }
  EXPECT_EQ(ErrorOf(absl::StrCat(kJob, kJob), kTask),
            "main:2:1: job_name: found 'j', expected a name that no earlier row has");
  EXPECT_EQ(ErrorOf("job_name,inst_id,user,status,start_time,end_time\n", kTask),
            "main:1:23: status: found 'status', expected one of Terminated, Failed, Running, "
            "Waiting");
  for (const auto& [input, expected] : TestRows<2>("ExplainsBadRows.2")) {
    EXPECT_EQ(ErrorOf(kJob, input), expected) << input;
  }
}

TEST(PaiSourceTest, OneReportTellsOfAllBadRowsOfAllTables) {
  EXPECT_EQ(ErrorOf("j1,i,u,Done,5,9\nj2,i,u,Terminated,5,9\nj3,i,u,Odd,5,9\nj2,i,u,Failed,5,9\n",
                    "j1,t,1,Terminated,5,9,100,1,,\nj2,t,1,Terminated,5,9,-100,1,,\n"),
            TestLines("OneReportTellsOfAllBadRowsOfAllTables"));
  // Mistakes that only the join of the tables shows.
  EXPECT_EQ(ErrorOf("j1,i,u,Terminated,5,9\nj2,i,u,Terminated,5,9\nj3,i,u,Terminated,5,9\n",
                    "j1,t,1,Terminated,10,,100,1,,\nj2,t,100001,Terminated,5,,100,1,,\n"
                    "j3,t,1,Terminated,11,,100,1,,\n"),
            TestLines("OneReportTellsOfAllBadRowsOfAllTables.2"));
}

TEST(PaiSourceTest, LenientSkipsBadRows) {
  PaiRig rig("j1,i,u,Done,5,9\nj2,i,u,Terminated,5,9\nj3,i,u,Terminated,5,9\n",
             "j1,t,1,Terminated,5,9,100,1,,\nj2,t,1,Terminated,6,9,100,1,,\n"
             "j2,t,1,Terminated,5,9,-100,1,,\nj3,t,1,Terminated,10,,100,1,,\n");
  rig.input.lenient = true;
  const std::vector<JobArrival> jobs = rig.All();
  ASSERT_TRUE(rig.status().ok()) << rig.status();
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].name, "j2");
  EXPECT_EQ(jobs[0].run_time, SimDuration::Seconds(3));
  const Lines expected = {
      "1 row(s) skipped: end before start; the first: main:3:1: job 'j3': end_time: found one "
      "ahead of the start of its first task, expected one not before it",
      "1 row(s) skipped: negative number; the first: task:3:23: plan_cpu: found '-100', expected a "
      "plain number of percent of a core that is not negative",
      "1 row(s) skipped: unknown status; the first: main:1:8: status: found 'Done', expected one "
      "of Terminated, Failed, Running, Waiting",
      "1 time(s): row of a job that the job table does not have; the first: task:1:1: job_name: "
      "left out"};
  EXPECT_EQ(rig.warnings(), expected);
}

TEST(PaiSourceTest, TablesAreChecked) {
  FormatRig without(kName, kJobs);
  EXPECT_EQ(without.Error(),
            "tables: found no 'task', expected the path of pai_task_table, the pods of each job, "
            "which format 'pai-2020' needs");
  PaiRig unknown(kJobs, kTasks);
  unknown.AddTable("instances", "x");
  EXPECT_EQ(unknown.Error(),
            "tables: found 'instances', expected for format 'pai-2020': task, instance, group");
  PaiRig missing(kJobs, kTasks);
  missing.input.tables["group"] = missing.input.path + "-not-there";
  missing.All();
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kNotFound);
  PaiRig split(kJobs, kTasks);
  split.input.gpus_per_pod = 8;
  EXPECT_EQ(split.Error(),
            "gpus_per_pod: found 8, expected none, because format 'pai-2020' says which pods a job "
            "has");
}

TEST(PaiSourceTest, SavesAndLoadsItsPlace) {
  PaiRig(kJobs, kTasks).ExpectSavesAndLoads();
  EXPECT_EQ(PaiRig(kJobs, kTasks).LoadOverAnotherText("j1,i1,ann,Terminated,1000.0,5000.0\n"),
            absl::DataLossError("the checkpoint was made from another trace: its place is not to "
                                "be found in this one"));
}

}  // namespace pai_source_test
}  // namespace drasim
