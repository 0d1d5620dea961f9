#include "policies/plugins/node_resources_fit.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/node_spec.h"
#include "model/resource_request.h"
#include "policies/framework/registry.h"

namespace drasim {
namespace {

using Amounts = std::vector<std::pair<std::string, int64_t>>;

int64_t AmountOf(const Amounts& amounts, const std::string& name) {
  const auto it = std::find_if(amounts.begin(), amounts.end(),
                               [&name](const auto& amount) { return amount.first == name; });
  return it == amounts.end() ? 0 : it->second;
}

size_t ColumnOf(const ClusterState& cluster, const std::string& name) {
  const std::vector<std::string>& names = cluster.extended_names();
  return static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

// The node's present capacity and the part that its pods leave idle; 0 for a name that no node has.
int64_t CapacityOf(const ClusterState& cluster, NodeId node, const std::string& name) {
  const size_t column = ColumnOf(cluster, name);
  return column < cluster.extended_names().size() ? cluster.extended_capacity(node, column) : 0;
}
int64_t IdleOf(const ClusterState& cluster, NodeId node, const std::string& name) {
  const size_t column = ColumnOf(cluster, name);
  return column < cluster.extended_names().size() ? cluster.extended_idle(node, column) : 0;
}

// Whether the node's amount is no limit, because claims serve the resource there.
bool IsServed(const ClusterState& cluster, NodeId node, const std::string& name) {
  return cluster.IsServedByClaims(node, ColumnOf(cluster, name));
}

// An amount of zero fits even where more is in use than there is.
bool Lacks(int64_t idle, int64_t wanted) { return wanted > 0 && wanted > idle; }

// Kubernetes' names of resources that it does not define itself.
bool IsExtendedName(absl::string_view name) {
  return absl::StrContains(name, "/") && !absl::StrContains(name, "kubernetes.io/") &&
         !absl::StartsWith(name, "requests.");
}

// True when the node, as it reports now, has the amounts if it is empty.
bool FitsEmpty(const ResourceRequest& request, const ClusterState& cluster, NodeId id) {
  const NodeSpec& node = cluster.node_spec(id);
  return request.cpu_milli <= node.cpu_milli && request.memory_bytes <= node.memory_bytes &&
         std::all_of(request.extended.begin(), request.extended.end(),
                     [&cluster, id](const auto& wanted) {
                       return wanted.second <= CapacityOf(cluster, id, wanted.first) ||
                              IsServed(cluster, id, wanted.first);
                     });
}

// True when the node reports more pod slots, or more of a wanted resource, than before.
bool HasGrown(const ResourceRequest& request, const NodeSpec& before, const ClusterState& cluster,
              NodeId id) {
  const NodeSpec& now = cluster.node_spec(id);
  return now.pods > before.pods || (request.cpu_milli > 0 && now.cpu_milli > before.cpu_milli) ||
         (request.memory_bytes > 0 && now.memory_bytes > before.memory_bytes) ||
         std::any_of(request.extended.begin(), request.extended.end(), [&](const auto& wanted) {
           return CapacityOf(cluster, id, wanted.first) > AmountOf(before.extended, wanted.first);
         });
}

// True when `now` asks for less than `before` of something that is wanted.
bool HasShrunk(const ResourceRequest& wanted, const ResourceRequest& before,
               const ResourceRequest& now) {
  return (wanted.cpu_milli > 0 && now.cpu_milli < before.cpu_milli) ||
         (wanted.memory_bytes > 0 && now.memory_bytes < before.memory_bytes) ||
         std::any_of(wanted.extended.begin(), wanted.extended.end(), [&](const auto& amount) {
           return AmountOf(now.extended, amount.first) < AmountOf(before.extended, amount.first);
         });
}

std::unique_ptr<ResourceScore> MakeScorer(const NodeResourcesFitArgs& args) {
  switch (args.strategy) {
    case NodeResourcesFitArgs::Strategy::kLeastAllocated:
      return std::make_unique<LeastAllocated>(args.resources);
    case NodeResourcesFitArgs::Strategy::kMostAllocated:
      return std::make_unique<MostAllocated>(args.resources);
    case NodeResourcesFitArgs::Strategy::kRequestedToCapacityRatio:
      return std::make_unique<RequestedToCapacityRatio>(args.resources, args.shape);
  }
  DRASIM_UNREACHABLE("a strategy without a score");
}

}  // namespace

NodeResourcesFit::NodeResourcesFit(const std::vector<std::string>& extended_resources,
                                   const NodeResourcesFitArgs& args)
    : ignored_(args.ignored_resources),
      ignored_groups_(args.ignored_resource_groups),
      scorer_(MakeScorer(args)) {
  for (const std::string& name : extended_resources)
    extended_reasons_.push_back(absl::StrCat("Insufficient ", name));
  // For resources that no node had when the profile was made.
  extended_reasons_.push_back("Insufficient extended resource");
}

std::vector<Reason> NodeResourcesFit::reasons() const {
  std::vector<Reason> reasons = {{ReasonKind::kCpu, "Insufficient cpu"},
                                 {ReasonKind::kMemory, "Insufficient memory"},
                                 {ReasonKind::kPodSlots, "Too many pods"}};
  for (const std::string& text : extended_reasons_) {
    reasons.push_back({ReasonKind::kExtendedResource, text});
  }
  return reasons;
}

std::vector<std::string> NodeResourcesFit::ReasonTexts(const PodContext& pod,
                                                       const ClusterState& cluster, NodeId node,
                                                       ReasonIndex) const {
  const ResourceRequest& request = pod.shape->request;
  const NodeRow& row = cluster.node(node);
  std::vector<std::string> texts;
  if (row.pods_idle < 1) texts.push_back("Too many pods");
  if (Lacks(row.cpu_milli_idle, request.cpu_milli)) texts.push_back("Insufficient cpu");
  if (Lacks(row.memory_bytes_idle, request.memory_bytes)) texts.push_back("Insufficient memory");
  for (const auto& [name, amount] : request.extended) {
    if (!IsIgnored(name) && Lacks(IdleOf(cluster, node, name), amount) &&
        !IsServed(cluster, node, name)) {
      texts.push_back(absl::StrCat("Insufficient ", name));
    }
  }
  return texts;
}

bool NodeResourcesFit::IsIgnored(const std::string& resource) const {
  if ((ignored_.empty() && ignored_groups_.empty()) || !IsExtendedName(resource)) return false;
  const std::string group = resource.substr(0, resource.find('/'));
  return std::find(ignored_.begin(), ignored_.end(), resource) != ignored_.end() ||
         std::find(ignored_groups_.begin(), ignored_groups_.end(), group) != ignored_groups_.end();
}

bool NodeResourcesFit::IsResolvable(const PodContext& pod, const ClusterState& cluster, NodeId id,
                                    ReasonIndex) const {
  const ResourceRequest& request = pod.shape->request;
  const NodeSpec& node = cluster.node_spec(id);
  return request.cpu_milli <= node.cpu_milli && request.memory_bytes <= node.memory_bytes &&
         std::all_of(request.extended.begin(), request.extended.end(), [&](const auto& wanted) {
           return IsIgnored(wanted.first) ||
                  wanted.second <= CapacityOf(cluster, id, wanted.first) ||
                  IsServed(cluster, id, wanted.first);
         });
}

bool NodeResourcesFit::MayHelp(const ClusterChange& change, const PodContext& pod,
                               const ClusterState& cluster) const {
  const ResourceRequest& request = pod.shape->request;
  if (!change.detailed) {
    return change.event == kPodRemoved || FitsEmpty(request, cluster, change.node);
  }
  if (change.event == kPodRemoved) return change.of_bound_pod();
  if (change.event == kPodScaledDown) {
    return change.is_waiting_pod ||
           (change.of_bound_pod() &&
            HasShrunk(request, change.old_pod->request, change.pod->request));
  }
  // Like upstream's hint, this one knows no ignored resources.
  return cluster.node_spec(change.node).pods > 0 && FitsEmpty(request, cluster, change.node) &&
         (change.old_node == nullptr || HasGrown(request, *change.old_node, cluster, change.node));
}

size_t NodeResourcesFit::LackingCounted(const ResourceRequest& request, const ClusterState& cluster,
                                        NodeId node) const {
  for (const auto& [name, amount] : request.extended) {
    if (!IsIgnored(name) && Lacks(IdleOf(cluster, node, name), amount) &&
        !IsServed(cluster, node, name)) {
      return 1 + ColumnOf(cluster, name);
    }
  }
  return 0;
}

void NodeResourcesFit::Filter(const PodContext& pod, const ClusterState& cluster,
                              absl::Span<const NodeId> nodes,
                              absl::Span<ReasonIndex> verdicts) const {
  const int64_t cpu = pod.shape->request.cpu_milli;
  const int64_t memory = pod.shape->request.memory_bytes;
  const bool counted = !pod.shape->request.extended.empty();
  const bool ignores = !ignored_.empty() || !ignored_groups_.empty();
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (verdicts[i] != kFits) continue;
    const NodeRow& row = cluster.node(nodes[i]);
    if (Lacks(row.cpu_milli_idle, cpu)) {
      verdicts[i] = 1;
    } else if (Lacks(row.memory_bytes_idle, memory)) {
      verdicts[i] = 2;
    } else if (row.pods_idle < 1) {
      verdicts[i] = 3;
    } else if (counted) {
      const size_t lacking = ignores ? LackingCounted(pod.shape->request, cluster, nodes[i])
                                     : cluster.LackingExtended(pod.shape_id, nodes[i]);
      // Columns that came later share the last reason.
      if (lacking > 0) {
        verdicts[i] = static_cast<ReasonIndex>(3 + std::min(lacking, extended_reasons_.size()));
      }
    }
  }
}

void RegisterNodeResourcesFit(Registry& registry) {
  registry.AddPlugin("NodeResourcesFit", [](const PolicyContext& c) {
    return std::make_unique<NodeResourcesFit>(
        c.extended_resources,
        c.args == nullptr ? NodeResourcesFitArgs() : ArgsOr<NodeResourcesFitArgs>(*c.args));
  });
}

}  // namespace drasim
