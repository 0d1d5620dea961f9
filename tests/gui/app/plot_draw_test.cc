// Painted plots, as vertices: no OpenGL is needed. pixel_test.cc looks at the pixels.
#include "gui/app/plot_draw.h"

#include <imgui.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "gui/view/draw_list.h"
#include "gui/view/palette.h"

namespace drasim::gui {
namespace plot_draw_test {

constexpr float kScreen = 1000;

// A frame whose background is painted on.
class PlotDrawTest : public ::testing::Test {
 protected:
  PlotDrawTest() {
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DisplaySize = ImVec2(kScreen, kScreen);
    io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
    unsigned char* pixels = nullptr;
    int width = 0;
    int height = 0;
    io.Fonts->GetTexDataAsAlpha8(&pixels, &width, &height);
    ImGui::NewFrame();
  }
  ~PlotDrawTest() override {
    ImGui::EndFrame();
    ImGui::DestroyContext();
  }

  static ImDrawList* Target() { return ImGui::GetBackgroundDrawList(); }

  // The triangles of the list, with every index resolved as a renderer does.
  static std::vector<ImDrawVert> Corners() {
    const ImDrawList& list = *Target();
    std::vector<ImDrawVert> corners;
    for (const ImDrawCmd& command : list.CmdBuffer) {
      EXPECT_EQ(command.ElemCount % 3, 0u);
      for (unsigned i = 0; i < command.ElemCount; ++i) {
        const unsigned index =
            list.IdxBuffer[static_cast<int>(command.IdxOffset + i)] + command.VtxOffset;
        EXPECT_LT(index, static_cast<unsigned>(list.VtxBuffer.Size));
        corners.push_back(list.VtxBuffer[static_cast<int>(index)]);
      }
    }
    return corners;
  }

  // The area of all triangles, and the smallest box around them.
  struct Covered {
    double area = 0;
    float left = kScreen;
    float top = kScreen;
    float right = 0;
    float bottom = 0;
  };
  static Covered CoveredArea() {
    Covered covered;
    const std::vector<ImDrawVert> corners = Corners();
    for (size_t i = 0; i + 2 < corners.size(); i += 3) {
      const ImVec2 a = corners[i].pos;
      const ImVec2 b = corners[i + 1].pos;
      const ImVec2 c = corners[i + 2].pos;
      const float cross = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
      covered.area += static_cast<double>(cross < 0 ? -cross : cross) / 2;
      for (const ImVec2 corner : {a, b, c}) {
        covered.left = std::min(covered.left, corner.x);
        covered.top = std::min(covered.top, corner.y);
        covered.right = std::max(covered.right, corner.x);
        covered.bottom = std::max(covered.bottom, corner.y);
      }
    }
    return covered;
  }

  AppState app_;
};

view::Ink PlainInk() {
  view::Ink ink;
  ink.colour = Rgb{200, 100, 50};
  return ink;
}

TEST_F(PlotDrawTest, ColoursArePackedAsImGuiHasThem) {
  EXPECT_EQ(Packed(Rgb{1, 2, 3}), IM_COL32(1, 2, 3, 255));
  EXPECT_EQ(Packed(Rgb{255, 0, 128}, 7), IM_COL32(255, 0, 128, 7));
}

TEST_F(PlotDrawTest, AHundredThousandRectanglesKeepTheirPlacesAndColours) {
  constexpr int kRects = 100'000;
  view::DrawList list;
  std::vector<view::Rect> rects;
  for (int i = 0; i < kRects; ++i) {
    rects.push_back({static_cast<float>(i % 400) * 2, static_cast<float>(i / 400) * 3, 2, 3});
    view::Ink ink = PlainInk();
    ink.colour.red = static_cast<uint8_t>(i / 1000);
    list.AddRect(rects.back(), ink);
  }
  Paint(list, ImVec2(5, 7), app_, Target());
  const std::vector<ImDrawVert> corners = Corners();
  ASSERT_EQ(corners.size(), size_t{6} * kRects);
  int wrong = 0;
  for (size_t i = 0; i < rects.size(); ++i) {
    Rgb colour = PlainInk().colour;
    colour.red = static_cast<uint8_t>(i / 1000);
    float left = kScreen;
    float right = 0;
    float top = kScreen;
    float bottom = 0;
    for (size_t c = 6 * i; c < 6 * i + 6; ++c) {
      wrong += corners[c].col == Packed(colour) ? 0 : 1;
      left = std::min(left, corners[c].pos.x);
      right = std::max(right, corners[c].pos.x);
      top = std::min(top, corners[c].pos.y);
      bottom = std::max(bottom, corners[c].pos.y);
    }
    const bool fits = left == rects[i].x + 5 && right == rects[i].right() + 5 &&
                      top == rects[i].y + 7 && bottom == rects[i].bottom() + 7;
    wrong += fits ? 0 : 1;
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(Target()->VtxBuffer.Size, 4 * kRects);
}

TEST_F(PlotDrawTest, WhatIsOutsideOfTheClipRectangleCostsNoVertices) {
  view::DrawList list;
  list.AddRect({10, 10, 20, 20}, PlainInk());
  list.AddRect({10, 200, 20, 20}, PlainInk());
  list.AddRect({-30, 10, 20, 20}, PlainInk());
  list.AddOutline({10, 300, 20, 20}, PlainInk());
  list.AddText({10, 400}, view::Anchor::kStart, view::TextSize::kSmall, Rgb{}, "hidden");
  view::Ink hatched = PlainInk();
  hatched.hatch = view::Hatch::kCrossed;
  list.AddRect({10, 500, 20, 20}, hatched);
  Target()->PushClipRect(ImVec2(0, 0), ImVec2(100, 100));
  Paint(list, ImVec2(0, 0), app_, Target());
  Target()->PopClipRect();
  EXPECT_EQ(Target()->VtxBuffer.Size, 4);
}

TEST_F(PlotDrawTest, AlphaAndPainterOrderAreKept) {
  view::Ink glass = PlainInk();
  glass.alpha = 90;
  view::DrawList list;
  list.AddRect({10, 10, 20, 20}, PlainInk());
  list.AddRect({15, 15, 20, 20}, glass);
  list.AddOutline({10, 10, 5, 5}, glass);
  Paint(list, ImVec2(0, 0), app_, Target());
  const std::vector<ImDrawVert> corners = Corners();
  ASSERT_EQ(corners.size(), 6u * 6u);
  for (size_t i = 0; i < corners.size(); ++i) {
    EXPECT_EQ(corners[i].col, Packed(PlainInk().colour, i < 6 ? 255 : 90)) << i;
  }
}

TEST_F(PlotDrawTest, HatchingsCoverTheirShareAndStayInside) {
  struct Row {
    view::Hatch hatch;
    double share;  // of lines in the rectangle
  };
  // Lines of two pixels in six; crossed ones of one in six each, painted twice where they meet;
  // dots of two by two.
  static constexpr Row kRows[] = {
      {view::Hatch::kRising, 1.0 / 3},   {view::Hatch::kFalling, 1.0 / 3},
      {view::Hatch::kCrossed, 1.0 / 3},  {view::Hatch::kHorizontal, 1.0 / 3},
      {view::Hatch::kVertical, 1.0 / 3}, {view::Hatch::kDotted, 1.0 / 9}};
  const view::Rect rect = {30.5F, 41.25F, 60, 90};
  double before = 0;
  for (const Row& row : kRows) {
    view::Ink ink = PlainInk();
    ink.hatch = row.hatch;
    PaintInk(rect, ink, app_, Target());
    const Covered covered = CoveredArea();
    EXPECT_NEAR(covered.area - before, 60 * 90 * (1 + row.share), 1) << static_cast<int>(row.hatch);
    before = covered.area;
    EXPECT_EQ(covered.left, rect.x);
    EXPECT_EQ(covered.top, rect.y);
    EXPECT_EQ(covered.right, rect.right());
    EXPECT_EQ(covered.bottom, rect.bottom());
  }
}

TEST_F(PlotDrawTest, ThousandsOfHatchedRectanglesAreCheap) {
  view::Ink ink = PlainInk();
  ink.hatch = view::Hatch::kRising;
  view::DrawList list;
  for (int i = 0; i < 10'000; ++i) {
    list.AddRect({static_cast<float>(i % 100) * 10, static_cast<float>(i / 100) * 10, 8, 8}, ink);
  }
  Paint(list, ImVec2(0, 0), app_, Target());
  // One command or few, since none needs a clip rectangle of its own.
  EXPECT_LT(Target()->CmdBuffer.Size, 12);
  EXPECT_LT(Target()->VtxBuffer.Size, 10'000 * 30);
  EXPECT_NEAR(CoveredArea().area, 10'000 * 64 * (1 + 1.0 / 3), 10'000);
}

TEST_F(PlotDrawTest, AHugeHatchedRectangleCostsOnlyWhatIsInSight) {
  view::Ink ink = PlainInk();
  ink.hatch = view::Hatch::kDotted;
  PaintInk({-1e6F, -1e6F, 2e6F, 2e6F}, ink, app_, Target());
  EXPECT_LT(Target()->VtxBuffer.Size, 4 * 170 * 170);
  EXPECT_GT(Target()->VtxBuffer.Size, 4 * 160 * 160);
}

TEST_F(PlotDrawTest, OutlinesOfSmallRectanglesFillThem) {
  view::DrawList list;
  list.AddOutline({10, 10, 3, 2}, PlainInk(), 2);
  Paint(list, ImVec2(0, 0), app_, Target());
  EXPECT_NEAR(CoveredArea().area, 6, 1e-3);
}

TEST_F(PlotDrawTest, DashesRunOnAroundCornersAndSkipTheirGaps) {
  view::DrawList list;
  // 70 pixels: ten dashes of four with gaps of three, one of them around the corner.
  list.AddPolyline({{100, 100}, {130, 100}, {130, 140}}, PlainInk(), 1, /*dashed=*/true);
  Paint(list, ImVec2(0, 0), app_, Target());
  const Covered covered = CoveredArea();
  EXPECT_NEAR(covered.area, 40, 1e-3);
  EXPECT_EQ(covered.left, 100);
  EXPECT_EQ(covered.top, 100);
  EXPECT_NEAR(covered.bottom, 137, 1e-3);  // the last three are a gap
}

TEST_F(PlotDrawTest, AnEndlessDashedLineCostsOnlyWhatIsInSight) {
  view::DrawList list;
  list.AddLine({-1e6F, 50}, {1e6F, 50}, PlainInk(), 1, /*dashed=*/true);
  list.AddLine({2000, -1e6F}, {2000, 1e6F}, PlainInk(), 1, /*dashed=*/true);
  Paint(list, ImVec2(0, 0), app_, Target());
  EXPECT_LT(Target()->VtxBuffer.Size, 4 * 150);
  EXPECT_GT(Target()->VtxBuffer.Size, 4 * 140);
}

// There the pixels of a screen are less than floats can tell apart.
TEST_F(PlotDrawTest, ADashedLineOfABillionPixelsEnds) {
  view::DrawList list;
  list.AddLine({-1e9F, 50}, {1e9F, 50}, PlainInk(), 1, /*dashed=*/true);
  Paint(list, ImVec2(0, 0), app_, Target());
  EXPECT_LT(Target()->VtxBuffer.Size, 4 * 200);
}

TEST_F(PlotDrawTest, APolylineOfManyPointsIsDrawnWhole) {
  constexpr int kPoints = 50'000;
  std::vector<view::Point> points;
  for (int i = 0; i < kPoints; ++i) {
    points.push_back({static_cast<float>(i) * 0.02F, i % 2 == 0 ? 100.0F : 900.0F});
  }
  view::DrawList list;
  list.AddPolyline(points, PlainInk());
  Paint(list, ImVec2(0, 0), app_, Target());
  const Covered covered = CoveredArea();
  EXPECT_LT(covered.left, 2);
  EXPECT_GT(covered.right, 998);
  EXPECT_LT(covered.top, 101);
  EXPECT_GT(covered.bottom, 899);
  EXPECT_GE(Target()->VtxBuffer.Size, 2 * kPoints);
}

TEST_F(PlotDrawTest, TextsStandAtTheirAnchorsInTheDefaultFontOfTests) {
  const float width = ImGui::CalcTextSize("label").x;
  const auto left_of = [&](view::Anchor anchor) {
    const int first = Target()->VtxBuffer.Size;
    view::DrawList list;
    list.AddText({400, 300}, anchor, view::TextSize::kStrong, Rgb{9, 8, 7}, "label");
    Paint(list, ImVec2(10, 20), app_, Target());
    float left = kScreen;
    float top = kScreen;
    float bottom = 0;
    for (int i = first; i < Target()->VtxBuffer.Size; ++i) {
      EXPECT_EQ(Target()->VtxBuffer[i].col, Packed(Rgb{9, 8, 7}));
      left = std::min(left, Target()->VtxBuffer[i].pos.x);
      top = std::min(top, Target()->VtxBuffer[i].pos.y);
      bottom = std::max(bottom, Target()->VtxBuffer[i].pos.y);
    }
    EXPECT_NEAR((top + bottom) / 2, 320, 3);
    return left;
  };
  EXPECT_NEAR(left_of(view::Anchor::kStart), 410, 3);
  EXPECT_NEAR(left_of(view::Anchor::kMiddle), 410 - width / 2, 3);
  EXPECT_NEAR(left_of(view::Anchor::kEnd), 410 - width, 3);
}

TEST_F(PlotDrawTest, MetricsAreThoseOfTheSmallText) {
  EXPECT_EQ(CharWidth(app_), ImGui::CalcTextSize("0").x);
  EXPECT_GT(LineHeight(app_), ImGui::GetFontSize());
}

}  // namespace plot_draw_test
}  // namespace drasim::gui
