// GpuModelTable: the GPU models of a run, as small ids.
#ifndef DRASIM_MODEL_GPU_MODEL_TABLE_H_
#define DRASIM_MODEL_GPU_MODEL_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/ids.h"
#include "model/mig_table.h"

namespace drasim {

// Maps the names of GPU models (exact labels such as "V100M32") to small ids. At most 64, so a set
// of models is one machine word.
//
// A model may be a MIG product; its MigTable must outlive this table.
class GpuModelTable {
 public:
  static constexpr size_t kMaxModels = 64;
  // The id of `name`; adds a new one. ResourceExhausted at the 65th model.
  absl::StatusOr<ModelId> Intern(absl::string_view name);
  // Invalid for an unknown name.
  ModelId Find(absl::string_view name) const;
  const std::string& name(ModelId id) const { return names_[id.value()]; }
  size_t size() const { return names_.size(); }
  // REQUIRES: no cluster has a node of the model yet.
  void SetMig(ModelId id, const MigTable* table);
  // Null without SetMig: the model has no MIG.
  const MigTable* mig(ModelId id) const {
    return id.value() < mig_.size() ? mig_[id.value()] : nullptr;
  }
  bool any_mig() const { return !mig_.empty(); }
  // The branch of the driver whose rules the tables follow; 0 for the newest.
  int32_t mig_driver_branch() const { return mig_driver_branch_; }
  void set_mig_driver_branch(int32_t branch) { mig_driver_branch_ = branch; }

 private:
  std::vector<std::string> names_;
  std::vector<const MigTable*> mig_;  // by model, up to the last that was set
  int32_t mig_driver_branch_ = 0;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_GPU_MODEL_TABLE_H_
