#include "traces/table_source.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/device_set.h"
#include "model/event_source.h"
#include "model/gpu_model_table.h"
#include "model/node_spec.h"
#include "model/pod_shape.h"
#include "model/proto/mapping.pb.h"
#include "model/random.h"
#include "model/shape_table.h"
#include "model/state_io.h"
#include "model/time.h"
#include "tests/testing/assert_ok.h"
#include "tests/testing/data_text.h"
#include "tests/testing/shared_data.h"
#include "tests/traces/gzip_text.h"
#include "traces/byte_source.h"
#include "traces/mapping.h"

namespace drasim {
namespace table_source_test {

using Lines = std::vector<std::string>;

// Columns id, cpu and at; the last two may be missing.
const std::string& BaseText() { return TestText("Base"); }

std::string TimeText(int64_t ns) {
  return ns % kSecondNs == 0 ? absl::StrCat(ns / kSecondNs, "s") : absl::StrCat(ns, "ns");
}

std::string ShapeText(const PodShape& shape) {
  Lines parts;
  if (shape.request.cpu_milli != 0) parts.push_back(absl::StrCat("c", shape.request.cpu_milli));
  if (shape.request.memory_bytes != 0)
    parts.push_back(absl::StrCat("m", shape.request.memory_bytes));
  if (shape.request.gpu_count != 0) {
    parts.push_back(absl::StrCat("g", shape.request.gpu_count, "x", shape.request.gpu_milli));
  }
  if (!shape.request.gpu_spec.empty()) parts.push_back(shape.request.gpu_spec);
  for (const auto& [resource, amount] : shape.request.extended) {
    parts.push_back(absl::StrCat(resource, "=", amount));
  }
  if (shape.constraints.max_per_node != 0 || !shape.constraints.group.empty()) {
    parts.push_back(absl::StrCat(shape.constraints.group, "<=", shape.constraints.max_per_node));
  }
  if (shape.gang_remainder) parts.push_back("rest");
  return absl::StrCat("[", absl::StrJoin(parts, " "), "]");
}

// "NAME@ARRIVAL ...: PODS*[SHAPE] ..."; what is not there is not said.
std::string JobText(const JobArrival& job, const ShapeTable& shapes) {
  std::string text = absl::StrCat(job.name, "@", TimeText(job.time.ns()));
  if (job.has_run_time) absl::StrAppend(&text, " run ", TimeText(job.run_time.ns()));
  if (job.has_estimate) absl::StrAppend(&text, " est ", TimeText(job.estimate.ns()));
  if (job.has_deadline) absl::StrAppend(&text, " due ", TimeText(job.deadline.ns()));
  if (job.has_deletion) absl::StrAppend(&text, " del ", TimeText(job.deletion.ns()));
  if (!job.tenant.empty()) absl::StrAppend(&text, " of ", job.tenant);
  if (!job.preemptible) absl::StrAppend(&text, " fixed");
  if (job.fails) absl::StrAppend(&text, " fails");
  absl::StrAppend(&text, ": ", job.pods, "*", ShapeText(shapes.row(job.shape)));
  for (const PodGroup& group : job.more_pods) {
    absl::StrAppend(&text, " ", group.pods, "*", ShapeText(shapes.row(group.shape)));
  }
  return text;
}

// A source over a table, and everything it needs to live.
class Rig {
 public:
  Rig(absl::string_view yaml, absl::string_view table, const TableSourceOptions& options = {})
      : table_(table), shapes_(&models_) {
    const absl::StatusOr<proto::TableMapping> mapping = ParseMapping(yaml, "m.yaml");
    status_ = mapping.status();
    if (!mapping.ok()) return;
    absl::StatusOr<std::unique_ptr<ByteSource>> bytes = OpenMemory("t.csv", table_);
    status_ = bytes.status();
    if (!bytes.ok()) return;
    absl::StatusOr<std::unique_ptr<TableSource>> source =
        TableSource::Open(*std::move(bytes), *mapping, &shapes_, options);
    status_ = source.status();
    if (source.ok()) source_ = *std::move(source);
  }

  // The jobs that are left, and the error in which they end.
  Lines All() {
    Lines lines;
    JobArrival job;
    while (source_ != nullptr) {
      const absl::StatusOr<bool> got = source_->Next(&job);
      if (!got.ok()) status_ = got.status();
      if (!got.ok() || !*got) break;
      lines.push_back(JobText(job, shapes_));
    }
    if (!status_.ok()) lines.push_back(std::string(status_.message()));
    return lines;
  }

  TableSource& source() { return *source_; }
  const ShapeTable& shapes() const { return shapes_; }

 private:
  const std::string table_;  // the source reads from it until the end
  GpuModelTable models_;
  ShapeTable shapes_;
  std::unique_ptr<TableSource> source_;
  absl::Status status_;
};

// With `more` columns behind those of BaseText().
Lines Read(absl::string_view more, absl::string_view table,
           const TableSourceOptions& options = {}) {
  return Rig(absl::StrCat(BaseText(), more), table, options).All();
}

constexpr absl::string_view kHeader =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
    "deletion_time,scheduled_time\n";
constexpr int64_t kMib = int64_t{1} << 20;

proto::TableMapping Mapping(absl::string_view yaml) {
  absl::StatusOr<proto::TableMapping> mapping = ParseMapping(yaml, "test.yaml");
  EXPECT_TRUE(mapping.ok()) << mapping.status();
  return mapping.ok() ? *mapping : proto::TableMapping();
}

const proto::TableMapping& Openb() {
  static const auto* const kMapping = new absl::StatusOr<proto::TableMapping>(LoadMapping("openb"));
  EXPECT_TRUE(kMapping->ok()) << kMapping->status();
  return kMapping->ok() ? **kMapping : proto::TableMapping::default_instance();
}

// A table source over text, and everything it needs to live.
class Fixture {
 public:
  explicit Fixture(const proto::TableMapping& mapping, absl::string_view text,
                   const TableSourceOptions& options = {}, const ByteSourceOptions& chunks = {})
      : text_(text), shapes_(&models_) {
    absl::StatusOr<std::unique_ptr<ByteSource>> bytes = OpenMemory("t.csv", text_, chunks);
    if (!bytes.ok()) {
      status_ = bytes.status();
      return;
    }
    absl::StatusOr<std::unique_ptr<TableSource>> source =
        TableSource::Open(*std::move(bytes), mapping, &shapes_, options);
    if (source.ok()) {
      source_ = *std::move(source);
    } else {
      status_ = source.status();
    }
  }

  // All pods; status() tells how it ended.
  std::vector<JobArrival> All() {
    std::vector<JobArrival> pods;
    JobArrival pod;
    while (source_ != nullptr) {
      absl::StatusOr<bool> got = source_->Next(&pod);
      if (!got.ok()) status_ = got.status();
      if (!got.ok() || !*got) break;
      pods.push_back(pod);
    }
    return pods;
  }

  TableSource& source() { return *source_; }
  const ShapeTable& shapes() const { return shapes_; }
  const absl::Status& status() const { return status_; }

 private:
  const std::string text_;  // the source reads from it until the end
  GpuModelTable models_;
  ShapeTable shapes_;
  std::unique_ptr<TableSource> source_;
  absl::Status status_;
};

// The message of the error that openb rows behind kHeader end in; empty if there is none.
std::string ErrorOf(absl::string_view rows) {
  Fixture fixture(Openb(), absl::StrCat(kHeader, rows));
  fixture.All();
  if (!fixture.status().ok()) {
    EXPECT_EQ(fixture.status().code(), absl::StatusCode::kInvalidArgument);
    JobArrival pod;
    EXPECT_EQ(fixture.source().Next(&pod).status(), fixture.status());
  }
  return std::string(fixture.status().message());
}

constexpr absl::string_view kThreePods =
    "p-0,12000,16384,1,460,V100M16|T4,LS,Running,5,1000,7\n"
    "p-1,500,1024,0,,,BE,Pending,5,20,\n"
    "p-2,500,1024,8,1000,,Burstable,Failed,6,6,6\n";

TEST(TableSourceTest, ReadsOpenbPods) {
  Fixture fixture(Openb(), absl::StrCat(kHeader, kThreePods));
  const std::vector<JobArrival> pods = fixture.All();
  ASSERT_TRUE(fixture.status().ok()) << fixture.status();
  ASSERT_EQ(pods.size(), 3u);
  EXPECT_EQ(pods[0].name, "p-0");
  EXPECT_EQ(pods[0].priority, 2);
  EXPECT_EQ(pods[0].time, SimTime(5'000'000'000));
  EXPECT_TRUE(pods[0].has_run_time);
  EXPECT_EQ(pods[0].run_time, SimDuration::Seconds(993));
  const PodShape& share = fixture.shapes().row(pods[0].shape);
  EXPECT_EQ(share.request.cpu_milli, 12000);
  EXPECT_EQ(share.request.memory_bytes, 16384 * kMib);
  EXPECT_EQ(share.request.gpu_count, 1);
  EXPECT_EQ(share.request.gpu_milli, 460);
  EXPECT_EQ(share.request.gpu_spec, "V100M16|T4");

  EXPECT_EQ(pods[1].name, "p-1");
  EXPECT_EQ(pods[1].priority, 0);
  EXPECT_FALSE(pods[1].has_run_time);
  EXPECT_EQ(pods[1].run_time, SimDuration());
  EXPECT_TRUE(pods[1].has_deletion);
  EXPECT_EQ(pods[1].deletion, SimTime(20'000'000'000));
  const PodShape& cpu_only = fixture.shapes().row(pods[1].shape);
  EXPECT_EQ(cpu_only.request.gpu_count, 0);
  EXPECT_EQ(cpu_only.request.gpu_milli, 0);

  EXPECT_EQ(pods[2].priority, 1);
  EXPECT_TRUE(pods[2].has_run_time);
  EXPECT_EQ(pods[2].run_time, SimDuration());
  EXPECT_EQ(fixture.shapes().row(pods[2].shape).request.total_gpu_milli(), 8000);
  EXPECT_EQ(fixture.shapes().row(pods[2].shape).request.gpu_spec, "");
  EXPECT_EQ(fixture.source().delivered(), 3);
  EXPECT_TRUE(fixture.source().warnings().empty());
}

TEST(TableSourceTest, ReadsTheFiveColumnsOfMultigpuLists) {
  Fixture fixture(Openb(),
                  "name,cpu_milli,memory_mib,num_gpu,gpu_milli\na,1,2,2,1000\nb,1,2,0,0\n");
  const std::vector<JobArrival> pods = fixture.All();
  ASSERT_TRUE(fixture.status().ok()) << fixture.status();
  ASSERT_EQ(pods.size(), 2u);
  EXPECT_EQ(pods[0].time, SimTime());
  EXPECT_EQ(pods[0].priority, 0);
  EXPECT_FALSE(pods[0].has_run_time);
  EXPECT_EQ(fixture.shapes().row(pods[0].shape).request.gpu_count, 2);
}

TEST(TableSourceTest, GpuFieldsOfPodsWithoutGpusAreNotLookedAt) {
  Fixture fixture(Openb(), absl::StrCat(kHeader, "a,1,1,0,junk,T4,LS,,1,,\nb,1,1,0,0,,LS,,1,,\n"));
  const std::vector<JobArrival> pods = fixture.All();
  ASSERT_TRUE(fixture.status().ok()) << fixture.status();
  ASSERT_EQ(pods.size(), 2u);
  EXPECT_EQ(pods[0].shape, pods[1].shape);
  EXPECT_EQ(fixture.shapes().size(), 1u);
}

TEST(TableSourceTest, GpuShareFollowsTheFgdRule) {
  Fixture fixture(Openb(), absl::StrCat(kHeader,
                                        "a,1,1,1,1001,,LS,,1,,\nb,1,1,1,99999999999999999999,,LS,,"
                                        "1,,\nc,1,1,2,0,T4,LS,,1,,\nd,1,1,1,1,,LS,,1,,\n"));
  const std::vector<JobArrival> pods = fixture.All();
  ASSERT_TRUE(fixture.status().ok()) << fixture.status();
  ASSERT_EQ(pods.size(), 4u);
  EXPECT_EQ(fixture.shapes().row(pods[0].shape).request.gpu_milli, 1000);
  EXPECT_EQ(pods[1].shape, pods[0].shape);
  EXPECT_EQ(fixture.shapes().row(pods[2].shape).request.gpu_count, 0);
  EXPECT_EQ(fixture.shapes().row(pods[2].shape).request.gpu_milli, 0);
  EXPECT_EQ(fixture.shapes().row(pods[2].shape).request.gpu_spec, "");
  EXPECT_EQ(fixture.shapes().row(pods[3].shape).request.gpu_milli, 1);
  RowTallies expected;
  expected["GPUs with a share of 0"] =
      RowTally{1, "t.csv:4:9: gpu_milli: found 0 per GPU, so the pod is read as one without GPUs"};
  EXPECT_TRUE(fixture.source().warnings() == expected);
}

TEST(TableSourceTest, EveryPriorityOfOpenb) {
  Fixture fixture(Openb(), absl::StrCat(kHeader,
                                        "a,1,1,0,,,Guaranteed,,1,,\nb,1,1,0,,,LS,,1,,\n"
                                        "c,1,1,0,,,Burstable,,1,,\nd,1,1,0,,,BE,,1,,\n"
                                        "e,1,1,0,,,-7,,1,,\nf,1,1,0,,,,,1,,\n"));
  const std::vector<JobArrival> pods = fixture.All();
  ASSERT_TRUE(fixture.status().ok()) << fixture.status();
  std::vector<int32_t> priorities;
  for (const JobArrival& pod : pods) priorities.push_back(pod.priority);
  EXPECT_EQ(priorities, (std::vector<int32_t>{3, 2, 1, 0, -7, 0}));
}

TEST(TableSourceTest, EqualRequestsShareAShape) {
  std::string rows;
  for (int i = 0; i < 5000; ++i) {
    absl::StrAppend(&rows, "p", i, ",", i % 3000, ",1,0,,,LS,,1,,\n");
  }
  Fixture fixture(Openb(), absl::StrCat(kHeader, rows));
  const std::vector<JobArrival> pods = fixture.All();
  ASSERT_EQ(pods.size(), 5000u);
  EXPECT_EQ(fixture.shapes().size(), 3000u);
  for (size_t i = 0; i < 5000; ++i) {
    EXPECT_EQ(fixture.shapes().row(pods[i].shape).request.cpu_milli,
              static_cast<int64_t>(i % 3000));
  }
}

TEST(TableSourceTest, ExplainsBadNumbers) {
  for (const auto& [input, expected] : TestRows<2>("ExplainsBadNumbers")) {
    EXPECT_EQ(ErrorOf(input), expected) << input;
  }
}

TEST(TableSourceTest, ExplainsBadRows) {
  for (const auto& [input, expected] : TestRows<2>("ExplainsBadRows")) {
    EXPECT_EQ(ErrorOf(input), expected) << input;
  }
  EXPECT_EQ(ErrorOf(std::string(1048577, 'x')),
            "t.csv:2:1: row: found more than 1048576 bytes, expected the end of the row before "
            "that");
  EXPECT_EQ(ErrorOf(absl::StrCat("a,", std::string(100, '1'), "\n")),
            "t.csv:2:103: row: found 2 fields, expected 11");
  EXPECT_EQ(ErrorOf(absl::StrCat("a,\x01", std::string(100, 'z'), ",1,0,0,,LS,,1,2,1\n")),
            absl::StrCat("t.csv:2:3: cpu_milli: found '\\x01", std::string(59, 'z'),
                         "...', expected a plain number of milli-CPU"));
}

TEST(TableSourceTest, ExplainsBadHeaders) {
  const auto error = [](absl::string_view text) {
    return std::string(Fixture(Openb(), text).status().message());
  };
  for (const auto& [input, expected] : TestRows<2>("ExplainsBadHeaders")) {
    EXPECT_EQ(error(input), expected) << input;
  }
}

TEST(TableSourceTest, NeedsAValidMappingWithPods) {
  const proto::TableMapping nodes =
      Mapping("name: n\nnodes:\n  name: {column: n}\n  cpu: {column: c, unit: cores}\n");
  EXPECT_EQ(Fixture(nodes, "n,c\n").status(),
            absl::InvalidArgumentError("n: pods: found no such section, expected one, because a "
                                       "table of pods is to be read"));
  proto::TableMapping broken = Openb();
  broken.mutable_pods()->mutable_cpu()->set_unit("mili");
  EXPECT_EQ(Fixture(broken, "n,c\n").status(),
            absl::InvalidArgumentError(
                "openb: pods.cpu.unit: found 'mili', expected one of milli, cores, percent, "
                "quantity"));
}

TEST(TableSourceTest, LenientCountsBadRowsByKindAndSkipsThem) {
  TableSourceOptions options;
  options.lenient = true;
  Fixture fixture(
      Openb(), absl::StrCat(kHeader, TestText("LenientCountsBadRowsByKindAndSkipsThem")), options);
  const std::vector<JobArrival> pods = fixture.All();
  ASSERT_TRUE(fixture.status().ok()) << fixture.status();
  ASSERT_EQ(pods.size(), 3u);
  EXPECT_EQ(pods[0].name, "a");
  EXPECT_EQ(pods[1].name, "b");
  EXPECT_EQ(pods[2].name, "g");
  const RowTallies expected = {
      {"arrival out of order",
       RowTally{1,
                "t.csv:7:16: creation_time: found '1', expected a time not before that of line 4"}},
      {"duplicate name",
       RowTally{1, "t.csv:5:1: name: found 'b', expected a name that no earlier row has"}},
      {"not a number",
       RowTally{2, "t.csv:3:3: cpu_milli: found 'x', expected a plain number of milli-CPU"}},
      {"text after a closing quote",
       RowTally{1,
                "t.csv:9:6: row: found '1' after a closing quote, expected a separator or the end "
                "of the row"}},
      {"too few fields", RowTally{1, "t.csv:6:6: row: found 3 fields, expected 11"}},
  };
  EXPECT_TRUE(fixture.source().skipped() == expected);
  EXPECT_EQ(fixture.source().skipped_rows(), 6);
}

TEST(TableSourceTest, OrderOfArrival) {
  const std::string text = absl::StrCat(
      kHeader, "a,1,1,0,0,,LS,,7,,\nb,1,1,0,0,,LS,,3,,\nc,1,1,0,0,,LS,,7,,\nd,1,1,0,0,,LS,,3,,\n");
  const auto names = [&text](ArrivalOrder order, int64_t window_s = 0) {
    TableSourceOptions options;
    options.order = order;
    options.sort_window_ns = window_s * 1'000'000'000;
    Fixture fixture(Openb(), text, options);
    std::string all;
    for (const JobArrival& pod : fixture.All()) {
      absl::StrAppend(&all, pod.name, pod.time.ns() / 1'000'000'000);
    }
    return fixture.status().ok() ? all : "error";
  };
  EXPECT_EQ(names(ArrivalOrder::kRequire), "error");
  EXPECT_EQ(names(ArrivalOrder::kSort), "b3d3a7c7");
  EXPECT_EQ(names(ArrivalOrder::kKeep), "a7b3c7d3");
  EXPECT_EQ(names(ArrivalOrder::kWindow), "error");
  EXPECT_EQ(names(ArrivalOrder::kWindow, 3), "error");
  EXPECT_EQ(names(ArrivalOrder::kWindow, 4), "b3d3a7c7");
  EXPECT_EQ(names(ArrivalOrder::kWindow, 4'000'000), "b3d3a7c7");
}

// A source's reading of a text, bad rows and warnings included.
struct Outcome {
  std::vector<JobArrival> pods;
  absl::Status status;
  RowTallies skipped;
  RowTallies warnings;
  bool operator==(const Outcome&) const = default;
};

Outcome ReadWhole(absl::string_view text, const TableSourceOptions& options,
                  const ByteSourceOptions& chunks) {
  Fixture fixture(Openb(), text, options, chunks);
  Outcome outcome;
  outcome.pods = fixture.All();
  outcome.status = fixture.status();
  outcome.skipped = fixture.source().skipped();
  outcome.warnings = fixture.source().warnings();
  return outcome;
}

TEST(TableSourceTest, LineEndsByteOrderMarkAndGzipMakeNoDifference) {
  const std::string plain = absl::StrCat(kHeader, kThreePods);
  const Outcome expected = ReadWhole(plain, {}, {});
  EXPECT_EQ(expected.pods.size(), 3u);
  const std::string crlf =
      absl::StrCat("\xEF\xBB\xBF", absl::StrReplaceAll(plain, {{"\n", "\r\n"}}));
  EXPECT_TRUE(ReadWhole(crlf, {}, {}) == expected);
  EXPECT_TRUE(ReadWhole(GzipText(plain), {}, {}) == expected);
  EXPECT_TRUE(ReadWhole(GzipText(crlf), {}, {}) == expected);
  EXPECT_TRUE(ReadWhole(plain.substr(0, plain.size() - 1), {}, {}) == expected);
}

TEST(TableSourceTest, EverySeamGivesTheSamePods) {
  const std::string text =
      absl::StrCat("\xEF\xBB\xBF", kHeader, "\"p,\"\"0\"\"\",1.5,1,2,0,T4,LS,,1,,\r\nbad,\n",
                   kThreePods, "\"x\"y\n\np-3,1,1,1,70,\"G2|P100\",,,9,10,9");
  TableSourceOptions options;
  options.lenient = true;
  const Outcome expected = ReadWhole(text, options, {});
  ASSERT_EQ(expected.pods.size(), 5u);
  EXPECT_EQ(expected.pods[0].name, "p,\"0\"");
  EXPECT_EQ(expected.pods[4].name, "p-3");
  EXPECT_EQ(expected.skipped.size(), 2u);
  EXPECT_EQ(expected.warnings.size(), 1u);
  for (size_t seam = 1; seam <= text.size(); ++seam) {
    ByteSourceOptions chunks;
    chunks.first_chunk_bytes = seam;
    EXPECT_TRUE(ReadWhole(text, options, chunks) == expected) << seam;
    chunks.chunk_bytes = seam;
    EXPECT_TRUE(ReadWhole(text, options, chunks) == expected) << seam;
  }
}

TEST(TableSourceTest, DamagedGzipIsAnErrorEvenWhenLenient) {
  TableSourceOptions options;
  options.lenient = true;
  const std::string packed = GzipText(absl::StrCat(kHeader, kThreePods));
  Fixture fixture(Openb(), absl::string_view(packed).substr(0, packed.size() - 1), options);
  EXPECT_EQ(fixture.All().size(), 3u);
  EXPECT_EQ(fixture.status(),
            absl::DataLossError("t.csv: the gzip data ends too early: the file is cut short"));
}

TEST(TableSourceTest, UnitsAndExactTimes) {
  const proto::TableMapping mapping = Mapping(TestText("UnitsAndExactTimes"));
  Fixture fixture(mapping,
                  "cores;gib;gpus;type;t;run\n0.0001;120.0;3;T4/G2;0.000001;0.5\n"
                  "2e0;na;1;V100-32;1.5;\n1;;;T4;2;1e-12\n");
  const std::vector<JobArrival> pods = fixture.All();
  ASSERT_TRUE(fixture.status().ok()) << fixture.status();
  ASSERT_EQ(pods.size(), 3u);
  EXPECT_EQ(pods[0].name, "units-2");
  EXPECT_EQ(pods[2].name, "units-4");
  const PodShape& first = fixture.shapes().row(pods[0].shape);
  EXPECT_EQ(first.request.cpu_milli, 1);
  EXPECT_EQ(first.request.memory_bytes, 120 * 1024 * kMib);
  EXPECT_EQ(first.request.gpu_count, 3);
  EXPECT_EQ(first.request.gpu_milli, 1000);
  EXPECT_EQ(first.request.gpu_spec, "T4|G2");
  EXPECT_EQ(pods[0].time, SimTime(1));
  EXPECT_EQ(pods[0].run_time, SimDuration::Seconds(1800));
  const PodShape& second = fixture.shapes().row(pods[1].shape);
  EXPECT_EQ(second.request.cpu_milli, 2000);
  EXPECT_EQ(second.request.memory_bytes, 512 * kMib);
  EXPECT_EQ(second.request.gpu_spec, "V100M32");
  EXPECT_EQ(pods[1].time, SimTime(1'500'000));
  EXPECT_FALSE(pods[1].has_run_time);
  EXPECT_EQ(fixture.shapes().row(pods[2].shape).request.gpu_count, 0);
  EXPECT_EQ(pods[2].run_time, SimDuration(4));
}

// The Standard Workload Format's columns, as a mapping file may describe them.
TEST(TableSourceTest, BlankSeparatedTablesWithoutAHeaderAndFilters) {
  const proto::TableMapping mapping =
      Mapping(TestText("BlankSeparatedTablesWithoutAHeaderAndFilters"));
  Fixture fixture(mapping,
                  "; Version: 2\n  1  10 -1   7 16 1\n 2 11 0 -1 64 0\n 3 12 0 5 65 1\n"
                  " 4 12 0 5 -1 1\n 5 12 0 5 1 5\n 6 12 9 5 1 1\n 1 12 0 junk 0 1\n");
  const std::vector<JobArrival> pods = fixture.All();
  ASSERT_TRUE(fixture.status().ok()) << fixture.status();
  ASSERT_EQ(pods.size(), 2u);
  EXPECT_EQ(pods[0].name, "1");
  EXPECT_EQ(pods[0].time, SimTime(10'000'000'000));
  EXPECT_EQ(pods[0].run_time, SimDuration::Seconds(7));
  EXPECT_EQ(fixture.shapes().row(pods[0].shape).request.cpu_milli, 16000);
  EXPECT_EQ(pods[1].name, "2");
  EXPECT_FALSE(pods[1].has_run_time);

  Fixture bad(mapping, "1 10 -1 7 many 1\n");
  bad.All();
  EXPECT_EQ(bad.status(),
            absl::InvalidArgumentError("t.csv:1:11: procs: found 'many', expected a plain number"));
}

TEST(TableSourceTest, SavesAndLoadsItsPlace) {
  const std::string text = absl::StrCat(kHeader, kThreePods, "bad\n", "p-9,1,1,0,0,,LS,,8,,\n");
  for (const ArrivalOrder order :
       {ArrivalOrder::kRequire, ArrivalOrder::kSort, ArrivalOrder::kWindow}) {
    TableSourceOptions options;
    options.lenient = true;
    options.order = order;
    options.sort_window_ns = 1'000'000'000;
    const std::vector<JobArrival> all = Fixture(Openb(), text, options).All();
    ASSERT_EQ(all.size(), 4u);
    for (size_t place = 0; place <= 5; ++place) {
      Fixture before(Openb(), text, options);
      JobArrival pod;
      for (size_t i = 0; i < place; ++i) ASSERT_TRUE(before.source().Next(&pod).ok());
      StateWriter saved;
      before.source().Save(saved);

      Fixture after(Openb(), text, options);
      StateReader reader(saved.bytes());
      ASSERT_TRUE(after.source().Load(reader).ok());
      EXPECT_TRUE(reader.AtEnd());
      StateWriter again;
      after.source().Save(again);
      EXPECT_EQ(again.bytes(), saved.bytes());
      EXPECT_TRUE(after.source().skipped() == before.source().skipped());
      const size_t rest = place < 4 ? place : 4;
      EXPECT_EQ(after.All(), std::vector<JobArrival>(
                                 all.begin() + static_cast<std::ptrdiff_t>(rest), all.end()));
    }
  }
}

TEST(TableSourceTest, LoadRefusesAnotherTable) {
  Fixture before(Openb(), absl::StrCat(kHeader, kThreePods));
  before.All();
  StateWriter saved;
  before.source().Save(saved);
  for (absl::string_view other : {"p-0,1,1,0,0,,LS,,1,2,1\n",
                                  "a,1,1,0,0,,LS,,1,2,1\n"
                                  "b,1,1,0,0,,LS,,1,2,1\n"
                                  "c,1,1,0,0,,LS,,1,2,1\n"}) {
    Fixture after(Openb(), absl::StrCat(kHeader, other));
    StateReader reader(saved.bytes());
    EXPECT_EQ(after.source().Load(reader),
              absl::DataLossError("the checkpoint was made from another table: its place is not to "
                                  "be found in this one"));
  }
}

// ---- Columns of jobs, beyond plain pods: each quirk has a table of its own. ----

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
  Rig rig(BaseText(), "id,cpu,at\na,500,1\n");
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
      Read(TestText("JobsAreSplitByTheirGpus"),
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
  EXPECT_EQ(read[1], TestLines("OneErrorTellsOfAllMistakes"));
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
  Rig rig(absl::StrCat(BaseText(),
                       "  run_time: {column: run, unit: s, optional: true}\n  needs: [cpu]\n"),
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
  for (const auto& [input, expected] : TestRows<2>("GpuAmounts")) {
    EXPECT_EQ(error(input), expected) << input;
  }
  EXPECT_EQ(Read("  gpu_amount: {column: g, unit: percent}\n", "id,g\na,50\nb,800\nc,150\n"),
            (Lines{"a@0s: 1*[g1x500]", "b@0s: 1*[g8x1000]",
                   "t.csv:4:3: g: found '150', expected a whole number of GPUs, or a fraction of "
                   "one"}));
  EXPECT_EQ(Read("  gpu_amount: {column: g, unit: milli}\n  gpus_per_pod: 2\n",
                 "id,g,cpu\na,250,8\nb,3000,9\n"),
            (Lines{"a@0s: 1*[c8 g1x250]", "b@0s: 1*[c6 g2x1000] 1*[c3 g1x1000 rest]"}));
}

TEST(TableSourceJobsTest, States) {
  const std::string& more = TestText("States.more");
  const std::string yaml = absl::StrCat(BaseText(), more);
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
  Rig rig(absl::StrCat(BaseText(),
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
  ASSERT_OK_AND_ASSIGN(
      const proto::TableMapping mapping,
      ParseMapping("name: n\nnodes:\n  name: {column: id}\n  cpu: {column: cpu, unit: milli}\n"
                   "  extended:\n"
                   "    - {resource: b, amount: {column: r1}}\n"
                   "    - {resource: a, amount: {column: r2, optional: true}}\n",
                   "m.yaml"));
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<ByteSource> bytes,
                       OpenMemory("n.csv", "id,cpu,r1,r2\nx,1,5,7\ny,1,0,\n"));
  ASSERT_OK_AND_ASSIGN(const std::vector<NodeSpec> nodes, ReadNodes(std::move(bytes), mapping));
  ASSERT_EQ(nodes.size(), 2u);
  const std::vector<std::pair<std::string, int64_t>> both = {{"a", 7}, {"b", 5}};
  EXPECT_EQ(nodes[0].extended, both);
  EXPECT_TRUE(nodes[1].extended.empty());
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
  EXPECT_EQ(Rig(yaml, bad).All(), (Lines{TestLines("DatesAndTimes")}));
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
  Rig rig(BaseText(), table, lenient);
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
  const std::string yaml = absl::StrCat(BaseText(), "  pods: {column: n}\n  gang: false\n");
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

// ---- ReadNodes, and both readers over the public openb lists. ----

absl::StatusOr<std::vector<NodeSpec>> Nodes(const proto::TableMapping& mapping,
                                            absl::string_view text) {
  absl::StatusOr<std::unique_ptr<ByteSource>> bytes = OpenMemory("n.csv", text);
  if (!bytes.ok()) return bytes.status();
  return ReadNodes(*std::move(bytes), mapping);
}

TEST(ReadNodesTest, ReadsOpenbNodes) {
  ASSERT_OK_AND_ASSIGN(
      std::vector<NodeSpec> nodes,
      Nodes(Openb(),
            "sn,cpu_milli,memory_mib,gpu,model\nn-0,32000,262144,0,\nn-1,64000,262144,2,P100\n"));
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes[0].name, "n-0");
  EXPECT_EQ(nodes[0].cpu_milli, 32000);
  EXPECT_EQ(nodes[0].memory_bytes, 262144 * kMib);
  EXPECT_EQ(nodes[0].pods, 1001);
  EXPECT_EQ(nodes[0].gpu_count, 0);
  EXPECT_EQ(nodes[0].gpu_model, "");
  EXPECT_EQ(nodes[1].gpu_count, 2);
  EXPECT_EQ(nodes[1].gpu_model, "P100");
  EXPECT_TRUE(nodes[1].labels.empty());
}

TEST(ReadNodesTest, AsManyGpusAsANodeMayHave) {
  ASSERT_OK_AND_ASSIGN(
      const std::vector<NodeSpec> nodes,
      Nodes(Openb(), "sn,cpu_milli,memory_mib,gpu,model\nn-0,1,1,33,T4\nn-1,1,1,64,T4\n"));
  EXPECT_EQ(nodes[0].gpu_count, 33);
  EXPECT_EQ(nodes[1].gpu_count, kMaxDevicesPerNode);
}

TEST(ReadNodesTest, PodSlots) {
  absl::StatusOr<std::vector<NodeSpec>> nodes =
      Nodes(Openb(), "sn,cpu_milli,memory_mib,gpu,model,pods\nn-0,1,1,0,junk,250\n");
  ASSERT_TRUE(nodes.ok()) << nodes.status();
  EXPECT_EQ((*nodes)[0].pods, 250);
  EXPECT_EQ((*nodes)[0].gpu_model, "");
  nodes = Nodes(Mapping("name: n\nnodes:\n  name: {column: n}\n  cpu: {column: c, unit: cores}\n"),
                "n,c\nx,1\n");
  ASSERT_TRUE(nodes.ok()) << nodes.status();
  EXPECT_EQ((*nodes)[0].pods, 110);
}

TEST(ReadNodesTest, ExplainsBadNodes) {
  const auto error = [](absl::string_view rows) {
    return std::string(Nodes(Openb(), absl::StrCat("sn,cpu_milli,memory_mib,gpu,model\n", rows))
                           .status()
                           .message());
  };
  for (const auto& [input, expected] : TestRows<2>("ExplainsBadNodes")) {
    EXPECT_EQ(error(input), expected) << input;
  }
  EXPECT_EQ(Nodes(Openb(), "sn,cpu_milli,gpu,model\n").status().message(),
            "n.csv:1:1: memory_mib: found the columns 'sn,cpu_milli,gpu,model', expected one of "
            "this name");
}

TEST(ReadNodesTest, FiltersAreForPodsWhereThereArePods) {
  const std::string nodes_yaml =
      "nodes:\n  name: {column: n}\n  cpu: {column: c, unit: cores}\n"
      "filters:\n  - {column: c, at_least: 2}\n";
  absl::StatusOr<std::vector<NodeSpec>> nodes =
      Nodes(Mapping(absl::StrCat("name: x\n", nodes_yaml)), "n,c\na,1\nb,2\n");
  ASSERT_TRUE(nodes.ok()) << nodes.status();
  EXPECT_EQ(nodes->size(), 1u);
  nodes =
      Nodes(Mapping(absl::StrCat("name: x\npods:\n  cpu: {column: c, unit: cores}\n", nodes_yaml)),
            "n,c\na,1\nb,2\n");
  ASSERT_TRUE(nodes.ok()) << nodes.status();
  EXPECT_EQ(nodes->size(), 2u);
}

// The figures of the public lists, when they are at hand: <DRASIM_SHARED>/traces/openb.
TEST(OpenbFilesTest, TheListsHaveTheirKnownTotals) {
  DRASIM_NEEDS_SHARED_DATA("traces/MANIFEST.csv");
  const std::string shared = SharedFolder();
  const std::string folder = absl::StrCat(shared, "/traces/openb/openb_");
  absl::StatusOr<std::unique_ptr<ByteSource>> bytes =
      OpenByteSource(absl::StrCat(folder, "node_list_gpu_node.csv"));
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  ASSERT_OK_AND_ASSIGN(std::vector<NodeSpec> nodes, ReadNodes(*std::move(bytes), Openb()));
  int64_t gpus = 0;
  int64_t cpu_milli = 0;
  GpuModelTable models;
  for (const NodeSpec& node : nodes) {
    gpus += node.gpu_count;
    cpu_milli += node.cpu_milli;
    ASSERT_TRUE(models.Intern(node.gpu_model).ok());
  }
  EXPECT_EQ(nodes.size(), 1213u);
  EXPECT_EQ(gpus, 6212);
  EXPECT_EQ(cpu_milli, 107018000);

  struct Known {
    const char* list;
    int64_t pods;
    int64_t gpu_milli;  // requested
    bool sorted;
  };
  constexpr Known kKnown[] = {{"default", 8152, 6086800, true},
                              {"cpu250", 9420, 6086800, false},
                              {"gpushare40", 8152, 5641250, false},
                              {"gpuspec33", 8152, 6086800, true},
                              {"multigpu50", 9061, 11358800, true}};
  for (const Known& known : kKnown) {
    for (const ArrivalOrder order : {ArrivalOrder::kSort, ArrivalOrder::kRequire}) {
      ShapeTable shapes(&models);
      bytes = OpenByteSource(absl::StrCat(folder, "pod_list_", known.list, ".csv.gz"));
      ASSERT_TRUE(bytes.ok()) << bytes.status();
      TableSourceOptions options;
      options.order = order;
      ASSERT_OK_AND_ASSIGN(std::unique_ptr<TableSource> source,
                           TableSource::Open(*std::move(bytes), Openb(), &shapes, options));
      int64_t gpu_milli = 0;
      JobArrival pod;
      absl::StatusOr<bool> got = source->Next(&pod);
      for (; got.ok() && *got; got = source->Next(&pod)) {
        gpu_milli += shapes.row(pod.shape).request.total_gpu_milli();
      }
      EXPECT_EQ(got.ok(), known.sorted || order == ArrivalOrder::kSort) << known.list;
      if (!got.ok()) continue;
      EXPECT_EQ(source->delivered(), known.pods) << known.list;
      EXPECT_EQ(gpu_milli, known.gpu_milli) << known.list;
      EXPECT_TRUE(source->warnings().empty()) << known.list;
      EXPECT_TRUE(shapes.unknown_models().empty()) << known.list;
    }
  }
}

}  // namespace table_source_test
}  // namespace drasim
