#include "traces/philly_source.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/event_source.h"
#include "model/pod_shape.h"
#include "model/time.h"
#include "tests/testing/data_text.h"
#include "tests/traces/format_rig.h"
#include "tests/traces/gzip_text.h"
#include "traces/philly_jobs.h"

namespace drasim {
namespace philly_source_test {

using Lines = std::vector<std::string>;

constexpr absl::string_view kName = "philly";
// 2017-10-03 00:00:00 in Pacific time.
constexpr int64_t kMidnightS = 1'507'014'000;

// A time of that day as JSON.
std::string Clock(absl::string_view hms) { return absl::StrCat("\"2017-10-03 ", hms, "\""); }

// An attempt with the given numbers of GPUs on its nodes. Times are JSON.
std::string Attempt(absl::string_view start, absl::string_view end, const std::vector<int>& gpus) {
  Lines details;
  for (size_t node = 0; node < gpus.size(); ++node) {
    Lines names;
    for (int i = 0; i < gpus[node]; ++i) names.push_back(absl::StrCat("\"gpu", i, "\""));
    details.push_back(
        absl::StrCat("{\"ip\": \"m", node, "\", \"gpus\": [", absl::StrJoin(names, ", "), "]}"));
  }
  return absl::StrCat("{\"start_time\": ", start, ", \"end_time\": ", end, ", \"detail\": [",
                      absl::StrJoin(details, ", "), "]}");
}

// Submitted at midnight unless `submitted` (JSON) says otherwise.
std::string Job(absl::string_view id, absl::string_view status, const Lines& attempts,
                absl::string_view submitted = "\"2017-10-03 00:00:00\"") {
  return absl::StrCat("{\"status\": \"", status, "\", \"vc\": \"vc-", id, "\", \"jobid\": \"", id,
                      "\", \"attempts\": [", absl::StrJoin(attempts, ", "),
                      "], \"submitted_time\": ", submitted, ", \"user\": \"u\"}");
}

// Each job on a line, from line 2 on.
std::string Log(const Lines& jobs) {
  return absl::StrCat("[\n", absl::StrJoin(jobs, ",\n"), "\n]");
}

std::string OneGpu(absl::string_view start, absl::string_view end) {
  return Attempt(Clock(start), Clock(end), {1});
}

TEST(PhillySourceTest, EarlierAttemptsFailAndTheLastGivesTheRunTime) {
  FormatRig rig(
      kName,
      Log({Job("app_1_2", "Failed",
               {OneGpu("00:01:00", "00:01:30"), OneGpu("00:01:30", "00:03:00"),
                OneGpu("00:10:00", "10:00:00")}),
           Job("app_1_3", "Killed", {OneGpu("00:00:00", "00:00:00")}),
           Job("app_1_1", "Pass", {OneGpu("09:00:00", "09:00:01")}, "\"2017-10-02 23:59:59\"")}));
  const std::vector<JobArrival> jobs = rig.All();
  ASSERT_TRUE(rig.status().ok()) << rig.status();
  ASSERT_EQ(jobs.size(), 3u);
  JobArrival first;
  first.name = "app_1_1";
  first.shape = jobs[1].shape;
  first.tenant = "vc-app_1_1";
  first.time = SimTime((kMidnightS - 1) * 1'000'000'000);
  first.has_run_time = true;
  first.run_time = SimDuration::Seconds(1);
  EXPECT_TRUE(jobs[0] == first);
  JobArrival failed = first;
  failed.name = "app_1_2";
  failed.tenant = "vc-app_1_2";
  failed.time = SimTime(kMidnightS * 1'000'000'000);
  failed.run_time = SimDuration::Seconds(9 * 3600 + 50 * 60);
  failed.fails = true;
  failed.failed_attempts = {SimDuration::Seconds(30), SimDuration::Seconds(90)};
  EXPECT_TRUE(jobs[1] == failed);
  EXPECT_EQ(jobs[2].name, "app_1_3");
  EXPECT_TRUE(jobs[2].has_run_time);
  EXPECT_EQ(jobs[2].run_time, SimDuration());
  EXPECT_FALSE(jobs[2].fails);
  const PodShape& shape = rig.shape(jobs[0].shape);
  EXPECT_EQ(shape.request.gpu_count, 1);
  EXPECT_EQ(shape.request.gpu_milli, 1000);
  EXPECT_EQ(shape.request.cpu_milli, 0);
  EXPECT_EQ(shape.request.memory_bytes, 0);
  EXPECT_EQ(shape.request.gpu_spec, "");
  EXPECT_EQ(rig.shapes().size(), 1u);
  EXPECT_EQ(rig.warnings(), Lines());
}

TEST(PhillySourceTest, AddsTheOffset) {
  FormatRig rig(kName, Log({Job("a", "Pass", {OneGpu("01:00:00", "02:00:00")})}));
  rig.input.time_offset_ns = -kMidnightS * 1'000'000'000;
  const std::vector<JobArrival> jobs = rig.All();
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].time, SimTime(0));
  EXPECT_EQ(jobs[0].run_time, SimDuration::Seconds(3600));
  rig.input.time_offset_ns -= 1;
  EXPECT_EQ(rig.Error(),
            "main:2:1: job 'a': submitted_time: found '2017-10-03 00:00:00', expected a time that "
            "the offset leaves between 0 and 126 years");
}

// The pods of a job of `gpus` GPUs: "2x8+4" with a remainder of 4.
std::string Pods(int gpus, std::optional<int32_t> gpus_per_pod) {
  FormatRig rig(
      kName,
      Log({Job("a", "Pass",
               {Attempt(Clock("01:00:00"), Clock("02:00:00"), {gpus - gpus / 3, gpus / 3})})}));
  rig.input.gpus_per_pod = gpus_per_pod;
  const std::vector<JobArrival> jobs = rig.All();
  EXPECT_TRUE(rig.status().ok()) << rig.status();
  if (jobs.size() != 1) return "no job";
  EXPECT_FALSE(rig.shape(jobs[0].shape).gang_remainder);
  std::string text = absl::StrCat(jobs[0].pods, "x", rig.shape(jobs[0].shape).request.gpu_count);
  for (const PodGroup& group : jobs[0].more_pods) {
    EXPECT_EQ(group.pods, 1);
    EXPECT_TRUE(rig.shape(group.shape).gang_remainder);
    absl::StrAppend(&text, "+", rig.shape(group.shape).request.gpu_count);
  }
  return text;
}

TEST(PhillySourceTest, LargeJobsAreSplit) {
  EXPECT_EQ(Pods(1, std::nullopt), "1x1");
  EXPECT_EQ(Pods(8, std::nullopt), "1x8");
  EXPECT_EQ(Pods(9, std::nullopt), "1x8+1");
  EXPECT_EQ(Pods(16, std::nullopt), "2x8");
  EXPECT_EQ(Pods(20, std::nullopt), "2x8+4");
  EXPECT_EQ(Pods(20, 4), "5x4");
  EXPECT_EQ(Pods(20, 1), "20x1");
  EXPECT_EQ(Pods(20, 0), "1x20");
  for (const int32_t wrong : {-1, 65}) {
    FormatRig rig(kName, "[]");
    rig.input.gpus_per_pod = wrong;
    EXPECT_EQ(rig.Error(), absl::StrCat("gpus_per_pod: found ", wrong, ", expected 0 to 64"));
  }
}

TEST(PhillySourceTest, GpusAreThoseOfTheLastAttemptThatHasSome) {
  FormatRig rig(kName,
                Log({Job("a", "Pass",
                         {Attempt(Clock("01:00:00"), Clock("02:00:00"), {4}),
                          Attempt(Clock("02:00:00"), Clock("03:00:00"), {2}),
                          Attempt(Clock("03:00:00"), Clock("04:00:00"), {0}),
                          Attempt(Clock("04:00:00"), Clock("05:00:00"), {})}),
                     Job("b", "Pass", {Attempt(Clock("04:00:00"), Clock("05:00:00"), {0, 0})}),
                     Job("c", "Pass", {})}));
  const std::vector<JobArrival> jobs = rig.All();
  ASSERT_TRUE(rig.status().ok()) << rig.status();
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(rig.shape(jobs[0].shape).request.gpu_count, 2);
  EXPECT_EQ(jobs[0].failed_attempts.size(), 3u);
  EXPECT_EQ(rig.warnings(),
            (Lines{"1 time(s): attempts with different numbers of GPUs; the first: main:2:1: job "
                   "'a': read as 2",
                   "1 time(s): left out: never started, so its GPUs are unknown; the first: "
                   "main:4:1: job 'c'",
                   "1 time(s): left out: none of its attempts has GPUs; the first: main:3:1: job "
                   "'b'"}));
}

TEST(PhillySourceTest, MissingTimes) {
  FormatRig rig(
      kName,
      Log({Job("runs", "Pass", {Attempt(Clock("01:00:00"), "null", {1})}),
           Job("none", "Pass", {Attempt(Clock("01:00:00"), "\"None\"", {1})}),
           Job("empty", "Killed", {OneGpu("01:00:00", "02:00:00"), Attempt("\"\"", "\"\"", {1})}),
           Job("no-start", "Pass", {Attempt("null", Clock("01:00:00"), {1})}),
           Job("gap", "Pass",
               {Attempt("null", Clock("01:00:00"), {1}),
                Attempt(Clock("01:30:00"), "\"None\"", {1}), OneGpu("02:00:00", "02:00:07")})}));
  const std::vector<JobArrival> jobs = rig.All();
  ASSERT_TRUE(rig.status().ok()) << rig.status();
  ASSERT_EQ(jobs.size(), 4u);
  EXPECT_EQ(jobs[0].name, "runs");
  EXPECT_FALSE(jobs[0].has_run_time);
  EXPECT_EQ(jobs[1].name, "none");
  EXPECT_FALSE(jobs[1].has_run_time);
  EXPECT_EQ(jobs[2].name, "empty");
  EXPECT_FALSE(jobs[2].has_run_time);
  EXPECT_EQ(jobs[2].failed_attempts, (std::vector<SimDuration>{SimDuration::Seconds(3600)}));
  EXPECT_EQ(jobs[3].name, "gap");
  EXPECT_TRUE(jobs[3].has_run_time);
  EXPECT_EQ(jobs[3].run_time, SimDuration::Seconds(7));
  EXPECT_TRUE(jobs[3].failed_attempts.empty());
  EXPECT_EQ(rig.warnings(),
            (Lines{"2 time(s): earlier attempt without both times, left out; the first: main:6:1: "
                   "job 'gap': attempts[0].start_time",
                   "1 time(s): left out: its last attempt has an end but no start; the first: "
                   "main:5:1: job 'no-start'"}));
}

// Seconds from 1970; -1 when `text` is refused.
int64_t Unix(absl::string_view text, int64_t floor_s = 0) {
  int64_t unix_s = -1;
  return ParsePhillyTime(text, floor_s, &unix_s) ? unix_s : -1;
}

TEST(PhillyTimeTest, IsPacificTimeOf2017) {
  EXPECT_EQ(Unix("2017-10-03 05:48:00"), 1'507'034'880);
  EXPECT_EQ(Unix("2017-03-12 01:59:59"), 1'489'312'799);
  EXPECT_EQ(Unix("2017-03-12 03:00:00"), 1'489'312'800);
  EXPECT_EQ(Unix("2017-11-05 00:59:59"), 1'509'868'799);
  EXPECT_EQ(Unix("2017-11-05 02:00:00"), 1'509'876'000);
  EXPECT_EQ(Unix("2017-12-22 00:00:00"), 1'513'929'600);
}

TEST(PhillyTimeTest, TheHourThatCameTwice) {
  EXPECT_EQ(Unix("2017-11-05 01:00:00"), 1'509'868'800);
  EXPECT_EQ(Unix("2017-11-05 01:00:00", 1'509'868'800), 1'509'868'800);
  EXPECT_EQ(Unix("2017-11-05 01:00:00", 1'509'868'801), 1'509'872'400);
  EXPECT_EQ(Unix("2017-11-05 01:59:59"), 1'509'872'399);
  EXPECT_EQ(Unix("2017-11-05 01:59:59", 1'509'872'400), 1'509'875'999);
  // Times that came once stay where they are.
  EXPECT_EQ(Unix("2017-11-05 00:59:59", 1'600'000'000), 1'509'868'799);
  EXPECT_EQ(Unix("2017-11-05 02:00:00", 1'600'000'000), 1'509'876'000);
}

TEST(PhillyTimeTest, RefusesOtherTexts) {
  for (const char* const text :
       {"", "None", "2017-10-03", "2017-10-03 05:48", "2017-10-03 05:48:0", "2017-10-03 24:00:00",
        "2017-10-03 05:60:00", "2017-02-29 00:00:00", "2017-13-01 00:00:00", "2017-10-03 05:48:00Z",
        "2017-10-03 05:48:00.5", "1969-12-31 00:00:00", "2200-01-01 00:00:00",
        "2017/10/03 05:48:00"}) {
    EXPECT_EQ(Unix(text), -1) << text;
  }
}

TEST(PhillySourceTest, AnAttemptOverTheEndOfSummerTime) {
  // From 01:50 PDT to 01:10 PST, and again from then to 02:10 PST.
  const std::string log =
      Log({Job("a", "Pass",
               {Attempt("\"2017-11-05 01:50:00\"", "\"2017-11-05 01:10:00\"", {1}),
                Attempt("\"2017-11-05 01:10:00\"", "\"2017-11-05 02:10:00\"", {1})},
               "\"2017-11-05 01:40:00\"")});
  FormatRig rig(kName, log);
  const std::vector<JobArrival> jobs = rig.All();
  ASSERT_TRUE(rig.status().ok()) << rig.status();
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].time, SimTime(int64_t{1'509'868'800 + 40 * 60} * 1'000'000'000));
  EXPECT_EQ(jobs[0].failed_attempts, (std::vector<SimDuration>{SimDuration::Seconds(20 * 60)}));
  EXPECT_EQ(jobs[0].run_time, SimDuration::Seconds(3600));
}

// The message for one job, which begins in column 1 of line 2.
std::string ErrorOf(absl::string_view job) {
  return FormatRig(kName, Log({std::string(job)})).Error();
}

TEST(PhillySourceTest, ExplainsBadJobs) {
  EXPECT_EQ(ErrorOf(Job("a", "Passed", {OneGpu("01:00:00", "02:00:00")})),
            "main:2:1: job 'a': status: found 'Passed', expected one of Pass, Killed, Failed");
  EXPECT_EQ(ErrorOf("{\"jobid\": \"a\"}"),
            "main:2:1: job 'a': status: found '', expected one of Pass, Killed, Failed");
  EXPECT_EQ(ErrorOf("{\"status\": \"Pass\"}"),
            "main:2:1: job '': jobid: found '', expected a text that is not empty");
  EXPECT_EQ(ErrorOf(Job("a", "Pass", {}, "null")),
            "main:2:1: job 'a': submitted_time: found '', expected a time such as '2017-10-03 "
            "05:48:00'");
  EXPECT_EQ(ErrorOf(Job("a", "Pass", {}, "\"None\"")),
            "main:2:1: job 'a': submitted_time: found 'None', expected a time such as '2017-10-03 "
            "05:48:00'");
  EXPECT_EQ(ErrorOf(Job("a", "Pass", {OneGpu("01:00:00", "02:00:00"), OneGpu("02:00:00", "x")})),
            "main:2:1: job 'a': attempts[1].end_time: found '2017-10-03 x', expected a time such "
            "as '2017-10-03 05:48:00'");
  EXPECT_EQ(
      ErrorOf(Job("a", "Pass", {OneGpu("01:00:00", "02:00:00"), OneGpu("02:00:00", "01:59:59")})),
      "main:2:1: job 'a': attempts[1].end_time: found '2017-10-03 01:59:59', expected a time "
      "not before attempts[1].start_time");
  EXPECT_EQ(
      ErrorOf(Job("a", "Pass", {OneGpu("01:00:00", "02:00:00"), OneGpu("01:59:59", "03:00:00")})),
      "main:2:1: job 'a': attempts[1].start_time: found '2017-10-03 01:59:59', expected a "
      "time not before the end of an earlier attempt");
  const std::string good = Job("a", "Pass", {OneGpu("01:00:00", "02:00:00")});
  EXPECT_EQ(FormatRig(kName, Log({good, good})).Error(),
            "main:3:1: job 'a': jobid: found 'a', expected a name that no earlier job has");
}

TEST(PhillySourceTest, ExplainsValuesOfTheWrongType) {
  EXPECT_EQ(FormatRig(kName, "{}").Error(), "main:1:1: found an object, expected a list of jobs");
  EXPECT_EQ(FormatRig(kName, "\"x\"").Error(), "main:1:3: found 'x', expected a list of jobs");
  for (const auto& [input, expected] : TestRows<2>("ExplainsValuesOfTheWrongType")) {
    EXPECT_EQ(ErrorOf(input), expected) << input;
  }
}

TEST(PhillySourceTest, OtherKeysAreNotLookedAt) {
  FormatRig rig(kName,
                "[{\"x\": {\"jobid\": [1, {\"status\": {}}], \"attempts\": 5}, \"y\": [[], [{}]],"
                " \"jobid\": \"a\", \"status\": \"Pass\", \"user\": {\"vc\": \"wrong\"},"
                " \"attempts\": [{\"detail\": [{\"ip\": [], \"gpus\": [\"gpu0\"], \"z\": null}],"
                " \"start_time\": \"2017-10-03 01:00:00\", \"note\": {\"start_time\": 5},"
                " \"end_time\": \"2017-10-03 01:00:09\"}],"
                " \"submitted_time\": \"2017-10-03 00:00:00\"}]");
  const std::vector<JobArrival> jobs = rig.All();
  ASSERT_TRUE(rig.status().ok()) << rig.status();
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].name, "a");
  EXPECT_EQ(jobs[0].tenant, "");
  EXPECT_EQ(jobs[0].run_time, SimDuration::Seconds(9));
  EXPECT_EQ(rig.shape(jobs[0].shape).request.gpu_count, 1);
}

TEST(PhillySourceTest, TextThatIsNotJsonIsAnErrorEvenWhenLenient) {
  const auto error = [](absl::string_view text) {
    FormatRig rig(kName, text);
    rig.input.lenient = true;
    return rig.Error();
  };
  EXPECT_EQ(error("[]"), "");
  EXPECT_EQ(error("\n[\n{\"jobid\": \"a\""),
            "main:3:13: found the end of the input, expected a JSON list of jobs");
  EXPECT_EQ(error("[\n\n]x"),
            "main:3:2: found text that is not JSON, expected a JSON list of jobs");
  EXPECT_EQ(error("[{]"), "main:1:3: found text that is not JSON, expected a JSON list of jobs");
  EXPECT_EQ(error(" "), "main:1:1: found the end of the input, expected a JSON list of jobs");
}

TEST(PhillySourceTest, OneReportTellsOfAllBadJobs) {
  const std::string good = Job("good", "Pass", {OneGpu("01:00:00", "02:00:00")});
  const Lines jobs = {
      Job("a", "Done", {}),
      "5",
      good,
      good,
      Job("b", "Odd", {}),
      Job("c", "Pass", {}, "\"?\""),
      Job("d", "Pass", {Attempt("\"?\"", "null", {1})}),
      Job("e", "Pass", {OneGpu("01:00:00", "02:00:00"), Attempt("\"?\"", "null", {1})})};
  const std::string report = TestLines("OneReportTellsOfAllBadJobs.report");
  EXPECT_EQ(FormatRig(kName, Log(jobs)).Error(), report);
  EXPECT_EQ(FormatRig(kName, absl::StrCat(Log(jobs), "x")).Error(),
            absl::StrCat(report,
                         "\nmain:10:2: found text that is not JSON, expected a JSON list of "
                         "jobs"));
}

TEST(PhillySourceTest, LenientCountsBadJobs) {
  const std::string good = Job("good", "Pass", {OneGpu("01:00:00", "02:00:00")});
  FormatRig rig(kName,
                Log({Job("a", "Done", {}), "5", good, good, Job("b", "Done", {}), "{\"jobid\": 7}",
                     Job("good", "Pass", {OneGpu("02:00:00", "01:00:00")})}));
  rig.input.lenient = true;
  const std::vector<JobArrival> jobs = rig.All();
  ASSERT_TRUE(rig.status().ok()) << rig.status();
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].name, "good");
  const Lines expected = {
      "1 row(s) skipped: duplicate name; the first: main:5:1: job 'good': jobid: found 'good', "
      "expected a name that no earlier job has",
      "1 row(s) skipped: end before start; the first: main:8:1: job 'good': attempts[0].end_time: "
      "found '2017-10-03 01:00:00', expected a time not before attempts[0].start_time",
      "2 row(s) skipped: unknown status; the first: main:2:1: job 'a': status: found 'Done', "
      "expected one of Pass, Killed, Failed",
      "2 row(s) skipped: wrong type; the first: main:3:2: found 5, expected an object"};
  EXPECT_EQ(rig.warnings(), expected);
}

TEST(PhillySourceTest, LongLogsAreSortedAndPlacesStayRight) {
  // Far more than the reader takes in at once; two jobs of each minute, the latest first.
  constexpr int kJobs = 3000;
  Lines jobs;
  std::vector<std::pair<int, int>> expected;  // minute, job
  for (int i = 0; i < kJobs; ++i) {
    const int minute = (kJobs - 1 - i) / 2;
    const std::string submitted =
        absl::StrCat("\"2017-10-", absl::Dec(3 + minute / 1440, absl::kZeroPad2), " ",
                     absl::Dec(minute / 60 % 24, absl::kZeroPad2), ":",
                     absl::Dec(minute % 60, absl::kZeroPad2), ":00\"");
    jobs.push_back(
        Job(absl::StrCat("job_", i), "Pass", {OneGpu("01:00:00", "02:00:00")}, submitted));
    expected.emplace_back(minute, i);
  }
  std::stable_sort(expected.begin(), expected.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  FormatRig rig(kName, GzipText(Log(jobs)));
  const std::vector<JobArrival> read = rig.All();
  ASSERT_TRUE(rig.status().ok()) << rig.status();
  ASSERT_EQ(read.size(), expected.size());
  for (size_t i = 0; i < read.size(); ++i) {
    ASSERT_EQ(read[i].name, absl::StrCat("job_", expected[i].second));
    ASSERT_EQ(read[i].time, SimTime((kMidnightS + expected[i].first * 60) * 1'000'000'000));
  }
  jobs.push_back("{\"jobid\": \"late\"}");
  EXPECT_EQ(FormatRig(kName, Log(jobs)).Error(),
            "main:3002:1: job 'late': status: found '', expected one of Pass, Killed, Failed");
}

TEST(PhillySourceTest, DamagedFilesAreErrorsEvenWhenLenient) {
  const std::string packed = GzipText(Log({Job("a", "Pass", {OneGpu("01:00:00", "02:00:00")})}));
  FormatRig rig(kName, packed.substr(0, packed.size() - 12));
  rig.input.lenient = true;
  rig.All();
  EXPECT_EQ(rig.status().code(), absl::StatusCode::kDataLoss);
}

TEST(PhillySourceTest, SavesAndLoadsItsPlace) {
  const std::string log =
      Log({Job("a", "Pass", {OneGpu("01:00:00", "02:00:00")}), Job("b", "Done", {}),
           Job("c", "Pass", {Attempt(Clock("01:00:00"), "null", {20})}),
           Job("d", "Pass", {OneGpu("01:00:00", "02:00:00")}, "\"2017-10-01 00:00:00\"")});
  FormatRig rig(kName, log);
  rig.input.lenient = true;
  rig.ExpectSavesAndLoads();
  const std::string other = Log({Job("a", "Pass", {OneGpu("01:00:00", "02:00:00")}),
                                 Job("d", "Pass", {OneGpu("01:00:00", "02:00:00")}),
                                 Job("e", "Pass", {OneGpu("01:00:00", "02:00:00")})});
  EXPECT_EQ(rig.LoadOverAnotherText(other),
            absl::DataLossError("the checkpoint was made from another trace: its place is not to "
                                "be found in this one"));
}

}  // namespace philly_source_test
}  // namespace drasim
