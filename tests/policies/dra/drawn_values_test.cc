#include "policies/dra/drawn_values.h"

#include <set>
#include <string>

#include "gtest/gtest.h"

namespace drasim {
namespace {

TEST(DrawnValuesTest, UuidsHaveVersionFourAndDiffer) {
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < 3; ++seed) {
    for (uint64_t number = 0; number < 100; ++number) {
      const std::string uuid = DrawnUuid(seed, "pod", number);
      ASSERT_EQ(uuid.size(), 36U);
      for (const size_t hyphen : {8U, 13U, 18U, 23U}) EXPECT_EQ(uuid[hyphen], '-') << uuid;
      EXPECT_EQ(uuid[14], '4') << uuid;
      EXPECT_NE(std::string("89ab").find(uuid[19]), std::string::npos) << uuid;
      seen.insert(uuid);
    }
  }
  EXPECT_EQ(seen.size(), 300U);
  EXPECT_EQ(DrawnUuid(1, "pod", 2), DrawnUuid(1, "pod", 2));
  EXPECT_NE(DrawnUuid(1, "pod", 2), DrawnUuid(1, "dop", 2));
}

TEST(DrawnValuesTest, OnlySharesGetIdentities) {
  proto::kube::AllocationResultV1 allocation;
  for (const bool shared : {true, false, true}) {
    auto* result = allocation.mutable_devices()->add_results();
    if (shared) result->set_share_id("x");
  }
  DrawShareIds(1, "claim", &allocation);
  const auto& results = allocation.devices().results();
  EXPECT_EQ(results[0].share_id(), DrawnUuid(1, "claim", 0));
  EXPECT_FALSE(results[1].has_share_id());
  EXPECT_EQ(results[2].share_id(), DrawnUuid(1, "claim", 2));
}

}  // namespace
}  // namespace drasim
