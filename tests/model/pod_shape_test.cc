#include "model/pod_shape.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace drasim {
namespace pod_shape_test {

TEST(PodShapeTest, WithoutADemandTheRequestIsWanted) {
  PodShape shape;
  EXPECT_EQ(shape.wanted_gpus(), 0);
  EXPECT_EQ(shape.wanted_gpu_milli(), 0);
  shape.request.gpu_count = 2;
  shape.request.gpu_milli = 450;
  shape.request.nominal_milli = 125;
  shape.demand.memory_mib = 4096;  // alone, no demand for GPUs
  EXPECT_EQ(shape.wanted_gpus(), 2);
  EXPECT_EQ(shape.wanted_milli(), 450);
  EXPECT_EQ(shape.wanted_gpu_milli(), 1025);
}

TEST(PodShapeTest, ADemandHidesTheRequestThatItWasLoweredTo) {
  PodShape shape;
  shape.request.extended = {{"nvidia.com/gpu", 1}};
  shape.request.nominal_milli = 1000;
  shape.demand = {/*gpus=*/3, /*milli=*/300, /*memory_mib=*/0};
  EXPECT_EQ(shape.wanted_gpus(), 3);
  EXPECT_EQ(shape.wanted_milli(), 300);
  EXPECT_EQ(shape.wanted_gpu_milli(), 900);
  EXPECT_EQ(shape.request.total_gpu_milli(), 1000);
}

}  // namespace pod_shape_test
}  // namespace drasim
