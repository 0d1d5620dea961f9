// GpuPacking (Score): prefers nodes with room for the pod on shared devices, then nodes that are
// partly used, then untouched nodes. Source: the FGD artifact's baseline of that name; integers
// throughout.
#ifndef DRASIM_POLICIES_PLUGINS_GPU_PACKING_H_
#define DRASIM_POLICIES_PLUGINS_GPU_PACKING_H_

#include "policies/framework/plugin.h"

namespace drasim {

class GpuPacking : public ScorePlugin {
 public:
  absl::string_view name() const override { return "GpuPacking"; }
  void Score(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
             absl::Span<int64_t> scores) override;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_GPU_PACKING_H_
