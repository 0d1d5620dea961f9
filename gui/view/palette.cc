#include "gui/view/palette.h"

#include <algorithm>

#include "model/check.h"

namespace drasim::view {
namespace {

constexpr Rgb Hex(uint32_t value) {
  return Rgb{static_cast<uint8_t>(value >> 16), static_cast<uint8_t>(value >> 8 & 0xff),
             static_cast<uint8_t>(value & 0xff)};
}

// The categories come from a search by hill climbing for a large smallest distance, all pairs, in
// all three kinds of vision, with alternating lightness.
constexpr Theme kDark = {
    /*window=*/Hex(0x14171c),
    /*panel=*/Hex(0x1b1f26),
    /*text=*/Hex(0xdfe3ea),
    /*dim_text=*/Hex(0x99a1ad),
    /*grid=*/Hex(0x2b3038),
    /*free_cell=*/Hex(0x262b33),
    /*muted_cell=*/Hex(0x4a525e),
    /*stranded=*/Hex(0xe0704a),
    /*cursor=*/Hex(0xffffff),
    /*categories=*/
    {Hex(0x387dc7), Hex(0xf9c369), Hex(0xba68a2), Hex(0x8cfaac), Hex(0x927562), Hex(0x16cbd8),
     Hex(0xde7957), Hex(0xe9f4f1)},
    /*sequence=*/{Hex(0x355a9c), Hex(0x47839c), Hex(0x6fa894), Hex(0xa3c07a), Hex(0xf3de8c)}};

constexpr Theme kLight = {
    /*window=*/Hex(0xf4f6f8),
    /*panel=*/Hex(0xffffff),
    /*text=*/Hex(0x1b1f26),
    /*dim_text=*/Hex(0x5c6470),
    /*grid=*/Hex(0xe3e6ea),
    /*free_cell=*/Hex(0xe9ecf0),
    /*muted_cell=*/Hex(0xb4bbc5),
    /*stranded=*/Hex(0xc2451e),
    /*cursor=*/Hex(0x14171c),
    /*categories=*/
    {Hex(0x2d64aa), Hex(0xce7236), Hex(0x2d186b), Hex(0x0a7842), Hex(0x241631), Hex(0xae669b),
     Hex(0x0a2b0d), Hex(0xdb5b6a)},
    /*sequence=*/{Hex(0x93b3dc), Hex(0x569aa8), Hex(0x357d64), Hex(0x22573d), Hex(0x0c2415)}};

}  // namespace

const Theme& ThemeOf(ThemeKind kind) { return kind == ThemeKind::kDark ? kDark : kLight; }

Ink CategoryInk(const Theme& theme, size_t index) {
  Ink ink;
  ink.colour = theme.categories[index % kCategories];
  ink.hatch = static_cast<Hatch>(index / kCategories % kHatches);
  return ink;
}

Rgb SequenceColour(const Theme& theme, int milli) {
  DRASIM_CHECK(milli >= 0 && milli <= 1000);
  const int steps = static_cast<int>(theme.sequence.size()) - 1;
  const int place = milli * steps;
  const int lower = std::min(place / 1000, steps - 1);
  const auto at = static_cast<size_t>(lower);
  return Blend(theme.sequence[at], theme.sequence[at + 1], place - 1000 * lower);
}

Rgb StepColour(const Theme& theme, size_t rank, size_t count) {
  DRASIM_CHECK_LT(rank, count);
  if (count == 1) return SequenceColour(theme, 500);
  return SequenceColour(theme, static_cast<int>(rank * 1000 / (count - 1)));
}

Rgb TextOn(Rgb fill) {
  // Relative luminance with a gamma of 2 instead of sRGB's curve, in parts of 10,000 x 255^2. Black
  // and white read alike at a fifth.
  const int64_t luminance = int64_t{2126} * fill.red * fill.red +
                            int64_t{7152} * fill.green * fill.green +
                            int64_t{722} * fill.blue * fill.blue;
  const bool bright = luminance > int64_t{2'000} * 255 * 255;
  return bright ? Rgb{0, 0, 0} : Rgb{255, 255, 255};
}

Rgb Blend(Rgb from, Rgb to, int weight) {
  DRASIM_CHECK(weight >= 0 && weight <= 1000);
  const auto between = [weight](int a, int b) {
    return static_cast<uint8_t>(a + (b - a) * weight / 1000);
  };
  return Rgb{between(from.red, to.red), between(from.green, to.green), between(from.blue, to.blue)};
}

}  // namespace drasim::view
