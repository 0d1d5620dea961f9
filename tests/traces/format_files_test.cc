// The built-in mapping files over the public files, when these are at hand: <DRASIM_SHARED>/traces.
// The expected figures were counted with another program.
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
#include "model/node_spec.h"
#include "model/pod_shape.h"
#include "model/proto/mapping.pb.h"
#include "model/time.h"
#include "tests/testing/shared_data.h"
#include "traces/byte_source.h"
#include "traces/mapping.h"
#include "traces/table_source.h"

namespace drasim {
namespace format_files_test {

proto::TableMapping BuiltIn(absl::string_view format) {
  absl::StatusOr<proto::TableMapping> mapping = LoadMapping(format);
  EXPECT_TRUE(mapping.ok()) << mapping.status();
  return mapping.ok() ? *mapping : proto::TableMapping();
}

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
  absl::Status status;  // how it ended
};

void Add(const JobArrival& job, const ShapeTable& shapes, Totals* totals) {
  std::vector<PodGroup> groups = job.more_pods;
  groups.push_back(PodGroup{job.shape, job.pods});
  for (const PodGroup& group : groups) {
    const PodShape& shape = shapes.row(group.shape);
    totals->pods += group.pods;
    totals->gpu_milli += group.pods * shape.total_gpu_milli();
    totals->cpu_milli += group.pods * shape.cpu_milli;
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

}  // namespace format_files_test
}  // namespace drasim
