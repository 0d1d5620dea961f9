// The MIG tables of a run's GPU models.
#ifndef DRASIM_MODEL_TEXT_MIG_TABLE_SET_H_
#define DRASIM_MODEL_TEXT_MIG_TABLE_SET_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "model/gpu_model_table.h"
#include "model/mig_table.h"

namespace drasim {

// Drivers before this branch do not have a 4g beside a 3g.
inline constexpr int32_t kFirstBranchWith4gBeside3g = 510;

class MigTableSet {
 public:
  // Makes a table for each model that names a MIG product (one per product group) and attaches it.
  // `driver_branch`: 0 for the newest. The set must outlive `models`.
  absl::Status Attach(GpuModelTable* models, int32_t driver_branch);
  // In order of the models.
  const std::vector<std::unique_ptr<MigTable>>& tables() const { return tables_; }

 private:
  std::vector<std::unique_ptr<MigTable>> tables_;
};

// The rules of that driver for the product.
MigRules RulesOfDriver(const MigProduct& product, int32_t driver_branch);

}  // namespace drasim

#endif  // DRASIM_MODEL_TEXT_MIG_TABLE_SET_H_
