#include "model/mig_slices.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "model/mig_table.h"
#include "tests/testing/mig_products.h"

namespace drasim {
namespace mig_slices_test {

// On an A100, where 1g.10gb has no place that covers the last slice.
TEST(MigSlicesTest, OneGpu) {
  const MigTable table = TestTable(TestA100(), OnlyProfiles(A100Base()));
  const auto slices = [&table](const std::vector<std::pair<std::string, int32_t>>& instances,
                               bool in_use) {
    return SlicesOfGpu(table, TestState(table, instances), in_use);
  };
  EXPECT_EQ(slices({}, false), (SliceCounts{8, 0, 0}));
  EXPECT_EQ(slices({}, true), (SliceCounts{8, 8, 0}));  // a whole GPU, or a share of one
  EXPECT_EQ(slices({{"3g.40gb", 4}}, true), (SliceCounts{8, 4, 0}));
  EXPECT_EQ(slices({{"1g.10gb", 0}}, true), (SliceCounts{8, 1, 0}));
  EXPECT_EQ(slices({{"1g.10gb", 6}}, true), (SliceCounts{8, 1, 1}));
  EXPECT_EQ(slices({{"7g.80gb", 0}}, true), (SliceCounts{8, 8, 0}));
}

// Instances 3g.40gb@0 and 1g.10gb@5 exist ahead of pods.
TEST(MigSlicesTest, OneGpuWithAStaticLayout) {
  const MigTable table = TestTable(TestA100(), OnlyProfiles(A100Base()));
  const uint64_t layout = table.set(TestState(table, {{"3g.40gb", 0}, {"1g.10gb", 5}}));
  const auto slices = [&](const std::vector<std::pair<std::string, int32_t>>& instances) {
    return SlicesOfGpu(table, TestState(table, instances), !instances.empty(), layout);
  };
  EXPECT_EQ(slices({}), (SliceCounts{8, 0, 3}));
  EXPECT_EQ(slices({{"3g.40gb", 0}}), (SliceCounts{8, 4, 3}));
  EXPECT_EQ(slices({{"3g.40gb", 0}, {"1g.10gb", 5}}), (SliceCounts{8, 5, 3}));
  // An instance of an earlier layout: until its pod is gone, the layout decides nothing.
  EXPECT_EQ(slices({{"1g.10gb", 6}}), (SliceCounts{8, 1, 0}));
  // Without an instance there is no layout.
  EXPECT_EQ(SlicesOfGpu(table, 0, false, uint64_t{0}), (SliceCounts{8, 0, 0}));
  EXPECT_EQ(SlicesOfGpu(table, 0, true, layout), (SliceCounts{8, 8, 0}));
}

TEST(MigSlicesTest, CountsAreAddedAndTakenAway) {
  SliceCounts sum = {8, 4, 1};
  sum.Add({8, 3, 2}, +1);
  EXPECT_EQ(sum, (SliceCounts{16, 7, 3}));
  sum.Add({8, 4, 1}, -1);
  EXPECT_EQ(sum, (SliceCounts{8, 3, 2}));
}

}  // namespace mig_slices_test
}  // namespace drasim
