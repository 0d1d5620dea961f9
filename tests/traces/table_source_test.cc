#include "traces/table_source.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/event_source.h"
#include "model/pod_shape.h"
#include "model/state_io.h"
#include "model/time.h"
#include "tests/traces/gzip_text.h"
#include "traces/byte_source.h"
#include "traces/mapping.h"

namespace drasim {
namespace table_source_test {

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
  EXPECT_EQ(share.cpu_milli, 12000);
  EXPECT_EQ(share.memory_bytes, 16384 * kMib);
  EXPECT_EQ(share.gpu_count, 1);
  EXPECT_EQ(share.gpu_milli, 460);
  EXPECT_EQ(share.gpu_spec, "V100M16|T4");

  EXPECT_EQ(pods[1].name, "p-1");
  EXPECT_EQ(pods[1].priority, 0);
  EXPECT_FALSE(pods[1].has_run_time);
  EXPECT_EQ(pods[1].run_time, SimDuration());
  EXPECT_TRUE(pods[1].has_deletion);
  EXPECT_EQ(pods[1].deletion, SimTime(20'000'000'000));
  const PodShape& cpu_only = fixture.shapes().row(pods[1].shape);
  EXPECT_EQ(cpu_only.gpu_count, 0);
  EXPECT_EQ(cpu_only.gpu_milli, 0);

  EXPECT_EQ(pods[2].priority, 1);
  EXPECT_TRUE(pods[2].has_run_time);
  EXPECT_EQ(pods[2].run_time, SimDuration());
  EXPECT_EQ(fixture.shapes().row(pods[2].shape).total_gpu_milli(), 8000);
  EXPECT_EQ(fixture.shapes().row(pods[2].shape).gpu_spec, "");
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
  EXPECT_EQ(fixture.shapes().row(pods[0].shape).gpu_count, 2);
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
  EXPECT_EQ(fixture.shapes().row(pods[0].shape).gpu_milli, 1000);
  EXPECT_EQ(pods[1].shape, pods[0].shape);
  EXPECT_EQ(fixture.shapes().row(pods[2].shape).gpu_count, 0);
  EXPECT_EQ(fixture.shapes().row(pods[2].shape).gpu_milli, 0);
  EXPECT_EQ(fixture.shapes().row(pods[2].shape).gpu_spec, "");
  EXPECT_EQ(fixture.shapes().row(pods[3].shape).gpu_milli, 1);
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
    EXPECT_EQ(fixture.shapes().row(pods[i].shape).cpu_milli, static_cast<int64_t>(i % 3000));
  }
}

TEST(TableSourceTest, ExplainsBadNumbers) {
  EXPECT_EQ(ErrorOf("a,-1,1,0,0,,LS,,1,2,1\n"),
            "t.csv:2:3: cpu_milli: found '-1', expected a plain number of milli-CPU that is not "
            "negative");
  EXPECT_EQ(ErrorOf("a,1,12Gi,0,0,,LS,,1,2,1\n"),
            "t.csv:2:5: memory_mib: found '12Gi', expected a plain number of MiB; the mapping's "
            "unit quantity reads such amounts");
  EXPECT_EQ(ErrorOf("a,NaN,1,0,0,,LS,,1,2,1\n"),
            "t.csv:2:3: cpu_milli: found 'NaN', expected a plain number of milli-CPU");
  EXPECT_EQ(ErrorOf("a,,1,0,0,,LS,,1,2,1\n"),
            "t.csv:2:3: cpu_milli: found '', expected a plain number of milli-CPU");
  EXPECT_EQ(ErrorOf("a,1,8796093022208,0,0,,LS,,1,2,1\n"),
            "t.csv:2:5: memory_mib: found '8796093022208', expected at most 8796093022207 MiB");
  EXPECT_EQ(ErrorOf("a,1,1,1.5,0,,LS,,1,2,1\n"),
            "t.csv:2:7: num_gpu: found '1.5', expected a whole number");
  EXPECT_EQ(ErrorOf("a,1,1,2147483648,0,,LS,,1,2,1\n"),
            "t.csv:2:7: num_gpu: found '2147483648', expected at most 2147483647");
  EXPECT_EQ(ErrorOf("a,1,1,-1,0,,LS,,1,2,1\n"),
            "t.csv:2:7: num_gpu: found '-1', expected a whole number that is not negative");
  EXPECT_EQ(ErrorOf("a,1,1,1,,,LS,,1,2,1\n"),
            "t.csv:2:9: gpu_milli: found '', expected a plain number of milli of a GPU");
  EXPECT_EQ(ErrorOf("a,1,1,1,-5,,LS,,1,2,1\n"),
            "t.csv:2:9: gpu_milli: found '-5', expected a plain number of milli of a GPU that is "
            "not negative");
  EXPECT_EQ(ErrorOf("a,1,1,0,0,,Best,,1,2,1\n"),
            "t.csv:2:12: qos: found 'Best', expected a whole number or one of 'BE', 'Burstable', "
            "'Guaranteed', 'LS'");
  EXPECT_EQ(ErrorOf("a,1,1,0,0,,3000000000,,1,2,1\n"),
            "t.csv:2:12: qos: found '3000000000', expected at most 2147483647");
  EXPECT_EQ(ErrorOf("a,1,1,0,0,,-3000000000,,1,2,1\n"),
            "t.csv:2:12: qos: found '-3000000000', expected at least -2147483648");
  EXPECT_EQ(ErrorOf("a,1,1,0,0,,LS,,9223372037,2,1\n"),
            "t.csv:2:16: creation_time: found '9223372037', expected at most 9223372036 s");
}

TEST(TableSourceTest, ExplainsBadRows) {
  EXPECT_EQ(ErrorOf(",1,1,0,0,,LS,,1,2,1\n"),
            "t.csv:2:1: name: found '', expected a text that is not empty");
  EXPECT_EQ(ErrorOf("a,1,1,0,0,,LS,,1,2,1\nb,1,1,0,0,,LS,,1,2,1\na,1,1,0,0,,LS,,1,2,1\n"),
            "t.csv:4:1: name: found 'a', expected a name that no earlier row has");
  EXPECT_EQ(ErrorOf("a,1,1\n"), "t.csv:2:6: row: found 3 fields, expected 11");
  EXPECT_EQ(ErrorOf("a,1,1,0,0,,LS,,1,2,1,x,y\n"), "t.csv:2:22: row: found 13 fields, expected 11");
  EXPECT_EQ(ErrorOf("a,1,1,0,0,,LS,,1,4,5\n"),
            "t.csv:2:18: deletion_time: found '4', expected a time not before scheduled_time");
  EXPECT_EQ(ErrorOf("a,1,1,0,0,,LS,,7,8,8\n\nb,1,1,0,0,,LS,,6,8,8\n"),
            "t.csv:4:16: creation_time: found '6', expected a time not before that of line 2");
  EXPECT_EQ(ErrorOf("a,1,1,0,0,,\"LS\"x,,7,8,8\n"),
            "t.csv:2:16: row: found 'x' after a closing quote, expected a separator or the end of "
            "the row");
  EXPECT_EQ(ErrorOf("a,1,1,0,0,,\"LS,,7,8,8\n"),
            "t.csv:2:12: row: found an opening quote, expected a closing one before the end of the "
            "input");
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
  EXPECT_EQ(error("name,cpu_milli,num_gpu,gpu_milli\n"),
            "t.csv:1:1: memory_mib: found the columns 'name,cpu_milli,num_gpu,gpu_milli', expected "
            "one of this name");
  EXPECT_EQ(error("name,cpu_milli,memory_mib,num_gpu,gpu_milli,cpu_milli\n"),
            "t.csv:1:45: cpu_milli: found a second column of this name, expected one");
  EXPECT_EQ(error("\n\n"), "t.csv:1:1: row: found the end of the input, expected a header line");
  EXPECT_EQ(error("\"name\"x,cpu_milli\n"),
            "t.csv:1:7: row: found 'x' after a closing quote, expected a separator or the end of "
            "the row");
  EXPECT_EQ(error("name , cpu_milli,memory_mib,num_gpu,gpu_milli\n"), "");
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
  Fixture fixture(Openb(),
                  absl::StrCat(kHeader,
                               "a,1,1,0,0,,LS,,1,2,1\n"
                               "b,x,1,0,0,,LS,,1,2,1\n"
                               "b,1,1,0,0,,LS,,2,3,2\n"
                               "b,1,1,0,0,,LS,,2,3,2\n"
                               "c,1,1\n"
                               "d,1,1,0,0,,LS,,1,2,1\n"
                               "e,1,1Gi,0,0,,LS,,2,2,1\n"
                               "f,\"1\"1,1,0,0,,LS,,2,2,1\n"
                               "g,1,1,0,0,,LS,,2,2,1\n"),
                  options);
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

Outcome Read(absl::string_view text, const TableSourceOptions& options,
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
  const Outcome expected = Read(plain, {}, {});
  EXPECT_EQ(expected.pods.size(), 3u);
  const std::string crlf =
      absl::StrCat("\xEF\xBB\xBF", absl::StrReplaceAll(plain, {{"\n", "\r\n"}}));
  EXPECT_TRUE(Read(crlf, {}, {}) == expected);
  EXPECT_TRUE(Read(GzipText(plain), {}, {}) == expected);
  EXPECT_TRUE(Read(GzipText(crlf), {}, {}) == expected);
  EXPECT_TRUE(Read(plain.substr(0, plain.size() - 1), {}, {}) == expected);
}

TEST(TableSourceTest, EverySeamGivesTheSamePods) {
  const std::string text =
      absl::StrCat("\xEF\xBB\xBF", kHeader, "\"p,\"\"0\"\"\",1.5,1,2,0,T4,LS,,1,,\r\nbad,\n",
                   kThreePods, "\"x\"y\n\np-3,1,1,1,70,\"G2|P100\",,,9,10,9");
  TableSourceOptions options;
  options.lenient = true;
  const Outcome expected = Read(text, options, {});
  ASSERT_EQ(expected.pods.size(), 5u);
  EXPECT_EQ(expected.pods[0].name, "p,\"0\"");
  EXPECT_EQ(expected.pods[4].name, "p-3");
  EXPECT_EQ(expected.skipped.size(), 2u);
  EXPECT_EQ(expected.warnings.size(), 1u);
  for (size_t seam = 1; seam <= text.size(); ++seam) {
    ByteSourceOptions chunks;
    chunks.first_chunk_bytes = seam;
    EXPECT_TRUE(Read(text, options, chunks) == expected) << seam;
    chunks.chunk_bytes = seam;
    EXPECT_TRUE(Read(text, options, chunks) == expected) << seam;
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
  const proto::TableMapping mapping = Mapping(R"(name: units
separator: ";"
pods:
  cpu: {column: cores, unit: cores}
  memory: {column: gib, unit: GiB, default: "0.5", missing: ["-", "na"]}
  gpu_count: {column: gpus, optional: true}
  gpu_model: {column: type, optional: true, values: {V100-32: V100M32}}
  gpu_model_separator: "/"
  arrival: {column: t, unit: ms}
  run_time: {column: run, unit: h, optional: true}
)");
  Fixture fixture(mapping,
                  "cores;gib;gpus;type;t;run\n0.0001;120.0;3;T4/G2;0.000001;0.5\n"
                  "2e0;na;1;V100-32;1.5;\n1;;;T4;2;1e-12\n");
  const std::vector<JobArrival> pods = fixture.All();
  ASSERT_TRUE(fixture.status().ok()) << fixture.status();
  ASSERT_EQ(pods.size(), 3u);
  EXPECT_EQ(pods[0].name, "units-2");
  EXPECT_EQ(pods[2].name, "units-4");
  const PodShape& first = fixture.shapes().row(pods[0].shape);
  EXPECT_EQ(first.cpu_milli, 1);
  EXPECT_EQ(first.memory_bytes, 120 * 1024 * kMib);
  EXPECT_EQ(first.gpu_count, 3);
  EXPECT_EQ(first.gpu_milli, 1000);
  EXPECT_EQ(first.gpu_spec, "T4|G2");
  EXPECT_EQ(pods[0].time, SimTime(1));
  EXPECT_EQ(pods[0].run_time, SimDuration::Seconds(1800));
  const PodShape& second = fixture.shapes().row(pods[1].shape);
  EXPECT_EQ(second.cpu_milli, 2000);
  EXPECT_EQ(second.memory_bytes, 512 * kMib);
  EXPECT_EQ(second.gpu_spec, "V100M32");
  EXPECT_EQ(pods[1].time, SimTime(1'500'000));
  EXPECT_FALSE(pods[1].has_run_time);
  EXPECT_EQ(fixture.shapes().row(pods[2].shape).gpu_count, 0);
  EXPECT_EQ(pods[2].run_time, SimDuration(4));
}

// The Standard Workload Format's columns, as a mapping file may describe them.
TEST(TableSourceTest, BlankSeparatedTablesWithoutAHeaderAndFilters) {
  const proto::TableMapping mapping = Mapping(R"(name: swf
separator: " "
comment: ";"
no_header: true
columns: [job, submit, wait, run, procs, status]
pods:
  name: {column: job}
  cpu: {column: procs, unit: cores}
  arrival: {column: submit, unit: s}
  run_time: {column: run, unit: s, optional: true, missing: ["-1"]}
filters:
  - {column: procs, at_least: 1, at_most: 64}
  - {column: status, not_equals: ["5"]}
  - {column: wait, equals: ["-1", "0"]}
)");
  Fixture fixture(mapping,
                  "; Version: 2\n  1  10 -1   7 16 1\n 2 11 0 -1 64 0\n 3 12 0 5 65 1\n"
                  " 4 12 0 5 -1 1\n 5 12 0 5 1 5\n 6 12 9 5 1 1\n 1 12 0 junk 0 1\n");
  const std::vector<JobArrival> pods = fixture.All();
  ASSERT_TRUE(fixture.status().ok()) << fixture.status();
  ASSERT_EQ(pods.size(), 2u);
  EXPECT_EQ(pods[0].name, "1");
  EXPECT_EQ(pods[0].time, SimTime(10'000'000'000));
  EXPECT_EQ(pods[0].run_time, SimDuration::Seconds(7));
  EXPECT_EQ(fixture.shapes().row(pods[0].shape).cpu_milli, 16000);
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

}  // namespace table_source_test
}  // namespace drasim
