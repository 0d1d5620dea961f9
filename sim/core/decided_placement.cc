#include "sim/core/decided_placement.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "model/mig_table.h"
#include "model/status_macros.h"
#include "model/text/shown_text.h"

namespace drasim {

DecidedPlacement::DecidedPlacement(DecisionRules rules, ClusterState* cluster)
    : rules_(std::move(rules)), cluster_(cluster) {
  for (size_t n = 0; n < cluster->node_count(); ++n) {
    nodes_.try_emplace(cluster->node_spec(NodeId(n)).name, NodeId(n));
  }
}

std::optional<std::string> DecidedPlacement::Assume(PodId pod_id, SimTime now,
                                                    const PodDecision& decision,
                                                    DeviceAllocator* chooser) {
  const auto found = nodes_.find(decision.node);
  const std::string name = ShownText(decision.node);
  if (found == nodes_.end()) return absl::StrCat("unknown node '", name, "'");
  const NodeId node = found->second;
  const PodContext pod = {cluster_->pod_shape_id(pod_id), &cluster_->pod_shape(pod_id), pod_id,
                          now};
  if (std::optional<std::string> why = rules_.WhyNot(pod, node); why.has_value()) return why;
  DeviceSet devices;
  DeviceGrants grants;
  absl::Status chosen;
  if (pod.shape->request.gpu_count > 0) {
    const absl::StatusOr<DeviceSet> gpus = ChooseGpus(pod, node, decision.devices, chooser);
    chosen = gpus.status();
    if (gpus.ok()) devices = *gpus;
  } else if (!pod.shape->request.mig.empty()) {
    chosen = ChooseInstances(pod, node, decision, chooser, &grants);
    devices = DevicesOf(grants);
  }
  if (!chosen.ok()) return absl::StrCat("node '", name, "': ", chosen.message());
  if (!cluster_->CanPlace(pod.shape_id, node, devices, grants)) {
    return absl::StrCat("node '", name, "' has no room for it");
  }
  cluster_->Assume(pod_id, node, devices, grants);
  return std::nullopt;
}

absl::StatusOr<DeviceSet> DecidedPlacement::ChooseGpus(const PodContext& pod, NodeId node,
                                                       DeviceSet wanted,
                                                       DeviceAllocator* chooser) const {
  const ResourceRequest& request = pod.shape->request;
  if (wanted.empty()) {
    DeviceProposals proposals;
    chooser->Propose(request, *cluster_, node, &proposals);
    if (proposals.empty()) return absl::FailedPreconditionError("too few free GPUs");
    return proposals.front().devices;
  }
  if (wanted.size() != request.gpu_count) {
    return absl::FailedPreconditionError(
        absl::StrCat(wanted.size(), " GPUs are given, expected ", request.gpu_count));
  }
  const absl::Span<const int16_t> idle = cluster_->device_milli_idle(node);
  const DeviceSet usable = cluster_->UsableGpus(node, request.model_mask);
  for (const size_t gpu : wanted) {
    if (gpu >= idle.size()) {
      return absl::FailedPreconditionError(
          absl::StrCat("GPU ", gpu, " does not exist; it has ", idle.size()));
    }
    if (!usable.Contains(gpu)) {
      return absl::FailedPreconditionError(
          absl::StrCat("GPU ", gpu, " is not of a model that the pod accepts"));
    }
    if (idle[gpu] < request.gpu_milli) {
      return absl::FailedPreconditionError(absl::StrCat("GPU ", gpu, " is taken: ", idle[gpu],
                                                        " of its 1000 milli are idle, expected ",
                                                        request.gpu_milli));
    }
  }
  return wanted;
}

absl::Status DecidedPlacement::ChooseInstances(const PodContext& pod, NodeId node,
                                               const PodDecision& decision,
                                               DeviceAllocator* chooser,
                                               DeviceGrants* grants) const {
  if (!decision.instances.empty()) {
    ASSIGN_OR_RETURN(*grants, GrantsOf(pod, node, decision.instances));
  } else if (decision.devices.empty()) {
    *grants = chooser->ProposeMig(pod, *cluster_, node);
  } else {
    VisitMigModels(*cluster_, node, pod.shape_id, [&](uint8_t model, DeviceSet gpus) {
      *grants = FirstFittingInstances(*cluster_->models().mig(ModelId(uint32_t{model})),
                                      cluster_->device_mig(node), gpus & decision.devices,
                                      cluster_->mig_profiles(pod.shape_id, model));
      return !grants->empty();
    });
  }
  if (grants->empty()) {
    return absl::FailedPreconditionError("its MIG instances do not fit on these GPUs");
  }
  return absl::OkStatus();
}

absl::StatusOr<DeviceGrants> DecidedPlacement::GrantsOf(
    const PodContext& pod, NodeId node, const std::vector<DecidedInstance>& instances) const {
  DeviceGrants grants;
  std::vector<uint8_t> given;
  uint8_t model = kNoModel;
  for (const DecidedInstance& instance : instances) {
    const bool exists = instance.gpu < cluster_->node(node).gpu_count;
    const MigTable* const table = exists ? cluster_->mig_table(node, instance.gpu) : nullptr;
    if (table == nullptr) {
      return absl::FailedPreconditionError(absl::StrCat("GPU ", instance.gpu, " has no MIG"));
    }
    const int profile = table->FindProfile(instance.profile);
    const int placement =
        profile < 0 ? -1 : table->FindPlacement(static_cast<size_t>(profile), instance.start);
    if (placement < 0) {
      return absl::FailedPreconditionError(absl::StrCat("GPU ", instance.gpu, " has no placement ",
                                                        instance.profile, "@", instance.start));
    }
    model = cluster_->gpu_model(node, instance.gpu);
    given.push_back(static_cast<uint8_t>(profile));
    grants.push_back(InstanceGrant(*table, instance.gpu, static_cast<size_t>(placement)));
  }
  const absl::Span<const uint8_t> profiles = cluster_->mig_profiles(pod.shape_id, model);
  std::vector<uint8_t> wanted(profiles.begin(), profiles.end());
  std::sort(wanted.begin(), wanted.end());
  std::sort(given.begin(), given.end());
  if (given != wanted) {
    return absl::FailedPreconditionError("the MIG instances given are not those that it requests");
  }
  if (!cluster_->CanPlace(pod.shape_id, node, DevicesOf(grants), grants)) {
    return absl::FailedPreconditionError(
        "the MIG instances given are taken, or exclude each other");
  }
  return grants;
}

}  // namespace drasim
