#include "gui/app/panel_tenants.h"

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
#include "gui/view/table_model.h"
#include "gui/view/tenant_table.h"
#include "gui/view/unit_text.h"

namespace drasim::gui {
namespace {

using view::TenantTable;

const view::TableSource* TenantsOf(const RunSnapshot& run) {
  return run.tenants.has_value() ? &*run.tenants : nullptr;
}

class TenantsPanel : public Panel {
 public:
  TenantsPanel() : table_(&TenantsOf) {
    table_.SortBy(TenantTable::kLongestWait, /*descending=*/true);
    look_.id = "tenants";
    look_.columns = {TenantTable::kName,    TenantTable::kPods,      TenantTable::kWaiting,
                     TenantTable::kRunning, TenantTable::kGpus,      TenantTable::kGpuHours,
                     TenantTable::kWaitP50, TenantTable::kWaitP95,   TenantTable::kLongestWait,
                     TenantTable::kTries,   TenantTable::kEvictions, TenantTable::kEnded};
    look_.link_column = TenantTable::kName;
    look_.link_kind = ObjectKind::kTenant;
  }

  ViewKind view() const override { return ViewKind::kTenants; }
  absl::string_view title() const override { return "Tenants"; }
  std::string Subtitle(const AppState& app) const override {
    if (app.a.snapshot == nullptr || !app.a.snapshot->tenants.has_value()) return "";
    const auto tenants = static_cast<int64_t>(app.a.snapshot->tenants->rows());
    return absl::StrCat(view::CommaText(tenants), tenants == 1 ? " tenant" : " tenants",
                        ", waits from arrival to the first start");
  }

  void Draw(AppState* app, bool focused) override {
    app->wants_tenants = true;
    // A snapshot that was made before the wish has none yet: the table of the one before stays.
    const bool has_tenants = app->a.snapshot != nullptr && app->a.snapshot->tenants.has_value();
    if (has_tenants || app->a.snapshot == nullptr) table_.Update(app->a.snapshot, app);
    if (!table_.ready()) {
      DimText("Counting the tenants' pods ...", *app);
      return;
    }
    look_.takes_keys = focused;
    DrawTable(look_, table_.source(), table_.model(), app);
  }

  std::vector<PanelExport> Exports(const AppState&) override {
    if (!table_.ready()) return {};
    return {{"tenants.csv", table_.model()->Csv()}};
  }

 private:
  LiveTable table_;
  TableLook look_;
};

}  // namespace

std::unique_ptr<Panel> MakeTenantsPanel() { return std::make_unique<TenantsPanel>(); }

}  // namespace drasim::gui
