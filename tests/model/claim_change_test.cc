#include "model/claim_change.h"

#include <cstddef>
#include <set>
#include <string>

#include "gtest/gtest.h"

namespace drasim {
namespace claim_change_test {

TEST(ClaimChangeTest, NamesDiffer) {
  std::set<std::string> names;
  for (size_t i = 0; i < kClaimChangeKinds; ++i) {
    names.insert(std::string(ClaimChangeName(static_cast<ClaimChangeKind>(i))));
  }
  EXPECT_EQ(names.size(), kClaimChangeKinds);
  EXPECT_EQ(ClaimChangeName(ClaimChangeKind::kDeallocated), "deallocated");
}

}  // namespace claim_change_test
}  // namespace drasim
