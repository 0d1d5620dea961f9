// Claim changes through a ledger: frames, seeks, continuation, and hostile bytes.
#include "sim/record/ledger_claims.h"

#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/check.h"
#include "model/claim_change.h"
#include "model/ids.h"
#include "model/proto/ledger.pb.h"
#include "model/random.h"
#include "model/record.h"
#include "model/time.h"
#include "sim/record/ledger_digest.h"
#include "sim/record/ledger_frame.h"
#include "sim/record/ledger_index.h"
#include "sim/record/ledger_reader.h"
#include "sim/record/ledger_seek.h"
#include "sim/record/ledger_writer.h"
#include "sim/record/live_claims.h"
#include "tests/sim/record/claim_script.h"
#include "tests/sim/record/ledger_example.h"
#include "tests/sim/record/record_script.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace ledger_claims_test {

constexpr LedgerPace kPace = {/*records_per_block=*/8, /*records_per_keyframe=*/20,
                              /*records_per_live_object=*/0, /*blocks_per_series=*/3,
                              /*pods_per_frame=*/5};
constexpr uint64_t kRecords = 240;

bool IsCheckpointAt(uint64_t records) { return records == 43 || records % 64 == 0; }

// Pods that come and are given up, and changes of claims between; a function of the seed.
class ClaimRun {
 public:
  explicit ClaimRun(uint64_t seed) : random_(seed, "ledger_claims_test"), claims_(seed) {}
  const RecordScript& script() const { return script_; }
  const std::vector<LoggedClaimChange>& changes() const { return changes_; }

  // Plays `until` records. The writer gets what lies behind the first `done`, with checkpoints.
  void Play(LedgerWriter* writer, uint64_t done, uint64_t until) {
    class Gate : public RecordSink {
     public:
      Gate(RecordSink* target, uint64_t first) : target_(target), first_(first) {}
      void OnRecord(const Record& record, const ClusterState& cluster) override {
        if (seen_++ >= first_) target_->OnRecord(record, cluster);
      }

     private:
      RecordSink* target_;
      uint64_t first_;
      uint64_t seen_ = 0;
    };
    Gate gate(writer, done);
    script_.AddSink(&gate);
    for (uint64_t n = 1; n <= until; ++n) {
      for (uint64_t k = random_.Bernoulli(1, 3) ? random_.Below(9) : 0; k > 0; --k) {
        // Here record `done` has its checkpoint behind it.
        Tell(n - 1 >= done ? writer : nullptr, n - 1);
      }
      Tick();
      if (n % 2 == 1) {
        pod_ = script_.Arrive(absl::StrCat("pod-", n), script_.Shape(100, kGib, 0, 0));
      } else {
        script_.Drop(pod_);
      }
      if (!IsCheckpointAt(n)) continue;
      for (uint64_t k = random_.Below(3); k > 0; --k) Tell(n > done ? writer : nullptr, n);
      if (n > done) {
        DRASIM_CHECK(writer->AddCheckpoint(SavedState(absl::StrCat("state ", n))).ok());
      }
      for (uint64_t k = random_.Below(3); k > 0; --k) Tell(n >= done ? writer : nullptr, n);
    }
  }

 private:
  void Tick() {
    if (random_.Bernoulli(1, 2)) now_ns_ += static_cast<int64_t>(random_.Below(1000));
    script_.At(now_ns_);
  }
  void Tell(LedgerWriter* writer, uint64_t records) {
    Tick();
    const ClaimChange change = claims_.Next(SimTime(now_ns_));
    changes_.push_back({records, change});
    if (writer != nullptr) writer->OnClaimChange(change);
  }

  Random random_;
  ClaimScript claims_;
  RecordScript script_;
  std::vector<LoggedClaimChange> changes_;
  int64_t now_ns_ = 0;
  PodId pod_;
};

struct PlayedLedger {
  std::string bytes;
  std::vector<LoggedClaimChange> changes;
  std::vector<Record> records;
};

PlayedLedger PlayLedger(uint64_t seed) {
  const TempDir dir;
  ClaimRun run(seed);
  absl::StatusOr<std::unique_ptr<LedgerWriter>> writer =
      LedgerWriter::Create(dir.PathOf("ledger"), kExampleYaml, run.script().cluster(),
                           kExampleRanks, run.script().summaries(), kPace);
  DRASIM_CHECK(writer.ok());
  run.Play(writer->get(), 0, kRecords);
  DRASIM_CHECK((*writer)->Finish(kExampleFingerprint).ok());
  return {dir.Read("ledger"), run.changes(), run.script().records()};
}

std::vector<LoggedClaimChange> RandomChanges(uint64_t seed, size_t count) {
  ClaimScript script(seed);
  std::vector<LoggedClaimChange> changes;
  for (size_t i = 0; i < count; ++i) {
    changes.push_back({i / 3, script.Next(SimTime(static_cast<int64_t>(i * i)))});
  }
  return changes;
}

TEST(LedgerClaimsTest, ChangesGoThroughAFrame) {
  const std::vector<LoggedClaimChange> changes = RandomChanges(1, 500);
  std::map<ClaimChangeKind, int> kinds;
  for (const LoggedClaimChange& logged : changes) ++kinds[logged.change.kind];
  ASSERT_EQ(kinds.size(), kClaimChangeKinds);
  const std::string payload = PackClaims(400, SimTime(9), changes);
  std::vector<LoggedClaimChange> found;
  ASSERT_TRUE(UnpackClaims(payload, 2, &found));
  EXPECT_TRUE(found == changes);
  LedgerPlace place;
  ReadMoment(absl::string_view(payload).substr(0, 24), &place);
  EXPECT_EQ(place.records, 400u);
  EXPECT_EQ(place.time, SimTime(9));
}

TEST(LedgerClaimsTest, LiveClaimsGoThroughAFrame) {
  LiveClaims claims;
  for (const LoggedClaimChange& logged : RandomChanges(2, 500)) claims.Apply(logged.change);
  ASSERT_GT(claims.claims().size(), 3u);
  LiveClaims found;
  ASSERT_TRUE(UnpackLiveClaims(PackLiveClaims(3, SimTime(4), claims), 2, &found));
  EXPECT_TRUE(found == claims);
}

TEST(LedgerClaimsTest, ChangesThatCannotBe) {
  const std::vector<LoggedClaimChange> changes = RandomChanges(3, 60);
  std::vector<LoggedClaimChange> found;
  // A node that does not exist; changes behind the frame; times before the run.
  EXPECT_FALSE(UnpackClaims(PackClaims(400, SimTime(), changes), 1, &found));
  EXPECT_TRUE(UnpackClaims(PackClaims(19, SimTime(), changes), 2, &found));
  EXPECT_FALSE(UnpackClaims(PackClaims(18, SimTime(), changes), 2, &found));
  std::vector<LoggedClaimChange> early = changes;
  early[0].change.time = SimTime(-1);
  EXPECT_FALSE(UnpackClaims(PackClaims(400, SimTime(), early), 2, &found));
  EXPECT_FALSE(UnpackClaims("nonsense", 2, &found));
}

TEST(LedgerClaimsTest, ATextThatIsUsedTooOften) {
  std::vector<LoggedClaimChange> changes(1024);
  for (LoggedClaimChange& logged : changes) {
    logged.change.kind = ClaimChangeKind::kReserved;
    logged.change.claim = 1;
    logged.change.text = std::string(1 << 10, 'x');
  }
  proto::LedgerClaims frame;
  ASSERT_TRUE(frame.ParseFromString(PackClaims(1, SimTime(), changes)));
  const auto with_text_of = [&](size_t bytes) {
    std::string columns;
    proto::LedgerClaimChanges p;
    EXPECT_TRUE(Unpack(frame.columns(), frame.columns_bytes(), &columns) &&
                p.ParseFromString(columns));
    p.set_texts(0, std::string(bytes, 'x'));
    columns = p.SerializeAsString();
    proto::LedgerClaims changed = frame;
    changed.set_columns_bytes(columns.size());
    changed.set_columns(Pack(columns));
    return changed.SerializeAsString();
  };
  std::vector<LoggedClaimChange> found;
  EXPECT_TRUE(UnpackClaims(with_text_of(2 << 10), 1, &found));
  EXPECT_EQ(found.size(), changes.size());
  found.clear();
  EXPECT_FALSE(UnpackClaims(with_text_of((1 << 20) + 1), 1, &found));
  EXPECT_TRUE(found.empty());
}

TEST(LedgerClaimsTest, EveryInstantFromEveryOther) {
  const PlayedLedger played = PlayLedger(1);
  absl::StatusOr<std::unique_ptr<LedgerSeek>> opened = LedgerSeek::FromMemory(played.bytes);
  ASSERT_TRUE(opened.ok()) << opened.status();
  LedgerSeek& seek = **opened;
  ASSERT_GT(seek.index().live_claims.size(), 5u);
  ASSERT_GT(seek.index().claims.size(), 20u);
  Random random(1, "seeks");
  for (int i = 0; i < 3000; ++i) {
    if (random.Bernoulli(1, 2)) {
      const uint64_t to = random.Below(kRecords + 1);
      ASSERT_EQ(seek.ToRecord(to), absl::OkStatus());
      ASSERT_TRUE(seek.claims() == ClaimsAfter(played.changes, to)) << to;
    } else {
      const SimTime near = played.changes[random.Below(played.changes.size())].change.time;
      const SimTime time(near.ns() + static_cast<int64_t>(random.Below(3)) - 1);
      ASSERT_EQ(seek.ToTime(time), absl::OkStatus());
      const auto records = static_cast<uint64_t>(
          std::count_if(played.records.begin(), played.records.end(),
                        [time](const Record& record) { return record.time <= time; }));
      ASSERT_EQ(seek.record(), records);
      ASSERT_TRUE(seek.claims() == ClaimsAfter(played.changes, records, time)) << time.ns();
    }
    if (!random.Bernoulli(1, 3) || seek.record() == kRecords) continue;
    Record record;
    ASSERT_TRUE(*seek.Next(&record));
    ASSERT_TRUE(seek.claims() == ClaimsAfter(played.changes, seek.record())) << seek.record();
  }
}

TEST(LedgerClaimsTest, ChangesReadFrameByFrame) {
  const PlayedLedger played = PlayLedger(2);
  absl::StatusOr<std::unique_ptr<LedgerSeek>> seek = LedgerSeek::FromMemory(played.bytes);
  ASSERT_TRUE(seek.ok()) << seek.status();
  std::vector<LoggedClaimChange> found;
  for (size_t i = 0; i < (*seek)->index().claims.size(); ++i) {
    const absl::StatusOr<std::vector<LoggedClaimChange>> frame = (*seek)->ReadClaimChanges(i);
    ASSERT_TRUE(frame.ok()) << frame.status();
    found.insert(found.end(), frame->begin(), frame->end());
  }
  EXPECT_TRUE(found == played.changes);
  EXPECT_EQ((*seek)->record(), 0u);
}

TEST(LedgerClaimsTest, CallsOfClientsStandBesideTheChanges) {
  const TempDir dir;
  RecordScript script;
  absl::StatusOr<std::unique_ptr<LedgerWriter>> writer =
      LedgerWriter::Create(dir.PathOf("ledger"), kExampleYaml, script.cluster(), kExampleRanks,
                           script.summaries(), kPace);
  ASSERT_TRUE(writer.ok()) << writer.status();
  script.AddSink(writer->get());
  uint64_t calls = 0;
  (*writer)->set_calls([&calls] {
    return std::vector<ClientCalls>{{"scheduler", calls}, {"kubelet", 2 * calls}};
  });
  ClaimScript claims(6);
  for (int i = 1; i <= 20; ++i) {
    script.At(i);
    script.Drop(script.Arrive(absl::StrCat("pod-", i), script.Shape(100, kGib, 0, 0)));
    calls += 10;
    (*writer)->OnClaimChange(claims.Next(SimTime(i)));
  }
  ASSERT_EQ((*writer)->Finish(kExampleFingerprint), absl::OkStatus());
  const std::string bytes = dir.Read("ledger");
  absl::StatusOr<std::unique_ptr<LedgerSeek>> seek = LedgerSeek::FromMemory(bytes);
  ASSERT_TRUE(seek.ok()) << seek.status();
  const absl::StatusOr<std::vector<CallsSample>> samples = (*seek)->ReadCalls();
  ASSERT_TRUE(samples.ok()) << samples.status();
  // Blocks end after 4, 8, ... pods, before the calls that follow; the rest is written at the end.
  ASSERT_EQ(samples->size(), 6u);
  for (size_t i = 0; i < samples->size(); ++i) {
    const CallsSample& sample = (*samples)[i];
    const uint64_t pods = std::min<uint64_t>(4 * (i + 1), 20);
    const uint64_t by_then = i + 1 == samples->size() ? 200 : 10 * (pods - 1);
    EXPECT_EQ(sample.time, SimTime(static_cast<int64_t>(pods)));
    EXPECT_TRUE(sample.clients ==
                (std::vector<ClientCalls>{{"scheduler", by_then}, {"kubelet", 2 * by_then}}))
        << i;
  }
}

// Readers of records pass over the frames, and a walk finds them where the index has them.
TEST(LedgerClaimsTest, OtherReadersDoNotMind) {
  const PlayedLedger played = PlayLedger(3);
  const LedgerContent content = ReadLedgerBytes(played.bytes);
  EXPECT_EQ(content.status, absl::OkStatus());
  EXPECT_TRUE(content.complete);
  EXPECT_TRUE(content.records == played.records);
  const std::string partial = played.bytes.substr(0, FramesOf(played.bytes).back().begin);
  absl::StatusOr<std::unique_ptr<LedgerSeek>> whole = LedgerSeek::FromMemory(played.bytes);
  absl::StatusOr<std::unique_ptr<LedgerSeek>> walked = LedgerSeek::FromMemory(partial);
  ASSERT_TRUE(whole.ok() && walked.ok());
  EXPECT_TRUE((*walked)->index().claims == (*whole)->index().claims);
  EXPECT_TRUE((*walked)->index().live_claims == (*whole)->index().live_claims);
  EXPECT_FALSE((*whole)->index().claims.empty());
}

TEST(LedgerClaimsTest, WithoutChangesThereAreNoFrames) {
  const LedgerExample example = MakeLedgerExample();
  for (const LedgerFrame& frame : FramesOf(example.bytes)) EXPECT_LT(frame.type, 9);
}

TEST(LedgerClaimsTest, AContinuedLedgerHasTheSameBytes) {
  const std::string whole = PlayLedger(4).bytes;
  size_t checkpoints = 0;
  for (const LedgerFrame& frame : FramesOf(whole)) {
    if (frame.type != static_cast<int>(FrameType::kCheckpoint)) continue;
    ++checkpoints;
    const TempDir dir;
    dir.Write("ledger.partial", absl::string_view(whole).substr(0, frame.end + 5));
    absl::StatusOr<std::unique_ptr<LedgerReader>> reader =
        LedgerReader::Open(dir.PathOf("ledger.partial"));
    ASSERT_TRUE(reader.ok()) << reader.status();
    const absl::StatusOr<LedgerPosition> position = FindLastCheckpoint(**reader, kPace);
    ASSERT_TRUE(position.ok()) << position.status();
    ClaimRun run(4);
    absl::StatusOr<std::unique_ptr<LedgerWriter>> writer = LedgerWriter::Continue(
        *position, kExampleYaml, run.script().cluster(), kExampleRanks, run.script().summaries());
    ASSERT_TRUE(writer.ok()) << writer.status();
    ASSERT_EQ((*writer)->Reopen(dir.PathOf("ledger")), absl::OkStatus());
    run.Play(writer->get(), position->checkpoints.back().records, kRecords);
    ASSERT_EQ((*writer)->Finish(kExampleFingerprint), absl::OkStatus());
    EXPECT_TRUE(dir.Read("ledger") == whole) << position->checkpoints.back().records;
  }
  EXPECT_EQ(checkpoints, 4u);
}

constexpr unsigned char kFlips[] = {0x01, 0x80, 0xff};

// Bytes flipped below the compression, where nothing but the reader's own care is left.
TEST(LedgerClaimsTest, FlippedBytesNeverCrash) {
  const google::protobuf::LogSilencer silencer;
  const std::string bytes = PlayLedger(5).bytes;
  size_t flips = 0;
  size_t damaged = 0;
  for (const LedgerFrame& frame : FramesOf(bytes)) {
    const auto type = static_cast<FrameType>(frame.type);
    if (type != FrameType::kClaims && type != FrameType::kLiveClaims) continue;
    if (frame.begin > bytes.size() / 4) break;
    proto::LedgerClaims outer;  // both types have the same fields
    ASSERT_TRUE(outer.ParseFromString(frame.payload));
    std::string columns;
    ASSERT_TRUE(Unpack(outer.columns(), outer.columns_bytes(), &columns));
    for (size_t at = 0; at < columns.size(); ++at) {
      for (const unsigned char flip : kFlips) {
        std::string changed = columns;
        changed[at] = static_cast<char>(static_cast<unsigned char>(changed[at]) ^ flip);
        outer.set_columns(Pack(changed));
        outer.set_columns_bytes(changed.size());
        const std::string payload = outer.SerializeAsString();
        std::vector<LoggedClaimChange> changes;
        LiveClaims claims;
        const bool sound = type == FrameType::kClaims ? UnpackClaims(payload, 2, &changes)
                                                      : UnpackLiveClaims(payload, 2, &claims);
        damaged += sound ? 0 : 1;
        ++flips;
        if (flips % 16 != 0) continue;
        const std::string ledger =
            absl::StrCat(absl::string_view(bytes).substr(0, frame.begin), MakeFrame(type, payload));
        absl::StatusOr<std::unique_ptr<LedgerSeek>> seek = LedgerSeek::FromMemory(ledger);
        ASSERT_TRUE(seek.ok()) << seek.status();
        const absl::Status moved = (*seek)->ToTime(SimTime(int64_t{1} << 60));
        if (!sound && type == FrameType::kClaims) {
          EXPECT_TRUE(absl::IsDataLoss(moved)) << moved;
          EXPECT_TRUE(absl::StrContains(moved.message(), absl::StrCat("at byte ", frame.begin)));
        }
      }
    }
  }
  EXPECT_GT(flips, 3000u);
  EXPECT_GT(damaged, flips / 4);
}

}  // namespace ledger_claims_test
}  // namespace drasim
