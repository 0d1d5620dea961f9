#include "model/kube/resource_lift.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/kube/reader.h"
#include "model/kube/writer.h"
#include "tests/testing/assert_ok.h"
#include "tests/testing/data_text.h"

namespace drasim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The object of a section, read without validation and printed.
std::string LiftedText(absl::string_view section) {
  KubeReadOptions options;
  options.validate = false;
  const absl::StatusOr<KubeManifest> read = ReadKubeObjects(TestText(section), "f.yaml", options);
  EXPECT_TRUE(read.ok()) << read.status();
  if (!read.ok() || read->objects.size() != 1) return "not one object";
  EXPECT_THAT(read->warnings, IsEmpty());
  return PrintKubeObject(read->objects[0].object, KubeTextFormat::kYaml);
}

TEST(LiftResourceObjectTest, FlattensDevicesOfOlderSlices) {
  EXPECT_EQ(LiftedText("SliceOfV1alpha3"), TestText("SliceOfV1alpha3.v1"));
  EXPECT_EQ(LiftedText("SliceOfV1beta1"), TestText("SliceOfV1beta1.v1"));
}

TEST(LiftResourceObjectTest, MovesTheFieldsOfRequestsBelowExactly) {
  EXPECT_EQ(LiftedText("ClaimOfV1beta1"), TestText("ClaimOfV1beta1.v1"));
  EXPECT_EQ(LiftedText("TemplateOfV1beta1"), TestText("TemplateOfV1beta1.v1"));
}

TEST(LiftResourceObjectTest, KeepsObjectsOfV1AndV1beta2) {
  for (const char* section : {"ClaimOfV1beta1.v1", "SliceOfV1beta1.v1", "TemplateOfV1beta1.v1"}) {
    EXPECT_EQ(LiftedText(section), TestText(section));
  }
  EXPECT_EQ(LiftedText("ClassOfV1beta2"), TestText("ClassOfV1beta2.v1"));
}

TEST(LiftResourceObjectTest, RefusesTaintRulesThatV1CannotSay) {
  const absl::StatusOr<KubeManifest> read =
      ReadKubeObjects(TestText("TaintRuleOfV1alpha3"), "f.yaml");
  EXPECT_EQ(absl::StrCat(read.status().message(), "\n"), TestText("TaintRuleOfV1alpha3.error"));
}

TEST(LiftResourceObjectTest, FieldsOfOlderVersionsAreUnknownInV1) {
  KubeReadOptions options;
  options.validate = false;
  ASSERT_OK_AND_ASSIGN(const KubeManifest read,
                       ReadKubeObjects(TestText("OldFieldsInV1"), "f.yaml", options));
  EXPECT_THAT(
      read.warnings,
      ElementsAre("f.yaml:6:7: spec.devices.requests[0].deviceClassName: unknown field: only "
                  "resource.k8s.io/v1beta1 resource.k8s.io/v1alpha3 have it"));
  EXPECT_FALSE(
      read.objects[0].object.resource_claim_v1().spec().devices().requests(0).has_exactly());
}

}  // namespace
}  // namespace drasim
