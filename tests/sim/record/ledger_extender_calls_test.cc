// Calls to scheduler extenders through a ledger: lines, frames, and damage.
#include "sim/record/ledger_extender_calls.h"

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/proto/ledger.pb.h"
#include "model/time.h"
#include "sim/record/ledger_frame.h"
#include "sim/record/ledger_index.h"
#include "sim/record/ledger_reader.h"
#include "sim/record/ledger_writer.h"
#include "tests/sim/record/ledger_example.h"
#include "tests/sim/record/record_script.h"
#include "tests/testing/assert_ok.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace ledger_extender_calls_test {

TEST(LedgerExtenderCallsTest, FramesAddUp) {
  std::string lines = "before\n";
  ASSERT_TRUE(UnpackExtenderCalls(PackExtenderCalls(7, SimTime(9), "a\nb\n"), &lines));
  EXPECT_EQ(lines, "before\na\nb\n");
  LedgerPlace place;
  ReadMoment(PackExtenderCalls(7, SimTime(9), "a\n"), &place);
  EXPECT_EQ(place.records, 7u);
  EXPECT_EQ(place.time, SimTime(9));
}

TEST(LedgerExtenderCallsTest, LiesAreNoLines) {
  const std::string good = PackExtenderCalls(1, SimTime(), std::string(1000, 'x'));
  std::string lines;
  EXPECT_FALSE(UnpackExtenderCalls("nonsense", &lines));
  EXPECT_FALSE(UnpackExtenderCalls(good.substr(0, good.size() / 2), &lines));
  proto::LedgerExtenderCalls frame;
  ASSERT_TRUE(frame.ParseFromString(good));
  for (const uint64_t bytes : {uint64_t{0}, uint64_t{999}, uint64_t{1001}, uint64_t{1} << 62}) {
    frame.set_lines_bytes(bytes);
    EXPECT_FALSE(UnpackExtenderCalls(frame.SerializeAsString(), &lines)) << bytes;
  }
  EXPECT_EQ(lines, "");
}

// Lines come before records, between them and after them; many fill a frame of their own.
TEST(LedgerExtenderCallsTest, ALedgerHasThemInOrder) {
  const TempDir dir;
  RecordScript script;
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<LedgerWriter> writer,
                       LedgerWriter::Create(dir.PathOf("ledger"), kExampleYaml, script.cluster(),
                                            kExampleRanks, script.summaries()));
  script.AddSink(writer.get());
  const ShapeId shape = script.Shape(1000, kGib, 0, 0);
  std::string all;
  for (size_t i = 0; i < 40; ++i) {
    std::string line = absl::StrCat("call ", i, " ");
    line.append(kExtenderBytesPerBlock / 16, static_cast<char>('a' + i % 26));
    line.push_back('\n');
    writer->AddExtenderCall(line);
    all += line;
    if (i < 38) script.Arrive(absl::StrCat("pod-", i), shape);
    if (i != 20) continue;
    // A kill loses nothing that a checkpoint has seen.
    ASSERT_EQ(writer->AddCheckpoint(SavedState()), absl::OkStatus());
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<LedgerReader> partial,
                         LedgerReader::Open(dir.PathOf("ledger.partial")));
    ASSERT_OK_AND_ASSIGN(const LedgerIndex walked, partial->ReadIndex());
    ASSERT_OK_AND_ASSIGN(const std::string so_far, ReadExtenderCalls(*partial, walked));
    EXPECT_TRUE(so_far == all);
  }
  ASSERT_EQ(writer->Finish(kExampleFingerprint), absl::OkStatus());

  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<LedgerReader> reader,
                       LedgerReader::Open(dir.PathOf("ledger")));
  ASSERT_OK_AND_ASSIGN(LedgerIndex index, reader->ReadIndex());
  EXPECT_EQ(index.extender_calls.size(), 4u);  // two by size, at the checkpoint, at the end
  ASSERT_OK_AND_ASSIGN(const std::string lines, ReadExtenderCalls(*reader, index));
  EXPECT_TRUE(lines == all);
  size_t records = 0;
  Record record;
  while (true) {
    ASSERT_OK_AND_ASSIGN(const bool more, reader->Next(&record));
    if (!more) break;
    ++records;
  }
  EXPECT_EQ(records, 38u);
  EXPECT_TRUE(reader->complete());

  index.CutAt(index.extender_calls[2].offset);
  EXPECT_EQ(index.extender_calls.size(), 2u);
  ASSERT_OK_AND_ASSIGN(const std::string fewer, ReadExtenderCalls(*reader, index));
  EXPECT_TRUE(fewer == all.substr(0, fewer.size()) && fewer.size() < all.size());
}

}  // namespace ledger_extender_calls_test
}  // namespace drasim
