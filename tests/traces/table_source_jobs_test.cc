// Columns of jobs, beyond plain pods: each quirk has a table of its own.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/event_source.h"
#include "model/node_spec.h"
#include "model/pod_shape.h"
#include "model/random.h"
#include "model/state_io.h"
#include "model/time.h"
#include "tests/traces/job_table_rig.h"
#include "traces/byte_source.h"
#include "traces/mapping.h"
#include "traces/table_source.h"

namespace drasim {
namespace table_source_jobs_test {

using job_table::JobText;
using job_table::kBase;
using job_table::Lines;
using job_table::Read;
using job_table::Rig;

TableSourceOptions Offset(int64_t ns) {
  TableSourceOptions options;
  options.time_offset_ns = ns;
  return options;
}

TableSourceOptions Ordered(ArrivalOrder order, int64_t window_ns = 0) {
  TableSourceOptions options;
  options.order = order;
  options.sort_window_ns = window_ns;
  return options;
}

TEST(TableSourceJobsTest, EveryFieldIsSetWhateverItHeld) {
  Rig rig(kBase, "id,cpu,at\na,500,1\n");
  JobArrival job;
  job.pods = 7;
  job.more_pods.push_back(PodGroup());
  job.tenant = "x";
  job.priority = 3;
  job.has_run_time = job.has_estimate = job.has_deadline = job.has_deletion = true;
  job.run_time = job.estimate = SimDuration(5);
  job.deadline = job.deletion = SimTime(5);
  job.preemptible = job.recreated = false;
  job.fails = true;
  job.failed_attempts.push_back(SimDuration(1));
  ASSERT_TRUE(rig.source().Next(&job).ok());
  JobArrival expected;
  expected.name = "a";
  expected.shape = job.shape;
  expected.time = SimTime(kSecondNs);
  EXPECT_TRUE(job == expected);
  EXPECT_EQ(JobText(job, rig.shapes()), "a@1s: 1*[c500]");
}

TEST(TableSourceJobsTest, TenantEstimateAndPreemptible) {
  constexpr absl::string_view kMore =
      "  tenant: {column: user, optional: true}\n"
      "  estimate: {column: est, unit: min, optional: true}\n"
      "  preemptible: {column: type, values: {HP: '0', Spot: '1'}, optional: true}\n";
  const std::string header = "id,cpu,at,user,est,type\n";
  EXPECT_EQ(Read(kMore, absl::StrCat(header,
                                     "a,500,1,u 1,2.5,HP\nb,500,2,,,Spot\nc,500,3,v,0,\n"
                                     "d,500,4,,,0\n")),
            (Lines{"a@1s est 150s of u 1 fixed: 1*[c500]", "b@2s: 1*[c500]",
                   "c@3s est 0s of v: 1*[c500]", "d@4s fixed: 1*[c500]"}));
  EXPECT_EQ(Read(kMore, absl::StrCat(header, "a,500,1,,,Free\n")),
            (Lines{"t.csv:2:11: type: found 'Free', expected a whole number or one of 'HP', "
                   "'Spot'"}));
  EXPECT_EQ(Read(kMore, absl::StrCat(header, "a,500,1,,,2\n")),
            (Lines{"t.csv:2:11: type: found '2', expected at most 1"}));
}

TEST(TableSourceJobsTest, Deadlines) {
  constexpr absl::string_view kTable = "id,cpu,at,due\na,1,10,25\nb,1,10,\n";
  constexpr absl::string_view kPoint = "  deadline: {column: due, unit: s, optional: true}\n";
  constexpr absl::string_view kLength =
      "  deadline_after: {column: due, unit: min, optional: true}\n";
  EXPECT_EQ(Read(kPoint, kTable), (Lines{"a@10s due 25s: 1*[c1]", "b@10s: 1*[c1]"}));
  EXPECT_EQ(Read(kPoint, kTable, Offset(100 * kSecondNs)),
            (Lines{"a@110s due 125s: 1*[c1]", "b@110s: 1*[c1]"}));
  EXPECT_EQ(Read(kLength, kTable, Offset(100 * kSecondNs)),
            (Lines{"a@110s due 1610s: 1*[c1]", "b@110s: 1*[c1]"}));
  EXPECT_EQ(Read(kLength, "id,cpu,at,due\na,1,100,153722867\n"),
            (Lines{"t.csv:2:9: due: found '153722867', expected a length that, counted from the "
                   "arrival, ends before 2^63 ns"}));
}

TEST(TableSourceJobsTest, GangsOfLikePods) {
  constexpr absl::string_view kMore = "  pods: {column: n, optional: true}\n";
  EXPECT_EQ(Read(kMore, "id,cpu,at,n\na,500,1,3\nb,500,1,0\nc,500,1,\nd,500,1,1\ne,500,1,100000\n"),
            (Lines{"a@1s: 3*[c500]", "b@1s: 1*[c500]", "c@1s: 1*[c500]", "d@1s: 1*[c500]",
                   "e@1s: 100000*[c500]"}));
  EXPECT_EQ(Read(kMore, "id,cpu,at,n\nf,500,1,100001\n"),
            (Lines{"t.csv:2:9: n: found '100001', expected no more than makes 100000 pods in one "
                   "job"}));
  EXPECT_EQ(Read(kMore, "id,cpu,at\na,500,1\n"), (Lines{"a@1s: 1*[c500]"}));
}

TEST(TableSourceJobsTest, PodsThatAreJobsOfTheirOwn) {
  constexpr absl::string_view kMore = "  pods: {column: n, optional: true}\n  gang: false\n";
  EXPECT_EQ(Read(kMore, "id,cpu,at,n\na,500,1,3\nb,500,2,1\nb-0,500,3,\n"),
            (Lines{"a-0@1s: 1*[c500]", "a-1@1s: 1*[c500]", "a-2@1s: 1*[c500]", "b-0@2s: 1*[c500]",
                   "b-0-0@3s: 1*[c500]"}));
  EXPECT_EQ(Read(kMore, "id,cpu,at,n\na,500,1,2\na,500,2,1\n"),
            (Lines{"a-0@1s: 1*[c500]", "a-1@1s: 1*[c500]",
                   "t.csv:3:1: id: found 'a', expected a name that no earlier row has"}));
  EXPECT_EQ(Read("  gpu_count: {column: n}\n  gpus_per_pod: 8\n  gang: false\n",
                 "id,cpu,at,n\na,2000,1,20\n"),
            (Lines{"a-0@1s: 1*[c800 g8x1000]", "a-1@1s: 1*[c800 g8x1000]",
                   "a-2@1s: 1*[c400 g4x1000 rest]"}));
  EXPECT_EQ(Read("  pods: {column: n}\n  gang: true\n", "id,cpu,at,n\na,500,1,3\n"),
            (Lines{"a@1s: 3*[c500]"}));
}

TEST(TableSourceJobsTest, JobsAreSplitByTheirGpus) {
  EXPECT_EQ(
      Read("  memory: {column: mem, unit: bytes}\n"
           "  gpu_count: {column: gpus}\n"
           "  gpus_per_pod: 8\n"
           "  extended:\n"
           "    - {resource: r/dma, amount: {column: dma}}\n",
           "id,cpu,at,mem,gpus,dma\na,8000,0,100,8,10\nb,9000,0,100,9,10\nc,20000,0,0,20,0\n"
           "d,16001,0,1,16,1\ne,5,0,7,0,3\nf,4000,0,0,4,0\n"),
      (Lines{"a@0s: 1*[c8000 m100 g8x1000 r/dma=10]",
             "b@0s: 1*[c8000 m89 g8x1000 r/dma=9] 1*[c1000 m12 g1x1000 r/dma=2 rest]",
             "c@0s: 2*[c8000 g8x1000] 1*[c4000 g4x1000 rest]", "d@0s: 2*[c8001 m1 g8x1000 r/dma=1]",
             "e@0s: 1*[c5 m7 r/dma=3]", "f@0s: 1*[c4000 g4x1000]"}));
  EXPECT_EQ(
      Read("  gpu_count: {column: gpus}\n  gpus_per_pod: 1\n", "id,cpu,at,gpus\na,8,0,100001\n"),
      (Lines{"t.csv:2:7: gpus: found '100001', expected no more than makes 100000 pods in "
             "one job"}));
}

TEST(TableSourceJobsTest, JobsWithoutGpusAreSplitByTheirCores) {
  constexpr absl::string_view kMore =
      "  gpu_count: {column: gpus, optional: true}\n  cores_per_pod: 4\n";
  EXPECT_EQ(
      Read(kMore, "id,cpu,at,gpus\na,9500,0,0\nb,4000,0,\nc,9500,0,1\n"),
      (Lines{"a@0s: 2*[c4000] 1*[c1500 rest]", "b@0s: 1*[c4000]", "c@0s: 1*[c9500 g1x1000]"}));
  EXPECT_EQ(Read(kMore, "id,cpu,at,gpus\na,400000001,0,0\n"),
            (Lines{"t.csv:2:3: cpu: found '400000001', expected no more than makes 100000 pods in "
                   "one job"}));
}

TEST(TableSourceJobsTest, OptionsReplaceTheSizeOfPods) {
  constexpr absl::string_view kMore = "  gpu_count: {column: gpus}\n  gpus_per_pod: 8\n";
  constexpr absl::string_view kTable = "id,cpu,at,gpus\na,2500,0,0\nb,600,0,6\nc,900,0,9\n";
  TableSourceOptions options;
  options.gpus_per_pod = 4;
  EXPECT_EQ(Read(kMore, kTable, options),
            (Lines{"a@0s: 1*[c2500]", "b@0s: 1*[c400 g4x1000] 1*[c200 g2x1000 rest]",
                   "c@0s: 2*[c400 g4x1000] 1*[c100 g1x1000 rest]"}));
  options.gpus_per_pod = 0;
  options.cores_per_pod = 1;
  EXPECT_EQ(
      Read(kMore, kTable, options),
      (Lines{"a@0s: 2*[c1000] 1*[c500 rest]", "b@0s: 1*[c600 g6x1000]", "c@0s: 1*[c900 g9x1000]"}));
  options.gpus_per_pod = -1;
  EXPECT_EQ(Read(kMore, kTable, options),
            (Lines{"t: pods.gpus_per_pod: found '-1', expected a number that is not negative"}));
  options.gpus_per_pod = 4;
  EXPECT_EQ(Read("  gpu_count: {column: gpus}\n  pods: {column: at}\n", kTable, options),
            (Lines{"t: pods.gpus_per_pod: found '4', expected 0, because pods has a column: the "
                   "amounts are those of each pod then"}));
}

TEST(TableSourceJobsTest, Quantities) {
  static constexpr absl::string_view kYaml =
      "name: t\npods:\n  name: {column: id}\n  cpu: {column: c, unit: quantity}\n"
      "  memory: {column: m, unit: quantity, default: 1Ki}\n"
      "  gpu_amount: {column: g, unit: quantity, optional: true}\n"
      "  extended:\n    - {resource: r, amount: {column: r, unit: quantity, optional: true}}\n";
  EXPECT_EQ(
      Rig(kYaml, "id,c,m,g,r\na,500m,100Gi,,\nb,2,512,500m,3\nc, 1.5 ,1e3,2,2Ki\nd,0,,0,\n").All(),
      (Lines{"a@0s: 1*[c500 m107374182400]", "b@0s: 1*[c2000 m512 g1x500 r=3]",
             "c@0s: 1*[c1500 m1000 g2x1000 r=2048]", "d@0s: 1*[m1024]"}));
  const auto error = [](absl::string_view row) {
    return absl::StrJoin(Rig(kYaml, absl::StrCat("id,c,m,g,r\n", row, "\n")).All(), "");
  };
  EXPECT_EQ(error("a,1 core,1,,"),
            "t.csv:2:3: c: found '1 core', expected a quantity such as 500m or 100Gi");
  EXPECT_EQ(error("a,1,-1Gi,,"),
            "t.csv:2:5: m: found '-1Gi', expected a quantity such as 500m or 100Gi that is not "
            "negative");
  EXPECT_EQ(error("a,1,16Ei,,"),
            "t.csv:2:5: m: found '16Ei', expected at most 9223372036854775807 bytes");
}

TEST(TableSourceJobsTest, Factors) {
  constexpr absl::string_view kYaml =
      "name: t\npods:\n  name: {column: id}\n  cpu: {column: c, unit: cores, factor: 0.5}\n"
      "  memory: {column: m, unit: bytes, factor: 1e9, optional: true}\n"
      "  gpu_count: {column: g, factor: 0.5, optional: true}\n"
      "  run_time: {column: r, unit: ns, factor: 0.4, optional: true, max: 100}\n";
  const std::string header = "id,c,m,g,r\n";
  // Amounts are rounded up, times to the nearest; max bounds what comes of it.
  EXPECT_EQ(
      Rig(kYaml, absl::StrCat(header, "a,3,1.5,4,5\nb,0.001,,0,1\nc,1,,2,300\nd,1,,,4\n")).All(),
      (Lines{"a@0s run 2ns: 1*[c1500 m1500000000 g2x1000]", "b@0s run 0s: 1*[c1]",
             "c@0s run 100ns: 1*[c500 g1x1000]", "d@0s run 2ns: 1*[c500]"}));
  EXPECT_EQ(Rig(kYaml, absl::StrCat(header, "a,1,,3,\n")).All(),
            (Lines{"t.csv:2:6: g: found '3', expected a whole number, also after the factor 0.5"}));
}

// A table as people have it: the message names the place, counts, and says what would read it.
TEST(TableSourceJobsTest, OneErrorTellsOfAllMistakes) {
  constexpr absl::string_view kYaml =
      "name: t\npods:\n  name: {column: id}\n  gpu_count: {column: gpus}\n"
      "  arrival: {column: at, unit: datetime}\n";
  const std::string table = absl::StrCat(
      "id,gpus,at\n", "a,2,2020-01-01T00:00:00Z\n", "b,4 GPUs,2020-01-01T00:00:01Z\n",
      "c,\"4\",2020-01-01T00:00:01Z\n", "d,1x A100,2020-01-01T00:00:02Z\n", "a,1,today\n",
      "a,4.0,2020-01-01T00:00:02Z\n", "e\xff,\xfe\x01,2020-01-01T00:00:02Z\n");
  const Lines read = Rig(kYaml, table).All();
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0], "a@1577836800s: 1*[g2x1000]");
  EXPECT_EQ(read[1],
            "t.csv:3:3: gpus: found '4 GPUs', expected a whole number; the mapping's 'values' can "
            "translate a text (3 rows like this)\n"
            "t.csv:6:5: at: found 'today', expected a date and time such as 2017-10-03 05:48:00\n"
            "t.csv:7:1: id: found 'a', expected a name that no earlier row has\n"
            "5 of 7 rows are bad; --lenient leaves them out and counts them");
  EXPECT_EQ(Rig(kYaml, "id,gpus,at\n\"e\",\xfe\x01,2020-01-01T00:00:02Z\n").All(),
            (Lines{"t.csv:2:5: gpus: found '\\xfe\\x01', expected a whole number"}));
  // Names of columns come from the file, too.
  EXPECT_EQ(
      Rig(kYaml, "id,gp\xffus\n").All(),
      (Lines{"t.csv:1:1: gpus: found the columns 'id,gp\\xffus', expected one of this name"}));
}

TEST(TableSourceJobsTest, NeedsOfTheOptionsComeBesideThoseOfTheMapping) {
  TableSourceOptions options;
  options.needs = {"run_time"};
  Rig rig(
      absl::StrCat(kBase, "  run_time: {column: run, unit: s, optional: true}\n  needs: [cpu]\n"),
      "id,cpu,at,run\na,1,0,5\nb,1,0,\nc,0,0,5\n", options);
  EXPECT_EQ(rig.All(), (Lines{"a@0s run 5s: 1*[c1]"}));
  EXPECT_EQ(rig.source().warnings().size(), 2u);
  EXPECT_EQ(rig.source().rows(), 3);
}

TEST(TableSourceJobsTest, GpuAmounts) {
  static constexpr absl::string_view kMore =
      "  gpu_amount: {column: g, optional: true}\n  gpu_model: {column: m, optional: true}\n";
  EXPECT_EQ(
      Read(kMore, "id,g,m\na,0.5,T4\nb,2,\nc,2.0,\nd,0,T4\ne,,T4\nf,0.0001,\ng,0.9999,\nh,1e1,\n"),
      (Lines{"a@0s: 1*[g1x500 T4]", "b@0s: 1*[g2x1000]", "c@0s: 1*[g2x1000]", "d@0s: 1*[]",
             "e@0s: 1*[]", "f@0s: 1*[g1x1]", "g@0s: 1*[g1x1000]", "h@0s: 1*[g10x1000]"}));
  const auto error = [](absl::string_view amount) {
    return absl::StrJoin(Read(kMore, absl::StrCat("id,g\na,", amount, "\n")), "");
  };
  EXPECT_EQ(error("1.5"),
            "t.csv:2:3: g: found '1.5', expected a whole number of GPUs, or a fraction of one");
  EXPECT_EQ(error("2.00001"),
            "t.csv:2:3: g: found '2.00001', expected a whole number of GPUs, or a fraction of one");
  EXPECT_EQ(error("-1"),
            "t.csv:2:3: g: found '-1', expected a plain number of GPUs that is not negative");
  EXPECT_EQ(error("3000000000"),
            "t.csv:2:3: g: found '3000000000', expected at most 2147483647 GPUs");
  EXPECT_EQ(Read("  gpu_amount: {column: g, unit: percent}\n", "id,g\na,50\nb,800\nc,150\n"),
            (Lines{"a@0s: 1*[g1x500]", "b@0s: 1*[g8x1000]",
                   "t.csv:4:3: g: found '150', expected a whole number of GPUs, or a fraction of "
                   "one"}));
  EXPECT_EQ(Read("  gpu_amount: {column: g, unit: milli}\n  gpus_per_pod: 2\n",
                 "id,g,cpu\na,250,8\nb,3000,9\n"),
            (Lines{"a@0s: 1*[c8 g1x250]", "b@0s: 1*[c6 g2x1000] 1*[c3 g1x1000 rest]"}));
}

TEST(TableSourceJobsTest, States) {
  const std::string more =
      "  run_time: {column: run, unit: s, optional: true}\n"
      "  state:\n"
      "    column: st\n"
      "    optional: true\n"
      "    values: {OK: succeeded, KO: failed, X: cancelled, RUN: skip, '-': ''}\n";
  const std::string yaml = absl::StrCat(kBase, more);
  Rig rig(yaml,
          "id,cpu,at,st,run\na,1,0,OK,5\nb,1,0,KO,5\nc,1,0,X,5\nd,1,0,,5\ne,1,0,-,5\n"
          "a,junk,junk,RUN,junk\nz,1,0,RUN,5\nz,1,0,failed,\n");
  EXPECT_EQ(rig.All(),
            (Lines{"a@0s run 5s: 1*[c1]", "b@0s run 5s fails: 1*[c1]", "c@0s run 5s: 1*[c1]",
                   "d@0s run 5s: 1*[c1]", "e@0s run 5s: 1*[c1]", "z@0s fails: 1*[c1]"}));
  const RowTallies warnings = {
      {"skipped by state",
       RowTally{2, "t.csv:7:13: st: found a state for which rows are left out"}}};
  EXPECT_TRUE(rig.source().warnings() == warnings);
  EXPECT_EQ(rig.source().skipped_rows(), 0);

  constexpr absl::string_view kUnknown = "id,cpu,at,st,run\ng,1,0,Done,5\nh,1,0,OK,5\n";
  EXPECT_EQ(Read(more, kUnknown),
            (Lines{"t.csv:2:7: st: found 'Done', expected succeeded, failed, cancelled or skip, or "
                   "a text that 'values' translates to one of these"}));
  TableSourceOptions options;
  options.lenient = true;
  Rig lenient(yaml, kUnknown, options);
  EXPECT_EQ(lenient.All(), (Lines{"h@0s run 5s: 1*[c1]"}));
  ASSERT_EQ(lenient.source().skipped().count("unknown state"), 1u);
  EXPECT_EQ(Read("  state: {column: st}\n", "id,cpu,at,st\na,1,0,\n"),
            (Lines{"t.csv:2:7: st: found '', expected a text that is not empty"}));
}

constexpr absl::string_view kStartAndEnd =
    "  start: {column: s, unit: s, optional: true}\n"
    "  end: {column: e, unit: s, optional: true}\n"
    "  run_time: {column: r, unit: s, optional: true}\n";

TEST(TableSourceJobsTest, RunTimes) {
  EXPECT_EQ(
      Read(kStartAndEnd, "id,cpu,at,s,e,r\na,1,5,6,6,\nb,1,5,,9,\nc,1,5,,9,4\nd,1,5,6,,0\n"),
      (Lines{"a@5s run 0s: 1*[c1]", "b@5s: 1*[c1]", "c@5s run 4s: 1*[c1]", "d@5s run 0s: 1*[c1]"}));
  EXPECT_EQ(Read(kStartAndEnd, "id,cpu,at,s,e,r\na,1,5,9,6,\n"),
            (Lines{"t.csv:2:9: e: found '6', expected a time not before s"}));
}

TEST(TableSourceJobsTest, RowsThatEndWithoutAStartAreDeleted) {
  const std::string more = absl::StrCat(kStartAndEnd, "  end_without_start_deletes: true\n");
  constexpr absl::string_view kTable =
      "id,cpu,at,s,e,r\na,1,5,6,9,\nb,1,5,,9,\nc,1,5,,9,4\nd,1,5,,,4\ne,1,5,6,9,7\nf,1,5,,,\n"
      "g,1,5,6,,\nh,1,5,,5,\n";
  EXPECT_EQ(Read(more, kTable),
            (Lines{"a@5s run 3s: 1*[c1]", "b@5s del 9s: 1*[c1]", "c@5s del 9s: 1*[c1]",
                   "d@5s run 4s: 1*[c1]", "e@5s run 7s: 1*[c1]", "f@5s: 1*[c1]", "g@5s: 1*[c1]",
                   "h@5s del 5s: 1*[c1]"}));
  EXPECT_EQ(Read(more, "id,cpu,at,s,e,r\nb,1,5,,9,\n", Offset(10 * kSecondNs)),
            (Lines{"b@15s del 19s: 1*[c1]"}));
  EXPECT_EQ(Read(more, "id,cpu,at,s,e,r\nb,1,5,,4,\n"),
            (Lines{"t.csv:2:8: e: found '4', expected a time not before at"}));
}

TEST(TableSourceJobsTest, GroupsWithALimit) {
  Rig rig(absl::StrCat(kBase,
                       "  group: {column: app, optional: true}\n"
                       "  max_per_node: {column: max, optional: true}\n"),
          "id,cpu,at,app,max\na,1,0,x,2\nb,1,0,x,-1\nc,1,0,x,\nd,1,0,,2\ne,1,0,y,2\nf,1,0,x,0\n"
          "g,1,0,x,2\nh,1,0,x,1\n");
  EXPECT_EQ(rig.All(),
            (Lines{"a@0s: 1*[c1 x<=2]", "b@0s: 1*[c1]", "c@0s: 1*[c1]", "d@0s: 1*[c1]",
                   "e@0s: 1*[c1 y<=2]", "f@0s: 1*[c1]", "g@0s: 1*[c1 x<=2]", "h@0s: 1*[c1 x<=1]"}));
  EXPECT_EQ(rig.shapes().size(), 4u);
}

TEST(TableSourceJobsTest, ExtendedResources) {
  constexpr absl::string_view kMore =
      "  extended:\n"
      "    - {resource: b, amount: {column: r1}}\n"
      "    - {resource: a, amount: {column: r2, optional: true}}\n";
  EXPECT_EQ(Read(kMore, "id,cpu,at,r1\nx,1,0,5\n"), (Lines{"x@0s: 1*[c1 b=5]"}));
  EXPECT_EQ(Read(kMore,
                 "id,cpu,at,r1,r2\nv,1,0,5,7\nw,1,0,7,5\nx,1,0,0,\ny,1,0,120.0,0\n"
                 "z,1,0,1.5,\n"),
            (Lines{"v@0s: 1*[c1 a=7 b=5]", "w@0s: 1*[c1 a=5 b=7]", "x@0s: 1*[c1]",
                   "y@0s: 1*[c1 b=120]", "t.csv:6:7: r1: found '1.5', expected a whole number"}));
  EXPECT_EQ(Read(kMore, "id,cpu,at,r1,r2\nv,1,0,1000000000000001,7\n"),
            (Lines{"t.csv:2:7: r1: found '1000000000000001', expected at most 1000000000000000"}));
}

TEST(TableSourceJobsTest, ExtendedResourcesOfNodes) {
  const absl::StatusOr<proto::TableMapping> mapping = ParseMapping(
      "name: n\nnodes:\n  name: {column: id}\n  cpu: {column: cpu, unit: milli}\n"
      "  extended:\n"
      "    - {resource: b, amount: {column: r1}}\n"
      "    - {resource: a, amount: {column: r2, optional: true}}\n",
      "m.yaml");
  ASSERT_TRUE(mapping.ok()) << mapping.status();
  absl::StatusOr<std::unique_ptr<ByteSource>> bytes =
      OpenMemory("n.csv", "id,cpu,r1,r2\nx,1,5,7\ny,1,0,\n");
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  const absl::StatusOr<std::vector<NodeSpec>> nodes = ReadNodes(*std::move(bytes), *mapping);
  ASSERT_TRUE(nodes.ok()) << nodes.status();
  ASSERT_EQ(nodes->size(), 2u);
  const std::vector<std::pair<std::string, int64_t>> both = {{"a", 7}, {"b", 5}};
  EXPECT_EQ((*nodes)[0].extended, both);
  EXPECT_TRUE((*nodes)[1].extended.empty());
}

TEST(TableSourceJobsTest, FurtherColumnsForAMissingNumber) {
  const auto read = [](absl::string_view rules, absl::string_view table) {
    return Rig(absl::StrCat("name: t\npods:\n  name: {column: id}\n  cpu: {column: c1, or_column: "
                            "[c2, c3], unit: milli, missing: ['-1']",
                            rules, "}\n"),
               table)
        .All();
  };
  EXPECT_EQ(read("", "id,c1,c2,c3\na,1,2,3\nb,,2,3\nc,-1,-1,3\nd,,-1,\n"),
            (Lines{"a@0s: 1*[c1]", "b@0s: 1*[c2]", "c@0s: 1*[c3]",
                   "t.csv:5:3: c1: found '', expected a plain number of milli-CPU"}));
  EXPECT_EQ(read("", "id,c1,c2,c3\ne,,x,3\n"),
            (Lines{"t.csv:2:4: c2: found 'x', expected a plain number of milli-CPU"}));
  EXPECT_EQ(read("", "id,c3,c1\na,3,1\nb,3,\n"), (Lines{"a@0s: 1*[c1]", "b@0s: 1*[c3]"}));
  EXPECT_EQ(read("", "id,c1\na,1\nb,\n"),
            (Lines{"a@0s: 1*[c1]",
                   "t.csv:3:3: c1: found '', expected a plain number of "
                   "milli-CPU"}));
  EXPECT_EQ(read("", "id,c2\na,1\n"),
            (Lines{"t.csv:1:1: c1: found the columns 'id,c2', expected one of this name"}));
  EXPECT_EQ(read(", optional: true", "id,c2\na,5\nb,-1\nc,x\n"),
            (Lines{"a@0s: 1*[c5]", "b@0s: 1*[]",
                   "t.csv:4:3: c2: found 'x', expected a plain number of milli-CPU"}));
  EXPECT_EQ(read(", optional: true", "id,c1,c3\na,,\n"), (Lines{"a@0s: 1*[]"}));
  EXPECT_EQ(read(", default: '7'", "id,c1,c2,c3\na,,,\nb,,2,\nc,-1,,3\n"),
            (Lines{"a@0s: 1*[c7]", "b@0s: 1*[c2]", "c@0s: 1*[c3]"}));
}

TEST(TableSourceJobsTest, FurtherColumnsForAMissingText) {
  const auto read = [](absl::string_view rules, absl::string_view table) {
    return Read(absl::StrCat("  tenant: {column: t1, or_column: [t2], values: {none: '', u: U}",
                             rules, "}\n"),
                absl::StrCat("id,cpu,at,t1,t2\n", table));
  };
  EXPECT_EQ(read("", "a,1,0,x,y\nb,1,0,,u\nc,1,0,none,y\nd,1,0,none,\n"),
            (Lines{"a@0s of x: 1*[c1]", "b@0s of U: 1*[c1]", "c@0s of y: 1*[c1]",
                   "t.csv:5:7: t1: found 'none', expected a text that is not empty"}));
  EXPECT_EQ(read(", optional: true", "d,1,0,none,\n"), (Lines{"d@0s: 1*[c1]"}));
  EXPECT_EQ(read(", default: u", "d,1,0,none,\ne,1,0,,v\n"),
            (Lines{"d@0s of U: 1*[c1]", "e@0s of v: 1*[c1]"}));
}

TEST(TableSourceJobsTest, ComplaintsNameTheColumnThatTheValueCameFrom) {
  EXPECT_EQ(Read("  start: {column: s, unit: s, optional: true}\n"
                 "  end: {column: e1, or_column: [e2], unit: s, optional: true}\n",
                 "id,cpu,at,s,e1,e2\na,1,0,5,,6\nb,1,0,5,,4\n"),
            (Lines{"a@0s run 1s: 1*[c1]",
                   "t.csv:3:10: e2: found '4', expected a time not before "
                   "s"}));
  EXPECT_EQ(Rig("name: t\npods:\n  name: {column: n1, or_column: [n2]}\n"
                "  cpu: {column: cpu, unit: milli}\n",
                "n1,n2,cpu\na,b,1\n,b,1\n,a,1\n")
                .All(),
            (Lines{"a@0s: 1*[c1]", "b@0s: 1*[c1]",
                   "t.csv:4:2: n2: found 'a', expected a name that no earlier row has"}));
}

TEST(TableSourceJobsTest, DatesAndTimes) {
  const std::string yaml =
      "name: t\npods:\n  name: {column: id}\n  cpu: {column: cpu, unit: milli}\n"
      "  arrival: {column: at, unit: datetime, zone: '+08:00'}\n"
      "  start: {column: s, unit: datetime, optional: true, missing: [None]}\n"
      "  end: {column: e, unit: datetime, optional: true, default: '2020-09-01 02:00:00'}\n";
  const std::string header = "id,cpu,at,s,e\n";
  EXPECT_EQ(Rig(yaml, absl::StrCat(header,
                                   "a,1,2020-09-01 08:00:00,None,\n"
                                   "b,1,2020-09-01T00:00:00.25Z,2020-09-01 01:00:00,\n"
                                   "c,1,2020-09-01 08:00:01,2020-09-01 01:00:00,"
                                   "2020-09-01 09:00:00.5+08:00\n"))
                .All(),
            (Lines{"a@1598918400s: 1*[c1]", "b@1598918400250000000ns run 3600s: 1*[c1]",
                   "c@1598918401s run 500000000ns: 1*[c1]"}));
  const std::string bad = absl::StrCat(header,
                                       "a,1,2020-02-30 00:00:00,,\nb,1,1598918400,,\n"
                                       "c,1,1970-01-01 07:59:59,,\nd,1,,,\n"
                                       "e,1,2300-01-01 00:00:00,,\nf,1,2020-09-01 08:00:00,x,\n");
  EXPECT_EQ(Rig(yaml, bad).All(),
            (Lines{"t.csv:2:5: at: found '2020-02-30 00:00:00', expected a day that is in the "
                   "calendar (2 rows like this)\n"
                   "t.csv:4:5: at: found '1970-01-01 07:59:59', expected a time from 1970 to 2261 "
                   "(2 rows like this)\n"
                   "t.csv:5:5: at: found '', expected a date and time such as 2017-10-03 05:48:00\n"
                   "t.csv:7:25: s: found 'x', expected a date and time such as 2017-10-03 05:48:00"
                   "\n6 of 6 rows are bad; --lenient leaves them out and counts them"}));
  TableSourceOptions options;
  options.lenient = true;
  Rig lenient(yaml, bad, options);
  EXPECT_EQ(lenient.All(), Lines());
  const std::string form = "expected a date and time such as 2017-10-03 05:48:00";
  const RowTallies skipped = {
      {"missing value", RowTally{1, absl::StrCat("t.csv:5:5: at: found '', ", form)}},
      {"not a date and time",
       RowTally{3,
                "t.csv:2:5: at: found '2020-02-30 00:00:00', expected a day that is in the "
                "calendar"}},
      {"time out of range", RowTally{2,
                                     "t.csv:4:5: at: found '1970-01-01 07:59:59', expected a "
                                     "time from 1970 to 2261"}},
  };
  EXPECT_TRUE(lenient.source().skipped() == skipped);
}

TEST(TableSourceJobsTest, AnOffsetForPointsOfTime) {
  constexpr absl::string_view kMore = "  run_time: {column: run, unit: s, optional: true}\n";
  constexpr absl::string_view kTable = "id,cpu,at,run\na,1,5,7\nb,1,6,\n";
  EXPECT_EQ(Read(kMore, kTable, Offset(100 * kSecondNs + 1)),
            (Lines{"a@105000000001ns run 7s: 1*[c1]", "b@106000000001ns: 1*[c1]"}));
  EXPECT_EQ(Read(kMore, kTable, Offset(-5 * kSecondNs)),
            (Lines{"a@0s run 7s: 1*[c1]", "b@1s: 1*[c1]"}));
  EXPECT_EQ(Read(kMore, kTable, Offset(-5 * kSecondNs - 1)),
            (Lines{"t.csv:2:5: at: found '5', expected a time that is from 0 to 2^63 - 1 ns when "
                   "-5000000001 ns are added (epoch_offset_seconds)"}));
  EXPECT_EQ(Read(kMore, "id,cpu,at,run\na,1,9223372036,7\n", Offset(kSecondNs)),
            (Lines{"t.csv:2:5: at: found '9223372036', expected a time that is from 0 to 2^63 - 1 "
                   "ns when 1 s are added (epoch_offset_seconds)"}));
  // Without an arrival: time 0 of the file.
  constexpr absl::string_view kTimeless = "name: t\npods:\n  cpu: {column: cpu, unit: milli}\n";
  EXPECT_EQ(Rig(kTimeless, "cpu\n1\n", Offset(3 * kSecondNs)).All(), (Lines{"t-2@3s: 1*[c1]"}));
  EXPECT_EQ(Rig(kTimeless, "cpu\n1\n", Offset(-kSecondNs)).All(),
            (Lines{"t.csv:2:1: row: found '', expected a time that is from 0 to 2^63 - 1 ns when "
                   "-1 s are added (epoch_offset_seconds)"}));
}

TEST(TableSourceJobsTest, ArrivalsAtTheStart) {
  constexpr absl::string_view kYaml =
      "name: t\npods:\n  name: {column: id}\n  cpu: {column: cpu, unit: milli}\n"
      "  arrival: {column: at, unit: s}\n"
      "  start: {column: s, unit: s, optional: true}\n"
      "  end: {column: e, unit: s, optional: true}\n";
  TableSourceOptions options = Ordered(ArrivalOrder::kSort);
  options.arrive_at_start = true;
  options.time_offset_ns = 100 * kSecondNs;
  const std::string table = "id,cpu,at,s,e\na,1,5,9,12\nb,1,6,7,8\nc,1,8,,\nd,1,,9,10\n";
  EXPECT_EQ(Rig(kYaml, table, options).All(),
            (Lines{"b@107s run 1s: 1*[c1]", "c@108s: 1*[c1]", "a@109s run 3s: 1*[c1]",
                   "d@109s run 1s: 1*[c1]"}));
  EXPECT_EQ(Rig(kYaml, absl::StrCat(table, "e,1,,,\n"), options).All(),
            (Lines{"t.csv:6:5: at: found '', expected a plain number of s"}));
  options.order = ArrivalOrder::kRequire;
  EXPECT_EQ(Rig(kYaml, table, options).All(),
            (Lines{"a@109s run 3s: 1*[c1]",
                   "t.csv:3:7: s: found '7', expected a time not before that of line 2\n"
                   "t.csv:4:5: at: found '8', expected a time not before that of line 2\n"
                   "2 of 4 rows are bad; --lenient leaves them out and counts them"}));
  EXPECT_EQ(Read("", table, options),
            (Lines{"t: pods.start: found '', expected a column, because jobs are to arrive when "
                   "they started"}));
}

TEST(TableSourceJobsTest, AWindowOfRowsOutOfOrder) {
  const std::string table = "id,cpu,at\na,1,10\nb,1,6\nc,1,11\nd,1,7\ne,1,10\nf,1,20\ng,1,16\n";
  const Lines sorted = {"b@6s: 1*[c1]",  "d@7s: 1*[c1]",  "a@10s: 1*[c1]", "e@10s: 1*[c1]",
                        "c@11s: 1*[c1]", "g@16s: 1*[c1]", "f@20s: 1*[c1]"};
  EXPECT_EQ(Read("", table, Ordered(ArrivalOrder::kSort)), sorted);
  EXPECT_EQ(Read("", table, Ordered(ArrivalOrder::kWindow, 4 * kSecondNs)), sorted);
  EXPECT_EQ(Read("", table, Ordered(ArrivalOrder::kWindow, 4 * kSecondNs - 1)),
            (Lines{"t.csv:3:5: at: found '6', expected a time at most 3999999999 ns before that of "
                   "line 2; a longer sort_window (--sort-window) allows more (3 rows like this)\n"
                   "3 of 7 rows are bad; --lenient leaves them out and counts them"}));
  TableSourceOptions lenient = Ordered(ArrivalOrder::kWindow, 3 * kSecondNs);
  lenient.lenient = true;
  Rig rig(kBase, table, lenient);
  EXPECT_EQ(rig.All(), (Lines{"a@10s: 1*[c1]", "e@10s: 1*[c1]", "c@11s: 1*[c1]", "f@20s: 1*[c1]"}));
  const RowTallies skipped = {
      {"arrival out of order",
       RowTally{3,
                "t.csv:3:5: at: found '6', expected a time at most 3 s before that of line 2; a "
                "longer sort_window (--sort-window) allows more"}}};
  EXPECT_TRUE(rig.source().skipped() == skipped);
}

TEST(TableSourceJobsTest, AWindowReadsNoFurtherThanItMust) {
  constexpr absl::string_view kTable = "id,cpu,at\na,1,0\nb,1,5\nc,1,x\n";
  const std::string error = "t.csv:4:5: at: found 'x', expected a plain number of s";
  EXPECT_EQ(Read("", kTable, Ordered(ArrivalOrder::kWindow, kSecondNs)),
            (Lines{"a@0s: 1*[c1]", error}));
  EXPECT_EQ(Read("", kTable, Ordered(ArrivalOrder::kWindow)),
            (Lines{"a@0s: 1*[c1]", "b@5s: 1*[c1]", error}));
  EXPECT_EQ(Read("", kTable, Ordered(ArrivalOrder::kWindow, 6 * kSecondNs)), (Lines{error}));
}

TEST(TableSourceJobsTest, ANegativeWindowIsRefused) {
  EXPECT_EQ(Read("", "id,cpu,at\na,1,0\n", Ordered(ArrivalOrder::kWindow, -1)),
            (Lines{"sort_window: found '-1 ns', expected a length that is not negative"}));
}

// Rows of 1 to 3 pods that are at most 16 s late.
std::string DisorderedTable(size_t rows) {
  Random random(7, "table_source_jobs");
  std::string table = "id,cpu,at,n\n";
  for (size_t i = 0; i < rows; ++i) {
    const uint64_t cpu_milli = 1 + random.Below(3);
    const uint64_t arrival_s = 20 + 3 * i - random.Below(20);
    const uint64_t pods = 1 + random.Below(3);
    absl::StrAppend(&table, "j", i, ",", cpu_milli, ",", arrival_s, ",", pods, "\n");
  }
  return table;
}

TEST(TableSourceJobsTest, AWindowThatIsLongEnoughSorts) {
  const std::string table = DisorderedTable(500);
  for (absl::string_view more : {"  pods: {column: n}\n", "  pods: {column: n}\n  gang: false\n"}) {
    const Lines sorted = Read(more, table, Ordered(ArrivalOrder::kSort));
    ASSERT_GE(sorted.size(), 500u);
    EXPECT_EQ(Read(more, table, Ordered(ArrivalOrder::kWindow, 16 * kSecondNs)), sorted);
    EXPECT_EQ(Read(more, table, Ordered(ArrivalOrder::kWindow, 5000 * kSecondNs)), sorted);
  }
}

TEST(TableSourceJobsTest, SavesAndLoadsAnyPlaceWithinARow) {
  const std::string yaml = absl::StrCat(kBase, "  pods: {column: n}\n  gang: false\n");
  const std::string table = DisorderedTable(12);
  for (const ArrivalOrder order :
       {ArrivalOrder::kKeep, ArrivalOrder::kSort, ArrivalOrder::kWindow}) {
    const TableSourceOptions options = Ordered(order, 16 * kSecondNs);
    const Lines all = Rig(yaml, table, options).All();
    ASSERT_GT(all.size(), 12u);
    for (size_t place = 0; place <= all.size() + 1; ++place) {
      Rig before(yaml, table, options);
      JobArrival job;
      for (size_t i = 0; i < place; ++i) ASSERT_TRUE(before.source().Next(&job).ok());
      StateWriter saved;
      before.source().Save(saved);
      Rig after(yaml, table, options);
      StateReader reader(saved.bytes());
      ASSERT_TRUE(after.source().Load(reader).ok());
      StateWriter again;
      after.source().Save(again);
      EXPECT_EQ(again.bytes(), saved.bytes());
      EXPECT_EQ(after.All(), before.All());
    }
  }
}

}  // namespace table_source_jobs_test
}  // namespace drasim
