#include "gui/view/map_model.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/random.h"
#include "model/time.h"

namespace drasim::view {
namespace map_model_test {

MapSlot Slot(uint16_t start, uint16_t size, uint16_t profile, bool held = true) {
  MapSlot slot;
  slot.start = start;
  slot.size = size;
  slot.profile = profile;
  slot.held = held;
  return slot;
}

MapNode Node(const std::string& name, const std::string& model = "A100") {
  MapNode node;
  node.name = name;
  node.model = model;
  return node;
}

MapGpu MigGpu(uint16_t slices = 8) {
  MapGpu gpu;
  gpu.units = slices;
  return gpu;
}

// Two nodes: a MIG GPU with three slots and a stranded slice beside an empty one; a GPU shared by
// two pods beside a time-sliced one with two replicas.
ClusterMapData SmallCluster() {
  ClusterMapData data;
  data.profiles = {"1g.10gb", "2g.20gb", "3g.40gb", "7g.80gb"};
  data.tenants = {"a", "b"};
  data.states = {"running", "starting"};
  data.AddNode(Node("node-0"));
  MapGpu gpu = MigGpu();
  gpu.stranded = 0b1000;  // slice 3
  gpu.fragmentation_milli = 400;
  gpu.fits = 0b11;
  MapSlot small = Slot(0, 1, 0);
  small.pod = 7;
  data.AddGpu(gpu, {small, Slot(1, 2, 1, /*held=*/false), Slot(4, 4, 2)});
  data.AddGpu(MigGpu(), {});
  data.AddNode(Node("node-1", "T4"));
  MapSlot upper = Slot(0, 250, 0);
  MapSlot lower = Slot(250, 500, 0);
  lower.tenant = 1;
  data.AddGpu(MapGpu(), {upper, lower});
  MapGpu sliced;
  sliced.replicas = 2;
  MapSlot second = Slot(0, 1000, 0);
  second.replica = 1;
  data.AddGpu(sliced, {second});
  data.SumUpNodes();
  return data;
}

MapView LargeView(const ClusterMap& map) {
  MapView view = map.Fit(2000, 1000);
  view.scale = 20;
  return view;
}

Point Middle(const Rect& rect) { return {rect.x + rect.width / 2, rect.y + rect.height / 2}; }

// The ink of the topmost fill at a point.
std::optional<Ink> InkAt(const DrawList& list, Point point) {
  std::optional<Ink> ink;
  for (const DrawItem& item : list.items()) {
    if (item.kind != DrawKind::kFills) continue;
    for (const Rect& rect : list.rects(item)) {
      if (rect.Contains(point)) ink = item.ink;
    }
  }
  return ink;
}

size_t Primitives(const DrawList& list) {
  size_t count = 0;
  for (const DrawItem& item : list.items()) count += item.count;
  return count;
}

TEST(MapModelTest, EverySlotHasItsPlaceAndColour) {
  const ClusterMapData data = SmallCluster();
  ClusterMap map(&data);
  const MapView view = LargeView(map);
  ASSERT_EQ(ClusterMap::DetailOf(view), MapDetail::kSlot);
  const Theme& theme = ThemeOf(view.theme);
  const DrawList& list = map.Draw(view, nullptr);
  // A slice of a MIG GPU is a column's eighth; the first stands at the top.
  const Rect gpu = map.GpuRect(view, 0);
  for (int slice = 0; slice < 8; ++slice) {
    const Point at = {gpu.x + gpu.width / 2,
                      gpu.y + (static_cast<float>(slice) + 0.5F) * gpu.height / 8};
    const std::optional<Ink> ink = InkAt(list, at);
    ASSERT_TRUE(ink.has_value()) << slice;
    if (slice == 0) {
      EXPECT_EQ(ink->colour, StepColour(theme, 0, 4));
    } else if (slice <= 2) {
      EXPECT_EQ(ink->colour, theme.free_cell) << slice;  // not held: only an outline
    } else if (slice == 3) {
      EXPECT_EQ(ink->colour, theme.stranded);
      EXPECT_EQ(ink->hatch, Hatch::kRising);
    } else {
      EXPECT_EQ(ink->colour, StepColour(theme, 2, 4)) << slice;
    }
  }
  size_t outlines = 0;
  for (const DrawItem& item : list.items()) {
    if (item.kind == DrawKind::kOutlines) outlines += item.count;
  }
  EXPECT_EQ(outlines, size_t{1});
  EXPECT_EQ(InkAt(list, Middle(map.GpuRect(view, 1)))->colour, theme.free_cell);

  // Shares by height: a quarter, a half, a free quarter.
  const Rect shared = map.GpuRect(view, 2);
  const auto at_share = [&](float share) {
    return InkAt(list, {shared.x + shared.width / 2, shared.y + share * shared.height})->colour;
  };
  EXPECT_EQ(at_share(0.1F), StepColour(theme, 0, 4));
  EXPECT_EQ(at_share(0.7F), StepColour(theme, 0, 4));
  EXPECT_EQ(at_share(0.8F), theme.free_cell);

  // Replicas side by side.
  const Rect sliced = map.GpuRect(view, 3);
  const float y = sliced.y + sliced.height / 2;
  EXPECT_EQ(InkAt(list, {sliced.x + 0.25F * sliced.width, y})->colour, theme.free_cell);
  EXPECT_EQ(InkAt(list, {sliced.x + 0.75F * sliced.width, y})->colour, StepColour(theme, 0, 4));
}

TEST(MapModelTest, ColoursFollowTheMode) {
  ClusterMapData data = SmallCluster();
  data.slots[data.gpus[0].first_slot].since = SimTime(0);
  ClusterMap map(&data);
  MapView view = LargeView(map);
  const Theme& theme = ThemeOf(view.theme);
  const Point slot = Middle(map.SlotRect(view, 0, data.slots[data.gpus[0].first_slot]));
  const Point other = Middle(map.SlotRect(view, 2, data.slots[data.gpus[2].first_slot + 1]));
  view.colour = MapColour::kStranded;
  EXPECT_EQ(InkAt(map.Draw(view, nullptr), slot)->colour, theme.muted_cell);
  view.colour = MapColour::kFragmentation;
  // One of 8 slices is stranded.
  EXPECT_EQ(InkAt(map.Draw(view, nullptr), slot)->colour, SequenceColour(theme, 525));
  view.colour = MapColour::kTenant;
  EXPECT_EQ(InkAt(map.Draw(view, nullptr), other)->colour, theme.categories[1]);
  view.colour = MapColour::kState;
  EXPECT_EQ(InkAt(map.Draw(view, nullptr), other)->colour, theme.categories[0]);
  view.colour = MapColour::kAge;
  view.now = SimTime(7200 * kSecondNs);  // two hours: the fourth of seven steps
  EXPECT_EQ(InkAt(map.Draw(view, nullptr), slot)->colour, StepColour(theme, 3, 7));
}

TEST(MapModelTest, ShowsTheDifferenceSliceBySlice) {
  const ClusterMapData a = SmallCluster();
  ClusterMapData b = SmallCluster();
  b.SetSlots(0, {Slot(0, 2, 1), Slot(6, 2, 1)});
  b.SetSlots(2, {Slot(0, 250, 0)});
  ClusterMap map(&a);
  MapView view = LargeView(map);
  view.colour = MapColour::kDifference;
  const Theme& theme = ThemeOf(view.theme);
  const DrawList& list = map.Draw(view, &b);
  const Rect gpu = map.GpuRect(view, 0);
  const std::vector<Rgb> expected = {theme.muted_cell, theme.categories[1], theme.free_cell,
                                     theme.free_cell,  theme.categories[0], theme.categories[0],
                                     theme.muted_cell, theme.muted_cell};
  for (size_t slice = 0; slice < expected.size(); ++slice) {
    const Point at = {gpu.x + gpu.width / 2,
                      gpu.y + (static_cast<float>(slice) + 0.5F) * gpu.height / 8};
    EXPECT_EQ(InkAt(list, at)->colour, expected[slice]) << slice;
  }
  // A held three quarters, B one.
  const Rect shared = map.GpuRect(view, 2);
  const float x = shared.x + shared.width / 2;
  EXPECT_EQ(InkAt(list, {x, shared.y + 0.1F * shared.height})->colour, theme.muted_cell);
  EXPECT_EQ(InkAt(list, {x, shared.y + 0.5F * shared.height})->colour, theme.categories[0]);
  EXPECT_EQ(InkAt(list, {x, shared.y + 0.9F * shared.height})->colour, theme.free_cell);
}

TEST(MapModelTest, HitsWhatIsDrawn) {
  const ClusterMapData data = SmallCluster();
  ClusterMap map(&data);
  for (const float scale : {2.0F, 7.5F, 20.0F}) {
    MapView view = LargeView(map);
    view.scale = scale;
    view.origin = {-3, 2};
    for (uint32_t g = 0; g < data.gpus.size(); ++g) {
      const MapGpu& gpu = data.gpus[g];
      for (uint32_t s = gpu.first_slot; s < gpu.first_slot + gpu.slot_count; ++s) {
        MapHit expected;
        expected.node = gpu.node;
        expected.gpu = g;
        expected.slot = s;
        EXPECT_EQ(map.HitTest(view, Middle(map.SlotRect(view, g, data.slots[s]))), expected)
            << "GPU " << g << ", slot " << s << ", scale " << scale;
      }
    }
    const std::optional<MapHit> free = map.HitTest(view, Middle(map.GpuRect(view, 1)));
    ASSERT_TRUE(free.has_value());
    EXPECT_EQ(free->gpu, 1U);
    EXPECT_FALSE(free->slot.has_value());
    const Rect node = map.NodeRect(view, 1);
    const std::optional<MapHit> label = map.HitTest(view, {node.x + 1, node.y + 1});
    ASSERT_TRUE(label.has_value());
    EXPECT_EQ(label->node, 1U);
    EXPECT_FALSE(label->gpu.has_value());
    EXPECT_FALSE(map.HitTest(view, {node.right() + 5000, node.y}).has_value());
    EXPECT_FALSE(map.HitTest(view, {node.x, node.y + 5000}).has_value());
    EXPECT_FALSE(map.HitTest(view, {-1000, 0}).has_value());
  }
}

TEST(MapModelTest, GroupsAndOrdersNodes) {
  ClusterMapData data;
  const std::vector<std::string> names = {"node-10", "node-9", "node-1", "node-2"};
  for (size_t i = 0; i < names.size(); ++i) {
    MapNode node = Node(names[i], i % 2 == 0 ? "T4" : "A100");
    node.since = SimTime(static_cast<int64_t>(100 - i));
    data.AddNode(node);
    MapGpu gpu = MigGpu();
    gpu.fragmentation_milli = static_cast<int32_t>(100 * i);
    data.AddGpu(gpu, {});
  }
  data.AddNode(Node("no GPUs"));
  ClusterMap map(&data);
  MapView view = LargeView(map);
  // In reading order.
  const auto order = [&] {
    std::vector<uint32_t> nodes = {0, 1, 2, 3};
    std::sort(nodes.begin(), nodes.end(), [&](uint32_t a, uint32_t b) {
      const Rect rect_a = map.NodeRect(view, a);
      const Rect rect_b = map.NodeRect(view, b);
      return rect_a.y != rect_b.y ? rect_a.y < rect_b.y : rect_a.x < rect_b.x;
    });
    std::string text;
    for (const uint32_t n : nodes) absl::StrAppend(&text, data.nodes[n].name.substr(5), " ");
    return text;
  };
  map.Arrange(MapGrouping::kNone, MapOrder::kName, 1);
  EXPECT_EQ(order(), "1 2 9 10 ");
  map.Arrange(MapGrouping::kNone, MapOrder::kFragmentation, 1);
  EXPECT_EQ(order(), "2 1 9 10 ");
  map.Arrange(MapGrouping::kNone, MapOrder::kAge, 1);
  EXPECT_EQ(order(), "2 1 9 10 ");
  // Stranded slices are fragmentation, too.
  data.gpus[2].stranded = 0b1111;
  map.Arrange(MapGrouping::kNone, MapOrder::kFragmentation, 1);
  EXPECT_EQ(order(), "1 2 9 10 ");
  map.Arrange(MapGrouping::kModel, MapOrder::kName, 1);
  EXPECT_EQ(order(), "2 9 1 10 ");
  std::vector<std::string> titles;
  for (const DrawItem& item : map.Draw(view, nullptr).items()) {
    if (item.kind != DrawKind::kTexts) continue;
    for (const TextItem& text : map.Draw(view, nullptr).texts(item)) {
      if (text.size == TextSize::kNormal) titles.push_back(text.text);
    }
  }
  EXPECT_EQ(titles, (std::vector<std::string>{"A100: 2 nodes, 2 GPUs", "T4: 2 nodes, 2 GPUs"}));
}

TEST(MapModelTest, TilesDoNotOverlap) {
  Random random(6, "tiles");
  ClusterMapData data;
  for (int n = 0; n < 60; ++n) {
    data.AddNode(Node(absl::StrCat("n", n), absl::StrCat("m", random.Below(3))));
    const uint64_t gpus = 1 + random.Below(20);
    for (uint64_t g = 0; g < gpus; ++g) {
      data.AddGpu(random.Below(2) == 0 ? MigGpu(4) : MigGpu(8), {});
    }
  }
  ClusterMap map(&data);
  for (const MapGrouping grouping : {MapGrouping::kNone, MapGrouping::kModel}) {
    map.Arrange(grouping, MapOrder::kName, 1.5F);
    const MapView view = map.Fit(900, 600);
    std::vector<Rect> rects;
    for (uint32_t g = 0; g < data.gpus.size(); ++g) {
      const Rect rect = map.GpuRect(view, g);
      EXPECT_GE(rect.x, -0.01F);
      EXPECT_GE(rect.y, -0.01F);
      EXPECT_LE(rect.right(), 900.01F);
      EXPECT_LE(rect.bottom(), 600.01F);
      const Rect node = map.NodeRect(view, data.gpus[g].node);
      EXPECT_LE(rect.bottom(), node.bottom() + 0.01F);
      EXPECT_LE(rect.right(), node.right() + 0.01F);
      rects.push_back(rect);
    }
    constexpr float kSlack = 0.01F;
    for (size_t i = 0; i < rects.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        const bool apart =
            rects[i].right() <= rects[j].x + kSlack || rects[j].right() <= rects[i].x + kSlack ||
            rects[i].bottom() <= rects[j].y + kSlack || rects[j].bottom() <= rects[i].y + kSlack;
        ASSERT_TRUE(apart) << i << " and " << j;
      }
    }
  }
}

TEST(MapModelTest, ALargeClusterCostsItsVisiblePart) {
  ClusterMapData data;
  data.profiles = {"1g.10gb", "7g.80gb"};
  for (int n = 0; n < 12'500; ++n) {
    data.AddNode(Node(absl::StrCat("node-", n)));
    for (int g = 0; g < 8; ++g) {
      data.AddGpu(MigGpu(), {Slot(0, 1, 0), Slot(1, 1, 0), Slot(4, 4, 1)});
    }
  }
  data.SumUpNodes();
  ASSERT_EQ(data.gpus.size(), size_t{100'000});
  ClusterMap map(&data);
  map.Arrange(MapGrouping::kModel, MapOrder::kName, 1.6F);
  MapView view = map.Fit(1600, 1000);
  EXPECT_EQ(ClusterMap::DetailOf(view), MapDetail::kNode);
  EXPECT_GE(Primitives(map.Draw(view, nullptr)), size_t{12'500});
  EXPECT_LE(Primitives(map.Draw(view, nullptr)), size_t{25'001});  // held and free
  // As close as slots can be seen, only some tiles are in sight.
  view = ClusterMap::Zoomed(view, 10 / view.scale, {800, 500});
  EXPECT_NEAR(view.scale, 10, 0.001);
  EXPECT_EQ(ClusterMap::DetailOf(view), MapDetail::kSlot);
  const size_t primitives = Primitives(map.Draw(view, nullptr));
  EXPECT_GT(primitives, size_t{500});
  EXPECT_LT(primitives, size_t{20'000});
  // All that could be seen was drawn: a hit has a fill under it.
  for (float y = 5; y < 1000; y += 90) {
    for (float x = 5; x < 1600; x += 90) {
      const std::optional<MapHit> hit = map.HitTest(view, {x, y});
      if (!hit.has_value() || !hit->gpu.has_value()) continue;
      EXPECT_TRUE(InkAt(map.Draw(view, nullptr), {x, y}).has_value()) << x << " " << y;
    }
  }
}

TEST(MapModelTest, ZoomKeepsThePointUnderTheMouse) {
  const ClusterMapData data = SmallCluster();
  ClusterMap map(&data);
  const MapView view = LargeView(map);
  const Point mouse = Middle(map.GpuRect(view, 2));
  const MapView zoomed = ClusterMap::Zoomed(view, 3, mouse);
  const Point after = Middle(map.GpuRect(zoomed, 2));
  EXPECT_NEAR(after.x, mouse.x, 0.05);
  EXPECT_NEAR(after.y, mouse.y, 0.05);
  EXPECT_EQ(ClusterMap::Zoomed(view, 1e6F, mouse).scale, 200);
}

TEST(MapModelTest, BringsANodeIntoSight) {
  const ClusterMapData data = SmallCluster();
  ClusterMap map(&data);
  MapView view = LargeView(map);
  view.width = 300;
  view.height = 200;
  view.origin = {500, 500};
  for (const uint32_t n : {0U, 1U}) {
    view = map.Showing(view, n);
    const Rect rect = map.NodeRect(view, n);
    EXPECT_GE(rect.x, -0.01F);
    EXPECT_GE(rect.y, -0.01F);
    EXPECT_LE(rect.right(), 300.01F);
    EXPECT_LE(rect.bottom(), 200.01F);
  }
  // A node that is in sight moves nothing.
  EXPECT_EQ(map.Showing(view, 1), view);
}

// A place in a bar, by its share of the height.
Point At(const Rect& rect, float share) {
  return {rect.x + rect.width / 2, rect.y + rect.height * share};
}

TEST(MapModelTest, SmallerDetailsSummarise) {
  ClusterMapData data = SmallCluster();
  ClusterMap map(&data);
  MapView view = LargeView(map);
  const Theme& theme = ThemeOf(view.theme);
  const auto of_gpu = [&](uint32_t gpu, float share) {
    return InkAt(map.Draw(view, nullptr), At(map.GpuRect(view, gpu), share))->colour;
  };
  const auto of_node = [&](uint32_t node, float share) {
    return InkAt(map.Draw(view, nullptr), At(map.NodeRect(view, node), share))->colour;
  };
  view.scale = 2;
  ASSERT_EQ(ClusterMap::DetailOf(view), MapDetail::kGpu);
  // Five of eight slices are held, the largest of them by 3g.40gb; one is stranded.
  EXPECT_EQ(of_gpu(0, 0.02F), StepColour(theme, 2, 4));
  EXPECT_EQ(of_gpu(0, 0.6F), StepColour(theme, 2, 4));
  EXPECT_EQ(of_gpu(0, 0.7F), theme.free_cell);
  EXPECT_EQ(of_gpu(0, 0.9F), theme.stranded);
  EXPECT_EQ(of_gpu(1, 0.02F), theme.free_cell);
  view.colour = MapColour::kTenant;  // of the larger share
  EXPECT_EQ(of_gpu(2, 0.5F), theme.categories[1]);
  EXPECT_EQ(of_gpu(2, 0.8F), theme.free_cell);
  view.scale = 1;
  view.colour = MapColour::kProfile;
  ASSERT_EQ(ClusterMap::DetailOf(view), MapDetail::kNode);
  EXPECT_EQ(of_node(0, 0.25F), StepColour(theme, 2, 4));
  EXPECT_EQ(of_node(0, 0.5F), theme.free_cell);
  EXPECT_EQ(of_node(0, 0.97F), theme.stranded);
  view.colour = MapColour::kStranded;
  EXPECT_EQ(of_node(0, 0.25F), theme.muted_cell);
  EXPECT_EQ(of_node(0, 0.97F), theme.stranded);
  view.colour = MapColour::kFragmentation;
  EXPECT_EQ(of_node(0, 0.5F), SequenceColour(theme, 262));
  data.nodes[0].available = false;
  ++data.version;
  EXPECT_EQ(InkAt(map.Draw(view, nullptr), Middle(map.NodeRect(view, 0)))->hatch, Hatch::kCrossed);
}

TEST(MapModelTest, ANodeShowsWhatLeadsOnMostOfItsGpus) {
  ClusterMapData data;
  data.profiles = {"1g.10gb", "2g.20gb", "7g.80gb"};
  data.tenants = {"a", "b", "c"};
  data.states = {"running", "starting"};
  data.AddNode(Node("node-0"));
  const auto held = [](uint16_t size, uint16_t profile, uint32_t tenant, uint16_t state,
                       int64_t since_s) {
    MapSlot slot = Slot(0, size, profile);
    slot.tenant = tenant;
    slot.state = state;
    slot.since = SimTime(since_s * kSecondNs);
    return slot;
  };
  data.AddGpu(MigGpu(), {held(8, 2, 0, 0, 0)});
  data.AddGpu(MigGpu(), {held(2, 1, 1, 1, 3'000), Slot(2, 6, 2, /*held=*/false)});
  data.AddGpu(MigGpu(), {held(2, 1, 2, 1, 3'000)});
  data.AddGpu(MigGpu(), {});
  data.SumUpNodes();
  ClusterMap map(&data);
  MapView view = LargeView(map);
  view.scale = 1;
  view.now = SimTime(3'600 * kSecondNs);
  const Theme& theme = ThemeOf(view.theme);
  const auto colour = [&](MapColour by) {
    view.colour = by;
    return InkAt(map.Draw(view, nullptr), At(map.NodeRect(view, 0), 0.1F))->colour;
  };
  EXPECT_EQ(colour(MapColour::kProfile), StepColour(theme, 1, 3));
  EXPECT_EQ(colour(MapColour::kTenant), theme.categories[0]);  // the first of equals
  EXPECT_EQ(colour(MapColour::kState), theme.categories[1]);
  // The age of the largest slot: an hour.
  EXPECT_EQ(colour(MapColour::kAge), StepColour(theme, 3, 7));
  // It follows its GPUs.
  data.SetSlots(2, {});
  EXPECT_EQ(colour(MapColour::kProfile), StepColour(theme, 2, 3));
  data.SetSlots(0, {});
  data.SetSlots(1, {});
  EXPECT_EQ(colour(MapColour::kProfile), theme.free_cell);
  EXPECT_FALSE(data.nodes[0].lead.held);
}

// At any level of detail, the map shows no colour that its legend lacks.
TEST(MapModelTest, TheLegendNamesEveryColour) {
  const ClusterMapData data = SmallCluster();
  ClusterMapData b = data;
  b.SetSlots(0, {Slot(0, 2, 1), Slot(6, 2, 1)});
  ClusterMap map(&data);
  MapView view = LargeView(map);
  for (const float scale : {1.0F, 2.0F, 4.0F, 20.0F}) {
    view.scale = scale;
    for (const MapColour colour : {MapColour::kProfile, MapColour::kStranded, MapColour::kTenant,
                                   MapColour::kAge, MapColour::kState, MapColour::kDifference}) {
      view.colour = colour;
      std::vector<Rgb> named;
      for (const MapLegendRow& row : map.Legend(colour, view.theme)) {
        named.push_back(row.ink.colour);
      }
      for (const DrawItem& item : map.Draw(view, &b).items()) {
        if (item.kind != DrawKind::kFills) continue;
        EXPECT_NE(std::find(named.begin(), named.end(), item.ink.colour), named.end())
            << static_cast<int>(colour) << " at " << scale;
      }
    }
  }
}

TEST(MapModelTest, FollowsChangesOfTheData) {
  ClusterMapData data = SmallCluster();
  ClusterMap map(&data);
  const MapView view = LargeView(map);
  const Theme& theme = ThemeOf(view.theme);
  const Point middle = Middle(map.GpuRect(view, 1));
  EXPECT_EQ(InkAt(map.Draw(view, nullptr), middle)->colour, theme.free_cell);
  data.SetSlots(1, {Slot(0, 8, 3)});
  EXPECT_EQ(data.gpus[1].held_milli, 1000);
  EXPECT_EQ(InkAt(map.Draw(view, nullptr), middle)->colour, StepColour(theme, 3, 4));
  // The other GPUs keep their slots while this one grows.
  const std::vector<MapSlot> many(7, Slot(0, 1, 0));
  data.SetSlots(1, many);
  EXPECT_EQ(data.SlotsOf(data.gpus[0]).size(), size_t{3});
  EXPECT_EQ(data.SlotsOf(data.gpus[0])[2].start, 4);
  EXPECT_EQ(data.SlotsOf(data.gpus[1]).size(), size_t{7});
  data.SetSlots(1, {});
  EXPECT_EQ(data.gpus[1].held_milli, 0);
  EXPECT_TRUE(data.SlotsOf(data.gpus[1]).empty());
}

TEST(MapModelTest, SaysWhatIsUnderTheMouse) {
  const ClusterMapData data = SmallCluster();
  const auto name = [](uint32_t pod) { return absl::StrCat("pod-", pod); };
  MapHit hit;
  EXPECT_EQ(HitText(data, hit, name), "node-0\n2 GPUs A100");
  hit.gpu = 0;
  EXPECT_EQ(HitText(data, hit, name),
            "node-0 · GPU 0\n0 1g.10gb pod-7\n1–2 2g.20gb, idle\n4–7 3g.40gb\n"
            "free 3 of 8 slices, usable 2, stranded 1\nfits 1g.10gb, 2g.20gb");
  hit.gpu = 1;
  EXPECT_EQ(HitText(data, hit, name),
            "node-0 · GPU 1\nfree 8 of 8 slices, usable 8, stranded 0\nfits nothing more");
  hit.node = 1;
  hit.gpu = 2;
  EXPECT_EQ(HitText(data, hit, name), "node-1 · GPU 0\n25.0 % 1g.10gb\n50.0 % 1g.10gb");
}

TEST(MapModelTest, AnotherStateLeavesEveryNodeInItsPlace) {
  const ClusterMapData before = SmallCluster();
  ClusterMapData after = SmallCluster();
  after.gpus[3].fragmentation_milli = 900;  // would come first
  after.SetSlots(1, {Slot(0, 8, 3)});
  after.version = before.version;
  ClusterMap map(&before);
  map.Arrange(MapGrouping::kNone, MapOrder::kFragmentation, 4);
  const MapView view = LargeView(map);
  const Rect node = map.NodeRect(view, 0);
  const Point middle = Middle(map.GpuRect(view, 1));
  EXPECT_EQ(InkAt(map.Draw(view, nullptr), middle)->colour, ThemeOf(view.theme).free_cell);
  map.Show(&after);
  EXPECT_EQ(map.NodeRect(view, 0), node);
  EXPECT_EQ(InkAt(map.Draw(view, nullptr), middle)->colour, StepColour(ThemeOf(view.theme), 3, 4));

  ClusterMap other(&after);
  other.Arrange(MapGrouping::kNone, MapOrder::kFragmentation, 4);
  EXPECT_NE(other.NodeRect(view, 0), node);
  const uint64_t arrangements = other.arrangements();
  other.ArrangeAs(map);
  EXPECT_GT(other.arrangements(), arrangements);
  EXPECT_EQ(other.NodeRect(view, 0), node);
  EXPECT_EQ(other.HitTest(view, middle), map.HitTest(view, middle));
}

// The outlines of a colour.
std::vector<Rect> OutlinesOf(const DrawList& list, Rgb colour) {
  std::vector<Rect> outlines;
  for (const DrawItem& item : list.items()) {
    if (item.kind != DrawKind::kOutlines || item.ink.colour != colour) continue;
    outlines.insert(outlines.end(), list.rects(item).begin(), list.rects(item).end());
  }
  return outlines;
}

TEST(MapModelTest, OutlinesAllInstancesOfASelectedPod) {
  ClusterMapData data = SmallCluster();
  MapSlot second = Slot(0, 4, 2);
  second.pod = 7;
  data.SetSlots(1, {second});
  ClusterMap map(&data);
  MapView view = LargeView(map);
  const Rgb cursor = ThemeOf(view.theme).cursor;
  EXPECT_TRUE(OutlinesOf(map.Draw(view, nullptr), cursor).empty());
  view.selected = MapHit{};
  EXPECT_EQ(OutlinesOf(map.Draw(view, nullptr), cursor).size(), size_t{1});
  view.selected->gpu = 0;
  EXPECT_EQ(OutlinesOf(map.Draw(view, nullptr), cursor).back(), map.GpuRect(view, 0));
  view.selected->slot = data.gpus[0].first_slot;
  const std::vector<Rect> outlines = OutlinesOf(map.Draw(view, nullptr), cursor);
  ASSERT_EQ(outlines.size(), size_t{3});
  EXPECT_EQ(outlines[1], map.SlotRect(view, 0, data.SlotsOf(data.gpus[0])[0]));
  EXPECT_EQ(outlines[2], map.SlotRect(view, 1, second));
}

TEST(MapModelTest, CountsTheDifferenceOfTwoRuns) {
  const ClusterMapData a = SmallCluster();
  ClusterMapData b = SmallCluster();
  // In A slices 0 and 4 to 7 are held. The idle instance counts as free.
  b.SetSlots(0, {Slot(0, 2, 1), Slot(4, 2, 1)});
  // From 75 % to 20 %.
  b.SetSlots(2, {Slot(0, 200, 0)});
  ASSERT_TRUE(SameCluster(a, b));
  const MapDifference difference = DifferenceOf(a, b);
  EXPECT_EQ(difference.only_a, 2000 + 550);
  EXPECT_EQ(difference.only_b, 1000);
  EXPECT_EQ(difference.both, 3000 + 200 + 500);  // the time-sliced GPU is half held
  EXPECT_EQ(difference.neither, 2000 + 8000 + 250 + 500);
  ClusterMap map(&a);
  MapView view = LargeView(map);
  view.colour = MapColour::kDifference;
  view.char_width = 2;
  std::vector<std::string> texts;
  const DrawList& list = map.Draw(view, &b);
  for (const DrawItem& item : list.items()) {
    if (item.kind != DrawKind::kTexts) continue;
    for (const TextItem& text : list.texts(item)) {
      texts.push_back(text.text);
      if (text.text != "-1") continue;
      EXPECT_EQ(text.colour, ThemeOf(view.theme).categories[0]);
    }
  }
  EXPECT_EQ(texts, (std::vector<std::string>{"node-0", "-1", "node-1", "-0.6"}));

  b.nodes[1].name = "another";
  EXPECT_FALSE(SameCluster(a, b));
  b.AddNode(Node("node-2"));
  b.nodes[1].name = "node-1";
  EXPECT_FALSE(SameCluster(a, b));
}

TEST(MapModelTest, LabelsGetShorterBeforeTheyVanish) {
  ClusterMapData data;
  data.profiles = {"7g.80gb"};
  data.AddNode(Node("node-000017"));
  for (int g = 0; g < 8; ++g) data.AddGpu(MigGpu(), {Slot(0, 6, 0)});
  ClusterMap map(&data);
  const auto texts = [&](float label_height, float scale) {
    map.Arrange(MapGrouping::kNone, MapOrder::kName, 1, label_height);
    MapView view = map.Fit(2000, 1000);
    view.scale = scale;
    view.char_width = 7;
    std::vector<std::string> found;
    const DrawList& list = map.Draw(view, nullptr);
    for (const DrawItem& item : list.items()) {
      if (item.kind != DrawKind::kTexts) continue;
      for (const TextItem& text : list.texts(item)) found.push_back(text.text);
    }
    return found;
  };
  EXPECT_EQ(texts(1.4F, 20), (std::vector<std::string>{"node-000017", "48/64"}));
  EXPECT_EQ(texts(1.4F, 14), (std::vector<std::string>{"017", "48/64"}));
  EXPECT_EQ(texts(3, 7), (std::vector<std::string>{"017", "48"}));
  EXPECT_TRUE(texts(1.4F, 7).empty());  // lower than a line of text
  // All nodes lose the part of their names that they have in common, however short a share is.
  data.AddNode(Node("node-000121"));
  for (int g = 0; g < 8; ++g) data.AddGpu(MigGpu(), {Slot(0, 1, 0)});
  EXPECT_EQ(texts(1.4F, 14), (std::vector<std::string>{"017", "48/64", "121", "8/64"}));
}

TEST(MapModelTest, LegendsNameTheirColours) {
  const ClusterMapData data = SmallCluster();
  const ClusterMap map(&data);
  const auto texts = [&](MapColour colour) {
    std::string text;
    for (const MapLegendRow& row : map.Legend(colour, ThemeKind::kLight)) {
      absl::StrAppend(&text, text.empty() ? "" : " | ", row.text);
    }
    return text;
  };
  constexpr absl::string_view kFree = " | free | free, stranded by geometry or layout";
  EXPECT_EQ(texts(MapColour::kProfile),
            absl::StrCat("7g.80gb | 3g.40gb | 2g.20gb | 1g.10gb", kFree));
  EXPECT_EQ(texts(MapColour::kTenant), absl::StrCat("a | b", kFree));
  EXPECT_EQ(texts(MapColour::kState), absl::StrCat("running | starting", kFree));
  EXPECT_EQ(texts(MapColour::kDifference), "only A | only B | both | neither");
  EXPECT_EQ(texts(MapColour::kFragmentation), "0 % | 25 % | 50 % | 75 % | 100 %");
  EXPECT_EQ(texts(MapColour::kAge),
            absl::StrCat("under 1 min | from 1 min | from 10 min | from 1 h | from 6 h | from 1 d",
                         " | from 7 d", kFree));
}

TEST(MapModelTest, AnEmptyClusterIsAnEmptyMap) {
  ClusterMapData data;
  ClusterMap map(&data);
  EXPECT_TRUE(map.Draw(map.Fit(100, 100), nullptr).empty());
  EXPECT_FALSE(map.HitTest(map.Fit(100, 100), {5, 5}).has_value());
  data.AddNode(Node("no GPUs"));
  map.Arrange(MapGrouping::kPool, MapOrder::kAge, 2);
  EXPECT_TRUE(map.Draw(map.Fit(100, 100), nullptr).empty());
}

TEST(FitListTest, BarsShareOneScale) {
  std::vector<FitRow> rows(2);
  rows[0].profile = "7g.80gb";
  rows[0].colour = Rgb{1, 1, 1};
  rows[0].fits = 18;
  rows[0].waits = 240;
  rows[1].profile = "1g.10gb";
  rows[1].colour = Rgb{2, 2, 2};
  rows[1].fits = 480;
  const FitPicture picture = DrawFitList(rows, 1000, 7, 16, ThemeKind::kDark);
  ASSERT_EQ(picture.boxes.size(), size_t{2});
  EXPECT_EQ(picture.boxes[0].y, picture.boxes[1].y);  // side by side
  EXPECT_GT(picture.boxes[1].x, picture.boxes[0].right());
  EXPECT_NEAR(picture.boxes[1].right(), 1000, 0.01);
  const float full = picture.boxes[0].width;
  std::vector<float> widths;
  std::vector<std::string> texts;
  for (const DrawItem& item : picture.list.items()) {
    if (item.kind == DrawKind::kFills) {
      for (const Rect& rect : picture.list.rects(item)) widths.push_back(rect.width);
    } else {
      for (const TextItem& text : picture.list.texts(item)) texts.push_back(text.text);
    }
  }
  ASSERT_EQ(widths.size(), size_t{3});  // none waits for the smaller one
  EXPECT_NEAR(widths[0], full * 18 / 480, 0.01);
  EXPECT_NEAR(widths[1], full / 2, 0.01);
  EXPECT_NEAR(widths[2], full, 0.01);
  EXPECT_EQ(texts, (std::vector<std::string>{"7g.80gb", "fit 18, wait 240", "1g.10gb",
                                             "fit 480, wait 0"}));
  // On a phone one below the other.
  const FitPicture narrow = DrawFitList(rows, 200, 7, 16, ThemeKind::kDark);
  EXPECT_EQ(narrow.boxes[1].x, 0);
  EXPECT_GE(narrow.boxes[1].y, narrow.boxes[0].bottom());
  EXPECT_EQ(narrow.height, narrow.boxes[1].bottom());
}

}  // namespace map_model_test
}  // namespace drasim::view
