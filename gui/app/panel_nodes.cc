#include "gui/app/panel_nodes.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gui/app/app_state.h"
#include "gui/app/live_table.h"
#include "gui/app/widgets.h"
#include "gui/session/run_snapshot.h"
#include "gui/view/node_table.h"
#include "gui/view/table_model.h"
#include "gui/view/unit_text.h"

namespace drasim::gui {
namespace {

using view::NodeTable;

const view::TableSource* NodesOf(const RunSnapshot& run) { return &run.nodes; }

class NodesPanel : public Panel {
 public:
  NodesPanel() : table_(&NodesOf) {
    look_.id = "nodes";
    look_.columns = {NodeTable::kName,     NodeTable::kState,     NodeTable::kPods,
                     NodeTable::kGpus,     NodeTable::kAllocated, NodeTable::kHeld,
                     NodeTable::kStranded, NodeTable::kCpu,       NodeTable::kMemory,
                     NodeTable::kModel};
    look_.link_column = NodeTable::kName;
    look_.link_kind = ObjectKind::kNode;
  }

  ViewKind view() const override { return ViewKind::kNodes; }
  absl::string_view title() const override { return "Nodes"; }
  std::string Subtitle(const AppState& app) const override {
    if (app.a.snapshot == nullptr) return "";
    const view::SliceCounts& slices = app.a.snapshot->slices;
    const auto nodes = static_cast<int64_t>(app.a.snapshot->nodes.rows());
    std::string text = absl::StrCat(view::CommaText(nodes), nodes == 1 ? " node" : " nodes");
    if (slices.slices > 0) {
      absl::StrAppend(&text, ", ", view::CommaText(slices.held), " of ",
                      view::CommaText(slices.slices), " slices held, ",
                      view::CommaText(slices.stranded), " stranded");
    }
    return text;
  }

  void Draw(AppState* app, bool focused) override {
    table_.Update(app->a.snapshot, app);
    if (!table_.ready()) return;
    look_.takes_keys = focused;
    DrawTable(look_, table_.source(), table_.model(), app);
  }

  std::vector<PanelExport> Exports(const AppState&) override {
    if (!table_.ready()) return {};
    return {{"nodes.csv", table_.model()->Csv()}};
  }

 private:
  LiveTable table_;
  TableLook look_;
};

}  // namespace

std::unique_ptr<Panel> MakeNodesPanel() { return std::make_unique<NodesPanel>(); }

}  // namespace drasim::gui
