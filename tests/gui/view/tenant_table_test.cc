#include "gui/view/tenant_table.h"

#include "gtest/gtest.h"
#include "gui/view/pod_table.h"
#include "tests/gui/view/view_rig.h"

namespace drasim {
namespace tenant_table_test {

using view::PodTable;
using view::TenantTable;

TEST(TenantTableTest, SumsByTenant) {
  ViewRig rig;
  PlayThreePods(&rig);
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
}

}  // namespace tenant_table_test
}  // namespace drasim
