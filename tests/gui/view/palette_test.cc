// Simulated dichromacy after G. M. Machado, M. M. Oliveira, L. A. F. Fernandes, "A Physiologically-
// based Model for Simulation of Color Vision Deficiency", IEEE TVCG 15(6), 2009: their matrices of
// severity 1, applied to linear sRGB. Distances are CIE 1976 (L*a*b*, D65), contrasts those of
// WCAG.
#include "gui/view/palette.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

namespace drasim::view {
namespace palette_test {

using Triple = std::array<double, 3>;
using Matrix = std::array<Triple, 3>;

constexpr Matrix kNormal = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
constexpr Matrix kProtanopia = {{{0.152286, 1.052583, -0.204868},
                                 {0.114503, 0.786281, 0.099216},
                                 {-0.003882, -0.048116, 1.051998}}};
constexpr Matrix kDeuteranopia = {{{0.367322, 0.860646, -0.227968},
                                   {0.280085, 0.672501, 0.047413},
                                   {-0.011820, 0.042940, 0.968881}}};

double Linear(int channel) {
  const double value = channel / 255.0;
  return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

Triple LinearOf(Rgb colour) {
  return {Linear(colour.red), Linear(colour.green), Linear(colour.blue)};
}

Triple Product(const Matrix& matrix, const Triple& vector) {
  Triple product{};
  for (size_t row = 0; row < 3; ++row) {
    double sum = 0;
    for (size_t column = 0; column < 3; ++column) sum += matrix[row][column] * vector[column];
    product[row] = std::clamp(sum, 0.0, 1.0);
  }
  return product;
}

// L*, a*, b* of a linear colour.
Triple Lab(const Triple& rgb) {
  static constexpr Matrix kToXyz = {{{0.4124564, 0.3575761, 0.1804375},
                                     {0.2126729, 0.7151522, 0.0721750},
                                     {0.0193339, 0.1191920, 0.9503041}}};
  static constexpr Triple kWhite = {0.95047, 1.0, 1.08883};
  Triple f{};
  for (size_t i = 0; i < 3; ++i) {
    const double part =
        (kToXyz[i][0] * rgb[0] + kToXyz[i][1] * rgb[1] + kToXyz[i][2] * rgb[2]) / kWhite[i];
    f[i] = part > 0.008856 ? std::cbrt(part) : 7.787 * part + 16.0 / 116;
  }
  return {116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])};
}

double Distance(Rgb a, Rgb b, const Matrix& vision) {
  const Triple lab_a = Lab(Product(vision, LinearOf(a)));
  const Triple lab_b = Lab(Product(vision, LinearOf(b)));
  return std::sqrt(std::pow(lab_a[0] - lab_b[0], 2) + std::pow(lab_a[1] - lab_b[1], 2) +
                   std::pow(lab_a[2] - lab_b[2], 2));
}

// Lightness of the grey that a print without colour shows.
double Lightness(Rgb colour) { return Lab(LinearOf(colour))[0]; }

double Contrast(Rgb a, Rgb b) {
  const auto luminance = [](Rgb colour) {
    const Triple linear = LinearOf(colour);
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const double lighter = std::max(luminance(a), luminance(b));
  const double darker = std::min(luminance(a), luminance(b));
  return (lighter + 0.05) / (darker + 0.05);
}

class PaletteTest : public testing::TestWithParam<ThemeKind> {
 protected:
  const Theme& theme() const { return ThemeOf(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(Themes, PaletteTest, testing::Values(ThemeKind::kDark, ThemeKind::kLight));

TEST(PaletteOracleTest, KnowsItsColours) {
  EXPECT_NEAR(Contrast(Rgb{0, 0, 0}, Rgb{255, 255, 255}), 21, 1e-9);
  EXPECT_NEAR(Lightness(Rgb{255, 255, 255}), 100, 1e-3);
  // Pure red, by the CIE's formulas: 53.24, 80.09, 67.20.
  const Triple red = Lab(LinearOf(Rgb{255, 0, 0}));
  EXPECT_NEAR(red[0], 53.24, 0.01);
  EXPECT_NEAR(red[1], 80.09, 0.01);
  EXPECT_NEAR(red[2], 67.20, 0.01);
  // Red and green come close to each other.
  const Rgb a = {200, 60, 60};
  const Rgb b = {110, 110, 60};
  EXPECT_LT(Distance(a, b, kDeuteranopia), Distance(a, b, kNormal) / 2);
}

TEST_P(PaletteTest, AllCategoriesDifferInEveryVision) {
  for (size_t i = 0; i < kCategories; ++i) {
    for (size_t j = 0; j < i; ++j) {
      SCOPED_TRACE(testing::Message() << "categories " << i << " and " << j);
      const Rgb a = theme().categories[i];
      const Rgb b = theme().categories[j];
      EXPECT_GE(Distance(a, b, kNormal), 34);
      EXPECT_GE(Distance(a, b, kDeuteranopia), 16);
      EXPECT_GE(Distance(a, b, kProtanopia), 16);
    }
  }
}

TEST_P(PaletteTest, NeighboursDifferMostAndAlsoInGreyscale) {
  for (size_t i = 0; i < kCategories; ++i) {
    SCOPED_TRACE(testing::Message() << "category " << i << " and the next");
    const Rgb a = theme().categories[i];
    const Rgb b = theme().categories[(i + 1) % kCategories];
    for (const Matrix& vision : {kNormal, kDeuteranopia, kProtanopia}) {
      EXPECT_GE(Distance(a, b, vision), 27);
    }
    EXPECT_GE(std::abs(Lightness(a) - Lightness(b)), 12);
  }
}

TEST_P(PaletteTest, CategoriesStandOutFromTheBackground) {
  for (const Rgb category : theme().categories) {
    EXPECT_GE(Contrast(category, theme().panel), 3);
    EXPECT_GE(Contrast(category, theme().window), 3);
  }
}

TEST_P(PaletteTest, SequenceIsEvenInEveryVision) {
  // The seven or so profiles of a MIG GPU.
  constexpr size_t kSteps = 8;
  const Rgb ground = theme().free_cell;
  const bool brighter = Lightness(theme().sequence.back()) > Lightness(ground);
  for (size_t i = 0; i < kSteps; ++i) {
    SCOPED_TRACE(testing::Message() << "step " << i);
    const Rgb here = StepColour(theme(), i, kSteps);
    EXPECT_GE(Contrast(here, ground), 1.8);
    if (i == 0) continue;
    const Rgb before = StepColour(theme(), i - 1, kSteps);
    for (const Matrix& vision : {kNormal, kDeuteranopia, kProtanopia}) {
      EXPECT_GE(Distance(before, here, vision), 8);
    }
    const double step = Lightness(here) - Lightness(before);
    EXPECT_GE(brighter ? step : -step, 5);
  }
}

TEST_P(PaletteTest, TextsAndSignsAreReadable) {
  EXPECT_GE(Contrast(theme().text, theme().panel), 7);
  EXPECT_GE(Contrast(theme().text, theme().window), 7);
  EXPECT_GE(Contrast(theme().dim_text, theme().panel), 4.5);
  EXPECT_GE(Contrast(theme().dim_text, theme().window), 4.5);
  EXPECT_GE(Contrast(theme().cursor, theme().panel), 7);
  EXPECT_GE(Contrast(theme().stranded, theme().free_cell), 3);
  EXPECT_GE(Contrast(theme().muted_cell, theme().free_cell), 1.6);
}

TEST(PaletteLooksTest, TextOnAFillIsReadable) {
  for (int red = 0; red <= 255; red += 15) {
    for (int green = 0; green <= 255; green += 15) {
      for (int blue = 0; blue <= 255; blue += 15) {
        const Rgb fill = {static_cast<uint8_t>(red), static_cast<uint8_t>(green),
                          static_cast<uint8_t>(blue)};
        ASSERT_GE(Contrast(TextOn(fill), fill), 4) << red << " " << green << " " << blue;
      }
    }
  }
}

TEST(PaletteLooksTest, FurtherCategoriesAreHatched) {
  const Theme& theme = ThemeOf(ThemeKind::kDark);
  EXPECT_EQ(CategoryInk(theme, 3).hatch, Hatch::kNone);
  EXPECT_EQ(CategoryInk(theme, 11).colour, theme.categories[3]);
  EXPECT_EQ(CategoryInk(theme, 11).hatch, Hatch::kRising);
  // All looks before the first repetition are different.
  std::vector<Ink> inks;
  for (size_t i = 0; i < kCategories * kHatches; ++i) {
    const Ink ink = CategoryInk(theme, i);
    EXPECT_EQ(std::count(inks.begin(), inks.end(), ink), 0);
    inks.push_back(ink);
  }
  EXPECT_EQ(CategoryInk(theme, kCategories * kHatches), inks[0]);
}

TEST(PaletteLooksTest, SequencesEndAtTheirEnds) {
  for (const ThemeKind kind : {ThemeKind::kDark, ThemeKind::kLight}) {
    const Theme& theme = ThemeOf(kind);
    EXPECT_EQ(SequenceColour(theme, 0), theme.sequence.front());
    EXPECT_EQ(SequenceColour(theme, 500), theme.sequence[2]);
    EXPECT_EQ(SequenceColour(theme, 1000), theme.sequence.back());
    EXPECT_EQ(StepColour(theme, 0, 1), theme.sequence[2]);
    EXPECT_EQ(StepColour(theme, 6, 7), theme.sequence.back());
  }
  EXPECT_EQ(Blend(Rgb{0, 200, 50}, Rgb{100, 100, 50}, 250), (Rgb{25, 175, 50}));
}

}  // namespace palette_test
}  // namespace drasim::view
