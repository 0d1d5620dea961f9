#include "gui/app/command_line.h"

#include <cstdint>
#include <string>

#include "gtest/gtest.h"
#include "gui/view/timeline.h"
#include "model/time.h"

namespace drasim::gui {
namespace {

TEST(CommandLineTest, QuotesOnlyWhatAShellWouldRead) {
  EXPECT_EQ(ShellWord("results/a-b_c.1:2,3=4@5%+"), "results/a-b_c.1:2,3=4@5%+");
  EXPECT_EQ(ShellWord(""), "''");
  EXPECT_EQ(ShellWord("a b"), "'a b'");
  EXPECT_EQ(ShellWord("it's"), "'it'\\''s'");
  EXPECT_EQ(ShellWord("$HOME"), "'$HOME'");
  EXPECT_EQ(ShellWord("~"), "'~'");
  EXPECT_EQ(ShellWord("a;b"), "'a;b'");
  EXPECT_EQ(ShellWord("ä"), "'ä'");
}

TEST(CommandLineTest, TypedTimesReadBackExactly) {
  const view::TypedPlace place = {SimTime(), SimTime(int64_t{400} * 86'400 * kSecondNs), nullptr};
  for (const int64_t ns : {int64_t{0}, int64_t{1}, int64_t{72'000} * kSecondNs,
                           int64_t{15'013'366'000'001}, int64_t{900'000} * kSecondNs}) {
    const view::TimeTarget at = {SimTime(ns)};
    const auto read = view::ParseTarget(TypedTime(at, /*by_record=*/false), place);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(*read, at);
  }
  EXPECT_EQ(TypedTime({SimTime(7), 12}, false), "record 12");
  EXPECT_EQ(TypedTime({SimTime(7)}, /*by_record=*/true), "record 7");
}

TEST(CommandLineTest, WithoutARunOnlyLooksAreSaid) {
  AppState app;
  app.views = DefaultViews();
  EXPECT_EQ(ViewCommandLine(app), "drasim-gui --view map,plots,pods,inspect");
  app.looks.theme = view::ThemeKind::kLight;
  app.looks.scale = 1.5F;
  EXPECT_EQ(ViewCommandLine(app),
            "drasim-gui --view map,plots,pods,inspect --theme light --scale 1.5");
  EXPECT_EQ(ExplainCommandLine(app), "");
  EXPECT_EQ(ReportCommandLine(app), "");
}

}  // namespace
}  // namespace drasim::gui
