// NodeResourcesFit (Filter): CPU, memory and pod slots, as kube-scheduler's plugin of that name.
#ifndef DRASIM_POLICIES_PLUGINS_NODE_RESOURCES_FIT_H_
#define DRASIM_POLICIES_PLUGINS_NODE_RESOURCES_FIT_H_

#include "policies/framework/plugin.h"

namespace drasim {

class NodeResourcesFit : public Plugin {
 public:
  absl::string_view name() const override { return "NodeResourcesFit"; }
  uint32_t points() const override { return kFilter; }
  std::vector<absl::string_view> reasons() const override;
  void Filter(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
              absl::Span<ReasonIndex> verdicts) const override;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_NODE_RESOURCES_FIT_H_
