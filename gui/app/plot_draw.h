// Paints the view models' primitives with ImGui: fills, hatchings, lines, texts.
#ifndef DRASIM_GUI_APP_PLOT_DRAW_H_
#define DRASIM_GUI_APP_PLOT_DRAW_H_

#include <imgui.h>

#include "gui/app/app_state.h"
#include "gui/view/draw_list.h"
#include "gui/view/palette.h"
#include "gui/view/rgb.h"

namespace drasim::gui {

ImU32 Packed(Rgb colour, uint8_t alpha = 255);

// Paints `list` with its origin at `origin` (pixels of the screen), clipped by `to`'s clip
// rectangle. Item by item in painter's order; rectangles without hatching, the bulk of a map, go
// straight into the vertex buffer. O(items in sight).
void Paint(const view::DrawList& list, ImVec2 origin, const AppState& app, ImDrawList* to);

// A rectangle with an ink's hatching, such as a square of a legend.
void PaintInk(const view::Rect& rect, const view::Ink& ink, const AppState& app, ImDrawList* to);

// The upper left and the lower right corner.
inline ImVec2 Corner(const view::Rect& rect) { return {rect.x, rect.y}; }
inline ImVec2 FarCorner(const view::Rect& rect) { return {rect.right(), rect.bottom()}; }

// Metrics of the small text, for the frames of the view models.
float CharWidth(const AppState& app);
float LineHeight(const AppState& app);

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_PLOT_DRAW_H_
