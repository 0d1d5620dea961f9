#include "sim/control/topology_manager.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "absl/types/span.h"
#include "model/check.h"

namespace drasim {
namespace {

constexpr size_t kMaxMasks = size_t{1} << kMaxNumaNodes;

uint32_t AllNodes(int numa_nodes) {
  DRASIM_CHECK_GE(numa_nodes, 1);
  DRASIM_CHECK_LE(numa_nodes, kMaxNumaNodes);
  return (uint32_t{1} << static_cast<uint32_t>(numa_nodes)) - 1;
}

// The hints of a resource as they enter the merge: silence stands for "any, and gladly", nothing
// possible for "any, but not gladly".
std::vector<TopologyHint> Spelled(const ResourceHints& resource) {
  if (resource.no_preference) return {TopologyHint{.any = true, .preferred = true}};
  if (resource.hints.empty()) return {TopologyHint{.any = true, .preferred = false}};
  return resource.hints;
}

// single-numa-node looks at nothing else.
bool IsPreferredOfOneNode(const TopologyHint& hint) {
  return hint.preferred && (hint.any || std::popcount(hint.numa_nodes) == 1);
}

// Every distinct outcome of merging one hint per resource, for the resources seen so far. There are
// at most four per set of NUMA nodes, however many ways lead to them, so the cross product never
// has to be walked. A merged hint is preferred if all its parts are, and those that name NUMA nodes
// name the same ones; for that, the common set is what has been merged until now.
class Outcomes {
 public:
  explicit Outcomes(uint32_t all_nodes) : all_(all_nodes) {
    reached_[IndexOf(all_, /*preferred=*/true, /*named=*/false)] = true;
  }

  void Merge(absl::Span<const TopologyHint> hints) {
    std::array<bool, 4 * kMaxMasks> next = {};
    for (uint32_t mask = 1; mask <= all_; ++mask) {
      for (const bool preferred : {false, true}) {
        for (const bool named : {false, true}) {
          if (!reached_[IndexOf(mask, preferred, named)]) continue;
          for (const TopologyHint& hint : hints) {
            const uint32_t nodes = hint.any ? all_ : hint.numa_nodes & all_;
            const bool agrees = hint.any || !named || nodes == mask;
            next[IndexOf(mask & nodes, preferred && hint.preferred && agrees, named || !hint.any)] =
                true;
          }
        }
      }
    }
    reached_ = next;
  }

  bool Reached(uint32_t mask, bool preferred) const {
    return reached_[IndexOf(mask, preferred, false)] || reached_[IndexOf(mask, preferred, true)];
  }

 private:
  static size_t IndexOf(uint32_t mask, bool preferred, bool named) {
    return size_t{mask} * 4 + (preferred ? 2U : 0U) + (named ? 1U : 0U);
  }

  uint32_t all_;
  std::array<bool, 4 * kMaxMasks> reached_ = {};
};

// The best number of NUMA nodes for a merged hint that is not preferred: that of the narrowest hint
// of the resource that needs most. 0 when no hint names NUMA nodes.
int NodesOfNeediest(absl::Span<const std::vector<TopologyHint>> resources) {
  int neediest = 0;
  for (const std::vector<TopologyHint>& hints : resources) {
    int narrowest = kMaxNumaNodes + 1;
    for (const TopologyHint& hint : hints) {
      if (!hint.any) narrowest = std::min(narrowest, std::popcount(hint.numa_nodes));
    }
    if (narrowest <= kMaxNumaNodes) neediest = std::max(neediest, narrowest);
  }
  return neediest;
}

// Sets of NUMA nodes are numbered upwards, so of two that are equally good the first has the lower
// nodes.
TopologyHint BestOf(const Outcomes& outcomes, uint32_t all_nodes, int neediest) {
  // Preferred: the narrowest.
  TopologyHint best;
  for (uint32_t mask = 1; mask <= all_nodes; ++mask) {
    if (!outcomes.Reached(mask, /*preferred=*/true)) continue;
    if (!best.preferred || std::popcount(mask) < std::popcount(best.numa_nodes)) {
      best = TopologyHint{.numa_nodes = mask, .preferred = true};
    }
  }
  if (best.preferred) return best;
  // Not preferred: at most as wide as the neediest resource if possible, and then as wide as
  // possible; failing that, the narrowest.
  const auto rank = [neediest](uint32_t mask) {
    const int width = std::popcount(mask);
    return width <= neediest ? neediest - width : width;
  };
  const auto fits = [neediest](uint32_t mask) { return std::popcount(mask) <= neediest; };
  for (uint32_t mask = 1; mask <= all_nodes; ++mask) {
    if (!outcomes.Reached(mask, /*preferred=*/false)) continue;
    const bool better = best.numa_nodes == 0 || (fits(mask) && !fits(best.numa_nodes)) ||
                        (fits(mask) == fits(best.numa_nodes) && rank(mask) < rank(best.numa_nodes));
    if (better) best.numa_nodes = mask;
  }
  if (best.numa_nodes == 0) best.numa_nodes = all_nodes;  // no hints go together
  return best;
}

// Devices (or cores) per NUMA node; those without one do not count.
using PerNode = std::array<int64_t, kMaxNumaNodes>;

PerNode CountByNode(absl::Span<const int32_t> numa_of, int numa_nodes) {
  PerNode count = {};
  for (const int32_t node : numa_of) {
    if (node < 0) continue;
    DRASIM_CHECK_LT(node, numa_nodes);
    ++count[static_cast<size_t>(node)];
  }
  return count;
}

int64_t Within(const PerNode& count, uint32_t mask) {
  int64_t sum = 0;
  for (; mask != 0; mask &= mask - 1) sum += count[static_cast<size_t>(std::countr_zero(mask))];
  return sum;
}

ResourceHints HintsOf(const PerNode& all, const PerNode& available, const PerNode& reusable,
                      int64_t request, int numa_nodes) {
  const uint32_t all_nodes = AllNodes(numa_nodes);
  int narrowest = numa_nodes;
  ResourceHints result;
  for (uint32_t mask = 1; mask <= all_nodes; ++mask) {
    if (Within(all, mask) >= request) narrowest = std::min(narrowest, std::popcount(mask));
    if (Within(reusable, ~mask & all_nodes) > 0) continue;
    if (Within(available, mask) + Within(reusable, mask) < request) continue;
    result.hints.push_back(TopologyHint{.numa_nodes = mask});
  }
  for (TopologyHint& hint : result.hints) {
    hint.preferred = std::popcount(hint.numa_nodes) == narrowest;
  }
  return result;
}

}  // namespace

TopologyVerdict MergeHints(TopologyPolicy policy, int numa_nodes,
                           absl::Span<const ResourceHints> resources) {
  const uint32_t all_nodes = AllNodes(numa_nodes);
  TopologyVerdict verdict;
  if (policy == TopologyPolicy::kNone) {
    verdict.best.any = true;
    return verdict;
  }
  std::vector<std::vector<TopologyHint>> spelled;
  spelled.reserve(resources.size());
  Outcomes outcomes(all_nodes);
  for (const ResourceHints& resource : resources) {
    spelled.push_back(Spelled(resource));
    if (policy == TopologyPolicy::kSingleNumaNode) {
      std::vector<TopologyHint>& hints = spelled.back();
      hints.erase(std::remove_if(hints.begin(), hints.end(),
                                 [](const TopologyHint& h) { return !IsPreferredOfOneNode(h); }),
                  hints.end());
    }
    outcomes.Merge(spelled.back());
  }
  verdict.best = BestOf(outcomes, all_nodes, NodesOfNeediest(spelled));
  verdict.admit = policy == TopologyPolicy::kBestEffort || verdict.best.preferred;
  if (policy == TopologyPolicy::kSingleNumaNode && verdict.best.numa_nodes == all_nodes) {
    verdict.best.numa_nodes = 0;
    verdict.best.any = true;
  }
  return verdict;
}

ResourceHints DeviceHints(absl::Span<const int32_t> numa_of_all,
                          absl::Span<const int32_t> numa_of_available,
                          absl::Span<const int32_t> numa_of_reusable, int64_t request,
                          int numa_nodes) {
  const bool has_node =
      std::any_of(numa_of_all.begin(), numa_of_all.end(), [](int32_t node) { return node >= 0; });
  if (!has_node) {
    ResourceHints indifferent;
    indifferent.no_preference = true;
    return indifferent;
  }
  return HintsOf(CountByNode(numa_of_all, numa_nodes), CountByNode(numa_of_available, numa_nodes),
                 CountByNode(numa_of_reusable, numa_nodes), request, numa_nodes);
}

ResourceHints CpuHints(absl::Span<const int64_t> cores, absl::Span<const int64_t> free_cores,
                       int64_t request) {
  DRASIM_CHECK_EQ(cores.size(), free_cores.size());
  DRASIM_CHECK_LE(cores.size(), size_t{kMaxNumaNodes});
  if (request <= 0) {
    ResourceHints indifferent;
    indifferent.no_preference = true;
    return indifferent;
  }
  PerNode all = {};
  PerNode available = {};
  std::copy(cores.begin(), cores.end(), all.begin());
  std::copy(free_cores.begin(), free_cores.end(), available.begin());
  return HintsOf(all, available, PerNode{}, request, static_cast<int>(cores.size()));
}

}  // namespace drasim
