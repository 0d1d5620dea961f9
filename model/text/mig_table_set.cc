#include "model/text/mig_table_set.h"

#include <algorithm>
#include <utility>

#include "model/status_macros.h"
#include "model/text/mig_catalogue.h"

namespace drasim {

MigRules RulesOfDriver(const MigProduct& product, int32_t driver_branch) {
  MigRules rules;
  // Only there do media engines limit what geometry allows.
  rules.media_engines = product.units == 12;
  if (driver_branch == 0 || driver_branch >= kFirstBranchWith4gBeside3g) return rules;
  for (const MigProfile& a : product.profiles) {
    for (const MigProfile& b : product.profiles) {
      if (product.compute_slices == 7 && a.compute_slices == 4 && b.compute_slices == 3) {
        rules.forbidden.emplace_back(a.name, b.name);
      }
    }
  }
  return rules;
}

absl::Status MigTableSet::Attach(GpuModelTable* models, int32_t driver_branch) {
  models->set_mig_driver_branch(driver_branch);
  for (size_t m = 0; m < models->size(); ++m) {
    const MigProduct* const product = FindMigProduct(models->name(ModelId(m)));
    if (product == nullptr) continue;
    auto it = std::find_if(tables_.begin(), tables_.end(), [product](const auto& table) {
      return table->product().group == product->group;
    });
    if (it == tables_.end()) {
      ASSIGN_OR_RETURN(MigTable table,
                       MigTable::Make(*product, RulesOfDriver(*product, driver_branch)));
      tables_.push_back(std::make_unique<MigTable>(std::move(table)));
      it = tables_.end() - 1;
    }
    models->SetMig(ModelId(m), it->get());
  }
  return absl::OkStatus();
}

}  // namespace drasim
