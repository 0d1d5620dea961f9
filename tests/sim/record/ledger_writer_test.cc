// A writer that goes on with a ledger that was cut short leaves the bytes of one that was never
// interrupted.
#include "sim/record/ledger_writer.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/device_set.h"
#include "model/proto/ledger.pb.h"
#include "model/random.h"
#include "model/record.h"
#include "model/saved_state.h"
#include "sim/record/ledger_digest.h"
#include "sim/record/ledger_frame.h"
#include "sim/record/ledger_reader.h"
#include "tests/sim/record/ledger_example.h"
#include "tests/sim/record/record_script.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace ledger_writer_test {

constexpr uint64_t kRecords = 9000;

// Frames of every kind between any two checkpoints.
constexpr LedgerPace kPace = {/*records_per_block=*/128, /*records_per_keyframe=*/300,
                              /*records_per_live_object=*/1, /*blocks_per_series=*/3,
                              /*pods_per_frame=*/20};

// 4228 = 4200 + 28: a block of its own behind another checkpoint. 4356: where a block has just been
// written and none has begun.
bool IsCheckpoint(uint64_t records) {
  return records == 4228 || records == 4356 || records % 700 == 0;
}

// The state at a checkpoint; `picks`: only those rows. A row is new every five records.
void SaveAt(uint64_t records, StateWriter& out) {
  out.Str(absl::StrCat("state after ", records, std::string(records % 50, '.')));
  out.Rows(RowKind::kPod, records / 5, [&](size_t row) {
    out.Str(absl::StrCat("row ", row, " ", row * row * 7919 % 100'003));
  });
}
std::string TextAt(uint64_t records) {
  StateWriter out;
  SaveAt(records, out);
  return out.Release();
}
// Builds on the checkpoint before.
SavedState StateAt(uint64_t records) {
  uint64_t before = records - 1;
  while (before > 0 && !IsCheckpoint(before)) --before;
  RowPicks picks;
  for (uint64_t row = before / 5; row < records / 5; ++row) {
    picks[static_cast<size_t>(RowKind::kPod)].push_back(static_cast<uint32_t>(row));
  }
  StateWriter out(&picks);
  SaveAt(records, out);
  return TakeState(std::move(picks), &out);
}

// Hands on what comes behind the first `done` records.
class Gate : public RecordSink {
 public:
  Gate(RecordSink* target, uint64_t done) : target_(target), done_(done) {}
  void OnRecord(const Record& record, const ClusterState& cluster) override {
    if (seen_++ >= done_) target_->OnRecord(record, cluster);
  }

 private:
  RecordSink* target_;
  uint64_t done_;
  uint64_t seen_ = 0;
};

// Pods at random that come, fail, run and end; a function of the seed. One record a step.
class RandomRun {
 public:
  explicit RandomRun(uint64_t seed) : random_(seed, "ledger_writer_test") {}
  const RecordScript& script() const { return script_; }

  // Makes the first `until` records. Records behind the first `done` go to the writer, with their
  // checkpoints.
  void Play(LedgerWriter* writer, uint64_t done, uint64_t until) {
    Gate gate(writer, done);
    script_.AddSink(&gate);
    for (uint64_t n = 1; n <= until; ++n) {
      Step();
      ASSERT_EQ(script_.records().size(), n);
      if (n > done && IsCheckpoint(n)) {
        ASSERT_EQ(writer->AddCheckpoint(StateAt(n)), absl::OkStatus());
      }
    }
  }

 private:
  void Step() {
    if (random_.Bernoulli(1, 3)) {
      now_ns_ += static_cast<int64_t>(random_.Below(2'000'000'000));
      script_.At(now_ns_);
    }
    const uint64_t kind = random_.Below(4);
    if (kind == 1 && !running_.empty()) {
      script_.Finish(TakeOne(&running_));
    } else if (kind == 2 && !waiting_.empty()) {
      const PodId pod = waiting_[random_.Below(waiting_.size())];
      script_.Fail(pod, {2, {{1, static_cast<uint32_t>(random_.Below(60))}}});
    } else if (kind == 3 && !waiting_.empty()) {
      const PodId pod = TakeOne(&waiting_);
      const auto node = static_cast<uint32_t>(random_.Below(2));
      const ClusterState& cluster = script_.cluster();
      if (cluster.CanPlace(cluster.pod_shape_id(pod), NodeId(node), DeviceSet())) {
        script_.Bind(pod, node, DeviceSet());
        running_.push_back(pod);
      } else {
        script_.Drop(pod);
      }
    } else {
      const auto cpu_milli = static_cast<int64_t>(1 + random_.Below(80));
      const ShapeId shape = script_.Shape(cpu_milli, kGib / 64, 0, 0);
      const auto priority = static_cast<int32_t>(random_.Below(3));
      waiting_.push_back(
          script_.Arrive(absl::StrCat("pod-", script_.records().size()), shape, priority));
    }
  }
  PodId TakeOne(std::vector<PodId>* pods) {
    std::swap((*pods)[random_.Below(pods->size())], pods->back());
    const PodId pod = pods->back();
    pods->pop_back();
    return pod;
  }

  Random random_;
  RecordScript script_;
  int64_t now_ns_ = 0;
  std::vector<PodId> waiting_;
  std::vector<PodId> running_;
};

// The ledger of an uninterrupted run.
std::string WholeLedger(uint64_t seed) {
  const TempDir dir;
  RandomRun run(seed);
  absl::StatusOr<std::unique_ptr<LedgerWriter>> writer =
      LedgerWriter::Create(dir.PathOf("ledger"), kExampleYaml, run.script().cluster(),
                           kExampleRanks, run.script().summaries(), kPace);
  EXPECT_TRUE(writer.ok()) << writer.status();
  run.Play(writer->get(), 0, kRecords);
  EXPECT_EQ((*writer)->Finish(kExampleFingerprint), absl::OkStatus());
  return dir.Read("ledger");
}

absl::StatusOr<LedgerPosition> PositionIn(const TempDir& dir) {
  absl::StatusOr<std::unique_ptr<LedgerReader>> reader =
      LedgerReader::Open(dir.PathOf("ledger.partial"));
  if (!reader.ok()) return reader.status();
  return FindLastCheckpoint(**reader, kPace);
}

// Goes on with ledger.partial; short of kRecords, the run is abandoned again.
void GoOn(const TempDir& dir, uint64_t seed, uint64_t until) {
  const absl::StatusOr<LedgerPosition> position = PositionIn(dir);
  ASSERT_TRUE(position.ok()) << position.status();
  ASSERT_FALSE(position->checkpoints.empty());
  const uint64_t done = position->checkpoints.back().records;
  RandomRun run(seed);
  absl::StatusOr<std::unique_ptr<LedgerWriter>> writer = LedgerWriter::Continue(
      *position, kExampleYaml, run.script().cluster(), kExampleRanks, run.script().summaries());
  ASSERT_TRUE(writer.ok()) << writer.status();
  ASSERT_EQ((*writer)->Reopen(dir.PathOf("ledger")), absl::OkStatus());
  EXPECT_EQ(std::filesystem::file_size(dir.PathOf("ledger.partial")), position->bytes);
  run.Play(writer->get(), done, until);
  if (until < kRecords) {
    ASSERT_EQ((*writer)->Abandon(), absl::OkStatus());
  } else {
    ASSERT_EQ((*writer)->Finish(kExampleFingerprint), absl::OkStatus());
  }
}

// Wherever the file ends.
TEST(LedgerContinuationTest, TheBytesAreThoseOfAnUninterruptedRun) {
  for (const uint64_t seed : {uint64_t{1}, uint64_t{2}}) {
    const std::string whole = WholeLedger(seed);
    const std::vector<LedgerFrame> frames = FramesOf(whole);
    std::vector<size_t> cuts;
    for (const LedgerFrame& frame : frames) {
      if (frame.type != 3) continue;
      cuts.insert(cuts.end(), {frame.end - 1, frame.end, frame.end + 1});
    }
    ASSERT_EQ(cuts.size(), 3 * 14u);  // 12 multiples of 700, 4228 and 4356
    cuts.insert(cuts.end(), {frames[0].end, frames.back().begin, frames.back().end, whole.size()});
    Random random(seed, "cuts");
    for (int i = 0; i < 20; ++i) {
      cuts.push_back(frames[0].end + random.Below(whole.size() - frames[0].end));
    }
    for (const size_t cut : cuts) {
      size_t checkpoints = 0;
      for (const LedgerFrame& frame : frames) {
        checkpoints += frame.type == 3 && frame.end <= cut ? 1 : 0;
      }
      const TempDir dir;
      dir.Write("ledger.partial", absl::string_view(whole).substr(0, cut));
      const absl::StatusOr<LedgerPosition> position = PositionIn(dir);
      ASSERT_TRUE(position.ok()) << position.status();
      ASSERT_EQ(position->checkpoints.size(), checkpoints) << cut;
      if (checkpoints == 0) continue;
      GoOn(dir, seed, kRecords);
      ASSERT_EQ(dir.List("."), std::vector<std::string>{"ledger"}) << cut;
      ASSERT_TRUE(dir.Read("ledger") == whole) << cut;
    }
  }
}

TEST(LedgerContinuationTest, TheRunHasFramesOfEveryKind) {
  std::map<int, int> frames;
  for (const LedgerFrame& frame : FramesOf(WholeLedger(1))) ++frames[frame.type];
  EXPECT_GT(frames[5], 5);
  EXPECT_EQ(frames[5], frames[6]);
  EXPECT_GT(frames[7], 10);
  EXPECT_GT(frames[8], 10);
}

TEST(LedgerContinuationTest, CheckpointsBuildOnEachOther) {
  const std::string whole = WholeLedger(1);
  size_t built = 0;
  for (const LedgerFrame& frame : FramesOf(whole)) {
    if (frame.type != 3) continue;
    proto::LedgerCheckpoint checkpoint;
    ASSERT_TRUE(checkpoint.ParseFromString(frame.payload));
    built += checkpoint.base_offset() != 0 ? 1u : 0u;
  }
  EXPECT_GT(built, 5u);
  absl::StatusOr<std::unique_ptr<LedgerReader>> reader = LedgerReader::FromMemory(whole);
  ASSERT_TRUE(reader.ok()) << reader.status();
  const absl::StatusOr<std::vector<LedgerReader::Checkpoint>> found = (*reader)->ListCheckpoints();
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_EQ(found->size(), 14u);
  for (const LedgerReader::Checkpoint& checkpoint : *found) {
    const absl::StatusOr<std::string> state = (*reader)->ReadCheckpoint(checkpoint);
    ASSERT_TRUE(state.ok()) << state.status();
    EXPECT_TRUE(*state == TextAt(checkpoint.records)) << checkpoint.records;
  }
}

TEST(LedgerContinuationTest, InterruptedAgainAndAgain) {
  const std::string whole = WholeLedger(3);
  const TempDir dir;
  {
    RandomRun run(3);
    absl::StatusOr<std::unique_ptr<LedgerWriter>> writer =
        LedgerWriter::Create(dir.PathOf("ledger"), kExampleYaml, run.script().cluster(),
                             kExampleRanks, run.script().summaries(), kPace);
    ASSERT_TRUE(writer.ok()) << writer.status();
    run.Play(writer->get(), 0, 1000);
    ASSERT_EQ((*writer)->Abandon(), absl::OkStatus());
  }
  // Before the next checkpoint, right behind it, and far on.
  constexpr uint64_t kStops[] = {1100, 1399, 1400, 1401, 4095, 4096, 4228, 4357, 8888};
  for (const uint64_t until : kStops) {
    GoOn(dir, 3, until);
    ASSERT_TRUE(dir.Has("ledger.partial"));
  }
  GoOn(dir, 3, kRecords);
  EXPECT_TRUE(dir.Read("ledger") == whole);
}

TEST(LedgerContinuationTest, ThePositionIsWhatTheRecordsCameTo) {
  const LedgerExample example = MakeLedgerExample();
  std::vector<LedgerFrame> checkpoints;
  for (const LedgerFrame& frame : FramesOf(example.bytes)) {
    if (frame.type == 3) checkpoints.push_back(frame);
  }
  ASSERT_EQ(checkpoints.size(), 3u);
  const int64_t times_ns[] = {0, 1'000'000'007, 2'500'000'000};
  const int64_t pods[] = {0, 1, 1};
  const size_t shapes[] = {1, 3, 3};
  const size_t summaries[] = {0, 2, 2};
  for (size_t i = 0; i < 3; ++i) {
    const TempDir dir;
    dir.Write("ledger.partial", absl::string_view(example.bytes).substr(0, checkpoints[i].end));
    const absl::StatusOr<LedgerPosition> position = PositionIn(dir);
    ASSERT_TRUE(position.ok()) << position.status();
    ASSERT_EQ(position->checkpoints.size(), i + 1);
    for (size_t c = 0; c <= i; ++c) {
      EXPECT_EQ(position->checkpoints[c].records, example.checkpoint_records[c]);
      EXPECT_EQ(position->checkpoints[c].offset, checkpoints[c].begin);
    }
    EXPECT_EQ(position->bytes, checkpoints[i].end);
    EXPECT_EQ(position->last_time_ns, times_ns[i]);
    EXPECT_EQ(position->last_pod, pods[i]);
    EXPECT_EQ(position->shapes, shapes[i]);
    EXPECT_EQ(position->summaries, summaries[i]);
    EXPECT_EQ(position->header, FramesOf(example.bytes)[0].payload);
  }
}

TEST(LedgerContinuationTest, DamageBeforeTheCheckpointIsNamed) {
  const LedgerExample example = MakeLedgerExample();
  const LedgerFrame block = FramesOf(example.bytes)[3];
  ASSERT_EQ(block.type, 2);
  std::string bytes = example.bytes;
  bytes[block.begin + 12] = static_cast<char>(bytes[block.begin + 12] ^ 1);
  const TempDir dir;
  dir.Write("ledger.partial", bytes);
  EXPECT_EQ(PositionIn(dir).status(),
            absl::DataLossError(absl::StrCat(dir.PathOf("ledger.partial"), ": damaged at byte ",
                                             block.begin, ": a frame's checksum does not match")));
}

TEST(LedgerContinuationTest, AnotherRunsLedgerIsRefused) {
  const LedgerExample example = MakeLedgerExample();
  const TempDir dir;
  dir.Write("ledger.partial", example.bytes);
  const absl::StatusOr<LedgerPosition> position = PositionIn(dir);
  ASSERT_TRUE(position.ok()) << position.status();
  const RecordScript script;
  constexpr uint32_t kOtherRanks[] = {0, 1};
  const absl::Status refused = absl::FailedPreconditionError(
      "the ledger began with another scenario, or with other nodes, than there are now");
  EXPECT_EQ(LedgerWriter::Continue(*position, kExampleYaml, script.cluster(), kOtherRanks,
                                   script.summaries())
                .status(),
            refused);
  EXPECT_EQ(LedgerWriter::Continue(*position, "name: other\n", script.cluster(), kExampleRanks,
                                   script.summaries())
                .status(),
            refused);
  EXPECT_TRUE(LedgerWriter::Continue(*position, kExampleYaml, script.cluster(), kExampleRanks,
                                     script.summaries())
                  .ok());
  EXPECT_EQ(dir.Read("ledger.partial"), example.bytes);
}

TEST(LedgerContinuationTest, AFileThatIsTooShortStaysAsItIs) {
  const LedgerExample example = MakeLedgerExample();
  const TempDir dir;
  dir.Write("ledger.partial", example.bytes);
  const absl::StatusOr<LedgerPosition> position = PositionIn(dir);
  ASSERT_TRUE(position.ok()) << position.status();
  const RecordScript script;
  for (const bool missing : {false, true}) {
    dir.Write("ledger.partial", "short");
    if (missing) std::filesystem::remove(dir.PathOf("ledger.partial"));
    absl::StatusOr<std::unique_ptr<LedgerWriter>> writer = LedgerWriter::Continue(
        *position, kExampleYaml, script.cluster(), kExampleRanks, script.summaries());
    ASSERT_TRUE(writer.ok()) << writer.status();
    EXPECT_EQ((*writer)->Reopen(dir.PathOf("ledger")).code(), absl::StatusCode::kUnavailable);
    EXPECT_EQ(dir.Read("ledger.partial"), missing ? "" : "short");
  }
}

TEST(LedgerBoundTest, WhatFitsStaysReadable) {
  const TempDir dir;
  RecordScript script;
  absl::StatusOr<std::unique_ptr<LedgerWriter>> writer = LedgerWriter::Create(
      dir.PathOf("ledger"), kExampleYaml, script.cluster(), kExampleRanks, script.summaries());
  ASSERT_TRUE(writer.ok()) << writer.status();
  script.AddSink(writer->get());
  const ShapeId shape = script.Shape(1000, kGib, 0, 0);
  const auto arrive = [&](size_t until) {
    while (script.records().size() < until) {
      script.Arrive(absl::StrCat("pod-", script.records().size()), shape);
    }
  };
  script.At(1'500'000'000);
  arrive(LedgerPace().records_per_block);
  ASSERT_EQ((*writer)->status(), absl::OkStatus());
  const uintmax_t one_block = std::filesystem::file_size(dir.PathOf("ledger.partial"));
  (*writer)->set_max_bytes(one_block + 100);
  arrive(3 * LedgerPace().records_per_block);
  const absl::Status full = absl::ResourceExhaustedError(
      absl::StrCat(dir.PathOf("ledger"), ".partial: the ledger would exceed output.max_ledger (",
                   one_block + 100, " bytes) at record 8192, 1.5 s into the run"));
  EXPECT_EQ((*writer)->status(), full);
  EXPECT_EQ((*writer)->Abandon(), full);
  EXPECT_EQ((*writer)->Finish(kExampleFingerprint), full);
  EXPECT_EQ(std::filesystem::file_size(dir.PathOf("ledger.partial")), one_block);

  absl::StatusOr<std::unique_ptr<LedgerReader>> reader = LedgerReader::Open(dir.path());
  ASSERT_TRUE(reader.ok()) << reader.status();
  Record record;
  absl::StatusOr<bool> more = true;
  while (more.ok() && *more) more = (*reader)->Next(&record);
  EXPECT_EQ(more.status(), absl::OkStatus());
  EXPECT_EQ((*reader)->records(), LedgerPace().records_per_block);
  EXPECT_FALSE((*reader)->complete());
}

TEST(LedgerVersionTest, IsThatOfTheDocument) {
  std::ifstream file(absl::StrCat(DRASIM_SOURCE_DIR, "/docs/metrics.md"));
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_TRUE(absl::StrContains(
      text, absl::StrCat("The records of the run, format version ", kLedgerVersion, ".")));
  EXPECT_TRUE(absl::StrContains(
      text, absl::StrCat("has a format version in its header (", kLedgerVersion, ")")));
}

}  // namespace ledger_writer_test
}  // namespace drasim
