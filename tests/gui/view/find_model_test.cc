#include "gui/view/find_model.h"

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace drasim::view {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

FindSource SourceOf(const std::vector<std::string>* names, bool loose = false) {
  return {names->size(), [names](size_t i) -> absl::string_view { return (*names)[i]; }, loose};
}

std::vector<std::string> FoundTexts(const FindModel& find,
                                    const std::vector<std::vector<std::string>>& names) {
  std::vector<std::string> texts;
  for (const FindHit& hit : find.hits()) texts.push_back(names[hit.source][hit.index]);
  return texts;
}

TEST(FindScoreTest, RanksEqualThenStartThenWordThenInsideThenWordsThenLetters) {
  const std::vector<std::string> best_first = {"play", "play or pause", "go and play", "display",
                                               "a y of p l"};
  for (size_t i = 0; i + 1 < best_first.size(); ++i) {
    const auto better = FindScore("play", best_first[i]);
    const auto worse = FindScore("play", best_first[i + 1]);
    ASSERT_TRUE(better.has_value()) << best_first[i];
    if (i + 2 == best_first.size()) {
      EXPECT_FALSE(worse.has_value()) << "the letters stand in another order";
    } else {
      ASSERT_TRUE(worse.has_value()) << best_first[i + 1];
      EXPECT_GT(*better, *worse) << best_first[i + 1];
    }
  }
  EXPECT_GT(*FindScore("pause play", "play or pause"), *FindScore("plpa", "play or pause"));
  EXPECT_GT(*FindScore("lay", "display"), *FindScore("play dis", "display"));
}

TEST(FindScoreTest, ShorterTextsAreBetterWithinAClass) {
  EXPECT_GT(*FindScore("pod", "pod-1"), *FindScore("pod", "pod-0001"));
  EXPECT_GT(*FindScore("pod", "pod-0001"), *FindScore("pod", "a-pod"));
}

TEST(FindScoreTest, IgnoresCaseAndBlanksAround) {
  EXPECT_EQ(FindScore(" PLAY ", "Play"), FindScore("play", "play"));
  EXPECT_FALSE(FindScore("", "play").has_value());
  EXPECT_FALSE(FindScore("  ", "play").has_value());
  EXPECT_FALSE(FindScore("play", "").has_value());
  EXPECT_FALSE(FindScore("playa", "play").has_value());
}

TEST(FindModelTest, MergesSourcesByRank) {
  const std::vector<std::vector<std::string>> names = {{"Export window", "Fit"},
                                                       {"pod-7", "export-pod"}};
  FindModel find;
  find.SetSources({SourceOf(&names[0], true), SourceOf(&names[1])});
  find.SetQuery("export");
  EXPECT_FALSE(find.complete());
  EXPECT_FALSE(find.Scan(100));
  EXPECT_THAT(FoundTexts(find, names), ElementsAre("export-pod", "Export window"));
}

TEST(FindModelTest, OnlyLooseSourcesMatchLettersInOrder) {
  const std::vector<std::vector<std::string>> names = {{"go to time"}, {"get-it-out-now"}};
  FindModel find;
  find.SetSources({SourceOf(&names[0], true), SourceOf(&names[1])});
  find.SetQuery("gt");
  find.Scan(100);
  EXPECT_THAT(FoundTexts(find, names), ElementsAre("go to time"));
}

TEST(FindModelTest, AnyBudgetGivesTheSameHits) {
  std::vector<std::string> pods;
  for (size_t i = 0; i < 3000; ++i) pods.push_back(absl::StrFormat("pod-%07d", i));
  FindModel at_once;
  at_once.SetSources({SourceOf(&pods)});
  at_once.SetQuery("12");
  EXPECT_FALSE(at_once.Scan(pods.size() + 1));
  ASSERT_EQ(at_once.hits().size(), kFindHits);
  FindModel in_slices;
  in_slices.SetSources({SourceOf(&pods)});
  in_slices.SetQuery("12");
  size_t slices = 0;
  while (in_slices.Scan(7)) ++slices;
  EXPECT_GE(slices, pods.size() / 7 - 1);
  EXPECT_EQ(in_slices.hits(), at_once.hits());
  // All are equally long, so the first ones win.
  EXPECT_EQ(pods[at_once.hits().front().index], "pod-0000012");
  for (size_t i = 0; i + 1 < kFindHits; ++i) {
    EXPECT_LT(at_once.hits()[i].index, at_once.hits()[i + 1].index);
  }
}

TEST(FindModelTest, ALateBetterHitDrivesAWorseOneOut) {
  std::vector<std::string> names(200, "a-longer-name-with-x");
  names.emplace_back("x");
  FindModel find;
  find.SetSources({SourceOf(&names)});
  find.SetQuery("x");
  find.Scan(150);
  EXPECT_EQ(find.hits().front().index, 0u);
  find.Scan(1000);
  EXPECT_EQ(find.hits().front().index, 200u);
  EXPECT_EQ(find.hits().size(), kFindHits);
}

TEST(FindModelTest, AnotherQueryBeginsAgainAndTheSameDoesNot) {
  const std::vector<std::string> names = {"one", "two"};
  FindModel find;
  find.SetSources({SourceOf(&names)});
  EXPECT_TRUE(find.complete()) << "an empty query finds nothing";
  find.SetQuery("one");
  find.Scan(10);
  find.SetQuery("one ");
  EXPECT_TRUE(find.complete());
  EXPECT_EQ(find.hits().size(), 1u);
  find.SetQuery("two");
  EXPECT_FALSE(find.complete());
  EXPECT_THAT(find.hits(), IsEmpty());
  find.SetQuery("");
  EXPECT_FALSE(find.Scan(10));
  EXPECT_THAT(find.hits(), IsEmpty());
}

}  // namespace
}  // namespace drasim::view
