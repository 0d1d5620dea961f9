// Device inventory: invariant checks, saving and loading.

#include <algorithm>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "model/device_inventory.h"

namespace drasim {
namespace {

bool SameAmounts(DeviceInventory::Amounts left, DeviceInventory::Amounts right) {
  const auto by_name = [](const auto& a, const auto& b) { return a.first < b.first; };
  std::sort(left.begin(), left.end(), by_name);
  std::sort(right.begin(), right.end(), by_name);
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const auto& a, const auto& b) {
                      return a.first == b.first && a.second.Compare(b.second) == 0;
                    });
}

// The exact amount as a text that Quantity reads. Canonical() is not exact beyond 10^18.
std::string ExactText(const Quantity& amount) {
  const std::optional<absl::int128> nanos = amount.Nanos();
  if (!nanos.has_value()) return amount.ToString();
  std::ostringstream text;
  text << *nanos << "n";
  return text.str();
}

}  // namespace

void DeviceInventory::CountHolders(std::vector<RowUse>* uses,
                                   std::vector<Amounts>* consumed) const {
  for (const auto& [holder, holding] : holders_) {
    for (const DeviceHold& hold : holding.holds) {
      RowUse& use = (*uses)[hold.row.value()];
      ++(hold.share ? use.shares : holder.pending ? use.pending : use.alone);
      for (const auto& [name, amount] : hold.amounts) {
        AddAmount(name, amount, +1, &(*consumed)[hold.row.value()]);
      }
    }
  }
}

absl::Status DeviceInventory::CheckRows() const {
  std::vector<RowUse> uses(rows_.size());
  std::vector<Amounts> amounts(rows_.size());
  CountHolders(&uses, &amounts);
  std::vector<DriverTotals> totals = totals_;
  for (DriverTotals& each : totals) each = {each.driver, 0, 0};
  size_t held = 0;
  for (size_t i = 0; i < rows_.size(); ++i) {
    const InventoryRow row(i);
    RowUse use = uses[i];
    use.freed = rows_[i].use.freed;
    use.charged = rows_[i].use.charged;
    const bool listed =
        !use.is_held() || (rows_[i].held_at < held_.size() && held_[rows_[i].held_at] == row);
    if (use != rows_[i].use || !listed || (use.freed && use.alone == 0) ||
        (use.charged && !use.is_held())) {
      return absl::InternalError(
          absl::StrCat("device ", RowText(row), ": its use differs from what claims hold"));
    }
    const Amounts* const known = this->consumed(row);
    if (!SameAmounts(known != nullptr ? *known : Amounts(), amounts[i])) {
      return absl::InternalError(absl::StrCat("device ", RowText(row),
                                              ": consumed capacity differs from what claims hold"));
    }
    DriverTotals& of = totals[pools_[rows_[i].pool.value()].totals];
    of.published += published(row) != nullptr ? 1 : 0;
    of.taken += use.is_held() ? 1 : 0;
    if (use.is_held()) ++held;
  }
  if (totals != totals_ || held != held_.size()) {
    return absl::InternalError("totals of devices differ from the sum over rows");
  }
  return absl::OkStatus();
}

absl::Status DeviceInventory::CheckAlone() const {
  // Claims that came when the device was free: the one that holds it alone, or any that shares it.
  std::vector<TextId> alone(rows_.size());
  std::vector<TextId> shared(rows_.size());
  for (const auto& [holder, holding] : holders_) {
    if (!holding.fits) continue;
    for (const DeviceHold& hold : holding.holds) {
      TextId& known = (hold.share ? shared : alone)[hold.row.value()];
      const bool twice = !hold.share && known.valid() && known != holder.claim;
      known = holder.claim;
      if (twice || (alone[hold.row.value()].valid() && shared[hold.row.value()].valid())) {
        return absl::InternalError(
            absl::StrCat("device ", RowText(hold.row), ": two claims hold what one holds alone"));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status DeviceInventory::CheckPool(const DevicePool& pool) const {
  std::vector<ExactAmount> used(pool.counters.size());
  bool excused = pool.shrunk;
  for (const InventoryRow row : pool.rows) {
    const SliceDevice* const device = published(row);
    if (device == nullptr || !rows_[row.value()].use.is_held()) continue;
    for (const SliceCounter& each : device->counters) {
      const auto counter = pool.counter_index.find(CounterKey(each));
      if (counter != pool.counter_index.end()) used[counter->second] += each.amount;
    }
  }
  for (const auto& [holder, holding] : holders_) {
    for (const DeviceHold& hold : holding.holds) {
      excused =
          excused || (!holding.fits && &pools_[rows_[hold.row.value()].pool.value()] == &pool);
    }
  }
  for (size_t i = 0; i < used.size(); ++i) {
    const PoolCounter& counter = pool.counters[i];
    const std::string name =
        absl::StrCat("counter ", columns_.texts().Text(counter.name), " of pool ",
                     columns_.texts().Text(pool.driver), "/", columns_.texts().Text(pool.name));
    if (used[i] != counter.used) {
      return absl::InternalError(absl::StrCat(name, ": its use differs from what claims hold"));
    }
    if (counter.used > counter.total && !excused) {
      return absl::InternalError(absl::StrCat(name, ": more is used than there is"));
    }
  }
  return absl::OkStatus();
}

absl::Status DeviceInventory::Check() const {
  absl::Status status = CheckRows();
  status.Update(CheckAlone());
  for (const DevicePool& pool : pools_) status.Update(CheckPool(pool));
  return status;
}

std::array<absl::string_view, 3> DeviceInventory::RowTexts(InventoryRow row) const {
  const DeviceTexts& texts = columns_.texts();
  const DevicePool& pool = pools_[rows_[row.value()].pool.value()];
  return {texts.Text(pool.driver), texts.Text(pool.name), texts.Text(rows_[row.value()].name)};
}

void DeviceInventory::SaveRow(InventoryRow row, StateWriter& out) const {
  for (const absl::string_view text : RowTexts(row)) out.Str(text);
}

InventoryRow DeviceInventory::LoadRow(StateReader& in) {
  const std::string driver = in.Str();
  const std::string pool = in.Str();
  const std::string device = in.Str();
  return AddRow(AddPool(driver, pool), device);
}

void DeviceInventory::SaveRows(bool RowUse::*mark, StateWriter& out) const {
  std::vector<InventoryRow> marked;
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].use.*mark) marked.push_back(InventoryRow(i));
  }
  std::sort(marked.begin(), marked.end(), [this](InventoryRow left, InventoryRow right) {
    return RowTexts(left) < RowTexts(right);
  });
  out.U64(marked.size());
  for (const InventoryRow row : marked) SaveRow(row, out);
}

// Numbers of texts and rows depend on when they came, so that names give the order: equal states
// have equal bytes.
void DeviceInventory::Save(StateWriter& out) const {
  out.Section("devices");
  const DeviceTexts& texts = columns_.texts();
  std::vector<const std::pair<const DeviceHolder, DeviceHolding>*> sorted;
  for (const auto& entry : holders_) sorted.push_back(&entry);
  std::sort(sorted.begin(), sorted.end(), [&texts](const auto* left, const auto* right) {
    return std::pair(texts.Text(left->first.claim), left->first.pending) <
           std::pair(texts.Text(right->first.claim), right->first.pending);
  });
  out.U64(sorted.size());
  for (const auto* entry : sorted) {
    const auto& [holder, holding] = *entry;
    out.Str(texts.Text(holder.claim));
    out.Bool(holder.pending);
    out.Bool(holding.fits);
    out.U64(holding.holds.size());
    for (const DeviceHold& hold : holding.holds) {
      SaveRow(hold.row, out);
      out.Bool(hold.share);
      out.U64(hold.amounts.size());
      for (const auto& [name, amount] : hold.amounts) {
        out.Str(texts.Text(name));
        out.Str(ExactText(amount));
      }
    }
  }
  SaveRows(&RowUse::freed, out);
  SaveRows(&RowUse::charged, out);
}

void DeviceInventory::LoadHolder(StateReader& in) {
  DeviceHolder holder;
  holder.claim = columns_.texts().Intern(in.Str());
  holder.pending = in.Bool();
  DeviceHolding holding;
  holding.fits = in.Bool();
  const size_t holds = in.Count();
  for (size_t i = 0; i < holds && in.status().ok(); ++i) {
    DeviceHold hold;
    hold.row = LoadRow(in);
    hold.share = in.Bool();
    const size_t amounts = in.Count();
    for (size_t a = 0; a < amounts && in.status().ok(); ++a) {
      const TextId name = columns_.texts().Intern(in.Str());
      const absl::StatusOr<Quantity> amount = Quantity::Parse(in.Str());
      if (!amount.ok()) return in.Fail("a claim holds an amount that is no quantity");
      hold.amounts.emplace_back(name, *amount);
    }
    holding.holds.push_back(std::move(hold));
  }
  if (!in.status().ok()) return;
  if (holding.holds.empty() || holders_.contains(holder)) {
    return in.Fail("a claim holds no devices, or is listed twice");
  }
  SetHolder(holder, std::move(holding));
}

void DeviceInventory::Load(StateReader& in, std::vector<InventoryRow>* charged) {
  in.Section("devices");
  const size_t holders = in.Count();
  for (size_t i = 0; i < holders && in.status().ok(); ++i) LoadHolder(in);
  const size_t freed = in.Count();
  for (size_t i = 0; i < freed && in.status().ok(); ++i) {
    const InventoryRow row = LoadRow(in);
    RowUse use = rows_[row.value()].use;
    if (use.alone == 0) return in.Fail("a device that nobody holds alone is said to be freed");
    use.freed = true;
    SetUse(row, use);
  }
  const size_t rows = in.Count();
  for (size_t i = 0; i < rows && in.status().ok(); ++i) {
    charged->push_back(LoadRow(in));
    if (!use(charged->back()).is_held()) return in.Fail("a device that nobody holds is charged");
  }
}

}  // namespace drasim
