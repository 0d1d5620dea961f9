// NodeResourcesFit (Filter): the node has enough CPU, memory, pod slots and extended resources, as
// kube-scheduler's plugin of that name checks.
#ifndef DRASIM_POLICIES_PLUGINS_NODE_RESOURCES_FIT_H_
#define DRASIM_POLICIES_PLUGINS_NODE_RESOURCES_FIT_H_

#include <string>
#include <vector>

#include "policies/framework/plugin.h"

namespace drasim {

class NodeResourcesFit : public Plugin {
 public:
  // `extended_resources`: names that nodes advertise, in the cluster's column order.
  explicit NodeResourcesFit(const std::vector<std::string>& extended_resources);
  absl::string_view name() const override { return "NodeResourcesFit"; }
  uint32_t points() const override { return kFilter; }
  std::vector<Reason> reasons() const override;
  bool IsResolvable(const PodContext& pod, const ClusterState& cluster, NodeId node,
                    ReasonIndex local) const override;
  bool MayHelp(ClusterEvent event, NodeId node, const PodShape& shape,
               const ClusterState& cluster) const override;
  void Filter(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
              absl::Span<ReasonIndex> verdicts) const override;

 private:
  std::vector<std::string> extended_reasons_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_NODE_RESOURCES_FIT_H_
