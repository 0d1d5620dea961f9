#include "gui/app/panel_places.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace drasim::gui {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using view::Rect;

ViewSet ViewsOf(const std::vector<ViewKind>& kinds) {
  ViewSet views;
  for (const ViewKind kind : kinds) views.Add(kind);
  return views;
}

ViewSet AllViews() {
  ViewSet views;
  for (int i = 0; i < kViewKinds; ++i) views.Add(static_cast<ViewKind>(i));
  return views;
}

PlacesRequest PlacesIn(float width, float height, const ViewSet& views) {
  PlacesRequest request;
  request.area = {10, 20, width, height};
  request.views = views;
  return request;
}

std::vector<std::vector<Room>> RoomsOf(const PanelPlaces& places) {
  std::vector<std::vector<Room>> rooms;
  for (const PlacedRoom& room : places.rooms) rooms.push_back(room.rooms);
  return rooms;
}

bool Overlap(const Rect& a, const Rect& b) {
  return a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom();
}

bool IsInside(const Rect& inner, const Rect& outer) {
  return inner.x >= outer.x && inner.y >= outer.y && inner.right() <= outer.right() + 0.01F &&
         inner.bottom() <= outer.bottom() + 0.01F;
}

TEST(PanelPlacesTest, ALargeScreenShowsAllRoomsAtOnce) {
  const PanelPlaces places = PlacePanels(PlacesIn(1600, 900, AllViews()));
  EXPECT_THAT(RoomsOf(places), ElementsAre(ElementsAre(Room::kMap), ElementsAre(Room::kPlots),
                                           ElementsAre(Room::kTables), ElementsAre(Room::kNode),
                                           ElementsAre(Room::kInspector)));
  std::set<Splitter> splitters;
  for (const PlacedSplitter& splitter : places.splitters) splitters.insert(splitter.splitter);
  EXPECT_THAT(splitters, ElementsAre(Splitter::kRows, Splitter::kUpper, Splitter::kLowerFirst,
                                     Splitter::kLowerSecond));
}

TEST(PanelPlacesTest, AComparisonHasMapsAboveAndFiguresAtTheRight) {
  PlacesRequest request = PlacesIn(1600, 900, AllViews());
  request.comparing = true;
  const PanelPlaces places = PlacePanels(request);
  EXPECT_THAT(RoomsOf(places), ElementsAre(ElementsAre(Room::kMap), ElementsAre(Room::kPlots),
                                           ElementsAre(Room::kCompare, Room::kTables,
                                                       Room::kInspector, Room::kNode)));
  EXPECT_EQ(places.rooms[0].rect.width, 1600);
  request.views = ViewsOf({ViewKind::kMap, ViewKind::kPods});
  EXPECT_THAT(RoomsOf(PlacePanels(request)),
              ElementsAre(ElementsAre(Room::kMap), ElementsAre(Room::kTables)));
}

TEST(PanelPlacesTest, SmallScreensGetTabs) {
  EXPECT_THAT(RoomsOf(PlacePanels(PlacesIn(900, 900, AllViews()))),
              ElementsAre(ElementsAre(Room::kMap), ElementsAre(Room::kPlots),
                          ElementsAre(Room::kTables), ElementsAre(Room::kNode, Room::kInspector)));
  EXPECT_THAT(RoomsOf(PlacePanels(PlacesIn(1600, 300, AllViews()))),
              ElementsAre(ElementsAre(Room::kMap, Room::kPlots),
                          ElementsAre(Room::kTables, Room::kNode, Room::kInspector)));
  EXPECT_THAT(RoomsOf(PlacePanels(PlacesIn(300, 300, AllViews()))),
              ElementsAre(ElementsAre(Room::kMap, Room::kPlots, Room::kTables, Room::kNode,
                                      Room::kInspector)));
}

TEST(PanelPlacesTest, AbsentViewsLeaveTheirRoomToOthers) {
  const PanelPlaces only_map = PlacePanels(PlacesIn(1600, 900, ViewsOf({ViewKind::kMap})));
  ASSERT_EQ(only_map.rooms.size(), 1u);
  EXPECT_EQ(only_map.rooms[0].rect, (Rect{10, 20, 1600, 900}));
  EXPECT_THAT(only_map.splitters, IsEmpty());
  const PanelPlaces two = PlacePanels(PlacesIn(1600, 900, ViewsOf({ViewKind::kInspect})));
  EXPECT_THAT(RoomsOf(two), ElementsAre(ElementsAre(Room::kNode), ElementsAre(Room::kInspector)));
  EXPECT_EQ(two.rooms[0].rect.height, 900);
  EXPECT_THAT(PlacePanels(PlacesIn(1600, 900, ViewSet())).rooms, IsEmpty());
}

TEST(PanelPlacesTest, RoomsFillTheAreaForEverySplitterAndSize) {
  for (const float share : {0.0F, 0.2F, 0.5F, 0.9F, 1.0F}) {
    for (const float width : {100.0F, 700.0F, 1100.0F, 1600.0F}) {
      for (const float height : {50.0F, 400.0F, 900.0F}) {
        for (const bool comparing : {false, true}) {
          SCOPED_TRACE(testing::Message() << share << ": " << width << " x " << height);
          PlacesRequest request = PlacesIn(width, height, AllViews());
          request.comparing = comparing;
          request.splitters.fill(share);
          const PanelPlaces places = PlacePanels(request);
          float area = 0;
          for (size_t i = 0; i < places.rooms.size(); ++i) {
            const Rect& rect = places.rooms[i].rect;
            EXPECT_TRUE(IsInside(rect, request.area));
            EXPECT_GT(rect.width, 0);
            EXPECT_GT(rect.height, 0);
            area += rect.width * rect.height;
            for (size_t j = 0; j < i; ++j) EXPECT_FALSE(Overlap(rect, places.rooms[j].rect));
            for (const PlacedSplitter& splitter : places.splitters) {
              EXPECT_FALSE(Overlap(rect, splitter.grip));
            }
          }
          for (const PlacedSplitter& splitter : places.splitters) {
            area += splitter.grip.width * splitter.grip.height;
          }
          EXPECT_NEAR(area, width * height, width * height / 1000);
        }
      }
    }
  }
}

TEST(PanelPlacesTest, ASplitterMovesItsEdge) {
  PlacesRequest request = PlacesIn(1600, 900, AllViews());
  request.splitters[static_cast<size_t>(Splitter::kUpper)] = 0.25F;
  const PanelPlaces left = PlacePanels(request);
  request.splitters[static_cast<size_t>(Splitter::kUpper)] = 0.5F;
  const PanelPlaces right = PlacePanels(request);
  EXPECT_NEAR(right.rooms[0].rect.width - left.rooms[0].rect.width, 400, 1);
  EXPECT_EQ(left.rooms[2].rect, right.rooms[2].rect);
}

TEST(PanelPlacesTest, StacksStandAboveEachOther) {
  const Rect room = {0, 0, 100, 500};
  EXPECT_THAT(StackPanels(room, 1, 0.5F, 14), ElementsAre(room));
  const std::vector<Rect> two = StackPanels(room, 2, 0.6F, 14);
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0].height, 300);
  EXPECT_EQ(two[1].y, 300 + PanelGap(14));
  EXPECT_EQ(two[1].bottom(), 500);
  const std::vector<Rect> three = StackPanels(room, 3, 0.6F, 14);
  ASSERT_EQ(three.size(), 3u);
  EXPECT_EQ(three[0].height, three[2].height);
  EXPECT_NEAR(three[2].bottom(), 500, 0.01);
}

}  // namespace
}  // namespace drasim::gui
