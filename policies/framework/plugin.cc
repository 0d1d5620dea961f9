#include "policies/framework/plugin.h"

#include "model/check.h"

namespace drasim {

// A profile calls only the points that points() names; reaching a default means the two disagree.

bool Plugin::Less(const QueuedPod&, const QueuedPod&) const {
  DRASIM_UNREACHABLE("points() names QueueSort, but the plugin does not override it");
}

void Plugin::Filter(const PodContext&, const ClusterState&, absl::Span<const NodeId>,
                    absl::Span<ReasonIndex>) const {
  DRASIM_UNREACHABLE("points() names Filter, but the plugin does not override it");
}

void Plugin::Score(const PodContext&, const ClusterState&, absl::Span<const NodeId>,
                   absl::Span<int64_t>) {
  DRASIM_UNREACHABLE("points() names Score, but the plugin does not override it");
}

void Plugin::NormalizeScore(absl::Span<int64_t>) const {}

StepResult Plugin::PreFilter(const PodContext&, const ClusterState&) { return {}; }
PostFilterResult Plugin::PostFilter(const PodContext&, PostFilterHandle&) { return {}; }
bool Plugin::IsResolvable(const PodContext&, const ClusterState&, NodeId, ReasonIndex) const {
  return true;
}
bool Plugin::MayHelp(ClusterEvent, NodeId, const PodShape&, const ClusterState&) const {
  return true;
}
StepResult Plugin::Reserve(const PodContext&, const ClusterState&, NodeId) { return {}; }
void Plugin::Unreserve(const PodContext&, const ClusterState&, NodeId) {}
StepResult Plugin::Permit(const PodContext&, const ClusterState&, NodeId) { return {}; }
StepResult Plugin::PreBind(const PodContext&, const ClusterState&, NodeId) { return {}; }
StepResult Plugin::Bind(const PodContext&, const ClusterState&, NodeId) { return {}; }
void Plugin::PostBind(const PodContext&, const ClusterState&, NodeId) {}

}  // namespace drasim
