// Selectors of GPUs: properties, expressions, and what is wrong with them.
#include "policies/devices/gpu_selector.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/device_set.h"
#include "model/kube/name.h"
#include "model/kube/objects.h"
#include "model/random.h"
#include "policies/devices/claim_parameters.h"
#include "policies/devices/gpu_kinds.h"
#include "tests/testing/claim_driver_rig.h"
#include "tests/testing/mig_products.h"

namespace drasim {
namespace gpu_selector_test {

absl::StatusOr<GpuSelector> Read(TestFields fields) {
  NamePool names;
  ParametersObject object;
  object.meta.name = names.Intern("mine");
  object.fields = std::move(fields);
  std::sort(object.fields.begin(), object.fields.end());
  return GpuSelector::Read(ParameterFields(&object));
}
DeviceSet DevicesOf(TestFields fields, const GpuKind& kind) {
  const absl::StatusOr<GpuSelector> selector = Read(std::move(fields));
  EXPECT_TRUE(selector.ok()) << selector.status();
  return selector.ok() ? selector->DevicesOf(kind) : DeviceSet();
}
std::string ErrorOf(TestFields fields) {
  const absl::StatusOr<GpuSelector> selector = Read(std::move(fields));
  EXPECT_FALSE(selector.ok());
  return selector.ok() ? "" : std::string(selector.status().message());
}

constexpr DeviceSet kAll = DeviceSet::All();

GpuKind A100() {
  static const MigTable* const table = new MigTable(TestTable(TestA100()));
  GpuKind kind;
  kind.model = "A100-80GB";
  kind.product = "A100-SXM4-80GB";
  kind.brand = "Nvidia";
  kind.architecture = "ampere";
  kind.compute_capability = "8.0";
  kind.driver_version = "535.104.05";
  kind.cuda_version = "12.2";
  kind.memory_mib = 81920;
  kind.table = table;
  return kind;
}

TEST(GpuSelectorTest, OneProperty) {
  const GpuKind a100 = A100();
  const GpuKind unknown;
  for (const auto& [path, text, wanted] :
       std::vector<std::tuple<std::string, std::string, DeviceSet>>{
           {"index", "3", DeviceSet::Of(3)},
           {"index", "63", DeviceSet::Of(63)},
           {"index", "64", DeviceSet()},
           {"uuid", "gpu-31", DeviceSet::Of(31)},
           {"uuid", "GPU-3", DeviceSet()},
           {"migEnabled", "true", kAll},
           {"productName", "*a100*", kAll},
           {"productName", "a100", kAll},
           {"productName", "A100*80GB", kAll},
           {"productName", "NVIDIA A100-SXM4*", kAll},
           {"productName", "*h100*", DeviceSet()},
           {"brand", "NVIDIA", kAll},
           {"brand", "GeForce", DeviceSet()},
           {"architecture", "Ampere", kAll},
           {"architecture", "Hopper", DeviceSet()}}) {
    EXPECT_EQ(DevicesOf({{absl::StrCat("spec.selector.", path), text}}, a100), wanted)
        << path << text;
    if (path != "index" && path != "uuid") {
      EXPECT_EQ(DevicesOf({{absl::StrCat("selector.", path), text}}, unknown), DeviceSet()) << path;
    }
  }
  // Any GPU is out of MIG mode while it is whole.
  EXPECT_EQ(DevicesOf({{"selector.migEnabled", "false"}}, a100), kAll);
  EXPECT_EQ(DevicesOf({{"selector.migEnabled", "false"}}, unknown), kAll);
  EXPECT_EQ(DevicesOf({}, unknown), kAll);
}

TEST(GpuSelectorTest, Comparisons) {
  struct Case {
    const char* property;
    const char* less;
    const char* equal;
    const char* more;
  };
  for (const Case& c :
       {Case{"memory", "79Gi", "80Gi", "100G"}, Case{"cudaComputeCapability", "7.5", "8", "8.0.1"},
        Case{"driverVersion", "535.99", "v535.104.05", "1000"},
        Case{"cudaDriverVersion", "11.8", "12.2.0", "12.10"}}) {
    const auto found = [&c](const char* op, const char* value) {
      const std::string path = absl::StrCat("selector.", c.property);
      const DeviceSet devices = DevicesOf(
          {{absl::StrCat(path, ".operator"), op}, {absl::StrCat(path, ".value"), value}}, A100());
      EXPECT_TRUE(devices.empty() || devices == kAll);
      return !devices.empty();
    };
    // Operator, whether the GPU's is found with a smaller, the same and a larger value.
    for (const auto& [op, less, equal, more] :
         std::vector<std::tuple<const char*, bool, bool, bool>>{
             {"Equals", false, true, false},
             {"LessThan", false, false, true},
             {"LessThanOrEqualTo", false, true, true},
             {"GreaterThan", true, false, false},
             {"GreaterThanOrEqualTo", true, true, false}}) {
      EXPECT_EQ(found(op, c.less), less) << c.property << " " << op << " " << c.less;
      EXPECT_EQ(found(op, c.equal), equal) << c.property << " " << op << " " << c.equal;
      EXPECT_EQ(found(op, c.more), more) << c.property << " " << op << " " << c.more;
    }
    const std::string path = absl::StrCat("selector.", c.property);
    EXPECT_EQ(DevicesOf({{absl::StrCat(path, ".operator"), "GreaterThan"},
                         {absl::StrCat(path, ".value"), "0"}},
                        GpuKind()),
              DeviceSet())
        << "what is not known matches nothing";
  }
}

TEST(GpuSelectorTest, Expressions) {
  const GpuKind a100 = A100();
  EXPECT_EQ(DevicesOf({{"spec.selector.orExpression.0.index", "0"},
                       {"spec.selector.orExpression.1.index", "4"}},
                      a100),
            DeviceSet::Of(0) | DeviceSet::Of(4));
  EXPECT_EQ(
      DevicesOf(
          {{"spec.selector.andExpression[0].productName", "*A100*"},
           {"spec.selector.andExpression[1].orExpression[0].index", "1"},
           {"spec.selector.andExpression[1].orExpression[1].andExpression[0].index", "2"},
           {"spec.selector.andExpression[1].orExpression[1].andExpression[1].brand", "nvidia"}},
          a100),
      DeviceSet::Of(1) | DeviceSet::Of(2));
  // More than ten of them: in the order of their numbers, not of their texts.
  TestFields many;
  for (int i = 0; i < 12; ++i) {
    many.emplace_back(absl::StrCat("selector.orExpression.", i, ".index"), absl::StrCat(i));
  }
  EXPECT_EQ(DevicesOf(many, a100), DeviceSet::FirstN(12));
}

TEST(GpuSelectorTest, SaysWhatIsWrong) {
  EXPECT_EQ(ErrorOf({{"selector.index", "0"}, {"selector.brand", "x"}}),
            "parameters \"mine\": selector: expected one property or expression, not 2");
  EXPECT_EQ(ErrorOf({{"selector.index", "-1"}}),
            "parameters \"mine\": selector.index: expected 0 to 2147483647, not \"-1\"");
  EXPECT_EQ(ErrorOf({{"selector.migEnabled", "on"}}),
            "parameters \"mine\": selector.migEnabled: expected \"true\" or \"false\", not \"on\"");
  EXPECT_EQ(ErrorOf({{"selector.memory.value", "1Gi"}}),
            "parameters \"mine\": selector.memory.operator: expected an operator");
  EXPECT_EQ(ErrorOf({{"selector.memory.operator", "Equals"}}),
            "parameters \"mine\": selector.memory.value: expected a value");
  EXPECT_EQ(
      ErrorOf({{"selector.memory.value", "big"}, {"selector.memory.operator", "Equals"}}),
      "parameters \"mine\": selector.memory.value: expected a quantity of bytes, not \"big\"");
  EXPECT_EQ(ErrorOf({{"selector.driverVersion.value", "new"},
                     {"selector.driverVersion.operator", "Equals"}}),
            "parameters \"mine\": selector.driverVersion.value: expected a version like \"8.0\", "
            "not \"new\"");
  EXPECT_EQ(ErrorOf({{"selector.memory.value", "1"}, {"selector.memory.operator", "Exceeds"}}),
            "parameters \"mine\": selector.memory.operator: expected Equals, LessThan, "
            "LessThanOrEqualTo, GreaterThan, GreaterThanOrEqualTo, not \"Exceeds\"");
  EXPECT_EQ(ErrorOf({{"selector.andExpression.x.index", "0"}}),
            "parameters \"mine\": selector.andExpression: expected a list");
  EXPECT_EQ(ErrorOf({{"selector.andExpression.0.andExpression.0.andExpression.0.andExpression.0."
                      "index",
                      "0"}}),
            "parameters \"mine\": selector.andExpression.0.andExpression.0.andExpression.0."
            "andExpression: expected at most 3 levels");
}

// The plain definition: try every way to lay '*' out, beginning anywhere.
bool SlowGlob(absl::string_view pattern, absl::string_view text) {
  if (pattern.empty()) return true;
  if (pattern[0] == '*') {
    for (size_t skip = 0; skip <= text.size(); ++skip) {
      if (SlowGlob(pattern.substr(1), text.substr(skip))) return true;
    }
    return false;
  }
  return !text.empty() && pattern[0] == text[0] && SlowGlob(pattern.substr(1), text.substr(1));
}

TEST(GpuSelectorTest, PatternsAgainstTheDefinition) {
  Random random(1, "gpu selector test");
  for (int i = 0; i < 3000; ++i) {
    std::string pattern;
    std::string text;
    for (uint64_t n = random.Below(6); n > 0; --n) pattern.push_back("ab*"[random.Below(3)]);
    for (uint64_t n = random.Below(8); n > 0; --n) text.push_back("ab"[random.Below(2)]);
    EXPECT_EQ(GlobMatches(pattern, text), SlowGlob(absl::StrCat("*", pattern), text))
        << pattern << " in " << text;
  }
}

}  // namespace gpu_selector_test
}  // namespace drasim
