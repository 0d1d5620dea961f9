#include <imgui.h>

#include <cmath>
#include <ios>

#include "gtest/gtest.h"
#include "gui/app/plot_draw.h"
#include "gui/app/window.h"
#include "gui/view/palette.h"

namespace drasim::gui {
namespace fonts_test {

class FontsTest : public ::testing::Test {
 protected:
  FontsTest() {
    ImGui::CreateContext();
    ImGui::GetIO().IniFilename = nullptr;
  }
  ~FontsTest() override { ImGui::DestroyContext(); }

  static Fonts FontsFor(float scale) {
    Looks looks;
    looks.scale = scale;
    Fonts fonts;
    ApplyLooks(looks, &fonts);
    return fonts;
  }
};

TEST_F(FontsTest, FiguresHaveOneWidth) {
  for (const float scale : {1.0F, 1.5F, 2.0F, 3.0F}) {
    const Fonts fonts = FontsFor(scale);
    for (const ImFont* font : {fonts.normal, fonts.small, fonts.strong, fonts.large}) {
      ASSERT_NE(font, nullptr);
      const float width = font->GetCharAdvance('0');
      EXPECT_GT(width, 0);
      for (ImWchar figure = '1'; figure <= '9'; ++figure) {
        EXPECT_EQ(font->GetCharAdvance(figure), width) << static_cast<char>(figure);
      }
    }
  }
}

TEST_F(FontsTest, EverySignOfOurTextsHasAGlyph) {
  const Fonts fonts = FontsFor(1);
  static constexpr ImWchar kSigns[] = {
      'A',    'z',    '%',    0x00b1, 0x00b7, 0x00d7, 0x00e4, 0x0394, 0x03bc, 0x0416, 0x2013,
      0x2014, 0x2026, 0x2190, 0x2191, 0x2192, 0x2193, 0x2212, 0x2248, 0x2264, 0x2265, 0x25a0,
      0x25b2, 0x25b4, 0x25b6, 0x25b8, 0x25bc, 0x25be, 0x25c0, 0x25cf, 0x2605, 0x2713, 0x2717};
  for (const ImFont* font : {fonts.normal, fonts.small, fonts.strong, fonts.large}) {
    for (const ImWchar sign : kSigns) {
      const ImFontGlyph* glyph = font->FindGlyphNoFallback(sign);
      ASSERT_NE(glyph, nullptr) << "U+" << std::hex << sign;
      EXPECT_TRUE(glyph->Visible != 0);
    }
  }
}

TEST_F(FontsTest, SizesAndSpacingsFollowTheScale) {
  const Fonts one = FontsFor(1);
  EXPECT_EQ(ImGui::GetIO().FontDefault, one.normal);
  EXPECT_LT(one.small->FontSize, one.normal->FontSize);
  EXPECT_LT(one.normal->FontSize, one.large->FontSize);
  EXPECT_EQ(one.normal->FontSize, one.strong->FontSize);
  const float normal = one.normal->FontSize;
  const float padding = ImGui::GetStyle().FramePadding.x;
  for (const float scale : {2.0F, 3.0F, 1.0F}) {
    const Fonts fonts = FontsFor(scale);
    EXPECT_EQ(fonts.normal->FontSize, normal * scale);
    EXPECT_EQ(ImGui::GetStyle().FramePadding.x, padding * scale);
    // The fonts of the scale before are gone.
    EXPECT_EQ(ImGui::GetIO().Fonts->Fonts.Size, 4);
    EXPECT_TRUE(ImGui::GetIO().Fonts->IsBuilt());
  }
}

TEST_F(FontsTest, SmallTextMeasuresItself) {
  AppState app;
  app.fonts = FontsFor(2);
  ImGui::GetIO().DisplaySize = ImVec2(100, 100);
  ImGui::NewFrame();
  EXPECT_EQ(CharWidth(app), app.fonts.small->GetCharAdvance('0'));
  EXPECT_GT(LineHeight(app), app.fonts.small->FontSize);
  ImGui::EndFrame();
}

TEST_F(FontsTest, ColoursAreThoseOfTheTheme) {
  for (const view::ThemeKind kind : {view::ThemeKind::kDark, view::ThemeKind::kLight}) {
    Looks looks;
    looks.theme = kind;
    Fonts fonts;
    ApplyLooks(looks, &fonts);
    const view::Theme& theme = view::ThemeOf(kind);
    const ImVec4* colours = ImGui::GetStyle().Colors;
    EXPECT_EQ(ImGui::ColorConvertFloat4ToU32(colours[ImGuiCol_Text]), Packed(theme.text));
    EXPECT_EQ(ImGui::ColorConvertFloat4ToU32(colours[ImGuiCol_WindowBg]), Packed(theme.window));
    EXPECT_EQ(ImGui::ColorConvertFloat4ToU32(colours[ImGuiCol_ChildBg]), Packed(theme.panel));
    // None was forgotten: ImGui's own begin as zeros, and text shows on every surface.
    for (const ImGuiCol surface : {ImGuiCol_FrameBg, ImGuiCol_Button, ImGuiCol_ButtonHovered,
                                   ImGuiCol_Header, ImGuiCol_PopupBg, ImGuiCol_MenuBarBg}) {
      const ImVec4 colour = colours[surface];
      const ImVec4 text = colours[ImGuiCol_Text];
      const float light = colour.x + colour.y + colour.z;
      EXPECT_GT(std::abs(text.x + text.y + text.z - light), 0.9F) << surface;
    }
  }
}

}  // namespace fonts_test
}  // namespace drasim::gui
