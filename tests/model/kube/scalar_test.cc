#include "model/kube/scalar.h"

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/random.h"
#include "tests/testing/data_text.h"

namespace drasim {
namespace kube_scalar_test {

std::string Resolved(absl::string_view word) {
  static constexpr const char* kKinds[] = {"text", "timestamp", "null", "bool", "int", "float"};
  const KubeWord resolved = ResolveKubeWord(word);
  return absl::StrCat(kKinds[static_cast<size_t>(resolved.kind)], " ", resolved.text);
}

// `v: WORD` as sigs.k8s.io/yaml v1.6.0 reads it.
TEST(ResolveKubeWordTest, WordsMeanWhatTheyMeanToKubectl) {
  for (const auto& [word, meaning] : TestRows<2>("WordsMeanWhatTheyMeanToKubectl"))
    EXPECT_EQ(Resolved(word), meaning) << word;
}

TEST(ResolveKubeWordTest, InfinitiesAreNumbers) {
  for (const char* word : {".inf", "+.INF", "-.Inf", ".nan", ".NaN"}) {
    EXPECT_EQ(Resolved(word), absl::StrCat("float ", word));
  }
  EXPECT_EQ(Resolved("inf"), "text inf");
  EXPECT_EQ(Resolved("nan"), "text nan");
}

TEST(IsKubeTextTest, WhatThePrinterQuotes) {
  for (const char* text : {"a", "12:99", "1:2:3.5x", "a:b", "1g.5gb", "-x", "<<", "1.2.3"}) {
    EXPECT_TRUE(IsKubeText(text)) << text;
  }
  for (const char* text : {"", "y", "1", "1.5", "2024-01-31", "12:30", "-1:0", "1_0:59.5", "~"}) {
    EXPECT_FALSE(IsKubeText(text)) << text;
  }
}

TEST(GoNumberTest, HasTheFormOfGosJsonEncoder) {
  const std::vector<std::pair<double, const char*>> numbers = {
      {0, "0"},
      {0.1, "0.1"},
      {-2.5, "-2.5"},
      {1e20, "100000000000000000000"},
      {1e21, "1e+21"},
      {1.5e300, "1.5e+300"},
      {0.000001, "0.000001"},
      {0.0000009, "9e-7"},
      {1e-10, "1e-10"},
      {123456789.125, "123456789.125"},
  };
  for (const auto& [number, text] : numbers) EXPECT_EQ(GoNumber(number), text);
  EXPECT_EQ(GoNumber(std::numeric_limits<double>::max()), "1.7976931348623157e+308");
}

TEST(GoNumberTest, ReadsBack) {
  Random random(1, "go numbers");
  for (int i = 0; i < 10000; ++i) {
    const double exponent = static_cast<double>(random.Below(600)) - 300;
    const double number = (random.Unit() - 0.5) * std::pow(10.0, exponent);
    double back = 0;
    ASSERT_TRUE(absl::SimpleAtod(GoNumber(number), &back));
    EXPECT_EQ(back, number) << GoNumber(number);
  }
}

TEST(IsRfc3339Test, TakesWhatKubernetesWrites) {
  for (const char* text : {"2024-01-31T12:00:00Z", "2024-02-29T23:59:59.123456789Z",
                           "0001-01-01T00:00:00+14:00", "2024-01-31T12:00:00-00:30"}) {
    EXPECT_TRUE(IsRfc3339(text)) << text;
  }
  for (const char* text :
       {"", "2024-01-31", "2024-1-31T12:00:00Z", "2024-01-31T12:00:00", "2024-01-31 12:00:00Z",
        "2024-13-01T12:00:00Z", "2024-01-31T24:00:00Z", "2024-01-31T12:60:00Z",
        "2024-01-31T12:00:00.Z", "2024-01-31T12:00:00Z ", "2024-01-31t12:00:00Z",
        "2024-01-31T12:00:00+1:00", "24-01-31T12:00:00Z"}) {
    EXPECT_FALSE(IsRfc3339(text)) << text;
  }
}

}  // namespace kube_scalar_test
}  // namespace drasim
