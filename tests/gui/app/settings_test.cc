#include "gui/app/settings.h"

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
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
    settings.splitters[i] = 0.125F * static_cast<float>(i);
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
