// The ledger: what is written is read back, record by record and state by state.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/device_set.h"
#include "model/proto/ledger.pb.h"
#include "sim/record/ledger_frame.h"
#include "sim/record/ledger_reader.h"
#include "sim/record/ledger_writer.h"
#include "sim/record/version.h"
#include "tests/sim/record/ledger_example.h"
#include "tests/sim/record/record_script.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace ledger_test {

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
  EXPECT_EQ(header.version(), 3u);
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
  }
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
  EXPECT_EQ(shape.cpu_milli, wanted.cpu_milli);
  EXPECT_EQ(shape.memory_bytes, wanted.memory_bytes);
  EXPECT_EQ(shape.gpu_count, wanted.gpu_count);
  EXPECT_EQ(shape.gpu_milli, wanted.gpu_milli);
  EXPECT_EQ(shape.gpu_spec, wanted.gpu_spec);
  EXPECT_EQ(shape.node_selector, wanted.node_selector);
  EXPECT_TRUE(shape.tolerations == wanted.tolerations);
  EXPECT_EQ(shape.model_mask, 3u);  // both of the cluster's models
  const VerdictSummaryTable& summaries = (*reader)->summaries();
  ASSERT_EQ(summaries.size(), 2u);
  EXPECT_EQ(summaries.Text(SummaryId(0u)),
            "0/2 nodes are available: 1 Insufficient GPU, 1 Insufficient cpu.");
  EXPECT_EQ(summaries.Text(SummaryId(1u)), "0/2 nodes are available: 2 Insufficient cpu.");
}

TEST(LedgerTest, TheSameRunGivesTheSameBytes) {
  EXPECT_TRUE(MakeLedgerExample().bytes == MakeLedgerExample().bytes);
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
  EXPECT_EQ(types, (std::vector<int>{1, 2, 3, 2, 3, 2, 3, 2, 4}));
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
  absl::StatusOr<std::unique_ptr<LedgerWriter>> writer = LedgerWriter::Create(
      dir.PathOf("ledger"), "", script.cluster(), kExampleRanks, script.summaries());
  ASSERT_TRUE(writer.ok()) << writer.status();
  script.AddSink(writer->get());
  const PodId pod = script.Arrive("pod", script.Shape(9000, 0, 0, 0));
  for (int64_t i = 1; i < 3 * 4096 + 500; ++i) {
    // Blocks: no times, times, none again but late, times.
    if (i >= 4096 && i < 2 * 4096) script.At(i * 1000);
    if (i >= 3 * 4096) script.At(i * 2000);
    script.Fail(pod, {2, {{1, static_cast<uint32_t>(i % 3 == 0)}}});
  }
  ASSERT_EQ((*writer)->Finish(1), absl::OkStatus());
  const LedgerContent content = ReadLedger(LedgerReader::Open(dir.PathOf("ledger")));
  EXPECT_EQ(content.status, absl::OkStatus());
  EXPECT_TRUE(content.complete);
  EXPECT_TRUE(content.records == script.records());
  EXPECT_EQ(content.records[2 * 4096].time, SimTime((2 * 4096 - 1) * 1000));
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
  shape.gpu_count = 2;
  shape.gpu_milli = kDeviceMilli;
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
  absl::StatusOr<std::unique_ptr<LedgerWriter>> writer = LedgerWriter::Create(
      dir.PathOf("ledger"), "", script.cluster(), kExampleRanks, script.summaries());
  ASSERT_TRUE(writer.ok()) << writer.status();
  ASSERT_EQ((*writer)->Finish(5), absl::OkStatus());
  const LedgerContent content = ReadLedger(LedgerReader::Open(dir.path()));
  EXPECT_EQ(content.status, absl::OkStatus());
  EXPECT_TRUE(content.complete);
  EXPECT_EQ(content.fingerprint, 5u);
  EXPECT_TRUE(content.records.empty());
}

TEST(LedgerTest, GrowsAsPartialAndIsRenamedAtTheEnd) {
  const TempDir dir;
  RecordScript script;
  absl::StatusOr<std::unique_ptr<LedgerWriter>> writer = LedgerWriter::Create(
      dir.PathOf("ledger"), "", script.cluster(), kExampleRanks, script.summaries());
  ASSERT_TRUE(writer.ok()) << writer.status();
  script.AddSink(writer->get());
  script.Arrive("pod", script.Shape(1, 1, 0, 0));
  EXPECT_EQ(dir.List("."), std::vector<std::string>{"ledger.partial"});
  EXPECT_TRUE(ReadLedger(LedgerReader::Open(dir.path())).records.empty());  // still buffered
  ASSERT_EQ((*writer)->AddCheckpoint("x"), absl::OkStatus());
  EXPECT_EQ(ReadLedger(LedgerReader::Open(dir.path())).records.size(), 1u);
  script.End();
  ASSERT_EQ((*writer)->Finish(0), absl::OkStatus());
  EXPECT_EQ((*writer)->status(), absl::OkStatus());
  EXPECT_EQ(dir.List("."), std::vector<std::string>{"ledger"});
}

TEST(LedgerTest, AnAbandonedRunLeavesAllItsRecords) {
  const TempDir dir;
  RecordScript script;
  {
    absl::StatusOr<std::unique_ptr<LedgerWriter>> writer = LedgerWriter::Create(
        dir.PathOf("ledger"), "", script.cluster(), kExampleRanks, script.summaries());
    ASSERT_TRUE(writer.ok()) << writer.status();
    script.AddSink(writer->get());
    const PodId pod = script.Arrive("pod", script.Shape(1, 1, 0, 0));
    script.Bind(pod, 0, DeviceSet());
    ASSERT_EQ((*writer)->Abandon(), absl::OkStatus());
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
            absl::NotFoundError(absl::StrCat(
                dir.path(), "/ledger: cannot open the ledger: No such file or directory")));
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
            absl::NotFoundError(absl::StrCat(
                dir.PathOf("none"), ": cannot open the ledger: No such file or directory")));
  dir.Write("text", "not a ledger at all, but long enough to be one");
  EXPECT_EQ(LedgerReader::Open(dir.PathOf("text")).status(),
            absl::InvalidArgumentError(absl::StrCat(dir.PathOf("text"), ": not a drasim ledger")));
  dir.Write("empty", "");
  EXPECT_EQ(LedgerReader::Open(dir.PathOf("empty")).status(),
            absl::InvalidArgumentError(absl::StrCat(dir.PathOf("empty"), ": not a drasim ledger")));
  EXPECT_EQ(LedgerReader::FromMemory("").status(),
            absl::InvalidArgumentError("memory: not a drasim ledger (empty)"));
}

TEST(LedgerTest, AnotherVersionIsNamed) {
  proto::LedgerHeader header;
  header.set_version(4);
  header.set_drasim_version("9.9");
  const std::string bytes =
      absl::StrCat("DRASIMLG", MakeFrame(FrameType::kHeader, header.SerializeAsString()));
  EXPECT_EQ(LedgerReader::FromMemory(bytes).status(),
            absl::InvalidArgumentError("memory: ledger format 4; this drasim reads format 3"));
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
  absl::StatusOr<std::unique_ptr<LedgerWriter>> writer = LedgerWriter::Create(
      dir.PathOf("ledger"), "", script.cluster(), kExampleRanks, script.summaries());
  ASSERT_TRUE(writer.ok()) << writer.status();
  std::string noise;
  uint32_t seed = 1;
  for (size_t i = 0; i < 300'000; ++i) {
    seed = seed * 1664525u + 1013904223u;
    noise.push_back(static_cast<char>(seed >> 24));
  }
  // What does not compress at all, and what compresses as well as anything can.
  const std::string states[] = {noise, std::string(8'000'000, '\0')};
  for (const std::string& state : states) {
    ASSERT_EQ((*writer)->AddCheckpoint(state), absl::OkStatus());
  }
  ASSERT_EQ((*writer)->Finish(0), absl::OkStatus());
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

}  // namespace ledger_test
}  // namespace drasim
