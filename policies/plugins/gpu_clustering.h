// GpuClustering (Score): gathers pods with the same GPU use (a share, or N whole GPUs) on the same
// nodes, then packs. Source: the FGD artifact's baseline of that name; integers throughout.
#ifndef DRASIM_POLICIES_PLUGINS_GPU_CLUSTERING_H_
#define DRASIM_POLICIES_PLUGINS_GPU_CLUSTERING_H_

#include "policies/framework/plugin.h"

namespace drasim {

class GpuClustering : public ScorePlugin {
 public:
  absl::string_view name() const override { return "GpuClustering"; }
  void Score(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
             absl::Span<int64_t> scores) override;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_GPU_CLUSTERING_H_
