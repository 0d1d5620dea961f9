// What a report writes: jobs.csv, its part of summary.json, and the lines for people.
#include <cstddef>
#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/text/json_writer.h"
#include "sim/record/job_report.h"
#include "sim/record/time_integrals.h"
#include "tests/sim/record/job_rig.h"

namespace drasim {
namespace job_report_files_test {

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

}  // namespace job_report_files_test
}  // namespace drasim
