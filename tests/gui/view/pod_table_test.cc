#include "gui/view/pod_table.h"

#include <cstddef>
#include <optional>

#include "gtest/gtest.h"
#include "gui/view/pod_filter.h"
#include "gui/view/table_model.h"
#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/record.h"
#include "model/time.h"
#include "tests/gui/view/view_rig.h"

namespace drasim {
namespace pod_table_test {

using view::PodFilter;
using view::PodRow;
using view::PodTable;
using view::TableModel;

TEST(PodTableTest, FoldsEveryPodsHistory) {
  ViewRig rig;
  PlayThreePods(&rig);
  EXPECT_EQ(rig.pods().waiting(), 2);
  const PodTable table = rig.Table();
  ASSERT_EQ(table.rows(), 3u);
  EXPECT_EQ(table.name(2), "c");
  EXPECT_EQ(table.wants(1), "7g.80gb");
  EXPECT_EQ(table.tenant(1), "blue");

  EXPECT_EQ(table.row(0).phase, PodPhase::kSucceeded);
  EXPECT_EQ(table.WaitOf(0), SimDuration());
  EXPECT_EQ(table.row(0).held, SimDuration::Seconds(40));
  EXPECT_EQ(table.verdict(0), "");
  EXPECT_EQ(table.short_verdict(0), "");

  EXPECT_EQ(table.row(1).phase, PodPhase::kPending);
  EXPECT_EQ(table.WaitOf(1), SimDuration::Seconds(75));  // 15 s, and 60 s since the eviction
  EXPECT_EQ(table.FirstWaitOf(1), SimDuration::Seconds(15));
  EXPECT_EQ(table.row(1).times_evicted, 1u);
  EXPECT_EQ(table.row(1).first_answer, PodRow::FirstAnswer::kNoNode);
  EXPECT_EQ(table.verdict(1), "0/2 nodes are available: 2 no free placement.");
  EXPECT_EQ(table.short_verdict(1), "no room");
  EXPECT_EQ(table.node(1), "node-b");

  EXPECT_FALSE(table.row(2).started);
  EXPECT_EQ(table.row(2).first_answer, PodRow::FirstAnswer::kTurnedAway);
  EXPECT_EQ(table.verdict(2), AdmissionMessage(AdmissionFailure::kDeviceUnhealthy));
  EXPECT_EQ(table.short_verdict(2), "no room");
  EXPECT_EQ(table.FirstWaitOf(2), SimDuration::Seconds(60));
  EXPECT_EQ(table.Find("c"), 2u);
  EXPECT_EQ(table.Find("d"), std::nullopt);
}

TEST(PodTableTest, CellsForPeopleAndPrograms) {
  ViewRig rig;
  PlayThreePods(&rig);
  const PodId late = rig.Arrive("late", ViewRig::Gpus(2));
  EXPECT_EQ(late.value(), 3u);
  const PodTable table = rig.Table();
  EXPECT_EQ(table.columns().size(), size_t{PodTable::kColumns});
  EXPECT_EQ(table.Shown(1, PodTable::kWaits), "1m15s");
  EXPECT_EQ(table.Exact(1, PodTable::kWaits), "75");
  EXPECT_EQ(table.Shown(1, PodTable::kTries), "1");
  EXPECT_EQ(table.Shown(0, PodTable::kState), "succeeded");
  EXPECT_EQ(table.Exact(0, PodTable::kEnded), "40");
  EXPECT_EQ(table.Exact(1, PodTable::kEnded), "");
  EXPECT_EQ(table.Shown(3, PodTable::kVerdict), "not tried yet");
  EXPECT_EQ(table.short_verdict(3), "not tried yet");
  TableModel model(&table);
  model.SortBy(PodTable::kWaits, true);
  EXPECT_EQ(model.row(0), 1u);
  const PodFilter filter = PodFilter::Parse("state:waiting -tenant:blue").value();
  model.Filter([&](size_t row) { return filter.Matches(table.Facts(row)); });
  EXPECT_EQ(model.size(), 2u);
  EXPECT_EQ(model.row(0), 2u);
  EXPECT_EQ(model.row(1), 3u);
}

}  // namespace pod_table_test
}  // namespace drasim
