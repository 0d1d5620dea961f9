// The gate against an earlier comparison: pairs by seed, rules, and baselines that do not fit.
#include "sim/compare/baseline_gate.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/compare/kept_comparison.h"

namespace drasim {
namespace baseline_gate_test {

using ::testing::HasSubstr;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

constexpr char kJson[] = R"({
  "schema": "drasim.compare/v1",
  "drasim_version": "0.1.0",
  "inputs": [{"path": "b", "sha256": "22"}, {"path": "a", "sha256": "11"}],
  "seeds": [1, 2],
  "policies": [
    {"axes": {"size": "small"}, "queue": "fifo", "policy": "fgd",
     "goodput": {"mean": 1, "by_seed": [0.5, 1.5]}, "preemptions": null}
  ]
})";

// One row with goodput.
KeptComparison Kept(const std::vector<double>& goodput, const std::string& name = "fgd") {
  KeptComparison kept;
  for (size_t s = 0; s < goodput.size(); ++s) kept.seeds.push_back(s + 1);
  kept.rows.push_back({name, {}, {{"goodput", goodput}}});
  return kept;
}

std::vector<FailRule> Rules(const std::string& text) { return {*ParseFailRule(text)}; }

bool Fails(const std::vector<double>& base, const std::vector<double>& head,
           const std::string& rule) {
  const auto comparison = CompareWithBaseline(Kept(base), Kept(head), Rules(rule));
  EXPECT_TRUE(comparison.ok()) << comparison.status();
  return comparison.ok() && comparison->failed();
}

std::string Refusal(const KeptComparison& base, const KeptComparison& head,
                    const std::vector<FailRule>& rules = Rules("goodput < 0")) {
  const auto comparison = CompareWithBaseline(base, head, rules);
  EXPECT_TRUE(absl::IsInvalidArgument(comparison.status()));
  return std::string(comparison.status().message());
}

TEST(KeptComparisonTest, ReadsFiguresBySeed) {
  const absl::StatusOr<KeptComparison> kept = ParseComparison(kJson, "old.json");
  ASSERT_TRUE(kept.ok()) << kept.status();
  EXPECT_EQ(kept->version, "0.1.0");
  EXPECT_EQ(kept->seeds, (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(kept->inputs, (std::vector<std::string>{"11", "22"}));
  ASSERT_EQ(kept->rows.size(), 1u);
  EXPECT_EQ(kept->rows[0].name, "size=small/fifo/fgd");
  EXPECT_EQ(kept->rows[0].labels, (std::vector<std::pair<std::string, std::string>>{
                                      {"size", "small"}, {"queue", "fifo"}, {"policy", "fgd"}}));
  EXPECT_EQ(kept->rows[0].figures.at("goodput"), (std::vector<double>{0.5, 1.5}));
  EXPECT_TRUE(std::isnan(kept->rows[0].figures.at("preemptions").at(1)));
  EXPECT_EQ(kept->Find("size=small/fifo/fgd"), kept->rows.data());
  EXPECT_EQ(kept->Find("fgd"), nullptr);
}

TEST(KeptComparisonTest, PlacesMistakes) {
  const struct {
    const char* from;
    const char* to;
    const char* message;
  } kMistakes[] = {
      {"compare/v1", "compare/v2", "old.json:2:13: expected the schema drasim.compare/v1"},
      {"[1, 2]", "[]", "old.json:5:12: expected at least one seed"},
      {"[1, 2]", "[1, two]", "old.json:5:16: expected a seed"},
      {"[0.5, 1.5]", "[0.5]", "old.json:8:40: expected a figure for each of the 2 seeds"},
      {"[0.5, 1.5]", "[0.5, x]", "old.json:8:46: expected a number or null"},
      {", \"by_seed\": [0.5, 1.5]", "", "expected an object with by_seed"},
      {"\"policy\"", "\"police\"", "expected an object with a policy"},
      {"\"seeds\"", "\"seed\"", "expected a list 'seeds'"},
  };
  for (const auto& mistake : kMistakes) {
    const std::string text = absl::StrReplaceAll(kJson, {{mistake.from, mistake.to}});
    const absl::StatusOr<KeptComparison> kept = ParseComparison(text, "old.json");
    EXPECT_TRUE(absl::IsInvalidArgument(kept.status())) << mistake.from;
    EXPECT_THAT(std::string(kept.status().message()), HasSubstr(mistake.message));
  }
  const std::string row = R"({"policy": "fgd"})";
  const std::string twice =
      absl::StrCat(R"({"schema": "drasim.compare/v1", "inputs": [], "seeds": [1], "policies": [)",
                   row, ", ", row, "]}");
  EXPECT_THAT(std::string(ParseComparison(twice, "t").status().message()),
              HasSubstr("expected one row fgd, not two"));
}

TEST(BaselineGateTest, PairsBySeed) {
  // The spread between seeds is large, the difference small and constant.
  const auto comparison = CompareWithBaseline(Kept({1, 5, 9}), Kept({0.9, 4.9, 8.9}), {});
  ASSERT_TRUE(comparison.ok()) << comparison.status();
  ASSERT_EQ(comparison->changed.size(), 1u);
  const BaselineChange& change = comparison->changed[0];
  EXPECT_EQ(change.old_mean, 5);
  EXPECT_EQ(change.new_mean, 4.9);
  EXPECT_EQ(change.difference.mean, -0.1);
  EXPECT_EQ(change.difference.interval_95, (Interval{-0.1, -0.1}));
  EXPECT_FALSE(comparison->failed());
  const auto same = CompareWithBaseline(Kept({1, 5}), Kept({1, 5}), Rules("goodput < 0"));
  ASSERT_TRUE(same.ok());
  EXPECT_TRUE(same->changed.empty());
  EXPECT_EQ(BaselineText(*same, "old.json"),
            "Against old.json, 1 row(s): no figure differs.\n"
            "passed goodput < 0: fgd 0.0000 [0.0000, 0.0000]\n");
}

TEST(BaselineGateTest, FailsByRule) {
  EXPECT_TRUE(Fails({10}, {9.4}, "goodput < -0.5"));
  EXPECT_FALSE(Fails({10}, {9.6}, "goodput < -0.5"));
  EXPECT_TRUE(Fails({10}, {9.4}, "goodput < -5%"));
  EXPECT_FALSE(Fails({10}, {9.6}, "goodput < -5%"));
  // Nothing to show is never a pass.
  EXPECT_TRUE(Fails({10, 10}, {10, kNone}, "goodput < -0.5"));
}

TEST(BaselineGateTest, RefusesOtherBaselines) {
  EXPECT_EQ(Refusal(Kept({1}), Kept({1, 2})),
            "--baseline: it has the seeds 1, this comparison has 1,2");
  KeptComparison other = Kept({1});
  other.inputs = {"11"};
  EXPECT_THAT(Refusal(other, Kept({1})), HasSubstr("other bytes"));
  EXPECT_EQ(Refusal(Kept({1}), Kept({1}, "best-fit")), "--baseline: it has none of these rows");
  KeptComparison two = Kept({1});
  two.rows.push_back({"gone", {}, {}});
  EXPECT_EQ(Refusal(two, Kept({1})), "--baseline: its row gone is not in this comparison");
  EXPECT_TRUE(CompareWithBaseline(two, Kept({1}), {}).ok());
  EXPECT_THAT(Refusal(Kept({1}), Kept({1}), Rules("preemptions > 0")),
              HasSubstr("--fail-if 'preemptions > 0': no row has the metric on both sides"));
}

}  // namespace baseline_gate_test
}  // namespace drasim
