// GroupLimit (Filter): a maximum number of pods of one application per node.
//
// Traces state such limits per application (Alibaba's max_instance_per_node). Kubernetes would
// express them as a topology spread, or as an anti-affinity with a count.
#ifndef DRASIM_POLICIES_PLUGINS_GROUP_LIMIT_H_
#define DRASIM_POLICIES_PLUGINS_GROUP_LIMIT_H_

#include <vector>

#include "policies/framework/plugin.h"

namespace drasim {

class GroupLimit : public FilterPlugin {
 public:
  absl::string_view name() const override { return "GroupLimit"; }
  std::vector<Reason> reasons() const override;
  void Filter(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
              absl::Span<ReasonIndex> verdicts) const override;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_GROUP_LIMIT_H_
