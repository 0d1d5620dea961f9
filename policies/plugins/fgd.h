// FGD, Fragmentation Gradient Descent (Score and device choice): prefers the placement that adds
// least to the node's fragmentation. Source: Weng et al., USENIX ATC 2023, with the published
// artifact's integer score floor(100 * sigmoid((before - after) / 1000 milli)).
//
// Truncation decides between nodes, so the sigmoid is a table of thresholds rather than a call of
// libm, whose last bit depends on the processor.
#ifndef DRASIM_POLICIES_PLUGINS_FGD_H_
#define DRASIM_POLICIES_PLUGINS_FGD_H_

#include <cstdint>
#include <vector>

#include "model/device_set.h"
#include "model/fragmentation.h"
#include "model/fragmentation_memo.h"
#include "model/resource_request.h"
#include "policies/framework/plugin.h"

namespace drasim {

// floor(100 * (1 / (1 + exp(-x)))), exactly as correctly rounded arithmetic gives it. For any
// x but NaN.
int64_t SigmoidScore(double x);

// Shared by the score plugin and the device chooser.
class FgdScorer {
 public:
  // `model` must outlive the scorer.
  explicit FgdScorer(const FragmentationModel* model) : memo_(model) {}
  // Score of placing the shape on the node; for a share, the best over its fitting devices.
  int64_t ScoreNode(const ResourceRequest& request, const ClusterState& cluster, NodeId node);
  // For a share: the fitting device with the best score, the lowest index on ties.
  DeviceSet BestShareDevice(const ResourceRequest& request, const ClusterState& cluster,
                            NodeId node);

 private:
  double AmountBefore(const ClusterState& cluster, NodeId node, const GpuNodeView& view);
  // Best device index and its score.
  struct Best {
    size_t device;
    int64_t score;
  };
  Best BestShare(const ResourceRequest& request, const ClusterState& cluster, NodeId node);

  FragmentationMemo memo_;
  // Amount of each node's present state, with the epoch it belongs to.
  struct Remembered {
    double amount = 0;
    uint32_t epoch = ~uint32_t{0};
  };
  std::vector<Remembered> before_;
};

class Fgd : public ScorePlugin {
 public:
  explicit Fgd(const FragmentationModel* model) : scorer_(model) {}
  absl::string_view name() const override { return "FGD"; }
  void Score(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
             absl::Span<int64_t> scores) override;

 private:
  FgdScorer scorer_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_FGD_H_
