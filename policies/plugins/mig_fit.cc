#include "policies/plugins/mig_fit.h"

#include <memory>

#include "model/device_set.h"
#include "model/resource_request.h"
#include "policies/framework/device_allocator.h"
#include "policies/framework/registry.h"

namespace drasim {
namespace {

bool HasRoom(const MigTable& table, absl::Span<const MigState> gpus, DeviceSet usable,
             absl::Span<const uint8_t> profiles) {
  if (profiles.size() == 1) {
    for (size_t g = 0; g < gpus.size(); ++g) {
      if (usable.Contains(g) && (table.fitting(gpus[g]) >> profiles[0] & 1) != 0) return true;
    }
    return false;
  }
  return !FirstFittingInstances(table, gpus, usable, profiles).empty();
}

// For a node with several models, of which one must serve all instances.
ReasonIndex MixedMigVerdict(const ClusterState& cluster, NodeId node, ShapeId shape) {
  if (!cluster.any_mig() || !cluster.has_mig(node)) return 1;
  ReasonIndex verdict = 2;
  const bool fits = VisitMigModels(cluster, node, shape, [&](uint8_t model, DeviceSet usable) {
    verdict = 3;
    return HasRoom(*cluster.models().mig(ModelId(uint32_t{model})), cluster.device_mig(node),
                   usable, cluster.mig_profiles(shape, model));
  });
  return fits ? kFits : verdict;
}

}  // namespace

std::vector<Reason> MigFit::reasons() const {
  return {{ReasonKind::kNoMig, "node(s) had no GPU with MIG"},
          {ReasonKind::kMigProfile, "node(s) had no such MIG profile"},
          {ReasonKind::kMigSlots, "Insufficient MIG slots"}};
}

bool MigFit::IsResolvable(const PodContext&, const ClusterState&, NodeId, ReasonIndex local) const {
  return local == 3;
}

void MigFit::Filter(const PodContext& pod, const ClusterState& cluster,
                    absl::Span<const NodeId> nodes, absl::Span<ReasonIndex> verdicts) const {
  const ResourceRequest& request = pod.shape->request;
  if (request.mig.empty()) return;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (verdicts[i] != kFits) continue;
    const NodeRow& row = cluster.node(nodes[i]);
    if (row.is_mixed()) {
      verdicts[i] = MixedMigVerdict(cluster, nodes[i], pod.shape_id);
      continue;
    }
    const absl::Span<const uint8_t> profiles = cluster.mig_profiles(pod.shape_id, row.model);
    const MigTable* const table = cluster.mig_table(nodes[i]);
    if (table == nullptr) {
      verdicts[i] = 1;
    } else if (profiles.empty() || (request.model_mask >> row.model & 1) == 0) {
      verdicts[i] = 2;
    } else if (!HasRoom(*table, cluster.device_mig(nodes[i]), cluster.mig_usable(nodes[i]),
                        profiles)) {
      verdicts[i] = 3;
    }
  }
}

void RegisterMigFit(Registry& registry) {
  registry.AddPlugin("MigFit", [](const PolicyContext&) { return std::make_unique<MigFit>(); });
}

}  // namespace drasim
