#include "gui/app/view_list.h"

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/testing/assert_ok.h"

namespace drasim::gui {
namespace view_list_test {

TEST(ViewListTest, NamesAreReadBack) {
  const std::string all = "map,plots,pods,nodes,claims,tenants,inspect,compare";
  ASSERT_OK_AND_ASSIGN(const ViewSet every, ParseViews(all));
  EXPECT_EQ(ViewsText(every), all);
  for (int i = 0; i < kViewKinds; ++i) {
    const auto view = static_cast<ViewKind>(i);
    EXPECT_TRUE(every.Has(view));
    ASSERT_OK_AND_ASSIGN(const ViewSet one, ParseViews(ViewName(view)));
    EXPECT_EQ(ViewsText(one), ViewName(view));
    for (int other = 0; other < kViewKinds; ++other) {
      EXPECT_EQ(one.Has(static_cast<ViewKind>(other)), other == i);
    }
  }
}

TEST(ViewListTest, BlanksAndRepetitionsDoNotMatterAndTheOrderIsOurs) {
  ASSERT_OK_AND_ASSIGN(const ViewSet views, ParseViews(" inspect , map,map"));
  EXPECT_EQ(ViewsText(views), "map,inspect");
}

TEST(ViewListTest, TheDefaultsAreMapPlotsPodsInspect) {
  EXPECT_EQ(ViewsText(DefaultViews()), "map,plots,pods,inspect");
  EXPECT_TRUE(ViewSet().empty());
  EXPECT_EQ(ViewsText(ViewSet()), "");
  EXPECT_FALSE(DefaultViews().empty());
}

TEST(ViewListTest, RemovesWhatWasAdded) {
  ViewSet views = DefaultViews();
  views.Remove(ViewKind::kPlots);
  EXPECT_EQ(ViewsText(views), "map,pods,inspect");
  views.Remove(ViewKind::kPlots);
  views.Add(ViewKind::kCompare);
  EXPECT_EQ(ViewsText(views), "map,pods,inspect,compare");
}

TEST(ViewListTest, AnUnknownNameIsAnErrorThatNamesAll) {
  static constexpr char kExpected[] =
      "expected a list of map, plots, pods, nodes, claims, tenants, inspect, compare, with commas";
  struct Row {
    const char* text;
    const char* found;
    const char* hint;
  };
  static constexpr Row kRows[] = {{"map,plot,nods", "plot", " (did you mean 'plots'?)"},
                                  {"Pods", "Pods", " (did you mean 'pods'?)"},
                                  {"map,", "", ""},
                                  {"", "", ""},
                                  {"map;pods", "map;pods", ""},
                                  {"everything", "everything", ""}};
  for (const Row& row : kRows) {
    const absl::StatusOr<ViewSet> views = ParseViews(row.text);
    EXPECT_EQ(views.status(), absl::InvalidArgumentError(
                                  absl::StrCat("found '", row.found, "', ", kExpected, row.hint)))
        << row.text;
  }
}

}  // namespace view_list_test
}  // namespace drasim::gui
