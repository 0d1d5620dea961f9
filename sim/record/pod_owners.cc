#include "sim/record/pod_owners.h"

namespace drasim {

void PodOwners::Add(JobId job, absl::string_view tenant) {
  auto entry = index_.find(tenant);
  if (entry == index_.end()) {
    const auto row = static_cast<uint32_t>(names_.size());
    entry = index_.emplace(names_.emplace_back(tenant), row).first;
  }
  jobs_.push_back(job);
  tenants_.push_back(entry->second);
}

void PodOwners::Clear() {
  jobs_.clear();
  tenants_.clear();
}

std::pair<uint32_t, bool> TenantRows::RowOf(TenantId tenant) {
  if (row_.size() <= tenant.value()) row_.resize(tenant.value() + size_t{1});
  uint32_t& row = row_[tenant.value()];
  const bool added = row == 0;
  if (added) {
    used_.push_back(tenant);
    row = static_cast<uint32_t>(used_.size());
  }
  return {row - 1, added};
}

void TenantRows::Clear() {
  for (const TenantId tenant : used_) row_[tenant.value()] = 0;
  used_.clear();
}

}  // namespace drasim
