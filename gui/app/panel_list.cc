#include "gui/app/panel.h"
#include "gui/app/panel_claims.h"
#include "gui/app/panel_compare_divergence.h"
#include "gui/app/panel_compare_figures.h"
#include "gui/app/panel_compare_waits.h"
#include "gui/app/panel_inspect.h"
#include "gui/app/panel_map.h"
#include "gui/app/panel_nodes.h"
#include "gui/app/panel_plots.h"
#include "gui/app/panel_pods.h"
#include "gui/app/panel_slots.h"
#include "gui/app/panel_tenants.h"

namespace drasim::gui {

absl::Span<const PanelFactory> PanelList() {
  // The slots of a node come before the inspector, and the figures of a comparison before its other
  // panels: the layout keeps that order.
  static constexpr PanelFactory kPanels[] = {
      MakeMapPanel,
      MakePlotsPanel,
      MakePodsPanel,
      MakeNodesPanel,
      MakeClaimsPanel,
      MakeTenantsPanel,
      MakeSlotsPanel,
      MakeInspectPanel,
      MakeCompareFiguresPanel,
      MakeCompareDivergencePanel,
      MakeCompareWaitsPanel,
  };
  return kPanels;
}

}  // namespace drasim::gui
