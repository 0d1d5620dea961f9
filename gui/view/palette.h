// Colours of the two themes, and the hatchings that stand beside them.
//
// Every palette survives deuteranopia, protanopia and greyscale: tests/gui/view/palette_test.cc
// simulates them and demands a smallest CIE distance and contrast. No meaning rests on colour
// alone: a legend has texts, and categories beyond the eighth get a hatching.
#ifndef DRASIM_GUI_VIEW_PALETTE_H_
#define DRASIM_GUI_VIEW_PALETTE_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "gui/view/rgb.h"

namespace drasim::view {

// Pattern drawn over a fill. Every drawing layer knows all of them.
enum class Hatch : uint8_t { kNone, kRising, kFalling, kCrossed, kHorizontal, kVertical, kDotted };
inline constexpr size_t kHatches = 7;

// Colour, opacity and pattern of a fill or a line.
struct Ink {
  Rgb colour;
  uint8_t alpha = 255;
  Hatch hatch = Hatch::kNone;
  bool operator==(const Ink&) const = default;
};

inline constexpr size_t kCategories = 8;

struct Theme {
  Rgb window;  // behind the panels
  Rgb panel;   // behind plots and maps
  Rgb text;
  Rgb dim_text;
  Rgb grid;
  Rgb free_cell;   // of the map: nothing is held there
  Rgb muted_cell;  // held, where the colour mode shows something else
  Rgb stranded;    // hatching of slices that nothing can cover
  Rgb cursor;
  // Neighbours differ in lightness. The first is run A, the second run B.
  std::array<Rgb, kCategories> categories;
  // From little to much, evenly spaced; lightness is monotone, away from free_cell.
  std::array<Rgb, 5> sequence;
};

enum class ThemeKind : uint8_t { kDark, kLight };

const Theme& ThemeOf(ThemeKind kind);

// The ink of category `index`: eight colours, then the same with the next hatching.
Ink CategoryInk(const Theme& theme, size_t index);

// The colour between the theme's `sequence`. REQUIRES: 0 <= milli <= 1000.
Rgb SequenceColour(const Theme& theme, int milli);

// The colour of step `rank` out of `count` ordered steps, as the MIG profiles of a product.
// REQUIRES: rank < count.
Rgb StepColour(const Theme& theme, size_t rank, size_t count);

// Black or white, whichever reads better on `fill`.
Rgb TextOn(Rgb fill);

// The colour `weight` per mille of the way from `from` to `to`. REQUIRES: 0 <= weight <= 1000.
Rgb Blend(Rgb from, Rgb to, int weight);

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_PALETTE_H_
