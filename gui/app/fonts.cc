#include <imgui.h>

#include <cmath>

#include "absl/strings/string_view.h"
#include "gui/app/font_files.h"
#include "gui/app/plot_draw.h"
#include "gui/app/window.h"
#include "gui/view/palette.h"
#include "gui/view/rgb.h"

namespace drasim::gui {
namespace {

// Heights of a line at scale 1, in pixels; an em is 0.85 of them.
constexpr float kNormal = 15;
constexpr float kSmall = 14;
constexpr float kLarge = 25;

// Latin, Greek and Cyrillic letters for names and paths, and the signs of our own texts.
constexpr ImWchar kCharacters[] = {0x0020, 0x017f, 0x0370, 0x03ff, 0x0400, 0x045f, 0x2007, 0x2009,
                                   0x2010, 0x2026, 0x202f, 0x203a, 0x20ac, 0x20ac, 0x2190, 0x2199,
                                   0x2206, 0x2206, 0x2211, 0x2212, 0x221a, 0x221e, 0x2248, 0x2248,
                                   0x2260, 0x2265, 0x25a0, 0x25ff, 0x2605, 0x2606, 0x2691, 0x2691,
                                   0x2713, 0x2717, 0xfffd, 0xfffd, 0};

void AddFile(absl::string_view file, float size, bool merge) {
  ImFontConfig config;
  config.FontDataOwnedByAtlas = false;
  config.MergeMode = merge;
  config.OversampleH = 2;
  config.PixelSnapH = true;
  // ImGui only reads the bytes, although it takes them as void*.
  ImGui::GetIO().Fonts->AddFontFromMemoryTTF(
      const_cast<char*>(file.data()), static_cast<int>(file.size()), size, &config, kCharacters);
}

ImFont* AddFont(absl::string_view file, float size) {
  AddFile(file, size, /*merge=*/false);
  AddFile(SignFont(), size, /*merge=*/true);  // only what `file` lacks
  return ImGui::GetIO().Fonts->Fonts.back();
}

void SetColour(ImGuiCol index, Rgb colour, uint8_t alpha, ImGuiStyle* style) {
  style->Colors[index] = ImGui::ColorConvertU32ToFloat4(Packed(colour, alpha));
}

// The colours of everything that ImGui draws by itself.
void SetColours(const view::Theme& theme, ImGuiStyle* style) {
  const Rgb accent = theme.categories[0];
  const auto set = [style](ImGuiCol index, Rgb colour, uint8_t alpha = 255) {
    SetColour(index, colour, alpha, style);
  };
  // A surface under the mouse, held down, or chosen.
  const auto near_accent = [&](Rgb surface, int weight) {
    return view::Blend(surface, accent, weight);
  };
  const Rgb border = view::Blend(theme.grid, theme.dim_text, 150);
  set(ImGuiCol_Text, theme.text);
  set(ImGuiCol_TextDisabled, theme.dim_text);
  set(ImGuiCol_WindowBg, theme.window);
  set(ImGuiCol_ChildBg, theme.panel);
  set(ImGuiCol_PopupBg, theme.panel);
  set(ImGuiCol_Border, border);
  set(ImGuiCol_BorderShadow, theme.window, 0);
  set(ImGuiCol_FrameBg, theme.free_cell);
  set(ImGuiCol_FrameBgHovered, near_accent(theme.free_cell, 200));
  set(ImGuiCol_FrameBgActive, near_accent(theme.free_cell, 350));
  set(ImGuiCol_TitleBg, theme.panel);
  set(ImGuiCol_TitleBgActive, theme.free_cell);
  set(ImGuiCol_TitleBgCollapsed, theme.panel);
  set(ImGuiCol_MenuBarBg, theme.window);
  set(ImGuiCol_ScrollbarBg, theme.panel, 0);
  set(ImGuiCol_ScrollbarGrab, theme.muted_cell, 160);
  set(ImGuiCol_ScrollbarGrabHovered, theme.muted_cell);
  set(ImGuiCol_ScrollbarGrabActive, theme.dim_text);
  set(ImGuiCol_CheckMark, theme.text);
  set(ImGuiCol_SliderGrab, accent);
  set(ImGuiCol_SliderGrabActive, near_accent(theme.text, 600));
  set(ImGuiCol_Button, theme.free_cell);
  set(ImGuiCol_ButtonHovered, near_accent(theme.free_cell, 300));
  set(ImGuiCol_ButtonActive, near_accent(theme.free_cell, 550));
  set(ImGuiCol_Header, near_accent(theme.panel, 300));
  set(ImGuiCol_HeaderHovered, near_accent(theme.panel, 200));
  set(ImGuiCol_HeaderActive, near_accent(theme.panel, 450));
  set(ImGuiCol_Separator, theme.grid);
  set(ImGuiCol_SeparatorHovered, near_accent(theme.grid, 600));
  set(ImGuiCol_SeparatorActive, accent);
  set(ImGuiCol_ResizeGrip, theme.grid);
  set(ImGuiCol_ResizeGripHovered, near_accent(theme.grid, 600));
  set(ImGuiCol_ResizeGripActive, accent);
  set(ImGuiCol_Tab, theme.panel);
  set(ImGuiCol_TabHovered, near_accent(theme.panel, 300));
  set(ImGuiCol_TabActive, near_accent(theme.panel, 450));
  set(ImGuiCol_TabUnfocused, theme.panel);
  set(ImGuiCol_TabUnfocusedActive, near_accent(theme.panel, 300));
  set(ImGuiCol_PlotLines, accent);
  set(ImGuiCol_PlotLinesHovered, theme.categories[1]);
  set(ImGuiCol_PlotHistogram, accent);
  set(ImGuiCol_PlotHistogramHovered, theme.categories[1]);
  set(ImGuiCol_TableHeaderBg, theme.panel);
  set(ImGuiCol_TableBorderStrong, theme.grid);
  set(ImGuiCol_TableBorderLight, theme.grid);
  set(ImGuiCol_TableRowBg, theme.panel, 0);
  set(ImGuiCol_TableRowBgAlt, theme.text, 8);
  set(ImGuiCol_TextSelectedBg, accent, 110);
  set(ImGuiCol_DragDropTarget, theme.categories[1]);
  set(ImGuiCol_NavHighlight, accent);
  set(ImGuiCol_NavWindowingHighlight, theme.text, 180);
  set(ImGuiCol_NavWindowingDimBg, theme.window, 120);
  set(ImGuiCol_ModalWindowDimBg, theme.window, 150);
}

}  // namespace

void ApplyLooks(const Looks& looks, Fonts* fonts) {
  ImFontAtlas* atlas = ImGui::GetIO().Fonts;
  atlas->Clear();
  const auto pixels = [&](float size) { return std::round(size * looks.scale); };
  fonts->normal = AddFont(TextFont(), pixels(kNormal));  // the first one is ImGui's own choice
  fonts->small = AddFont(TextFont(), pixels(kSmall));
  fonts->strong = AddFont(StrongFont(), pixels(kNormal));
  fonts->large = AddFont(StrongFont(), pixels(kLarge));
  ImGui::GetIO().FontDefault = fonts->normal;
  atlas->Build();

  ImGuiStyle style;
  style.WindowPadding = ImVec2(8, 6);
  style.FramePadding = ImVec2(6, 2);
  style.CellPadding = ImVec2(6, 1);
  style.ItemSpacing = ImVec2(6, 4);
  style.ItemInnerSpacing = ImVec2(5, 4);
  style.IndentSpacing = 14;
  style.ScrollbarSize = 10;
  style.GrabMinSize = 10;
  style.WindowRounding = 0;
  style.ChildRounding = 2;
  style.PopupRounding = 3;
  style.FrameRounding = 2;
  style.ScrollbarRounding = 5;
  style.GrabRounding = 2;
  style.TabRounding = 2;
  style.WindowBorderSize = 0;
  style.ScaleAllSizes(looks.scale);
  SetColours(view::ThemeOf(looks.theme), &style);
  ImGui::GetStyle() = style;
}

}  // namespace drasim::gui
