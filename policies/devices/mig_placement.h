// MigPlacementPolicy: a MIG placement rule as a policy of the direct front end. One plugin scores
// nodes by the cost of the instance and places it there.
#ifndef DRASIM_POLICIES_DEVICES_MIG_PLACEMENT_H_
#define DRASIM_POLICIES_DEVICES_MIG_PLACEMENT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/resource_request.h"
#include "policies/devices/mig_rules.h"
#include "policies/framework/device_allocator.h"
#include "policies/framework/plugin.h"
#include "policies/framework/registry.h"

namespace drasim {

// Pods without MIG instances score 0 on every node and get the first devices that fit.
class MigPlacementPolicy : public ScorePlugin, public DeviceAllocator {
 public:
  // The policy of a rule, with the extension points that the rule needs.
  static std::unique_ptr<MigPlacementPolicy> Make(const MigRuleInfo& info,
                                                  std::vector<std::pair<std::string, int64_t>> mix);

  // `mix`: for a weighted rule, shares by profile name, in parts per kMfiScale.
  MigPlacementPolicy(const MigRuleInfo& info, std::vector<std::pair<std::string, int64_t>> mix);

  absl::string_view name() const override { return plugin_name_; }
  DeviceAllocator* device_allocator() override { return this; }

  // Round robin's scores change with every pod.
  Reach score_reach() const override {
    return info_.rule == MigRule::kRoundRobin ? Reach::kCluster : Reach::kNode;
  }
  // Raw scores are negated costs, in the rule's own range. Nothing is normalised, so such a plugin
  // should be the only score plugin.
  Normalize normalize(const ClusterState&) const override { return Normalize::kOrderPreserving; }
  void NormalizeScore(absl::Span<const NodeId>, absl::Span<int64_t>) const override {}
  void Score(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
             absl::Span<int64_t> scores) override;

  void Propose(const ResourceRequest& request, const ClusterState& cluster, NodeId node,
               DeviceProposals* out) override;
  DeviceGrants ProposeMig(const PodContext& pod, const ClusterState& cluster, NodeId node) override;

  void Save(StateWriter& out) const override;
  absl::Status Load(StateReader& in) override;

 protected:
  // Whether the rule has a layout for the pod on the node. True where MigFit gives a better reason.
  bool Allows(const PodContext& pod, const ClusterState& cluster, NodeId node) const;
  // The pod has been placed.
  void Remember(const PodContext& pod, const ClusterState& cluster, NodeId node);

 private:
  // Made on first use, one per product.
  const MigRuleTable& TableOf(const MigTable* table) const;
  bool FitsBehindLast(const PodContext& pod, const ClusterState& cluster) const;
  // On a node with several models: the one that the pod's instances come from.
  struct ModelChoice {
    bool considered = false;  // some model has the profiles
    int32_t cost = MigRuleTable::kImpossible;
    DeviceGrants grants;  // of all instances; empty: none of the models has room
  };
  ModelChoice ChooseModel(const PodContext& pod, const ClusterState& cluster, NodeId node) const;
  int64_t MixedScore(const PodContext& pod, const ClusterState& cluster, NodeId node) const;
  int64_t ScoreOf(const PodContext& pod, const ClusterState& cluster, NodeId node) const;
  int32_t After(NodeId node) const { return node == last_node_ ? last_gpu_ : -1; }

  MigRuleInfo info_;
  std::string plugin_name_;
  std::vector<std::pair<std::string, int64_t>> mix_;
  mutable std::vector<std::pair<const MigTable*, std::unique_ptr<MigRuleTable>>> tables_;
  // Round robin: the GPU of the latest instance.
  NodeId last_node_;
  int32_t last_gpu_ = -1;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_DEVICES_MIG_PLACEMENT_H_
