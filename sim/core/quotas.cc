#include "sim/core/quotas.h"

#include <algorithm>

namespace drasim {
namespace {

bool Within(const ResourceAmounts& held, const ResourceAmounts& more,
            const ResourceAmounts& limit) {
  // A tenant may exceed a limit that was lowered; only resources in the request count.
  const auto ok = [](int64_t have, int64_t add, int64_t max) {
    return add == 0 || max == Quotas::kUnlimited || (have <= max && add <= max - have);
  };
  return ok(held.cpu_milli, more.cpu_milli, limit.cpu_milli) &&
         ok(held.memory_bytes, more.memory_bytes, limit.memory_bytes) &&
         ok(held.gpu_milli, more.gpu_milli, limit.gpu_milli);
}

}  // namespace

void Quotas::Add(absl::string_view tenant, SimTime since, const ResourceAmounts& limit) {
  const auto [it, inserted] = index_.try_emplace(tenant, steps_.size());
  if (inserted) steps_.emplace_back();
  std::vector<Step>& steps = steps_[it->second];
  // After those of the same time: the last one given holds.
  const auto place = std::upper_bound(steps.begin(), steps.end(), since,
                                      [](SimTime t, const Step& step) { return t < step.since; });
  steps.insert(place, Step{since, limit});
}

const std::vector<Quotas::Step>* Quotas::Find(absl::string_view tenant) const {
  const auto it = index_.find(tenant);
  return it == index_.end() ? nullptr : &steps_[it->second];
}

bool Quotas::Allows(absl::string_view tenant, SimTime now, const ResourceAmounts& held,
                    const ResourceAmounts& more) const {
  const std::vector<Step>* steps = Find(tenant);
  if (steps == nullptr) return true;
  const auto after = std::upper_bound(steps->begin(), steps->end(), now,
                                      [](SimTime t, const Step& step) { return t < step.since; });
  return after == steps->begin() || Within(held, more, (after - 1)->limit);
}

bool Quotas::EverAllows(absl::string_view tenant, SimTime now,
                        const ResourceAmounts& request) const {
  const std::vector<Step>* steps = Find(tenant);
  if (steps == nullptr || now < steps->front().since) return true;
  for (size_t i = 0; i < steps->size(); ++i) {
    const bool over = i + 1 < steps->size() && (*steps)[i + 1].since <= now;
    if (!over && Within({}, request, (*steps)[i].limit)) return true;
  }
  return false;
}

std::vector<SimTime> Quotas::ChangeTimes() const {
  std::vector<SimTime> times;
  for (const std::vector<Step>& steps : steps_) {
    for (const Step& step : steps) times.push_back(step.since);
  }
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  return times;
}

}  // namespace drasim
