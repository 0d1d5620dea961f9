// Seeks in ledgers of scripts, whole, damaged and hostile. tests/sim/run has those of whole runs.
#include "sim/record/ledger_seek.h"

#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
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
#include "model/event_source.h"
#include "model/job_table.h"
#include "model/proto/ledger.pb.h"
#include "model/random.h"
#include "sim/record/ledger_digest.h"
#include "sim/record/ledger_frame.h"
#include "sim/record/ledger_writer.h"
#include "tests/sim/record/ledger_example.h"
#include "tests/sim/record/live_image.h"
#include "tests/sim/record/record_script.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace ledger_seek_test {

constexpr LedgerPace kPace = {/*records_per_block=*/8, /*records_per_keyframe=*/20,
                              /*records_per_live_object=*/0, /*blocks_per_series=*/3,
                              /*pods_per_frame=*/5};

// The first pods have no tenant, so that some blocks have no tenants and some have several.
std::string TenantOfPod(size_t pod) { return pod < 10 ? "" : absl::StrCat("tenant ", pod * 7 % 5); }

// Pods at random with shares of GPUs that wait, fail, are reserved, bound, given up and end.
std::string RandomLedger(uint64_t seed, size_t records) {
  const TempDir dir;
  RecordScript script;
  absl::StatusOr<std::unique_ptr<LedgerWriter>> writer =
      LedgerWriter::Create(dir.PathOf("ledger"), kExampleYaml, script.cluster(), kExampleRanks,
                           script.summaries(), kPace);
  DRASIM_CHECK(writer.ok());
  script.AddSink(writer->get());
  JobTable jobs;
  (*writer)->set_jobs(&jobs);
  Random random(seed, "ledger_seek_test");
  std::vector<PodId> waiting;
  std::vector<PodId> reserved;
  std::vector<PodId> running;
  const auto take = [&random](std::vector<PodId>* pods) {
    std::swap((*pods)[random.Below(pods->size())], pods->back());
    const PodId pod = pods->back();
    pods->pop_back();
    return pod;
  };
  int64_t now_ns = 0;
  while (script.records().size() < records) {
    if (random.Bernoulli(1, 2)) {
      now_ns += static_cast<int64_t>(random.Below(3'000'000'000));
      script.At(now_ns);
    }
    const uint64_t step = random.Below(7);
    if (step == 0 && !running.empty()) {
      script.Finish(take(&running));
    } else if (step == 1 && !waiting.empty()) {
      const PodId pod = waiting[random.Below(waiting.size())];
      script.Fail(pod, {2, {{1, static_cast<uint32_t>(random.Below(20))}}});
    } else if (step == 2 && !reserved.empty()) {
      const PodId pod = take(&reserved);
      const ClusterState& cluster = script.cluster();
      script.Bind(pod, cluster.pod_node(pod).value(), cluster.pod_devices(pod));
      running.push_back(pod);
    } else if (step == 3 && !reserved.empty()) {
      const PodId pod = take(&reserved);
      script.Unreserve(pod);
      waiting.push_back(pod);
    } else if (step < 6 && !waiting.empty()) {
      const PodId pod = take(&waiting);
      const auto node = static_cast<uint32_t>(random.Below(2));
      const ClusterState& cluster = script.cluster();
      const DeviceSet devices =
          cluster.pod_shape(pod).request.gpu_count == 0 ? DeviceSet() : DeviceSet::Of(0);
      if (!cluster.CanPlace(cluster.pod_shape_id(pod), NodeId(node), devices)) {
        script.Drop(pod);
      } else if (step == 4) {
        script.Reserve(pod, node, devices);
        reserved.push_back(pod);
      } else {
        script.Bind(pod, node, devices);
        running.push_back(pod);
      }
    } else {
      const auto milli = static_cast<int32_t>(random.Below(4)) * 100;
      const ShapeId shape = script.Shape(static_cast<int64_t>(1 + random.Below(900)), kGib / 8,
                                         milli > 0 ? 1 : 0, milli);
      JobArrival job;
      job.name = absl::StrCat("pod-", script.records().size());
      job.shape = shape;
      job.tenant = TenantOfPod(script.cluster().pod_count());
      jobs.Add(job, PodId(script.cluster().pod_count()), script.cluster().shapes());
      waiting.push_back(script.Arrive(job.name, shape, static_cast<int32_t>(random.Below(3))));
    }
  }
  script.End();
  DRASIM_CHECK((*writer)->Finish(kExampleFingerprint).ok());
  return dir.Read("ledger");
}

std::unique_ptr<LedgerSeek> SeekIn(const std::string& bytes) {
  absl::StatusOr<std::unique_ptr<LedgerSeek>> seek = LedgerSeek::FromMemory(bytes);
  DRASIM_CHECK(seek.ok());
  return *std::move(seek);
}

TEST(LedgerSeekTest, EveryRecordFromEveryOther) {
  constexpr size_t kRecords = 150;
  const std::string bytes = RandomLedger(1, kRecords - 1);
  const WholeReading whole = ReadWhole(bytes, kRecords, kRecords);
  ASSERT_EQ(whole.images.size(), kRecords + 1);
  const std::unique_ptr<LedgerSeek> seek = SeekIn(bytes);
  EXPECT_EQ(seek->index().records, kRecords);
  EXPECT_GT(seek->index().keyframes.size(), 4u);
  EXPECT_EQ(seek->record(), 0u);
  EXPECT_TRUE(LiveImage(*seek) == whole.images[0].second);
  for (size_t from = 0; from <= kRecords; from += 5) {
    for (size_t to = 0; to <= kRecords; to += 3) {
      ASSERT_EQ(seek->ToRecord(from), absl::OkStatus());
      ASSERT_EQ(seek->ToRecord(to), absl::OkStatus());
      ASSERT_EQ(seek->record(), to);
      ASSERT_TRUE(LiveImage(*seek) == whole.images[to].second) << from << " " << to;
    }
  }
  ASSERT_EQ(seek->ToRecord(kRecords + 100), absl::OkStatus());
  EXPECT_EQ(seek->record(), kRecords);
  Record record;
  EXPECT_FALSE(*seek->Next(&record));
  EXPECT_FALSE(*seek->Next(&record));
  ASSERT_EQ(seek->ToRecord(kRecords - 1), absl::OkStatus());
  EXPECT_TRUE(*seek->Next(&record));
  EXPECT_EQ(record.kind, RecordKind::kRunEnded);
}

TEST(LedgerSeekTest, TouchedNodesAreThoseOfTheRecordsBetween) {
  constexpr size_t kRecords = 150;
  const std::string bytes = RandomLedger(3, kRecords - 1);
  std::vector<NodeId> named;  // by each record
  const std::unique_ptr<LedgerSeek> reference = SeekIn(bytes);
  Record record;
  while (reference->Next(&record).value()) named.push_back(record.node);

  const std::unique_ptr<LedgerSeek> seek = SeekIn(bytes);
  EXPECT_TRUE(seek->TakeTouched().all) << "nobody has seen a node";
  for (uint64_t from = 0; from < kRecords; from += 7) {
    const uint64_t to = std::min<uint64_t>(kRecords, from + 1 + from % 3);
    ASSERT_EQ(seek->ToRecord(from), absl::OkStatus());
    seek->TakeTouched();
    ASSERT_EQ(seek->ToRecord(to), absl::OkStatus());
    TouchedNodes touched = seek->TakeTouched();
    std::vector<NodeId> wanted;
    for (uint64_t r = from; r < to; ++r) {
      if (named[r].valid()) wanted.push_back(named[r]);
    }
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    ASSERT_FALSE(touched.all) << "a short way is read, also over a keyframe: " << from;
    std::sort(touched.nodes.begin(), touched.nodes.end());
    EXPECT_EQ(touched.nodes, wanted) << from;
  }
  ASSERT_EQ(seek->ToRecord(0), absl::OkStatus());
  EXPECT_TRUE(seek->TakeTouched().all) << "a move back begins anew";
  ASSERT_EQ(seek->ToRecord(kRecords), absl::OkStatus());
  EXPECT_TRUE(seek->TakeTouched().all) << "a long way begins at a keyframe";
}

TEST(LedgerSeekTest, EveryPodHasItsOwner) {
  const std::string bytes = RandomLedger(6, 300);
  const std::unique_ptr<LedgerSeek> seek = SeekIn(bytes);
  ASSERT_GT(seek->index().keyframes.size(), 10u);
  for (uint64_t to = 0; to <= 301; to += 7) {
    ASSERT_EQ(seek->ToRecord(to), absl::OkStatus());
    for (size_t row = 0; row < seek->cluster().pod_count(); ++row) {
      const uint64_t number = seek->NumberOf(PodId(row));
      EXPECT_EQ(seek->JobOf(PodId(row)), JobId(number)) << to;
      EXPECT_EQ(seek->TenantOf(PodId(row)), TenantOfPod(number)) << to;
    }
  }
}

TEST(LedgerSeekTest, ALedgerWithoutKeyframes) {
  const LedgerExample example = MakeLedgerExample();
  const WholeReading whole = ReadWhole(example.bytes, example.records.size(), 100);
  const std::unique_ptr<LedgerSeek> seek = SeekIn(example.bytes);
  EXPECT_TRUE(seek->index().keyframes.empty());
  EXPECT_EQ(seek->index().checkpoints.size(), 3u);
  ASSERT_EQ(seek->ToRecord(5), absl::OkStatus());
  EXPECT_FALSE(seek->JobOf(PodId(0u)).valid());
  EXPECT_EQ(seek->TenantOf(PodId(0u)), "");
  for (const size_t to : {size_t{14}, size_t{3}, size_t{9}, size_t{0}, size_t{13}, size_t{13}}) {
    ASSERT_EQ(seek->ToRecord(to), absl::OkStatus());
    EXPECT_TRUE(LiveImage(*seek) == whole.images[to].second) << to;
  }
  // Two records at 0 s, six at 1.000000007 s, four at 2 s, two at 2.5 s.
  const std::pair<int64_t, uint64_t> moments[] = {
      {2'500'000'000, 14}, {2'499'999'999, 12}, {1'000'000'006, 2}, {1'000'000'007, 8}, {-1, 0}};
  for (const auto& [time_ns, records] : moments) {
    ASSERT_EQ(seek->ToTime(SimTime(time_ns)), absl::OkStatus());
    EXPECT_EQ(seek->record(), records) << time_ns;
  }
}

// The index of the end frame and a walk over the frames find the same places.
TEST(LedgerSeekTest, AWalkFindsWhatTheIndexHas) {
  const std::string bytes = RandomLedger(2, 300);
  const LedgerIndex whole = SeekIn(bytes)->index();
  EXPECT_TRUE(whole.complete);
  const std::string partial = bytes.substr(0, FramesOf(bytes).back().begin);
  const LedgerIndex walked = SeekIn(partial)->index();
  EXPECT_FALSE(walked.complete);
  EXPECT_TRUE(walked.blocks == whole.blocks);
  EXPECT_TRUE(walked.definitions == whole.definitions);
  EXPECT_TRUE(walked.keyframes == whole.keyframes);
  EXPECT_TRUE(walked.series == whole.series);
  EXPECT_TRUE(walked.pods == whole.pods);
  EXPECT_TRUE(walked.checkpoints == whole.checkpoints);
  EXPECT_EQ(walked.records, whole.records);
  EXPECT_EQ(walked.end, whole.end);
}

TEST(LedgerSeekTest, DamageIsNamedAndLeavesTheRestReadable) {
  std::string bytes = RandomLedger(3, 300);
  const WholeReading whole = ReadWhole(bytes, 301, 301);
  const LedgerIndex index = SeekIn(bytes)->index();
  ASSERT_GT(index.keyframes.size(), 5u);
  const LedgerPlace& keyframe = index.keyframes[3];
  bytes[keyframe.offset + 12] = static_cast<char>(bytes[keyframe.offset + 12] ^ 1);
  const std::unique_ptr<LedgerSeek> seek = SeekIn(bytes);
  EXPECT_EQ(seek->ToRecord(keyframe.records),
            absl::DataLossError(absl::StrCat("memory: damaged at byte ", keyframe.offset,
                                             ": a frame's checksum does not match")));
  Record record;
  EXPECT_FALSE(seek->Next(&record).ok());
  for (const uint64_t to : {index.keyframes[4].records + 1, keyframe.records - 1, uint64_t{0}}) {
    ASSERT_EQ(seek->ToRecord(to), absl::OkStatus());
    EXPECT_TRUE(LiveImage(*seek) == whole.images[to].second) << to;
  }
}

constexpr unsigned char kFlips[] = {0x01, 0x80, 0xff};

// Everything that a reader of any bytes may do.
void UseAll(const std::string& bytes) {
  absl::StatusOr<std::unique_ptr<LedgerSeek>> opened = LedgerSeek::FromMemory(bytes);
  if (!opened.ok()) return;
  LedgerSeek& seek = **opened;
  for (const LedgerPlace& keyframe : std::vector<LedgerPlace>(seek.index().keyframes)) {
    if (seek.ToRecord(keyframe.records).ok()) {
      EXPECT_EQ(seek.cluster().CheckInvariants(), absl::OkStatus());
    }
  }
  (void)seek.ToRecord(~uint64_t{0});
  for (size_t row = 0; row < seek.cluster().pod_count(); ++row) {
    (void)seek.JobOf(PodId(row));
    EXPECT_LE(seek.TenantOf(PodId(row)).size(), bytes.size());
  }
  for (size_t n = 0; n < seek.cluster().node_count(); ++n) (void)seek.LayoutOf(NodeId(n), 0);
  (void)seek.ToTime(SimTime(1'000'000'000));
  (void)seek.ReadSeries();
  for (size_t i = 0; i < seek.index().pods.size(); ++i) (void)seek.ReadPods(i);
}

TEST(LedgerSeekTest, FlippedBytesWithAFittingChecksumNeverCrash) {
  const google::protobuf::LogSilencer silencer;
  const std::string bytes = RandomLedger(4, 60);
  size_t flips = 0;
  for (const LedgerFrame& frame : FramesOf(bytes)) {
    // ledger_test.cc flips headers and checkpoints.
    if (frame.type == 1 || frame.type == 3) continue;
    for (size_t at = 0; at < frame.payload.size(); ++at) {
      for (const unsigned char flip : kFlips) {
        std::string payload = frame.payload;
        payload[at] = static_cast<char>(static_cast<unsigned char>(payload[at]) ^ flip);
        UseAll(absl::StrCat(absl::string_view(bytes).substr(0, frame.begin),
                            MakeFrame(static_cast<FrameType>(frame.type), payload),
                            absl::string_view(bytes).substr(frame.end)));
        ++flips;
      }
    }
  }
  EXPECT_GT(flips, 1000u);
}

// Bytes flipped below the compression, where nothing but the reader's own care is left.
TEST(LedgerSeekTest, FlippedBytesOfALiveStateNeverCrash) {
  const google::protobuf::LogSilencer silencer;
  const std::string bytes = RandomLedger(5, 60);
  size_t flips = 0;
  for (const LedgerFrame& frame : FramesOf(bytes)) {
    if (frame.type != static_cast<int>(FrameType::kKeyframe)) continue;
    proto::LedgerKeyframe keyframe;
    ASSERT_TRUE(keyframe.ParseFromString(frame.payload));
    std::string live;
    ASSERT_TRUE(Unpack(keyframe.live(), keyframe.live_bytes(), &live));
    for (size_t at = 0; at < live.size(); ++at) {
      for (const unsigned char flip : kFlips) {
        std::string changed = live;
        changed[at] = static_cast<char>(static_cast<unsigned char>(changed[at]) ^ flip);
        keyframe.set_live(Pack(changed));
        keyframe.set_live_bytes(changed.size());
        const std::string payload = keyframe.SerializeAsString();
        // Partial, because the index is void: places behind the frame move.
        UseAll(absl::StrCat(absl::string_view(bytes).substr(0, frame.begin),
                            MakeFrame(FrameType::kKeyframe, payload)));
        ++flips;
      }
    }
  }
  EXPECT_GT(flips, 500u);
}

TEST(LedgerSeekTest, AnUnreadableLastBlockCountsNothing) {
  const std::string bytes = RandomLedger(3, 300);
  const LedgerIndex whole = SeekIn(bytes)->index();
  ASSERT_GT(whole.blocks.size(), 2u);
  const LedgerPlace& last = whole.blocks.back();
  const std::string cut = absl::StrCat(absl::string_view(bytes).substr(0, last.offset),
                                       MakeFrame(FrameType::kBlock, std::string(30, '\xff')),
                                       MakeFrame(FrameType::kBlock, std::string(20, '\xff')));
  const LedgerIndex index = SeekIn(cut)->index();
  EXPECT_FALSE(index.complete);
  EXPECT_EQ(index.blocks.size(), whole.blocks.size() - 1);
  EXPECT_EQ(index.records, last.records);
  EXPECT_EQ(index.end, last.time);
}

TEST(LedgerSeekTest, RefusesWhatIsNoLedgerOfThisFormat) {
  EXPECT_EQ(
      LedgerSeek::FromMemory("something else").status(),
      absl::InvalidArgumentError("memory: not a drasim ledger; `drasim run --out DIR` writes one"));
  proto::LedgerHeader header;
  header.set_version(3);
  EXPECT_EQ(LedgerSeek::FromMemory(
                absl::StrCat("DRASIMLG", MakeFrame(FrameType::kHeader, header.SerializeAsString())))
                .status(),
            absl::InvalidArgumentError(
                "memory: ledger format 3; this drasim reads format 4: repeat the run with it"));
}

}  // namespace ledger_seek_test
}  // namespace drasim
