#include "model/gpu_model_table.h"

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace drasim {
namespace gpu_model_table_test {

TEST(GpuModelTableTest, InternsNamesInOrder) {
  GpuModelTable models;
  EXPECT_EQ(models.size(), 0U);
  EXPECT_FALSE(models.Find("T4").valid());
  EXPECT_EQ(*models.Intern("T4"), ModelId(0U));
  EXPECT_EQ(*models.Intern("P100"), ModelId(1U));
  EXPECT_EQ(*models.Intern("T4"), ModelId(0U));
  EXPECT_EQ(models.size(), 2U);
  EXPECT_EQ(models.name(ModelId(1U)), "P100");
  EXPECT_EQ(models.Find("P100"), ModelId(1U));
  EXPECT_FALSE(models.Find("p100").valid());
  EXPECT_FALSE(models.Find("").valid());
}

TEST(GpuModelTableTest, TheSixtyFifthModelIsTooMany) {
  GpuModelTable models;
  for (size_t i = 0; i < 64; ++i) ASSERT_EQ(*models.Intern(absl::StrCat("m", i)), ModelId(i));
  const absl::StatusOr<ModelId> refused = models.Intern("one more");
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(refused.status().message()), ::testing::HasSubstr("'one more'"));
  EXPECT_EQ(models.size(), 64U);
  EXPECT_FALSE(models.Find("one more").valid());
  EXPECT_EQ(*models.Intern("m63"), ModelId(63U)) << "known models are still found";
}

}  // namespace gpu_model_table_test
}  // namespace drasim
