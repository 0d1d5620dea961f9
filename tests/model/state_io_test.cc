#include "model/state_io.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/gpu_model_table.h"
#include "model/pod_shape.h"
#include "model/random.h"
#include "model/shape_table.h"

namespace drasim {
namespace state_io_test {

constexpr uint64_t kMaxU64 = std::numeric_limits<uint64_t>::max();
constexpr int64_t kMaxI64 = std::numeric_limits<int64_t>::max();
constexpr int64_t kMinI64 = std::numeric_limits<int64_t>::min();

std::string Bytes(const std::vector<int>& values) {
  std::string bytes;
  for (const int value : values) bytes.push_back(static_cast<char>(value));
  return bytes;
}

std::string Message(const StateReader& reader) { return std::string(reader.status().message()); }

// One of everything.
std::string Sample() {
  StateWriter out;
  out.Section("sample");
  out.U64(300);
  out.I64(-300);
  out.Bool(true);
  out.F64(-0.1);
  out.Str(absl::string_view("a\0b", 3));
  out.Ints(std::vector<int32_t>{5, -6, 700000});
  out.Section("end");
  return out.Release();
}

struct SampleValues {
  uint64_t u64 = 0;
  int64_t i64 = 0;
  bool flag = false;
  double f64 = 0;
  std::string text;
  std::vector<int32_t> ints;
};

SampleValues ReadSample(StateReader& in) {
  SampleValues values;
  in.Section("sample");
  values.u64 = in.U64();
  values.i64 = in.I64();
  values.flag = in.Bool();
  values.f64 = in.F64();
  values.text = in.Str();
  in.Ints(&values.ints);
  in.Section("end");
  return values;
}

TEST(StateIoTest, SampleRoundTrips) {
  const std::string bytes = Sample();
  StateReader in(bytes);
  const SampleValues values = ReadSample(in);
  EXPECT_TRUE(in.status().ok()) << in.status();
  EXPECT_TRUE(in.AtEnd());
  EXPECT_EQ(values.u64, 300U);
  EXPECT_EQ(values.i64, -300);
  EXPECT_TRUE(values.flag);
  EXPECT_EQ(values.f64, -0.1);
  EXPECT_EQ(values.text, std::string("a\0b", 3));
  EXPECT_EQ(values.ints, (std::vector<int32_t>{5, -6, 700000}));
}

TEST(StateIoTest, EveryTruncationIsAnError) {
  const std::string bytes = Sample();
  for (size_t length = 0; length < bytes.size(); ++length) {
    const std::string cut = bytes.substr(0, length);
    StateReader in(cut);
    ReadSample(in);
    EXPECT_EQ(in.status().code(), absl::StatusCode::kDataLoss) << length;
  }
}

// The format is that of the header comment, byte for byte.
TEST(StateIoTest, TheBytesArePinned) {
  StateWriter out;
  out.U64(0);
  out.U64(127);
  out.U64(128);
  out.U64(300);
  out.I64(0);
  out.I64(-1);
  out.I64(1);
  out.I64(-64);
  out.I64(64);
  out.Bool(false);
  out.Bool(true);
  EXPECT_EQ(out.bytes(), Bytes({0, 127, 0x80, 1, 0xac, 2, 0, 1, 2, 127, 0x80, 1, 0, 1}));

  StateWriter text;
  text.Str("ab");
  text.Section("s");
  text.F64(1.0);
  text.Ints(std::vector<int64_t>{-1, 2});
  EXPECT_EQ(text.bytes(), Bytes({2, 'a', 'b', 1, 's', 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 2, 1, 4}));
}

TEST(StateIoTest, ExtremeIntegersRoundTrip) {
  const std::vector<uint64_t> unsigned_values = {0,     1,     127,         128,
                                                 16383, 16384, kMaxU64 - 1, kMaxU64};
  const std::vector<int64_t> signed_values = {0, 1, -1, 63, 64, -64, -65, kMaxI64, kMinI64};
  StateWriter out;
  for (const uint64_t value : unsigned_values) out.U64(value);
  for (const int64_t value : signed_values) out.I64(value);
  StateReader in(out.bytes());
  for (const uint64_t value : unsigned_values) EXPECT_EQ(in.U64(), value);
  for (const int64_t value : signed_values) EXPECT_EQ(in.I64(), value);
  EXPECT_TRUE(in.AtEnd());
  EXPECT_TRUE(in.status().ok());

  StateWriter largest;
  largest.U64(kMaxU64);
  EXPECT_EQ(largest.bytes().size(), 10U);
}

TEST(StateIoTest, DoublesKeepEveryBit) {
  const std::vector<double> values = {0.0,
                                      -0.0,
                                      1.0 / 3,
                                      std::numeric_limits<double>::denorm_min(),
                                      std::numeric_limits<double>::max(),
                                      std::numeric_limits<double>::infinity(),
                                      std::numeric_limits<double>::quiet_NaN()};
  StateWriter out;
  for (const double value : values) out.F64(value);
  EXPECT_EQ(out.bytes().size(), 8 * values.size());
  StateReader in(out.bytes());
  for (const double value : values) {
    EXPECT_EQ(std::bit_cast<uint64_t>(in.F64()), std::bit_cast<uint64_t>(value));
  }
  EXPECT_TRUE(in.AtEnd());
}

// One value of a random kind, as three draws decide it.
struct RandomValue {
  explicit RandomValue(Random& random) : kind(random.Below(4)) {
    const uint64_t raw = random.U64();
    value = raw >> random.Below(64);
  }
  std::string text() const { return std::string(value % 50, static_cast<char>(value % 256)); }
  uint64_t kind;
  uint64_t value = 0;
};

void Write(const RandomValue& v, StateWriter& out) {
  if (v.kind == 0) {
    out.U64(v.value);
  } else if (v.kind == 1) {
    out.I64(static_cast<int64_t>(v.value));
  } else if (v.kind == 2) {
    out.F64(std::bit_cast<double>(v.value));
  } else {
    out.Str(v.text());
  }
}

void ExpectNext(const RandomValue& v, StateReader& in) {
  if (v.kind == 0) {
    EXPECT_EQ(in.U64(), v.value);
  } else if (v.kind == 1) {
    EXPECT_EQ(in.I64(), static_cast<int64_t>(v.value));
  } else if (v.kind == 2) {
    EXPECT_EQ(std::bit_cast<uint64_t>(in.F64()), v.value);
  } else {
    EXPECT_EQ(in.Str(), v.text());
  }
}

TEST(StateIoTest, RandomSequencesRoundTrip) {
  Random random(1, "state_io_test");
  for (int round = 0; round < 300; ++round) {
    std::vector<RandomValue> values;
    for (int i = 0; i < 40; ++i) values.push_back(RandomValue(random));
    StateWriter out;
    for (const RandomValue& v : values) Write(v, out);
    StateReader in(out.bytes());
    for (const RandomValue& v : values) ExpectNext(v, in);
    ASSERT_TRUE(in.AtEnd());
    ASSERT_TRUE(in.status().ok());
  }
}

TEST(StateIoTest, ReleaseHandsTheBytesOver) {
  StateWriter out;
  out.U64(7);
  EXPECT_EQ(out.Release(), Bytes({7}));
}

TEST(StateReaderTest, ErrorsSayWhereAndWhat) {
  const std::string cut_number = Bytes({5, 0x80});
  StateReader number(cut_number);
  EXPECT_EQ(number.U64(), 5U);
  EXPECT_EQ(number.U64(), 0U);
  EXPECT_EQ(Message(number), "checkpoint byte 2: the data ends inside a number");

  const std::string cut_double = Bytes({1, 2, 3, 4, 5, 6, 7});
  StateReader f64(cut_double);
  EXPECT_EQ(f64.F64(), 0.0);
  EXPECT_EQ(Message(f64), "checkpoint byte 0: the data ends inside a double");

  const std::string cut_text = Bytes({3, 'a', 'b'});
  StateReader text(cut_text);
  EXPECT_EQ(text.Str(), "");
  EXPECT_EQ(Message(text), "checkpoint byte 1: a count of 3 is more than the bytes that are left");

  const std::string endless(11, static_cast<char>(0x80));
  StateReader long_number(endless);
  EXPECT_EQ(long_number.U64(), 0U);
  EXPECT_EQ(Message(long_number), "checkpoint byte 10: a number is longer than 64 bits");

  StateWriter out;
  out.Section("pods");
  StateReader section(out.bytes());
  section.Section("nodes");
  EXPECT_EQ(Message(section), "checkpoint byte 5: expected section 'nodes', found 'pods'");
}

// A container must never be sized by a damaged count.
TEST(StateReaderTest, AbsurdCountsAreRefused) {
  for (const uint64_t count : {uint64_t{3}, uint64_t{1} << 31, uint64_t{1} << 40, kMaxU64}) {
    StateWriter out;
    out.U64(count);
    out.U64(1);
    out.U64(2);
    StateReader counted(out.bytes());
    EXPECT_EQ(counted.Count(), 0U);
    EXPECT_EQ(counted.status().code(), absl::StatusCode::kDataLoss);
    StateReader text(out.bytes());
    EXPECT_EQ(text.Str(), "");
    EXPECT_EQ(text.status().code(), absl::StatusCode::kDataLoss);
    StateReader list(out.bytes());
    std::vector<int64_t> ints = {9};
    list.Ints(&ints);
    EXPECT_TRUE(ints.empty());
    EXPECT_EQ(list.status().code(), absl::StatusCode::kDataLoss);
  }
  const std::string exact = Bytes({2, 1, 2});
  StateReader in(exact);
  EXPECT_EQ(in.Count(), 2U);
  EXPECT_TRUE(in.status().ok());
}

TEST(StateReaderTest, TheFirstErrorSticksAndLaterReadsGiveZeros) {
  const std::string bytes = Bytes({1, 'x', 9, 9, 9, 9, 9, 9, 9, 9, 9, 9});
  StateReader in(bytes);
  in.Section("y");
  const std::string first = Message(in);
  EXPECT_EQ(first, "checkpoint byte 2: expected section 'y', found 'x'");
  EXPECT_EQ(in.U64(), 0U);
  EXPECT_EQ(in.I64(), 0);
  EXPECT_FALSE(in.Bool());
  EXPECT_EQ(in.F64(), 0.0);
  EXPECT_EQ(in.Str(), "");
  EXPECT_EQ(in.Count(), 0U);
  std::vector<int32_t> ints = {1, 2};
  in.Ints(&ints);
  EXPECT_TRUE(ints.empty());
  in.Section("z");
  in.Fail("something else");
  EXPECT_EQ(Message(in), first);
}

TEST(StateReaderTest, FailGivesTheReadersOwnReason) {
  const std::string bytes = Bytes({1, 2});
  StateReader in(bytes);
  EXPECT_EQ(in.U64(), 1U);
  in.Fail("the number must be even");
  EXPECT_EQ(in.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Message(in), "checkpoint byte 1: the number must be even");
  EXPECT_EQ(in.U64(), 0U);
}

TEST(StateReaderTest, RandomBytesNeverCrash) {
  Random random(2, "state_io_test");
  for (int round = 0; round < 5000; ++round) {
    std::string bytes = Sample();
    for (uint64_t i = random.Below(4); i-- > 0;) {
      const auto at = static_cast<size_t>(random.Below(bytes.size()));
      bytes[at] = static_cast<char>(random.Below(256));
    }
    StateReader in(bytes);
    const SampleValues values = ReadSample(in);
    ASSERT_LE(values.text.size(), bytes.size());
    ASSERT_LE(values.ints.size(), bytes.size());
  }
}

// ---- The archive of a cluster, field by field (cluster_state.h) ----

// One pod as a checkpoint has it.
struct SavedPod {
  uint64_t shape;
  uint64_t phase;
  uint64_t node;  // 0: none, else 1 + the row
  uint64_t devices;
};

// Loads pods into a cluster of one node with 1000 milli CPU and one GPU. Shape 0 asks for 600 milli
// of both.
absl::Status LoadPods(uint64_t nodes, const std::vector<SavedPod>& pods) {
  GpuModelTable models;
  ShapeTable shapes(&models);
  ClusterState cluster(&models, &shapes);
  NodeSpec node;
  node.name = "n";
  node.cpu_milli = 1000;
  node.gpu_count = 1;
  node.gpu_model = "T4";
  EXPECT_TRUE(cluster.AddNode(node).ok());
  PodShape shape;
  shape.request.cpu_milli = 600;
  shape.request.gpu_count = 1;
  shape.request.gpu_milli = 600;
  shapes.Intern(shape);
  StateWriter out;
  out.Section("cluster");
  out.U64(nodes);
  out.Bool(true);  // schedulable
  out.Bool(true);  // available
  out.U64(pods.size());
  for (const SavedPod& pod : pods) {
    out.Str("p");
    out.U64(pod.shape);
    out.U64(pod.phase);
    out.U64(pod.node);
    out.U64(pod.devices);
    out.I64(5);
    out.I64(-6);
    out.U64(0);  // no parts of devices
  }
  // The version of the nodes and how many there were; then the pods on it, in order.
  out.U64(7);
  out.U64(9);
  for (size_t i = 0; i < pods.size(); ++i) {
    if (pods[i].node == 1) out.U64(i);
  }
  out.Bool(false);  // no claim holds devices
  StateReader in(out.bytes());
  const absl::Status status = cluster.Load(in);
  StateWriter again;
  cluster.Save(again);
  EXPECT_TRUE(!status.ok() || again.bytes() == out.bytes()) << "the format is pinned";
  return status;
}

std::string LoadError(uint64_t nodes, const std::vector<SavedPod>& pods) {
  return std::string(LoadPods(nodes, pods).message());
}

TEST(ClusterArchiveTest, TheFieldsArePinned) {
  EXPECT_TRUE(LoadPods(1, {}).ok());
  EXPECT_TRUE(LoadPods(1, {{0, 2, 1, 1}}).ok());
  EXPECT_TRUE(
      LoadPods(1,
               {{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 3, 0, 0}, {0, 4, 0, 0}, {0, 5, 0, 0}, {0, 6, 0, 0}})
          .ok());
}

TEST(ClusterArchiveTest, LoadRefusesWhatCannotBe) {
  const SavedPod good = {0, 2, 1, 1};
  EXPECT_THAT(LoadError(2, {good}), ::testing::HasSubstr("the number of nodes differs"));
  // No such shape, phase or node.
  for (const SavedPod& pod : {SavedPod{1, 2, 1, 1}, SavedPod{0, 7, 1, 1}, SavedPod{0, 2, 2, 1}}) {
    EXPECT_THAT(LoadError(1, {pod}), ::testing::HasSubstr("does not exist"));
  }
  // Phase without node, node without phase, and devices that are too few, unknown or too many.
  for (const SavedPod& pod : {SavedPod{0, 2, 0, 0}, SavedPod{0, 0, 1, 1}, SavedPod{0, 3, 1, 1},
                              SavedPod{0, 2, 1, 0}, SavedPod{0, 2, 1, 2}, SavedPod{0, 2, 1, 3}}) {
    EXPECT_THAT(LoadError(1, {pod}),
                ::testing::HasSubstr("pod 'p' cannot be where the checkpoint puts it"));
  }
  EXPECT_THAT(LoadError(1, {good, good}), ::testing::HasSubstr("cannot be")) << "1200 of 1000";
}

}  // namespace state_io_test
}  // namespace drasim
