#include "traces/google_subtrace_source.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/event_source.h"
#include "model/shape_table.h"
#include "model/time.h"
#include "tests/testing/data_text.h"
#include "tests/testing/shared_data.h"
#include "tests/traces/format_rig.h"
#include "tests/traces/gzip_text.h"
#include "traces/format_source.h"
#include "traces/formats.h"

namespace drasim {
namespace google_subtrace_source_test {

using Lines = std::vector<std::string>;

constexpr absl::string_view kName = "google-subtrace";
constexpr absl::string_view kThreeLines =
    "10.0 2 3.5 3 4.000000001\n"
    "10 1 0 0\n"
    "12.5 3 1 1e0 2 3\r\n";

TEST(GoogleSubtraceSourceTest, EveryTaskIsAJobOfOneCore) {
  FormatRig rig(kName, kThreeLines);
  const std::vector<JobArrival> jobs = rig.All();
  ASSERT_TRUE(rig.status().ok()) << rig.status();
  ASSERT_EQ(jobs.size(), 6u);
  const Lines names = {"job-1-0", "job-1-1", "job-2-0", "job-3-0", "job-3-1", "job-3-2"};
  const std::vector<int64_t> times_ns = {10'000'000'000, 10'000'000'000, 10'000'000'000,
                                         12'500'000'000, 12'500'000'000, 12'500'000'000};
  const std::vector<int64_t> runs_ns = {3'000'000'000, 4'000'000'001, 0,
                                        1'000'000'000, 2'000'000'000, 3'000'000'000};
  for (size_t i = 0; i < jobs.size(); ++i) {
    JobArrival expected;
    expected.name = names[i];
    expected.shape = jobs[0].shape;
    expected.time = SimTime(times_ns[i]);
    expected.has_run_time = true;
    expected.run_time = SimDuration(runs_ns[i]);
    EXPECT_TRUE(jobs[i] == expected) << i << ": " << jobs[i].name;
  }
  EXPECT_EQ(rig.shapes().size(), 1u);
  EXPECT_EQ(rig.shape(jobs[0].shape).request.cpu_milli, 1000);
  EXPECT_EQ(rig.shape(jobs[0].shape).request.memory_bytes, 0);
  EXPECT_EQ(rig.shape(jobs[0].shape).request.gpu_count, 0);
  EXPECT_EQ(rig.warnings(), Lines());
}

TEST(GoogleSubtraceSourceTest, AddsTheOffset) {
  FormatRig rig(kName, kThreeLines);
  rig.input.time_offset_ns = -10'000'000'000;
  const std::vector<JobArrival> jobs = rig.All();
  ASSERT_EQ(jobs.size(), 6u);
  EXPECT_EQ(jobs[0].time, SimTime(0));
  EXPECT_EQ(jobs[5].time, SimTime(2'500'000'000));
  rig.input.time_offset_ns = -10'000'000'001;
  EXPECT_EQ(rig.Error(),
            "main:1:1: arrival: found '10.0', expected a time that the offset leaves between 0 and "
            "126 years (2 rows like this)\n"
            "2 of 3 rows are bad; --lenient leaves them out and counts them");
}

std::string ErrorOf(absl::string_view text) { return FormatRig(kName, text).Error(); }

TEST(GoogleSubtraceSourceTest, ExplainsBadLines) {
  for (const auto& [input, expected] : TestRows<2>("ExplainsBadLines")) {
    EXPECT_EQ(ErrorOf(input), expected) << input;
  }
}

// The jobs ahead of the first bad line come, those behind it do not.
TEST(GoogleSubtraceSourceTest, OneReportTellsOfAllBadLines) {
  FormatRig rig(kName, "5 1 1 1\n6 2 1 1\n7 1 1 1\n4 1 1 1\nx 1 1 1\n8 2 1 x 1\n8 2 1 1 y\n");
  EXPECT_EQ(rig.All().size(), 1u);
  EXPECT_EQ(rig.Error(), TestLines("OneReportTellsOfAllBadLines"));
}

TEST(GoogleSubtraceSourceTest, LenientSkipsBadLinesWhole) {
  FormatRig rig(kName, "5 1 1 1\n6 2 1 1\n4 1 1 1\n6 3 1 1 1\n6 2 1 1 x\n6 1 1 9\n");
  rig.input.lenient = true;
  const std::vector<JobArrival> jobs = rig.All();
  ASSERT_TRUE(rig.status().ok()) << rig.status();
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[1].name, "job-6-0");
  EXPECT_EQ(jobs[1].run_time, SimDuration::Seconds(9));
  const Lines expected = {
      "1 row(s) skipped: arrival out of order; the first: main:3:1: arrival: found '4', expected a "
      "time not before that of line 1",
      "1 row(s) skipped: not a number; the first: main:5:9: d2: found 'x', expected a plain number "
      "of seconds that is neither negative nor above 126 years",
      "2 row(s) skipped: wrong number of tasks; the first: main:2:3: n_tasks: found '2', expected "
      "1, the number of run times in the line"};
  EXPECT_EQ(rig.warnings(), expected);
}

TEST(GoogleSubtraceSourceTest, SavesAndLoadsItsPlace) {
  FormatRig(kName, kThreeLines).ExpectSavesAndLoads();
  FormatRig lenient(kName, absl::StrCat("bad\n", kThreeLines, "bad\n"));
  lenient.input.lenient = true;
  lenient.ExpectSavesAndLoads();
}

TEST(GoogleSubtraceSourceTest, LoadRefusesAnotherTrace) {
  const char* const kOthers[] = {"10.0 2 3.5 3 4\n", "10.0 2 3.5 3 4\n10 1 0 0\n12.6 3 1 1 2 3\n",
                                 "10.0 2 3.5 3 4\n10 1 0 0\n12.5 2 1 1 2\n",
                                 "10.0 2 3.5 3 4\n10 1 0 0\n12.5 3 1 1 2 3\n13 1 1 1\n"};
  for (const char* const other : kOthers) {
    FormatRig rig(kName, kThreeLines);
    EXPECT_EQ(rig.LoadOverAnotherText(other),
              absl::DataLossError("the checkpoint was made from another trace: its place is not to "
                                  "be found in this one"))
        << other;
  }
}

TEST(GoogleSubtraceSourceTest, DamagedFilesAreErrorsEvenWhenLenient) {
  const std::string packed = GzipText(kThreeLines);
  FormatRig whole(kName, packed);
  EXPECT_EQ(whole.All().size(), 6u);
  FormatRig cut(kName, packed.substr(0, packed.size() - 9));
  cut.input.lenient = true;
  cut.All();
  EXPECT_EQ(cut.status().code(), absl::StatusCode::kDataLoss);
}

TEST(GoogleSubtraceSourceTest, RefusesWhatItDoesNotHave) {
  FormatRig rig(kName, kThreeLines);
  rig.input.gpus_per_pod = 4;
  EXPECT_EQ(rig.Error(),
            "gpus_per_pod: found 4, expected none, because format 'google-subtrace' says which "
            "pods a job has");
  FormatRig with_table(kName, kThreeLines);
  with_table.AddTable("task", "x");
  EXPECT_EQ(with_table.Error(),
            "tables: found 'task', expected for format 'google-subtrace': none");
  FormatRig missing(kName, kThreeLines);
  missing.input.path += "-not-there";
  missing.All();
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kNotFound);
}

TEST(GoogleSubtraceSourceTest, ReadsThePublicTrace) {
  DRASIM_NEEDS_SHARED_DATA("traces/google/GOOG_subtrace.tr.gz");
  FormatRig rig(kName, "unused");
  rig.input.path = SharedPath("traces/google/GOOG_subtrace.tr.gz");
  const std::unique_ptr<TraceFormatSource> source = rig.Open();
  ASSERT_TRUE(source != nullptr) << rig.status();
  int64_t tasks = 0;
  int64_t lines = 0;
  int64_t total_ns = 0;
  JobArrival job;
  absl::StatusOr<bool> got = source->Next(&job);
  for (; got.ok() && *got; got = source->Next(&job)) {
    if (tasks == 0) {
      EXPECT_EQ(job.name, "job-1-0");
      EXPECT_EQ(job.time, SimTime(1'406'471'000'000'000));
      EXPECT_EQ(job.run_time, SimDuration(79'782'488'399'000));
    }
    ++tasks;
    if (job.name.size() > 2 && job.name.substr(job.name.size() - 2) == "-0") ++lines;
    total_ns += job.run_time.ns();
  }
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(job.name, "job-10000-0");
  EXPECT_EQ(job.time, SimTime(1'499'997'000'000'000));
  EXPECT_EQ(job.run_time, SimDuration(14'356'589'000));
  EXPECT_EQ(tasks, 312'558);
  EXPECT_EQ(lines, 10'000);
  EXPECT_EQ(total_ns, 439'930'849'459'936'000);
  EXPECT_EQ(rig.shapes().size(), 1u);
}

TEST(SpecialFormatsTest, AreSortedAndFoundByName) {
  Lines names;
  for (const SpecialFormat& format : SpecialFormats()) {
    names.push_back(format.name);
    EXPECT_EQ(FindSpecialFormat(format.name), &format);
    EXPECT_TRUE(format.open != nullptr) << format.name;
    EXPECT_FALSE(format.description.empty()) << format.name;
  }
  EXPECT_EQ(names, (Lines{"google-2011", "google-subtrace", "pai-2020", "philly"}));
  EXPECT_EQ(FindSpecialFormat("google"), nullptr);
}

TEST(SpecialFormatsTest, NamesTheKnownOnes) {
  FormatRig rig("google", "");
  EXPECT_TRUE(rig.Open() == nullptr);
  EXPECT_EQ(rig.status(),
            absl::NotFoundError("format: found 'google', expected one of google-2011, "
                                "google-subtrace, pai-2020, philly"));
}

}  // namespace google_subtrace_source_test
}  // namespace drasim
