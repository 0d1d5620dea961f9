// PodTopology: where a pod may run relative to other pods: spread constraints, affinity and
// anti-affinity (core/v1 TopologySpreadConstraint, PodAffinityTerm).
#ifndef DRASIM_MODEL_POD_TOPOLOGY_H_
#define DRASIM_MODEL_POD_TOPOLOGY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "model/label_selector.h"

namespace drasim {

struct SpreadConstraint {
  int32_t max_skew = 1;
  std::string topology_key;
  bool hard = true;  // DoNotSchedule
  LabelSelector selector;
  int32_t min_domains = 1;
  bool honor_affinity = true;  // nodeAffinityPolicy
  bool honor_taints = false;   // nodeTaintsPolicy
  bool operator==(const SpreadConstraint&) const = default;
};

// matchLabelKeys and mismatchLabelKeys are merged into the selector.
struct AffinityTerm {
  std::string topology_key;
  LabelSelector selector;
  std::vector<std::string> namespaces;  // sorted; the owner's where the term names none
  LabelSelector namespace_selector;     // absent: only `namespaces` count
  bool operator==(const AffinityTerm&) const = default;
};

struct WeightedAffinityTerm {
  int32_t weight = 0;
  AffinityTerm term;
  bool operator==(const WeightedAffinityTerm&) const = default;
};

struct PodTopology {
  std::vector<SpreadConstraint> spread;     // in the pod's order; matchLabelKeys merged
  std::vector<AffinityTerm> affinity;       // required
  std::vector<AffinityTerm> anti_affinity;  // required
  std::vector<WeightedAffinityTerm> preferred_affinity;
  std::vector<WeightedAffinityTerm> preferred_anti_affinity;

  bool has_affinity() const {  // of any of the four kinds
    return !affinity.empty() || !anti_affinity.empty() || !preferred_affinity.empty() ||
           !preferred_anti_affinity.empty();
  }
  bool operator==(const PodTopology&) const = default;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_POD_TOPOLOGY_H_
