#include "model/gpu_model_table.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace drasim {

absl::StatusOr<ModelId> GpuModelTable::Intern(absl::string_view name) {
  const ModelId known = Find(name);
  if (known.valid()) return known;
  if (names_.size() >= kMaxModels) {
    constexpr size_t kMostShown = 60;
    const absl::string_view more = name.size() > kMostShown ? "..." : "";
    return absl::ResourceExhaustedError(absl::StrCat("GPU model '", name.substr(0, kMostShown),
                                                     more, "' is number ", kMaxModels + 1,
                                                     "; at most ", kMaxModels, " are supported"));
  }
  names_.emplace_back(name);
  return ModelId(names_.size() - 1);
}

ModelId GpuModelTable::Find(absl::string_view name) const {
  for (size_t i = 0; i < names_.size(); ++i) {
    if (names_[i] == name) return ModelId(i);
  }
  return ModelId();
}

void GpuModelTable::SetMig(ModelId id, const MigTable* table) {
  if (mig_.size() <= id.value()) mig_.resize(id.value() + size_t{1});
  mig_[id.value()] = table;
}

}  // namespace drasim
