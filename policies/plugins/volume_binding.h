// VolumeBinding (PreFilter, Filter, PreScore, Score, Reserve): a pod's claims must be bound to
// volumes that the node can reach, or be such that volumes for the node can be found or
// provisioned.
//
// Reserve assumes bindings: a volume is kept for its claim, a claim for the node on which its
// volume is to be provisioned. As upstream, that knowledge is the plugin's own (its assume cache)
// and lasts until Unreserve; what the cluster's objects say goes first. Volumes are tried in order
// of size and name.
//
// Not simulated: the translation of the zones of in-tree volumes for migrated nodes.
//
// Source: kubernetes/kubernetes pkg/scheduler/framework/plugins/volumebinding,
// k8s.io/component-helpers storage/volume, release 1.34.
#ifndef DRASIM_POLICIES_PLUGINS_VOLUME_BINDING_H_
#define DRASIM_POLICIES_PLUGINS_VOLUME_BINDING_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/volume_objects.h"
#include "policies/framework/plugin.h"

namespace drasim {

class VolumeBinding : public PreFilterPlugin,
                      public FilterPlugin,
                      public ScorePlugin,
                      public ReservePlugin {
 public:
  absl::string_view name() const override { return "VolumeBinding"; }
  absl::string_view WithoutPreFilter() const override { return "not found"; }
  std::vector<Reason> reasons() const override;
  Reach filter_reach() const override { return Reach::kCluster; }
  Reach score_reach() const override { return Reach::kCluster; }
  uint32_t requeue_events() const override { return kNodeAdded | kNodeLabels | kVolumeChanged; }
  // kUnresolvable for a claim that does not exist, is lost, is being deleted or should be bound by
  // now; kError for a storage class without a binding mode and for a selector that is invalid.
  StepResult PreFilter(const PodContext& pod, const ClusterState& cluster) override;
  // O(claims x volumes of their classes) a node.
  void Filter(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
              absl::Span<ReasonIndex> verdicts) const override;
  bool IsResolvable(const PodContext&, const ClusterState&, NodeId, ReasonIndex) const override {
    return false;
  }
  std::vector<std::string> ReasonTexts(const PodContext& pod, const ClusterState& cluster,
                                       NodeId node, ReasonIndex local) const override;
  // kSkip: volumes count in scores only with the feature StorageCapacityScoring, which is off.
  StepResult PreScore(const PodContext& pod, const ClusterState& cluster,
                      absl::Span<const NodeId> feasible) override;
  bool PreScoreReadsNodes(const PodContext&, const ClusterState&) const override { return false; }
  void Score(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
             absl::Span<int64_t> scores) override;
  StepResult Reserve(const PodContext& pod, const ClusterState& cluster, NodeId node) override;
  void Unreserve(const PodContext& pod, const ClusterState& cluster, NodeId node) override;

  void Save(StateWriter& out) const override;
  absl::Status Load(StateReader& in) override;

 private:
  using ClaimKey = std::pair<std::string, std::string>;  // namespace, name

  // The pod's claims; pointers into the cluster's objects.
  struct Claims {
    std::vector<const PersistentVolumeObject*> bound;  // their volumes; null: it does not exist
    std::vector<const VolumeClaimObject*> unbound;     // to be bound for the node
    // Beside `unbound`: the volumes of the claim's class that are not another claim's.
    std::vector<std::vector<const PersistentVolumeObject*>> candidates;
  };
  // The work to be done for the pod on one node: bindings and provisions.
  struct Plan {
    ReasonIndex why_not = kFits;
    std::vector<std::pair<const PersistentVolumeObject*, const VolumeClaimObject*>> bindings;
    std::vector<const VolumeClaimObject*> provisions;
  };
  struct AssumedVolume {
    ClaimReference claim;
    PodId pod;
  };
  struct AssumedClaim {
    std::string node;
    PodId pod;
  };

  StepResult Collect(const PodContext& pod, const ClusterState& cluster, Claims* claims) const;
  Plan PlanFor(const Claims& claims, const ClusterState& cluster, NodeId node) const;
  const PersistentVolumeObject* FindMatch(
      const VolumeClaimObject& claim, absl::Span<const PersistentVolumeObject* const> candidates,
      const NodeSpec& node, const Plan& plan) const;
  // With assumed bindings.
  const ClaimReference& ClaimOf(const PersistentVolumeObject& volume) const;
  const std::string* SelectedNode(const VolumeClaimObject& claim) const;

  Claims claims_;  // of the present attempt
  std::map<std::string, AssumedVolume> assumed_volumes_;
  std::map<ClaimKey, AssumedClaim> assumed_claims_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_VOLUME_BINDING_H_
