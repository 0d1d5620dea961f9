// DecidedPlacement: carries out one placement of a DecisionList on the cluster, or says why it is
// impossible.
//
// Checked are that the node exists, the rules of DecisionRules, and that there is room for the
// devices that are given, or for some.
#ifndef DRASIM_SIM_CORE_DECIDED_PLACEMENT_H_
#define DRASIM_SIM_CORE_DECIDED_PLACEMENT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/cluster_state.h"
#include "model/device_grant.h"
#include "model/ids.h"
#include "model/time.h"
#include "policies/framework/device_allocator.h"
#include "policies/framework/plugin.h"
#include "sim/core/decision_list.h"
#include "sim/core/decision_rules.h"

namespace drasim {

class DecidedPlacement {
 public:
  // Nodes are those that `cluster` has now. `cluster` must outlive it.
  DecidedPlacement(DecisionRules rules, ClusterState* cluster);

  // Assumes the pending pod where the decision says, and returns nothing; or changes nothing and
  // returns why that is impossible. `chooser` picks what the decision leaves open. O(rules +
  // devices of the node).
  std::optional<std::string> Assume(PodId pod, SimTime now, const PodDecision& decision,
                                    DeviceAllocator* chooser);

 private:
  absl::StatusOr<DeviceSet> ChooseGpus(const PodContext& pod, NodeId node, DeviceSet wanted,
                                       DeviceAllocator* chooser) const;
  absl::Status ChooseInstances(const PodContext& pod, NodeId node, const PodDecision& decision,
                               DeviceAllocator* chooser, DeviceGrants* grants) const;
  absl::StatusOr<DeviceGrants> GrantsOf(const PodContext& pod, NodeId node,
                                        const std::vector<DecidedInstance>& instances) const;

  DecisionRules rules_;
  ClusterState* cluster_;
  absl::flat_hash_map<std::string, NodeId> nodes_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_DECIDED_PLACEMENT_H_
