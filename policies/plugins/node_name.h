// NodeName (Filter): a pod that names a node runs there or nowhere.
//
// Source: kubernetes/kubernetes pkg/scheduler/framework/plugins/nodename, release 1.34.
#ifndef DRASIM_POLICIES_PLUGINS_NODE_NAME_H_
#define DRASIM_POLICIES_PLUGINS_NODE_NAME_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "policies/framework/plugin.h"

namespace drasim {

class NodeName : public FilterPlugin {
 public:
  absl::string_view name() const override { return "NodeName"; }
  std::vector<Reason> reasons() const override;
  // Independent of other pods.
  bool IsResolvable(const PodContext&, const ClusterState&, NodeId, ReasonIndex) const override {
    return false;
  }
  uint32_t requeue_events() const override { return kNodeAdded; }
  void Filter(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
              absl::Span<ReasonIndex> verdicts) const override;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_NODE_NAME_H_
