// DecisionRules: whether a scheduler may put a pod on a node, by the rules that bind every
// scheduler of a scenario's cluster.
//
// The rules are those of plugins: PreEnqueue, PreFilter and Filter of the pod's kube-scheduler
// profile, or, under another policy, filters that judge a node by itself.
#ifndef DRASIM_SIM_CORE_DECISION_RULES_H_
#define DRASIM_SIM_CORE_DECISION_RULES_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/cluster_state.h"
#include "model/ids.h"
#include "policies/framework/plugin.h"
#include "sim/core/kube_cycle.h"
#include "sim/core/profiles.h"

namespace drasim {

class DecisionRules {
 public:
  // Plugins whose Filter judges a node by itself; others of them are ignored. `cluster` must
  // outlive the rules.
  DecisionRules(std::vector<std::unique_ptr<Plugin>> filters, const ClusterState* cluster);
  // The profile of each pod, the first one for pods of other schedulers. What its plugins remember
  // of pods that are being bound counts, too. REQUIRES: profiles without restrictions. All must
  // outlive the rules.
  DecisionRules(KubeCycle* cycle, const Profiles& profiles, const ClusterState* cluster);

  // Nothing, or the rule that keeps the pending pod from the node in its present state, in
  // upstream's words: "node 'a': node(s) had untolerated taint(s)"; without the node if the rule
  // keeps the pod from all nodes. O(filters).
  std::optional<std::string> WhyNot(const PodContext& pod, NodeId node);

 private:
  std::optional<std::string> WhyNotByKube(const PodContext& pod, NodeId node);
  std::string AtNode(NodeId node, const std::vector<std::string>& reasons) const;

  std::vector<std::unique_ptr<Plugin>> plugins_;
  std::vector<FilterPlugin*> filters_;
  KubeCycle* cycle_ = nullptr;  // null: `filters_` decide
  std::optional<Profiles> profiles_;
  const ClusterState* cluster_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_DECISION_RULES_H_
