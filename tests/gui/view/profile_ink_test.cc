#include "gui/view/profile_ink.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "gui/view/palette.h"

namespace drasim {
namespace profile_ink_test {

using view::Ink;
using view::ProfileInk;
using view::StepColour;
using view::Theme;
using view::ThemeOf;

TEST(ProfileInkTest, TheLargestProfileOfARequestCounts) {
  const Theme& theme = ThemeOf(view::ThemeKind::kLight);
  const std::vector<std::string> profiles = {"1g.10gb", "3g.40gb", "7g.80gb", "share of a GPU",
                                             "whole GPU"};
  const auto rank = [&](absl::string_view text) -> int {
    const std::optional<Ink> ink = ProfileInk(theme, profiles, text);
    if (!ink.has_value()) return -1;
    for (size_t i = 0; i < profiles.size(); ++i) {
      if (ink->colour == StepColour(theme, i, profiles.size())) return static_cast<int>(i);
    }
    return -2;
  };
  EXPECT_EQ(rank("7g.80gb"), 2);
  EXPECT_EQ(rank("2 x 1g.10gb"), 0);
  EXPECT_EQ(rank("3g.40gb + 1g.10gb"), 1);
  EXPECT_EQ(rank("3g.40gb, 0.25 GPU"), 1);
  EXPECT_EQ(rank("GPU"), 4);
  EXPECT_EQ(rank("2 GPUs"), 4);
  EXPECT_EQ(rank("0.46 GPU of T4"), 3);
  EXPECT_EQ(rank("2 x 0.5 GPU"), 3);
  EXPECT_EQ(rank("no GPU"), -1);
  EXPECT_EQ(rank("claim shared"), -1);
  EXPECT_EQ(rank(""), -1);
}

}  // namespace profile_ink_test
}  // namespace drasim
