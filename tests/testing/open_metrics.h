// A strict reader of OpenMetrics text, as far as gauges need it: every line is checked.
#ifndef DRASIM_TESTS_TESTING_OPEN_METRICS_H_
#define DRASIM_TESTS_TESTING_OPEN_METRICS_H_

#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"

namespace drasim {

// Values by `family{label="value",...}` with the labels as they stand; a repeated sample, a sample
// outside its family, a bad name or a text after # EOF is a failure of the test.
class OpenMetrics {
 public:
  explicit OpenMetrics(absl::string_view text) {
    EXPECT_TRUE(absl::ConsumeSuffix(&text, "# EOF\n")) << "no # EOF at the end";
    for (absl::string_view line : absl::StrSplit(text, '\n')) {
      if (line.empty()) {
        EXPECT_EQ(line.data(), text.data() + text.size()) << "an empty line";
      } else if (absl::ConsumePrefix(&line, "# ")) {
        ReadDescriptor(line);
      } else {
        ReadSample(line);
      }
    }
  }

  // NaN, and a failure, when there is none.
  double At(const std::string& sample) const {
    const auto found = values_.find(sample);
    if (found != values_.end()) return found->second;
    ADD_FAILURE() << "no sample " << sample;
    return std::nan("");
  }
  bool Has(const std::string& sample) const { return values_.count(sample) > 0; }
  // The samples of a family, in order.
  std::vector<std::string> Of(absl::string_view family) const {
    std::vector<std::string> samples;
    for (const std::string& sample : order_) {
      if (absl::StartsWith(sample, absl::StrCat(family, "{"))) samples.push_back(sample);
    }
    return samples;
  }
  double Sum(absl::string_view family, absl::string_view part) const {
    double sum = 0;
    for (const std::string& sample : Of(family)) {
      if (absl::StrContains(sample, part)) sum += At(sample);
    }
    return sum;
  }
  const std::set<std::string>& families() const { return families_; }

 private:
  static bool IsName(absl::string_view name) {
    if (name.empty() || absl::ascii_isdigit(static_cast<unsigned char>(name[0]))) return false;
    for (const char c : name) {
      if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '_') return false;
    }
    return true;
  }

  void ReadDescriptor(absl::string_view line) {
    const std::vector<std::string> words = absl::StrSplit(line, absl::MaxSplits(' ', 2));
    ASSERT_EQ(words.size(), 3u) << line;
    EXPECT_TRUE(IsName(words[1])) << line;
    if (words[0] == "HELP") {
      EXPECT_TRUE(families_.insert(words[1]).second) << "a second family " << words[1];
      EXPECT_FALSE(words[2].empty()) << line;
      family_ = words[1];
      return;
    }
    EXPECT_EQ(words[0], "TYPE") << line;
    EXPECT_EQ(words[1], family_) << line;
    EXPECT_EQ(words[2], "gauge") << line;
  }

  void ReadSample(absl::string_view line) {
    const absl::string_view whole = line;
    const size_t brace = line.find('{');
    ASSERT_NE(brace, absl::string_view::npos) << whole;
    EXPECT_EQ(line.substr(0, brace), family_) << whole;
    line.remove_prefix(brace + 1);
    std::set<std::string> labels;
    while (true) {
      const size_t equals = line.find('=');
      ASSERT_NE(equals, absl::string_view::npos) << whole;
      EXPECT_TRUE(IsName(line.substr(0, equals))) << whole;
      EXPECT_TRUE(labels.insert(std::string(line.substr(0, equals))).second) << whole;
      line.remove_prefix(equals + 1);
      ASSERT_TRUE(absl::ConsumePrefix(&line, "\"")) << whole;
      while (!line.empty() && line[0] != '"') {
        const bool escape = line[0] == '\\';
        if (escape) {
          ASSERT_TRUE(line.size() > 1 && absl::StrContains("\\\"n", line.substr(1, 1))) << whole;
        }
        line.remove_prefix(escape ? 2 : 1);
      }
      ASSERT_TRUE(absl::ConsumePrefix(&line, "\"")) << whole;
      if (!absl::ConsumePrefix(&line, ",")) break;
    }
    ASSERT_TRUE(absl::ConsumePrefix(&line, "} ")) << whole;
    double value = 0;
    ASSERT_TRUE(absl::SimpleAtod(line, &value)) << whole;
    const std::string key(whole.substr(0, whole.size() - line.size() - 1));
    EXPECT_TRUE(values_.emplace(key, value).second) << "a second sample " << key;
    order_.push_back(key);
  }

  std::string family_;
  std::set<std::string> families_;
  std::map<std::string, double> values_;
  std::vector<std::string> order_;
};

}  // namespace drasim

#endif  // DRASIM_TESTS_TESTING_OPEN_METRICS_H_
