// The built-in mapping files: for each a small table with the quirks of its format, and the public
// files where they are at hand.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/event_source.h"
#include "model/gpu_model_table.h"
#include "model/node_spec.h"
#include "model/pod_shape.h"
#include "model/proto/mapping.pb.h"
#include "model/shape_table.h"
#include "model/time.h"
#include "tests/testing/data_text.h"
#include "tests/testing/shared_data.h"
#include "traces/byte_source.h"
#include "traces/mapping.h"
#include "traces/table_source.h"

namespace drasim {
namespace formats_test {

using Lines = std::vector<std::string>;

constexpr int64_t kMib = int64_t{1} << 20;

proto::TableMapping BuiltIn(absl::string_view format) {
  absl::StatusOr<proto::TableMapping> mapping = LoadMapping(format);
  EXPECT_TRUE(mapping.ok()) << mapping.status();
  return mapping.ok() ? *mapping : proto::TableMapping();
}

// --- Jobs as text: what is at its default is left out ---

std::string TimeText(int64_t ns) {
  return ns % kSecondNs == 0 ? absl::StrCat(ns / kSecondNs, "s") : absl::StrCat(ns, "ns");
}

std::string MemoryText(int64_t bytes) {
  return bytes % kMib == 0 ? absl::StrCat(bytes / kMib, "Mi") : absl::StrCat(bytes, "B");
}

std::string ShapeText(const PodShape& shape) {
  std::string text;
  if (shape.request.cpu_milli != 0) absl::StrAppend(&text, " ", shape.request.cpu_milli, "m");
  if (shape.request.memory_bytes != 0)
    absl::StrAppend(&text, " ", MemoryText(shape.request.memory_bytes));
  if (shape.request.gpu_count != 0) {
    absl::StrAppend(&text, " gpu ", shape.request.gpu_count, "x", shape.request.gpu_milli);
  }
  if (!shape.request.gpu_spec.empty()) absl::StrAppend(&text, " ", shape.request.gpu_spec);
  for (const auto& [resource, amount] : shape.request.extended) {
    absl::StrAppend(&text, " ", resource, "=", amount);
  }
  if (shape.constraints.max_per_node != 0) {
    absl::StrAppend(&text, " at most ", shape.constraints.max_per_node, " of ",
                    shape.constraints.group);
  }
  if (shape.gang_remainder) absl::StrAppend(&text, " rest");
  return text.empty() ? "nothing" : text.substr(1);
}

std::string JobText(const JobArrival& job, const ShapeTable& shapes) {
  std::string text = absl::StrCat(job.name, " at ", TimeText(job.time.ns()));
  if (job.has_run_time) absl::StrAppend(&text, " runs ", TimeText(job.run_time.ns()));
  if (job.has_estimate) absl::StrAppend(&text, " says ", TimeText(job.estimate.ns()));
  if (job.has_deadline) absl::StrAppend(&text, " until ", TimeText(job.deadline.ns()));
  if (job.has_deletion) absl::StrAppend(&text, " deleted ", TimeText(job.deletion.ns()));
  if (!job.tenant.empty()) absl::StrAppend(&text, " of ", job.tenant);
  if (job.priority != 0) absl::StrAppend(&text, " priority ", job.priority);
  if (!job.preemptible) absl::StrAppend(&text, " fixed");
  if (!job.recreated) absl::StrAppend(&text, " not recreated");
  if (job.fails) absl::StrAppend(&text, " fails");
  for (const SimDuration attempt : job.failed_attempts) {
    absl::StrAppend(&text, " after ", TimeText(attempt.ns()));
  }
  absl::StrAppend(&text, ": ", job.pods, " x [", ShapeText(shapes.row(job.shape)), "]");
  for (const PodGroup& group : job.more_pods) {
    absl::StrAppend(&text, ", ", group.pods, " x [", ShapeText(shapes.row(group.shape)), "]");
  }
  return text;
}

// The jobs of a table in the order of its rows; then, if it ends in an error, that; then each kind
// of row that was skipped or is peculiar.
Lines Read(const proto::TableMapping& mapping, absl::string_view table, bool lenient = false) {
  GpuModelTable models;
  ShapeTable shapes(&models);
  TableSourceOptions options;
  options.lenient = lenient;
  options.order = ArrivalOrder::kKeep;
  absl::StatusOr<std::unique_ptr<ByteSource>> bytes = OpenMemory("t", table);
  if (!bytes.ok()) return {bytes.status().ToString()};
  absl::StatusOr<std::unique_ptr<TableSource>> source =
      TableSource::Open(*std::move(bytes), mapping, &shapes, options);
  if (!source.ok()) return {std::string(source.status().message())};
  Lines lines;
  JobArrival job;
  absl::StatusOr<bool> got = (*source)->Next(&job);
  for (; got.ok() && *got; got = (*source)->Next(&job)) lines.push_back(JobText(job, shapes));
  if (!got.ok()) lines.push_back(std::string(got.status().message()));
  for (const auto& [kind, tally] : (*source)->skipped()) {
    lines.push_back(absl::StrCat("skipped ", tally.count, ": ", kind));
  }
  for (const auto& [kind, tally] : (*source)->warnings()) {
    lines.push_back(absl::StrCat("peculiar ", tally.count, ": ", kind));
  }
  return lines;
}

Lines Read(absl::string_view format, absl::string_view table, bool lenient = false) {
  return Read(BuiltIn(format), table, lenient);
}

TEST(FormatsTest, AcmeSeren) {
  EXPECT_EQ(Read("acme-seren", TestText("AcmeSeren")),
            (Lines{"100 at 1680307200s runs 3600s of u1: 1 x [96000m gpu 8x1000]",
                   "101 at 1680307200s runs 7s of u2 fails: 2 x [96000m gpu 8x1000], "
                   "1 x [48000m gpu 4x1000 rest]",
                   "103 at 1680307201s deleted 1680307800s of u3: 2 x [32000m gpu 8x1000]",
                   "104 at 1680307202s runs 0s of u3 fails: 1 x [4000m]",
                   "peculiar 1: skipped by state"}));
}

TEST(FormatsTest, AcmeKalosRunsFromStartToEnd) {
  EXPECT_EQ(Read("acme-kalos", TestText("AcmeKalosRunsFromStartToEnd")),
            (Lines{"dlc1 at 1688169600s runs 20s of u1 fails: 4 x [120000m gpu 8x1000]",
                   "peculiar 1: skipped by state"}));
}

TEST(FormatsTest, Helios) {
  const std::string header =
      "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,"
      "queue\n";
  const std::string times = ",2020-06-01 10:00:00,2020-06-01 10:00:05,2020-06-01 10:01:05,60,5\n";
  EXPECT_EQ(
      Read("helios",
           absl::StrCat(header, "1,ua,vc1,1,2,1,COMPLETED", times, "2,ub,vc2,20,40,3,FAILED", times,
                        "3,ub,vc1,16,64,2,TIMEOUT", times, "4,ub,vc1,0,128,2,CANCELLED", times,
                        "5,ub,vc1,8,8,1,RUNNING,2020-06-01 10:00:00,2020-06-01 10:00:05,,,5\n",
                        "6,ub,vc1,8,8,1,SUSPENDED", times, "7,ub,vc1,8,8,1,NODE_FAIL", times)),
      (Lines{"1 at 1591005600s runs 60s of vc1: 1 x [2000m gpu 1x1000]",
             "2 at 1591005600s runs 60s of vc2 fails: 2 x [16000m gpu 8x1000], "
             "1 x [8000m gpu 4x1000 rest]",
             "3 at 1591005600s runs 60s of vc1 fails: 2 x [32000m gpu 8x1000]",
             "4 at 1591005600s runs 60s of vc1: 1 x [128000m]",
             "7 at 1591005600s runs 60s of vc1 fails: 1 x [8000m gpu 8x1000]",
             "peculiar 2: skipped by state"}));
  const Lines unknown = Read("helios", absl::StrCat(header, "1,ua,vc1,1,2,1,REVOKED", times));
  ASSERT_EQ(unknown.size(), 1u);
  EXPECT_TRUE(absl::StartsWith(unknown[0], "t:2:16: state: found 'REVOKED', expected "))
      << unknown[0];
}

constexpr absl::string_view kChronusHeader =
    "job_id,user,num_gpu,submit_time,iterations,model_name,duration,interval,"
    "expect_time_list,expect_value_list,best_effort,job_type\n";

TEST(FormatsTest, ChronusCountsMinutes) {
  EXPECT_EQ(Read("chronus",
                 absl::StrCat(kChronusHeader, "7,vc_a,12,100,50,vgg16,30,1,60-120,10-5,0,soft\n",
                              "3,vc_b,0,10,9,dqn,20,1,10,10,1,best\n")),
            (Lines{"7 at 6000s runs 1800s of vc_a: 1 x [gpu 8x1000], 1 x [gpu 4x1000 rest]",
                   "3 at 600s runs 1200s of vc_b: 1 x [nothing]"}));
}

// As docs/traces.md tells.
proto::TableMapping ChronusStrict() {
  proto::TableMapping mapping = BuiltIn("chronus");
  proto::Column* const deadline = mapping.mutable_pods()->mutable_deadline_after();
  deadline->set_column("expect_time_list");
  deadline->set_unit("min");
  proto::RowFilter* const strict = mapping.add_filters();
  strict->set_column("job_type");
  strict->add_equals("strict");
  return mapping;
}

TEST(FormatsTest, ChronusDeadlinesOfStrictJobs) {
  EXPECT_EQ(Read(ChronusStrict(),
                 absl::StrCat(kChronusHeader, "7,vc_a,1,100,50,vgg16,30,1,45,10,0,strict\n",
                              "3,vc_b,1,10,9,dqn,20,1,10,10,1,best\n")),
            (Lines{"7 at 6000s runs 1800s until 8700s of vc_a: 1 x [gpu 1x1000]"}));
}

TEST(FormatsTest, CloudSimPyInstancesAreJobs) {
  EXPECT_EQ(Read("cloudsimpy",
                 ",submit_time,duration,cpu,memory,job_id,task_id,instances_num,disk\n"
                 "0,539,116.5,1.0,0.0054,1,1,3,0\n"
                 "1,500,2.0000000001,0.8791983159229342,0.01,9,3_1_2,1,0\n"),
            (Lines{"cloudsimpy-2-0 at 539s runs 116500000000ns: 1 x [1000m]",
                   "cloudsimpy-2-1 at 539s runs 116500000000ns: 1 x [1000m]",
                   "cloudsimpy-2-2 at 539s runs 116500000000ns: 1 x [1000m]",
                   "cloudsimpy-3-0 at 500s runs 2s: 1 x [880m]"}));
}

TEST(FormatsTest, Dlrm) {
  EXPECT_EQ(Read("dlrm-2025", TestText("Dlrm")),
            (Lines{"i0 at 0s: 1 x [12000m 122880Mi gpu 1x1000 ephemeral-storage-gib=640 rdma=25 "
                   "at most 8 of a0]",
                   "i1 at 475s runs 3551s: 1 x [64000m 960000Mi "
                   "ephemeral-storage-gib=255 rdma=1]",
                   "i2 at 0s runs 100s: 1 x [8000m 40960Mi ephemeral-storage-gib=85 rdma=100 "
                   "at most 2 of a1]",
                   "i3 at 1000s: 1 x [8000m 40960Mi ephemeral-storage-gib=85 rdma=100 "
                   "at most 2 of a1]"}));
}

TEST(FormatsTest, OpenbPodsThatNeverRanWereDeleted) {
  EXPECT_EQ(Read("openb",
                 "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
                 "deletion_time,scheduled_time\n"
                 "a,500,1024,0,,,BE,Pending,5,20,\n"
                 "b,500,1024,1,460,T4,LS,Running,5,20,7\n"),
            (Lines{"a at 5s deleted 20s: 1 x [500m 1024Mi]",
                   "b at 5s runs 13s priority 2: 1 x [500m 1024Mi gpu 1x460 T4]"}));
}

TEST(FormatsTest, Pai2020Sample) {
  EXPECT_EQ(Read("pai-2020-100k",
                 "job_id,num_inst,submit_time,num_cpu,num_gpu,gpu_type,duration,user\n"
                 "1,2,100,6.0,0.5,T4,60,u1\n"
                 "2,1,90,4,2.0,MISC,30,u2\n"
                 "3,3,110,8,0.0,CPU,5,u1\n"),
            (Lines{"1 at 100s runs 60s of u1: 2 x [6000m gpu 1x500 T4]",
                   "2 at 90s runs 30s of u2: 1 x [4000m gpu 2x1000 MISC]",
                   "3 at 110s runs 5s of u1: 3 x [8000m]"}));
}

TEST(FormatsTest, PhillyMuriCountsMilliseconds) {
  EXPECT_EQ(Read("philly-muri",
                 "job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,interval,"
                 "iteration_time,resource_time_0,resource_time_1,resource_time_2,priority\n"
                 "0,8,0,77,dqn,128,2000000,0,490,446,8,0.5,1\n"
                 "1,20,1500,77,dqn,128,2500,1500,490,446,8,0,0\n"),
            (Lines{"0 at 0s runs 2000s: 1 x [gpu 8x1000]",
                   "1 at 1500000000ns runs 2500000000ns: 2 x [gpu 8x1000], "
                   "1 x [gpu 4x1000 rest]"}));
}

TEST(FormatsTest, PhillyAdaptdlHasNoNames) {
  EXPECT_EQ(Read("philly-adaptdl",
                 "timestamp,duration,num_gpus,gpu_time,cluster\n"
                 "2017-10-09 07:00:00,66.0,1,66.0,11cb48\n"
                 "2017-10-09 06:59:59,7.0,16,112.0,6214e9\n"),
            (Lines{"philly-adaptdl-2 at 1507532400s runs 66s of 11cb48: 1 x [gpu 1x1000]",
                   "philly-adaptdl-3 at 1507532399s runs 7s of 6214e9: 2 x [gpu 8x1000]"}));
}

TEST(FormatsTest, PhillyElasticFlowHasDeadlinesInTime) {
  EXPECT_EQ(Read("philly-elasticflow",
                 "job_id,submit_time,real_iteration,model_name,ddl,batch_size,num_gpu,"
                 "real_duration,duration,iteration\n"
                 "0,100,5,vgg16,250,256,4,120,120,5\n"),
            (Lines{"0 at 100s runs 120s until 250s: 1 x [gpu 4x1000]"}));
}

TEST(FormatsTest, Spot) {
  EXPECT_EQ(Read("spot-2026",
                 "job_name,organization,gpu_model,cpu_request,gpu_request,worker_num,submit_time,"
                 "duration,job_type\n"
                 "7,13,A10,8,0.5,1,0,100,HP\n"
                 "8,57,H800,15.0,8.0,16,10.0,20.0,Spot\n"),
            (Lines{"7 at 0s runs 100s of 13 priority 1 fixed: 1 x [8000m gpu 1x500 A10]",
                   "8 at 10s runs 20s of 57: 16 x [15000m gpu 8x1000 H800]"}));
  const std::string nodes = "gpu_model,gpu_capacity_num,cpu_num,node_name\nA10,2,128,17\n";
  absl::StatusOr<std::unique_ptr<ByteSource>> bytes = OpenMemory("n", nodes);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  absl::StatusOr<std::vector<NodeSpec>> read = ReadNodes(*std::move(bytes), BuiltIn("spot-2026"));
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->size(), 1u);
  EXPECT_EQ((*read)[0].name, "17");
  EXPECT_EQ((*read)[0].cpu_milli, 128000);
  EXPECT_EQ((*read)[0].gpu_count, 2);
  EXPECT_EQ((*read)[0].gpu_model, "A10");
}

// Job, submission, wait, run time, processors, ...; the 8th and 9th are what was asked for, the
// 11th is the status, the 12th the user.
const std::string& SwfText() { return TestText("Swf"); }

TEST(FormatsTest, Swf) {
  const Lines jobs = {"1 at 600s runs 3477s says 53940s of 12: 1 x [4000m]",
                      "4 at 720s runs 6s says 60s of 7: 1 x [2000m]"};
  // The second has no run time, the third no processors.
  const Lines peculiar = {"peculiar 1: left out: asks for no CPU",
                          "peculiar 1: left out: no run time", "peculiar 2: skipped by state"};
  const auto with = [&peculiar](Lines lines) {
    lines.insert(lines.end(), peculiar.begin(), peculiar.end());
    return lines;
  };
  EXPECT_EQ(Read("swf", SwfText()), with(jobs));
  const std::string bad =
      absl::StrCat(SwfText(), "5 730 0 -9 1 -1 -1 1 60 -1 1 7 1 -1 -1 -1 -1 -1\n");
  Lines strict = jobs;
  strict.push_back("t:9:9: run: found '-9', expected a plain number of s that is not negative");
  EXPECT_EQ(Read("swf", bad), with(strict));
  Lines lenient = jobs;
  lenient.push_back("skipped 1: negative number");
  EXPECT_EQ(Read("swf", bad, /*lenient=*/true), with(lenient));
}

TEST(FormatsTest, WagapHasThreeColumnsMore) {
  constexpr absl::string_view kRow =
      "0 1350000000 7 100 2 1 1024 2 60 68719476736 1 62 1 1 -1 1 1 1 {1241,1241} q_1d 1:ppn=2\n";
  EXPECT_EQ(Read("swf-wagap", kRow),
            (Lines{"0 at 1350000000s runs 100s says 60s of 62: 1 x [2000m]"}));
  EXPECT_EQ(Read("swf", kRow), (Lines{"t:1:64: row: found 21 fields, expected 18"}));
}

// ---- The built-in mapping files over the public files, when these are at hand:
// <DRASIM_SHARED>/traces. The expected figures were counted with another program. ----

struct Totals {
  int64_t jobs = 0;
  int64_t pods = 0;
  int64_t gpu_milli = 0;
  int64_t cpu_milli = 0;
  int64_t timed = 0;  // jobs with a run time
  int64_t run_ns = 0;
  int64_t deleted = 0;
  int64_t estimate_s = 0;  // these in whole seconds, for sums of nanoseconds may be beyond 64 bits
  int64_t deadline_s = 0;
  int64_t deletion_s = 0;
  int64_t fails = 0;
  int64_t first_s = 0;
  int64_t last_s = 0;
  int64_t skipped = 0;
  std::set<std::string> tenants;
  absl::Status status;  // of reading it
};

void Add(const JobArrival& job, const ShapeTable& shapes, Totals* totals) {
  std::vector<PodGroup> groups = job.more_pods;
  groups.push_back(PodGroup{job.shape, job.pods});
  for (const PodGroup& group : groups) {
    const PodShape& shape = shapes.row(group.shape);
    totals->pods += group.pods;
    totals->gpu_milli += group.pods * shape.request.total_gpu_milli();
    totals->cpu_milli += group.pods * shape.request.cpu_milli;
  }
  if (job.has_run_time) {
    ++totals->timed;
    totals->run_ns += job.run_time.ns();
  }
  if (job.has_estimate) totals->estimate_s += job.estimate.ns() / kSecondNs;
  if (job.has_deadline) totals->deadline_s += job.deadline.ns() / kSecondNs;
  if (job.has_deletion) {
    ++totals->deleted;
    totals->deletion_s += job.deletion.ns() / kSecondNs;
  }
  if (job.fails) ++totals->fails;
  const int64_t arrival_s = job.time.ns() / kSecondNs;
  totals->first_s = totals->jobs == 0 ? arrival_s : std::min(totals->first_s, arrival_s);
  totals->last_s = std::max(totals->last_s, arrival_s);
  totals->tenants.insert(job.tenant);
  ++totals->jobs;
}

Totals ReadFile(const proto::TableMapping& mapping, absl::string_view name, bool lenient = false) {
  Totals totals;
  GpuModelTable models;
  ShapeTable shapes(&models);
  TableSourceOptions options;
  options.lenient = lenient;
  options.order = ArrivalOrder::kKeep;
  absl::StatusOr<std::unique_ptr<ByteSource>> bytes =
      OpenByteSource(SharedPath(absl::StrCat("traces/", name)));
  totals.status = bytes.status();
  if (!bytes.ok()) return totals;
  absl::StatusOr<std::unique_ptr<TableSource>> source =
      TableSource::Open(*std::move(bytes), mapping, &shapes, options);
  totals.status = source.status();
  if (!source.ok()) return totals;
  JobArrival job;
  absl::StatusOr<bool> got = (*source)->Next(&job);
  for (; got.ok() && *got; got = (*source)->Next(&job)) Add(job, shapes, &totals);
  totals.status = got.status();
  totals.skipped = (*source)->skipped_rows();
  for (const auto& [kind, tally] : (*source)->warnings()) {
    EXPECT_TRUE(absl::StartsWith(kind, "left out: ")) << name << ": " << kind;
  }
  return totals;
}

Totals ReadFile(absl::string_view format, absl::string_view name, bool lenient = false) {
  return ReadFile(BuiltIn(format), name, lenient);
}

TEST(FormatFilesTest, PhillyMuri) {
  DRASIM_NEEDS_SHARED_DATA("traces/MANIFEST.csv");
  const Totals whole = ReadFile("philly-muri", "philly/muri_trace1_vc7f04ca.csv");
  ASSERT_TRUE(whole.status.ok()) << whole.status;
  EXPECT_EQ(whole.jobs, 1494);
  EXPECT_EQ(whole.pods, 1609);
  EXPECT_EQ(whole.gpu_milli, 7398000);
  EXPECT_EQ(whole.run_ns, 374174936 * kSecondNs);
  EXPECT_EQ(whole.last_s, 10817570);
  const Totals other = ReadFile("philly-muri", "philly/muri_trace4_vc0e4a51.csv");
  ASSERT_TRUE(other.status.ok()) << other.status;
  EXPECT_EQ(other.jobs, 2638);
  EXPECT_EQ(other.gpu_milli, 5310000);
  EXPECT_EQ(other.run_ns, 314808424 * kSecondNs);
}

TEST(FormatFilesTest, PhillyAdaptdl) {
  DRASIM_NEEDS_SHARED_DATA("traces/MANIFEST.csv");
  const Totals totals = ReadFile("philly-adaptdl", "philly/adaptdl_philly.csv.gz");
  ASSERT_TRUE(totals.status.ok()) << totals.status;
  EXPECT_EQ(totals.jobs, 82247);
  EXPECT_EQ(totals.pods, 82755);
  EXPECT_EQ(totals.gpu_milli, 107235000);
  EXPECT_EQ(totals.run_ns, 1080390950 * kSecondNs);
  EXPECT_EQ(totals.first_s, 1504521041);  // 2017-09-04 10:30:41
  EXPECT_EQ(totals.last_s, 1513929731);   // 2017-12-22 08:02:11
  EXPECT_EQ(totals.tenants.size(), 15u);
}

TEST(FormatFilesTest, PhillyElasticFlow) {
  DRASIM_NEEDS_SHARED_DATA("traces/MANIFEST.csv");
  const Totals totals = ReadFile("philly-elasticflow", "philly/elasticflow_philly_103959.csv");
  ASSERT_TRUE(totals.status.ok()) << totals.status;
  EXPECT_EQ(totals.jobs, 876);
  EXPECT_EQ(totals.gpu_milli, 1899000);
  EXPECT_EQ(totals.run_ns, 49556598 * kSecondNs);
  EXPECT_EQ(totals.deadline_s, 3602487475);
}

TEST(FormatFilesTest, Chronus) {
  DRASIM_NEEDS_SHARED_DATA("traces/MANIFEST.csv");
  constexpr absl::string_view kFile = "chronus/trace_job_Philly_MIX1.csv.gz";
  const Totals totals = ReadFile("chronus", kFile);
  ASSERT_TRUE(totals.status.ok()) << totals.status;
  EXPECT_EQ(totals.jobs, 30940);
  EXPECT_EQ(totals.pods, 31110);
  EXPECT_EQ(totals.gpu_milli, 42947000);
  EXPECT_EQ(totals.run_ns, int64_t{8067642} * 60 * kSecondNs);
  EXPECT_EQ(totals.first_s, 60);
  EXPECT_EQ(totals.last_s, 20151 * 60);
  EXPECT_EQ(totals.tenants.size(), 11u);
  EXPECT_EQ(totals.deadline_s, 0);
  // As docs/traces.md tells.
  proto::TableMapping mapping = BuiltIn("chronus");
  mapping.mutable_pods()->mutable_deadline_after()->set_column("expect_time_list");
  mapping.mutable_pods()->mutable_deadline_after()->set_unit("min");
  proto::RowFilter* const filter = mapping.add_filters();
  filter->set_column("job_type");
  filter->add_equals("strict");
  const Totals strict = ReadFile(mapping, kFile);
  ASSERT_TRUE(strict.status.ok()) << strict.status;
  EXPECT_EQ(strict.jobs, 21724);
  EXPECT_EQ(strict.deadline_s, int64_t{204852240} * 60);
}

TEST(FormatFilesTest, Dlrm) {
  DRASIM_NEEDS_SHARED_DATA("traces/MANIFEST.csv");
  proto::TableMapping mapping = BuiltIn("dlrm-2025");
  constexpr absl::string_view kFile = "alibaba-gpu-v2025-dlrm/disaggregated_DLRM_trace.csv.gz";
  const Totals totals = ReadFile(mapping, kFile);
  ASSERT_TRUE(totals.status.ok()) << totals.status;
  EXPECT_EQ(totals.jobs, 23871);
  EXPECT_EQ(totals.gpu_milli, 7386000);
  EXPECT_EQ(totals.cpu_milli, 1252594000);
  EXPECT_EQ(totals.timed, 14993);
  EXPECT_EQ(totals.run_ns, 4206163436000000000);
  proto::RowFilter* const filter = mapping.add_filters();
  filter->set_column("role");
  filter->add_equals("HN");
  const Totals gpus = ReadFile(mapping, kFile);
  ASSERT_TRUE(gpus.status.ok()) << gpus.status;
  EXPECT_EQ(gpus.jobs, 7386);
  EXPECT_EQ(gpus.gpu_milli, 7386000);
  EXPECT_EQ(gpus.timed, 4064);
}

TEST(FormatFilesTest, SpotNodesAndTablesDerivedFromItsJobs) {
  DRASIM_NEEDS_SHARED_DATA("traces/MANIFEST.csv");
  absl::StatusOr<std::unique_ptr<ByteSource>> bytes =
      OpenByteSource(SharedPath("traces/alibaba-spot-v2026/node_info_df.csv"));
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  absl::StatusOr<std::vector<NodeSpec>> nodes = ReadNodes(*std::move(bytes), BuiltIn("spot-2026"));
  ASSERT_TRUE(nodes.ok()) << nodes.status();
  int64_t gpus = 0;
  int64_t cpu_milli = 0;
  std::set<std::string> models;
  for (const NodeSpec& node : *nodes) {
    gpus += node.gpu_count;
    cpu_milli += node.cpu_milli;
    models.insert(node.gpu_model);
  }
  EXPECT_EQ(nodes->size(), 4278u);
  EXPECT_EQ(gpus, 10412);
  EXPECT_EQ(cpu_milli, 632636000);
  EXPECT_EQ(models.size(), 6u);

  const std::string folder = "alibaba-spot-v2026/derived/";
  const Totals heavy = ReadFile("spot-2026", folder + "heaviest_gpu_jobs_top200.csv");
  ASSERT_TRUE(heavy.status.ok()) << heavy.status;
  EXPECT_EQ(heavy.jobs, 200);
  EXPECT_EQ(heavy.pods, 7617);
  EXPECT_EQ(heavy.gpu_milli, 60884000);
  EXPECT_EQ(heavy.cpu_milli, 1274894000);
  EXPECT_EQ(heavy.tenants.size(), 13u);
  const Totals longest = ReadFile("spot-2026", folder + "longest_jobs_top200.csv");
  ASSERT_TRUE(longest.status.ok()) << longest.status;
  EXPECT_EQ(longest.gpu_milli, 228110);  // two of the jobs share a GPU
  EXPECT_EQ(longest.run_ns, 3179519800 * kSecondNs);
}

TEST(FormatFilesTest, Swf) {
  DRASIM_NEEDS_SHARED_DATA("traces/MANIFEST.csv");
  struct Known {
    const char* file;
    int64_t jobs;
    int64_t cores;
    int64_t timed;
    int64_t run_s;
    int64_t estimate_s;
    int64_t fails;
    int64_t first_s;
    int64_t last_s;
    size_t tenants;
  };
  // One job of KTH-SP2 has no number of processors (it ran for a second), and 25 of HPC2N have no
  // run time: these are left out. HPC2N ends in a line of one blank.
  constexpr Known kKnown[] = {
      {"KTH-SP2-1996-2.1-cln", 28475, 218053, 28475, 252634874, 389064780, 7946, 599850, 29363618,
       214},
      {"NASA-iPSC-1993-3.1-cln", 18239, 309953, 18239, 13950781, 0, 0, 0, 7948936, 69},
      {"lublin_256", 10000, 221010, 10000, 48627667, 0, 0, 5094, 7711701, 1},
      {"alea_hpc2n", 3145, 63578, 3145, 31853357, 75541680, 0, 0, 4950011, 17},
  };
  for (const Known& known : kKnown) {
    const Totals totals = ReadFile("swf", absl::StrCat("swf/", known.file, ".swf.gz"));
    EXPECT_TRUE(totals.status.ok()) << totals.status;
    EXPECT_EQ(totals.jobs, known.jobs) << known.file;
    EXPECT_EQ(totals.cpu_milli, known.cores * 1000) << known.file;
    EXPECT_EQ(totals.timed, known.timed) << known.file;
    EXPECT_EQ(totals.run_ns, known.run_s * kSecondNs) << known.file;
    EXPECT_EQ(totals.estimate_s, known.estimate_s) << known.file;
    EXPECT_EQ(totals.fails, known.fails) << known.file;
    EXPECT_EQ(totals.first_s, known.first_s) << known.file;
    EXPECT_EQ(totals.last_s, known.last_s) << known.file;
    EXPECT_EQ(totals.tenants.size(), known.tenants) << known.file;
  }
}

TEST(FormatFilesTest, WagapHasTwoNegativeRunTimes) {
  DRASIM_NEEDS_SHARED_DATA("traces/MANIFEST.csv");
  constexpr absl::string_view kFile = "swf/alea_wagap-2013.swf.gz";
  const Totals strict = ReadFile("swf-wagap", kFile);
  EXPECT_EQ(strict.jobs, 4185);
  EXPECT_TRUE(absl::StrContains(strict.status.message(),
                                ".swf.gz:4186:19: run: found '-1359980917', expected a plain "
                                "number of s that is not negative"))
      << strict.status;
  const Totals totals = ReadFile("swf-wagap", kFile, /*lenient=*/true);
  ASSERT_TRUE(totals.status.ok()) << totals.status;
  EXPECT_EQ(totals.skipped, 2);
  EXPECT_EQ(totals.jobs, 17898);
  EXPECT_EQ(totals.cpu_milli, 149384000);
  EXPECT_EQ(totals.run_ns, 897261525 * kSecondNs);
  EXPECT_EQ(totals.estimate_s, 4111853535);
  EXPECT_EQ(totals.first_s, 1356996147);
  EXPECT_EQ(totals.last_s, 1364682183);
  EXPECT_EQ(totals.tenants.size(), 75u);
}

TEST(FormatFilesTest, OpenbPodsThatNeverRan) {
  DRASIM_NEEDS_SHARED_DATA("traces/MANIFEST.csv");
  const Totals totals = ReadFile("openb", "openb/openb_pod_list_default.csv.gz");
  ASSERT_TRUE(totals.status.ok()) << totals.status;
  EXPECT_EQ(totals.jobs, 8152);
  EXPECT_EQ(totals.timed, 8152 - 897);
  EXPECT_EQ(totals.deleted, 897);
  EXPECT_EQ(totals.deletion_s, 10540422529);
}

}  // namespace formats_test
}  // namespace drasim
