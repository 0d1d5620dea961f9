#include "sim/core/decision_rules.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "model/text/shown_text.h"

namespace drasim {

DecisionRules::DecisionRules(std::vector<std::unique_ptr<Plugin>> filters,
                             const ClusterState* cluster)
    : plugins_(std::move(filters)), cluster_(cluster) {
  for (const std::unique_ptr<Plugin>& plugin : plugins_) {
    auto* const filter = dynamic_cast<FilterPlugin*>(plugin.get());
    if (filter != nullptr && filter->filter_reach() == Reach::kNode) filters_.push_back(filter);
  }
}

DecisionRules::DecisionRules(KubeCycle* cycle, const Profiles& profiles,
                             const ClusterState* cluster)
    : cycle_(cycle), profiles_(profiles), cluster_(cluster) {}

std::string DecisionRules::AtNode(NodeId node, const std::vector<std::string>& reasons) const {
  return absl::StrCat("node '", ShownText(cluster_->node_spec(node).name),
                      "': ", absl::StrJoin(reasons, ", "));
}

std::optional<std::string> DecisionRules::WhyNot(const PodContext& pod, NodeId node) {
  if (!cluster_->node(node).available) {
    return AtNode(node, {"it is down, or not part of the cluster then"});
  }
  if (cycle_ != nullptr) return WhyNotByKube(pod, node);
  for (const FilterPlugin* const filter : filters_) {
    ReasonIndex verdict = kFits;
    filter->Filter(pod, *cluster_, absl::MakeConstSpan(&node, 1), absl::MakeSpan(&verdict, 1));
    if (verdict == kFits) continue;
    return AtNode(node, filter->ReasonTexts(pod, *cluster_, node, verdict));
  }
  return std::nullopt;
}

std::optional<std::string> DecisionRules::WhyNotByKube(const PodContext& pod, NodeId node) {
  Profile* const own = profiles_->Of(pod.shape_id);
  Profile* const profile = own == nullptr ? &profiles_->first() : own;
  for (PreEnqueuePlugin* const plugin : profile->pre_enqueues()) {
    StepResult result = plugin->PreEnqueue(pod);
    if (result.code != StepCode::kSuccess) return std::move(result.message);
  }
  const NodeStatus why = cycle_->WhyNot(profile, pod, node);
  if (why.code == StepCode::kSuccess) return std::nullopt;
  return why.node.valid() ? AtNode(why.node, why.reasons) : absl::StrJoin(why.reasons, ", ");
}

}  // namespace drasim
