// Planner of MIG layouts: layouts of nodes that serve a demand.
#ifndef DRASIM_SIM_CONTROL_MIG_PLANNER_H_
#define DRASIM_SIM_CONTROL_MIG_PLANNER_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "model/mig_layout.h"
#include "model/mig_table.h"

namespace drasim {

// Demand for one product.
struct MigDemand {
  std::vector<int64_t> instances;  // by profile of the table
  int64_t whole_gpus = 0;
};

// A layout for every GPU of a node: MIG off, or these instances on each GPU.
struct NodeLayout {
  bool mig_enabled = false;
  MigMultiset counts;  // by profile; empty when MIG is off

  bool operator==(const NodeLayout&) const = default;
};

// One layout per node with `gpus[n]` GPUs each (0: none, MIG off). A demand for more units than the
// nodes have is scaled down to them. Nodes with most GPUs are left whole first, until the demand
// for whole GPUs is met (pods of several GPUs need them). Each further node gets the maximal
// multiset of the table that serves the most units of the remaining demand; ties: the first in the
// order of MaximalMultisets. Nodes beyond the demand are left whole.
// Deterministic. O(nodes x multisets x profiles).
std::vector<NodeLayout> PlanLayouts(const MigTable& table, absl::Span<const int32_t> gpus,
                                    const MigDemand& demand);

// The layout for one node with `gpus` GPUs that serves the most units of `pending`, and the number
// of these units. Whole GPUs count as units, too. For re-partitioning.
struct BestLayout {
  NodeLayout layout;
  int64_t units_served = 0;
};
BestLayout BestLayoutFor(const MigTable& table, int32_t gpus, const MigDemand& pending);

}  // namespace drasim

#endif  // DRASIM_SIM_CONTROL_MIG_PLANNER_H_
