#include "model/resource_request.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace drasim {
namespace resource_request_test {

ResourceRequest Gpus(int32_t count, int32_t milli) {
  ResourceRequest request;
  request.gpu_count = count;
  request.gpu_milli = milli;
  return request;
}

TEST(ResourceRequestTest, TotalsAndSharesFollowTheGpus) {
  EXPECT_EQ(Gpus(0, 0).total_gpu_milli(), 0);
  EXPECT_EQ(Gpus(1, 250).total_gpu_milli(), 250);
  EXPECT_EQ(Gpus(8, 1000).total_gpu_milli(), 8000);
  EXPECT_FALSE(Gpus(0, 0).is_share());
  EXPECT_TRUE(Gpus(1, 999).is_share());
  EXPECT_FALSE(Gpus(1, 1000).is_share());
  EXPECT_FALSE(Gpus(8, 1000).is_share());
}

TEST(ResourceRequestTest, NominalAmountsAddToTheTotal) {
  ResourceRequest request;
  request.mig = {{"3g.40gb", 2}};
  request.nominal_milli = 1000;
  EXPECT_EQ(request.total_gpu_milli(), 1000);
  EXPECT_FALSE(request.is_share());
}

TEST(ResourceRequestTest, TheNodeChoosesOnlyExtendedDevices) {
  ResourceRequest request;
  request.extended = {{"nvidia.com/gpu", 1}};
  EXPECT_TRUE(request.gets_devices_from_node());
  EXPECT_FALSE(Gpus(1, 500).gets_devices_from_node());
  request.mig = {{"1g.10gb", 1}};
  EXPECT_FALSE(request.gets_devices_from_node());
}

TEST(ResourceRequestTest, EqualityIgnoresTheDerivedMask) {
  ResourceRequest derived = Gpus(1, 1000);
  derived.model_mask = 4;
  EXPECT_TRUE(derived == Gpus(1, 1000));
  derived.gpu_spec = "T4";
  EXPECT_FALSE(derived == Gpus(1, 1000));
}

}  // namespace resource_request_test
}  // namespace drasim
