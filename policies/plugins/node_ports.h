// NodePorts (PreFilter, Filter): the host ports of the pod are free on the node.
//
// Source: kubernetes/kubernetes pkg/scheduler/framework/plugins/nodeports, release 1.34. A pod may
// ask for one port twice.
#ifndef DRASIM_POLICIES_PLUGINS_NODE_PORTS_H_
#define DRASIM_POLICIES_PLUGINS_NODE_PORTS_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "policies/framework/plugin.h"

namespace drasim {

class NodePorts : public PreFilterPlugin, public FilterPlugin {
 public:
  absl::string_view name() const override { return "NodePorts"; }
  absl::string_view WithoutPreFilter() const override {
    return "reading \"PreFilterNodePorts\" from cycleState: not found";
  }
  std::vector<Reason> reasons() const override;
  uint32_t requeue_events() const override { return kPodRemoved | kNodeAdded; }
  bool MayHelp(const ClusterChange& change, const PodContext& pod,
               const ClusterState& cluster) const override;
  StepResult PreFilter(const PodContext& pod, const ClusterState& cluster) override;
  void Filter(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
              absl::Span<ReasonIndex> verdicts) const override;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_NODE_PORTS_H_
