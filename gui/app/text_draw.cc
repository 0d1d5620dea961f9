#include "gui/app/text_draw.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "gui/app/plot_draw.h"

namespace drasim::gui {
namespace {

constexpr absl::string_view kCut = "...";

const ImFont* Present(const ImFont* font) { return font != nullptr ? font : ImGui::GetFont(); }

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

}  // namespace

float FontHeight(const ImFont* font) {
  if (font == nullptr) return ImGui::GetFontSize();
  return font->FontSize * font->Scale * ImGui::GetIO().FontGlobalScale;
}

float TextWidth(absl::string_view text, const ImFont* font) {
  const ImFont* const used = Present(font);
  return used
      ->CalcTextSizeA(FontHeight(font), std::numeric_limits<float>::max(), 0.0F, text.data(),
                      text.data() + text.size())
      .x;
}

void DrawTextAt(ImVec2 at, Rgb colour, absl::string_view text, const ImFont* font, ImDrawList* to) {
  if (text.empty()) return;
  to->AddText(Present(font), FontHeight(font), at, Packed(colour), text.data(),
              text.data() + text.size());
}

std::string FittingText(absl::string_view text, float width, const ImFont* font) {
  if (TextWidth(text, font) <= width) return std::string(text);
  size_t length = text.size();
  const float rest = width - TextWidth(kCut, font);
  while (length > 0 && TextWidth(text.substr(0, length), font) > rest) {
    --length;
    while (length > 0 && IsContinuation(text[length])) --length;
  }
  return length == 0 ? "" : absl::StrCat(text.substr(0, length), kCut);
}

}  // namespace drasim::gui
