// Ledgers that were cut off, damaged or made up: the reader answers with sound records and an
// error, never with a crash.
#include <google/protobuf/stubs/logging.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/proto/ledger.pb.h"
#include "sim/record/ledger_frame.h"
#include "sim/record/ledger_reader.h"
#include "tests/sim/record/ledger_example.h"

namespace drasim {
namespace ledger_damage_test {

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
      EXPECT_EQ(content.status, absl::InvalidArgumentError("memory: not a drasim ledger")) << cut;
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

// How reading the block ends: empty for no error, else the message behind the place.
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
  EXPECT_PRED2(ends_with, error(MakeFrame(static_cast<FrameType>(9), "")),
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
  const absl::Status unreadable =
      absl::DataLossError("memory: damaged at byte 8: no readable header");
  EXPECT_EQ(ReadLedgerBytes(absl::StrCat("DRASIMLG", MakeFrame(FrameType::kHeader, "\xff"))).status,
            unreadable);
  EXPECT_EQ(ReadLedgerBytes(absl::StrCat("DRASIMLG", MakeFrame(FrameType::kBlock, ""))).status,
            unreadable);
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
  EXPECT_EQ(error(checkpoint), "a checkpoint does not unpack");
  checkpoint.set_state_bytes(uint64_t{1} << 60);
  EXPECT_EQ(error(checkpoint), "a checkpoint claims an impossible size");
  checkpoint.set_state_bytes(1'000'000);
  EXPECT_EQ(error(checkpoint), "a checkpoint claims an impossible size");
}

}  // namespace ledger_damage_test
}  // namespace drasim
