#include "traces/csv_writer.h"

#include <zlib.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

namespace drasim {
namespace csv_writer_test {

constexpr int64_t kMib = int64_t{1} << 20;
constexpr absl::string_view kHeader =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
    "deletion_time,scheduled_time\n";

bool Exists(const std::string& path) { return std::ifstream(path).is_open(); }

std::string RawBytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.is_open()) << path;
  return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

std::string Unpacked(const std::string& path) {
  std::string text;
  const gzFile file = gzopen(path.c_str(), "rb");
  EXPECT_NE(file, nullptr) << path;
  if (file == nullptr) return text;
  std::array<char, 4096> buffer{};
  for (;;) {
    const int n = gzread(file, buffer.data(), static_cast<unsigned>(buffer.size()));
    if (n <= 0) break;
    text.append(buffer.data(), static_cast<size_t>(n));
  }
  EXPECT_EQ(gzclose(file), Z_OK);
  return text;
}

class CsvWriterTest : public ::testing::Test {
 protected:
  CsvWriterTest() : shapes_(&models_) {
    // Tests may run side by side: a folder entry of their own for each.
    path_ = absl::StrCat(::testing::TempDir(), "/csv_writer_",
                         ::testing::UnitTest::GetInstance()->current_test_info()->name(), ".csv");
    Remove(path_);
  }
  ~CsvWriterTest() override { Remove(path_); }

  static void Remove(const std::string& path) {
    std::remove(path.c_str());
    std::remove(absl::StrCat(path, ".part").c_str());
  }

  JobArrival Pod(absl::string_view name, const PodShape& shape) {
    JobArrival pod;
    pod.name = std::string(name);
    pod.shape = shapes_.Intern(shape);
    return pod;
  }

  static PodShape Shape(int64_t memory_bytes) {
    PodShape shape;
    shape.request.cpu_milli = 1500;
    shape.request.memory_bytes = memory_bytes;
    shape.request.gpu_count = 1;
    shape.request.gpu_milli = 250;
    return shape;
  }

  std::unique_ptr<PodCsvWriter> Open(const std::string& path) {
    absl::StatusOr<std::unique_ptr<PodCsvWriter>> writer = PodCsvWriter::Open(path, &shapes_);
    EXPECT_TRUE(writer.ok()) << writer.status();
    return writer.ok() ? *std::move(writer) : nullptr;
  }

  // The data lines of a file with these pods.
  std::string Written(const std::vector<JobArrival>& pods) {
    const std::unique_ptr<PodCsvWriter> writer = Open(path_);
    if (writer == nullptr) return "";
    for (const JobArrival& pod : pods) {
      const absl::Status status = writer->Write(pod);
      EXPECT_TRUE(status.ok()) << status;
    }
    const absl::Status status = writer->Close();
    EXPECT_TRUE(status.ok()) << status;
    const std::string text = RawBytes(path_);
    EXPECT_EQ(text.substr(0, kHeader.size()), std::string(kHeader));
    return text.substr(kHeader.size());
  }

  GpuModelTable models_;
  ShapeTable shapes_;
  std::string path_;
};

TEST(SecondsTextTest, ExactDecimals) {
  EXPECT_EQ(SecondsText(0), "0");
  EXPECT_EQ(SecondsText(1), "0.000000001");
  EXPECT_EQ(SecondsText(250'000'000), "0.25");
  EXPECT_EQ(SecondsText(90'000'000'000), "90");
  EXPECT_EQ(SecondsText(100'000'000'010), "100.00000001");
  EXPECT_EQ(SecondsText(-3'500'000'000), "-3.5");
  EXPECT_EQ(SecondsText(std::numeric_limits<int64_t>::max()), "9223372036.854775807");
  EXPECT_EQ(SecondsText(std::numeric_limits<int64_t>::min()), "-9223372036.854775808");
}

TEST_F(CsvWriterTest, PodsWithOpenbColumns) {
  PodShape shared = Shape(4096 * kMib);
  shared.request.gpu_spec = "V100M16|V100M32";
  PodShape cpu_only;
  cpu_only.request.cpu_milli = 4000;
  cpu_only.request.memory_bytes = 1536 * 1024;
  JobArrival timed = Pod("a", shared);
  timed.priority = 2;
  timed.time = SimTime(12'500'000'000);
  timed.has_run_time = true;
  timed.run_time = SimDuration(600'000'000'001);
  JobArrival endless = Pod("b", cpu_only);
  endless.time = SimTime(13'000'000'000);
  EXPECT_EQ(Written({timed, endless}),
            "a,1500,4096,1,250,V100M16|V100M32,LS,Succeeded,12.5,612.500000001,12.5\n"
            "b,4000,1.5,0,0,,BE,Pending,13,,\n");
}

TEST_F(CsvWriterTest, PrioritiesAsServiceClasses) {
  std::vector<JobArrival> pods;
  for (const int32_t priority : {3, 2, 1, 0, 4, -1000, 2000000000}) {
    pods.push_back(Pod("p", Shape(0)));
    pods.back().priority = priority;
  }
  std::string expected;
  for (const char* qos : {"Guaranteed", "LS", "Burstable", "BE", "4", "-1000", "2000000000"}) {
    absl::StrAppend(&expected, "p,1500,0,1,250,,", qos, ",Pending,0,,\n");
  }
  EXPECT_EQ(Written(pods), expected);
}

TEST_F(CsvWriterTest, MemoryIsExactToTheByte) {
  EXPECT_EQ(
      Written({Pod("a", Shape(1)), Pod("b", Shape(kMib - 1)), Pod("c", Shape(3 * kMib + 4096))}),
      "a,1500,0.00000095367431640625,1,250,,BE,Pending,0,,\n"
      "b,1500,0.99999904632568359375,1,250,,BE,Pending,0,,\n"
      "c,1500,3.00390625,1,250,,BE,Pending,0,,\n");
}

TEST_F(CsvWriterTest, FieldsAreQuotedWhenTheyMustBe) {
  PodShape shape = Shape(0);
  shape.request.gpu_spec = "A|\"B\"";
  EXPECT_EQ(Written({Pod("x,y", shape), Pod("two\nlines", Shape(0)), Pod("a b", Shape(0))}),
            "\"x,y\",1500,0,1,250,\"A|\"\"B\"\"\",BE,Pending,0,,\n"
            "\"two\nlines\",1500,0,1,250,,BE,Pending,0,,\n"
            "a b,1500,0,1,250,,BE,Pending,0,,\n");
}

TEST_F(CsvWriterTest, RefusesWhatTheColumnsCannotSayAndGoesOn) {
  const std::unique_ptr<PodCsvWriter> writer = Open(path_);
  ASSERT_NE(writer, nullptr);
  PodShape selective = Shape(0);
  selective.constraints.node_selector.emplace_back("zone", "z1");
  PodShape tolerant = Shape(0);
  tolerant.constraints.tolerations.resize(1);
  PodShape affine = Shape(0);
  affine.constraints.node_terms.resize(1);
  PodShape gated = Shape(0);
  gated.constraints.gates = {"wait"};
  PodShape ported = Shape(0);
  ported.constraints.host_ports.resize(1);
  PodShape spread = Shape(0);
  spread.topology.spread.resize(1);
  PodShape social = Shape(0);
  social.topology.preferred_anti_affinity.resize(1);
  PodShape storing = Shape(0);
  storing.volumes.volumes.resize(1);
  PodShape labelled = Shape(0);
  labelled.identity.labels = {{"app", "a"}};
  JobArrival early = Pod("p", Shape(0));
  early.time = SimTime(-1);
  JobArrival backwards = Pod("p", Shape(0));
  backwards.has_run_time = true;
  backwards.run_time = SimDuration(-1);
  JobArrival endless = Pod("p", Shape(0));
  endless.has_run_time = true;
  endless.time = SimTime(1);
  endless.run_time = SimDuration(std::numeric_limits<int64_t>::max());
  const std::vector<std::pair<JobArrival, std::string>> cases = {
      {Pod("", Shape(0)), "pod '' cannot be written with openb columns: it has no name"},
      {Pod("p", selective), "pod 'p' cannot be written with openb columns: it has a node selector"},
      {Pod("p", tolerant), "pod 'p' cannot be written with openb columns: it has tolerations"},
      {Pod("p", affine), "pod 'p' cannot be written with openb columns: it has node affinity"},
      {Pod("p", gated), "pod 'p' cannot be written with openb columns: it has scheduling gates"},
      {Pod("p", ported), "pod 'p' cannot be written with openb columns: it has host ports"},
      {Pod("p", spread),
       "pod 'p' cannot be written with openb columns: it has topology spread constraints"},
      {Pod("p", social), "pod 'p' cannot be written with openb columns: it has pod affinity"},
      {Pod("p", storing), "pod 'p' cannot be written with openb columns: it has volumes"},
      {Pod("p", labelled),
       "pod 'p' cannot be written with openb columns: it has labels, a namespace or a scheduler"},
      {early, "pod 'p' cannot be written with openb columns: its time of arrival is negative"},
      {backwards, "pod 'p' cannot be written with openb columns: its run time is negative"},
      {endless,
       "pod 'p' cannot be written with openb columns: its end is beyond 64 bits of nanoseconds"},
  };
  for (const auto& [pod, message] : cases) {
    EXPECT_EQ(writer->Write(pod), absl::InvalidArgumentError(message));
  }
  EXPECT_TRUE(writer->Write(Pod("good", Shape(0))).ok());
  EXPECT_TRUE(writer->Close().ok());
  EXPECT_EQ(RawBytes(path_), absl::StrCat(kHeader, "good,1500,0,1,250,,BE,Pending,0,,\n"));
}

TEST_F(CsvWriterTest, AppearsOnlyWhenComplete) {
  std::ofstream(path_) << "old";
  const std::string part = path_ + ".part";
  {
    const std::unique_ptr<PodCsvWriter> abandoned = Open(path_);
    ASSERT_NE(abandoned, nullptr);
    EXPECT_TRUE(abandoned->Write(Pod("a", Shape(0))).ok());
    EXPECT_TRUE(Exists(part));
  }
  EXPECT_FALSE(Exists(part));
  EXPECT_EQ(RawBytes(path_), "old");
  const std::unique_ptr<PodCsvWriter> writer = Open(path_);
  ASSERT_NE(writer, nullptr);
  EXPECT_TRUE(writer->Write(Pod("a", Shape(0))).ok());
  EXPECT_EQ(RawBytes(path_), "old");
  EXPECT_TRUE(writer->Close().ok());
  EXPECT_FALSE(Exists(part));
  EXPECT_EQ(RawBytes(path_), absl::StrCat(kHeader, "a,1500,0,1,250,,BE,Pending,0,,\n"));
}

TEST_F(CsvWriterTest, NoPodsMakeAHeader) { EXPECT_EQ(Written({}), ""); }

TEST_F(CsvWriterTest, CompressesByName) {
  const std::string path = path_ + ".gz";
  std::string expected(kHeader);
  std::string first_bytes;
  for (int round = 0; round < 2; ++round) {
    const std::unique_ptr<PodCsvWriter> writer = Open(path);
    ASSERT_NE(writer, nullptr);
    for (int i = 0; i < 20000; ++i) {
      ASSERT_TRUE(writer->Write(Pod(absl::StrCat("pod-", i), Shape(kMib))).ok());
      if (round == 0) {
        absl::StrAppend(&expected, "pod-", i, ",1500,1,1,250,,BE,Pending,0,,\n");
      }
    }
    ASSERT_TRUE(writer->Close().ok());
    const std::string bytes = RawBytes(path);
    EXPECT_EQ(bytes.substr(0, 2), "\x1f\x8b");
    EXPECT_LT(bytes.size(), expected.size() / 4);
    EXPECT_TRUE(Unpacked(path) == expected);
    if (round == 0) first_bytes = bytes;
    EXPECT_TRUE(bytes == first_bytes);
  }
  Remove(path);
}

TEST_F(CsvWriterTest, DashIsStandardOutput) {
  ::testing::internal::CaptureStdout();
  std::printf("before ");
  const std::unique_ptr<PodCsvWriter> writer = Open("-");
  absl::Status status = absl::InternalError("no writer");
  if (writer != nullptr) {
    status = writer->Write(Pod("a", Shape(0)));
    if (status.ok()) status = writer->Close();
  }
  const std::string output = ::testing::internal::GetCapturedStdout();
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(output, absl::StrCat("before ", kHeader, "a,1500,0,1,250,,BE,Pending,0,,\n"));
}

TEST_F(CsvWriterTest, ErrorsNameThePath) {
  const std::string path = absl::StrCat(path_, ".no-such-folder/pods.csv");
  const absl::Status status = PodCsvWriter::Open(path, &shapes_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_NE(status.message().find(absl::StrCat("cannot create ", path, ".part")),
            absl::string_view::npos)
      << status;
  EXPECT_EQ(PodCsvWriter::Open("", &shapes_).status(),
            absl::InvalidArgumentError("the path of the file to write is empty"));
}

TEST_F(CsvWriterTest, NodesWithOpenbColumns) {
  std::vector<NodeSpec> nodes(2);
  nodes[0].name = "node-0";
  nodes[0].cpu_milli = 96000;
  nodes[0].memory_bytes = 393216 * kMib;
  nodes[0].pods = 1001;
  nodes[0].gpu_count = 8;
  nodes[0].gpu_model = "G2";
  nodes[1].name = "node,1";
  nodes[1].cpu_milli = 500;
  nodes[1].memory_bytes = kMib / 4;
  nodes[1].pods = 1001;
  ASSERT_TRUE(WriteNodesCsv(path_, nodes).ok());
  EXPECT_EQ(RawBytes(path_),
            "sn,cpu_milli,memory_mib,gpu,model\n"
            "node-0,96000,393216,8,G2\n"
            "\"node,1\",500,0.25,0,\n");
  nodes[1].pods = 110;
  ASSERT_TRUE(WriteNodesCsv(path_, nodes).ok());
  EXPECT_EQ(RawBytes(path_),
            "sn,cpu_milli,memory_mib,gpu,model,pods\n"
            "node-0,96000,393216,8,G2,1001\n"
            "\"node,1\",500,0.25,0,,110\n");
  EXPECT_FALSE(Exists(path_ + ".part"));
}

TEST_F(CsvWriterTest, RefusesNodesThatTheColumnsCannotSay) {
  std::vector<NodeSpec> nodes(1);
  const auto expect_refused = [this, &nodes](absl::string_view why) {
    EXPECT_EQ(WriteNodesCsv(path_, nodes),
              absl::InvalidArgumentError(absl::StrCat(
                  "node '", nodes[0].name, "' cannot be written with openb columns: ", why)));
    EXPECT_FALSE(Exists(path_));
  };
  expect_refused("it has no name");
  nodes[0].name = "n";
  nodes[0].unschedulable = true;
  expect_refused("it is unschedulable");
  nodes[0].taints.resize(1);
  expect_refused("it has taints");
  nodes[0].labels.emplace_back("zone", "z1");
  expect_refused("it has labels");
}

}  // namespace csv_writer_test
}  // namespace drasim
