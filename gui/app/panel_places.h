// The places of the panels: rows and columns with splitters between them, and tabs where a screen
// is too small. Plain geometry.
#ifndef DRASIM_GUI_APP_PANEL_PLACES_H_
#define DRASIM_GUI_APP_PANEL_PLACES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gui/app/view_list.h"
#include "gui/view/draw_list.h"

namespace drasim::gui {

// A place for panels that are shown one at a time.
enum class Room : uint8_t { kMap, kPlots, kTables, kNode, kInspector, kCompare };

// Lines that a user can drag. Their order is that of the settings file.
enum class Splitter : uint8_t {
  kRows,
  kUpper,       // map | plots
  kLowerTwo,    // a lower row of two
  kLowerFirst,  // of three
  kLowerSecond,
  kCompareRows,  // of a comparison: maps above plots
  kCompareLower,
  kCompareStack,  // figures above divergences
  kComparePlots,  // plots above waits
};
inline constexpr size_t kSplitters = 9;

// Each as a share of the length that it divides, 0..1.
using SplitterPlaces = std::array<float, kSplitters>;
SplitterPlaces DefaultSplitters();

struct PlacedRoom {
  view::Rect rect;
  std::vector<Room> rooms;  // not empty; tabs if there are several
};

struct PlacedSplitter {
  Splitter splitter = Splitter::kRows;
  view::Rect grip;
  bool upright = false;  // between a left and a right side
  float begin = 0;       // of the length that it divides, in pixels
  float length = 0;
};

struct PlacesRequest {
  view::Rect area;
  ViewSet views;
  bool comparing = false;
  float em = 14;  // height of a line of text
  SplitterPlaces splitters = DefaultSplitters();
};

struct PanelPlaces {
  std::vector<PlacedRoom> rooms;
  std::vector<PlacedSplitter> splitters;
};

// Rooms fill the area without overlapping. Columns too narrow to read become tabs of their
// neighbour, and so do rows that are too low. Absent views leave their room to the others.
PanelPlaces PlacePanels(const PlacesRequest& request);

// Parts of a room for panels one above the other, which `share` divides if they are two.
std::vector<view::Rect> StackPanels(const view::Rect& room, size_t count, float share, float em);

// The gap between panels.
float PanelGap(float em);

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_PANEL_PLACES_H_
