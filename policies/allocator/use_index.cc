#include "policies/allocator/use_index.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/status_macros.h"

namespace drasim {
namespace {

absl::Status TooLarge(const DeviceId& id, const std::string& name, const Quantity& found) {
  return absl::OutOfRangeError(absl::StrCat("device ", id.Text(), ": consumed capacity ", name,
                                            ": found ", found.ToString(),
                                            ", expected at most 10^24"));
}

void SortUnique(std::vector<uint32_t>* pools) {
  std::sort(pools->begin(), pools->end());
  pools->erase(std::unique(pools->begin(), pools->end()), pools->end());
}

}  // namespace

UseIndex::UseIndex(std::shared_ptr<const DeviceCatalog> catalog)
    : catalog_(std::move(catalog)),
      dedicated_(catalog_->devices().size()),
      holders_(catalog_->pools().size()) {}

uint32_t UseIndex::PoolOf(uint32_t device) const {
  return catalog_->slices()[catalog_->devices()[device].slice].pool;
}

absl::StatusOr<std::vector<ExactAmount>> UseIndex::AmountsOf(
    uint32_t device, const DeviceId& id, const std::map<std::string, Quantity>& consumed) const {
  const DeviceKind& kind = catalog_->kinds()[catalog_->devices()[device].kind];
  const DeviceCapacities& capacities = catalog_->capacities(kind.capacities);
  std::vector<ExactAmount> amounts(capacities.size());
  for (size_t i = 0; i < capacities.size(); ++i) {
    const auto entry = consumed.find(capacities[i].name);
    if (entry == consumed.end()) continue;
    const std::optional<ExactAmount> nanos = entry->second.Nanos();
    if (!nanos.has_value()) return TooLarge(id, entry->first, entry->second);
    amounts[i] = *nanos;
  }
  return amounts;
}

absl::StatusOr<UseIndex::Amounts> UseIndex::Consumed(const DeviceUse& use) const {
  Amounts found;
  for (const auto& [id, consumed] : use.consumed) {
    for (const uint32_t device : catalog_->Find(id)) {
      ASSIGN_OR_RETURN(std::vector<ExactAmount> amounts, AmountsOf(device, id, consumed));
      found.emplace_back(device, std::move(amounts));
    }
  }
  return found;
}

void UseIndex::Sync(const DeviceInventory& inventory, InventoryRow row,
                    std::vector<uint32_t>* pools) {
  const RowUse& use = inventory.use(row);
  const DeviceInventory::Amounts* const amounts = inventory.consumed(row);
  DeviceId id;  // of a row with amounts
  std::map<std::string, Quantity> consumed;
  if (amounts != nullptr || !too_large_.empty()) {
    const DeviceTexts& texts = inventory.columns().texts();
    const DevicePool& pool = inventory.pools()[inventory.pool_of(row).value()];
    id = {texts.Text(pool.driver), texts.Text(pool.name), texts.Text(inventory.name_of(row))};
    too_large_.erase(id);
  }
  if (amounts != nullptr && use.is_held()) {
    const DeviceTexts& texts = inventory.columns().texts();
    for (const auto& [name, amount] : *amounts) consumed[texts.Text(name)] = amount;
  }
  for (uint32_t device = catalog_->LastOfRow(row); device != CatalogDevice::kNoDevice;
       device = catalog_->devices()[device].next) {
    uint32_t& holders = holders_[PoolOf(device)];
    holders -= dedicated_[device] ? 1U : 0U;
    dedicated_[device] = use.is_dedicated();
    holders += dedicated_[device] ? 1U : 0U;
    pools->push_back(PoolOf(device));
    if (const auto known = shares_.find(device); known != shares_.end()) {
      holders -= known->second.holders;
      shares_.erase(known);
    }
    if (use.shares == 0 && consumed.empty()) continue;
    Share share;
    share.holders = use.shares > 0 ? 1 : 0;
    if (!consumed.empty()) {
      ++share.holders;
      ++share.consumers;
      absl::StatusOr<std::vector<ExactAmount>> exact = AmountsOf(device, id, consumed);
      if (exact.ok()) {
        share.amounts = *std::move(exact);
      } else {
        too_large_[id] = exact.status();
      }
    }
    holders += share.holders;
    shares_[device] = std::move(share);
  }
}

absl::Status UseIndex::status() const {
  return too_large_.empty() ? absl::OkStatus() : too_large_.begin()->second;
}

void UseIndex::Hold(uint32_t device) {
  if (dedicated_[device]) ++more_holders_[device];
  dedicated_[device] = true;
  ++holders_[PoolOf(device)];
}

void UseIndex::Release(uint32_t device) {
  DRASIM_CHECK(dedicated_[device]);
  --holders_[PoolOf(device)];
  const auto more = more_holders_.find(device);
  if (more == more_holders_.end()) {
    dedicated_[device] = false;
  } else if (--more->second == 0) {
    more_holders_.erase(more);
  }
}

void UseIndex::Leave(uint32_t device, uint32_t consumers) {
  const auto found = shares_.find(device);
  DRASIM_CHECK(found != shares_.end());
  Share& share = found->second;
  DRASIM_CHECK(share.holders > 0 && share.consumers >= consumers);
  --share.holders;
  share.consumers -= consumers;
  --holders_[PoolOf(device)];
  if (share.consumers == 0) share.amounts.clear();
  if (share.holders == 0) shares_.erase(found);
}

absl::StatusOr<std::vector<uint32_t>> UseIndex::Add(const DeviceUse& use) {
  ASSIGN_OR_RETURN(const Amounts consumed, Consumed(use));
  std::vector<uint32_t> pools;
  for (const DeviceId& id : use.dedicated) {
    for (const uint32_t device : catalog_->Find(id)) {
      Hold(device);
      pools.push_back(PoolOf(device));
    }
  }
  const auto share_of = [&](uint32_t device) {
    Share& share = shares_[device];
    ++share.holders;
    ++holders_[PoolOf(device)];
    pools.push_back(PoolOf(device));
    return &share;
  };
  for (const DeviceId& id : use.shared) {
    for (const uint32_t device : catalog_->Find(id)) share_of(device);
  }
  for (const auto& [device, amounts] : consumed) {
    Share* share = share_of(device);
    ++share->consumers;
    share->amounts.resize(amounts.size());
    for (size_t i = 0; i < amounts.size(); ++i) share->amounts[i] += amounts[i];
  }
  SortUnique(&pools);
  return pools;
}

std::vector<uint32_t> UseIndex::Remove(const DeviceUse& use) {
  const absl::StatusOr<Amounts> consumed = Consumed(use);
  DRASIM_CHECK(consumed.ok());
  std::vector<uint32_t> pools;
  for (const DeviceId& id : use.dedicated) {
    for (const uint32_t device : catalog_->Find(id)) {
      Release(device);
      pools.push_back(PoolOf(device));
    }
  }
  for (const auto& [device, amounts] : *consumed) {
    std::vector<ExactAmount>& sum = shares_[device].amounts;
    DRASIM_CHECK_EQ(sum.size(), amounts.size());
    for (size_t i = 0; i < amounts.size(); ++i) sum[i] -= amounts[i];
    Leave(device, 1);
    pools.push_back(PoolOf(device));
  }
  for (const DeviceId& id : use.shared) {
    for (const uint32_t device : catalog_->Find(id)) {
      Leave(device, 0);
      pools.push_back(PoolOf(device));
    }
  }
  SortUnique(&pools);
  return pools;
}

const std::vector<ExactAmount>* UseIndex::ConsumedOf(uint32_t device) const {
  if (shares_.empty()) return nullptr;
  const auto found = shares_.find(device);
  return found == shares_.end() || found->second.amounts.empty() ? nullptr : &found->second.amounts;
}

}  // namespace drasim
