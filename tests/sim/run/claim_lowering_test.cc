// Requests as claims of structured DRA: the templates that are made, and what pods name.
#include "sim/run/claim_lowering.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/kube/writer.h"
#include "model/proto/kube.pb.h"
#include "tests/testing/data_text.h"

namespace drasim {
namespace claim_lowering_test {

using ::testing::HasSubstr;

StructuredDraSpec SpecOf(const std::string& kind, const std::string& mig,
                         const std::string& shares) {
  StructuredDraSpec spec;
  proto::SliceDriver& driver = spec.drivers.emplace_back();
  driver.set_kind(kind);
  driver.set_mig(mig);
  driver.set_consumable_shares(shares);
  return spec;
}

PodShape Gpus(int32_t count, int32_t milli = 1000, const std::string& models = "",
              int64_t memory_mib = 0) {
  PodShape shape;
  shape.request.gpu_count = count;
  shape.request.gpu_milli = milli;
  shape.request.gpu_spec = models;
  shape.demand.memory_mib = memory_mib;
  return shape;
}

PodShape Instances(std::vector<std::pair<std::string, int32_t>> mig) {
  PodShape shape;
  shape.request.mig = std::move(mig);
  return shape;
}

// "ENTRY TEMPLATE PROFILE GPUS" of each claim of each pod, then the templates.
std::string Made(ClaimLowering* claims, const std::vector<PodShape>& shapes) {
  std::string text;
  for (const PodShape& shape : shapes) {
    const absl::StatusOr<PodShape> made = claims->ToClaims(shape);
    EXPECT_TRUE(made.ok()) << made.status();
    if (!made.ok()) continue;
    EXPECT_EQ(made->request.gpu_count, 0);
    EXPECT_TRUE(made->request.mig.empty());
    for (const ClaimEntry& claim : made->claims) {
      absl::StrAppend(&text, claim.name, " ", claim.from_template, " ", claim.mig_profile, " ",
                      claim.gpus, "\n");
    }
  }
  std::vector<std::string> templates;
  for (const auto& object : claims->TemplatesIn("ml")) {
    templates.push_back(PrintKubeObject(*object, KubeTextFormat::kYaml));
  }
  return text + absl::StrJoin(templates, "---\n");
}

TEST(ClaimLoweringTest, WholeGpusAndInstances) {
  ClaimLowering claims(SpecOf("gpu.nvidia.com", "dynamic", ""));
  EXPECT_EQ(Made(&claims, {Gpus(2), Gpus(1, 1000, "A10|A100-SXM4-40GB"), Gpus(2, 1000, "", 40960),
                           Gpus(2), Instances({{"1g.5gb", 3}, {"1g.5gb+me", 1}})}),
            TestText("WholeGpusAndInstances"));
}

TEST(ClaimLoweringTest, SharesAreCapacity) {
  ClaimLowering numbers(SpecOf("gpu.nvidia.com", "", "4"));
  EXPECT_EQ(Made(&numbers, {Gpus(1, 300), Gpus(1)}), TestText("SharesAreCapacity"));
  ClaimLowering memory(SpecOf("gpu.nvidia.com", "", "memory"));
  EXPECT_EQ(Made(&memory, {Gpus(1, 300, "", 8192)}), TestText("SharesAreCapacity.2"));
}

TEST(ClaimLoweringTest, OtherDriversHaveGpusByCount) {
  ClaimLowering claims(SpecOf("gpu.example.com", "", ""));
  const absl::StatusOr<PodShape> made = claims.ToClaims(Gpus(1, 1000, "A10"));
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->request.nominal_milli, 1000);
  const auto templates = claims.TemplatesIn("x");
  const proto::kube::DeviceRequest& request =
      templates[0]->resource_claim_template_v1().spec().spec().devices().requests(0);
  EXPECT_EQ(request.exactly().device_class_name(), "gpu.example.com");
  EXPECT_EQ(request.exactly().selectors_size(), 0);
}

TEST(ClaimLoweringTest, RequestsWithoutSuchDevicesAreErrors) {
  ClaimLowering whole(SpecOf("gpu.nvidia.com", "none", ""));
  EXPECT_THAT(whole.ToClaims(Instances({{"1g.5gb", 1}})).status().message(),
              HasSubstr("a pod wants MIG instances (1g.5gb), which the driver gpu.nvidia.com does "
                        "not publish"));
  EXPECT_THAT(whole.ToClaims(Gpus(1, 500)).status().message(),
              HasSubstr("a pod wants 500 thousandths of a GPU, which the driver gpu.nvidia.com "
                        "does not share; choose whole-gpu or mig-smallest"));
  ClaimLowering file(SpecOf("slices", "", ""));
  EXPECT_THAT(file.ToClaims(Gpus(1)).status().message(),
              HasSubstr("expected pods with resourceClaims"));
  EXPECT_TRUE(file.ToClaims(PodShape()).ok());
}

}  // namespace claim_lowering_test
}  // namespace drasim
