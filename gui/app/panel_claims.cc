#include "gui/app/panel_claims.h"

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
#include "gui/view/claim_table.h"
#include "gui/view/table_model.h"
#include "gui/view/unit_text.h"
#include "sim/record/live_claims.h"

namespace drasim::gui {
namespace {

using view::ClaimTable;

const view::TableSource* ClaimsOf(const RunSnapshot& run) { return &run.claims; }

class ClaimsPanel : public Panel {
 public:
  ClaimsPanel() : table_(&ClaimsOf) {
    table_.SortBy(ClaimTable::kInState, /*descending=*/true);
    look_.id = "claims";
    look_.columns = {ClaimTable::kName,    ClaimTable::kState, ClaimTable::kInState,
                     ClaimTable::kDevices, ClaimTable::kAsked, ClaimTable::kMessage,
                     ClaimTable::kPod,     ClaimTable::kNode,  ClaimTable::kMode,
                     ClaimTable::kClass};
    look_.link_column = ClaimTable::kName;
    look_.link_kind = ObjectKind::kClaim;
    look_.dim_column = ClaimTable::kMessage;
    look_.other_links = {{ClaimTable::kPod, ObjectKind::kPod},
                         {ClaimTable::kNode, ObjectKind::kNode}};
  }

  ViewKind view() const override { return ViewKind::kClaims; }
  absl::string_view title() const override { return "Claims"; }
  std::string Subtitle(const AppState& app) const override {
    if (app.a.snapshot == nullptr) return "";
    const view::ClaimTable& claims = app.a.snapshot->claims;
    std::string text = view::CommaText(static_cast<int64_t>(claims.rows()));
    for (size_t state = 0; state < claims.by_state().size(); ++state) {
      if (claims.by_state()[state] == 0) continue;
      absl::StrAppend(&text, ", ", view::CommaText(claims.by_state()[state]), " ",
                      ClaimStateName(static_cast<ClaimState>(state)));
    }
    return text;
  }

  void Draw(AppState* app, bool focused) override {
    table_.Update(app->a.snapshot, app);
    if (!table_.ready()) return;
    if (table_.source().rows() == 0) {
      WrappedDimText(
          "No ResourceClaim exists at this time. Only runs with a DRA front end have any.", *app);
      return;
    }
    look_.takes_keys = focused;
    DrawTable(look_, table_.source(), table_.model(), app);
  }

  std::vector<PanelExport> Exports(const AppState&) override {
    if (!table_.ready()) return {};
    return {{"claims.csv", table_.model()->Csv()}};
  }

 private:
  LiveTable table_;
  TableLook look_;
};

}  // namespace

std::unique_ptr<Panel> MakeClaimsPanel() { return std::make_unique<ClaimsPanel>(); }

}  // namespace drasim::gui
