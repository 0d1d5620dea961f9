#include "traces/google_source.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/event_source.h"
#include "model/ids.h"
#include "model/node_spec.h"
#include "model/shape_table.h"
#include "model/time.h"
#include "tests/testing/assert_ok.h"
#include "tests/testing/data_text.h"
#include "tests/testing/shared_data.h"
#include "tests/traces/format_rig.h"
#include "traces/format_source.h"

namespace drasim {
namespace google_source_test {

using Lines = std::vector<std::string>;

constexpr absl::string_view kName = "google-2011";

// One event of a task of job 7, in seconds.
std::string Row(int64_t seconds, int index, int type) {
  return absl::StrCat(seconds, "000000,,7,", index, ",,", type, ",ann,2,9,0.5,0.25,0.1,0\n");
}

SimTime At(int64_t seconds) { return SimTime(seconds * 1'000'000'000); }

// A service of Row's, submitted then.
JobArrival Submitted(const FormatRig& rig, absl::string_view name, int64_t seconds) {
  JobArrival job;
  job.name = std::string(name);
  for (uint32_t i = 0; i < rig.shapes().size(); ++i) {
    if (rig.shape(ShapeId(i)).request.cpu_milli == 50'000) job.shape = ShapeId(i);
  }
  job.tenant = "ann";
  job.priority = 9;
  job.time = At(seconds);
  return job;
}

JobArrival RunsFor(JobArrival job, int64_t seconds) {
  job.has_run_time = true;
  job.run_time = SimDuration::Seconds(seconds);
  return job;
}

TEST(GoogleTaskEventsTest, RequestsAreFractionsOfTheLargestMachine) {
  FormatRig rig(kName,
                "5000000,,6253771429,12,,0,bob,0,11,0.03125,0.07446,0.0001,0\n"
                "5000001,1,6253771429,13,4155527081,0,,3,,1,1,,\n");
  const std::vector<JobArrival> jobs = rig.All();
  ASSERT_TRUE(rig.status().ok()) << rig.status();
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[0].name, "6253771429-12");
  EXPECT_EQ(jobs[0].tenant, "bob");
  EXPECT_EQ(jobs[0].priority, 11);
  EXPECT_EQ(jobs[0].time, SimTime(5'000'000'000));
  EXPECT_EQ(jobs[0].pods, 1);
  EXPECT_EQ(rig.shape(jobs[0].shape).request.cpu_milli, 3125);
  EXPECT_EQ(rig.shape(jobs[0].shape).request.memory_bytes, 7'995'081'622);
  EXPECT_EQ(jobs[1].tenant, "");
  EXPECT_EQ(jobs[1].priority, 0);
  EXPECT_EQ(jobs[1].time, SimTime(5'000'001'000));
  EXPECT_EQ(rig.shape(jobs[1].shape).request.cpu_milli, kGoogleCpuMilli);
  EXPECT_EQ(rig.shape(jobs[1].shape).request.memory_bytes, kGoogleMemoryBytes);
  EXPECT_EQ(rig.warnings(), Lines());
}

TEST(GoogleTaskEventsTest, TheLastAttemptCounts) {
  // 0 finishes, 1 is killed, 2 fails, 3 is a service, 4 waits for ever, 5 is killed while it waits.
  FormatRig rig(kName,
                absl::StrCat(Row(1, 0, 0), Row(1, 1, 0), Row(1, 2, 0), Row(1, 3, 0), Row(1, 4, 0),
                             Row(2, 5, 0), Row(3, 0, 1), Row(3, 1, 1), Row(3, 2, 1), Row(4, 3, 1),
                             Row(5, 5, 5), Row(13, 0, 4), Row(14, 1, 5), Row(15, 2, 3)));
  const std::vector<JobArrival> jobs = rig.All();
  ASSERT_TRUE(rig.status().ok()) << rig.status();
  ASSERT_EQ(jobs.size(), 6u);
  EXPECT_TRUE(jobs[0] == RunsFor(Submitted(rig, "7-0", 1), 10));
  EXPECT_TRUE(jobs[1] == RunsFor(Submitted(rig, "7-1", 1), 11));
  JobArrival fails = RunsFor(Submitted(rig, "7-2", 1), 12);
  fails.fails = true;
  EXPECT_TRUE(jobs[2] == fails);
  EXPECT_TRUE(jobs[3] == Submitted(rig, "7-3", 1));
  EXPECT_TRUE(jobs[4] == Submitted(rig, "7-4", 1));
  JobArrival deleted = Submitted(rig, "7-5", 2);
  deleted.has_deletion = true;
  deleted.deletion = At(5);
  EXPECT_TRUE(jobs[5] == deleted);
  EXPECT_EQ(rig.warnings(), Lines());
}

TEST(GoogleTaskEventsTest, FailuresAreAttemptsAndEvictionsAreNot) {
  // Fails after 2 s and after 3 s, is evicted, lost, and runs for 20 s at last.
  FormatRig rig(kName, absl::StrCat(Row(1, 0, 0), Row(2, 0, 1), Row(4, 0, 3), Row(4, 0, 0),
                                    Row(5, 0, 1), Row(6, 0, 2), Row(6, 0, 0), Row(7, 0, 1),
                                    Row(10, 0, 3), Row(11, 0, 0), Row(12, 0, 1), Row(13, 0, 6),
                                    Row(14, 0, 0), Row(20, 0, 1), Row(40, 0, 4)));
  const std::vector<JobArrival> jobs = rig.All();
  ASSERT_EQ(jobs.size(), 1u);
  JobArrival expected = RunsFor(Submitted(rig, "7-0", 1), 20);
  expected.failed_attempts = {SimDuration::Seconds(2), SimDuration::Seconds(3)};
  EXPECT_TRUE(jobs[0] == expected);
  EXPECT_EQ(rig.warnings(), Lines());
}

TEST(GoogleTaskEventsTest, AnEvictionAtTheEndIsCounted) {
  FormatRig rig(kName, absl::StrCat(Row(1, 0, 0), Row(2, 0, 1), Row(9, 0, 2)));
  const std::vector<JobArrival> jobs = rig.All();
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_TRUE(jobs[0] == RunsFor(Submitted(rig, "7-0", 1), 7));
  EXPECT_EQ(rig.warnings(),
            (Lines{"1 time(s): evicted or lost and not submitted again, so that it runs as long as "
                   "it did; the first: task 7-0"}));
}

TEST(GoogleTaskEventsTest, WhatIsSubmittedAfterItsEndIsANewJob) {
  FormatRig rig(kName, absl::StrCat(Row(1, 0, 0), Row(1, 0, 1), Row(2, 0, 4), Row(3, 1, 0),
                                    Row(4, 0, 0), Row(5, 0, 1), Row(9, 0, 5), Row(9, 0, 0)));
  const std::vector<JobArrival> jobs = rig.All();
  ASSERT_EQ(jobs.size(), 4u);
  EXPECT_TRUE(jobs[0] == RunsFor(Submitted(rig, "7-0", 1), 1));
  EXPECT_TRUE(jobs[1] == Submitted(rig, "7-1", 3));
  EXPECT_TRUE(jobs[2] == RunsFor(Submitted(rig, "7-0.2", 4), 4));
  EXPECT_TRUE(jobs[3] == Submitted(rig, "7-0.3", 9));
  EXPECT_EQ(rig.warnings(), Lines());
}

TEST(GoogleTaskEventsTest, EventsOutOfPlaceAreCounted) {
  FormatRig rig(kName, absl::StrCat(Row(1, 0, 4), Row(2, 1, 1), Row(3, 1, 0), Row(3, 1, 1),
                                    Row(3, 1, 7), Row(3, 1, 8), Row(4, 1, 4), Row(4, 1, 6),
                                    Row(5, 2, 0), Row(6, 2, 4), "7000000,,7,3,,0,ann,2,9,,0.25,,\n",
                                    "9223372036854775807,,7,3,,4,ann,2,9,0.5,0.25,0.1,0\n"));
  const std::vector<JobArrival> jobs = rig.All();
  ASSERT_TRUE(rig.status().ok()) << rig.status();
  ASSERT_EQ(jobs.size(), 3u);
  EXPECT_TRUE(jobs[0] == RunsFor(Submitted(rig, "7-1", 2), 2));
  JobArrival deleted = Submitted(rig, "7-2", 5);
  deleted.has_deletion = true;
  deleted.deletion = At(6);
  EXPECT_TRUE(jobs[1] == deleted);
  EXPECT_EQ(jobs[2].name, "7-3");
  EXPECT_FALSE(jobs[2].has_run_time);
  EXPECT_EQ(rig.shape(jobs[2].shape).request.cpu_milli, 0);
  const Lines expected = {
      "2 time(s): change of a request; the first: main:5:15: event_type: is not followed",
      "1 time(s): ended without having been scheduled; the first: main:10:15: event_type: is read "
      "as deleted by its owner",
      "2 time(s): ended without having been submitted; the first: main:1:15: event_type: is not "
      "looked at",
      "1 time(s): event after the trace ended; the first: main:12:1: time: is not looked at",
      "1 time(s): scheduled while it ran; the first: main:4:15: event_type: is not looked at",
      "1 time(s): scheduled without having been submitted; the first: main:2:15: event_type: is "
      "read as both",
      "1 time(s): submitted again while it waited or ran; the first: main:3:15: event_type: is not "
      "looked at",
      "1 time(s): submitted without a request; the first: main:11:25: cpu: found '', so the task "
      "asks for none"};
  EXPECT_EQ(rig.warnings(), expected);
}

TEST(GoogleTaskEventsTest, TasksOnDifferentMachines) {
  FormatRig rig(kName,
                "1,,7,0,,0,ann,2,9,0.5,0.25,0.1,1\n1,,7,1,,0,ann,2,9,0.5,0.25,0.1,1\n"
                "1,,8,0,,0,ann,2,9,0.5,0.25,0.1,\n");
  const std::vector<JobArrival> jobs = rig.All();
  ASSERT_EQ(jobs.size(), 3u);
  EXPECT_EQ(rig.shape(jobs[0].shape).constraints.group, "job-7");
  EXPECT_EQ(rig.shape(jobs[0].shape).constraints.max_per_node, 1);
  EXPECT_EQ(jobs[1].shape, jobs[0].shape);
  EXPECT_EQ(rig.shape(jobs[2].shape).constraints.group, "");
  EXPECT_EQ(rig.shape(jobs[2].shape).constraints.max_per_node, 0);
}

TEST(GoogleTaskEventsTest, TheTimeBeforeTheTraceStaysAtItsBeginning) {
  const std::string rows =
      absl::StrCat("0,,7,0,,0,ann,2,9,0.5,0.25,0.1,0\n", "0,,7,0,,1,ann,2,9,0.5,0.25,0.1,0\n",
                   Row(600, 1, 0), Row(630, 0, 4));
  FormatRig rig(kName, rows);
  std::vector<JobArrival> jobs = rig.All();
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_TRUE(jobs[0] == RunsFor(Submitted(rig, "7-0", 0), 630));
  EXPECT_TRUE(jobs[1] == Submitted(rig, "7-1", 600));
  rig.input.time_offset_ns = -600'000'000'000;
  jobs = rig.All();
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_TRUE(jobs[0] == RunsFor(Submitted(rig, "7-0", 0), 30));
  EXPECT_TRUE(jobs[1] == Submitted(rig, "7-1", 0));
  rig.input.time_offset_ns = 1'000'000'000;
  jobs = rig.All();
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_TRUE(jobs[0] == RunsFor(Submitted(rig, "7-0", 1), 630));
}

std::string ErrorOf(absl::string_view rows) { return FormatRig(kName, rows).Error(); }

TEST(GoogleTaskEventsTest, ExplainsBadRows) {
  for (const auto& [input, expected] : TestRows<2>("ExplainsBadRows")) {
    EXPECT_EQ(ErrorOf(input), expected) << input;
  }
  EXPECT_EQ(ErrorOf(absl::StrCat(Row(2, 0, 0), Row(1, 0, 1))),
            "main:2:1: time: found '1000000', expected a time not before that of the event ahead "
            "of it");
  FormatRig shifted(kName, Row(1, 0, 0));
  shifted.input.time_offset_ns = -1'000'000'001;
  EXPECT_EQ(shifted.Error(),
            "main:1:1: time: found '1000000', expected a time that the offset leaves between 0 and "
            "126 years");
}

TEST(GoogleTaskEventsTest, OneReportTellsOfAllBadRows) {
  EXPECT_EQ(ErrorOf(absl::StrCat(Row(2, 0, 0), Row(1, 0, 1), "junk\n", Row(1, 1, 0),
                                 "3,,x,0,,0,ann,2,9,0.5,0.25,0.1,0\n", Row(5, 0, 4))),
            TestLines("OneReportTellsOfAllBadRows"));
}

TEST(GoogleTaskEventsTest, LenientSkipsBadRows) {
  FormatRig rig(kName, absl::StrCat("# a comment\n", Row(2, 0, 0), Row(1, 0, 1), "junk\n",
                                    Row(3, 0, 1), Row(5, 0, 4)));
  rig.input.lenient = true;
  const std::vector<JobArrival> jobs = rig.All();
  ASSERT_TRUE(rig.status().ok()) << rig.status();
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_TRUE(jobs[0] == RunsFor(Submitted(rig, "7-0", 2), 2));
  EXPECT_EQ(rig.warnings(),
            (Lines{"1 row(s) skipped: event out of order; the first: main:3:1: time: found "
                   "'1000000', expected a time not before that of the event ahead of it",
                   "1 row(s) skipped: too few fields; the first: main:4:5: row: found 1 fields, "
                   "expected 13"}));
}

TEST(GoogleTaskEventsTest, SavesAndLoadsItsPlace) {
  const std::string rows = absl::StrCat(Row(1, 0, 0), Row(1, 1, 0), Row(1, 0, 1), Row(4, 0, 3),
                                        Row(4, 0, 0), Row(5, 2, 0), Row(6, 0, 6));
  FormatRig(kName, rows).ExpectSavesAndLoads();
  const absl::Status refused = absl::DataLossError(
      "the checkpoint was made from another trace: its place is not to be found in this one");
  EXPECT_EQ(FormatRig(kName, rows).LoadOverAnotherText(Row(1, 0, 0)), refused);
  EXPECT_EQ(FormatRig(kName, rows)
                .LoadOverAnotherText(absl::StrCat(Row(1, 0, 0), Row(1, 1, 0), Row(5, 3, 0))),
            refused);
  EXPECT_EQ(FormatRig(kName, rows)
                .LoadOverAnotherText(absl::StrCat(Row(1, 0, 0), Row(1, 1, 0), Row(6, 2, 0))),
            refused);
}

TEST(GoogleTaskEventsTest, ReadsThePublicSample) {
  DRASIM_NEEDS_SHARED_DATA("traces/google/task-events-sample-1.csv");
  FormatRig rig(kName, "unused");
  rig.input.path = SharedPath("traces/google/task-events-sample-1.csv");
  const std::vector<JobArrival> jobs = rig.All();
  ASSERT_TRUE(rig.status().ok()) << rig.status();
  const Lines names = {"1-0", "1-1", "2-0", "2-1", "2-2", "3-0", "4-0", "4-1", "4-2", "4-3"};
  const std::vector<int64_t> runs_s = {40, 40, 18, 51, 5, 45, 45, 55, 60, 80};
  ASSERT_EQ(jobs.size(), names.size());
  for (size_t i = 0; i < jobs.size(); ++i) {
    SCOPED_TRACE(names[i]);
    EXPECT_EQ(jobs[i].name, names[i]);
    EXPECT_TRUE(jobs[i].has_run_time);
    EXPECT_EQ(jobs[i].run_time, SimDuration::Seconds(runs_s[i]));
    EXPECT_EQ(jobs[i].time, At(i == 9 ? 10 : 0));
    EXPECT_EQ(jobs[i].fails, i == 4);
    EXPECT_EQ(jobs[i].priority, 9);
    EXPECT_TRUE(jobs[i].failed_attempts.empty());
  }
  EXPECT_EQ(rig.shapes().size(), 4u);
  EXPECT_EQ(rig.shape(jobs[0].shape).request.cpu_milli, 12'500);
  EXPECT_EQ(rig.shape(jobs[2].shape).request.cpu_milli, 3'125);
  EXPECT_EQ(rig.warnings(),
            (Lines{absl::StrCat("1 time(s): scheduled without having been submitted; the first: ",
                                rig.input.path, ":24:16: event_type: is read as both")}));
}

// --- Machines ---

absl::StatusOr<NodeList> Machines(const FormatRig& rig) { return ReadGoogleMachines(rig.input); }

TEST(GoogleMachinesTest, MachinesComeAndGo) {
  FormatRig rig(kName,
                "0,a,0,P,0.5,0.25\n0,b,0,P,1,1\n600000000,c,0,P,0.25,0.5\n"
                "700000000,b,1,P,1,1\n800000000,b,0,P,1,1\n900000000,d,1,P,1,1\n");
  rig.input.time_offset_ns = -600'000'000'000;
  ASSERT_OK_AND_ASSIGN(NodeList list, Machines(rig));
  ASSERT_EQ(list.nodes.size(), 4u);
  const Lines names = {"a", "b", "c", "d"};
  const std::vector<int64_t> cpus = {50'000, 100'000, 25'000, 100'000};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(list.nodes[i].name, names[i]);
    EXPECT_EQ(list.nodes[i].cpu_milli, cpus[i]);
    EXPECT_EQ(list.nodes[i].absent, i == 2) << names[i];
    EXPECT_EQ(list.nodes[i].gpu_count, 0);
  }
  EXPECT_EQ(list.nodes[0].memory_bytes, int64_t{25} << 30);
  const std::vector<NodeChange> expected = {
      {At(0), "c", true}, {At(100), "b", false}, {At(200), "b", true}, {At(300), "d", false}};
  EXPECT_TRUE(list.changes == expected);
  EXPECT_EQ(list.warnings, Lines());
}

TEST(GoogleMachinesTest, CountsWhatIsPeculiar) {
  FormatRig rig(kName,
                "0,a,0,P,0.5,0.25\n1,a,0,P,0.5,0.25\n2,a,2,P,0.75,0.25\n3,b,0,P,,\n4,b,2,P,1,1\n"
                "5,c,0,P,,\n6,c,1,P,,\n7,c,1,P,,\n");
  ASSERT_OK_AND_ASSIGN(NodeList list, Machines(rig));
  ASSERT_EQ(list.nodes.size(), 2u);
  EXPECT_EQ(list.nodes[0].cpu_milli, 50'000);
  EXPECT_EQ(list.nodes[1].name, "b");
  EXPECT_EQ(list.nodes[1].cpu_milli, 100'000);
  const std::vector<NodeChange> expected = {{SimTime(3'000), "b", true}};
  EXPECT_TRUE(list.changes == expected);
  Lines warnings;
  for (const std::string& line : list.warnings) warnings.push_back(rig.WithoutFolder(line));
  EXPECT_EQ(warnings,
            (Lines{"1 time(s): added while it was there; the first: main:2:5: event_type: is not "
                   "looked at",
                   "1 time(s): change of a machine's capacity; the first: main:3:5: event_type: is "
                   "not followed",
                   "1 time(s): left out, because it never has a capacity; the first: machine c",
                   "1 time(s): removed while it was not there; the first: main:8:5: event_type: is "
                   "not looked at"}));
}

TEST(GoogleMachinesTest, ExplainsBadRows) {
  FormatRig rig(kName, "0,a,3,P,0.5,0.25\n");
  absl::StatusOr<NodeList> list = Machines(rig);
  EXPECT_EQ(rig.WithoutFolder(list.status().message()),
            "main:1:5: event_type: found '3', expected a whole number from 0 to 2");
  FormatRig several(kName, "0,a,3,P,0.5,0.25\n1,b,0,P,1,1\n0,c,0,P,1,1\n2,d,4,P,1,1\n");
  EXPECT_EQ(several.WithoutFolder(Machines(several).status().message()),
            "main:1:5: event_type: found '3', expected a whole number from 0 to 2 (2 rows like "
            "this)\n"
            "main:3:1: time: found '0', expected a time not before that of the event ahead of it\n"
            "3 of 4 rows are bad");
  rig.input.lenient = true;
  list = Machines(rig);
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_TRUE(list->nodes.empty());
  EXPECT_EQ(list->warnings.size(), 1u);
}

TEST(GoogleMachinesTest, ReadsThePublicSample) {
  DRASIM_NEEDS_SHARED_DATA("traces/google/machine-events-sample-1.csv");
  FormatRig rig(kName, "unused");
  rig.input.path = SharedPath("traces/google/machine-events-sample-1.csv");
  ASSERT_OK_AND_ASSIGN(NodeList list, Machines(rig));
  const Lines names = {"10", "20", "30", "40", "50", "60"};
  ASSERT_EQ(list.nodes.size(), names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(list.nodes[i].name, names[i]);
    EXPECT_EQ(list.nodes[i].cpu_milli, 50'000);
    EXPECT_EQ(list.nodes[i].memory_bytes, 26'768'383'673);
    EXPECT_EQ(list.nodes[i].absent, i >= 4);
  }
  const std::vector<NodeChange> expected = {{SimTime(10'000'000), "50", true},
                                            {SimTime(10'000'000), "60", true},
                                            {SimTime(30'000'000), "30", false},
                                            {SimTime(50'000'000), "30", true}};
  EXPECT_TRUE(list.changes == expected);
  EXPECT_EQ(list.warnings, Lines());
}

}  // namespace google_source_test
}  // namespace drasim
