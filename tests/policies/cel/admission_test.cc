#include "policies/cel/admission.h"

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/kube/reader.h"

namespace drasim::cel {
namespace {

constexpr char kCostly[] =
    "device.attributes.all(a, device.attributes.all(b, device.attributes.all(c, "
    "device.attributes.all(d, a == b && c == d))))";

proto::kube::Object ClassWith(const std::vector<std::string>& expressions) {
  proto::kube::Object object;
  for (const std::string& expression : expressions) {
    object.mutable_device_class()->mutable_spec()->add_selectors()->mutable_cel()->set_expression(
        expression);
  }
  return object;
}

TEST(AdmissionTest, SelectorsOfClassesMustCompileAndBeCheap) {
  const std::vector<KubeProblem> problems =
      ExpressionProblems(ClassWith({"device.driver == 'x'", "device.driver ==== 'x'",
                                    "duration('1s') > duration('0s')", kCostly, "1", ""}));
  ASSERT_EQ(problems.size(), 4U);
  EXPECT_EQ(problems[0].path, "spec.selectors[1].cel.expression");
  EXPECT_TRUE(absl::StartsWith(problems[0].what,
                               "Invalid value: \"device.driver ==== 'x'\": compilation failed"))
      << problems[0].what;
  EXPECT_EQ(problems[1].path, "spec.selectors[2].cel.expression");
  EXPECT_TRUE(absl::StrContains(problems[1].what, "unsupported:")) << problems[1].what;
  EXPECT_EQ(problems[2].path, "spec.selectors[3].cel.expression");
  EXPECT_EQ(problems[2].what, "Forbidden: too complex, exceeds cost limit");
  EXPECT_EQ(problems[3].path, "spec.selectors[4].cel.expression");
  EXPECT_TRUE(absl::StrContains(problems[3].what, "must evaluate to bool")) << problems[3].what;
}

TEST(AdmissionTest, EveryExpressionOfAClaimIsChecked) {
  proto::kube::Object object;
  auto* claim = object.mutable_resource_claim_v1()->mutable_spec()->mutable_devices();
  auto* exactly = claim->add_requests()->mutable_exactly();
  exactly->add_selectors()->mutable_cel()->set_expression("nope");
  // A derived attribute may be a number; a selector may not.
  exactly->add_derived_attributes()->set_expression("1");
  exactly->add_derived_attributes()->set_expression("{}");
  auto* sub = claim->add_requests()->add_first_available();
  sub->add_selectors()->mutable_cel()->set_expression("true");
  sub->add_selectors()->mutable_cel()->set_expression("1");
  std::vector<std::string> paths;
  for (const KubeProblem& problem : ExpressionProblems(object)) paths.push_back(problem.path);
  const std::vector<std::string> expected = {
      "spec.devices.requests[0].exactly.selectors[0].cel.expression",
      "spec.devices.requests[0].exactly.derivedAttributes[1].expression",
      "spec.devices.requests[1].firstAvailable[0].selectors[1].cel.expression"};
  EXPECT_EQ(paths, expected);
  proto::kube::Object claim_template;
  *claim_template.mutable_resource_claim_template_v1()->mutable_spec()->mutable_spec() =
      object.resource_claim_v1().spec();
  ASSERT_EQ(ExpressionProblems(claim_template).size(), 3U);
  EXPECT_EQ(ExpressionProblems(claim_template)[0].path,
            "spec.spec.devices.requests[0].exactly.selectors[0].cel.expression");
  EXPECT_TRUE(ExpressionProblems(proto::kube::Object()).empty());
}

TEST(AdmissionTest, TheReaderNamesThePlace) {
  KubeReadOptions options;
  options.check = ExpressionProblems;
  const std::string text = absl::StrCat(
      "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu}\nspec:\n",
      "  selectors:\n  - cel: {expression: \"1 +\"}\n");
  const absl::StatusOr<KubeManifest> read = ReadKubeObjects(text, "c.yaml", options);
  ASSERT_FALSE(read.ok());
  EXPECT_TRUE(absl::StartsWith(read.status().message(),
                               "c.yaml:6:23: spec.selectors[0].cel.expression: Invalid value:"))
      << read.status();
  EXPECT_TRUE(ReadKubeObjects(text, "c.yaml").ok());
}

}  // namespace
}  // namespace drasim::cel
