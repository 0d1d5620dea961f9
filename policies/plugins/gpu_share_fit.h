// GpuShareFit (Filter): the direct front end's device check. The node has a GPU model that the pod
// accepts, and enough devices with enough idle milli-GPU. Source: the FGD artifact's feasibility
// rules.
//
// A pod with several shares takes each from a different device (docs/fidelity.md).
#ifndef DRASIM_POLICIES_PLUGINS_GPU_SHARE_FIT_H_
#define DRASIM_POLICIES_PLUGINS_GPU_SHARE_FIT_H_

#include "policies/framework/plugin.h"

namespace drasim {

class GpuShareFit : public FilterPlugin {
 public:
  absl::string_view name() const override { return "GpuShareFit"; }
  std::vector<Reason> reasons() const override;
  // Only where the node has enough devices of the right model.
  bool IsResolvable(const PodContext& pod, const ClusterState& cluster, NodeId node,
                    ReasonIndex local) const override;
  void Filter(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
              absl::Span<ReasonIndex> verdicts) const override;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_GPU_SHARE_FIT_H_
