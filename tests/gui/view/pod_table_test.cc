#include "gui/view/pod_table.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "gui/view/inspect_tenant.h"
#include "gui/view/pod_filter.h"
#include "gui/view/run_figures.h"
#include "gui/view/table_model.h"
#include "gui/view/tenant_table.h"
#include "model/device_set.h"
#include "model/time.h"
#include "tests/gui/view/view_rig.h"

namespace drasim {
namespace pod_table_test {

using view::InspectTenant;
using view::PodFilter;
using view::PodRow;
using view::PodTable;
using view::RunFigures;
using view::TableModel;
using view::TenantInspection;
using view::TenantTable;

// Three pods: `a` finishes, `b` waits after an eviction, `c` was turned away and tries again.
void Play(ViewRig* rig) {
  const PodId a = rig->Arrive("a", ViewRig::Gpus(1));
  rig->pods().SetTenant(a, "red");
  rig->Bind(a, 0, DeviceSet::Of(0));
  rig->At(10);
  const PodId b = rig->Arrive("b", ViewRig::Mig("7g.80gb"));
  rig->pods().SetTenant(b, "blue");
  rig->Fail(b, 0, 2);
  rig->At(20);
  rig->Reserve(b, 1, DeviceSet::Of(0), rig->Instance("7g.80gb", 0, 0));
  rig->At(25);
  rig->Bind(b, 1, DeviceSet::Of(0));
  rig->At(40);
  rig->Evict(b, EvictionCause::kDrained);
  const PodId c = rig->Arrive("c", ViewRig::Gpus(1));
  rig->Bind(c, 0, DeviceSet::Of(1));
  rig->TurnAway(c, AdmissionFailure::kDeviceUnhealthy, false);
  rig->Finish(a);
  rig->At(100);
}

TEST(PodTableTest, FoldsEveryPodsHistory) {
  ViewRig rig;
  Play(&rig);
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

  EXPECT_EQ(table.row(1).phase, PodPhase::kPending);
  EXPECT_EQ(table.WaitOf(1), SimDuration::Seconds(75));  // 15 s, and 60 s since the eviction
  EXPECT_EQ(table.FirstWaitOf(1), SimDuration::Seconds(15));
  EXPECT_EQ(table.row(1).times_evicted, 1u);
  EXPECT_EQ(table.row(1).first_answer, PodRow::FirstAnswer::kNoNode);
  EXPECT_EQ(table.verdict(1), "0/2 nodes are available: 2 no free placement.");
  EXPECT_EQ(table.node(1), "node-b");

  EXPECT_FALSE(table.row(2).started);
  EXPECT_EQ(table.row(2).first_answer, PodRow::FirstAnswer::kTurnedAway);
  EXPECT_EQ(table.verdict(2), AdmissionMessage(AdmissionFailure::kDeviceUnhealthy));
  EXPECT_EQ(table.FirstWaitOf(2), SimDuration::Seconds(60));
  EXPECT_EQ(table.Find("c"), 2u);
  EXPECT_EQ(table.Find("d"), std::nullopt);
}

TEST(PodTableTest, CellsForPeopleAndPrograms) {
  ViewRig rig;
  Play(&rig);
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
  TableModel model(&table);
  model.SortBy(PodTable::kWaits, true);
  EXPECT_EQ(model.row(0), 1u);
  const PodFilter filter = PodFilter::Parse("state:waiting -tenant:blue").value();
  model.Filter([&](size_t row) { return filter.Matches(table.Facts(row)); });
  EXPECT_EQ(model.size(), 2u);
  EXPECT_EQ(model.row(0), 2u);
  EXPECT_EQ(model.row(1), 3u);
}

TEST(TenantTableTest, SumsByTenant) {
  ViewRig rig;
  Play(&rig);
  const PodTable pods = rig.Table();
  const TenantTable table(pods);
  ASSERT_EQ(table.rows(), 3u);
  EXPECT_EQ(table.Shown(0, TenantTable::kName), "(none)");
  EXPECT_EQ(table.Shown(1, TenantTable::kName), "red");
  EXPECT_EQ(table.row(1).ended, 1);
  EXPECT_EQ(table.Shown(1, TenantTable::kGpuHours), "0.0");
  EXPECT_DOUBLE_EQ(table.row(1).gpu_hours, 40.0 / 3600);
  EXPECT_EQ(table.row(2).waiting, 1);
  EXPECT_EQ(table.row(2).evictions, 1);
  EXPECT_EQ(table.Shown(2, TenantTable::kWaitP95), "15s");

  const TenantInspection blue = InspectTenant(pods, "blue").value();
  ASSERT_EQ(blue.by_wants.size(), 1u);
  EXPECT_EQ(blue.by_wants[0].wants, "7g.80gb");
  EXPECT_EQ(blue.by_wants[0].waiting, 1);
  EXPECT_EQ(blue.longest_waits, (std::vector<size_t>{1}));
  EXPECT_EQ(InspectTenant(pods, "bleu").status().message(),
            "no pod has the tenant 'bleu' (did you mean 'blue'?)");
}

TEST(RunFiguresTest, AveragesOverTime) {
  ViewRig rig;
  Play(&rig);
  const PodId last = rig.Arrive("last", ViewRig::Gpus(1));
  rig.Drop(last);
  const RunFigures figures = rig.Figures();
  EXPECT_EQ(figures.pods, 4);
  EXPECT_EQ(figures.started, 2);
  EXPECT_EQ(figures.finished, 1);
  EXPECT_EQ(figures.dropped, 1);
  EXPECT_EQ(figures.waiting, 2);
  EXPECT_EQ(figures.most_waiting, 3);
  EXPECT_EQ(figures.attempts_failed, 1);
  EXPECT_EQ(figures.evictions, 1);
  // `b` waits for 10 s and again, beside `c`, for 60 s.
  EXPECT_DOUBLE_EQ(figures.waiting_mean, (10.0 + 2 * 60) / 100);
  // 8 of 32 slices for 40 s, and 8 more for 20 s.
  EXPECT_DOUBLE_EQ(figures.held_percent_mean, 100.0 * (8 * 40 + 8 * 20) / (32 * 100));
  EXPECT_EQ(figures.waits.pods, 3);
  EXPECT_EQ(figures.waits.longest, SimDuration::Seconds(60));
}

}  // namespace pod_table_test
}  // namespace drasim
