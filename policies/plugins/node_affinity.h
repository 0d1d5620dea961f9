// NodeAffinity (Filter): the node has every label of spec.nodeSelector with the wanted value, and
// one of the terms of the required node affinity chooses it. Preferences are not simulated
// (docs/fidelity.md).
#ifndef DRASIM_POLICIES_PLUGINS_NODE_AFFINITY_H_
#define DRASIM_POLICIES_PLUGINS_NODE_AFFINITY_H_

#include "policies/framework/plugin.h"

namespace drasim {

class NodeAffinity : public Plugin {
 public:
  absl::string_view name() const override { return "NodeAffinity"; }
  uint32_t points() const override { return kFilter; }
  std::vector<Reason> reasons() const override;
  // Independent of other pods.
  bool IsResolvable(const PodContext&, const ClusterState&, NodeId, ReasonIndex) const override {
    return false;
  }
  uint32_t requeue_events() const override { return kNodeAdded | kNodeSchedulable; }
  void Filter(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
              absl::Span<ReasonIndex> verdicts) const override;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_NODE_AFFINITY_H_
