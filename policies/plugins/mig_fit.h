// MigFit (Filter): the node has room for the pod's MIG instances (direct front end).
#ifndef DRASIM_POLICIES_PLUGINS_MIG_FIT_H_
#define DRASIM_POLICIES_PLUGINS_MIG_FIT_H_

#include <vector>

#include "policies/framework/plugin.h"

namespace drasim {

class MigFit : public FilterPlugin {
 public:
  absl::string_view name() const override { return "MigFit"; }
  std::vector<Reason> reasons() const override;
  // O(GPUs) for one instance. For several, a search, at worst exponential in their number.
  void Filter(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
              absl::Span<ReasonIndex> verdicts) const override;
  bool IsResolvable(const PodContext& pod, const ClusterState& cluster, NodeId node,
                    ReasonIndex local) const override;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_MIG_FIT_H_
