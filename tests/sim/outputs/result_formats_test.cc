// Results in the formats of other tools: texts for people word by word, data read back by
// consumers.
#include "sim/outputs/result_formats.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tests/sim/outputs/example_results.h"
#include "tests/testing/data_text.h"
#include "tests/testing/subprocess.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace result_formats_test {

constexpr int kNotInstalled = 77;  // of consumers.py

std::string Written(absl::string_view name) {
  for (const ResultFormat& format : ResultFormats()) {
    if (format.name == name) return format.write(ExampleResults());
  }
  ADD_FAILURE() << "no format " << name;
  return "";
}

class ConsumersTest : public ::testing::Test {
 protected:
  // The findings of the format's consumer; empty if it is not installed.
  std::string ReadBack(const std::string& name) const {
    dir_.Write("results", Written(name));
    const ProcessResult result =
        Process("/usr/bin/python3",  // Debian's, which has the packages; PATH may lead to others
                {DRASIM_SOURCE_DIR "/tests/sim/outputs/data/consumers.py", name,
                 dir_.PathOf("results")},
                dir_.path())
            .Wait();
    const char* ci = std::getenv("CI");
    if (result.exit_code == kNotInstalled || result.exit_code == 127) {
      EXPECT_FALSE(ci != nullptr && absl::string_view(ci) == "true") << "no consumer of " << name;
      return "";
    }
    EXPECT_EQ(result.exit_code, 0) << result.err << "\n" << dir_.Read("results");
    return result.out;
  }

  TempDir dir_;
};

#define SKIP_WITHOUT(found) \
  if ((found).empty()) GTEST_SKIP() << "the consumer of this format is not installed"

TEST(ResultFormatsTest, Markdown) {
  std::string expected = TestText("markdown");
  expected.replace(expected.find("gone"), 4, "gone\x01");
  EXPECT_EQ(Written("markdown"), expected);
}

TEST(ResultFormatsTest, GithubAnnotations) {
  std::string expected = TestText("github");
  expected.replace(expected.find("::gone"), 6, "::gone\x01");
  EXPECT_EQ(Written("github"), expected);
}

TEST_F(ConsumersTest, Junit) {
  const std::string found = ReadBack("junit");
  SKIP_WITHOUT(found);
  EXPECT_EQ(found,
            "fill fill/-/fgd/1 0.250\n"
            "fill fill/-/fgd/2 0.500 failure failed 'worse: 50% <\"&\\'>, a\\nb'\n"
            "gangs gangs/fifo/fgd/1 0.000 failure changed 'other'\n"
            "gangs late/-/fgd/1 0.000 error missing 'gone\xEF\xBF\xBD'\n");
}

// compare.py compares the file with itself.
TEST_F(ConsumersTest, GoogleBenchmark) {
  const std::string found = ReadBack("google-benchmark");
  SKIP_WITHOUT(found);
  EXPECT_EQ(found,
            "fill/-/fgd +0.0000 +0.0000 250 250 250 250\n"
            "fill/-/fgd +0.0000 +0.0000 500 500 500 500\n");
}

TEST_F(ConsumersTest, PerfDash) {
  const std::string found = ReadBack("perf-dash");
  SKIP_WITHOUT(found);
  EXPECT_EQ(found,
            "fill/-/fgd 1 '' {'goodput': 0.5}\n"
            "fill/-/fgd 1 's' {'mean_jct_seconds': 120, 'cpu_seconds': 0.25}\n"
            "fill/-/fgd 2 '' {'goodput': 0.75}\n"
            "fill/-/fgd 2 's' {'cpu_seconds': 0.5}\n"
            "gangs/fifo/fgd None '%' {'gpu_allocation_percent_end': 1e-07}\n");
}

TEST_F(ConsumersTest, Bencher) {
  const std::string found = ReadBack("bencher");
  SKIP_WITHOUT(found);
  EXPECT_EQ(found,
            "fill/-/fgd/1 goodput {'value': 0.5}\n"
            "fill/-/fgd/1 mean_jct_seconds {'value': 120}\n"
            "fill/-/fgd/1 cpu_seconds {'value': 0.25}\n"
            "fill/-/fgd/2 goodput {'value': 0.75}\n"
            "fill/-/fgd/2 cpu_seconds {'value': 0.5}\n"
            "gangs/fifo/fgd gpu_allocation_percent_end "
            "{'value': 1e-07, 'lower_value': -0.5, 'upper_value': 2.5}\n");
}

TEST_F(ConsumersTest, OpenMetrics) {
  const std::string text = Written("openmetrics");
  EXPECT_NE(text.find("drasim_goodput{name=\"fill/-/fgd\",entry=\"fill\",_1_odd_label=\"a\\\"b\\\\c"
                      "\\nd\",seed=\"2\"} 0.75\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.substr(text.size() - 6), "# EOF\n");
  const std::string found = ReadBack("openmetrics");
  SKIP_WITHOUT(found);
  EXPECT_NE(found.find("drasim_gpu_allocation_percent_end_low [('_1_odd_label', 'a\"b\\\\c\\nd'), "
                       "('entry', 'gangs'), ('name', 'gangs/fifo/fgd')] -0.5\n"),
            std::string::npos)
      << found;
}

TEST(ResultFormatsTest, RequestsNameAFormatAndAFile) {
  const auto requests = ParseReports({"junit=a=b.xml", "markdown"}, "validate",
                                     {ResultPart::kChecks, ResultPart::kText});
  ASSERT_TRUE(requests.ok()) << requests.status();
  EXPECT_EQ((*requests)[0].format->name, "junit");
  EXPECT_EQ((*requests)[0].file, "a=b.xml");
  EXPECT_EQ((*requests)[1].file, "");
  const auto refused = [](const std::string& text) {
    return std::string(ParseReports({text}, "validate", {ResultPart::kChecks, ResultPart::kText})
                           .status()
                           .message());
  };
  EXPECT_EQ(refused("unit"),
            "--report: unknown format 'unit' (did you mean 'junit'?); validate has "
            "markdown, junit, github");
  EXPECT_EQ(refused("bencher=x"),
            "--report: 'bencher' holds figures, and validate has none; expected markdown, junit, "
            "github");
}

// Summaries of several commands gather in one file; data is replaced.
TEST(ResultFormatsTest, MarkdownIsAppended) {
  const TempDir dir;
  const auto requests = ParseReports({"markdown=" + dir.PathOf("m"), "junit=" + dir.PathOf("j")},
                                     "x", {ResultPart::kChecks, ResultPart::kText});
  ASSERT_TRUE(requests.ok());
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(WriteReports(*requests, ExampleResults()).ok());
  EXPECT_EQ(dir.Read("m"), Written("markdown") + Written("markdown"));
  EXPECT_EQ(dir.Read("j"), Written("junit"));
  const auto nowhere = ParseReports({"markdown=" + dir.PathOf("no/m")}, "x", {ResultPart::kText});
  EXPECT_FALSE(WriteReports(*nowhere, ExampleResults()).ok());
}

}  // namespace result_formats_test
}  // namespace drasim
