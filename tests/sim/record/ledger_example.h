// A small ledger with every kind of record and frame, and readers for tests.
#ifndef DRASIM_TESTS_SIM_RECORD_LEDGER_EXAMPLE_H_
#define DRASIM_TESTS_SIM_RECORD_LEDGER_EXAMPLE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/check.h"
#include "model/device_set.h"
#include "model/saved_state.h"
#include "model/state_io.h"
#include "sim/record/ledger_frame.h"
#include "sim/record/ledger_reader.h"
#include "sim/record/ledger_writer.h"
#include "tests/sim/record/record_script.h"
#include "tests/testing/temp_dir.h"

namespace drasim {

inline constexpr uint64_t kExampleFingerprint = 0x0123456789abcdef;
inline constexpr uint32_t kExampleRanks[] = {1, 0};
inline constexpr char kExampleYaml[] = "name: example\n";

inline std::string SavedCluster(const ClusterState& cluster) {
  StateWriter out;
  cluster.Save(out);
  return out.Release();
}

// Remembers the whole state of the cluster after each record.
class StateTrail : public RecordSink {
 public:
  void OnRecord(const Record&, const ClusterState& cluster) override {
    states_.push_back(SavedCluster(cluster));
  }
  const std::vector<std::string>& states() const { return states_; }

 private:
  std::vector<std::string> states_;
};

inline PodShape ParticularShape() {
  PodShape shape;
  shape.request.cpu_milli = 1500;
  shape.request.memory_bytes = 3 * kGib;
  shape.request.gpu_count = 1;
  shape.request.gpu_milli = 250;
  shape.request.gpu_spec = "T4|P100";
  shape.constraints.node_selector = {{"disk", "ssd"}, {"zone", "a"}};
  shape.constraints.tolerations = {{"gpu", "", "NoSchedule", true}, {"team", "x", "", false}};
  return shape;
}

struct LedgerExample {
  std::string bytes;
  std::vector<Record> records;
  std::vector<std::string> states;       // of the cluster, after each record
  std::vector<std::string> checkpoints;  // states handed to AddCheckpoint
  std::vector<uint64_t> checkpoint_records;
};

// Plays every kind of record, with a checkpoint (and thus a new block) here and there.
inline LedgerExample MakeLedgerExample() {
  const TempDir dir;
  RecordScript script;
  LedgerExample example;
  absl::StatusOr<std::unique_ptr<LedgerWriter>> created = LedgerWriter::Create(
      dir.PathOf("ledger"), kExampleYaml, script.cluster(), kExampleRanks, script.summaries());
  DRASIM_CHECK(created.ok());
  LedgerWriter& writer = **created;
  StateTrail trail;
  script.AddSink(&writer);
  script.AddSink(&trail);
  const auto checkpoint = [&](std::string state) {
    DRASIM_CHECK(writer.AddCheckpoint(SavedState(state)).ok());
    example.checkpoints.push_back(std::move(state));
    example.checkpoint_records.push_back(script.records().size());
  };

  const PodId first = script.Arrive("first", script.Shape(2000, kGib, 2, 1000));
  script.Bind(first, 0, DeviceSet::FirstN(2));
  checkpoint("state after two records");
  script.At(1'000'000'007);
  const PodId second = script.Arrive("second", script.Shape(ParticularShape()), -5);
  script.Fail(second, {2, {{1, 1}, {2, 1}}});
  const PodId third = script.Arrive("third", script.Shape(9000, 0, 0, 0), 7);
  script.Fail(third, {2, {{1, 2}}});
  script.Drop(third);
  script.Reserve(second, 1, DeviceSet::Of(0));
  checkpoint("");
  script.At(2'000'000'000);
  script.Unreserve(second);
  script.Fail(second, {2, {{1, 1}, {2, 1}}});
  script.Finish(first);
  script.Reserve(second, 0, DeviceSet::Of(1));
  script.At(2'500'000'000);
  script.Bind(second, 0, DeviceSet::Of(1));
  checkpoint(std::string(3000, 's'));
  script.End();

  DRASIM_CHECK(writer.Finish(kExampleFingerprint).ok());
  example.bytes = dir.Read("ledger");
  example.records = script.records();
  example.states = trail.states();
  return example;
}

// The result of reading a ledger to its end.
struct LedgerContent {
  absl::Status status;  // of opening, or of the last Next
  bool opened = false;
  bool complete = false;
  uint64_t fingerprint = 0;
  std::vector<Record> records;
  std::vector<std::string> states;  // after each record
};

inline LedgerContent ReadLedger(absl::StatusOr<std::unique_ptr<LedgerReader>> reader) {
  LedgerContent content;
  content.status = reader.status();
  if (!reader.ok()) return content;
  content.opened = true;
  while (true) {
    Record record;
    const absl::StatusOr<bool> more = (*reader)->Next(&record);
    content.status = more.status();
    if (!more.ok() || !*more) break;
    content.records.push_back(record);
    content.states.push_back(SavedCluster((*reader)->cluster()));
  }
  EXPECT_EQ((*reader)->records(), content.records.size());
  EXPECT_EQ((*reader)->cluster().CheckInvariants(), absl::OkStatus());
  content.complete = (*reader)->complete();
  content.fingerprint = (*reader)->fingerprint();
  return content;
}

// The bytes are copied, so that a sanitizer sees a read beyond their end.
inline LedgerContent ReadLedgerBytes(absl::string_view bytes) {
  const std::string copy(bytes);
  return ReadLedger(LedgerReader::FromMemory(copy));
}

// One frame of a ledger, found without the reader's help.
struct LedgerFrame {
  int type = 0;
  size_t begin = 0;
  size_t end = 0;
  std::string payload;
};

// The frames of a sound ledger, from the magic to the end frame.
inline std::vector<LedgerFrame> FramesOf(absl::string_view bytes) {
  std::vector<LedgerFrame> frames;
  size_t at = 8;
  while (frames.empty() || frames.back().type != 4) {
    LedgerFrame frame;
    frame.begin = at;
    size_t length = 0;
    for (size_t i = 4; i-- > 0;) length = length * 256 + static_cast<unsigned char>(bytes[at + i]);
    frame.type = static_cast<unsigned char>(bytes[at + 8]);
    frame.end = at + 9 + length;
    DRASIM_CHECK_LE(frame.end, bytes.size());
    frame.payload = std::string(bytes.substr(at + 9, length));
    at = frame.end;
    frames.push_back(std::move(frame));
  }
  return frames;
}

}  // namespace drasim

#endif  // DRASIM_TESTS_SIM_RECORD_LEDGER_EXAMPLE_H_
