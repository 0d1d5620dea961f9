// DotProduct (Score): the alignment score of Tetris (Grandl et al., SIGCOMM 2014) inverted, as in
// the FGD artifact's baseline: nodes whose idle (CPU, GPU) vector has a *small* dot product with
// the request are preferred.
//
// The artifact has options for making a vector of a node's devices (merge, share, divide, extend)
// and for normalising vectors (max, node, pod). Merge with max is exact. The others follow their
// published formulas; docs/fidelity.md lists them as approximated, because no published run uses
// them.
#ifndef DRASIM_POLICIES_PLUGINS_DOT_PRODUCT_H_
#define DRASIM_POLICIES_PLUGINS_DOT_PRODUCT_H_

#include "model/resource_request.h"
#include "policies/framework/plugin.h"

namespace drasim {

class DotProduct : public ScorePlugin {
 public:
  enum class Dimensions : uint8_t {
    kMerge,   // one candidate: (idle CPU, all idle GPU)
    kShare,   // one candidate per partly used device (idle CPU, its idle GPU), and one for all
              // untouched devices
    kDivide,  // as kShare, with the node's CPU divided in proportion to the device's idle GPU
    kExtend,  // one dimension per device
  };
  enum class Norm : uint8_t { kMax, kNode, kPod };

  // `name`: that of the variant, a literal.
  DotProduct(const char* name, Dimensions dimensions, Norm norm)
      : name_(name), dimensions_(dimensions), norm_(norm) {}
  absl::string_view name() const override { return name_; }
  void Score(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
             absl::Span<int64_t> scores) override;

 private:
  double Dot(const ResourceRequest& request, const ClusterState& cluster, NodeId node) const;

  const char* name_;
  Dimensions dimensions_;
  Norm norm_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_DOT_PRODUCT_H_
