#include "model/device_inventory.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"

namespace drasim {
namespace {

bool AnyExceeded(const DevicePool& pool) {
  return std::any_of(pool.counters.begin(), pool.counters.end(),
                     [](const PoolCounter& counter) { return counter.used > counter.total; });
}

}  // namespace

// --- reading ---

const SliceDevice* DeviceInventory::published(InventoryRow row) const {
  const Row& of = rows_[row.value()];
  return of.slice.valid() ? &slices_[of.slice.value()]->devices[of.place] : nullptr;
}

NodeId DeviceInventory::node_of(InventoryRow row) const {
  const SliceId slice = rows_[row.value()].slice;
  return slice.valid() ? slices_[slice.value()]->node : NodeId();
}

const DeviceInventory::Amounts* DeviceInventory::consumed(InventoryRow row) const {
  const auto found = consumed_.find(row.value());
  return found == consumed_.end() ? nullptr : &found->second;
}

std::optional<absl::Span<const InventoryRow>> DeviceInventory::ChangedSince(uint64_t since) const {
  if (since < first_change_) return std::nullopt;
  return absl::MakeConstSpan(changes_).subspan(since - first_change_);
}

std::string DeviceInventory::RowText(InventoryRow row) const {
  const DeviceTexts& texts = columns_.texts();
  const DevicePool& pool = pools_[rows_[row.value()].pool.value()];
  return absl::StrCat(texts.Text(pool.driver), "/", texts.Text(pool.name), "/",
                      texts.Text(rows_[row.value()].name));
}

InventoryRow DeviceInventory::Find(absl::string_view driver, absl::string_view pool,
                                   absl::string_view device) const {
  const DeviceTexts& texts = columns_.texts();
  const TextId ids[] = {texts.Find(driver), texts.Find(pool), texts.Find(device)};
  for (const TextId id : ids) {
    if (!id.valid()) return InventoryRow();
  }
  const auto known = pool_index_.find(PairKey(ids[0].value(), ids[1].value()));
  if (known == pool_index_.end()) return InventoryRow();
  const auto row = row_index_.find(PairKey(known->second.value(), ids[2].value()));
  return row == row_index_.end() ? InventoryRow() : row->second;
}

// --- interning ---

PoolId DeviceInventory::AddPool(absl::string_view driver, absl::string_view pool) {
  DevicePool added;
  added.driver = columns_.texts().Intern(driver);
  added.name = columns_.texts().Intern(pool);
  const auto [at, is_new] = pool_index_.try_emplace(
      PairKey(added.driver.value(), added.name.value()), PoolId(pools_.size()));
  if (!is_new) return at->second;
  const auto known = std::find_if(totals_.begin(), totals_.end(), [&](const DriverTotals& totals) {
    return totals.driver == added.driver;
  });
  added.totals = static_cast<uint32_t>(known - totals_.begin());
  if (known == totals_.end()) totals_.push_back({added.driver, 0, 0});
  pools_.push_back(std::move(added));
  return at->second;
}

InventoryRow DeviceInventory::AddRow(PoolId pool, absl::string_view name) {
  Row added;
  added.pool = pool;
  added.name = columns_.texts().Intern(name);
  const auto [at, is_new] =
      row_index_.try_emplace(PairKey(pool.value(), added.name.value()), InventoryRow(rows_.size()));
  if (!is_new) return at->second;
  rows_.push_back(added);
  pools_[pool.value()].rows.push_back(at->second);
  return at->second;
}

std::vector<SliceCounter> DeviceInventory::InternCounters(const std::vector<CounterFacts>& facts) {
  DeviceTexts& texts = columns_.texts();
  std::vector<SliceCounter> counters;
  counters.reserve(facts.size());
  for (const CounterFacts& each : facts) {
    counters.push_back(
        {each.set, texts.Intern(each.set_name), texts.Intern(each.name), each.amount});
  }
  return counters;
}

InventorySlice DeviceInventory::InternSlice(const SliceFacts& facts) {
  InventorySlice slice;
  slice.pool = AddPool(facts.driver, facts.pool);
  slice.generation = facts.generation;
  slice.counters = InternCounters(facts.counters);
  slice.devices.reserve(facts.devices.size());
  for (const SliceDeviceFacts& each : facts.devices) {
    SliceDevice device;
    device.row = AddRow(slice.pool, each.name);
    device.name = rows_[device.row.value()].name;
    device.content = columns_.Add(each.content);
    device.counters = InternCounters(each.counters);
    slice.devices.push_back(std::move(device));
  }
  return slice;
}

std::vector<DeviceHold> DeviceInventory::InternHolds(absl::Span<const HoldFacts> facts) {
  std::vector<DeviceHold> holds;
  for (const HoldFacts& each : facts) {
    DeviceHold hold;
    hold.row = AddRow(AddPool(each.driver, each.pool), each.device);
    hold.share = each.share;
    for (const auto& [name, amount] : each.amounts) {
      hold.amounts.emplace_back(columns_.texts().Intern(name), amount);
    }
    holds.push_back(std::move(hold));
  }
  return holds;
}

// --- slices ---

SliceId DeviceInventory::AddSlice() {
  slices_.push_back(nullptr);
  return SliceId(slices_.size() - 1);
}

void DeviceInventory::AddToPool(SliceId id, DevicePool* pool) {
  const InventorySlice& slice = *slices_[id.value()];
  for (const SliceCounter& counter : slice.counters) {
    const auto index = static_cast<uint32_t>(pool->counters.size());
    if (!pool->counter_index.try_emplace(CounterKey(counter), index).second) continue;
    pool->counters.push_back({counter.set_name, counter.name, counter.amount, 0});
  }
  for (size_t i = 0; i < slice.devices.size(); ++i) {
    Row& row = rows_[slice.devices[i].row.value()];
    if (row.slice.valid()) continue;
    row.slice = id;
    row.place = static_cast<uint32_t>(i);
    ++totals_[pool->totals].published;
  }
}

void DeviceInventory::Recount(PoolId id) {
  DevicePool& pool = pools_[id.value()];
  for (const InventoryRow row : pool.rows) {
    SliceId& slice = rows_[row.value()].slice;
    totals_[pool.totals].published -= slice.valid() ? 1 : 0;
    slice = SliceId();
  }
  pool.counters.clear();
  pool.counter_index.clear();
  pool.generation = 0;
  for (const SliceId slice : pool.slices) {
    pool.generation = std::max(pool.generation, slices_[slice.value()]->generation);
  }
  for (const SliceId slice : pool.slices) {
    if (slices_[slice.value()]->generation == pool.generation) AddToPool(slice, &pool);
  }
  if (pool.held > 0) {
    for (const InventoryRow row : pool.rows) {
      if (rows_[row.value()].use.is_held()) ChargeCounters(row, +1);
    }
  }
  pool.shrunk = AnyExceeded(pool);
}

DeviceUndo DeviceInventory::SetSlice(SliceId id, SliceRef slice) {
  DeviceUndo undo;
  undo.slice = id;
  undo.slice_before = std::exchange(slices_[id.value()], std::move(slice));
  const SliceRef& before = undo.slice_before;
  const SliceRef& now = slices_[id.value()];
  if (before != nullptr && (now == nullptr || now->pool != before->pool)) {
    std::vector<SliceId>& slices = pools_[before->pool.value()].slices;
    slices.erase(std::find(slices.begin(), slices.end(), id));
    Recount(before->pool);
  }
  if (now == nullptr) return undo;
  DevicePool& pool = pools_[now->pool.value()];
  const auto at = std::lower_bound(pool.slices.begin(), pool.slices.end(), id);
  const bool is_last = at == pool.slices.end();
  if (is_last || *at != id) pool.slices.insert(at, id);
  // The usual case, the next slice of a pool that nobody uses yet.
  const bool is_more =
      is_last && pool.held == 0 && (pool.slices.size() == 1 || pool.generation == now->generation);
  if (is_more && pool.slices.size() > 1) {
    AddToPool(id, &pool);
  } else {
    Recount(now->pool);
  }
  return undo;
}

// --- claims ---

void DeviceInventory::ChargeCounters(InventoryRow row, int sign) {
  const SliceDevice* const device = published(row);
  if (device == nullptr) return;
  DevicePool& pool = pools_[rows_[row.value()].pool.value()];
  for (const SliceCounter& use : device->counters) {
    const auto counter = pool.counter_index.find(CounterKey(use));
    if (counter != pool.counter_index.end()) {
      pool.counters[counter->second].used += sign * use.amount;
    }
  }
}

// Whoever is further behind than there are rows reads them all as fast.
void DeviceInventory::NoteChange(InventoryRow row) {
  const size_t most = 2 * std::max<size_t>(rows_.size(), 1024);
  if (changes_.size() >= most) {
    changes_.erase(changes_.begin(), changes_.begin() + static_cast<std::ptrdiff_t>(most / 2));
    first_change_ += most / 2;
  }
  changes_.push_back(row);
}

void DeviceInventory::SetUse(InventoryRow row, const RowUse& use) {
  NoteChange(row);
  Row& of = rows_[row.value()];
  const bool was_held = of.use.is_held();
  of.use = use;
  if (was_held == use.is_held()) return;
  DevicePool& pool = pools_[of.pool.value()];
  const int sign = was_held ? -1 : +1;
  ChargeCounters(row, sign);
  totals_[pool.totals].taken += sign;
  if (was_held) {
    --pool.held;
    const InventoryRow last = held_.back();
    held_[of.held_at] = last;
    rows_[last.value()].held_at = of.held_at;
    held_.pop_back();
  } else {
    ++pool.held;
    of.held_at = static_cast<uint32_t>(held_.size());
    held_.push_back(row);
  }
}

void DeviceInventory::AddAmount(TextId name, const Quantity& amount, int sign, Amounts* amounts) {
  const auto at = std::find_if(amounts->begin(), amounts->end(),
                               [name](const auto& entry) { return entry.first == name; });
  if (at == amounts->end()) {
    amounts->emplace_back(name, sign > 0 ? amount : Quantity() - amount);
    if (amount.Compare(Quantity()) == 0) amounts->pop_back();
    return;
  }
  at->second = sign > 0 ? at->second + amount : at->second - amount;
  if (at->second.Compare(Quantity()) == 0) amounts->erase(at);
}

void DeviceInventory::SetConsumed(InventoryRow row, Amounts amounts) {
  if (amounts.empty() && consumed_.empty()) return;
  NoteChange(row);
  if (amounts.empty()) {
    consumed_.erase(row.value());
  } else {
    consumed_[row.value()] = std::move(amounts);
  }
}

void DeviceInventory::Apply(DeviceHolder holder, const DeviceHold& hold, int sign) {
  RowUse use = rows_[hold.row.value()].use;
  if (hold.share) {
    use.shares += static_cast<uint32_t>(sign);
  } else if (holder.pending) {
    use.pending += static_cast<uint32_t>(sign);
  } else {
    use.alone += static_cast<uint32_t>(sign);
    use.freed = sign < 0 && use.alone > 0;
  }
  SetUse(hold.row, use);
  if (hold.amounts.empty()) return;
  const Amounts* const known = consumed(hold.row);
  Amounts amounts = known != nullptr ? *known : Amounts();
  for (const auto& [name, amount] : hold.amounts) AddAmount(name, amount, sign, &amounts);
  SetConsumed(hold.row, std::move(amounts));
}

void DeviceInventory::Remember(absl::Span<const DeviceHold> holds, DeviceUndo* undo) const {
  for (const DeviceHold& hold : holds) {
    undo->uses.emplace_back(hold.row, rows_[hold.row.value()].use);
    const Amounts* const known = consumed(hold.row);
    undo->consumed.emplace_back(hold.row, known != nullptr ? *known : Amounts());
  }
}

void DeviceInventory::RestoreRows(const DeviceUndo& undo) {
  for (const auto& [row, use] : undo.uses) SetUse(row, use);
  for (const auto& [row, amounts] : undo.consumed) SetConsumed(row, amounts);
}

void DeviceInventory::SetHolder(DeviceHolder holder, DeviceHolding holding, DeviceUndo* undo) {
  DeviceHolding before;
  const auto found = holders_.find(holder);
  const bool leaves = found != holders_.end();
  if (leaves) {
    before = std::move(found->second);
    holders_.erase(found);
  }
  if (undo != nullptr) {
    undo->holder = holder;
    Remember(before.holds, undo);
    Remember(holding.holds, undo);
  }
  for (const DeviceHold& hold : before.holds) Apply(holder, hold, -1);
  for (const DeviceHold& hold : holding.holds) Apply(holder, hold, +1);
  if (!holding.holds.empty()) holders_.emplace(holder, std::move(holding));
  if (undo != nullptr && leaves) undo->holding_before = std::move(before);
}

void DeviceInventory::Undo(const DeviceUndo& undo) {
  if (undo.slice.valid()) {
    SetSlice(undo.slice, undo.slice_before);
    return;
  }
  RestoreRows(undo);
  holders_.erase(undo.holder);
  if (undo.holding_before.has_value()) holders_.emplace(undo.holder, *undo.holding_before);
}

bool DeviceInventory::CapacitySuffices(const DeviceHold& hold) const {
  const DeviceRow content = published(hold.row)->content;
  const DeviceColumns::Layout& layout = columns_.layout_at(columns_.layout(content));
  Amounts sums;
  if (const Amounts* const known = consumed(hold.row)) sums = *known;
  for (const auto& [name, amount] : hold.amounts) AddAmount(name, amount, +1, &sums);
  const absl::Span<const DeviceValue> values = columns_.values(content);
  for (const auto& [name, sum] : sums) {
    const absl::string_view text = columns_.texts().Text(name);
    for (size_t i = 0; i < layout.names.size(); ++i) {
      const DeviceColumns::Name& column = layout.names[i];
      if (!column.capacity) continue;
      // Claims write names as the slice does: "domain/id", or "id" in the driver's domain.
      const std::string written = column.bare ? columns_.texts().Text(column.id)
                                              : absl::StrCat(columns_.texts().Text(column.domain),
                                                             "/", columns_.texts().Text(column.id));
      if (written == text && sum.Compare(columns_.quantity(values[i].bits)) > 0) return false;
    }
  }
  return true;
}

bool DeviceInventory::IsFree(const DeviceHold& hold) const {
  const SliceDevice* const device = published(hold.row);
  if (device == nullptr) return false;
  const RowUse& use = rows_[hold.row.value()].use;
  if (!hold.share) {
    if (use.is_named()) return false;
  } else if (use.alone > 0 || use.pending > 0 ||
             !columns_.allow_multiple_allocations(device->content) || !CapacitySuffices(hold)) {
    return false;
  }
  if (use.is_held()) return true;
  const DevicePool& pool = pools_[rows_[hold.row.value()].pool.value()];
  return std::all_of(device->counters.begin(), device->counters.end(),
                     [&pool](const SliceCounter& wanted) {
                       const auto counter = pool.counter_index.find(CounterKey(wanted));
                       if (counter == pool.counter_index.end()) return false;
                       const PoolCounter& of = pool.counters[counter->second];
                       return of.used + wanted.amount <= of.total;
                     });
}

bool DeviceInventory::CanHold(DeviceHolder holder, absl::Span<const DeviceHold> holds) {
  const auto other = holders_.find({holder.claim, !holder.pending});
  const bool is_same =
      other != holders_.end() &&
      std::equal(holds.begin(), holds.end(), other->second.holds.begin(), other->second.holds.end(),
                 [](const DeviceHold& left, const DeviceHold& right) {
                   return left.row == right.row && left.share == right.share;
                 });
  if (is_same) return other->second.fits;
  DeviceUndo undo;
  Remember(holds, &undo);
  bool fits = true;
  for (const DeviceHold& hold : holds) {
    fits = fits && IsFree(hold);
    if (!fits) break;
    Apply(holder, hold, +1);
  }
  RestoreRows(undo);
  return fits;
}

}  // namespace drasim
