#include "model/semver.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"

namespace drasim {
namespace semver_test {

Semver MustParse(const std::string& text) {
  const absl::StatusOr<Semver> version = Semver::Parse(text);
  EXPECT_TRUE(version.ok()) << text << ": " << version.status();
  return version.ok() ? *version : Semver();
}

TEST(SemverTest, ReadsAndPrintsEveryPart) {
  const Semver version = MustParse("10.20.30-rc.1.x-y+build.007");
  EXPECT_EQ(version.major_number(), 10u);
  EXPECT_EQ(version.minor_number(), 20u);
  EXPECT_EQ(version.patch_number(), 30u);
  ASSERT_EQ(version.prerelease().size(), 3u);
  EXPECT_EQ(version.prerelease()[0].text, "rc");
  EXPECT_FALSE(version.prerelease()[0].is_number);
  EXPECT_TRUE(version.prerelease()[1].is_number);
  EXPECT_EQ(version.prerelease()[1].number, 1u);
  EXPECT_EQ(version.prerelease()[2].text, "x-y");
  for (const char* text : {"0.0.0", "1.2.3", "1.2.3-0", "1.2.3--", "1.2.3+01", "1.2.3-a+b-c.d",
                           "18446744073709551615.0.0", "1.2.3-18446744073709551615"}) {
    EXPECT_EQ(MustParse(text).ToString(), text);
  }
  EXPECT_EQ(MustParse("18446744073709551615.0.0").major_number(),
            std::numeric_limits<uint64_t>::max());
}

struct BadVersion {
  const char* text;
  const char* message;
};

TEST(SemverTest, RefusesWithTheLibrarysWords) {
  const BadVersion bad[] = {
      {"", "Version string empty"},
      {"1", "No Major.Minor.Patch elements found"},
      {"1.2", "No Major.Minor.Patch elements found"},
      {"v1.2.3", "Invalid character(s) found in major number \"v1\""},
      {"01.2.3", "Major number must not contain leading zeroes \"01\""},
      {"1.b.3", "Invalid character(s) found in minor number \"b\""},
      {"1.00.3", "Minor number must not contain leading zeroes \"00\""},
      {"1.2.3.4", "Invalid character(s) found in patch number \"3.4\""},
      {"1.2.03", "Patch number must not contain leading zeroes \"03\""},
      {"1..3", "strconv.ParseUint: parsing \"\": invalid syntax"},
      {"1.2.", "strconv.ParseUint: parsing \"\": invalid syntax"},
      {"18446744073709551616.0.0",
       "strconv.ParseUint: parsing \"18446744073709551616\": value out of range"},
      {"1.2.3-", "Prerelease is empty"},
      {"1.2.3-a..b", "Prerelease is empty"},
      {"1.2.3-01", "Numeric PreRelease version must not contain leading zeroes \"01\""},
      {"1.2.3-a_b", "Invalid character(s) found in prerelease \"a_b\""},
      {"1.2.3-18446744073709551616",
       "strconv.ParseUint: parsing \"18446744073709551616\": value out of range"},
      {"1.2.3+", "Build meta data is empty"},
      {"1.2.3+a.", "Build meta data is empty"},
      {"1.2.3+a+b", "Invalid character(s) found in build meta data \"a+b\""},
      {" 1.2.3", "Invalid character(s) found in major number \" 1\""},
  };
  for (const BadVersion& row : bad) {
    const absl::StatusOr<Semver> version = Semver::Parse(row.text);
    ASSERT_FALSE(version.ok()) << row.text;
    EXPECT_EQ(version.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(version.status().message(), row.message) << row.text;
  }
}

TEST(SemverTest, NormalizesBeforeItParses) {
  const std::vector<std::vector<std::string>> rows = {
      {"v1.2.3", "1.2.3"},       {"1", "1.0.0"},          {"v1.2", "1.2.0"},
      {"01.002.0003", "1.2.3"},  {"00.0.000", "0.0.0"},   {"1.2.03-rc.1+b", "1.2.3-rc.1+b"},
      {"1.2.00-rc", "1.2.0-rc"}, {"1.2.-rc", "1.2.0-rc"}, {"010.100.0+0", "10.100.0+0"},
  };
  for (const std::vector<std::string>& row : rows) {
    const absl::StatusOr<Semver> version = Semver::ParseNormalized(row[0]);
    ASSERT_TRUE(version.ok()) << row[0] << ": " << version.status();
    EXPECT_EQ(version->ToString(), row[1]) << row[0];
  }
  const BadVersion bad[] = {
      {"1.2-rc", "short version cannot contain PreRelease/Build meta data"},
      {"1+b", "short version cannot contain PreRelease/Build meta data"},
      {"vv1.2.3", "Invalid character(s) found in major number \"0v1\""},
      {"V1.2.3", "Invalid character(s) found in major number \"0V1\""},
      {"", "strconv.ParseUint: parsing \"\": invalid syntax"},
      {"1.2.3-01", "Numeric PreRelease version must not contain leading zeroes \"01\""},
  };
  for (const BadVersion& row : bad) {
    const absl::StatusOr<Semver> version = Semver::ParseNormalized(row.text);
    ASSERT_FALSE(version.ok()) << row.text;
    EXPECT_EQ(version.status().message(), row.message) << row.text;
  }
}

TEST(SemverTest, OrdersByPrecedence) {
  const std::vector<std::string> ascending = {
      "0.0.0",      "0.0.1",       "0.1.0",       "1.0.0-0",       "1.0.0-2",          "1.0.0-11",
      "1.0.0--",    "1.0.0-ALPHA", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta",
      "1.0.0-rc.1", "1.0.0",       "1.0.1",       "1.2.0",         "1.10.0",           "2.0.0",
      "10.0.0"};
  for (size_t left = 0; left < ascending.size(); ++left) {
    for (size_t right = 0; right < ascending.size(); ++right) {
      const int wanted = left == right ? 0 : (left < right ? -1 : 1);
      EXPECT_EQ(MustParse(ascending[left]).Compare(MustParse(ascending[right])), wanted)
          << ascending[left] << " and " << ascending[right];
    }
  }
  EXPECT_EQ(MustParse("1.2.3+a").Compare(MustParse("1.2.3+b")), 0);
}

TEST(SemverTest, SyntaxOfAttributesHasNoLimitOfNumbers) {
  for (const char* text : {"0.0.0", "99999999999999999999999.0.0", "1.0.0-beta.1+build.1",
                           "1.0.0+001", "1.0.0-0a.b--"}) {
    EXPECT_TRUE(HasSemverSyntax(text)) << text;
  }
  for (const char* text :
       {"", "1.0", "01.0.0", "1.01.0", "1.0.01", "v1.0.0", "1.0.0-", "1.0.0-01", "1.0.0+",
        "1.0.0-a..b", "1.0.0+a..b", "1.0.0 ", "1.0.0-a_", "1.0.0+a+b", "1.0.", "..", "1.0.0.0"}) {
    EXPECT_FALSE(HasSemverSyntax(text)) << text;
  }
}

}  // namespace semver_test
}  // namespace drasim
