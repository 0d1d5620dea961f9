// A report on one run, or on two side by side, as a single HTML page.
#ifndef DRASIM_GUI_VIEW_REPORT_PAGE_H_
#define DRASIM_GUI_VIEW_REPORT_PAGE_H_

#include <string>

#include "gui/view/run_report.h"

namespace drasim::view {

// Clusters with more GPUs get a canvas instead of an SVG.
inline constexpr size_t kReportSvgGpus = 2000;

// The page refers to nothing outside of itself. It is readable without scripts and on paper, from a
// width of 400 pixels on without horizontal scrolling, and follows the reader's light or dark
// scheme. `b`: the second run; null without one. Equal reports give equal bytes.
std::string ReportPage(const RunReport& a, const RunReport* b);

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_REPORT_PAGE_H_
