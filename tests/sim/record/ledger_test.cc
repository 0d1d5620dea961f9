// The ledger: written records and states are read back, and damaged ledgers are refused.
#include <google/protobuf/stubs/logging.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
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
#include "model/check.h"
#include "model/device_set.h"
#include "model/proto/ledger.pb.h"
#include "sim/record/ledger_checkpoint.h"
#include "sim/record/ledger_frame.h"
#include "sim/record/ledger_reader.h"
#include "sim/record/ledger_writer.h"
#include "sim/record/version.h"
#include "tests/sim/record/ledger_example.h"
#include "tests/sim/record/record_script.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace ledger_test {

// A writer of the script's ledger in the folder; a failure ends the program.
std::unique_ptr<LedgerWriter> WriterIn(const TempDir& dir, const RecordScript& script) {
  absl::StatusOr<std::unique_ptr<LedgerWriter>> writer = LedgerWriter::Create(
      dir.PathOf("ledger"), "", script.cluster(), kExampleRanks, script.summaries());
  DRASIM_CHECK(writer.ok());
  return *std::move(writer);
}

TEST(LedgerFrameTest, LayoutToTheByte) {
  std::string number;
  AppendLittleEndian(0x0102030405060708, 8, &number);
  EXPECT_EQ(number, "\x08\x07\x06\x05\x04\x03\x02\x01");
  EXPECT_EQ(ReadLittleEndian(number), 0x0102030405060708u);
  EXPECT_EQ(ReadLittleEndian("\xff\x01"), 0x1ffu);
  EXPECT_EQ(ReadLittleEndian(""), 0u);
  // CRC-32 as other programs compute it of the bytes 02 61 62 63.
  EXPECT_EQ(FrameCrc(FrameType::kBlock, "abc"), 0x41288f47u);
  EXPECT_EQ(MakeFrame(FrameType::kBlock, "abc"),
            std::string("\003\0\0\0\107\217\050\101\002abc", 12));
}

TEST(LedgerTest, ReadsBackEveryRecordAndEveryState) {
  const LedgerExample example = MakeLedgerExample();
  const LedgerContent content = ReadLedgerBytes(example.bytes);
  EXPECT_EQ(content.status, absl::OkStatus());
  EXPECT_TRUE(content.complete);
  EXPECT_EQ(content.fingerprint, kExampleFingerprint);
  ASSERT_EQ(content.records.size(), example.records.size());
  ASSERT_EQ(example.records.size(), 14u);
  for (size_t i = 0; i < example.records.size(); ++i) {
    EXPECT_TRUE(content.records[i] == example.records[i]) << i;
    EXPECT_TRUE(content.states[i] == example.states[i]) << i;
  }
}

TEST(LedgerTest, TheHeaderHoldsWhatTheRunBeganWith) {
  const LedgerExample example = MakeLedgerExample();
  absl::StatusOr<std::unique_ptr<LedgerReader>> reader = LedgerReader::FromMemory(example.bytes);
  ASSERT_TRUE(reader.ok()) << reader.status();
  const proto::LedgerHeader& header = (*reader)->header();
  EXPECT_EQ((*reader)->path(), "memory");
  EXPECT_EQ(header.version(), 4u);
  EXPECT_EQ(header.drasim_version(), std::string(kDrasimVersion));
  EXPECT_EQ(header.scenario_yaml(), kExampleYaml);
  EXPECT_EQ(header.reasons_size(), 2);
  EXPECT_EQ(header.reasons(1), "Insufficient GPU");
  ASSERT_EQ(header.ranks_size(), 2);
  EXPECT_EQ(header.ranks(0), 1u);
  EXPECT_EQ(header.ranks(1), 0u);
  const RecordScript script;
  const ClusterState& cluster = (*reader)->cluster();
  ASSERT_EQ(cluster.node_count(), script.cluster().node_count());
  for (size_t n = 0; n < cluster.node_count(); ++n) {
    const NodeSpec& found = cluster.node_spec(NodeId(n));
    const NodeSpec& wanted = script.cluster().node_spec(NodeId(n));
    EXPECT_EQ(found.name, wanted.name);
    EXPECT_EQ(found.cpu_milli, wanted.cpu_milli);
    EXPECT_EQ(found.memory_bytes, wanted.memory_bytes);
    EXPECT_EQ(found.pods, wanted.pods);
    EXPECT_EQ(found.gpu_count, wanted.gpu_count);
    EXPECT_EQ(found.gpu_model, wanted.gpu_model);
    EXPECT_TRUE(found.labels == wanted.labels);
    EXPECT_TRUE(found.taints == wanted.taints);
  }
  EXPECT_EQ(cluster.node_spec(NodeId(0u)).labels.size(), 2u);
  EXPECT_EQ(cluster.node_spec(NodeId(1u)).taints.size(), 1u);
  EXPECT_EQ(cluster.totals(), script.cluster().totals());
}

TEST(LedgerTest, ShapesAndSummariesComeBackWhole) {
  const LedgerExample example = MakeLedgerExample();
  absl::StatusOr<std::unique_ptr<LedgerReader>> reader = LedgerReader::FromMemory(example.bytes);
  ASSERT_TRUE(reader.ok()) << reader.status();
  Record record;
  for (size_t i = 0; i < example.records.size(); ++i) ASSERT_TRUE(*(*reader)->Next(&record));
  EXPECT_FALSE(*(*reader)->Next(&record));
  EXPECT_FALSE(*(*reader)->Next(&record));  // and again
  const ShapeTable& shapes = (*reader)->cluster().shapes();
  ASSERT_EQ(shapes.size(), 3u);
  const PodShape& shape = shapes.row(ShapeId(1u));
  const PodShape wanted = ParticularShape();
  EXPECT_EQ(shape.request.cpu_milli, wanted.request.cpu_milli);
  EXPECT_EQ(shape.request.memory_bytes, wanted.request.memory_bytes);
  EXPECT_EQ(shape.request.gpu_count, wanted.request.gpu_count);
  EXPECT_EQ(shape.request.gpu_milli, wanted.request.gpu_milli);
  EXPECT_EQ(shape.request.gpu_spec, wanted.request.gpu_spec);
  EXPECT_EQ(shape.constraints.node_selector, wanted.constraints.node_selector);
  EXPECT_TRUE(shape.constraints.tolerations == wanted.constraints.tolerations);
  EXPECT_EQ(shape.request.model_mask, 3u);  // both of the cluster's models
  const VerdictSummaryTable& summaries = (*reader)->summaries();
  ASSERT_EQ(summaries.size(), 2u);
  EXPECT_EQ(summaries.Text(SummaryId(0u)),
            "0/2 nodes are available: 1 Insufficient GPU, 1 Insufficient cpu.");
  EXPECT_EQ(summaries.Text(SummaryId(1u)), "0/2 nodes are available: 2 Insufficient cpu.");
}

TEST(LedgerTest, TheSameRunGivesTheSameBytes) {
  EXPECT_TRUE(MakeLedgerExample().bytes == MakeLedgerExample().bytes);
}

TEST(LedgerTest, PreemptorsComeBack) {
  const TempDir dir;
  RecordScript script;
  const std::unique_ptr<LedgerWriter> writer = WriterIn(dir, script);
  script.AddSink(writer.get());
  const ShapeId shape = script.Shape(1000, kGib, 0, 0);
  const PodId low = script.Arrive("low", shape);
  const PodId other = script.Arrive("other", shape);
  const PodId high = script.Arrive("high", shape, 5);
  script.Bind(low, 0, DeviceSet());
  script.Bind(other, 0, DeviceSet());
  script.Preempt(low, high);
  script.Preempt(other, PodId());  // for several jobs
  script.Bind(low, 0, DeviceSet());
  ASSERT_EQ(writer->AddCheckpoint(SavedState("state")), absl::OkStatus());  // a new block
  script.Preempt(low, PodId());
  script.Bind(low, 0, DeviceSet());
  script.Preempt(low, low);
  script.End();
  ASSERT_EQ(writer->Finish(kExampleFingerprint), absl::OkStatus());
  const LedgerContent content = ReadLedger(LedgerReader::Open(dir.PathOf("ledger")));
  EXPECT_EQ(content.status, absl::OkStatus());
  ASSERT_EQ(content.records.size(), script.records().size());
  for (size_t i = 0; i < content.records.size(); ++i) {
    EXPECT_TRUE(content.records[i] == script.records()[i]) << i;
  }
  EXPECT_EQ(content.records[5].preemptor, high);
}

TEST(LedgerTest, FramesAndTrailer) {
  const LedgerExample example = MakeLedgerExample();
  EXPECT_EQ(example.bytes.substr(0, 8), "DRASIMLG");
  std::vector<int> types;
  std::vector<size_t> block_records;
  const std::vector<LedgerFrame> frames = FramesOf(example.bytes);
  for (const LedgerFrame& frame : frames) {
    types.push_back(frame.type);
    if (frame.type != 2) continue;
    proto::LedgerBlock block;
    ASSERT_TRUE(block.ParseFromString(frame.payload));
    block_records.push_back(block.kind().size());
  }
  EXPECT_EQ(types, (std::vector<int>{1, 2, 3, 2, 3, 2, 3, 2, 7, 8, 4}));
  EXPECT_EQ(block_records, (std::vector<size_t>{2, 6, 5, 1}));
  std::string trailer;
  AppendLittleEndian(frames.back().begin, 8, &trailer);
  EXPECT_EQ(example.bytes.substr(frames.back().end), trailer + "DRASIMED");
}

// A full block is written by itself, and the clock runs on across blocks, whether or not a block
// holds times.
TEST(LedgerTest, LongRunsTakeSeveralBlocks) {
  const TempDir dir;
  RecordScript script;
  const std::unique_ptr<LedgerWriter> writer = WriterIn(dir, script);
  script.AddSink(writer.get());
  const PodId pod = script.Arrive("pod", script.Shape(9000, 0, 0, 0));
  for (int64_t i = 1; i < 3 * 4096 + 500; ++i) {
    // Blocks: no times, times, none again but late, times.
    if (i >= 4096 && i < 2 * 4096) script.At(kSecondNs + i);
    if (i >= 3 * 4096) script.At(2 * kSecondNs + i);
    script.Fail(pod, {2, {{1, static_cast<uint32_t>(i % 3 == 0)}}});
  }
  ASSERT_EQ(writer->Finish(1), absl::OkStatus());
  const LedgerContent content = ReadLedger(LedgerReader::Open(dir.PathOf("ledger")));
  EXPECT_EQ(content.status, absl::OkStatus());
  EXPECT_TRUE(content.complete);
  EXPECT_TRUE(content.records == script.records());
  EXPECT_EQ(content.records[2 * 4096].time, SimTime(kSecondNs + 2 * 4096 - 1));
  std::vector<size_t> sizes;
  std::vector<int> times;
  for (const LedgerFrame& frame : FramesOf(dir.Read("ledger"))) {
    if (frame.type != 2) continue;
    proto::LedgerBlock block;
    ASSERT_TRUE(block.ParseFromString(frame.payload));
    sizes.push_back(block.kind().size());
    times.push_back(block.time_delta_ns_size());
  }
  EXPECT_EQ(sizes, (std::vector<size_t>{4096, 4096, 4096, 500}));
  EXPECT_EQ(times, (std::vector<int>{0, 4096, 0, 500}));
}

TEST(LedgerTest, BlocksEndEarlyWhereLittleHappens) {
  const TempDir dir;
  RecordScript script;
  const std::unique_ptr<LedgerWriter> writer = WriterIn(dir, script);
  script.AddSink(writer.get());
  const PodId pod = script.Arrive("pod", script.Shape(9000, 0, 0, 0));
  // A dense day, then a record an hour.
  for (int64_t i = 1; i < 8192; ++i) {
    script.At(kDayNs + i);
    script.Fail(pod, {2, {{1, 0}}});
  }
  for (int64_t i = 0; i < 200; ++i) {
    script.At(2 * kDayNs + i * kHourNs);
    script.Fail(pod, {2, {{1, 0}}});
  }
  ASSERT_EQ(writer->Finish(1), absl::OkStatus());
  std::vector<size_t> sizes;
  for (const LedgerFrame& frame : FramesOf(dir.Read("ledger"))) {
    if (frame.type != 2) continue;
    proto::LedgerBlock block;
    ASSERT_TRUE(block.ParseFromString(frame.payload));
    sizes.push_back(static_cast<size_t>(block.kind().size()));
  }
  // The first block ends early, too: it begins at 0 and reaches over a day.
  EXPECT_EQ(sizes, (std::vector<size_t>{16, 4096, 4080, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16,
                                        16, 8}));
}

TEST(LedgerTest, AllDevicesOfALargeNodeComeBack) {
  GpuModelTable models;
  ShapeTable shapes(&models);
  ClusterState cluster(&models, &shapes);
  NodeSpec spec;
  spec.name = "wide";
  spec.gpu_count = kMaxDevicesPerNode;
  spec.gpu_model = "T4";
  const absl::StatusOr<NodeId> node = cluster.AddNode(spec);
  ASSERT_TRUE(node.ok()) << node.status();
  PodShape shape;
  shape.request.gpu_count = 2;
  shape.request.gpu_milli = kDeviceMilli;
  const TempDir dir;
  const VerdictSummaryTable summaries;
  const uint32_t rank = 0;
  absl::StatusOr<std::unique_ptr<LedgerWriter>> writer = LedgerWriter::Create(
      dir.PathOf("ledger"), "", cluster, absl::MakeConstSpan(&rank, 1), summaries);
  ASSERT_TRUE(writer.ok()) << writer.status();
  std::vector<Record> records;
  const auto emit = [&](RecordKind kind, PodId pod, NodeId where, DeviceSet devices,
                        uint32_t detail) {
    records.push_back({SimTime(), kind, pod, where, devices, detail});
    (*writer)->OnRecord(records.back(), cluster);
  };
  const DeviceSet devices = DeviceSet::Of(5) | DeviceSet::Of(kMaxDevicesPerNode - 1);
  const ShapeId shape_id = shapes.Intern(shape);
  const PodId pod = cluster.AddPod("pod", shape_id, 0, SimTime());
  emit(RecordKind::kPodArrived, pod, NodeId(), DeviceSet(), shape_id.value());
  cluster.Assume(pod, *node, devices);
  cluster.Bind(pod);
  emit(RecordKind::kPodBound, pod, *node, devices, 0);
  emit(RecordKind::kDevicesChanged, PodId(), *node, DeviceSet::All(),
       static_cast<uint32_t>(DeviceChangeKind::kUnhealthy));
  cluster.Finish(pod);
  emit(RecordKind::kPodFinished, pod, *node, devices, 0);
  ASSERT_EQ((*writer)->Finish(1), absl::OkStatus());
  const LedgerContent content = ReadLedger(LedgerReader::Open(dir.PathOf("ledger")));
  EXPECT_EQ(content.status, absl::OkStatus());
  EXPECT_TRUE(content.complete);
  EXPECT_TRUE(content.records == records);
}

TEST(LedgerTest, ARunWithoutRecords) {
  const TempDir dir;
  const RecordScript script;
  const std::unique_ptr<LedgerWriter> writer = WriterIn(dir, script);
  ASSERT_EQ(writer->Finish(5), absl::OkStatus());
  const LedgerContent content = ReadLedger(LedgerReader::Open(dir.path()));
  EXPECT_EQ(content.status, absl::OkStatus());
  EXPECT_TRUE(content.complete);
  EXPECT_EQ(content.fingerprint, 5u);
  EXPECT_TRUE(content.records.empty());
}

TEST(LedgerTest, GrowsAsPartialAndIsRenamedAtTheEnd) {
  const TempDir dir;
  RecordScript script;
  const std::unique_ptr<LedgerWriter> writer = WriterIn(dir, script);
  script.AddSink(writer.get());
  script.Arrive("pod", script.Shape(1, 1, 0, 0));
  EXPECT_EQ(dir.List("."), std::vector<std::string>{"ledger.partial"});
  EXPECT_TRUE(ReadLedger(LedgerReader::Open(dir.path())).records.empty());  // still buffered
  ASSERT_EQ(writer->AddCheckpoint(SavedState("x")), absl::OkStatus());
  EXPECT_EQ(ReadLedger(LedgerReader::Open(dir.path())).records.size(), 1u);
  script.End();
  ASSERT_EQ(writer->Finish(0), absl::OkStatus());
  EXPECT_EQ(writer->status(), absl::OkStatus());
  EXPECT_EQ(dir.List("."), std::vector<std::string>{"ledger"});
}

TEST(LedgerTest, AnAbandonedRunLeavesAllItsRecords) {
  const TempDir dir;
  RecordScript script;
  {
    const std::unique_ptr<LedgerWriter> writer = WriterIn(dir, script);
    script.AddSink(writer.get());
    const PodId pod = script.Arrive("pod", script.Shape(1, 1, 0, 0));
    script.Bind(pod, 0, DeviceSet());
    ASSERT_EQ(writer->Abandon(), absl::OkStatus());
  }
  EXPECT_EQ(dir.List("."), std::vector<std::string>{"ledger.partial"});
  const LedgerContent content = ReadLedger(LedgerReader::Open(dir.path()));
  EXPECT_EQ(content.status, absl::OkStatus());
  EXPECT_FALSE(content.complete);
  EXPECT_TRUE(content.records == script.records());
}

TEST(LedgerTest, AFolderStandsForTheLedgerInside) {
  const LedgerExample example = MakeLedgerExample();
  const TempDir dir;
  EXPECT_EQ(LedgerReader::Open(dir.path()).status(),
            absl::NotFoundError(absl::StrCat(dir.path(),
                                             "/ledger: cannot open the ledger: No such file or "
                                             "directory; `drasim run --out DIR` writes one")));
  dir.Write("ledger.partial", absl::string_view(example.bytes).substr(0, 300));
  absl::StatusOr<std::unique_ptr<LedgerReader>> partial = LedgerReader::Open(dir.path());
  ASSERT_TRUE(partial.ok()) << partial.status();
  EXPECT_EQ((*partial)->path(), dir.PathOf("ledger.partial"));
  dir.Write("ledger", example.bytes);
  absl::StatusOr<std::unique_ptr<LedgerReader>> whole = LedgerReader::Open(dir.path());
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_EQ((*whole)->path(), dir.PathOf("ledger"));
}

TEST(LedgerTest, ExplainsWhatCannotBeOpened) {
  const TempDir dir;
  EXPECT_EQ(LedgerReader::Open(dir.PathOf("none")).status(),
            absl::NotFoundError(absl::StrCat(dir.PathOf("none"),
                                             ": cannot open the ledger: No such file or directory; "
                                             "`drasim run --out DIR` writes one")));
  dir.Write("text", "not a ledger at all, but long enough to be one");
  EXPECT_EQ(LedgerReader::Open(dir.PathOf("text")).status(),
            absl::InvalidArgumentError(absl::StrCat(
                dir.PathOf("text"), ": not a drasim ledger; `drasim run --out DIR` writes one")));
  dir.Write("empty", "");
  EXPECT_EQ(LedgerReader::Open(dir.PathOf("empty")).status(),
            absl::InvalidArgumentError(absl::StrCat(
                dir.PathOf("empty"), ": not a drasim ledger; `drasim run --out DIR` writes one")));
  EXPECT_EQ(LedgerReader::FromMemory("").status(),
            absl::InvalidArgumentError("memory: not a drasim ledger (empty)"));
}

TEST(LedgerTest, AnotherVersionIsNamed) {
  proto::LedgerHeader header;
  const auto status_of = [&](uint32_t version) {
    header.set_version(version);
    return LedgerReader::FromMemory(
               absl::StrCat("DRASIMLG", MakeFrame(FrameType::kHeader, header.SerializeAsString())))
        .status();
  };
  EXPECT_EQ(status_of(3),
            absl::InvalidArgumentError(
                "memory: ledger format 3; this drasim reads format 4: repeat the run with it"));
  EXPECT_EQ(status_of(5),
            absl::InvalidArgumentError(
                "memory: ledger format 5; this drasim reads format 4: use a newer drasim"));
}

TEST(LedgerTest, AWriterThatCannotWriteSaysSo) {
  const TempDir dir;
  const RecordScript script;
  EXPECT_EQ(LedgerWriter::Create(dir.PathOf("none/ledger"), "", script.cluster(), kExampleRanks,
                                 script.summaries())
                .status(),
            absl::InvalidArgumentError(
                absl::StrCat(dir.PathOf("none/ledger"),
                             ".partial: cannot create the file: No such file or directory")));
  const std::string full = "/dev/full";
  if (!std::filesystem::exists(full)) GTEST_SKIP() << "there is no /dev/full";
  std::filesystem::create_symlink(full, dir.PathOf("ledger.partial"));
  EXPECT_EQ(LedgerWriter::Create(dir.PathOf("ledger"), "", script.cluster(), kExampleRanks,
                                 script.summaries())
                .status()
                .message(),
            absl::StrCat(dir.PathOf("ledger"), ".partial: cannot write: No space left on device"));
}

TEST(LedgerCheckpointTest, ListsAndReads) {
  const LedgerExample example = MakeLedgerExample();
  absl::StatusOr<std::unique_ptr<LedgerReader>> reader = LedgerReader::FromMemory(example.bytes);
  ASSERT_TRUE(reader.ok()) << reader.status();
  Record record;
  ASSERT_TRUE(*(*reader)->Next(&record));  // reading goes on afterwards as if nothing had been

  const absl::StatusOr<std::vector<LedgerReader::Checkpoint>> found = (*reader)->ListCheckpoints();
  ASSERT_TRUE(found.ok()) << found.status();
  std::vector<size_t> offsets;
  for (const LedgerFrame& frame : FramesOf(example.bytes)) {
    if (frame.type == 3) offsets.push_back(frame.begin);
  }
  ASSERT_EQ(found->size(), 3u);
  ASSERT_EQ(offsets.size(), 3u);
  for (size_t i = 3; i-- > 0;) {
    EXPECT_EQ((*found)[i].records, example.checkpoint_records[i]);
    EXPECT_EQ((*found)[i].offset, offsets[i]);
    const absl::StatusOr<std::string> state = (*reader)->ReadCheckpoint((*found)[i]);
    ASSERT_TRUE(state.ok()) << state.status();
    EXPECT_EQ(*state, example.checkpoints[i]);
  }
  for (size_t i = 1; i < example.records.size(); ++i) {
    ASSERT_TRUE(*(*reader)->Next(&record));
    EXPECT_TRUE(record == example.records[i]) << i;
  }
  EXPECT_FALSE(*(*reader)->Next(&record));
  EXPECT_TRUE((*reader)->complete());
}

// The way from frame to frame is broken early, so only the index can tell of all of them.
TEST(LedgerCheckpointTest, TheIndexServesWhereAScanWouldEnd) {
  const LedgerExample example = MakeLedgerExample();
  const LedgerFrame second = FramesOf(example.bytes)[1];
  std::string bytes = example.bytes;
  bytes[second.begin + 3] = '\x7f';  // its length is now beyond the file
  auto reader = LedgerReader::FromMemory(bytes);
  ASSERT_TRUE(reader.ok()) << reader.status();
  const auto found = (*reader)->ListCheckpoints();
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_EQ(found->size(), example.checkpoints.size());
  for (size_t i = 0; i < found->size(); ++i) {
    EXPECT_EQ((*found)[i].records, example.checkpoint_records[i]);
    EXPECT_EQ(*(*reader)->ReadCheckpoint((*found)[i]), example.checkpoints[i]);
  }
}

TEST(LedgerCheckpointTest, ACutLedgerListsThoseThatAreWhole) {
  const LedgerExample example = MakeLedgerExample();
  const std::vector<LedgerFrame> frames = FramesOf(example.bytes);
  for (size_t cut = frames[0].end; cut <= example.bytes.size(); ++cut) {
    size_t whole = 0;
    for (const LedgerFrame& frame : frames) whole += frame.type == 3 && frame.end <= cut ? 1 : 0;
    const std::string bytes = example.bytes.substr(0, cut);
    absl::StatusOr<std::unique_ptr<LedgerReader>> reader = LedgerReader::FromMemory(bytes);
    ASSERT_TRUE(reader.ok()) << reader.status();
    const absl::StatusOr<std::vector<LedgerReader::Checkpoint>> found =
        (*reader)->ListCheckpoints();
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(found->size(), whole) << cut;
  }
}

TEST(LedgerCheckpointTest, LargeStates) {
  const TempDir dir;
  const RecordScript script;
  const std::unique_ptr<LedgerWriter> writer = WriterIn(dir, script);
  std::string noise;
  uint32_t seed = 1;
  for (size_t i = 0; i < 300'000; ++i) {
    seed = seed * 1664525u + 1013904223u;
    noise.push_back(static_cast<char>(seed >> 24));
  }
  // A state that does not compress at all, and one that compresses as well as anything can.
  const std::string states[] = {noise, std::string(8'000'000, '\0')};
  for (const std::string& state : states) {
    ASSERT_EQ(writer->AddCheckpoint(SavedState(state)), absl::OkStatus());
  }
  ASSERT_EQ(writer->Finish(0), absl::OkStatus());
  absl::StatusOr<std::unique_ptr<LedgerReader>> reader = LedgerReader::Open(dir.path());
  ASSERT_TRUE(reader.ok()) << reader.status();
  const absl::StatusOr<std::vector<LedgerReader::Checkpoint>> found = (*reader)->ListCheckpoints();
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_EQ(found->size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const absl::StatusOr<std::string> state = (*reader)->ReadCheckpoint((*found)[i]);
    ASSERT_TRUE(state.ok()) << state.status();
    EXPECT_TRUE(*state == states[i]) << i;
  }
}

TEST(LedgerCheckpointTest, ExplainsPlacesWithoutACheckpoint) {
  const LedgerExample example = MakeLedgerExample();
  absl::StatusOr<std::unique_ptr<LedgerReader>> reader = LedgerReader::FromMemory(example.bytes);
  ASSERT_TRUE(reader.ok()) << reader.status();
  const auto error = [&](uint64_t offset) {
    LedgerReader::Checkpoint checkpoint;
    checkpoint.offset = offset;
    const absl::StatusOr<std::string> state = (*reader)->ReadCheckpoint(checkpoint);
    EXPECT_EQ(state.status().code(), absl::StatusCode::kDataLoss);
    return std::string(state.status().message());
  };
  const std::vector<LedgerFrame> frames = FramesOf(example.bytes);
  EXPECT_EQ(error(frames[1].begin),
            absl::StrCat("memory: damaged at byte ", frames[1].begin, ": no checkpoint there"));
  EXPECT_TRUE(absl::EndsWith(error(example.bytes.size()), ": a checkpoint lies behind the end"));
  for (size_t offset = 0; offset < example.bytes.size(); ++offset) {
    bool is_one = false;
    for (const LedgerFrame& frame : frames) is_one |= frame.type == 3 && frame.begin == offset;
    if (!is_one) {
      EXPECT_NE(error(offset), "") << offset;
    }
  }
}

// ---- Ledgers that were cut off, damaged or made up: the reader answers with sound records and an
// error, never with a crash. ----

constexpr unsigned char kFlips[] = {0x01, 0x80, 0xff};

TEST(LedgerDamageTest, EveryTruncationOpensUpToItsLastWholeFrame) {
  const LedgerExample example = MakeLedgerExample();
  const std::vector<LedgerFrame> frames = FramesOf(example.bytes);
  for (size_t cut = 0; cut <= example.bytes.size(); ++cut) {
    size_t records = 0;
    for (const LedgerFrame& frame : frames) {
      if (frame.type != 2 || frame.end > cut) continue;
      proto::LedgerBlock block;
      ASSERT_TRUE(block.ParseFromString(frame.payload));
      records += block.kind().size();
    }
    const LedgerContent content = ReadLedgerBytes(absl::string_view(example.bytes).substr(0, cut));
    if (cut == 0) {
      EXPECT_EQ(content.status, absl::InvalidArgumentError("memory: not a drasim ledger (empty)"));
      continue;
    }
    if (cut < 8) {
      EXPECT_EQ(content.status,
                absl::InvalidArgumentError(
                    "memory: not a drasim ledger; `drasim run --out DIR` writes one"))
          << cut;
      continue;
    }
    if (cut < frames[0].end) {
      EXPECT_EQ(content.status,
                absl::DataLossError("memory: damaged at byte 8: no readable header"))
          << cut;
      continue;
    }
    ASSERT_TRUE(content.opened) << cut;
    EXPECT_EQ(content.status, absl::OkStatus()) << cut;
    ASSERT_EQ(content.records.size(), records) << cut;
    for (size_t i = 0; i < records; ++i) {
      EXPECT_TRUE(content.records[i] == example.records[i]) << cut << " " << i;
      EXPECT_TRUE(content.states[i] == example.states[i]) << cut << " " << i;
    }
    EXPECT_EQ(content.complete, cut >= frames.back().end) << cut;
    EXPECT_EQ(content.fingerprint, content.complete ? kExampleFingerprint : 0u) << cut;
  }
}

TEST(LedgerDamageTest, EveryFlippedByteIsAnErrorOrAShorterLedger) {
  const LedgerExample example = MakeLedgerExample();
  const size_t trailer = FramesOf(example.bytes).back().end;
  for (size_t at = 0; at < example.bytes.size(); ++at) {
    for (const unsigned char flip : kFlips) {
      std::string bytes = example.bytes;
      bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ flip);
      const LedgerContent content = ReadLedgerBytes(bytes);
      ASSERT_LE(content.records.size(), example.records.size()) << at;
      for (size_t i = 0; i < content.records.size(); ++i) {
        EXPECT_TRUE(content.records[i] == example.records[i]) << at << " " << i;
        EXPECT_TRUE(content.states[i] == example.states[i]) << at << " " << i;
      }
      // The trailer alone is not needed for reading from front to back.
      EXPECT_EQ(content.complete, at >= trailer) << at;
      if (content.complete) {
        EXPECT_EQ(content.records.size(), example.records.size()) << at;
        EXPECT_EQ(content.fingerprint, kExampleFingerprint) << at;
      }
    }
  }
}

// With the checksum made to fit the damage, all that is left is the reader's own care.
TEST(LedgerDamageTest, FlippedBytesWithAFittingChecksumNeverCrash) {
  const google::protobuf::LogSilencer silencer;
  const LedgerExample example = MakeLedgerExample();
  size_t errors = 0;
  for (const LedgerFrame& frame : FramesOf(example.bytes)) {
    for (size_t at = 0; at < frame.payload.size(); ++at) {
      for (const unsigned char flip : kFlips) {
        std::string payload = frame.payload;
        payload[at] = static_cast<char>(static_cast<unsigned char>(payload[at]) ^ flip);
        const std::string bytes =
            absl::StrCat(example.bytes.substr(0, frame.begin),
                         MakeFrame(static_cast<FrameType>(frame.type), payload),
                         example.bytes.substr(frame.end));
        errors += ReadLedgerBytes(bytes).status.ok() ? 0u : 1u;
        absl::StatusOr<std::unique_ptr<LedgerReader>> reader = LedgerReader::FromMemory(bytes);
        if (!reader.ok()) continue;
        const absl::StatusOr<std::vector<LedgerReader::Checkpoint>> found =
            (*reader)->ListCheckpoints();
        if (!found.ok()) continue;
        for (const LedgerReader::Checkpoint& checkpoint : *found) {
          (void)(*reader)->ReadCheckpoint(checkpoint);
        }
      }
    }
  }
  EXPECT_GT(errors, 100u);
}

TEST(LedgerDamageTest, DamageInTheMiddleIsNamedWithItsPlace) {
  const LedgerExample example = MakeLedgerExample();
  const std::vector<LedgerFrame> frames = FramesOf(example.bytes);
  std::string bytes = example.bytes;
  bytes[frames[3].begin + 12] = static_cast<char>(bytes[frames[3].begin + 12] ^ 1);
  const LedgerContent content = ReadLedgerBytes(bytes);
  EXPECT_EQ(content.status,
            absl::DataLossError(absl::StrCat("memory: damaged at byte ", frames[3].begin,
                                             ": a frame's checksum does not match")));
  EXPECT_EQ(content.records.size(), 2u);  // the block before it
}

// --- ledgers that no writer makes, with checksums that fit -------------------------------------

proto::LedgerHeader OneNode() {
  proto::LedgerHeader header;
  header.set_version(kLedgerVersion);
  header.add_reasons("Insufficient cpu");
  proto::LedgerNode* node = header.add_nodes();
  node->set_name("n");
  node->set_cpu_milli(1000);
  node->set_memory_bytes(1000);
  node->set_pods(10);
  node->set_gpu_count(2);
  node->set_gpu_model("T4");
  return header;
}

// A pod that arrives and is bound to device 0.
proto::LedgerBlock OnePod() {
  proto::LedgerBlock block;
  block.set_kind("\x01\x03");
  block.add_pod_delta(0);
  block.add_pod_delta(0);
  block.add_node(1);
  block.add_devices(1);
  block.add_detail(0);
  block.add_pod_name("p");
  proto::LedgerShape* shape = block.add_shapes();
  shape->set_cpu_milli(100);
  shape->set_gpu_count(1);
  shape->set_gpu_milli(500);
  return block;
}

std::string Ledger(const proto::LedgerHeader& header, absl::string_view frames) {
  return absl::StrCat("DRASIMLG", MakeFrame(FrameType::kHeader, header.SerializeAsString()),
                      frames);
}

// The end of reading the block: empty for no error, else the message behind the place.
std::string ErrorOf(const proto::LedgerBlock& block) {
  const LedgerContent content =
      ReadLedgerBytes(Ledger(OneNode(), MakeFrame(FrameType::kBlock, block.SerializeAsString())));
  if (content.status.ok()) return "";
  EXPECT_EQ(content.status.code(), absl::StatusCode::kDataLoss);
  const std::string message(content.status.message());
  const size_t place = message.find(": ", message.find("byte"));
  EXPECT_TRUE(absl::StartsWith(message, "memory: damaged at byte "));
  return message.substr(place + 2);
}

std::string ErrorWith(const std::function<void(proto::LedgerBlock*)>& change) {
  proto::LedgerBlock block = OnePod();
  change(&block);
  return ErrorOf(block);
}

// One more record of a kind, of the same pod; on node 0 and `devices` if it names a node.
void AddRecord(RecordKind kind, uint64_t devices, proto::LedgerBlock* block) {
  block->mutable_kind()->push_back(static_cast<char>(kind));
  block->add_pod_delta(0);
  if (devices == 0) return;
  block->add_node(1);
  block->add_devices(devices);
}

TEST(LedgerDamageTest, TheMadeUpLedgerIsSound) { EXPECT_EQ(ErrorOf(OnePod()), ""); }

TEST(LedgerDamageTest, ColumnsOfABlock) {
  EXPECT_EQ(ErrorWith([](auto* b) { b->set_first_record(1); }),
            "a block does not follow the one before");
  const char* const lengths = "a block's columns differ in length";
  EXPECT_EQ(ErrorWith([](auto* b) { b->add_pod_delta(0); }), lengths);
  EXPECT_EQ(ErrorWith([](auto* b) { b->add_time_delta_ns(0); }), lengths);
  EXPECT_EQ(ErrorWith([](auto* b) { b->add_devices(0); }), lengths);
  EXPECT_EQ(ErrorWith([](auto* b) {
              b->add_pod_priority(0);
              b->add_pod_priority(0);
            }),
            lengths);
  EXPECT_EQ(ErrorWith([](auto* b) { b->clear_detail(); }), "a detail is missing");
  EXPECT_EQ(ErrorWith([](auto* b) {
              b->clear_node();
              b->clear_devices();
            }),
            "a node is missing");
  EXPECT_EQ(ErrorWith([](auto* b) { b->clear_pod_name(); }), "a pod without a name");
}

TEST(LedgerDamageTest, OwnersOfABlock) {
  const auto owned = [](int64_t job, uint32_t tenant) {
    return [job, tenant](auto* b) {
      b->add_job(job);
      b->add_tenant(tenant);
      b->add_tenants("x");
    };
  };
  EXPECT_EQ(ErrorWith(owned(0, 0)), "");
  const char* const unknown = "a pod of an unknown owner";
  EXPECT_EQ(ErrorWith(owned(-1, 0)), unknown);
  EXPECT_EQ(ErrorWith(owned(0, 1)), unknown);
  EXPECT_EQ(ErrorWith(owned(int64_t{JobId::kInvalid}, 0)), unknown);
  EXPECT_EQ(ErrorWith(owned(int64_t{JobId::kInvalid} - 1, 0)), "");
  EXPECT_EQ(ErrorWith([](auto* b) { b->add_job(0); }), unknown);  // no tenant 0
  const char* const lengths = "a block's columns differ in length";
  EXPECT_EQ(ErrorWith([](auto* b) { b->add_tenant(0); }), lengths);
  EXPECT_EQ(ErrorWith([](auto* b) {
              b->add_job(0);
              b->add_job(0);
            }),
            lengths);
}

TEST(LedgerDamageTest, PreemptorsOfABlock) {
  const auto preempted = [](std::vector<uint64_t> preemptors) {
    return [preemptors](auto* b) {
      AddRecord(RecordKind::kPodEvicted, 1, b);
      b->add_detail(static_cast<uint32_t>(EvictionCause::kPreempted));
      for (const uint64_t preemptor : preemptors) b->add_preemptor(preemptor);
    };
  };
  EXPECT_EQ(ErrorWith(preempted({})), "");
  EXPECT_EQ(ErrorWith(preempted({0})), "");
  EXPECT_EQ(ErrorWith(preempted({1})), "");
  EXPECT_EQ(ErrorWith(preempted({2})), "a preemptor that does not exist");
  EXPECT_EQ(ErrorWith(preempted({~uint64_t{0}})), "a preemptor that does not exist");
  EXPECT_EQ(ErrorWith([&](auto* b) {
              preempted({1})(b);
              b->mutable_kind()->push_back('\3');
              b->add_pod_delta(0);
              b->add_node(1);
              b->add_devices(1);
              preempted({})(b);
            }),
            "a preemptor is missing");
}

TEST(LedgerDamageTest, DefinitionsOfABlock) {
  const char* const unsound = "a pod shape is unsound or repeated";
  EXPECT_EQ(ErrorWith([](auto* b) { b->mutable_shapes(0)->set_gpu_milli(1001); }), unsound);
  EXPECT_EQ(ErrorWith([](auto* b) { b->mutable_shapes(0)->set_gpu_milli(0); }), unsound);
  EXPECT_EQ(ErrorWith([](auto* b) { b->mutable_shapes(0)->set_gpu_count(-1); }), unsound);
  EXPECT_EQ(ErrorWith([](auto* b) { b->mutable_shapes(0)->set_cpu_milli(-1); }), unsound);
  EXPECT_EQ(ErrorWith([](auto* b) { *b->add_shapes() = b->shapes(0); }), unsound);
  EXPECT_EQ(ErrorWith([](auto* b) { b->add_summaries()->add_reason(1); }),
            "a summary's columns differ in length");
  for (const uint32_t reason : {0u, 2u, 300u}) {
    EXPECT_EQ(ErrorWith([reason](auto* b) {
                b->add_summaries()->add_reason(reason);
                b->mutable_summaries(0)->add_rejected(1);
              }),
              "an unknown reason");
  }
}

TEST(LedgerDamageTest, RecordsThatNameWhatIsNotThere) {
  EXPECT_EQ(ErrorWith([](auto* b) { b->set_kind(std::string("\x01\x00", 2)); }),
            "an unknown kind of record");
  EXPECT_EQ(ErrorWith([](auto* b) { b->set_kind("\x01\x11"); }), "an unknown kind of record");
  EXPECT_EQ(ErrorWith([](auto* b) { b->set_node(0, 2); }), "a node that does not exist");
  EXPECT_EQ(ErrorWith([](auto* b) { b->set_node(0, 0); }), "a node that does not exist");
  for (const int64_t delta : {int64_t{1}, int64_t{-1}, std::numeric_limits<int64_t>::max(),
                              std::numeric_limits<int64_t>::min()}) {
    EXPECT_EQ(ErrorWith([delta](auto* b) { b->set_pod_delta(0, delta); }),
              "a pod that does not exist");
    EXPECT_EQ(ErrorWith([delta](auto* b) { b->set_pod_delta(1, delta); }),
              "a pod that does not exist");
  }
  EXPECT_EQ(ErrorWith([](auto* b) { b->set_detail(0, 1); }), "a pod of an unknown shape");
  EXPECT_EQ(ErrorWith([](auto* b) {
              AddRecord(RecordKind::kAttemptFailed, 0, b);
              b->add_detail(0);
            }),
            "an unknown summary");
  EXPECT_EQ(ErrorWith([](auto* b) {
              b->add_time_delta_ns(std::numeric_limits<int64_t>::max());
              b->add_time_delta_ns(1);
            }),
            "a time beyond the clock's range");
  EXPECT_EQ(ErrorWith([](auto* b) {
              b->set_kind("\x01\x08\x08");
              b->set_pod_delta(1, std::numeric_limits<int64_t>::max());
              b->add_pod_delta(1);
            }),
            "an impossible pod");
}

TEST(LedgerDamageTest, RecordsThatDoNotFitTheState) {
  EXPECT_EQ(ErrorWith([](auto* b) { b->set_devices(0, 3); }), "a pod is put where it does not fit");
  EXPECT_EQ(ErrorWith([](auto* b) { b->set_devices(0, 4); }), "a pod is put where it does not fit");
  EXPECT_EQ(ErrorWith([](auto* b) { b->set_devices(0, 0); }), "a pod is put where it does not fit");
  EXPECT_EQ(ErrorWith([](auto* b) { b->mutable_shapes(0)->set_cpu_milli(1001); }),
            "a pod is put where it does not fit");
  EXPECT_EQ(ErrorWith([](auto* b) { AddRecord(RecordKind::kPodBound, 1, b); }),
            "a pod is bound twice");
  EXPECT_EQ(ErrorWith([](auto* b) { AddRecord(RecordKind::kPodUnreserved, 1, b); }),
            "a pod is released that holds nothing there");
  EXPECT_EQ(ErrorWith([](auto* b) { AddRecord(RecordKind::kPodDropped, 0, b); }),
            "a pod is dropped that does not wait");
  EXPECT_EQ(ErrorWith([](auto* b) {
              AddRecord(RecordKind::kPodFinished, 1, b);
              AddRecord(RecordKind::kPodFinished, 1, b);
            }),
            "a pod ends that does not run there");
}

// A record is what sinks see: it must say where the pod really is.
TEST(LedgerDamageTest, RecordsThatContradictTheState) {
  EXPECT_NE(ErrorWith([](auto* b) { AddRecord(RecordKind::kPodFinished, 2, b); }), "")
      << "ends on another device";
  EXPECT_NE(ErrorWith([](auto* b) {
              b->set_kind("\x01\x02");
              AddRecord(RecordKind::kPodBound, 2, b);
            }),
            "")
      << "is bound elsewhere than it was reserved";
  EXPECT_NE(ErrorWith([](auto* b) {
              b->set_kind("\x01\x02");
              AddRecord(RecordKind::kPodReserved, 1, b);
            }),
            "")
      << "is reserved twice";
}

TEST(LedgerDamageTest, FramesThatDoNotBelong) {
  const std::string block = MakeFrame(FrameType::kBlock, OnePod().SerializeAsString());
  const auto error = [&](absl::string_view frames) {
    const LedgerContent content = ReadLedgerBytes(Ledger(OneNode(), frames));
    EXPECT_EQ(content.status.code(), absl::StatusCode::kDataLoss);
    return std::string(content.status.message());
  };
  const auto ends_with = [](absl::string_view text, absl::string_view tail) {
    return absl::EndsWith(text, tail);
  };
  proto::LedgerEnd end;
  end.set_records(3);
  EXPECT_PRED2(ends_with, error(block + MakeFrame(FrameType::kEnd, end.SerializeAsString())),
               ": the end frame counts other records than were read");
  EXPECT_PRED2(ends_with, error(block + MakeFrame(FrameType::kEnd, "\xff")),
               ": the end frame is unreadable");
  EXPECT_PRED2(ends_with, error(block + MakeFrame(FrameType::kBlock, "\xff")),
               ": an unknown or unreadable frame");
  EXPECT_PRED2(ends_with, error(MakeFrame(static_cast<FrameType>(kLastFrameType + 1), "")),
               ": an unknown or unreadable frame");
  EXPECT_PRED2(ends_with, error(MakeFrame(FrameType::kHeader, OneNode().SerializeAsString())),
               ": an unknown or unreadable frame");
}

TEST(LedgerDamageTest, Headers) {
  const auto error = [](const proto::LedgerHeader& header) {
    return ReadLedgerBytes(Ledger(header, "")).status;
  };
  EXPECT_EQ(error(OneNode()), absl::OkStatus());
  proto::LedgerHeader many_gpus = OneNode();
  many_gpus.mutable_nodes(0)->set_gpu_count(65);
  EXPECT_EQ(error(many_gpus),
            absl::DataLossError(
                "memory: damaged at byte 8: node 'n' has 65 GPUs; at most 64 are supported"));
  proto::LedgerHeader twice = OneNode();
  *twice.add_nodes() = twice.nodes(0);
  EXPECT_EQ(error(twice), absl::DataLossError("memory: damaged at byte 8: node 'n' appears twice"));
  proto::LedgerHeader reasons = OneNode();
  for (int i = 0; i < 254; ++i) reasons.add_reasons("r");
  EXPECT_EQ(error(reasons),
            absl::DataLossError("memory: damaged at byte 8: more reasons than can be"));
  proto::LedgerHeader kinds = OneNode();
  kinds.set_reason_kinds(std::string(1, static_cast<char>(kReasonKinds)));
  EXPECT_EQ(error(kinds),
            absl::DataLossError("memory: damaged at byte 8: an unknown kind of reason"));
  kinds.set_reason_kinds(std::string(1, static_cast<char>(kReasonKinds - 1)));
  EXPECT_EQ(error(kinds), absl::OkStatus());
  kinds.set_reason_kinds(std::string(2, '\1'));
  EXPECT_EQ(
      error(kinds),
      absl::DataLossError("memory: damaged at byte 8: reasons and their kinds differ in number"));
  const absl::Status unreadable =
      absl::DataLossError("memory: damaged at byte 8: no readable header");
  EXPECT_EQ(ReadLedgerBytes(absl::StrCat("DRASIMLG", MakeFrame(FrameType::kHeader, "\xff"))).status,
            unreadable);
  EXPECT_EQ(ReadLedgerBytes(absl::StrCat("DRASIMLG", MakeFrame(FrameType::kBlock, ""))).status,
            unreadable);
}

// A node with an A100 that has a static layout, and a change of it.
TEST(LedgerDamageTest, Layouts) {
  proto::LedgerHeader header = OneNode();
  header.set_mig(true);
  header.mutable_nodes(0)->set_gpu_model("A100-SXM4-40GB");
  header.mutable_nodes(0)->add_layouts(1);
  header.mutable_nodes(0)->add_layouts(0);
  const auto error = [](const proto::LedgerHeader& changed, const proto::LedgerBlock& block) {
    const absl::Status status =
        ReadLedgerBytes(Ledger(changed, MakeFrame(FrameType::kBlock, block.SerializeAsString())))
            .status;
    EXPECT_TRUE(status.ok() || absl::IsDataLoss(status)) << status;
    const std::string message(status.message());
    return status.ok() ? "" : message.substr(message.rfind(": ") + 2);
  };
  proto::LedgerBlock none;
  none.set_kind("\x08");
  none.add_pod_delta(0);
  EXPECT_EQ(error(header, none), "");
  proto::LedgerHeader changed = header;
  changed.mutable_nodes(0)->set_layouts(0, ~uint64_t{0});
  EXPECT_EQ(error(changed, none), "an impossible layout");
  changed.mutable_nodes(0)->set_gpu_model("T4");
  changed.mutable_nodes(0)->set_layouts(0, 1);
  EXPECT_EQ(error(changed, none), "an impossible layout");
  changed = header;
  changed.mutable_nodes(0)->mutable_layouts()->RemoveLast();
  EXPECT_EQ(error(changed, none), "a GPU without a layout");

  const auto change = [](uint64_t devices, std::vector<uint64_t> layouts) {
    proto::LedgerBlock block;
    block.set_kind("\x0f");
    block.add_pod_delta(0);
    block.add_node(1);
    block.add_devices(devices);
    block.add_detail(static_cast<uint32_t>(DeviceChangeKind::kLayoutChanged));
    for (const uint64_t layout : layouts) block.add_layouts(layout);
    return block;
  };
  EXPECT_EQ(error(header, change(3, {2, 1})), "");
  EXPECT_EQ(error(header, change(3, {2})), "a layout is missing");
  EXPECT_EQ(error(header, change(4, {2})), "a GPU that does not exist");
  EXPECT_EQ(error(header, change(2, {~uint64_t{0}})), "an impossible layout");
  EXPECT_EQ(error(OneNode(), change(3, {})), "");  // without layouts nothing is told

  const std::string bytes =
      Ledger(header, MakeFrame(FrameType::kBlock, change(2, {4}).SerializeAsString()));
  absl::StatusOr<std::unique_ptr<LedgerReader>> reader = LedgerReader::FromMemory(bytes);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ((*reader)->LayoutOf(NodeId(0u), 0), uint64_t{1});
  EXPECT_EQ((*reader)->LayoutOf(NodeId(0u), 1), uint64_t{0});
  Record record;
  EXPECT_TRUE(*(*reader)->Next(&record));
  EXPECT_EQ((*reader)->LayoutOf(NodeId(0u), 0), uint64_t{1});
  EXPECT_EQ((*reader)->LayoutOf(NodeId(0u), 1), uint64_t{4});
  ASSERT_EQ((*reader)->Rewind(), absl::OkStatus());
  EXPECT_EQ((*reader)->LayoutOf(NodeId(0u), 1), uint64_t{0});
}

TEST(LedgerDamageTest, CheckpointsThatLie) {
  const auto error = [](const proto::LedgerCheckpoint& checkpoint) {
    const std::string bytes =
        Ledger(OneNode(), MakeFrame(FrameType::kCheckpoint, checkpoint.SerializeAsString()));
    absl::StatusOr<std::unique_ptr<LedgerReader>> reader = LedgerReader::FromMemory(bytes);
    EXPECT_TRUE(reader.ok()) << reader.status();
    const absl::StatusOr<std::vector<LedgerReader::Checkpoint>> found =
        (*reader)->ListCheckpoints();
    EXPECT_TRUE(found.ok() && found->size() == 1);
    const std::string message((*reader)->ReadCheckpoint((*found)[0]).status().message());
    return message.substr(message.rfind(": ") + 2);
  };
  proto::LedgerCheckpoint checkpoint;
  checkpoint.set_records(0);
  checkpoint.set_state_bytes(10);
  checkpoint.set_state("these are not packed bytes");
  EXPECT_EQ(error(checkpoint), "a checkpoint claims an impossible size");
  std::string damaged = Pack("0123456789");
  damaged.resize(damaged.size() - 1);
  checkpoint.set_state(damaged);
  EXPECT_EQ(error(checkpoint), "a checkpoint does not unpack");
  checkpoint.set_state_bytes(uint64_t{1} << 60);
  EXPECT_EQ(error(checkpoint), "a checkpoint claims an impossible size");
  checkpoint.set_state_bytes(1'000'000);
  EXPECT_EQ(error(checkpoint), "a checkpoint claims an impossible size");
  checkpoint.set_base_offset(1'000'000);
  EXPECT_EQ(error(checkpoint), "a checkpoint builds on one that is not before it");
  checkpoint.set_base_offset(8);  // the header
  EXPECT_EQ(error(checkpoint), "no checkpoint there");
}

// Two rows of pods between a head and a tail; of the rows only the picks.
SavedState TwoRows(std::vector<uint32_t> rows, const std::string& text) {
  SavedState state(absl::StrCat("<", text, ">"));
  SavedTable table;
  table.kind = RowKind::kPod;
  table.at = 1;
  table.size = 2;
  table.bytes.assign(rows.size(), static_cast<uint32_t>(text.size() / rows.size()));
  state.tables = {table};
  state.picks[static_cast<size_t>(RowKind::kPod)] = std::move(rows);
  return state;
}

TEST(LedgerDamageTest, CheckpointsThatLieAboutTheirBase) {
  const std::string base =
      MakeFrame(FrameType::kCheckpoint, PackCheckpoint(1, TwoRows({0, 1}, "ab"), 0));
  const std::string before = Ledger(OneNode(), base);
  const uint64_t base_offset = before.size() - base.size();
  const auto read = [&before](const std::string& payload) {
    const std::string bytes = absl::StrCat(before, MakeFrame(FrameType::kCheckpoint, payload));
    absl::StatusOr<std::unique_ptr<LedgerReader>> reader = LedgerReader::FromMemory(bytes);
    EXPECT_TRUE(reader.ok()) << reader.status();
    LedgerReader::Checkpoint place;
    place.offset = before.size();
    const absl::StatusOr<std::string> state = (*reader)->ReadCheckpoint(place);
    if (state.ok()) return *state;
    const std::string message(state.status().message());
    return message.substr(message.rfind(": ") + 2);
  };
  const auto built = [&](const SavedState& state) {
    return read(PackCheckpoint(2, state, base_offset));
  };
  EXPECT_EQ(built(TwoRows({1}, "xyz")), "<axyz>");
  EXPECT_EQ(built(TwoRows({0}, "")), "<b>");
  const char* const unfit = "a checkpoint does not fit those before it";
  EXPECT_EQ(read(PackCheckpoint(2, TwoRows({1}, "xyz"), 0)), unfit);  // without its base
  const auto changed = [&](const std::function<void(SavedState*)>& change) {
    SavedState state = TwoRows({1}, "xyz");
    change(&state);
    return built(state);
  };
  EXPECT_EQ(changed([](SavedState* s) { s->tables[0].size = 4; }), unfit);
  EXPECT_EQ(changed([](SavedState* s) { s->tables[0].kind = RowKind::kJob; }),
            "a checkpoint is unreadable");  // the row has no number
  EXPECT_EQ(changed([](SavedState* s) { s->tables[0].at = 9; }), "a checkpoint is unreadable");
  EXPECT_EQ(changed([](SavedState* s) { s->tables[0].bytes[0] = 9; }),
            "a checkpoint is unreadable");
  EXPECT_EQ(changed([](SavedState* s) { s->tables.push_back(s->tables[0]); }),
            "a checkpoint is unreadable");
  EXPECT_EQ(changed([](SavedState* s) {
              SavedTable second = s->tables[0];
              second.at += second.bytes[0];
              second.bytes[0] = 0;
              s->tables.push_back(second);
            }),
            unfit);
}

// Zeros pack so well that a reader would refuse the claim, so they are not packed.
TEST(LedgerDamageTest, NoCheckpointExpandsWithoutBound) {
  const SavedState zeros(std::string(1'000'000, '\0'));
  proto::LedgerCheckpoint checkpoint;
  ASSERT_TRUE(checkpoint.ParseFromString(PackCheckpoint(1, zeros, 0)));
  EXPECT_EQ(checkpoint.state().size(), checkpoint.state_bytes());
  SavedState state;
  ASSERT_EQ(UnpackCheckpoint(checkpoint, &state), absl::OkStatus());
  EXPECT_TRUE(state.text == zeros.text);
  checkpoint.set_state(Pack(checkpoint.state()));
  EXPECT_EQ(UnpackCheckpoint(checkpoint, &state),
            absl::DataLossError("a checkpoint claims an impossible size"));
}

}  // namespace ledger_test
}  // namespace drasim
