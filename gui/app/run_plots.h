// The plots of a run, or of two runs, from their series: their contents and colours.
#ifndef DRASIM_GUI_APP_RUN_PLOTS_H_
#define DRASIM_GUI_APP_RUN_PLOTS_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "gui/session/run_overview.h"
#include "gui/view/palette.h"
#include "gui/view/plot_model.h"
#include "gui/view/pyramid.h"
#include "gui/view/rate_series.h"
#include "model/time.h"

namespace drasim::gui {

// A plot with the series that are derived for it. The overviews must outlive it.
struct RunPlot {
  std::string id;  // "waiting": of files and menus
  bool can_be_log = false;
  std::unique_ptr<view::PlotModel> model;

  // Recomputes rates for a window, in about that many buckets. Free if nothing changed.
  // REQUIRES: 0 <= begin < until.
  void SetWindow(SimTime begin, SimTime until, size_t most);

  struct Rate {
    const view::Pyramid* counter = nullptr;
    view::Pyramid* rate = nullptr;  // one of `derived`
  };
  std::vector<std::unique_ptr<view::Pyramid>> derived;
  std::vector<Rate> rates;
  SimDuration per = SimDuration::Seconds(60);
  SimTime end;  // of the run: a bucket that reaches beyond it would look like a fall
  view::RateBuckets buckets;
};

// In the order of the panel. Plots whose series a ledger lacks are left out. With `b`, each plot
// shows one figure of both runs and shades the difference; otherwise `b` is null.
// O(samples of the series that are derived).
std::vector<RunPlot> PlotsOf(const RunOverview& a, const RunOverview* b, view::ThemeKind theme);

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_RUN_PLOTS_H_
