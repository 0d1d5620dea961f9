#include "gui/view/typical_load.h"

#include <vector>

#include "gtest/gtest.h"
#include "model/fragmentation.h"
#include "model/gpu_model_table.h"
#include "model/pod_shape.h"
#include "model/shape_table.h"
#include "tests/gui/view/view_rig.h"

namespace drasim {
namespace typical_load_test {

using view::TypicalLoadOf;

TEST(TypicalLoadTest, FollowsTheScenariosPopularity) {
  GpuModelTable models;
  ShapeTable shapes(&models);
  shapes.Intern(ViewRig::Gpus(1));
  shapes.Intern(ViewRig::Gpus(2));
  shapes.Intern(ViewRig::Gpus(4));
  // Shapes behind the last number have no pods.
  EXPECT_EQ(TypicalLoadOf(shapes, {60, 40}, "").size(), 2u);
  EXPECT_EQ(
      TypicalLoadOf(shapes, {60, 30, 10}, "scheduler: {typical: {popularity_percent: 50}}").size(),
      1u);
  EXPECT_EQ(TypicalLoadOf(shapes, {60, 30, 10}, "no: scenario").size(), 3u);
}

TEST(TypicalLoadTest, IsEmptyWithoutGpus) {
  GpuModelTable models;
  ShapeTable shapes(&models);
  PodShape shape;
  shape.request.cpu_milli = 1000;
  shapes.Intern(shape);
  EXPECT_TRUE(TypicalLoadOf(shapes, {5}, "").empty());
  EXPECT_TRUE(TypicalLoadOf(shapes, {}, "").empty());
}

}  // namespace typical_load_test
}  // namespace drasim
