// NodeResourcesFit (PreFilter, Filter, Score): the node has enough CPU, memory, pod slots and
// counted resources; nodes are scored by the strategy of the plugin's arguments
// (resource_scores.h).
//
// Source: kubernetes/kubernetes pkg/scheduler/framework/plugins/noderesources/fit.go, release 1.34.
#ifndef DRASIM_POLICIES_PLUGINS_NODE_RESOURCES_FIT_H_
#define DRASIM_POLICIES_PLUGINS_NODE_RESOURCES_FIT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "policies/framework/plugin.h"
#include "policies/framework/plugin_args.h"
#include "policies/plugins/resource_scores.h"

namespace drasim {

class NodeResourcesFit : public PreFilterPlugin, public FilterPlugin, public ScorePlugin {
 public:
  // `extended_resources`: names that nodes advertise, in the cluster's column order; shortages of
  // others have a reason in common.
  explicit NodeResourcesFit(const std::vector<std::string>& extended_resources,
                            const NodeResourcesFitArgs& args = {});
  absl::string_view name() const override { return "NodeResourcesFit"; }
  absl::string_view WithoutPreFilter() const override {
    return "error reading \"PreFilterNodeResourcesFit\" from cycleState: not found";
  }
  std::vector<Reason> reasons() const override;
  // One for each resource that the node lacks.
  std::vector<std::string> ReasonTexts(const PodContext& pod, const ClusterState& cluster,
                                       NodeId node, ReasonIndex local) const override;
  // Whether the node would be large enough if it were empty.
  bool IsResolvable(const PodContext& pod, const ClusterState& cluster, NodeId node,
                    ReasonIndex local) const override;
  uint32_t requeue_events() const override {
    return kPodRemoved | kPodScaledDown | kNodeAdded | kNodeSchedulable | kNodeAllocatable;
  }
  bool MayHelp(const ClusterChange& change, const PodContext& pod,
               const ClusterState& cluster) const override;
  // There is nothing to prepare.
  StepResult PreFilter(const PodContext&, const ClusterState&) override { return {}; }
  void Filter(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
              absl::Span<ReasonIndex> verdicts) const override;

  bool PreScoreReadsNodes(const PodContext&, const ClusterState&) const override { return false; }
  // In [0, 100]: final.
  void Score(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
             absl::Span<int64_t> scores) override {
    scorer_->Score(pod, cluster, nodes, scores);
  }

 private:
  bool IsIgnored(const std::string& resource) const;
  // As ClusterState::LackingExtended, without ignored resources.
  size_t LackingCounted(const ResourceRequest& request, const ClusterState& cluster,
                        NodeId node) const;

  std::vector<std::string> extended_reasons_;
  std::vector<std::string> ignored_;
  std::vector<std::string> ignored_groups_;
  std::unique_ptr<ResourceScore> scorer_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_NODE_RESOURCES_FIT_H_
