#include "gui/app/settings.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "gui/view/timeline.h"
#include "model/time.h"
#include "tests/testing/temp_dir.h"

namespace drasim::gui {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SettingsTest, AreReadAsTheyWereWritten) {
  Settings settings;
  settings.looks.theme = view::ThemeKind::kLight;
  settings.looks.scale = 1.75F;
  for (size_t i = 0; i < kSplitters; ++i) {
    settings.splitters[i] = 0.0625F * static_cast<float>(i);
  }
  settings.recent = {"/a b/ledger", "results/ä"};
  const Settings read = ParseSettings(SettingsText(settings));
  EXPECT_EQ(read.looks.theme, view::ThemeKind::kLight);
  EXPECT_EQ(read.looks.scale, 1.75F);
  EXPECT_EQ(read.splitters, settings.splitters);
  EXPECT_EQ(read.recent, settings.recent);
}

TEST(SettingsTest, DamageIsIgnored) {
  const Settings defaults;
  for (const char* text :
       {"", "theme pink\nscale nan\nscale 99\nscale -1\n", "splitter rows 7\nsplitter rows\n",
        "splitter nowhere 0.5\nsplitter rows nan\nsplitter", "\xff\xfe\n\n\nrecent \n",
        "recent a\tb\n"}) {
    const Settings read = ParseSettings(text);
    EXPECT_EQ(SettingsText(read), SettingsText(defaults)) << text;
  }
  EXPECT_EQ(ParseSettings("garbage\nscale 2\nmore").looks.scale, 2);
}

TEST(SettingsTest, BookmarksStayWithTheirRun) {
  Settings settings;
  view::Bookmark first;
  first.at = {SimTime(5), std::nullopt};
  first.name = "the queue takes off";
  view::Bookmark second;
  second.at = {SimTime(7), 12};
  second.name = "-";
  KeepBookmarks(0xabc, {first, second}, &settings);
  KeepBookmarks(0xdef, {second}, &settings);
  KeepBookmarks(0, {first}, &settings);  // a partial run
  const Settings read = ParseSettings(SettingsText(settings));
  EXPECT_EQ(read.bookmarks, settings.bookmarks);
  EXPECT_THAT(BookmarksOf(0xabc, read), ElementsAre(first, second));
  EXPECT_THAT(BookmarksOf(0xdef, read), ElementsAre(second));
  EXPECT_THAT(BookmarksOf(0, read), IsEmpty());
  KeepBookmarks(0xabc, {}, &settings);
  EXPECT_EQ(settings.bookmarks.size(), size_t{1});

  // The oldest run gives way.
  const std::vector<view::Bookmark> many(kSavedBookmarks, first);
  KeepBookmarks(0x123, many, &settings);
  EXPECT_THAT(BookmarksOf(0xdef, settings), IsEmpty());
  EXPECT_EQ(settings.bookmarks.size(), kSavedBookmarks);

  for (const char* text :
       {"bookmark", "bookmark x 1 - name\n", "bookmark 1 -1 - name\n", "bookmark 1 1 - \n",
        "bookmark 0 1 - name\n", "bookmark 1 1 x name\n", "bookmark 1 1 name\n"}) {
    EXPECT_THAT(ParseSettings(text).bookmarks, IsEmpty()) << text;
  }
  // A name that no line can hold is left out.
  first.name = "a\nscale 3";
  KeepBookmarks(0xabc, {first}, &settings);
  EXPECT_THAT(BookmarksOf(0xabc, ParseSettings(SettingsText(settings))), IsEmpty());
}

TEST(SettingsTest, RecentPathsAreFewAndOnce) {
  Settings settings;
  for (size_t i = 0; i < kRecentPaths + 5; ++i) AddRecent(absl::StrCat("run-", i), &settings);
  EXPECT_EQ(settings.recent.size(), kRecentPaths);
  EXPECT_EQ(settings.recent.front(), "run-14");
  AddRecent("run-10", &settings);
  EXPECT_EQ(settings.recent.size(), kRecentPaths);
  EXPECT_EQ(settings.recent[0], "run-10");
  EXPECT_EQ(settings.recent[1], "run-14");
  std::string many;
  for (int i = 0; i < 100; ++i) absl::StrAppend(&many, "recent x", i, "\n");
  EXPECT_EQ(ParseSettings(many).recent.size(), kRecentPaths);
  // A path that no line can hold is left out.
  settings.recent = {"a\nscale 3", "b"};
  EXPECT_THAT(ParseSettings(SettingsText(settings)).recent, ElementsAre("b"));
}

TEST(SettingsTest, AreKeptInAFolderThatIsMade) {
  const TempDir dir;
  const std::string folder = dir.PathOf("config/drasim");
  EXPECT_THAT(ReadSettings(folder).recent, IsEmpty());
  Settings settings;
  AddRecent("results/fgd", &settings);
  ASSERT_EQ(WriteSettings(folder, settings), absl::OkStatus());
  EXPECT_THAT(ReadSettings(folder).recent, ElementsAre("results/fgd"));
  dir.Write("file", "");
  EXPECT_FALSE(WriteSettings(dir.PathOf("file/drasim"), settings).ok());
}

}  // namespace
}  // namespace drasim::gui
