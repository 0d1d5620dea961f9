#include "gui/view/claim_table.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "gui/view/table_model.h"
#include "model/claim_change.h"
#include "model/device_grant.h"
#include "model/ids.h"
#include "model/time.h"
#include "sim/record/live_claims.h"
#include "tests/gui/view/view_rig.h"

namespace drasim {
namespace claim_table_test {

using view::ClaimTable;
using view::TableColumn;

ClaimChange ChangeAt(int64_t seconds, ClaimChangeKind kind, uint64_t claim) {
  ClaimChange change;
  change.time = SimTime(seconds * kSecondNs);
  change.kind = kind;
  change.claim = claim;
  return change;
}

// A claim that its driver refuses, a shared one with an instance, and one of an unlucky kubelet.
LiveClaims ThreeClaims(const ViewRig& rig) {
  LiveClaims claims;
  ClaimChange created = ChangeAt(1, ClaimChangeKind::kCreated, 10);
  created.identity = {"default/a-gpu", "a", "gpu", ClaimMode::kWaitForFirstConsumer};
  claims.Apply(created);
  for (const int64_t seconds : {2, 3}) {
    ClaimChange asked = ChangeAt(seconds, ClaimChangeKind::kDriverAsked, 10);
    asked.asked = static_cast<uint32_t>(seconds);
    claims.Apply(asked);
  }
  ClaimChange selected = ChangeAt(4, ClaimChangeKind::kNodeSelected, 10);
  selected.node = NodeId(size_t{1});
  claims.Apply(selected);
  ClaimChange answer = ChangeAt(5, ClaimChangeKind::kDriverAnswered, 10);
  answer.asked = 3;
  answer.refused = 2;
  answer.text = "1 GPU wanted, 0 free";
  claims.Apply(answer);

  created = ChangeAt(20, ClaimChangeKind::kCreated, 11);
  created.identity = {"default/shared", "", "mig", ClaimMode::kImmediate};
  claims.Apply(created);
  ClaimChange allocated = ChangeAt(30, ClaimChangeKind::kAllocated, 11);
  allocated.node = NodeId(size_t{0});
  allocated.grants = rig.Instance("3g.40gb", 1, 4);
  claims.Apply(allocated);
  claims.Apply(ChangeAt(40, ClaimChangeKind::kReserved, 11));

  created = ChangeAt(50, ClaimChangeKind::kCreated, 12);
  created.identity = {"default/c-gpu", "c", "gpu", ClaimMode::kWaitForFirstConsumer};
  claims.Apply(created);
  return claims;
}

std::string RowText(const ClaimTable& table, size_t row) {
  std::vector<std::string> cells;
  for (size_t c = 0; c < table.columns().size(); ++c) cells.push_back(table.Shown(row, c));
  return absl::StrJoin(cells, "|");
}

TEST(ClaimTableTest, RowsInOrderOfCreation) {
  const ViewRig rig;
  const ClaimTable table(ThreeClaims(rig), rig.cluster(), SimTime(64 * kSecondNs));
  ASSERT_EQ(table.rows(), 3u);
  EXPECT_EQ(RowText(table, 0),
            "default/a-gpu|a|gpu|WaitForFirstConsumer|node selected|node-b||1m|2|"
            "1 GPU wanted, 0 free");
  EXPECT_EQ(RowText(table, 1), "default/shared||mig|Immediate|reserved|node-a|1:3g.40gb@4|24s|0|");
  EXPECT_EQ(RowText(table, 2), "default/c-gpu|c|gpu|WaitForFirstConsumer|created|||14s|0|");
  EXPECT_EQ(table.by_state()[static_cast<size_t>(ClaimState::kReserved)], 1);
  EXPECT_EQ(table.by_state()[static_cast<size_t>(ClaimState::kNodeSelected)], 1);
  EXPECT_EQ(table.by_state()[static_cast<size_t>(ClaimState::kPrepared)], 0);
}

TEST(ClaimTableTest, CellsForPrograms) {
  const ViewRig rig;
  const ClaimTable table(ThreeClaims(rig), rig.cluster(), SimTime(64'250'000'000));
  EXPECT_EQ(table.Exact(0, ClaimTable::kInState), "60.25");
  EXPECT_EQ(table.Number(0, ClaimTable::kInState), 60'250'000'000);
  EXPECT_EQ(table.Exact(0, ClaimTable::kAsked), "2");
  EXPECT_EQ(table.Number(0, ClaimTable::kAsked), 2);
  EXPECT_EQ(table.Exact(0, ClaimTable::kState), "node selected");
  for (size_t c = 0; c < ClaimTable::kColumns; ++c) {
    if (table.columns()[c].kind == TableColumn::Kind::kNumber) continue;
    EXPECT_EQ(table.Exact(1, c), table.Text(1, c)) << c;
  }
  EXPECT_EQ(table.columns()[ClaimTable::kMessage].name, "last message");
  EXPECT_EQ(table.columns().size(), size_t{ClaimTable::kColumns});
}

TEST(ClaimTableTest, DamagedLedgersDoNoHarm) {
  const ViewRig rig;
  LiveClaim claim;
  claim.grants.push_back({7, kNoPlacement, 1000});  // no such GPU
  claim.grants.push_back({0, 200, 500});            // no such placement
  claim.grants.push_back({1, kNoPlacement, 1000});
  EXPECT_EQ(view::ClaimDevicesText(rig.cluster(), claim), "");
  claim.node = NodeId(size_t{0});
  EXPECT_EQ(view::ClaimDevicesText(rig.cluster(), claim), "1");
  claim.since = SimTime(kSecondNs);
  LiveClaims claims;
  claims.Set(1, std::move(claim));
  const ClaimTable table(claims, rig.cluster(), SimTime());
  EXPECT_EQ(table.Shown(0, ClaimTable::kInState), "0s");
}

}  // namespace claim_table_test
}  // namespace drasim
