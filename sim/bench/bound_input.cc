#include "sim/bench/bound_input.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "model/check.h"
#include "model/cluster_state.h"
#include "model/status_macros.h"
#include "policies/framework/plugin.h"
#include "policies/framework/registry.h"
#include "sim/run/rule_filters.h"

namespace drasim::bench {
namespace {

// Everything about a node that a filter may look at, but its name.
std::string KeyOfNode(const NodeSpec& node) {
  std::string key = absl::StrCat(node.cpu_milli, "|", node.memory_bytes, "|", node.pods, "|",
                                 node.gpu_count, "|", node.gpu_model, "|", node.unschedulable);
  for (const std::string& model : node.gpu_models) absl::StrAppend(&key, "|m", model);
  for (const auto& [name, value] : node.labels) absl::StrAppend(&key, "|l", name, "=", value);
  for (const Taint& taint : node.taints)
    absl::StrAppend(&key, "|t", taint.key, "=", taint.value, ":", taint.effect);
  for (const auto& [name, amount] : node.extended) absl::StrAppend(&key, "|e", name, "=", amount);
  return key;
}

// The shapes of the pods that want GPUs, with their numbers of pods.
std::map<uint32_t, int64_t> CountedShapes(const ClusterState& cluster) {
  std::map<uint32_t, int64_t> counts;
  for (size_t p = 0; p < cluster.pod_count(); ++p) {
    const PodShape& shape = cluster.pod_shape(PodId(p));
    const bool wants = shape.request.gpu_count > 0 || !shape.request.mig.empty();
    if (wants && shape.constraints.hold == PodHold::kNone)
      ++counts[cluster.pod_shape_id(PodId(p)).value()];
  }
  return counts;
}

// Whether an empty node takes a pod of a shape.
class EmptyNodes {
 public:
  EmptyNodes(const ClusterState& cluster, const std::vector<std::unique_ptr<Plugin>>& filters)
      : cluster_(cluster) {
    for (const std::unique_ptr<Plugin>& plugin : filters) {
      const auto* const filter = dynamic_cast<const FilterPlugin*>(plugin.get());
      if (filter != nullptr && filter->filter_reach() == Reach::kNode) filters_.push_back(filter);
    }
  }

  std::vector<bool> Take(NodeId node, const std::map<uint32_t, int64_t>& shapes) const {
    GpuModelTable models = cluster_.models();
    ClusterState one(&models, &cluster_.shapes());
    NodeSpec spec = cluster_.node_spec(node);
    spec.absent = false;
    const absl::StatusOr<NodeId> alone = one.AddNode(spec);
    DRASIM_CHECK(alone.ok());
    std::vector<bool> takes;
    for (const auto& [shape, pods] : shapes) {
      const ShapeId id(size_t{shape});
      const PodId pod = one.AddPod("", id, 0, SimTime());
      const PodContext context = {id, &cluster_.shapes().row(id), pod, SimTime()};
      ReasonIndex verdict = kFits;
      for (const FilterPlugin* const filter : filters_) {
        filter->Filter(context, one, absl::MakeConstSpan(&*alone, 1), absl::MakeSpan(&verdict, 1));
        if (verdict != kFits) break;
      }
      takes.push_back(verdict == kFits);
    }
    return takes;
  }

 private:
  const ClusterState& cluster_;
  std::vector<const FilterPlugin*> filters_;
};

// Adds to `place` the MIG profiles of the shape's instances on the node, and their amounts.
void AddInstances(const ClusterState& cluster, NodeId node, ShapeId shape,
                  BoundPodKind::Place* place) {
  if (!cluster.any_mig() || cluster.shapes().row(shape).request.mig.empty()) return;
  for (const GpuModelGroup& group : cluster.GroupsOfModels(node)) {
    const MigTable* const table = cluster.models().mig(ModelId(uint32_t{group.model}));
    if (table == nullptr) continue;
    const absl::Span<const uint8_t> profiles = cluster.mig_profiles(shape, group.model);
    int64_t milli = 0;
    for (const uint8_t profile : profiles)
      milli += MilliOfUnits(table->profiles()[profile].size, table->product().units);
    if (milli <= place->mig_milli && !place->instances.empty()) continue;
    place->mig_milli = std::max(place->mig_milli, milli);
    place->instances.assign(profiles.begin(), profiles.end());
  }
}

BoundNodeKind KindOfNode(const ClusterState& cluster, NodeId node) {
  const NodeSpec& spec = cluster.node_spec(node);
  BoundNodeKind kind;
  kind.cpu_milli = spec.cpu_milli;
  kind.memory_bytes = spec.memory_bytes;
  kind.pods = spec.pods;
  kind.gpus = spec.gpu_count;
  kind.mixed = cluster.node(node).is_mixed();
  if (cluster.any_mig() && !kind.mixed && kind.gpus > 0) kind.mig = cluster.mig_table(node);
  for (const std::string& name : cluster.extended_names()) {
    int64_t amount = 0;
    for (const auto& [key, value] : spec.extended) amount += key == name ? value : 0;
    kind.extended.push_back(amount);
  }
  return kind;
}

BoundPodKind KindOfPod(const ClusterState& cluster, ShapeId id, int64_t pods) {
  const ResourceRequest& request = cluster.shapes().row(id).request;
  BoundPodKind kind;
  kind.pods = pods;
  kind.cpu_milli = request.cpu_milli;
  kind.memory_bytes = request.memory_bytes;
  kind.gpu_count = request.gpu_count;
  kind.gpu_milli = request.gpu_milli;
  for (const std::string& name : cluster.extended_names()) {
    int64_t amount = 0;
    for (const auto& [key, value] : request.extended) amount += key == name ? value : 0;
    kind.extended.push_back(amount);
  }
  return kind;
}

}  // namespace

absl::Status CheckBoundable(const RunSpec& spec) {
  if (spec.is_replay()) return absl::FailedPreconditionError("pods leave in a replay");
  if (spec.front_end.kind != FrontEndKind::kDirect)
    return absl::FailedPreconditionError("nodes hand out devices");
  if (spec.scheduler.kube.has_value() && !spec.scheduler.kube->config.empty())
    return absl::FailedPreconditionError("kube-scheduler's configuration may ignore resources");
  return absl::OkStatus();
}

absl::StatusOr<BoundInput> BoundInputOf(const Simulation& sim) {
  const ClusterState& cluster = sim.cluster();
  PolicyContext context;
  context.extended_resources = cluster.extended_names();
  context.mig = cluster.any_mig();
  ASSIGN_OR_RETURN(const std::vector<std::unique_ptr<Plugin>> filters, MakeRuleFilters(context));
  const EmptyNodes empty(cluster, filters);
  const std::map<uint32_t, int64_t> shapes = CountedShapes(cluster);
  BoundInput input;
  for (const auto& [shape, pods] : shapes)
    input.pods.push_back(KindOfPod(cluster, ShapeId(size_t{shape}), pods));
  std::map<std::string, std::vector<bool>> takes_by_key;
  // Labels tell many nodes apart that are alike for all pods.
  std::map<std::pair<std::string, std::vector<bool>>, size_t> kinds;
  for (size_t n = 0; n < cluster.node_count(); ++n) {
    const NodeId node(n);
    NodeSpec spec = cluster.node_spec(node);
    const auto [takes, is_new] = takes_by_key.try_emplace(KeyOfNode(spec));
    if (is_new) takes->second = empty.Take(node, shapes);
    spec.labels.clear();
    spec.taints.clear();
    spec.unschedulable = false;
    const auto [kind, added] =
        kinds.try_emplace({KeyOfNode(spec), takes->second}, input.nodes.size());
    if (!added) {
      ++input.nodes[kind->second].nodes;
      continue;
    }
    input.nodes.push_back(KindOfNode(cluster, node));
    input.nodes.back().nodes = 1;
    size_t p = 0;
    for (const auto& [shape, pods] : shapes) {
      BoundPodKind::Place place;
      place.allowed = takes->second[p];
      if (place.allowed) AddInstances(cluster, node, ShapeId(size_t{shape}), &place);
      input.pods[p++].places.push_back(std::move(place));
    }
  }
  return input;
}

}  // namespace drasim::bench
