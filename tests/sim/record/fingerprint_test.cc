// The fingerprint against values that an independent program computed from the description of the
// hash, and what it must and must not depend on.
#include "sim/record/fingerprint.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "model/device_set.h"
#include "model/hash.h"
#include "model/state_io.h"
#include "tests/sim/record/record_script.h"

namespace drasim {
namespace fingerprint_test {

constexpr uint64_t kNothing = 0xcbf29ce484222325;

TEST(FingerprintTest, EveryKindOfRecordExactly) {
  RecordScript script;
  FingerprintSink sink(&script.summaries());
  script.AddSink(&sink);
  std::vector<std::string> values = {HexHash(sink.value())};
  const auto note = [&] { values.push_back(HexHash(sink.value())); };

  const PodId first = script.Arrive("first", script.Shape(2000, 4 * kGib, 1, 500, "T4|P100"));
  note();
  script.At(1500);
  script.Reserve(first, 0, DeviceSet::Of(1));
  note();
  script.At(2500);
  script.Bind(first, 0, DeviceSet::Of(1));
  note();
  script.At(3000);
  const PodId second = script.Arrive("second", script.Shape(9000, kGib, 0, 0), -7);
  note();
  script.Fail(second, {2, {{1, 2}}});
  note();
  script.Drop(second);
  note();
  script.At(9000);
  script.Finish(first);
  note();
  script.End();
  note();

  EXPECT_EQ(values,
            (std::vector<std::string>{"cbf29ce484222325", "451eb63afa1241c6", "86253670946b9801",
                                      "5586dc70c91e9c75", "25b46a4d25dcd72a", "f2053a1e063ad712",
                                      "aa3ce06f5e91c876", "6f5489d4088688a3", "50ded665c2d5679c"}));
}

// Possible differences between runs of one pod.
struct Variant {
  int64_t arrival_ns = 10;
  std::string name = "pod";
  int32_t priority = 1;
  int64_t cpu_milli = 1000;
  int64_t memory_bytes = kGib;
  int32_t gpu_milli = 300;
  std::string gpu_spec = "T4";
  int64_t bound_ns = 20;
  uint32_t node = 0;
  DeviceSet devices = DeviceSet::Of(0);
  bool reserve = false;
  uint32_t rejected_nodes = 2;
  uint8_t reason = 1;
};

uint64_t FingerprintOf(const Variant& v) {
  RecordScript script;
  FingerprintSink sink(&script.summaries());
  script.AddSink(&sink);
  script.At(v.arrival_ns);
  const PodId pod = script.Arrive(
      v.name, script.Shape(v.cpu_milli, v.memory_bytes, 1, v.gpu_milli, v.gpu_spec), v.priority);
  script.Fail(pod, {2, {{v.reason, v.rejected_nodes}}});
  script.At(v.bound_ns);
  if (v.reserve) script.Reserve(pod, v.node, v.devices);
  script.Bind(pod, v.node, v.devices);
  return sink.value();
}

TEST(FingerprintTest, DependsOnEveryPartOfTheRecords) {
  std::vector<Variant> variants(13);
  variants[1].arrival_ns = 11;
  variants[2].name = "pox";
  variants[3].priority = 2;
  variants[4].cpu_milli = 1001;
  variants[5].memory_bytes = kGib + 1;
  variants[6].gpu_milli = 301;
  variants[7].gpu_spec = "T4|A10";
  variants[8].bound_ns = 21;
  variants[9].node = 1;
  variants[10].devices = DeviceSet::Of(1);
  variants[11].reserve = true;
  variants[12].reason = 2;
  variants.push_back(Variant());
  variants.back().rejected_nodes = 1;
  std::vector<uint64_t> values;
  for (const Variant& v : variants) values.push_back(FingerprintOf(v));
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t j = 0; j < i; ++j) EXPECT_NE(values[i], values[j]) << i << " and " << j;
  }
  EXPECT_EQ(FingerprintOf(Variant()), values[0]);
}

// Sets below device 32 are mixed in as they were when a set was 32 bits.
TEST(FingerprintTest, EveryDeviceCounts) {
  const RecordScript script;
  const auto value = [&script](DeviceSet devices) {
    FingerprintSink sink(&script.summaries());
    Record record;
    record.time = SimTime(7);
    record.kind = RecordKind::kDevicesChanged;
    record.node = NodeId(1u);
    record.devices = devices;
    record.detail = 2;
    sink.OnRecord(record, script.cluster());
    return sink.value();
  };
  const auto narrow = [](uint32_t devices) {
    uint64_t hash = MixWord(kFnvOffset, 7);
    hash = MixWord(hash, uint64_t{15} << 32 | PodId::kInvalid);
    hash = MixWord(hash, uint64_t{1} << 32 | devices);
    return MixWord(hash, 2);
  };
  EXPECT_EQ(value(DeviceSet()), narrow(0));
  EXPECT_EQ(value(DeviceSet::Of(31)), narrow(0x80000000));
  EXPECT_EQ(value(DeviceSet::FirstN(32)), narrow(0xffffffff));
  std::set<uint64_t> values = {value(DeviceSet()), value(DeviceSet::All())};
  for (size_t device = 0; device < kMaxDevicesPerNode; ++device) {
    values.insert(value(DeviceSet::Of(device)));
  }
  EXPECT_EQ(values.size(), size_t{kMaxDevicesPerNode} + 2);
}

// Ids of shapes and summaries depend on what else is in the tables; the fingerprint does not.
TEST(FingerprintTest, DoesNotDependOnTheNumbersOfShapesAndSummaries) {
  const auto run = [](bool tables_hold_more) {
    RecordScript script;
    FingerprintSink sink(&script.summaries());
    if (tables_hold_more) {
      script.Shape(1, 1, 0, 0);
      script.Fail(PodId(0u), {1, {{1, 1}}});  // before the sink listens
    }
    script.AddSink(&sink);
    const PodId pod = script.Arrive("pod", script.Shape(1000, kGib, 1, 1000));
    script.Fail(pod, {2, {{2, 2}}});
    EXPECT_EQ(script.summaries().size(), tables_hold_more ? 2u : 1u);
    return sink.value();
  };
  EXPECT_EQ(run(false), run(true));
}

TEST(FingerprintTest, SavesAndLoads) {
  RecordScript script;
  FingerprintSink sink(&script.summaries());
  script.AddSink(&sink);
  const PodId pod = script.Arrive("pod", script.Shape(1000, kGib, 1, 1000));
  StateWriter out;
  sink.Save(out);

  FingerprintSink resumed(&script.summaries());
  EXPECT_EQ(resumed.value(), kNothing);
  StateReader in(out.bytes());
  ASSERT_EQ(resumed.Load(in), absl::OkStatus());
  EXPECT_TRUE(in.AtEnd());
  EXPECT_EQ(resumed.value(), sink.value());
  script.AddSink(&resumed);
  script.Bind(pod, 0, DeviceSet::Of(0));
  script.End();
  EXPECT_NE(sink.value(), kNothing);
  EXPECT_EQ(resumed.value(), sink.value());
}

TEST(FingerprintTest, RefusesTheStateOfAnotherPart) {
  StateWriter out;
  out.Section("metrics");
  out.U64(7);
  const std::string bytes(out.bytes());
  StateReader in(bytes);
  RecordScript script;
  FingerprintSink sink(&script.summaries());
  EXPECT_EQ(
      sink.Load(in),
      absl::DataLossError("checkpoint byte 8: expected section 'fingerprint', found 'metrics'"));
}

}  // namespace fingerprint_test
}  // namespace drasim
