// GroupLimit: at most so many pods of one application on a node.
//
// Traces state such limits per application (Alibaba's max_instance_per_node); in Kubernetes they
// would be a topology spread or an anti-affinity with a count.
#ifndef DRASIM_POLICIES_PLUGINS_GROUP_LIMIT_H_
#define DRASIM_POLICIES_PLUGINS_GROUP_LIMIT_H_

#include <vector>

#include "policies/framework/plugin.h"

namespace drasim {

class GroupLimit : public Plugin {
 public:
  absl::string_view name() const override { return "GroupLimit"; }
  uint32_t points() const override { return kFilter; }
  std::vector<Reason> reasons() const override;
  void Filter(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
              absl::Span<ReasonIndex> verdicts) const override;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_GROUP_LIMIT_H_
