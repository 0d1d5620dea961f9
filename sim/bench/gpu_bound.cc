#include "sim/bench/gpu_bound.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/resource_request.h"
#include "sim/bench/bound_lp.h"

namespace drasim::bench {
namespace {

constexpr int64_t kWhole = kDeviceMilli;
// Memory is counted in larger units, so that all numbers are small: demands rounded down, room up.
constexpr int64_t kMemoryUnit = int64_t{1} << 20;
constexpr size_t kMostThresholds = 16;
constexpr int64_t kMostFactor = 8;
constexpr int64_t kMostCapacity = int64_t{1} << 39;

int64_t RoundUp(int64_t amount, int64_t unit) { return amount / unit + (amount % unit != 0); }

// Fekete and Schepers' u^(t) with capacity C: amounts above C - t count as C, those below t as
// nothing.
int64_t ThresholdValue(int64_t amount, int64_t capacity, int64_t threshold) {
  if (amount > capacity - threshold) return capacity;
  return amount < threshold ? 0 : amount;
}

// Their u_k, times k: steps of capacity / (k + 1).
int64_t StepValue(int64_t amount, int64_t capacity, int64_t k) {
  const absl::int128 steps = absl::int128(k + 1) * amount;
  if (steps % capacity == 0) return k * amount;
  return static_cast<int64_t>(steps / capacity) * capacity;
}

// The rows about one kind of node, whose columns are the kinds of pods that may be there.
class NodeKindRows {
 public:
  NodeKindRows(const BoundInput& input, size_t kind, BoundLp* lp)
      : input_(input), node_(input.nodes[kind]), kind_(kind), lp_(lp) {}

  void Add(const std::vector<size_t>& pod_rows) {
    for (size_t p = 0; p < input_.pods.size(); ++p) {
      const BoundPodKind& pod = input_.pods[p];
      const BoundPodKind::Place& place = pod.places[kind_];
      if (!place.allowed) continue;
      const size_t column =
          lp_->AddColumn(pod.gpu_count * pod.gpu_milli + place.mig_milli, pod.pods);
      lp_->AddEntry(pod_rows[p], column, 1);
      columns_.push_back({&pod, &place, column});
    }
    AddSums();
    if (node_.gpus == 0) return;
    AddMilli();
    if (!node_.mixed) AddGpuSets();
  }

 private:
  struct PodColumn {
    const BoundPodKind* pod;
    const BoundPodKind::Place* place;
    size_t column;
  };

  // One resource: its sum over all nodes, and its dual feasible functions.
  template <typename Amount>
  void AddResource(int64_t capacity, int64_t most_factor, Amount amount) {
    // Rows may be left out; those with larger numbers than the program takes would not bind anyway.
    if (capacity > kMostCapacity / (node_.nodes * std::max<int64_t>(1, most_factor))) return;
    const size_t row = lp_->AddRow(capacity * node_.nodes);
    for (const PodColumn& p : columns_) lp_->AddEntry(row, p.column, amount(p));
    if (capacity == 0) return;
    for (int64_t k = 1; k <= most_factor; ++k) {
      const size_t steps = lp_->AddRow(k * capacity * node_.nodes);
      for (const PodColumn& p : columns_)
        lp_->AddEntry(steps, p.column, StepValue(amount(p), capacity, k));
    }
  }

  void AddSums() {
    AddResource(node_.cpu_milli, 4, [](const PodColumn& p) { return p.pod->cpu_milli; });
    AddResource(RoundUp(node_.memory_bytes, kMemoryUnit), 2,
                [](const PodColumn& p) { return p.pod->memory_bytes / kMemoryUnit; });
    AddResource(node_.pods, 0, [](const PodColumn&) { return 1; });
    for (size_t r = 0; r < node_.extended.size(); ++r) AddExtended(r);
  }

  // Extended resources have any unit.
  void AddExtended(size_t r) {
    const int64_t unit = node_.extended[r] / (int64_t{1} << 20) + 1;
    AddResource(RoundUp(node_.extended[r], unit), 0,
                [r, unit](const PodColumn& p) { return p.pod->extended[r] / unit; });
  }

  static int64_t MilliOf(const PodColumn& p) {
    return p.pod->gpu_count * p.pod->gpu_milli + p.place->mig_milli;
  }
  void AddMilli() { AddResource(kWhole * node_.gpus, node_.mixed ? 0 : kMostFactor, MilliOf); }

  // Each GPU is used in one of three ways.
  void AddGpuSets() {
    const int64_t gpus = node_.gpus * node_.nodes;
    const size_t all = lp_->AddRow(gpus);
    const size_t whole = lp_->AddColumn(0, gpus);
    const size_t shared = lp_->AddColumn(0, gpus);
    lp_->AddEntry(all, whole, 1);
    lp_->AddEntry(all, shared, 1);
    const size_t whole_row = lp_->AddRow(0);
    lp_->AddEntry(whole_row, whole, -1);
    std::vector<int64_t> shares;
    for (const PodColumn& p : columns_) {
      if (p.pod->gpu_count == 0) continue;
      if (p.pod->gpu_milli == kWhole) {
        lp_->AddEntry(whole_row, p.column, p.pod->gpu_count);
      } else {
        shares.push_back(p.pod->gpu_milli);
      }
    }
    std::sort(shares.begin(), shares.end());
    shares.erase(std::unique(shares.begin(), shares.end()), shares.end());
    AddShares(shares, shared);
    if (node_.mig != nullptr) AddMigSets(all, gpus);
  }

  template <typename Value>
  void AddShareRow(size_t shared, int64_t limit, Value value) {
    const size_t row = lp_->AddRow(0);
    lp_->AddEntry(row, shared, -limit);
    for (const PodColumn& p : columns_) {
      if (p.pod->gpu_count == 0 || p.pod->gpu_milli == kWhole) continue;
      lp_->AddEntry(row, p.column, p.pod->gpu_count * value(p.pod->gpu_milli));
    }
  }

  void AddShares(const std::vector<int64_t>& shares, size_t shared) {
    if (shares.empty()) return;
    AddShareRow(shared, LargestSum(shares, kWhole), [](int64_t milli) { return milli; });
    std::vector<int64_t> thresholds;
    for (const int64_t share : shares) {
      if (share <= kWhole / 2) thresholds.push_back(share);
    }
    const size_t stride = thresholds.size() / kMostThresholds + 1;
    for (size_t i = 0; i < thresholds.size(); i += stride) {
      AddShareRow(shared, kWhole,
                  [t = thresholds[i]](int64_t milli) { return ThresholdValue(milli, kWhole, t); });
    }
    for (int64_t k = 1; k <= kMostFactor; ++k) {
      AddShareRow(shared, k * kWhole, [k](int64_t milli) { return StepValue(milli, kWhole, k); });
    }
  }

  void AddMigSets(size_t all, int64_t gpus) {
    std::set<uint8_t> wanted;
    for (const PodColumn& p : columns_)
      wanted.insert(p.place->instances.begin(), p.place->instances.end());
    if (wanted.empty()) return;
    std::map<uint8_t, size_t> rows;
    for (const uint8_t profile : wanted) rows[profile] = lp_->AddRow(0);
    for (const PodColumn& p : columns_) {
      std::map<uint8_t, int64_t> counts;
      for (const uint8_t profile : p.place->instances) ++counts[profile];
      for (const auto& [profile, count] : counts) lp_->AddEntry(rows[profile], p.column, count);
    }
    for (const std::vector<uint8_t>& set : FullestMigSets(*node_.mig)) {
      const size_t column = lp_->AddColumn(0, gpus);
      lp_->AddEntry(all, column, 1);
      for (const auto& [profile, row] : rows) lp_->AddEntry(row, column, -int64_t{set[profile]});
    }
  }

  const BoundInput& input_;
  const BoundNodeKind& node_;
  size_t kind_;
  BoundLp* lp_;
  std::vector<PodColumn> columns_;
};

}  // namespace

int64_t LargestSum(const std::vector<int64_t>& shares, int64_t limit) {
  std::vector<bool> reachable(static_cast<size_t>(limit) + 1);
  reachable[0] = true;
  int64_t best = 0;
  for (int64_t sum = 1; sum <= limit; ++sum) {
    for (const int64_t share : shares) {
      if (share > sum || !reachable[static_cast<size_t>(sum - share)]) continue;
      reachable[static_cast<size_t>(sum)] = true;
      best = sum;
      break;
    }
  }
  return best;
}

std::vector<std::vector<uint8_t>> FullestMigSets(const MigTable& table) {
  std::set<std::vector<uint8_t>> sets;
  for (size_t s = 0; s < table.states(); ++s) {
    const auto state = static_cast<MigState>(s);
    if (table.legal(state) != 0) continue;  // a larger one is there
    std::vector<uint8_t> counts(table.profiles().size());
    for (uint64_t rest = table.set(state); rest != 0; rest &= rest - 1)
      ++counts[table.placements()[static_cast<size_t>(std::countr_zero(rest))].profile];
    sets.insert(std::move(counts));
  }
  std::vector<std::vector<uint8_t>> fullest;
  for (const std::vector<uint8_t>& set : sets) {
    const bool contained = std::any_of(sets.begin(), sets.end(), [&set](const auto& other) {
      return other != set && std::equal(set.begin(), set.end(), other.begin(),
                                        [](uint8_t a, uint8_t b) { return a <= b; });
    });
    if (!contained) fullest.push_back(set);
  }
  return fullest;
}

int64_t GpuMilliBound(const BoundInput& input) {
  BoundLp lp;
  std::vector<size_t> pod_rows;
  for (const BoundPodKind& pod : input.pods) pod_rows.push_back(lp.AddRow(pod.pods));
  int64_t capacity = 0;
  for (size_t n = 0; n < input.nodes.size(); ++n) {
    capacity += input.nodes[n].nodes * input.nodes[n].gpus * kWhole;
    NodeKindRows(input, n, &lp).Add(pod_rows);
  }
  return std::min(capacity, lp.UpperBound());
}

std::string PercentRoundedUp(int64_t milli, int64_t capacity_milli) {
  if (capacity_milli <= 0) return "-";
  // The digits in front of the point decide how many follow.
  const absl::int128 percent = absl::int128(milli) * 100;
  int decimals = 3;
  for (int64_t bound = 10; decimals > 0 && percent >= absl::int128(bound) * capacity_milli;
       bound *= 10) {
    --decimals;
  }
  int64_t scale = 1;
  for (int i = 0; i < decimals; ++i) scale *= 10;
  const absl::int128 scaled = percent * scale;
  const auto up = static_cast<int64_t>((scaled + capacity_milli - 1) / capacity_milli);
  std::string text = absl::StrCat(up / scale);
  std::string digits = absl::StrCat(scale + up % scale).substr(1);
  while (!digits.empty() && digits.back() == '0') digits.pop_back();
  return digits.empty() ? text : absl::StrCat(text, ".", digits);
}

}  // namespace drasim::bench
