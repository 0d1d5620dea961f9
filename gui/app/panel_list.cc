#include "gui/app/panel.h"
#include "gui/app/panel_claims.h"
#include "gui/app/panel_inspect.h"
#include "gui/app/panel_map.h"
#include "gui/app/panel_nodes.h"
#include "gui/app/panel_plots.h"
#include "gui/app/panel_pods.h"
#include "gui/app/panel_slots.h"
#include "gui/app/panel_tenants.h"

namespace drasim::gui {

absl::Span<const PanelFactory> PanelList() {
  // The slots of a node come before the inspector: the layout keeps that order.
  static constexpr PanelFactory kPanels[] = {
      MakeMapPanel,    MakePlotsPanel,   MakePodsPanel,  MakeNodesPanel,
      MakeClaimsPanel, MakeTenantsPanel, MakeSlotsPanel, MakeInspectPanel,
  };
  return kPanels;
}

}  // namespace drasim::gui
