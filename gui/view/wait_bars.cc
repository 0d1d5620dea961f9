#include "gui/view/wait_bars.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "gui/view/ticks.h"
#include "gui/view/unit_text.h"
#include "gui/view/wait_text.h"
#include "model/number_text.h"
#include "model/time.h"

namespace drasim::view {
namespace {

// Waits below are drawn as this one.
constexpr double kLeastWait = 1e-3;

std::string WaitOrNone(const std::optional<double>& seconds) {
  if (!seconds.has_value()) return "no start";
  return WaitText(SimDuration(static_cast<int64_t>(*seconds * static_cast<double>(kSecondNs))));
}

std::string PairText(const WaitBar& bar) {
  std::string text = absl::StrCat(WaitOrNone(bar.a), " → ", WaitOrNone(bar.b));
  if (bar.a.value_or(0) <= 0 || bar.b.value_or(0) <= 0) return text;
  const double ratio = *bar.b / *bar.a;
  absl::StrAppend(&text, " ×", FixedText(ratio, ratio < 9.95 ? 1 : 0));
  return text;
}

}  // namespace

WaitBarsPicture DrawWaitBars(absl::Span<const WaitBar> bars, float width, float char_width,
                             float line_height, ThemeKind kind) {
  const Theme& theme = ThemeOf(kind);
  WaitBarsPicture picture;
  DrawList& list = picture.list;
  double low = 60;
  double high = kLeastWait;
  size_t widest_name = 0;
  size_t widest_pair = 0;
  std::vector<std::string> pairs;
  for (const WaitBar& bar : bars) {
    for (const std::optional<double>& seconds : {bar.a, bar.b}) {
      if (!seconds.has_value()) continue;
      // The axis begins before the shortest wait, whose bar would have no length.
      low = std::min(low, std::max(*seconds / 2, kLeastWait));
      high = std::max(high, *seconds);
    }
    widest_name = std::max(widest_name, bar.wants.size());
    pairs.push_back(PairText(bar));
    widest_pair = std::max(widest_pair, pairs.back().size());
  }
  const float left = static_cast<float>(widest_name + 2) * char_width;
  const float right = width - static_cast<float>(widest_pair + 1) * char_width;
  const float length = std::max(right - left, 1.0F);
  constexpr float kCharsPerTick = 10;
  const int ticks = std::max(2, static_cast<int>(length / (kCharsPerTick * char_width)));
  const TickScale scale = LogScale(low, std::max(high, 10 * low), ticks, Unit::kSeconds);
  const double log_low = Log10(scale.low);
  const double log_span = Log10(scale.high) - log_low;
  const auto x_of = [&](double seconds) {
    const double way = (Log10(std::max(seconds, scale.low)) - log_low) / log_span;
    return left + static_cast<float>(std::clamp(way, 0.0, 1.0)) * length;
  };

  const float row_height = line_height * 1.15F;
  picture.height = line_height * 1.2F + row_height * static_cast<float>(bars.size());
  Ink grid;
  grid.colour = theme.grid;
  for (const Tick& tick : scale.ticks) {
    const float x = x_of(tick.value);
    list.AddLine({x, 0}, {x, picture.height}, grid);
    list.AddText({x + char_width / 2, line_height / 2}, Anchor::kStart, TextSize::kSmall,
                 theme.dim_text, tick.label);
  }
  const float bar_height = line_height * 0.42F;
  for (size_t i = 0; i < bars.size(); ++i) {
    const float y = line_height * 1.2F + row_height * static_cast<float>(i);
    picture.boxes.push_back(Rect{0, y, width, row_height});
    const float middle = y + row_height / 2;
    list.AddText({left - char_width, middle}, Anchor::kEnd, TextSize::kSmall, theme.text,
                 bars[i].wants);
    const auto draw = [&](const std::optional<double>& seconds, size_t run, float top) {
      if (!seconds.has_value()) return;
      Ink ink = CategoryInk(theme, run);
      // The shortest wait still shows that there was one.
      list.AddRect(Rect{left, top, std::max(x_of(*seconds) - left, 1.0F), bar_height}, ink);
    };
    draw(bars[i].a, 0, middle - bar_height);
    draw(bars[i].b, 1, middle);
    list.AddText({width, middle}, Anchor::kEnd, TextSize::kSmall, theme.text, pairs[i]);
  }
  return picture;
}

}  // namespace drasim::view
