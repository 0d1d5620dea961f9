#include "policies/plugins/node_resources_fit.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "model/resource_request.h"
#include "policies/framework/registry.h"

namespace drasim {

std::vector<Reason> NodeResourcesFit::reasons() const {
  std::vector<Reason> reasons = {{ReasonKind::kCpu, "Insufficient cpu"},
                                 {ReasonKind::kMemory, "Insufficient memory"},
                                 {ReasonKind::kPodSlots, "Too many pods"}};
  for (const std::string& text : extended_reasons_) {
    reasons.push_back({ReasonKind::kExtendedResource, text});
  }
  return reasons;
}

NodeResourcesFit::NodeResourcesFit(const std::vector<std::string>& extended_resources) {
  for (const std::string& name : extended_resources)
    extended_reasons_.push_back(absl::StrCat("Insufficient ", name));
  // In a simulation every requested resource has a column. This case occurs in tests and in
  // clusters with more names than kMaxExtendedNames.
  extended_reasons_.push_back("Insufficient extended resource");
}

namespace {

// True when the node, as it reports now, could take the pod if it were empty.
bool FitsEmpty(const ResourceRequest& request, const ClusterState& cluster, NodeId id) {
  const NodeSpec& node = cluster.node_spec(id);
  if (request.cpu_milli > node.cpu_milli || request.memory_bytes > node.memory_bytes) return false;
  const std::vector<std::string>& names = cluster.extended_names();
  for (const auto& [name, amount] : request.extended) {
    int64_t capacity = 0;
    for (size_t e = 0; e < names.size(); ++e) {
      if (names[e] == name) capacity = cluster.extended_capacity(id, e);
    }
    if (amount > capacity) return false;
  }
  return true;
}

}  // namespace

bool NodeResourcesFit::IsResolvable(const PodContext& pod, const ClusterState& cluster, NodeId node,
                                    ReasonIndex) const {
  return FitsEmpty(pod.shape->request, cluster, node);
}

bool NodeResourcesFit::MayHelp(ClusterEvent event, NodeId node, const PodShape& shape,
                               const ClusterState& cluster) const {
  return event == kPodRemoved || FitsEmpty(shape.request, cluster, node);
}

void NodeResourcesFit::Filter(const PodContext& pod, const ClusterState& cluster,
                              absl::Span<const NodeId> nodes,
                              absl::Span<ReasonIndex> verdicts) const {
  const int64_t cpu = pod.shape->request.cpu_milli;
  const int64_t memory = pod.shape->request.memory_bytes;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (verdicts[i] != kFits) continue;
    const NodeRow& row = cluster.node(nodes[i]);
    if (row.cpu_milli_idle < cpu) {
      verdicts[i] = 1;
    } else if (row.memory_bytes_idle < memory) {
      verdicts[i] = 2;
    } else if (row.pods_idle < 1) {
      verdicts[i] = 3;
    } else if (!pod.shape->request.extended.empty()) {
      const size_t lacking = cluster.LackingExtended(pod.shape_id, nodes[i]);
      if (lacking > 0) {
        verdicts[i] = static_cast<ReasonIndex>(3 + lacking);
      }
    }
  }
}

void RegisterNodeResourcesFit(Registry& registry) {
  registry.AddPlugin("NodeResourcesFit", [](const PolicyContext& c) {
    return std::make_unique<NodeResourcesFit>(c.extended_resources);
  });
}

}  // namespace drasim
