#include "policies/dra/taint_rules.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/policies/dra/dra_rig.h"

namespace drasim {
namespace {

using dra_rig::FromText;
using proto::kube::DeviceTaintRule;
using proto::kube::ResourceSlice;

// The devices that the rules taint: "a=old,k b=k".
std::string TaintedBy(const std::vector<std::string>& rules) {
  auto slice = FromText<ResourceSlice>(R"(
      spec { driver: "d" pool { name: "p" }
             devices { name: "a" taints { key: "old" } } devices { name: "b" } })");
  std::vector<DeviceTaintRule> all;
  for (const std::string& rule : rules) {
    all.push_back(FromText<DeviceTaintRule>(absl::StrCat("spec { ", rule, " }")));
  }
  AppendTaintsOfRules(all, &slice);
  std::string text;
  for (const auto& device : slice.spec().devices()) {
    absl::StrAppend(&text, text.empty() ? "" : " ", device.name(), "=");
    for (const auto& taint : device.taints()) absl::StrAppend(&text, taint.key(), ",");
  }
  return text;
}

TEST(TaintRulesTest, SelectorFieldsMustAllMatch) {
  EXPECT_EQ(TaintedBy({"device_selector { driver: \"d\" pool: \"p\" device: \"b\" } "
                       "taint { key: \"k\" }"}),
            "a=old, b=k,");
  EXPECT_EQ(TaintedBy({"device_selector { driver: \"other\" } taint { key: \"k\" }"}), "a=old, b=");
  EXPECT_EQ(TaintedBy({"device_selector { pool: \"other\" } taint { key: \"k\" }"}), "a=old, b=");
}

TEST(TaintRulesTest, EmptySelectorMeansAllAndNoSelectorNone) {
  EXPECT_EQ(TaintedBy({"device_selector { } taint { key: \"k\" }", "taint { key: \"none\" }",
                       "device_selector { device: \"a\" } taint { key: \"l\" }"}),
            "a=old,k,l, b=k,");
}

}  // namespace
}  // namespace drasim
