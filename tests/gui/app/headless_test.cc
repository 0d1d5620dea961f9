// Whole frames of the panels without a window. Dear ImGui's own assertions are on in Debian's
// library: a call that it does not allow ends the test.
#include <imgui.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "gui/app/panels.h"
#include "gui/view/run_view.h"

namespace drasim {
namespace headless_test {

RunView ViewOf(const std::vector<NodeView>& nodes) {
  RunView view;
  view.path = "results/test/ledger";
  view.scenario_yaml = "policy: fgd\nmode: fill\n";
  view.nodes = nodes;
  view.curve.resize(3);
  view.curve[1].arrived_percent = 40;
  view.curve[1].allocated_percent = 40;
  view.curve[2].arrived_percent = 130;
  view.curve[2].allocated_percent = 95;
  for (const NodeView& node : nodes) {
    view.totals.cluster.gpu_count += static_cast<int64_t>(node.allocated_milli.size());
  }
  return view;
}

NodeView Node(absl::string_view name, absl::string_view model,
              const std::vector<int32_t>& allocated_milli) {
  NodeView node;
  node.name = std::string(name);
  node.model = std::string(model);
  node.allocated_milli = allocated_milli;
  return node;
}

// Names that are no text, and amounts that no legend or text shares.
RunView SmallView() {
  return ViewOf({Node("node-a", "T4", {0, 437}), Node("100%s %n \xff\xfe", "P100", {911}),
                 Node("", "", {1000}), Node("no devices", "", {})});
}

RunView LargeView(size_t nodes) {
  std::vector<NodeView> all;
  for (size_t n = 0; n < nodes; ++n) {
    all.push_back(Node(absl::StrCat("n", n), absl::StrCat("model-", n % 7),
                       std::vector<int32_t>(8, static_cast<int32_t>(n % 1001))));
  }
  return ViewOf(all);
}

class HeadlessTest : public ::testing::Test {
 protected:
  HeadlessTest() {
    IMGUI_CHECKVERSION();
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DeltaTime = 1.0F / 60;
    // As OpenGL 3.2 has it: a list may have more vertices than an index of 16 bits can tell apart.
    io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
    unsigned char* pixels = nullptr;
    int width = 0;
    int height = 0;
    io.Fonts->GetTexDataAsAlpha8(&pixels, &width, &height);
    Resize(1280, 800);
  }
  ~HeadlessTest() override { ImGui::DestroyContext(); }

  static void Resize(float width, float height) {
    ImGui::GetIO().DisplaySize = ImVec2(width, height);
  }

  // Draws frames until sizes have settled. The draw data of the last one is valid until the next.
  const ImDrawData& Frames(const RunView& view, int frames = 3) {
    for (int i = 0; i < frames; ++i) {
      ImGui::NewFrame();
      DrawPanels(view, &state_);
      ImGui::Render();
    }
    const ImDrawData* data = ImGui::GetDrawData();
    EXPECT_TRUE(data != nullptr && data->Valid);
    return *data;
  }

  // The middle of a device on the screen.
  ImVec2 MiddleOf(const DeviceRef& ref) const {
    for (const MapBox& box : state_.map.boxes) {
      if (box.node != ref.node) continue;
      const PixelRect rect = DeviceRect(state_.map, box, ref.device);
      return ImVec2(state_.map_x + static_cast<float>(rect.x + rect.width / 2),
                    state_.map_y + static_cast<float>(rect.y + rect.height / 2));
    }
    ADD_FAILURE() << "node " << ref.node << " is not on the map";
    return ImVec2(0, 0);
  }

  PanelState state_;
};

DeviceRef Device(uint32_t node, uint32_t device) {
  DeviceRef ref;
  ref.node = node;
  ref.device = device;
  return ref;
}

// The smallest rectangle around all vertices of that colour, as "left,top right,bottom"; empty when
// there are none.
std::string ExtentOf(const ImDrawData& data, const Rgb& colour) {
  const ImU32 packed = IM_COL32(colour.red, colour.green, colour.blue, 255);
  bool found = false;
  ImVec2 min;
  ImVec2 max;
  for (int n = 0; n < data.CmdListsCount; ++n) {
    for (const ImDrawVert& vertex : data.CmdLists[n]->VtxBuffer) {
      if (vertex.col != packed) continue;
      if (!found) min = max = vertex.pos;
      found = true;
      if (vertex.pos.x < min.x) min.x = vertex.pos.x;
      if (vertex.pos.y < min.y) min.y = vertex.pos.y;
      if (vertex.pos.x > max.x) max.x = vertex.pos.x;
      if (vertex.pos.y > max.y) max.y = vertex.pos.y;
    }
  }
  return found ? absl::StrCat(min.x, ",", min.y, " ", max.x, ",", max.y) : "";
}

int VerticesOf(const ImDrawData& data, const Rgb& colour) {
  const ImU32 packed = IM_COL32(colour.red, colour.green, colour.blue, 255);
  int count = 0;
  for (int n = 0; n < data.CmdListsCount; ++n) {
    for (const ImDrawVert& vertex : data.CmdLists[n]->VtxBuffer) count += vertex.col == packed;
  }
  return count;
}

TEST_F(HeadlessTest, DrawsEachDeviceInItsColourAndPlace) {
  const RunView view = SmallView();
  const ImDrawData& data = Frames(view);
  EXPECT_GT(data.TotalVtxCount, 500);
  ASSERT_EQ(state_.map.boxes.size(), 3u);
  const DeviceRef devices[] = {Device(0, 1), Device(1, 0)};
  for (const DeviceRef& ref : devices) {
    SCOPED_TRACE(DeviceText(view, ref));
    const int32_t milli = view.nodes[ref.node].allocated_milli[ref.device];
    const ImVec2 middle = MiddleOf(ref);
    const auto half = static_cast<float>(kMaxCell / 2);  // so few devices get the largest cells
    ASSERT_EQ(state_.map.cell, kMaxCell);
    EXPECT_EQ(ExtentOf(data, DeviceColour(milli)),
              absl::StrCat(middle.x - half, ",", middle.y - half, " ", middle.x + half, ",",
                           middle.y + half));
    EXPECT_EQ(VerticesOf(data, DeviceColour(milli)), 4);
  }
}

TEST_F(HeadlessTest, TellsWhichDeviceIsUnderTheMouse) {
  const RunView view = SmallView();
  const int vertices = Frames(view).TotalVtxCount;
  EXPECT_FALSE(state_.hovered.has_value());
  for (const DeviceRef& ref : {Device(0, 0), Device(0, 1), Device(1, 0), Device(2, 0)}) {
    SCOPED_TRACE(DeviceText(view, ref));
    ImGui::GetIO().MousePos = MiddleOf(ref);
    EXPECT_GT(Frames(view).TotalVtxCount, vertices) << "no tooltip";
    ASSERT_TRUE(state_.hovered.has_value());
    EXPECT_EQ(*state_.hovered, ref);
  }
  // The right side, and outside of the window.
  for (const ImVec2& elsewhere : {ImVec2(1200, 400), ImVec2(-20, -20)}) {
    ImGui::GetIO().MousePos = elsewhere;
    EXPECT_EQ(Frames(view).TotalVtxCount, vertices);
    EXPECT_FALSE(state_.hovered.has_value());
  }
}

TEST_F(HeadlessTest, ANewSizeGivesANewLayout) {
  const RunView view = LargeView(300);
  Frames(view);
  const int wide_cell = state_.map.cell;
  EXPECT_GT(wide_cell, kMinCell);
  EXPECT_LE(state_.map.width, state_.map_width);
  EXPECT_LE(state_.map.height, state_.map_height);
  Resize(640, 400);
  Frames(view);
  EXPECT_LT(state_.map.cell, wide_cell);
  Resize(1280, 800);
  Frames(view);
  EXPECT_EQ(state_.map.cell, wide_cell);
}

TEST_F(HeadlessTest, ACellBeyondTheWindowIsNotDrawn) {
  const int all = Frames(LargeView(1000)).TotalVtxCount;
  EXPECT_GT(all, 4 * 8 * 1000);
  // Fifty times the nodes do not fit, and what is out of sight costs no vertices.
  PanelState fresh;
  state_ = fresh;
  const int in_sight = Frames(LargeView(50'000)).TotalVtxCount;
  EXPECT_GT(state_.map.height, state_.map_height);
  EXPECT_GT(in_sight, all);
  EXPECT_LT(in_sight, 4 * 8 * 50'000 / 2);
}

TEST_F(HeadlessTest, AnySizeWillDo) {
  const std::vector<RunView> views = {RunView(), SmallView(), LargeView(400)};
  for (const RunView& view : views) {
    PanelState fresh;
    state_ = fresh;
    for (const float width : {0.0F, 1.0F, 50.0F, 200.0F, 5000.0F}) {
      for (const float height : {0.0F, 1.0F, 150.0F, 5000.0F}) {
        SCOPED_TRACE(testing::Message() << width << " x " << height);
        Resize(width, height);
        Frames(view);
      }
    }
  }
}

TEST_F(HeadlessTest, PartialRunsAndClustersWithoutGpusSaySo) {
  RunView view = ViewOf({Node("cpu-only", "", {})});
  view.curve.clear();
  const int complete = Frames(view).TotalVtxCount;
  EXPECT_GT(complete, 500);
  EXPECT_TRUE(state_.map.boxes.empty());
  view.partial = true;
  EXPECT_GT(Frames(view).TotalVtxCount, complete);
}

}  // namespace headless_test
}  // namespace drasim
