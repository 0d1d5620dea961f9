#include "policies/devices/mig_rules.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <initializer_list>
#include <limits>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "model/check.h"
#include "model/mig_layout.h"
#include "model/mig_table.h"
#include "policies/devices/mig_rule_orders.h"

namespace drasim {
namespace {

// The indices of GPUs as their texts sort: 0, 1, 10, 11, ..., 19, 2, 20, ...
constexpr std::array<uint8_t, kMaxDevicesPerNode> IndicesByText() {
  static_assert(kMaxDevicesPerNode <= 100, "an index has at most two digits");
  std::array<uint8_t, kMaxDevicesPerNode> order{};
  size_t next = 0;
  for (int first = 0; first < 10; ++first) {
    order[next++] = static_cast<uint8_t>(first);
    for (int second = 0; second < 10 && first > 0; ++second) {
      const int index = 10 * first + second;
      if (index < kMaxDevicesPerNode) order[next++] = static_cast<uint8_t>(index);
    }
  }
  return order;
}
constexpr std::array<uint8_t, kMaxDevicesPerNode> kTextOrder = IndicesByText();
constexpr DeviceSet kOneDigit = DeviceSet::FirstN(10);  // texts and numbers sort alike

bool IsMfi(MigRule rule) { return rule == MigRule::kMfiAny || rule == MigRule::kMfiPart; }

// Of the others, the first GPU on which anything goes is the choice.
bool ComparesGpus(MigRule rule) {
  return rule == MigRule::kBestFit || rule == MigRule::kWorstFit || rule == MigRule::kParvaGpu ||
         IsMfi(rule);
}

// Calls visit(gpu) for the usable GPUs, in the rule's order, until it returns true.
template <typename Visit>
void VisitGpus(MigRule rule, DeviceSet usable, int32_t after, const Visit& visit) {
  if (rule == MigRule::kDraDriver && !usable.IsSubsetOf(kOneDigit)) {
    for (const uint8_t gpu : kTextOrder) {
      if (usable.Contains(gpu) && visit(size_t{gpu})) return;
    }
    return;
  }
  const DeviceSet passed = rule == MigRule::kRoundRobin
                               ? usable & DeviceSet::FirstN(static_cast<size_t>(after) + 1)
                               : DeviceSet();
  for (const DeviceSet part : {usable - passed, passed}) {
    for (const size_t gpu : part) {
      if (visit(gpu)) return;
    }
  }
}

DeviceGrant GrantOf(const MigTable& table, size_t gpu, size_t placement) {
  const MigProfile& profile = table.profiles()[table.placements()[placement].profile];
  DeviceGrant grant;
  grant.device = static_cast<uint8_t>(gpu);
  grant.placement = static_cast<uint8_t>(placement);
  grant.milli = MilliOfUnits(profile.size, table.product().units);
  return grant;
}

// Whether the instances that a pod still wants fit on some GPUs, wherever they must go.
//
// GPU by GPU, with failures remembered: O(GPUs x sub-multisets of what is wanted x layouts of one
// GPU). Trying all combinations would take exponential time where two profiles compete.
class Fitting {
 public:
  // Whether the rule would ever take this legal placement in that state.
  using May = absl::FunctionRef<bool(MigState, size_t)>;

  // All of `profiles` is wanted.
  Fitting(const MigTable& table, absl::Span<const uint8_t> profiles, May may)
      : table_(table), may_(may), wanted_(table.profiles().size(), 0), stride_(wanted_.size(), 0) {
    for (const uint8_t profile : profiles) ++wanted_[profile];
    for (size_t p = 0; p < wanted_.size(); ++p) {
      if (wanted_[p] == 0) continue;
      stride_[p] = multisets_;
      left_ += wanted_[p] * multisets_;
      multisets_ *= wanted_[p] + 1;
    }
  }

  // One instance less is wanted.
  void Placed(size_t profile) { left_ -= stride_[profile]; }

  bool Fits(absl::Span<const MigState> gpus) {
    gpus_ = gpus;
    if (!Enough()) return false;
    failed_.assign(gpus.size() * multisets_, false);
    return FitsFrom(0, left_);
  }

 private:
  // How many of the profile are in a multiset.
  size_t CountIn(size_t multiset, size_t profile) const {
    return stride_[profile] == 0 ? 0 : multiset / stride_[profile] % (wanted_[profile] + 1);
  }

  // A necessary condition, which refuses most full nodes at once.
  bool Enough() const {
    int64_t units = 0;
    for (const MigState state : gpus_) units += table_.usable_units(state);
    for (size_t p = 0; p < wanted_.size(); ++p) {
      auto count = static_cast<int64_t>(CountIn(left_, p));
      if (count == 0) continue;
      units -= count * table_.profiles()[p].size;
      for (const MigState state : gpus_) count -= table_.more(state, p);
      if (count > 0) return false;
    }
    return units >= 0;
  }

  // Whether the multiset fits on the GPUs from that one on.
  bool FitsFrom(size_t gpu, size_t multiset) {
    if (multiset == 0) return true;
    if (gpu == gpus_.size() || failed_[gpu * multisets_ + multiset]) return false;
    if (Extend(gpu, gpus_[gpu], kMaxMigPlacements, multiset)) return true;
    failed_[gpu * multisets_ + multiset] = true;
    return false;
  }

  // The same once that GPU is in `state`. Only placements below `end` are added, so that each set
  // of them comes up once; the large profiles, listed last, come first.
  bool Extend(size_t gpu, MigState state, size_t end, size_t multiset) {
    uint64_t rest = table_.legal(state);
    if (end < kMaxMigPlacements) rest &= PlacementBit(end) - 1;
    while (rest != 0) {
      const size_t placement = static_cast<size_t>(std::bit_width(rest)) - 1;
      rest ^= PlacementBit(placement);
      const size_t profile = table_.placements()[placement].profile;
      if (CountIn(multiset, profile) == 0 || !may_(state, placement)) continue;
      const MigState next = table_.Place(state, placement);
      if (Extend(gpu, next, placement, multiset - stride_[profile])) return true;
    }
    return FitsFrom(gpu + 1, multiset);
  }

  const MigTable& table_;
  May may_;
  std::vector<size_t> wanted_;  // by profile, at first
  // A multiset of what is wanted is a number: the sum over its instances of their profile's stride.
  std::vector<size_t> stride_;
  size_t multisets_ = 1;
  size_t left_ = 0;  // still wanted
  absl::Span<const MigState> gpus_;
  std::vector<bool> failed_;  // GPU, multiset
};

// The layout that mig-parted makes of an empty GPU for these members of a pod's wish.
MigState LayOut(const MigTable& table, absl::Span<const uint8_t> profiles,
                absl::Span<const size_t> members) {
  MigMultiset counts(table.profiles().size(), 0);
  for (const size_t i : members) ++counts[profiles[i]];
  return ApplyByPermutations(table, counts).state;
}

// mig-parted: everything on the first empty GPU; if that is too much for one, the largest first,
// each on the first empty GPU that can be laid out with it.
bool PartEmptyGpus(const MigTable& table, absl::Span<const MigState> gpus, DeviceSet usable,
                   absl::Span<const uint8_t> profiles, absl::Span<DeviceGrant> found) {
  std::vector<size_t> turns(profiles.size());
  for (size_t i = 0; i < turns.size(); ++i) turns[i] = i;
  std::vector<size_t> empty;
  for (size_t gpu = 0; gpu < gpus.size(); ++gpu) {
    if (usable.Contains(gpu) && gpus[gpu] == 0) empty.push_back(gpu);
  }
  if (empty.empty()) return false;
  std::vector<std::vector<size_t>> members(empty.size());
  if (LayOut(table, profiles, turns) != kNoMigState) {
    members[0] = turns;
  } else {
    std::stable_sort(turns.begin(), turns.end(), [&table, profiles](size_t a, size_t b) {
      return table.profiles()[profiles[a]].size > table.profiles()[profiles[b]].size;
    });
    for (const size_t i : turns) {
      bool placed = false;
      for (size_t e = 0; e < empty.size() && !placed; ++e) {
        members[e].push_back(i);
        placed = LayOut(table, profiles, members[e]) != kNoMigState;
        if (!placed) members[e].pop_back();
      }
      if (!placed) return false;
    }
  }
  for (size_t e = 0; e < empty.size(); ++e) {
    uint64_t set = table.set(LayOut(table, profiles, members[e]));
    for (const size_t i : members[e]) {
      const auto placement =
          static_cast<size_t>(std::countr_zero(set & table.placements_of(profiles[i])));
      set ^= PlacementBit(placement);
      found[i] = GrantOf(table, empty[e], placement);
    }
  }
  return true;
}

// What one pod wants of a node.
struct Wish {
  absl::Span<const uint8_t> profiles;
  DeviceSet usable;
  int32_t after;
};

// Instances with the fewest possible placements first; those of one profile stay together.
std::vector<size_t> HardestFirst(const MigTable& table, absl::Span<const MigState> states,
                                 absl::Span<const uint8_t> profiles) {
  std::vector<int> possible(table.profiles().size(), 0);
  for (const MigState state : states) {
    for (size_t p = 0; p < possible.size(); ++p) {
      possible[p] += std::popcount(table.legal(state) & table.placements_of(p));
    }
  }
  std::vector<size_t> turns(profiles.size());
  for (size_t i = 0; i < turns.size(); ++i) turns[i] = i;
  std::sort(turns.begin(), turns.end(), [&possible, profiles](size_t a, size_t b) {
    const size_t of_a = profiles[a];
    const size_t of_b = profiles[b];
    if (possible[of_a] != possible[of_b]) return possible[of_a] < possible[of_b];
    return of_a != of_b ? of_a < of_b : a < b;
  });
  return turns;
}

// The first combination that backtracking finds: each instance takes the first placement beside
// which all the others still fit, so that there is never anything to take back. `states`: of the
// usable GPUs alone. Fills `found`, by instance, and returns false when there is no combination.
bool Combine(const MigTable& table, MigRule rule, absl::Span<const std::vector<uint8_t>> orders,
             Fitting::May may, const Wish& wish, absl::Span<MigState> states,
             absl::Span<DeviceGrant> found) {
  Fitting rest(table, wish.profiles, may);
  if (!rest.Fits(states)) return false;
  for (const size_t i : HardestFirst(table, states, wish.profiles)) {
    const size_t profile = wish.profiles[i];
    rest.Placed(profile);
    bool placed = false;
    VisitGpus(rule, wish.usable, wish.after, [&](size_t gpu) {
      MigState& state = states[static_cast<size_t>((wish.usable & DeviceSet::FirstN(gpu)).size())];
      const MigState before = state;
      for (const uint8_t placement : orders[profile]) {
        if ((table.legal(before) & PlacementBit(placement)) == 0 || !may(before, placement))
          continue;
        state = table.Place(before, placement);
        placed = rest.Fits(states);
        if (placed) {
          found[i] = GrantOf(table, gpu, placement);
          return true;
        }
      }
      state = before;
      return false;
    });
    DRASIM_CHECK(placed);
  }
  return true;
}

}  // namespace

MigRuleTable::MigRuleTable(const MigTable* table, MigRule rule, absl::Span<const int64_t> weights)
    : table_(table), rule_(rule), profiles_(table->profiles().size()) {
  DRASIM_CHECK(weights.empty() || IsMfi(rule));
  for (size_t p = 0; p < profiles_; ++p) order_.push_back(RuleOrder(*table, rule, p));
  FillChoices(weights);
}

bool MigRuleTable::Allowed(MigState state, size_t placement) const {
  if (rule_ == MigRule::kMigParted) return state == 0;
  if (rule_ == MigRule::kNos)
    return NosAllows(*table_, table_->set(state) | PlacementBit(placement));
  return true;
}

void MigRuleTable::FillChoices(absl::Span<const int64_t> weights) {
  std::vector<int64_t> score;  // by state
  if (IsMfi(rule_)) {
    const MfiReading reading = rule_ == MigRule::kMfiAny ? MfiReading::kAny : MfiReading::kPart;
    const MfiScore mfi(*table_, reading, weights);
    for (size_t s = 0; s < table_->states(); ++s) {
      score.push_back(mfi.value(static_cast<MigState>(s)));
    }
  }
  const auto cost_of = [this, &score](MigState state, MigState next) -> int64_t {
    switch (rule_) {
      case MigRule::kBestFit:
        return table_->free_units(state);
      case MigRule::kWorstFit:
        return -table_->free_units(state);
      case MigRule::kParvaGpu:
        return table_->free_compute(state);
      case MigRule::kMfiAny:
      case MigRule::kMfiPart:
        return score[next] - score[state];
      default:
        return 0;
    }
  };
  choices_.resize(table_->states() * profiles_);
  for (size_t s = 0; s < table_->states(); ++s) {
    const auto state = static_cast<MigState>(s);
    for (size_t p = 0; p < profiles_; ++p) {
      Choice& best = choices_[s * profiles_ + p];
      for (const uint8_t placement : order_[p]) {
        if ((table_->legal(state) & PlacementBit(placement)) == 0 || !Allowed(state, placement))
          continue;
        const int64_t cost = cost_of(state, table_->Place(state, placement));
        DRASIM_CHECK(cost > std::numeric_limits<int32_t>::min() && cost < kImpossible);
        if (cost >= best.cost) continue;
        best.cost = static_cast<int32_t>(cost);
        best.placement = placement;
      }
    }
  }
}

MigRuleTable::NodeChoice MigRuleTable::OnNode(absl::Span<const MigState> gpus, DeviceSet usable,
                                              size_t profile, int32_t after) const {
  DRASIM_CHECK_LE(gpus.size(), size_t{kMaxDevicesPerNode});
  NodeChoice best;
  const bool first_serves = !ComparesGpus(rule_);
  VisitGpus(rule_, usable & DeviceSet::FirstN(gpus.size()), after, [&](size_t gpu) {
    const Choice& choice = OnGpu(gpus[gpu], profile);
    if (choice.cost >= best.cost) return false;
    best.cost = choice.cost;
    best.gpu = static_cast<int32_t>(gpu);
    best.placement = choice.placement;
    return first_serves;
  });
  return best;
}

bool MigRuleTable::OnNodeAll(absl::Span<const MigState> gpus, DeviceSet usable,
                             absl::Span<const uint8_t> profiles, int32_t after,
                             DeviceGrants* grants) const {
  DRASIM_CHECK_LE(gpus.size(), size_t{kMaxDevicesPerNode});
  if (profiles.empty()) return true;
  usable &= DeviceSet::FirstN(gpus.size());
  DeviceGrants found(profiles.size());  // by instance
  if (rule_ == MigRule::kMigParted) {
    if (!PartEmptyGpus(*table_, gpus, usable, profiles, absl::MakeSpan(found))) return false;
    grants->insert(grants->end(), found.begin(), found.end());
    return true;
  }
  absl::InlinedVector<MigState, 8> states(gpus.begin(), gpus.end());
  absl::InlinedVector<size_t, 8> turns;
  for (size_t i = 0; i < profiles.size(); ++i) turns.push_back(i);
  if (rule_ == MigRule::kParvaGpu) {
    // It serves a queue per size, the largest first.
    std::stable_sort(turns.begin(), turns.end(), [this, profiles](size_t a, size_t b) {
      return table_->profiles()[profiles[a]].compute_slices >
             table_->profiles()[profiles[b]].compute_slices;
    });
  }
  size_t placed = 0;
  int32_t last = after;
  for (; placed < turns.size(); ++placed) {
    const size_t i = turns[placed];
    const NodeChoice choice = OnNode(states, usable, profiles[i], last);
    if (choice.gpu < 0) break;
    const auto gpu = static_cast<size_t>(choice.gpu);
    states[gpu] = table_->Place(states[gpu], choice.placement);
    found[i] = GrantOf(*table_, gpu, choice.placement);
    last = choice.gpu;
  }
  if (placed < turns.size()) {
    if (placed == 0) return false;
    states.clear();
    for (size_t gpu = 0; gpu < gpus.size(); ++gpu) {
      if (usable.Contains(gpu)) states.push_back(gpus[gpu]);
    }
    uint64_t named = 0;
    for (const uint8_t profile : profiles) {
      for (const uint8_t placement : order_[profile]) named |= PlacementBit(placement);
    }
    const auto may = [this, named](MigState state, size_t placement) {
      return (named & PlacementBit(placement)) != 0 && Allowed(state, placement);
    };
    const Wish wish = {profiles, usable, after};
    if (!Combine(*table_, rule_, order_, may, wish, absl::MakeSpan(states),
                 absl::MakeSpan(found))) {
      return false;
    }
  }
  grants->insert(grants->end(), found.begin(), found.end());
  return true;
}

int64_t MigRuleTable::NodeScore(absl::Span<const MigState> gpus) const {
  if (rule_ != MigRule::kInstaSlice || gpus.empty()) return 0;
  int64_t free = 0;
  for (const MigState state : gpus) free += table_->free_units(state);
  return 100 * free / (int64_t{table_->product().units} * static_cast<int64_t>(gpus.size()));
}

}  // namespace drasim
