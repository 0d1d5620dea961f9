#include "sim/control/mig_planner.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "absl/numeric/int128.h"
#include "model/check.h"

namespace drasim {
namespace {

// Nodes, those with most GPUs first; of equal ones the first.
std::vector<size_t> LargestFirst(absl::Span<const int32_t> gpus) {
  std::vector<size_t> order(gpus.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [gpus](size_t a, size_t b) { return gpus[a] > gpus[b]; });
  return order;
}

// The remaining demand while nodes are laid out one after the other. To scale the demand by
// there/asked without rounding, it is multiplied by `there`, and each instance or GPU that a node
// offers by `asked`.
class Rest {
 public:
  Rest(const MigTable& table, absl::Span<const int32_t> gpus, const MigDemand& demand)
      : table_(table) {
    const absl::int128 units = table.product().units;
    absl::int128 asked = units * demand.whole_gpus;
    for (size_t p = 0; p < demand.instances.size(); ++p) {
      asked += absl::int128(demand.instances[p]) * table.profiles()[p].size;
    }
    absl::int128 there = 0;
    for (const int32_t n : gpus) there += units * n;
    const bool too_much = asked > there;
    offer_ = too_much ? asked : absl::int128(1);
    const absl::int128 scale = too_much ? there : absl::int128(1);
    whole_gpus_ = scale * demand.whole_gpus;
    for (const int64_t instances : demand.instances) instances_.push_back(scale * instances);
  }

  bool wants_whole_gpus() const { return whole_gpus_ > 0; }
  void TakeWholeGpus(int32_t gpus) { whole_gpus_ -= offer_ * gpus; }

  // In units, multiplied as offers are.
  absl::int128 Served(const MigMultiset& counts, int32_t gpus) const {
    absl::int128 served = 0;
    for (size_t p = 0; p < counts.size(); ++p) {
      served += Taken(counts, gpus, p) * table_.profiles()[p].size;
    }
    return served;
  }
  void Take(const MigMultiset& counts, int32_t gpus) {
    for (size_t p = 0; p < counts.size(); ++p) instances_[p] -= Taken(counts, gpus, p);
  }

 private:
  absl::int128 Taken(const MigMultiset& counts, int32_t gpus, size_t profile) const {
    return std::min(offer_ * counts[profile] * gpus, instances_[profile]);
  }

  const MigTable& table_;
  absl::int128 offer_;
  absl::int128 whole_gpus_;
  std::vector<absl::int128> instances_;
};

}  // namespace

std::vector<NodeLayout> PlanLayouts(const MigTable& table, absl::Span<const int32_t> gpus,
                                    const MigDemand& demand) {
  DRASIM_CHECK_EQ(demand.instances.size(), table.profiles().size());
  const std::vector<MigMultiset> choices = MaximalMultisets(table);
  Rest rest(table, gpus, demand);
  std::vector<NodeLayout> layouts(gpus.size());
  for (const size_t node : LargestFirst(gpus)) {
    if (gpus[node] <= 0) break;
    if (rest.wants_whole_gpus()) {
      rest.TakeWholeGpus(gpus[node]);
      continue;
    }
    const MigMultiset* best = nullptr;
    absl::int128 most = 0;
    for (const MigMultiset& counts : choices) {
      const absl::int128 served = rest.Served(counts, gpus[node]);
      if (served <= most) continue;
      most = served;
      best = &counts;
    }
    if (best == nullptr) break;  // the demand is met
    rest.Take(*best, gpus[node]);
    layouts[node].mig_enabled = true;
    layouts[node].counts = *best;
  }
  return layouts;
}

BestLayout BestLayoutFor(const MigTable& table, int32_t gpus, const MigDemand& pending) {
  DRASIM_CHECK_EQ(pending.instances.size(), table.profiles().size());
  BestLayout best;
  best.units_served = std::min<int64_t>(gpus, pending.whole_gpus) * table.product().units;
  for (const MigMultiset& counts : MaximalMultisets(table)) {
    int64_t served = 0;
    for (size_t p = 0; p < counts.size(); ++p) {
      const int64_t offered = int64_t{counts[p]} * gpus;
      served += std::min(offered, pending.instances[p]) * table.profiles()[p].size;
    }
    if (served <= best.units_served) continue;
    best.units_served = served;
    best.layout.mig_enabled = true;
    best.layout.counts = counts;
  }
  return best;
}

}  // namespace drasim
