#include "sim/control/preferred_allocation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "model/check.h"
#include "model/device_set.h"
#include "model/gpu_topology.h"

namespace drasim {
namespace {

// A set of the available GPUs, by their positions in the list. Padding is in no set; one that is
// smaller than asked for has all of it.
using Positions = DeviceSet;

class BestEffort {
 public:
  BestEffort(const GpuTopology& topology, absl::Span<const size_t> available, Positions required,
             size_t size)
      : topology_(topology), available_(available), required_(required), size_(size) {}

  // The exact rule: walks all ways to cut.
  Positions Exact() {
    padding_ = (size_ - available_.size() % size_) % size_;
    Cut(All(), padding_ > 0);
    return best_cut_.empty() ? Positions() : BestOf(best_cut_);
  }

  // The greedy rule: a set is grown from the required GPUs, or else from every available one in
  // turn; each time by the GPU that is best connected to those in the set, the first on ties. The
  // best grown set is taken, the first on ties. The GPUs that are left do not matter. O(available^2
  // x size^2).
  Positions Greedy() const {
    if (!required_.empty()) return Grown(required_);
    std::vector<Positions> sets;
    sets.reserve(available_.size());
    for (size_t seed = 0; seed < available_.size(); ++seed)
      sets.push_back(Grown(Positions::Of(seed)));
    return BestOf(sets);
  }

 private:
  Positions All() const { return Positions::FirstN(available_.size()); }

  int64_t ScoreTo(size_t position, Positions set) const {
    int64_t sum = 0;
    for (const size_t other : set) {
      sum += topology_.pair_score(available_[position], available_[other]);
    }
    return sum;
  }

  int64_t Score(Positions set) const {
    int64_t sum = 0;
    while (!set.empty()) {
      const size_t position = set.First();
      set.RemoveFirst();
      sum += ScoreTo(position, set);
    }
    return sum;
  }

  size_t BestConnected(Positions from, Positions set) const {
    size_t best = 0;
    int64_t best_score = -1;
    for (const size_t position : from) {
      const int64_t score = ScoreTo(position, set);
      if (score > best_score) {
        best = position;
        best_score = score;
      }
    }
    return best;
  }

  Positions Grown(Positions set) const {
    while (static_cast<size_t>(set.size()) < size_) set.Add(BestConnected(All() - set, set));
    return set;
  }

  bool Qualifies(Positions set) const {
    return static_cast<size_t>(set.size()) == size_ && required_.IsSubsetOf(set);
  }

  // The best set that qualifies; one has to.
  Positions BestOf(absl::Span<const Positions> sets) const {
    Positions best;
    int64_t best_score = -1;
    for (const Positions set : sets) {
      const int64_t score = Qualifies(set) ? Score(set) : -1;
      if (score > best_score) {
        best = set;
        best_score = score;
      }
    }
    return best;
  }

  // Every set begins with the first GPU that is left, so that no cut comes twice.
  void Cut(Positions left, bool padding_left) {
    if (left.empty()) {
      Consider();
      return;
    }
    const Positions first = Positions::Of(left.First());
    Fill(left - first, first, left.First() + 1, padding_left);
  }

  // Ways to fill a set up with GPUs at or behind `next`, in lexicographic order. Padding counts as
  // standing behind all GPUs, and goes into a set as a whole.
  void Fill(Positions left, Positions set, size_t next, bool padding_left) {
    const size_t missing = size_ - static_cast<size_t>(set.size());
    if (missing == 0) {
      cut_.push_back(set);
      Cut(left, padding_left);
      cut_.pop_back();
      return;
    }
    for (size_t position = next; position < available_.size(); ++position) {
      if (!left.Contains(position)) continue;
      const Positions added = Positions::Of(position);
      Fill(left - added, set | added, position + 1, padding_left);
    }
    if (padding_left && missing == padding_) {
      cut_.push_back(set);
      Cut(left, /*padding_left=*/false);
      cut_.pop_back();
    }
  }

  void Consider() {
    int64_t total = 0;
    bool qualifies = false;
    for (const Positions set : cut_) {
      total += Score(set);
      qualifies = qualifies || Qualifies(set);
    }
    if (!qualifies || total <= best_total_) return;
    best_total_ = total;
    best_cut_ = cut_;
  }

  const GpuTopology& topology_;
  absl::Span<const size_t> available_;
  Positions required_;
  size_t size_;
  size_t padding_ = 0;
  std::vector<Positions> cut_;  // the one at hand
  int64_t best_total_ = -1;
  std::vector<Positions> best_cut_;
};

}  // namespace

std::vector<size_t> PreferBestEffort(const GpuTopology& topology,
                                     absl::Span<const size_t> available,
                                     absl::Span<const size_t> required, size_t size) {
  if (size == 0 || size > available.size() || required.size() > size) return {};
  DRASIM_CHECK_LT(available.back(), topology.size());
  Positions wanted;
  for (const size_t gpu : required) {
    const auto* at = std::lower_bound(available.begin(), available.end(), gpu);
    if (at == available.end() || *at != gpu) return {};
    wanted.Add(static_cast<size_t>(at - available.begin()));
  }
  BestEffort search(topology, available, wanted, size);
  const Positions best = available.size() <= kBestEffortExact ? search.Exact() : search.Greedy();
  std::vector<size_t> gpus;
  gpus.reserve(size);
  for (const size_t position : best) gpus.push_back(available[position]);
  return gpus;
}

std::vector<size_t> PreferReplicas(absl::Span<const ReplicaCandidate> candidates,
                                   absl::Span<const int64_t> allocated,
                                   absl::Span<const size_t> required, size_t size, bool packed) {
  if (size > candidates.size() || required.size() > size) return {};
  for (const ReplicaCandidate& candidate : candidates) {
    DRASIM_CHECK_LT(candidate.parent, allocated.size());
  }
  std::vector<int64_t> in_use(allocated.begin(), allocated.end());
  std::vector<int64_t> picked(allocated.size(), 0);
  std::vector<bool> taken(candidates.size(), false);
  std::vector<size_t> result;
  result.reserve(size);
  // Required ones are in use from the start; only those chosen here count as picked.
  for (const size_t candidate : required) {
    DRASIM_CHECK_LT(candidate, candidates.size());
    taken[candidate] = true;
    ++in_use[candidates[candidate].parent];
    result.push_back(candidate);
  }
  while (result.size() < size) {
    size_t best = candidates.size();
    for (size_t candidate = 0; candidate < candidates.size(); ++candidate) {
      if (taken[candidate]) continue;
      const size_t parent = candidates[candidate].parent;
      if (best == candidates.size()) {
        best = candidate;
        continue;
      }
      const size_t rival = candidates[best].parent;
      const bool better = in_use[parent] != in_use[rival]
                              ? (in_use[parent] > in_use[rival]) == packed
                              : picked[parent] < picked[rival];
      if (better) best = candidate;
    }
    const size_t parent = candidates[best].parent;
    taken[best] = true;
    ++in_use[parent];
    ++picked[parent];
    result.push_back(best);
  }
  return result;
}

}  // namespace drasim
