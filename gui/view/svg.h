// Pictures of the view models as SVG, and the data of a plot as CSV.
#ifndef DRASIM_GUI_VIEW_SVG_H_
#define DRASIM_GUI_VIEW_SVG_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gui/view/draw_list.h"
#include "gui/view/palette.h"
#include "gui/view/plot_model.h"
#include "model/time.h"

namespace drasim::view {

struct SvgOptions {
  float width = 800;  // of the viewBox, as the lists were made for
  float height = 200;
  ThemeKind theme = ThemeKind::kLight;  // background, and colour of hatchings
  std::string title;                    // for screen readers; may be empty
  // Begins the ids of the document's patterns. Must differ between pictures of one HTML page.
  // Letters, digits and dashes.
  std::string id = "drasim";
  float small_text = 11;
  float normal_text = 13;
};

// An <svg> element with a viewBox, no wider than its place on a page, without references to
// anything outside. Later lists cover earlier ones; what lies outside the viewBox is not shown.
// Equal lists give equal bytes on every machine: coordinates are rounded to hundredths.
std::string SvgText(absl::Span<const DrawList* const> lists, const SvgOptions& options);

// `text` with &, <, >, and quotes replaced, and without characters that XML forbids.
std::string XmlEscaped(absl::string_view text);

// The samples of a plot's series and bands from `begin` to `end`, both included, hidden ones too: a
// row per instant and change, with the values that hold then; empty before a series' first sample.
// The first row shows the values at `begin`. Names are quoted as in RFC 4180.
std::string PlotCsv(const PlotSpec& spec, SimTime begin, SimTime end);

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_SVG_H_
