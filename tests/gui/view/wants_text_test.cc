#include "gui/view/wants_text.h"

#include "gtest/gtest.h"
#include "model/pod_shape.h"

namespace drasim {
namespace wants_text_test {

using view::WantsText;

TEST(WantsTextTest, NamesDevicesInEveryFrontEnd) {
  PodShape shape;
  EXPECT_EQ(WantsText(shape), "no GPU");
  shape.request.gpu_count = 1;
  shape.request.gpu_milli = 1000;
  EXPECT_EQ(WantsText(shape), "1 GPU");
  shape.request.gpu_count = 8;
  shape.request.gpu_spec = "T4|P100";
  EXPECT_EQ(WantsText(shape), "8 GPUs of T4|P100");
  shape.request.gpu_count = 1;
  shape.request.gpu_milli = 460;
  shape.request.gpu_spec = "";
  EXPECT_EQ(WantsText(shape), "0.46 GPU");
  PodShape mig;
  mig.request.mig = {{"1g.5gb", 2}, {"3g.20gb", 1}};
  EXPECT_EQ(WantsText(mig), "2 x 1g.5gb + 3g.20gb");
  PodShape plugin;
  plugin.request.extended = {
      {"nvidia.com/gpu", 2}, {"nvidia.com/mig-1g.5gb", 1}, {"vendor.com/nic", 3}};
  EXPECT_EQ(WantsText(plugin), "2 GPUs + 1g.5gb + 3 vendor.com/nic");
  PodShape claims;
  claims.claims.push_back({"a", "", "t", "7g.40gb", 0});
  claims.claims.push_back({"b", "shared", "", "", 0});
  EXPECT_EQ(WantsText(claims), "7g.40gb + claim shared");
}

}  // namespace wants_text_test
}  // namespace drasim
