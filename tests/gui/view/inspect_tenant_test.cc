#include "gui/view/inspect_tenant.h"

#include <cstddef>
#include <vector>

#include "gtest/gtest.h"
#include "gui/view/pod_table.h"
#include "tests/gui/view/view_rig.h"

namespace drasim {
namespace inspect_tenant_test {

using view::InspectTenant;
using view::PodTable;
using view::TenantInspection;

TEST(InspectTenantTest, GroupsPodsAndListsWaits) {
  ViewRig rig;
  PlayThreePods(&rig);
  const PodTable pods = rig.Table();
  const TenantInspection blue = InspectTenant(pods, "blue").value();
  ASSERT_EQ(blue.by_wants.size(), 1u);
  EXPECT_EQ(blue.by_wants[0].wants, "7g.80gb");
  EXPECT_EQ(blue.by_wants[0].waiting, 1);
  ASSERT_EQ(blue.longest_waits.size(), 1u);
  EXPECT_EQ(blue.longest_waits[0].pod, "b");
  EXPECT_EQ(blue.longest_waits[0].wants, "7g.80gb");
  EXPECT_EQ(blue.longest_waits[0].waits, SimDuration::Seconds(75));
  EXPECT_EQ(InspectTenant(pods, "bleu").status().message(),
            "no pod has the tenant 'bleu' (did you mean 'blue'?)");
}

}  // namespace inspect_tenant_test
}  // namespace drasim
