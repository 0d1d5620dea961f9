#include "model/record.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/device_set.h"
#include "model/hash.h"
#include "model/random.h"
#include "model/state_io.h"

namespace drasim {
namespace record_test {

using Row = VerdictSummaryTable::Row;
using Rejected = std::vector<std::pair<uint8_t, uint32_t>>;

Row MakeRow(uint32_t nodes, Rejected rejected) {
  Row row;
  row.nodes = nodes;
  row.rejected = std::move(rejected);
  return row;
}

const std::vector<std::string>& Reasons() {
  static const auto* const reasons = new std::vector<std::string>{
      "Insufficient cpu", "Too many pods", "node(s) didn't match Pod's node affinity/selector"};
  return *reasons;
}

VerdictSummaryTable TableWithReasons() {
  VerdictSummaryTable table;
  table.SetReasons(Reasons());
  return table;
}

absl::Status LoadInto(absl::string_view bytes, VerdictSummaryTable& table) {
  StateReader in(bytes);
  return table.Load(in);
}

TEST(RecordKindTest, ValuesAreThoseOfTheLedger) {
  EXPECT_EQ(static_cast<int>(RecordKind::kPodArrived), 1);
  EXPECT_EQ(static_cast<int>(RecordKind::kPodReserved), 2);
  EXPECT_EQ(static_cast<int>(RecordKind::kPodBound), 3);
  EXPECT_EQ(static_cast<int>(RecordKind::kPodUnreserved), 4);
  EXPECT_EQ(static_cast<int>(RecordKind::kAttemptFailed), 5);
  EXPECT_EQ(static_cast<int>(RecordKind::kPodDropped), 6);
  EXPECT_EQ(static_cast<int>(RecordKind::kPodFinished), 7);
  EXPECT_EQ(static_cast<int>(RecordKind::kRunEnded), 8);
}

TEST(ReasonKindTest, ValuesAreThoseOfTheLedger) {
  EXPECT_EQ(static_cast<int>(ReasonKind::kOther), 0);
  EXPECT_EQ(static_cast<int>(ReasonKind::kCpu), 1);
  EXPECT_EQ(static_cast<int>(ReasonKind::kCordoned), 8);
  EXPECT_EQ(static_cast<int>(ReasonKind::kPodHold), 15);
  EXPECT_EQ(static_cast<int>(ReasonKind::kPlacementRule), 16);
  EXPECT_EQ(static_cast<int>(ReasonKind::kWaitsForDriver), 18);
  EXPECT_EQ(static_cast<int>(ReasonKind::kStaleObject), 20);
  EXPECT_EQ(static_cast<int>(ReasonKind::kHostPorts), 21);
  EXPECT_EQ(static_cast<int>(ReasonKind::kTopologySpread), 22);
  EXPECT_EQ(static_cast<int>(ReasonKind::kPodAffinity), 23);
  EXPECT_EQ(static_cast<int>(ReasonKind::kVolume), 24);
  EXPECT_EQ(kReasonKinds, 25);
}

TEST(VerdictSummaryTest, NegotiationsHaveNoVerdictAmongTheirReasons) {
  VerdictSummaryTable table;
  table.SetReasons({"cpu", "driver", "step", "stale"},
                   {ReasonKind::kCpu, ReasonKind::kWaitsForDriver, ReasonKind::kNegotiationStep,
                    ReasonKind::kStaleObject});
  EXPECT_FALSE(table.IsNegotiation(table.Intern(MakeRow(3, {}))));
  EXPECT_FALSE(table.IsNegotiation(table.Intern(MakeRow(3, {{1, 3}}))));
  EXPECT_FALSE(table.IsNegotiation(table.Intern(MakeRow(3, {{1, 1}, {2, 2}}))));
  EXPECT_TRUE(table.IsNegotiation(table.Intern(MakeRow(3, {{2, 3}}))));
  EXPECT_TRUE(table.IsNegotiation(table.Intern(MakeRow(3, {{3, 1}, {4, 2}}))));
  EXPECT_EQ(table.kinds().size(), 4u);
  VerdictSummaryTable plain = TableWithReasons();
  EXPECT_FALSE(plain.IsNegotiation(plain.Intern(MakeRow(3, {{1, 3}}))));
}

TEST(RecordKindTest, EveryKindHasItsName) {
  std::vector<std::string> names;
  for (int i = 0; i < kRecordKinds; ++i) {
    names.push_back(std::string(RecordKindName(static_cast<RecordKind>(i))));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"Invalid", "PodArrived", "PodReserved", "PodBound",
                                             "PodUnreserved", "AttemptFailed", "PodDropped",
                                             "PodFinished", "RunEnded", "PodEvicted", "PodFailed",
                                             "PodDeleted", "NodeChanged", "PodAdmitted",
                                             "PodRejected", "DevicesChanged", "PodStarted"}));
  EXPECT_EQ(std::string(RecordKindName(static_cast<RecordKind>(200))), "Invalid");
}

TEST(RecordTest, ComparesEveryField) {
  Record a;
  a.time = SimTime(5);
  a.kind = RecordKind::kPodBound;
  a.pod = PodId(1U);
  a.node = NodeId(2U);
  a.devices = DeviceSet::FirstN(2);
  a.detail = 4;
  Record b = a;
  EXPECT_TRUE(a == b);
  b.time = SimTime(6);
  EXPECT_FALSE(a == b);
  b = a;
  b.kind = RecordKind::kPodReserved;
  EXPECT_FALSE(a == b);
  b = a;
  b.pod = PodId(2U);
  EXPECT_FALSE(a == b);
  b = a;
  b.node = NodeId(1U);
  EXPECT_FALSE(a == b);
  b = a;
  b.devices = DeviceSet::Of(2);
  EXPECT_FALSE(a == b);
  b = a;
  b.detail = 3;
  EXPECT_FALSE(a == b);
}

TEST(VerdictSummaryTableTest, TextNamesEveryReason) {
  VerdictSummaryTable table = TableWithReasons();
  EXPECT_EQ(table.Text(table.Intern(MakeRow(5, {{1, 5}}))),
            "0/5 nodes are available: 5 Insufficient cpu.");
  EXPECT_EQ(table.Text(table.Intern(MakeRow(6, {{1, 1}, {3, 5}}))),
            "0/6 nodes are available: 1 Insufficient cpu, "
            "5 node(s) didn't match Pod's node affinity/selector.");
  EXPECT_EQ(table.Text(table.Intern(MakeRow(0, {}))), "0/0 nodes are available.");
}

// kube-scheduler sorts "COUNT REASON" as text: by the digits of the count, and 10 before 9.
TEST(VerdictSummaryTableTest, PhrasesAreSortedAsText) {
  VerdictSummaryTable table = TableWithReasons();
  EXPECT_EQ(table.Text(table.Intern(MakeRow(3, {{1, 2}, {2, 1}}))),
            "0/3 nodes are available: 1 Too many pods, 2 Insufficient cpu.");
  EXPECT_EQ(table.Text(table.Intern(MakeRow(19, {{1, 9}, {2, 10}}))),
            "0/19 nodes are available: 10 Too many pods, 9 Insufficient cpu.");
  EXPECT_EQ(table.Text(table.Intern(MakeRow(4, {{2, 2}, {1, 2}}))),
            "0/4 nodes are available: 2 Insufficient cpu, 2 Too many pods.");
}

TEST(VerdictSummaryTableTest, EqualRowsShareOneId) {
  VerdictSummaryTable table = TableWithReasons();
  const SummaryId a = table.Intern(MakeRow(3, {{1, 3}}));
  const SummaryId b = table.Intern(MakeRow(3, {{1, 2}}));
  const SummaryId c = table.Intern(MakeRow(4, {{1, 3}}));
  const SummaryId d = table.Intern(MakeRow(3, {{2, 3}}));
  const SummaryId e = table.Intern(MakeRow(3, {{1, 3}, {2, 3}}));
  EXPECT_EQ(a, SummaryId(0U));
  EXPECT_EQ(b, SummaryId(1U));
  EXPECT_EQ(c, SummaryId(2U));
  EXPECT_EQ(d, SummaryId(3U));
  EXPECT_EQ(e, SummaryId(4U));
  EXPECT_EQ(table.Intern(MakeRow(3, {{1, 3}})), a);
  EXPECT_EQ(table.Intern(MakeRow(3, {{1, 3}, {2, 3}})), e);
  EXPECT_EQ(table.size(), 5U);
  EXPECT_EQ(table.row(b).nodes, 3U);
  EXPECT_EQ(table.row(b).rejected, (Rejected{{1, 2}}));
}

TEST(VerdictSummaryTableTest, InterningMatchesALinearSearch) {
  Random random(1, "record_test");
  VerdictSummaryTable table = TableWithReasons();
  std::vector<Row> rows;
  for (int step = 0; step < 10000; ++step) {
    Row row;
    row.nodes = static_cast<uint32_t>(random.Below(4));
    for (uint8_t reason = 1; reason <= 3; ++reason) {
      const auto choice = static_cast<uint32_t>(random.Below(5));
      if (choice < 4) row.rejected.emplace_back(reason, choice);
    }
    size_t expected = 0;
    while (expected < rows.size() && !(rows[expected] == row)) ++expected;
    if (expected == rows.size()) rows.push_back(row);
    ASSERT_EQ(table.Intern(row), SummaryId(expected));
    ASSERT_EQ(table.size(), rows.size());
  }
  EXPECT_EQ(rows.size(), 500U) << "4 node counts times 5 choices for each of 3 reasons";
}

// The hash is that of the texts, so that it does not depend on how reasons are numbered.
TEST(VerdictSummaryTableTest, ContentHashIsPinned) {
  VerdictSummaryTable table = TableWithReasons();
  const SummaryId none = table.Intern(MakeRow(3, {}));
  const SummaryId two = table.Intern(MakeRow(3, {{1, 2}, {2, 1}}));
  EXPECT_EQ(HexHash(table.content_hash(none)), "f23ddde96a8b664d");
  EXPECT_EQ(HexHash(table.content_hash(two)), "4a3cbb2c28d00049");

  VerdictSummaryTable renumbered;
  renumbered.SetReasons({"another", "Insufficient cpu", "Too many pods"});
  renumbered.Intern(MakeRow(1, {{1, 1}}));
  const SummaryId same = renumbered.Intern(MakeRow(3, {{2, 2}, {3, 1}}));
  EXPECT_EQ(renumbered.content_hash(same), table.content_hash(two));
}

TEST(VerdictSummaryTableTest, SaveAndLoadKeepRowsAndIds) {
  VerdictSummaryTable table = TableWithReasons();
  const SummaryId a = table.Intern(MakeRow(1213, {{1, 13}, {3, 1200}}));
  const SummaryId b = table.Intern(MakeRow(0, {}));
  StateWriter out;
  table.Save(out);

  VerdictSummaryTable loaded = TableWithReasons();
  loaded.Intern(MakeRow(77, {{2, 77}}));  // Load replaces what is there
  StateReader in(out.bytes());
  ASSERT_TRUE(loaded.Load(in).ok());
  EXPECT_TRUE(in.AtEnd());
  ASSERT_EQ(loaded.size(), 2U);
  EXPECT_TRUE(loaded.row(a) == table.row(a));
  EXPECT_TRUE(loaded.row(b) == table.row(b));
  EXPECT_EQ(loaded.Text(a), table.Text(a));
  EXPECT_EQ(loaded.Intern(MakeRow(0, {})), b);
  EXPECT_EQ(loaded.Intern(MakeRow(77, {{2, 77}})), SummaryId(2U));
}

TEST(VerdictSummaryTableTest, LoadRefusesReasonsThatDoNotExist) {
  for (const uint64_t reason : {uint64_t{0}, uint64_t{4}, uint64_t{257}, ~uint64_t{0}}) {
    StateWriter out;
    out.Section("summaries");
    out.U64(1);
    out.U64(9);
    out.U64(1);
    out.U64(reason);
    out.U64(9);
    VerdictSummaryTable table = TableWithReasons();
    const absl::Status status = LoadInto(out.bytes(), table);
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << reason;
    EXPECT_THAT(std::string(status.message()),
                ::testing::HasSubstr("a summary names a reason that does not exist"));
  }
}

TEST(VerdictSummaryTableTest, EveryTruncationIsAnErrorAndDamageNeverCrashes) {
  VerdictSummaryTable table = TableWithReasons();
  table.Intern(MakeRow(1213, {{1, 13}, {3, 1200}}));
  table.Intern(MakeRow(5, {{2, 5}}));
  StateWriter out;
  table.Save(out);
  const std::string bytes(out.bytes());
  for (size_t length = 0; length < bytes.size(); ++length) {
    VerdictSummaryTable loaded = TableWithReasons();
    EXPECT_FALSE(LoadInto(bytes.substr(0, length), loaded).ok()) << length;
  }
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (int value = 0; value < 256; ++value) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(value);
      VerdictSummaryTable loaded = TableWithReasons();
      if (!LoadInto(damaged, loaded).ok()) continue;
      for (size_t row = 0; row < loaded.size(); ++row) {
        EXPECT_THAT(loaded.Text(SummaryId(row)), ::testing::EndsWith("."));
      }
    }
  }
}

}  // namespace record_test
}  // namespace drasim
