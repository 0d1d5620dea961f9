#include "policies/plugins/node_ports.h"

#include <cstddef>
#include <memory>

#include "model/pod_constraints.h"
#include "model/used_ports.h"
#include "policies/framework/registry.h"

namespace drasim {

std::vector<Reason> NodePorts::reasons() const {
  return {{ReasonKind::kHostPorts, "node(s) didn't have free ports for the requested pod ports"}};
}

bool NodePorts::MayHelp(const ClusterChange& change, const PodContext& pod,
                        const ClusterState&) const {
  if (change.event != kPodRemoved || change.pod == nullptr) return true;
  return change.of_bound_pod() &&
         AnyPortConflicts(pod.shape->constraints.host_ports, change.pod->constraints.host_ports);
}

StepResult NodePorts::PreFilter(const PodContext& pod, const ClusterState&) {
  StepResult result;
  if (pod.shape->constraints.host_ports.empty()) result.code = StepCode::kSkip;
  return result;
}

void NodePorts::Filter(const PodContext& pod, const ClusterState& cluster,
                       absl::Span<const NodeId> nodes, absl::Span<ReasonIndex> verdicts) const {
  const std::vector<HostPort>& wanted = pod.shape->constraints.host_ports;
  if (wanted.empty()) return;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (verdicts[i] == kFits && AnyPortConflicts(wanted, cluster.used_ports(nodes[i]))) {
      verdicts[i] = 1;
    }
  }
}

void RegisterNodePorts(Registry& registry) {
  registry.AddPlugin("NodePorts",
                     [](const PolicyContext&) { return std::make_unique<NodePorts>(); });
}

}  // namespace drasim
