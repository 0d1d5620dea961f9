// Consolidate (Score): whole GPUs on as few nodes as possible. A pod goes to the node with the
// fewest idle GPUs that suffice; the remainder of a job that was split over nodes goes to the node
// with the most.
//
// Source: the "consolidate" placement of HeliosArtifact's simulator (Hu et al., SC'21), where a job
// with more GPUs than a node has takes whole idle nodes, and its remainder the next idle node.
#ifndef DRASIM_POLICIES_PLUGINS_CONSOLIDATE_H_
#define DRASIM_POLICIES_PLUGINS_CONSOLIDATE_H_

#include "policies/framework/plugin.h"

namespace drasim {

class Consolidate : public ScorePlugin {
 public:
  absl::string_view name() const override { return "Consolidate"; }
  void Score(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
             absl::Span<int64_t> scores) override;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_CONSOLIDATE_H_
