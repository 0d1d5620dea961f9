// Pixels as they come out of OpenGL: every slot of a small cluster in its place and colour, and the
// hatchings. Drawn through EGL, so no display is needed.
#include <imgui.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "gui/app/gl_frames.h"
#include "gui/app/offscreen.h"
#include "gui/app/plot_draw.h"
#include "gui/view/draw_list.h"
#include "gui/view/map_model.h"
#include "gui/view/palette.h"
#include "gui/view/png_writer.h"
#include "tests/testing/assert_ok.h"

namespace drasim::gui {
namespace pixel_test {

using view::ThemeKind;

constexpr int kWidth = 640;
constexpr int kHeight = 360;

Rgb PixelOf(const FrameImage& picture, int x, int y) {
  const size_t at =
      3 * (static_cast<size_t>(y) * static_cast<size_t>(picture.width) + static_cast<size_t>(x));
  return {picture.rgb[at], picture.rgb[at + 1], picture.rgb[at + 2]};
}

std::string ColourText(Rgb colour) {
  return absl::StrCat(int{colour.red}, ",", int{colour.green}, ",", int{colour.blue});
}

class PixelTest : public ::testing::TestWithParam<std::tuple<ThemeKind, float>> {
 protected:
  void SetUp() override {
    looks_.theme = std::get<0>(GetParam());
    looks_.scale = std::get<1>(GetParam());
    const auto factor = static_cast<int>(looks_.scale);
    absl::StatusOr<std::unique_ptr<Offscreen>> screen =
        Offscreen::Open(kWidth * factor, kHeight * factor);
    if (screen.ok()) {
      screen_ = *std::move(screen);
      return;
    }
    const char* ci = std::getenv("CI");
    ASSERT_FALSE(ci != nullptr && absl::string_view(ci) == "true") << screen.status();
    GTEST_SKIP() << screen.status().message();
  }

  absl::StatusOr<FrameImage> PictureOf(const view::DrawList& list, ImVec2 origin) {
    const auto draw = [&] {
      AppState app;
      app.looks = looks_;
      app.fonts = fonts_;
      Paint(list, origin, app, ImGui::GetBackgroundDrawList());
    };
    return SettledPicture([&] { return screen_->Frame(looks_, &fonts_, draw); });
  }

  std::vector<std::string> Mistakes(const view::ClusterMapData& data);

  const view::Theme& theme() const { return view::ThemeOf(looks_.theme); }

  Looks looks_;
  Fonts fonts_;
  std::unique_ptr<Offscreen> screen_;
};

INSTANTIATE_TEST_SUITE_P(Looks, PixelTest,
                         ::testing::Combine(::testing::Values(ThemeKind::kDark, ThemeKind::kLight),
                                            ::testing::Values(1.0F, 2.0F)));

// --- The map ---

view::MapSlot SlotAt(int start, int size, int profile) {
  view::MapSlot slot;
  slot.start = static_cast<uint16_t>(start);
  slot.size = static_cast<uint16_t>(size);
  slot.profile = static_cast<uint16_t>(profile);
  return slot;
}

constexpr size_t kProfiles = 5;
constexpr int kShare = 4;  // the profile of what is no MIG instance

uint32_t AddNodeNamed(const std::string& name, view::ClusterMapData* data) {
  view::MapNode node;
  node.name = name;
  return data->AddNode(node);
}

view::ClusterMapData SmallCluster() {
  view::ClusterMapData data;
  data.profiles = {"1g.10gb", "2g.20gb", "3g.40gb", "7g.80gb", "share of a GPU"};
  AddNodeNamed("mig", &data);
  view::MapGpu mig;
  mig.units = 8;
  mig.stranded = 0b10;
  data.AddGpu(mig, {SlotAt(0, 1, 0), SlotAt(2, 2, 1), SlotAt(4, 4, 2)});
  mig.stranded = 0;
  data.AddGpu(mig, {SlotAt(0, 8, 3)});
  view::MapSlot idle = SlotAt(0, 4, 2);
  idle.held = false;
  data.AddGpu(mig, {idle, SlotAt(6, 2, 1)});
  AddNodeNamed("shared", &data);
  data.AddGpu(view::MapGpu(), {SlotAt(0, 250, kShare), SlotAt(250, 500, kShare)});
  AddNodeNamed("sliced", &data);
  view::MapGpu sliced;
  sliced.replicas = 4;
  view::MapSlot second = SlotAt(0, 1000, kShare);
  second.replica = 1;
  view::MapSlot fourth = second;
  fourth.replica = 3;
  data.AddGpu(sliced, {second, fourth});
  return data;
}

// The expected picture of the small cluster, row by row from the top: digits are profiles, '.' is
// free, '/' is hatched. A row is the same share of the GPU's height; replicas stand side by side.
struct GpuPicture {
  uint32_t gpu;
  std::vector<std::string> rows;
};

std::vector<GpuPicture> SmallClusterPicture() {
  return {{0, {"0", "/", "1", "1", "2", "2", "2", "2"}},
          {1, {"3", "3", "3", "3", "3", "3", "3", "3"}},
          {2, {".", ".", ".", ".", ".", ".", "1", "1"}},
          {3, {"4", "4", "4", "."}},
          {4, {".4.4"}}};
}

view::ClusterMap Arranged(const view::ClusterMapData& data) {
  view::ClusterMap map(&data);
  map.Arrange(view::MapGrouping::kNone, view::MapOrder::kName, 16.0F / 9);
  return map;
}

view::MapView ViewFor(const view::ClusterMap& map, const Looks& looks) {
  constexpr float kMargin = 20;
  view::MapView view =
      map.Fit((kWidth - 2 * kMargin) * looks.scale, (kHeight - 2 * kMargin) * looks.scale);
  view.theme = looks.theme;
  view.char_width = 1000;  // names would cover the centres
  return view;
}

// The differences between the centres of the cells and what they must show.
std::vector<std::string> PixelTest::Mistakes(const view::ClusterMapData& data) {
  view::ClusterMap map = Arranged(data);
  const view::MapView view = ViewFor(map, looks_);
  const ImVec2 origin(13 * looks_.scale, 17 * looks_.scale);
  const absl::StatusOr<FrameImage> picture = PictureOf(map.Draw(view, nullptr), origin);
  if (!picture.ok()) return {picture.status().ToString()};
  std::vector<std::string> mistakes;
  for (const GpuPicture& gpu : SmallClusterPicture()) {
    const view::Rect rect = map.GpuRect(view, gpu.gpu);
    for (size_t row = 0; row < gpu.rows.size(); ++row) {
      const std::string& cells = gpu.rows[row];
      for (size_t cell = 0; cell < cells.size(); ++cell) {
        const float right = (static_cast<float>(cell) + 0.5F) / static_cast<float>(cells.size());
        const float down = (static_cast<float>(row) + 0.5F) / static_cast<float>(gpu.rows.size());
        const auto x = static_cast<int>(origin.x + rect.x + rect.width * right);
        const auto y = static_cast<int>(origin.y + rect.y + rect.height * down);
        Rgb expected = theme().free_cell;
        if (cells[cell] >= '0' && cells[cell] <= '9') {
          expected = view::StepColour(theme(), static_cast<size_t>(cells[cell] - '0'), kProfiles);
        } else if (cells[cell] == '/') {
          const int period = 6 * static_cast<int>(looks_.scale);
          const int width = 2 * static_cast<int>(looks_.scale);
          expected = (x + y + 1) % period < width ? theme().panel : theme().stranded;
        }
        const Rgb found = PixelOf(*picture, x, y);
        if (found == expected) continue;
        mistakes.push_back(absl::StrCat("GPU ", gpu.gpu, ", row ", row, ", cell ", cell, ": ",
                                        ColourText(found), " instead of ", ColourText(expected)));
      }
    }
  }
  return mistakes;
}

TEST_P(PixelTest, EverySlotHasItsColourAtItsCentre) {
  EXPECT_EQ(Mistakes(SmallCluster()), std::vector<std::string>());
}

TEST_P(PixelTest, AnotherStartProfileOrHolderShows) {
  const view::ClusterMapData data = SmallCluster();
  const auto mistakes_with = [&](uint32_t gpu, size_t slot, auto change) {
    view::ClusterMapData changed = data;
    view::MapSlot& target = changed.slots[changed.gpus[gpu].first_slot + slot];
    change(&target);
    return Mistakes(changed).size();
  };
  for (uint32_t gpu = 0; gpu < data.gpus.size(); ++gpu) {
    for (size_t slot = 0; slot < data.gpus[gpu].slot_count; ++slot) {
      SCOPED_TRACE(absl::StrCat("GPU ", gpu, ", slot ", slot));
      const view::MapSlot& original = data.slots[data.gpus[gpu].first_slot + slot];
      EXPECT_GT(mistakes_with(gpu, slot, [](view::MapSlot* s) { s->held = !s->held; }), 0u);
      if (!original.held) continue;
      const auto recolour = [](view::MapSlot* s) {
        s->profile = static_cast<uint16_t>((s->profile + 1) % kProfiles);
      };
      EXPECT_GT(mistakes_with(gpu, slot, recolour), 0u);
      const bool fills = original.size == data.gpus[gpu].units;
      if (!fills) {
        const bool mig = data.gpus[gpu].units == 8;
        const int step = mig ? 1 : 250;
        const bool last = original.start + original.size == data.gpus[gpu].units;
        const auto move = [&](view::MapSlot* s) {
          s->start = static_cast<uint16_t>(s->start + (last ? -step : step));
        };
        EXPECT_GT(mistakes_with(gpu, slot, move), 0u);
      }
      if (data.gpus[gpu].replicas > 1) {
        EXPECT_GT(mistakes_with(gpu, slot, [](view::MapSlot* s) { s->replica ^= 1; }), 0u);
      }
    }
  }
  view::ClusterMapData without = data;
  without.gpus[0].stranded = 0;
  EXPECT_GT(Mistakes(without).size(), 0u);
}

// --- Hatchings ---

// Whether a pixel belongs to a hatching's lines: in parts of its spacing, from the screen's origin.
bool IsLine(view::Hatch hatch, int x, int y, int scale) {
  const int spacing = 6 * scale;
  const int width = 2 * scale;
  const int rising = (x + y + 1) % spacing;
  const int falling = (x - y + 100 * spacing) % spacing;
  switch (hatch) {
    case view::Hatch::kNone:
      return false;
    case view::Hatch::kRising:
      return rising < width;
    case view::Hatch::kFalling:
      return falling < width;
    case view::Hatch::kCrossed:
      return rising < scale || falling < scale;
    case view::Hatch::kHorizontal:
      return y % spacing < width;
    case view::Hatch::kVertical:
      return x % spacing < width;
    case view::Hatch::kDotted:
      return x % spacing < width && y % spacing < width;
  }
  return false;
}

TEST_P(PixelTest, HatchingsFillTheirRectanglesAndNothingElse) {
  const auto factor = static_cast<int>(looks_.scale);
  for (size_t kind = 0; kind < view::kHatches; ++kind) {
    SCOPED_TRACE(kind);
    view::Ink ink;
    ink.colour = theme().categories[2];
    ink.hatch = static_cast<view::Hatch>(kind);
    // Broad, narrow and flat ones side by side, as columns under a curve are.
    const std::vector<view::Rect> rects = {{10, 20, 50, 41}, {60, 20, 1, 41}, {61, 20, 3, 41},
                                           {64, 20, 40, 2},  {64, 22, 40, 1}, {64, 23, 40, 38},
                                           {110, 40, 1, 1}};
    view::DrawList list;
    for (const view::Rect& rect : rects) list.AddRect(rect, ink);
    ASSERT_OK_AND_ASSIGN(const FrameImage picture, PictureOf(list, ImVec2(3, 5)));
    int wrong = 0;
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) {
        const bool inside = (x >= 13 && x < 107 && y >= 25 && y < 66) || (x == 113 && y == 45);
        const Rgb expected = !inside                           ? theme().window
                             : IsLine(ink.hatch, x, y, factor) ? theme().panel
                                                               : ink.colour;
        wrong += PixelOf(picture, x, y) == expected ? 0 : 1;
      }
    }
    EXPECT_EQ(wrong, 0);
  }
}

// --- Lines and texts ---

TEST_P(PixelTest, StraightLinesAreCrispAndOutlinesStayInside) {
  view::Ink ink;
  ink.colour = theme().categories[1];
  view::DrawList list;
  list.AddLine({10, 20.3F}, {50, 20.3F}, ink);
  list.AddLine({70.4F, 10}, {70.4F, 30}, ink);
  list.AddOutline({100, 10, 20, 10}, ink, 2);
  ASSERT_OK_AND_ASSIGN(const FrameImage picture, PictureOf(list, ImVec2(0, 0)));
  int coloured = 0;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const bool horizontal = y == 20 && x >= 10 && x < 50;
      const bool vertical = x == 70 && y >= 10 && y < 30;
      const bool box = x >= 100 && x < 120 && y >= 10 && y < 20;
      const bool hollow = x >= 102 && x < 118 && y >= 12 && y < 18;
      const bool expected = horizontal || vertical || (box && !hollow);
      const bool found = PixelOf(picture, x, y) == ink.colour;
      coloured += found ? 1 : 0;
      ASSERT_EQ(found, expected) << x << "," << y;
    }
  }
  EXPECT_EQ(coloured, 40 + 20 + 200 - 96);
}

TEST_P(PixelTest, TextsStandAtTheirAnchors) {
  struct Extent {
    int left = kWidth;
    int right = -1;
    int top = kHeight;
    int bottom = -1;
  };
  const auto extent_of = [&](view::Anchor anchor, view::TextSize size) {
    view::DrawList list;
    list.AddText({200, 100}, anchor, size, theme().text, "HHHHHH");
    const absl::StatusOr<FrameImage> picture = PictureOf(list, ImVec2(0, 0));
    Extent extent;
    EXPECT_TRUE(picture.ok());
    for (int y = 0; picture.ok() && y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) {
        if (PixelOf(*picture, x, y) == theme().window) continue;
        extent = {std::min(extent.left, x), std::max(extent.right, x), std::min(extent.top, y),
                  std::max(extent.bottom, y)};
      }
    }
    return extent;
  };
  const int slack = 2 * static_cast<int>(looks_.scale) + 1;
  for (const view::TextSize size :
       {view::TextSize::kSmall, view::TextSize::kNormal, view::TextSize::kStrong}) {
    const Extent start = extent_of(view::Anchor::kStart, size);
    const Extent middle = extent_of(view::Anchor::kMiddle, size);
    const Extent end = extent_of(view::Anchor::kEnd, size);
    EXPECT_NEAR(start.left, 200, slack);
    EXPECT_NEAR(end.right, 200, slack);
    EXPECT_NEAR((middle.left + middle.right) / 2, 200, slack);
    EXPECT_NEAR((start.top + start.bottom) / 2, 100, slack);
    // Letters of about 9 pixels, as the scale demands.
    EXPECT_NEAR(static_cast<float>(start.bottom - start.top + 1) / looks_.scale, 9, 1.6F);
    EXPECT_GT(start.right - start.left, 35 * static_cast<int>(looks_.scale));
  }
}

TEST_P(PixelTest, ThePictureIsTheSameEveryTime) {
  const view::ClusterMapData data = SmallCluster();
  std::string first;
  for (int run = 0; run < 2; ++run) {
    view::ClusterMap map = Arranged(data);
    view::MapView view = ViewFor(map, looks_);
    view.char_width = 7 * looks_.scale;  // with names
    ASSERT_OK_AND_ASSIGN(const FrameImage picture,
                         PictureOf(map.Draw(view, nullptr), ImVec2(20, 20)));
    ASSERT_OK_AND_ASSIGN(const std::string png,
                         EncodePng(picture.width, picture.height, picture.rgb));
    if (run == 0) first = png;
    EXPECT_TRUE(png == first);
  }
}

}  // namespace pixel_test
}  // namespace drasim::gui
