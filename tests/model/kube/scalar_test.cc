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

namespace drasim {
namespace kube_scalar_test {

std::string Resolved(absl::string_view word) {
  static constexpr const char* kKinds[] = {"text", "timestamp", "null", "bool", "int", "float"};
  const KubeWord resolved = ResolveKubeWord(word);
  return absl::StrCat(kKinds[static_cast<size_t>(resolved.kind)], " ", resolved.text);
}

// `v: WORD` as sigs.k8s.io/yaml v1.6.0 reads it.
TEST(ResolveKubeWordTest, WordsMeanWhatTheyMeanToKubectl) {
  const std::vector<std::pair<const char*, const char*>> words = {
      {"", "null "},
      {"~", "null ~"},
      {"null", "null null"},
      {"NULL", "null NULL"},
      {"nUll", "text nUll"},
      {"null Null", "text null Null"},
      {"y", "bool true"},
      {"On", "bool true"},
      {"yes", "bool true"},
      {"TRUE", "bool true"},
      {"tRUE", "text tRUE"},
      {"N", "bool false"},
      {"off", "bool false"},
      {"no", "bool false"},
      {"False", "bool false"},
      {"0", "int 0"},
      {"-0", "int 0"},
      {"42", "int 42"},
      {"+42", "int 42"},
      {"-42", "int -42"},
      {"1_000", "int 1000"},
      {"010", "int 8"},
      {"0o17", "int 15"},
      {"-0o17", "int -15"},
      {"0x1F", "int 31"},
      {"0b101", "int 5"},
      {"-0b11", "int -3"},
      {"0b12", "text 0b12"},
      {"0x", "text 0x"},
      {"18446744073709551615", "int 18446744073709551615"},
      {"-9223372036854775808", "int -9223372036854775808"},
      {"08", "float 8"},
      {"089", "float 89"},
      {"1.0", "float 1"},
      {"1.", "float 1"},
      {".5", "float 0.5"},
      {".33_9", "float 0.339"},
      {"-.5", "float -0.5"},
      {"1e3", "float 1000"},
      {"1E-7", "float 1e-7"},
      {"1e21", "float 1e+21"},
      {"1e20", "float 100000000000000000000"},
      {"1e999", "text 1e999"},
      {"1e", "text 1e"},
      {"e3", "text e3"},
      {".", "text ."},
      {"-", "text -"},
      {"1.2.3", "text 1.2.3"},
      {"12:30", "text 12:30"},
      {"500m", "text 500m"},
      {"2024-01-31", "timestamp 2024-01-31"},
      {"2024-1-3", "timestamp 2024-1-3"},
      {"2024-01-32", "text 2024-01-32"},
      {"2023-02-29", "text 2023-02-29"},
      {"2024-01-31T12:00:00Z", "timestamp 2024-01-31T12:00:00Z"},
      {"2024-01-31t1:2:3.5+01:00", "timestamp 2024-01-31t1:2:3.5+01:00"},
      {"2024-01-31T12:00:00", "text 2024-01-31T12:00:00"},
      {"2024-01-31 12:00:00", "timestamp 2024-01-31 12:00:00"},
      {"<<", "text <<"},
      {"true false", "text true false"},
  };
  for (const auto& [word, meaning] : words) EXPECT_EQ(Resolved(word), meaning) << word;
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
