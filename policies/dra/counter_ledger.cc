#include "policies/dra/counter_ledger.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>

#include "absl/status/statusor.h"
#include "model/quantity.h"

namespace drasim {

namespace kube = ::drasim::proto::kube;

std::map<DeviceId, CounterLedger::Amounts> CounterLedger::AmountsOf(Slices slices) {
  std::map<DeviceId, Amounts> amounts;
  std::map<DeviceId, int64_t> generations;
  for (const auto& slice : slices) {
    const kube::ResourceSliceSpec& spec = slice->spec();
    for (const kube::Device& device : spec.devices()) {
      const DeviceId id = {spec.driver(), spec.pool().name(), device.name()};
      const auto [known, added] = generations.try_emplace(id, spec.pool().generation());
      if (!added && known->second >= spec.pool().generation()) continue;
      known->second = spec.pool().generation();
      Amounts& of_device = amounts[id];
      of_device.clear();
      for (const kube::DeviceCounterConsumption& entry : device.consumes_counters()) {
        for (const auto& [name, counter] : entry.counters()) {
          const absl::StatusOr<Quantity> amount = Quantity::Parse(counter.value());
          // The catalog refuses slices with other amounts.
          if (!amount.ok() || !amount->Nanos().has_value()) continue;
          of_device[{entry.counter_set(), name}] += *amount->Nanos();
        }
      }
    }
  }
  return amounts;
}

void CounterLedger::Update(Slices slices, const DeviceUse& use) {
  std::set<DeviceId> ids(use.dedicated.begin(), use.dedicated.end());
  ids.insert(use.shared.begin(), use.shared.end());
  for (const auto& [id, amounts] : use.consumed) ids.insert(id);
  for (auto entry = held_.begin(); entry != held_.end();) {
    entry = ids.count(entry->first) > 0 ? std::next(entry) : held_.erase(entry);
  }
  if (held_.size() == ids.size()) return;
  const std::map<DeviceId, Amounts> amounts = AmountsOf(slices);
  for (const DeviceId& id : ids) {
    const auto found = amounts.find(id);
    held_.try_emplace(id, found == amounts.end() ? Amounts() : found->second);
  }
}

std::vector<CounterDrift> CounterLedger::Drift(Slices slices) const {
  const bool counts = std::any_of(held_.begin(), held_.end(),
                                  [](const auto& entry) { return !entry.second.empty(); });
  if (!counts) return {};
  const std::map<DeviceId, Amounts> now = AmountsOf(slices);
  std::map<std::pair<std::string, std::string>, Amounts> by_pool;
  for (const auto& [id, amounts] : held_) {
    Amounts& sum = by_pool[{id.driver, id.pool}];
    for (const auto& [name, amount] : amounts) sum[name] += amount;
    const auto found = now.find(id);
    if (found == now.end()) continue;
    for (const auto& [name, amount] : found->second) sum[name] -= amount;
  }
  std::vector<CounterDrift> drift;
  for (const auto& [pool, amounts] : by_pool) {
    for (const auto& [name, amount] : amounts) {
      if (amount == 0) continue;
      drift.push_back({pool.first, pool.second, name.first, name.second, amount});
    }
  }
  return drift;
}

}  // namespace drasim
